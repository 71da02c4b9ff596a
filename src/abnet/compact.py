"""Fitted predictors in NumPy and SciPy alone: what is deployed, and what is certified."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from abnet.bam import BAM
from abnet.bounds.certificate import Certificate
from abnet.cube import multilinear
from abnet.stored_arrays import check_array, check_leading, check_names, check_table

__all__ = ["CompactABNet", "CompactMAP", "MeanFieldNetwork", "ModelInfo", "Predictor", "in_order"]

BLOCK_ENTRIES = 96 * 1024
"""Inputs read at a time: their float64 copy stays in the cache, and the product is too small to wake BLAS threads."""

MOST_ROWS = 1024
"""Rows at a time, at the most: so do their corner probabilities."""

MOST_SLACK = 0.05
"""Error of single precision up to which it is asked for votes: beyond, too many rows would be computed twice."""


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
        matrix = _matrix(X, self.n_inputs)
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


def _matrix(X: Any, n_inputs: int) -> Any:
    """Rows as a two-dimensional array or row-sliceable sparse matrix of the right width."""
    matrix = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != n_inputs:
        raise ValueError(f"X has shape {matrix.shape}, but the network expects (rows, {n_inputs}).")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X holds values of type {matrix.dtype}, but the network expects numbers.")
    return matrix


def _leading(network: BAM) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``W_1`` and ``b_1`` in C order: a file keeps that order, and the order may change the last bit of a product."""
    return np.ascontiguousarray(network.weights[0]), np.ascontiguousarray(network.biases[0])


def _leading_means(W: NDArray[np.float64], b: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """``m_1(x) = erf((W_1 x + b_1)/sqrt(2(‖x‖²+1)))`` without a lifted copy of X."""
    norm = np.vecdot(X, X) + 1
    return np.asarray(erf((X @ W.T + b) / np.sqrt(2 * norm)[:, None]))


@dataclass(frozen=True, eq=False)
class CompactABNet(Predictor):
    """Compact ABNet: ``F_A(x) = Σ_s H[s] P_1(x)[s]``, at the same cost for every depth.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
        The leading hidden layer.
    H : array (2**d_1,)
        Expected output of each of its representations (`abnet.aggregation.region_values`).

    Examples
    --------
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> CompactABNet.from_network(net).predict([[3.0, 3.0], [-1.0, -2.0]])
    array([ 1, -1])
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    H: NDArray[np.float64]

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "CompactABNet":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "H"))
        width = check_leading(arrays)
        check_table(arrays, "H", (2**width,))
        return CompactABNet(arrays["W"], arrays["b"], arrays["H"], info=info)

    @staticmethod
    def from_network(network: BAM, info: ModelInfo | None = None) -> "CompactABNet":
        """Collapse all layers after the first into one table, in float64."""
        from abnet.aggregation import region_values

        exact = network.astype(np.float64)
        return CompactABNet(*_leading(exact), np.ascontiguousarray(region_values(exact)), info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``Σ_s H[s] P_1(x)[s]``."""
        return np.asarray(multilinear(self.H, _leading_means(self.W, self.b, X)))

    def votes(self, X: Any) -> NDArray[np.bool_]:
        """The signs of `score_prepared`, from single precision where that is sure of them."""
        from abnet import single_precision

        matrix, slack = _matrix(X, self.n_inputs), single_precision.error_bound(self.W, self.b)
        if hasattr(matrix, "tocsr") or slack > MOST_SLACK:
            return super().votes(matrix)
        W, b, H = (array.astype(np.float32) for array in (self.W, self.b, self.H))
        scores = np.empty(len(matrix))
        rows = single_precision.block_rows(self.n_inputs, len(self.b))
        with np.errstate(over="ignore"):
            for start in range(0, len(matrix), rows):
                block = np.asarray(matrix[start : start + rows], np.float32)
                scores[start : start + rows] = single_precision.scores(W, b, H, block)
        if not np.isfinite(scores).all():
            return super().votes(matrix)
        votes, unsure = scores >= 0, np.abs(scores) <= slack
        votes[unsure] = super().votes(matrix[unsure])
        return votes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``H``."""
        return {"W": self.W, "b": self.b, "H": self.H}


@dataclass(frozen=True, eq=False)
class CompactMAP(Predictor):
    """The compact MAP network: the leading hidden layer and one bit per representation.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    bits : uint8 array (⌈2**d_1 / 8⌉,)
        The network's output for each representation, packed.
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    bits: NDArray[np.uint8]

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "CompactMAP":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        check_names(arrays, ("W", "b", "bits"))
        width = check_leading(arrays)
        check_array(arrays, "bits", ((2**width + 7) // 8,), np.uint8)
        return CompactMAP(arrays["W"], arrays["b"], arrays["bits"], info=info)

    @staticmethod
    def from_network(network: BAM, info: ModelInfo | None = None) -> "CompactMAP":
        """Tabulate all layers after the first."""
        from abnet.aggregation.exact import check_width
        from abnet.cube import corners

        check_width(network.sizes)
        exact = network.astype(np.float64)
        above = BAM(exact.weights[1:], exact.biases[1:]).predict(corners(network.sizes[1], np.float64))
        return CompactMAP(*_leading(exact), np.packbits(above > 0), info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F_B(x)`` in {-1, +1}."""
        powers = 2 ** np.arange(len(self.b) - 1, -1, -1)
        table = np.unpackbits(self.bits, count=2 ** len(self.b))
        z = X @ self.W.T + self.b
        signs = table[(z >= 0) @ powers] * 2.0 - 1.0
        return np.where(np.isfinite(z).all(axis=1), signs, np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``bits``."""
        return {"W": self.W, "b": self.b, "bits": self.bits}


@dataclass(frozen=True, eq=False)
class MeanFieldNetwork(Predictor):
    """PBGNet for prediction: the leading hidden layer and one table for each layer above it.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    tables : tuple of arrays (2**d_{k-1}, d_k)
        ``m_k`` over the representations of the layer below.
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    tables: tuple[NDArray[np.float64], ...]

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "MeanFieldNetwork":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        names = tuple(f"table_{k}" for k in range(2, len(arrays)))
        check_names(arrays, ("W", "b", *names))
        width = check_leading(arrays)
        for name in names:
            units = 1 if name == names[-1] else arrays[name].shape[-1] if arrays[name].ndim == 2 else 0
            check_table(arrays, name, (2**width, units))
            width = units
        if not names:
            raise ValueError("there is no table of a layer above the first.")
        return MeanFieldNetwork(arrays["W"], arrays["b"], tuple(arrays[name] for name in names), info=info)

    @staticmethod
    def from_network(network: BAM, info: ModelInfo | None = None) -> "MeanFieldNetwork":
        """Tabulate every layer above the first, in float64."""
        from abnet.aggregation import meanfield
        from abnet.aggregation.exact import check_width

        check_width(network.sizes)
        exact = network.astype(np.float64)
        tables = tuple(map(np.ascontiguousarray, meanfield.tables(exact.layers)))
        return MeanFieldNetwork(*_leading(exact), tables, info=info or ModelInfo())

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[1])

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F^L(x)``."""
        F = _leading_means(self.W, self.b, X)
        for table in self.tables:
            F = np.asarray(multilinear(table, F))
        return F[:, 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b`` and the tables by layer."""
        return {"W": self.W, "b": self.b, **{f"table_{k}": t for k, t in enumerate(self.tables, start=2)}}
