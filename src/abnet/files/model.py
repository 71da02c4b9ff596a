"""Predictors to and from files."""

import os
from pathlib import Path
from typing import Any

from abnet.atomic import atomic_path
from abnet.files.config import config_text, info_from_config, parse_config
from abnet.files.container import digest, pack, unpack
from abnet.files.kinds import kind_of, predictor_class
from abnet.predictors.predictor import Predictor

__all__ = ["FORMAT", "VERSION", "load", "save"]

FORMAT, VERSION = "abnet", "1"


def save(predictor: Predictor, path: str | os.PathLike[str]) -> None:
    """Write a fitted predictor, with its certificate and preparation, to one file, atomically.

    Parameters
    ----------
    predictor : Predictor
        ``clf.compact()`` of a fitted classifier.
    path : path
        A file of that name is replaced in one step.

    Raises
    ------
    ValueError
        If something in the predictor is not plain numbers or text: a preprocessor of another kind, labels that are
        dates.
    OSError
        If the file cannot be written there.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from abnet.predictors.compact import CompactABNet
    >>> net = CompactABNet(np.ones((1, 2)), np.zeros(1), np.array([-1.0, 1.0]))
    >>> path = Path(tempfile.mkdtemp()) / "model.abnet"
    >>> save(net, path)
    >>> load(path).predict([[1.0, 2.0], [-1.0, 0.5]])
    array([ 1, -1])
    """
    arrays, config = predictor.arrays(), config_text(kind_of(predictor), predictor.info)
    texts = {"format": FORMAT, "format_version": VERSION, "config": config, "sha256": digest(arrays, VERSION, config)}
    content = pack(arrays, texts)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def load(path: str | os.PathLike[str]) -> Predictor:
    """Read a predictor from a file that `save` wrote; it gives the same predictions, bit for bit.

    Runs no code from the file, and imports neither JAX nor scikit-learn. The bounds of a certificate are computed again
    from what was observed, so that a file cannot claim a better one than its own record earns.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        If the file is truncated, damaged, altered, foreign, or of a later version; the message names the file.
    FileNotFoundError
        If there is no such file.
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"there is no model file {path}; check the path.")
    if not file.is_file():
        raise ValueError(f"{path} is not a model file but a folder or a device.")
    try:
        return _load(file)
    except ValueError as error:
        raise ValueError(f"{path} is not a valid model file: {error}") from error


def _load(file: Path) -> Predictor:
    arrays, texts = unpack(file)
    config = _checked_config(arrays, texts)
    info = info_from_config(config)
    predictor = predictor_class(config["kind"]).from_arrays(arrays, info)
    _check_width(predictor)
    return predictor


def _checked_config(arrays: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    if texts.get("format") != FORMAT:
        raise ValueError("it was not written by abnet.")
    if texts.get("format_version") != VERSION:
        raise ValueError(
            f"it has format version {texts.get('format_version', '')[:20]!r}, this release reads {VERSION!r}; "
            "install a newer abnet."
        )
    if set(texts) != {"format", "format_version", "config", "sha256"}:
        raise ValueError(f"its metadata has the keys {', '.join(sorted(texts))[:200]}.")
    if digest(arrays, VERSION, texts["config"]) != texts["sha256"]:
        raise ValueError("it was damaged or altered after it was written (checksum mismatch).")
    return parse_config(texts["config"])


def _check_width(predictor: Predictor) -> None:
    """Refuse a preparation or feature names that do not fit the network."""
    info, expected = predictor.info, predictor.n_inputs
    if info.preparation is not None:
        found, what = info.preparation.n_features_out, "its preparation makes"
    elif info.feature_names is not None:
        found, what = len(info.feature_names), "it names"
    else:
        return
    if found != expected:
        raise ValueError(f"{what} {found} features, its network takes {expected}.")
