"""Data sets that need no files: scikit-learn's digits and breast cancer, and two circles."""

import numpy as np

from abnet.data.dataset import Dataset

__all__ = ["breast_cancer", "circles", "digit_labels", "digits"]


def digit_labels(digits: np.ndarray, pair: tuple[int, int] | None) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Rows kept, their labels and class names: the lower digit of a pair against the higher, or 0-4 against 5-9.

    Examples
    --------
    >>> digit_labels(np.array([1, 4, 9]), (4, 9))
    (array([1, 2]), array([-1,  1]), ('4', '9'))
    >>> digit_labels(np.array([1, 4, 9]), None)
    (array([0, 1, 2]), array([-1, -1,  1]), ('0-4', '5-9'))
    """
    low, high = pair if pair is not None else (4, 5)
    rows = np.flatnonzero(np.isin(digits, pair)) if pair is not None else np.arange(len(digits))
    labels = np.where(digits[rows] >= high, 1, -1).astype(np.int64)
    return rows, labels, (str(low), str(high)) if pair is not None else ("0-4", "5-9")


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
