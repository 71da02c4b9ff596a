"""`Predictor`, the base of all fitted models: NumPy and SciPy alone, what is deployed and what is certified."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.certificate import Certificate
from abnet.bounds.single_network import DrawnCertificate
from abnet.labels import Labels, winners
from abnet.records import check_array

__all__ = [
    "ModelInfo",
    "Predictor",
    "as_matrix",
    "check_chain",
    "check_leading",
    "check_matrix",
    "in_order",
]


Arrays = Mapping[str, NDArray[Any]]

WIDEST = 40
"""Widest leading layer that a table over its representations could be stored for: 2^40 values are 8 TB."""


def check_matrix(arrays: Arrays, name: str, dtypes: tuple[Any, ...]) -> NDArray[Any]:
    """The matrix of that name; ValueError if it is none, is empty, of another type or not finite."""
    array = arrays[name]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"the array {name} must be a matrix, but has the shape {array.shape}.")
    check_array(arrays, name, array.shape, array.dtype if array.dtype in dtypes else dtypes[0])
    return array


def check_chain(shapes: list[tuple[int, int]]) -> None:
    """Refuse layers (outputs, inputs) that do not fit together, or more than one output."""
    outputs, inputs = [rows for rows, _ in shapes], [columns for _, columns in shapes]
    if not shapes or outputs[-1] != 1 or outputs[:-1] != inputs[1:]:
        raise ValueError(f"the arrays of the layers do not fit together: (outputs, inputs) are {shapes}.")


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
    labels : Labels or array of two labels
        The first stands for -1, the second for +1.
    feature_names : tuple of str, optional
        Columns in the order of training.
    preparation : object with ``transform``, optional
        Fitted map from the caller's rows to the network's inputs.
    certificate : Certificate or DrawnCertificate, optional
        The latter for one network drawn from the posterior.
    details : dict
        Plain values for `abnet inspect`: settings, sizes, data fingerprint.
    """

    labels: Labels = field(default_factory=lambda: Labels(np.array([-1, 1])))
    feature_names: tuple[str, ...] | None = None
    preparation: Any = None
    certificate: Certificate | DrawnCertificate | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.labels, Labels):
            object.__setattr__(self, "labels", Labels(self.labels))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array."""
        return self.labels.classes


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A fitted binary classifier that needs no training library.

    The score of a row depends on that row alone (but for the last bit, which may depend on its place in a block).
    Inputs are rounded to float32, as in training; every score after that is computed in float64.
    """

    info: ModelInfo = field(default_factory=ModelInfo, kw_only=True)

    shares: ClassVar[bool] = True
    """Whether a score is a share of votes, and so a probability."""

    def __post_init__(self) -> None:
        if self.info.labels.n_classes != 2:
            raise ValueError(f"one score tells two classes apart, but there are {self.info.labels.n_classes} labels.")

    @staticmethod
    @abstractmethod
    def from_arrays(arrays: Arrays, info: ModelInfo) -> "Predictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Number of inputs of the network, after preparation."""

    @abstractmethod
    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of a block of prepared rows: in [-1, 1] where they are shares of votes."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that define the predictor, by field name."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The two labels, the one of -1 first."""
        return self.info.classes

    @property
    def certificate_(self) -> Certificate | DrawnCertificate | None:
        """The certificate that came out of training, if any."""
        return self.info.certificate

    @property
    def feature_names_in_(self) -> tuple[str, ...] | None:
        """Names of the columns, if training knew them."""
        return self.info.feature_names

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """The score ``F(x)`` of every row; positive for ``classes_[1]``."""
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
        return self.info.labels.decode(self.votes(self._prepared(X)))

    def votes(self, X: Any) -> NDArray[np.intp]:
        """The code of each prepared row's label: 1 where its score is at least zero, else 0."""
        return winners(self.score_prepared(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """``(1 ∓ F(x))/2``: the share of the aggregation's networks that vote for either class, shape (n, 2)."""
        self.check_shares()
        return self.shares_from_scores(self.decision_function(X))

    def shares_from_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """`predict_proba` of rows with these scores; ValueError where a score is no share of votes."""
        self.check_shares()
        p = 0.5 + 0.5 * scores
        return np.stack([1 - p, p], axis=1)

    def check_shares(self) -> None:
        """ValueError if this predictor has scores but no probabilities."""
        if not self.shares:
            raise ValueError(
                f"a {type(self).__name__} gives no probabilities, because its scores are not shares of a vote: ask for "
                "labels (predict) or scores (decision_function)."
            )


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
