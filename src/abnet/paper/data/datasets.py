"""Data sets by name: the paper's six, and those that need no files (scikit-learn's, and two circles)."""

import difflib
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from abnet.paper.data import originals
from abnet.paper.data.originals import SOURCES
from abnet.paper.data.readers import Parsed
from abnet.utils.errors import MissingDataError, Parameter

__all__ = [
    "Dataset",
    "UnknownDatasetError",
    "breast_cancer",
    "circles",
    "digit_labels",
    "digits",
    "load",
    "mnist_digits",
    "names",
    "standardise_all",
]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set for classification into -1 and +1.

    Parameters
    ----------
    name : str
    X : float32 array (n, d)
        Features, C-contiguous.
    y : int64 array (n,)
        Labels, -1 or +1.
    feature_names : tuple of str
        One name per column of `X`.
    classes : tuple of two str
        What -1 and +1 stand for.
    description : str
        Origin and preparation in a sentence or two.

    Examples
    --------
    >>> from abnet.paper import load
    >>> digits = load("digits17")
    >>> digits.X.shape, digits.classes
    ((361, 64), ('1', '7'))
    """

    name: str
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    classes: tuple[str, str]
    description: str

    def __post_init__(self) -> None:
        """Refuse arrays that contradict each other or the types promised above."""
        n, d = self.X.shape
        if self.X.dtype != np.float32 or not self.X.flags.c_contiguous:
            raise ValueError(f"data set {self.name!r}: X must be a C-contiguous float32 array.")
        if self.y.shape != (n,) or not np.isin(self.y, (-1, 1)).all():
            raise ValueError(f"data set {self.name!r}: y must hold {n} labels, each -1 or +1.")
        if len(self.feature_names) != d:
            raise ValueError(f"data set {self.name!r}: {len(self.feature_names)} feature names for {d} features.")

    def __repr__(self) -> str:
        """Name and sizes; the arrays would fill the screen."""
        n, d = self.X.shape
        return f"Dataset({self.name!r}: {n} examples, {d} features, -1 = {self.classes[0]}, +1 = {self.classes[1]})"


def digit_labels(digits: np.ndarray, pair: tuple[int, int] | None) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Rows kept, their labels and class names: the lower digit of a pair against the higher, or 0-4 against 5-9.

    Examples
    --------
    >>> digit_labels(np.array([1, 4, 9]), (4, 9))
    (array([1, 2]), array([-1,  1]), ('4', '9'))
    >>> digit_labels(np.array([1, 4, 9]), None)
    (array([0, 1, 2]), array([-1, -1,  1]), ('0-4', '5-9'))
    """
    if pair is None:
        rows = np.arange(len(digits))
        lowest_positive = 5
        classes = ("0-4", "5-9")
    else:
        low, high = pair
        rows = np.flatnonzero(np.isin(digits, pair))
        lowest_positive = high
        classes = (str(low), str(high))
    labels = np.where(digits[rows] >= lowest_positive, 1, -1).astype(np.int64)
    return rows, labels, classes


def digits(name: str, pair: tuple[int, int] | None = None) -> Dataset:
    """scikit-learn's 8 × 8 digits, pixels / 16: all ten (0-4 = -1, 5-9 = +1), or two of them (the lower one = -1)."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    rows, y, classes = digit_labels(bunch.target, pair)
    X = np.ascontiguousarray(bunch.data[rows] / 16, np.float32)
    text = "scikit-learn's handwritten digits, 8 by 8 pixels, grey values / 16."
    return Dataset(name, X, y, tuple(bunch.feature_names), classes, text)


def breast_cancer(name: str) -> Dataset:
    """scikit-learn's breast cancer set: 569 tumours, 30 raw measurements; benign = -1, malignant = +1."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    y = np.where(bunch.target == 0, 1, -1).astype(np.int64)  # scikit-learn codes malignant as 0
    X = np.ascontiguousarray(bunch.data, np.float32)
    text = "scikit-learn's breast cancer set (Wisconsin, diagnostic): 30 raw measurements of cell nuclei."
    return Dataset(name, X, y, tuple(map(str, bunch.feature_names)), ("benign", "malignant"), text)


