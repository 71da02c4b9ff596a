"""The paper's data sets from OpenML, for people with a network and without the original files."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from abnet.data.originals import SOURCES, cache_folder, recall, remember
from abnet.data.readers import ADULT_COLUMNS, Parsed, encode_adult, pixel_names

__all__ = ["download", "downloaded"]


def downloaded(source: str) -> Parsed | None:
    """What an earlier `download` left in the user's cache, or None."""
    parsed = recall(cache_folder() / "openml", source)
    return None if parsed is None else SOURCES[source].check(parsed, f"{cache_folder() / 'openml' / source}")


def download(source: str) -> Parsed:
    """Fetch a source from OpenML into the user's cache, in the form its original files give.

    OpenML serves the same rows in another format (missing marks, names of labels, the order of the two adult files);
    they are brought back to the original form, and refused when shape or label counts differ.

    Raises
    ------
    ConnectionError
        If OpenML cannot be reached or refuses; nothing is written then.
    ValueError
        If OpenML served something else.
    """
    from sklearn.datasets import fetch_openml

    number = SOURCES[source].openml_id
    home = os.fspath(cache_folder() / "scikit-learn")
    try:
        bunch = fetch_openml(data_id=number, as_frame=True, data_home=home)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"OpenML data set {number} ({source}) could not be fetched ({error}); try again later, or put the original "
            f"files {', '.join(SOURCES[source].files)} into a folder named by ABNET_DATA."
        ) from error
    parsed = SOURCES[source].check(_CONVERT[source](bunch.data, bunch.target), f"OpenML data set {number}")
    remember(parsed, cache_folder() / "openml", source)
    return parsed


def _ads(data: Any, target: Any) -> Parsed:
    """OpenML writes the labels without the dot, and ``nonad.`` as ``noad``."""
    X = data.iloc[:, 4:].to_numpy(object).astype(np.float64).astype(np.uint8)  # nominal: the texts "0" and "1"
    y = np.where(target.astype(str).str.strip().str.startswith("ad"), -1, 1).astype(np.int8)
    return Parsed(X, y, np.array([f"term_{i}" for i in range(4, 4 + X.shape[1])]))


def _adult(data: Any, target: Any) -> Parsed:
    """OpenML has missing values for ``?``, and puts the test file first."""
    frame = data.loc[:, list(ADULT_COLUMNS)].astype(object)
    columns = [frame[name].where(frame[name].notna(), "?").astype(str).str.strip().tolist() for name in frame]
    labels = target.astype(str).str.strip().tolist()
    shift = 16281 if float(columns[2][0]) == 226802 else 0  # fnlwgt in the first row of adult.test
    return encode_adult([column[shift:] + column[:shift] for column in [*columns, labels]])


def _mnist(data: Any, target: Any) -> Parsed:
    return Parsed(data.to_numpy(np.uint8), target.astype(str).astype(np.uint8).to_numpy(), pixel_names())


_CONVERT: dict[str, Callable[[Any, Any], Parsed]] = {"ads": _ads, "adult": _adult, "mnist": _mnist}
