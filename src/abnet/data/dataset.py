"""The record that every named data set comes as."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset"]


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
    >>> from abnet.data import load
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
