"""The rows of one repetition: shuffled, split into validation, training and test rows, and prepared for learners."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.networks.lifting import lift
from abnet.paper.data.centre_surround import centre_surround
from abnet.paper.data.data_fingerprint import data_fingerprint
from abnet.paper.data.datasets import load
from abnet.paper.protocol import Protocol
from abnet.training.loop import Rows, pad_rows

__all__ = ["PreparedSplit", "prepared_split"]

_LARGEST_CACHED = 64 * 2**20  # bytes; larger sets train so long that preparing them again costs little


class PreparedSplit(NamedTuple):
    """One split: rows in the order validation, training, test, and what the learners read of them."""

    X: NDArray[np.float32]
    y: NDArray[np.float32]
    rows: Rows
    n_validation: int
    n_train: int
    fingerprint: str

    @property
    def validation(self) -> slice:
        """The positions of the validation rows."""
        return slice(0, self.n_validation)

    @property
    def train(self) -> slice:
        """The positions of the training rows."""
        return slice(self.n_validation, self.n_validation + self.n_train)

    @property
    def test(self) -> slice:
        """The positions of the test rows."""
        return slice(self.n_validation + self.n_train, len(self.y))


def prepared_split(dataset: str, repetition: int, protocol: Protocol, data_dir: str | None) -> PreparedSplit:
    """Split a data set as the protocol says; the repetition is the seed. Small data sets are cached.

    Parameters
    ----------
    dataset : str
    repetition : int
    protocol : Protocol
    data_dir : str, optional
        Where the data files are.
    """
    split = _new_split
    if _dataset(dataset, data_dir).X.nbytes <= _LARGEST_CACHED:
        split = _cached_split
    return split(
        dataset,
        data_dir,
        repetition,
        protocol.test_fraction,
        protocol.validation_fraction,
        protocol.standardise,
        protocol.aggregated,
        protocol.variant.centre_surround,
    )


class _PaperData(NamedTuple):
    """The paper's version of a data set (standardised on all rows), and the fingerprint of the original."""

    X: NDArray[np.float32]
    y: NDArray[np.float32]
    fingerprint: str


@lru_cache(maxsize=1)
def _dataset(name: str, data_dir: str | None) -> _PaperData:
    original = load(name, data_dir=data_dir)
    prepared = load(name, data_dir=data_dir, standardise=True)
    return _PaperData(prepared.X, prepared.y.astype(np.float32), data_fingerprint(original.X, original.y))


def _new_split(
    dataset: str,
    data_dir: str | None,
    repetition: int,
    test_fraction: float,
    validation_fraction: float,
    standardise: bool,
    lifted: bool,
    surround: bool,
) -> PreparedSplit:
    """Shuffle, split and prepare the rows; aggregations read lifted ones, some of them centre-surround images."""
    data = _dataset(dataset, data_dir)
    n = len(data.y)
    n_test = round(test_fraction * n)
    n_validation = round(validation_fraction * (n - n_test))
    n_train = n - n_test - n_validation
    order = np.random.default_rng([repetition, 0]).permutation(n)
    order = np.concatenate([order[n_test:], order[:n_test]])
    X = data.X[order]
    y = data.y[order]
    if surround:
        X = centre_surround(X, side=math.isqrt(X.shape[1]))
    if standardise:
        X = _standardised(X, slice(n_validation, n_validation + n_train))
    inputs = X
    if lifted:
        inputs = np.asarray(lift(X))
    return PreparedSplit(
        X=X,
        y=y,
        rows=pad_rows(inputs, y),
        n_validation=n_validation,
        n_train=n_train,
        fingerprint=data.fingerprint,
    )


_cached_split = lru_cache(maxsize=5)(_new_split)  # the five repetitions of an architecture follow one another


def _standardised(X: NDArray[np.float32], training: slice) -> NDArray[np.float32]:
    """Rows standardised with the statistics of the training rows."""
    mean = X[training].mean(0)
    deviation = X[training].std(0)
    return (X - mean) / np.where(deviation > 0, deviation, 1)