def circles(name: str) -> Dataset:
    """Two noisy circles in the plane, 1,000 points, always the same: outer circle = -1, centre = +1."""
    from sklearn.datasets import make_circles

    points, inner = make_circles(1000, noise=0.1, factor=0.4, random_state=0)
    y = np.where(inner == 1, 1, -1).astype(np.int64)
    text = "Two concentric noisy circles (scikit-learn's make_circles: noise 0.1, factor 0.4, seed 0)."
    return Dataset(name, np.ascontiguousarray(points, np.float32), y, ("x", "y"), ("outer circle", "centre"), text)


_BUNDLED: dict[str, Callable[[str], Dataset]] = {
    "digits": digits,
    "digits17": lambda name: digits(name, (1, 7)),
    "digits49": lambda name: digits(name, (4, 9)),
    "digits56": lambda name: digits(name, (5, 6)),
    "breast_cancer": breast_cancer,
    "circles": circles,
}
_FROM_FILES = {
    "ads": "ads",
    "adult": "adult",
    "mnist17": "mnist",
    "mnist49": "mnist",
    "mnist56": "mnist",
    "mnistLH": "mnist",
}
_TABLES = {
    "ads": (("ad.", "nonad."), "UCI Internet Advertisements without its first four columns."),
    "adult": (("<=50K", ">50K"), "UCI Adult, both files; one feature per category, '?' being one of them."),
}
_UNSCALED = ("ads", "adult", "breast_cancer")


class UnknownDatasetError(ValueError):
    """There is no data set of that name."""


def names() -> dict[str, tuple[str, ...]]:
    """Names that `load` knows, each with the original files it needs (none for the first six).

    Any two digits make a name as well: ``digits08``, ``mnist35``.

    Examples
    --------
    >>> names()["circles"], names()["adult"]
    ((), ('adult.data', 'adult.test'))
    """
    files: dict[str, tuple[str, ...]] = dict.fromkeys(_BUNDLED, ())
    for name, source in _FROM_FILES.items():
        files[name] = SOURCES[source].files
    return files


def load(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = False,
    standardise: bool = False,
) -> Dataset:
    """Load a data set by its name.

    =================  ========  ==========  ========================================
    name               examples  features    -1, +1
    =================  ========  ==========  ========================================
    ``digits``         1,797     64          0-4, 5-9
    ``digits17`` …     361 …     64          the lower digit, the higher one
    ``breast_cancer``  569       30          benign, malignant
    ``circles``        1,000     2           outer circle, centre
    ``ads``            3,279     1,554       advertisement, none
    ``adult``          48,842    108         at most 50,000 dollars a year, more
    ``mnist17``        15,170    784         1, 7 (likewise ``mnist49``, ``mnist56``)
    ``mnistLH``        70,000    784         0-4, 5-9
    =================  ========  ==========  ========================================

    The first four need no files; the others are read from their original files (see `names`), plain or gzipped, and
    checked by checksum.

    Parameters
    ----------
    name : str
    data_dir : path, optional
        Folder to look in first; then come the folder that the environment variable ``ABNET_DATA`` names and the
        user's cache.
    download : bool
        Fetch from OpenML into the user's cache when the files are in none of these folders.
    standardise : bool
        The paper's preparation of ``ads``, ``adult`` (and ``breast_cancer``): mean 0 and variance 1 over **all** rows.
        This invalidates every certificate, because the features of a row then depend on the bound and test rows;
        figures computed with it are estimates. Leave it off and pass a ``preprocessor`` to the classifier, which is
        fitted on the first part only. Data sets with a fixed scale (pixels in [0, 1], circles) are not changed.

    Raises
    ------
    FileNotFoundError
        If files are missing: names the files, the folders searched and how to get them.
    UnknownDatasetError
        If the name is unknown; a ValueError, as the next.
    ValueError
        If a file is truncated, damaged or not the expected one.

    Examples
    --------
    >>> load("breast_cancer")
    Dataset('breast_cancer': 569 examples, 30 features, -1 = benign, +1 = malignant)
    """
    dataset = _dataset(name, data_dir, download)
    if standardise and name in _UNSCALED:
        return replace(dataset, X=standardise_all(dataset.X))
    return dataset


def mnist_digits(*, data_dir: str | os.PathLike[str] | None = None) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """All ten digits: pixels / 255 (70000, 784) and classes 0 to 9, the 60,000 of the training file first.

    Parameters
    ----------
    data_dir : path, optional
        As for `load`.
    """
    parsed = _parsed("mnist", "mnist", data_dir, False)
    return np.divide(parsed.X, np.float32(255), dtype=np.float32), parsed.y.astype(np.intp)


