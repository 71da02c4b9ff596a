"""`Predictor`, the base of all fitted models: NumPy and SciPy alone, what is deployed and what is certified."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from abnet.bam import BAM
from abnet.bounds.certificate import Certificate
from abnet.records import check_array

__all__ = [
    "ModelInfo",
    "Predictor",
    "as_matrix",
    "leading_layer",
    "leading_means",
    "check_leading",
    "in_order",
]


Arrays = Mapping[str, NDArray[Any]]

WIDEST = 40
"""Widest leading layer that a table over its representations could be stored for: 2^40 values are 8 TB."""


def check_leading(arrays: Arrays) -> int:
    """The width of the leading hidden layer, after a look at its weights and biases."""
    if arrays["W"].ndim != 2 or not 1 <= len(arrays["W"]) <= WIDEST or arrays["W"].shape[1] < 1:
        raise ValueError(f"the array W must have the shape (1 to {WIDEST}, inputs), but has {arrays['W'].shape}.")
    check_array(arrays, "W", arrays["W"].shape)
    check_array(arrays, "b", arrays["W"].shape[:1])
    return len(arrays["W"])


BLOCK_ENTRIES = 96 * 1024
"""Inputs read at a time: their float64 copy stays in the cache, and the product is too small to wake BLAS threads."""

MOST_ROWS = 1024
"""Rows at a time, at the most: so do their corner probabilities."""


@dataclass(frozen=True)
class ModelInfo:
    """What a predictor carries besides its arrays.

    Parameters
    ----------
    classes : array of two labels
        The first stands for -1, the second for +1.
    feature_names : tuple of str, optional
        Columns in the order of training.
    preparation : object with ``transform``, optional
        Fitted map from the caller's rows to the network's inputs.
    certificate : Certificate, optional
    details : dict
        Plain values for `abnet inspect`: settings, sizes, data fingerprint.
    """

    classes: NDArray[Any] = field(default_factory=lambda: np.array([-1, 1]))
    feature_names: tuple[str, ...] | None = None
    preparation: Any = None
    certificate: Certificate | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A fitted binary classifier that needs no training library.

    The score of a row depends on that row alone (but for the last bit, which may depend on its place in a block).
    Inputs are rounded to float32, as in training; every score after that is computed in float64.
    """

    info: ModelInfo = field(default_factory=ModelInfo, kw_only=True)

    shares: ClassVar[bool] = True
    """Whether a score is a share of votes, and so a probability."""

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Number of inputs of the network, after preparation."""

    @abstractmethod
    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores in [-1, 1] of a block of prepared rows."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that define the predictor, by field name."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The two labels, the one of -1 first."""
        return self.info.classes

    @property
    def certificate_(self) -> Certificate | None:
        """The certificate that came out of training, if any."""
        return self.info.certificate

    @property
    def feature_names_in_(self) -> tuple[str, ...] | None:
        """Names of the columns, if training knew them."""
        return self.info.feature_names

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """The aggregated output ``F(x)`` in [-1, 1] for every row."""
        return self.score_prepared(self._prepared(X))

    def _prepared(self, X: Any) -> Any:
        X = in_order(X, self.info.feature_names, self.info.preparation)
        return X if self.info.preparation is None else self.info.preparation.transform(X)

    def score_prepared(self, X: Any) -> NDArray[np.float64]:
        """`decision_function` of rows that are prepared already."""
        matrix = as_matrix(X, self.n_inputs)
        scores = np.empty(matrix.shape[0])
        rows = min(max(BLOCK_ENTRIES // self.n_inputs, 16), MOST_ROWS)
        for start in range(0, matrix.shape[0], rows):
            block = matrix[start : start + rows]
            dense = block.toarray() if hasattr(block, "toarray") else block
            # Inputs are single precision in training, in the certificate and here: one and the same predictor.
            with np.errstate(over="ignore", invalid="ignore"):
                scores[start : start + rows] = self.score_rows(np.asarray(dense, np.float32).astype(np.float64))
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise ValueError(
                f"Input contains NaN, infinity or a value too large for float32 in row {row}: "
                "fill in or remove it first."
            )
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The vote's label, ``sgn(F(x))``, for every row."""
        return self.classes_[self.votes(self._prepared(X)).astype(int)]

    def votes(self, X: Any) -> NDArray[np.bool_]:
        """Whether the score of each prepared row is at least zero."""
        return np.asarray(self.score_prepared(X) >= 0)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """``(1 ∓ F(x))/2``: the share of the aggregation's networks that vote for either class, shape (n, 2)."""
        if not self.shares:
            raise ValueError(f"{type(self).__name__} gives no probabilities: use decision_function or predict.")
        p = 0.5 + 0.5 * self.decision_function(X)
        return np.stack([1 - p, p], axis=1)


def in_order(X: Any, names: tuple[str, ...] | None, preparation: Any) -> Any:
    """A frame's columns in the order of training, unless a table's preparation sees to it; one missing is an error."""
    by_name = hasattr(preparation, "extra_columns") or hasattr(preparation, "map_")
    if names is None or not hasattr(X, "columns") or by_name:
        return X
    found = [str(column) for column in X.columns]
    if found == list(names):
        return X
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"X lacks the column {missing[0]!r} that the model was trained on.")
    return X[[X.columns[found.index(name)] for name in names]]


def as_matrix(X: Any, n_inputs: int) -> Any:
    """Rows as a two-dimensional array or row-sliceable sparse matrix of the right width."""
    matrix = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != n_inputs:
        raise ValueError(f"X has shape {matrix.shape}, but the network expects (rows, {n_inputs}).")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X holds values of type {matrix.dtype}, but the network expects numbers.")
    return matrix


def leading_layer(network: BAM) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``W_1`` and ``b_1`` in C order: a file keeps that order, and the order may change the last bit of a product."""
    return np.ascontiguousarray(network.weights[0]), np.ascontiguousarray(network.biases[0])


def leading_means(W: NDArray[np.float64], b: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """``m_1(x) = erf((W_1 x + b_1)/sqrt(2(‖x‖²+1)))`` without a lifted copy of X."""
    norm = np.vecdot(X, X) + 1
    return np.asarray(erf((X @ W.T + b) / np.sqrt(2 * norm)[:, None]))