def standardise_all(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(x - mean) / standard deviation``, column by column over all rows; constant columns become 0.

    The result depends on every row, including bound and test rows. A certificate computed from it is invalid (it is
    only an estimate); fit a scaler on the first part only instead.

    Examples
    --------
    >>> standardise_all(np.array([[1, 5], [3, 5]], np.float32))
    array([[-1.,  0.],
           [ 1.,  0.]], dtype=float32)
    """
    mean = X.mean(axis=0, dtype=np.float64)
    deviation = X.std(axis=0, dtype=np.float64)
    varies = X.max(axis=0) > X.min(axis=0)  # rounding may leave a constant column a tiny deviation
    return np.where(varies, (X - mean) / np.where(varies, deviation, 1.0), 0.0).astype(np.float32)


def _dataset(name: str, data_dir: str | os.PathLike[str] | None, download: bool) -> Dataset:
    if name in _BUNDLED:
        return _BUNDLED[name](name)
    family, pair = _digit_pair(name)
    if family == "digits":
        return digits(name, pair)
    if family == "mnist" or name == "mnistLH":
        return _mnist(name, _parsed(name, "mnist", data_dir, download), pair)
    if name in _TABLES:
        return _table(name, _parsed(name, name, data_dir, download))
    hint = ""
    close = difflib.get_close_matches(name, list(names()), n=1)
    if close:
        hint = f" Did you mean {close[0]!r}?"
    raise UnknownDatasetError(f"unknown data set {name!r}.{hint} Known names: {', '.join(names())}.")


def _digit_pair(name: str) -> tuple[str, tuple[int, int] | None]:
    """``"mnist35"`` as ``("mnist", (3, 5))``; no pair for other names."""
    match = re.fullmatch("(digits|mnist)([0-9])([0-9])", name)
    if match is None or match[2] >= match[3]:
        return "", None
    return match[1], (int(match[2]), int(match[3]))


def _parsed(name: str, source: str, data_dir: str | os.PathLike[str] | None, download: bool) -> Parsed:
    folders = originals.places(data_dir)
    files = SOURCES[source].files
    paths = originals.find(files, folders)
    if paths is not None:
        return _from_files(source, paths)
    parsed = originals.downloaded(source)
    if parsed is None and download:
        parsed = originals.download(source)
    if parsed is None:
        raise MissingDataError(
            "data set {!r} needs {} (plain or .gz), not all found in {}. Put the original files there, or name their "
            "folder by {} or ABNET_DATA, or fetch OpenML data set {} with {}.",
            name,
            ", ".join(files),
            ", ".join(map(str, folders)),
            Parameter("data_dir"),
            SOURCES[source].openml_id,
            Parameter("download", True),
        )
    return parsed


def _from_files(source: str, paths: list[Path]) -> Parsed:
    """Parsed arrays, from the cache if files with the same bytes were parsed before."""
    raw = [path.read_bytes() for path in paths]
    hashes = [hashlib.sha256(content).hexdigest() for content in raw]
    key = hashlib.sha256("".join(hashes).encode()).hexdigest()
    cache = originals.cache_folder() / "parsed"
    parsed = originals.recall(cache, f"{source}-{key}")
    if parsed is None:
        contents = [originals.read_checked(path, content) for path, content in zip(paths, raw, strict=True)]
        parsed = SOURCES[source].parse(contents)
        originals.remember(parsed, cache, f"{source}-{key}")
    return SOURCES[source].check(parsed, " and ".join(map(str, paths)))


def _mnist(name: str, parsed: Parsed, pair: tuple[int, int] | None) -> Dataset:
    rows, y, classes = digit_labels(parsed.y, pair)
    pixels = parsed.X
    if pair is not None:  # without a pair, all rows are kept: no copy is needed
        pixels = pixels[rows]
    X = np.divide(pixels, np.float32(255), dtype=np.float32)
    text = "MNIST, training and test files together, pixels / 255."
    return Dataset(name, X, y, tuple(parsed.feature_names.tolist()), classes, text)


def _table(name: str, parsed: Parsed) -> Dataset:
    classes, text = _TABLES[name]
    X = np.ascontiguousarray(parsed.X, np.float32)
    return Dataset(name, X, parsed.y.astype(np.int64), tuple(parsed.feature_names.tolist()), classes, text)
