"""`Predictor`, the base of all fitted models: what is deployed and what is certified, NumPy and SciPy alone.

With it the leading hidden layer, where the data meet the network, in single or double precision as the arrays are, and
the calibration, a map of two numbers from shares of the vote to probabilities that leaves every vote as it is.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from abnet.arrays import check_array
from abnet.bam import BAM
from abnet.certificates.certificate import Certificate
from abnet.codebook import code_words, words_from_text
from abnet.features import MANY_CODED, CodedRows, over_norms
from abnet.labels import Labels, winners
from abnet.threads import mapped

__all__ = [
    "Calibration",
    "ModelInfo",
    "Predictor",
    "as_matrix",
    "check_chain",
    "check_leading",
    "check_matrix",
    "in_order",
    "leading_arguments",
    "leading_means",
    "leading_scores",
    "leading_weights",
    "weighted_sums",
]


def leading_weights(network: BAM) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``W_1`` and ``b_1`` in C order: a file keeps that order, and the order may change the last bit of a product."""
    return np.ascontiguousarray(network.weights[0]), np.ascontiguousarray(network.biases[0])


def weighted_sums(W: Any, b: Any, X: Any) -> Any:
    """``W_1 x + b_1`` of every row, shape (rows, d_1)."""
    return X @ W.T + b


def leading_arguments(W: Any, b: Any, X: Any) -> Any:
    """``t_1(x) = (W_1 x + b_1)/sqrt(2(‖x‖² + 1))``, shape (rows, d_1), without a lifted copy of X.

    Its error function is the mean output of a unit whose weights and bias are drawn from N(·, 1). Not finite where a
    row is not, nor where its squared norm is too large for the type.

    Parameters
    ----------
    W : array (d_1, d_0)
    b : array (d_1,)
    X : array (rows, d_0)

    Examples
    --------
    >>> leading_arguments(np.array([[1.0, 0.0]]), np.array([3.0]), np.array([[1.0, 0.0]]))
    array([[2.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return over_norms(weighted_sums(W, b, X), np.vecdot(X, X))


def leading_means(W: Any, b: Any, X: Any) -> Any:
    """Mean output of every unit, ``m_1(x) = erf(t_1(x))``, shape (rows, d_1)."""
    return erf(leading_arguments(W, b, X))


def leading_scores(V: Any, X: Any) -> Any:
    """``z_1(x) = √2 t_1(x)``, for the layer ``V = (W_1, b_1)``: a unit outputs ``sgn(z_1 + ε)`` with ε ~ N(0, 1)."""
    return leading_arguments(V[:, :-1], V[:, -1], X) * X.dtype.type(2**0.5)


MOST_POWER, MOST_FLOOR = 20.0, 1.0
LEAST_POWER, LEAST_FLOOR = 0.05, 1e-5
PENALTY = 2.0
"""Nats that a power of e (or 1/e) costs, over all rows."""


@dataclass(frozen=True)
class Calibration:
    """Probabilities ``p_j ∝ (P_j + floor)^power`` from shares of the vote P_j.

    Rising in P_j, so that the class with the largest share keeps the largest probability, and with two classes a share
    of one half stays one half: `predict` and its certificate do not notice.

    Parameters
    ----------
    power : float
        Above 1 for a vote that is too timid, below for one that is too sure: the inverse of a temperature.
    floor : float
        Keeps probabilities off 0 and 1.

    Examples
    --------
    >>> Calibration(2.0, 0.0).apply(np.array([[0.25, 0.75], [0.5, 0.5]]))
    array([[0.1, 0.9],
           [0.5, 0.5]])
    """

    power: float
    floor: float

    def __post_init__(self) -> None:
        if not (LEAST_POWER <= self.power <= MOST_POWER and 0 <= self.floor <= MOST_FLOOR):
            raise ValueError(
                f"a calibration needs a power between {LEAST_POWER} and {MOST_POWER} and a floor between 0 and "
                f"{MOST_FLOOR}; got {self.power!r} and {self.floor!r}."
            )

    def apply(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities (n, K) from shares (n, K)."""
        with np.errstate(divide="ignore"):
            logits = self.power * np.log(shares + self.floor)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    @staticmethod
    def fitted(shares: NDArray[np.float64], targets: NDArray[np.float64]) -> "Calibration":
        """The map of least log loss on rows that the network did not learn from.

        Parameters
        ----------
        shares : array (n, K)
        targets : array (n, K)
            A distribution over the classes for each row: its label, or what a teacher says.

        Examples
        --------
        >>> shares = np.array([[0.4, 0.6]] * 1000)
        >>> sure = np.array([[0.0, 1.0]] * 900 + [[1.0, 0.0]] * 100)
        >>> Calibration.fitted(shares, sure).apply(shares)[0].round(2)
        array([0.1, 0.9])
        """
        from scipy.optimize import minimize

        def loss(logs: NDArray[np.float64]) -> float:
            power, floor = np.exp(logs)
            with np.errstate(divide="ignore"):
                logits = power * np.log(shares + floor)
            top = logits.max(axis=1, keepdims=True)
            normalised = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
            # A power far from 1 has to earn it: on few rows the least loss would follow chance.
            return float(PENALTY * logs[0] ** 2 - np.sum(targets * normalised)) / len(shares)

        bounds = [(np.log(LEAST_POWER), np.log(MOST_POWER)), (np.log(LEAST_FLOOR), np.log(MOST_FLOOR))]
        starts = [np.array([0.0, np.log(floor)]) for floor in (1e-3, 3e-2)]
        found: list[Any] = [minimize(loss, start, method="L-BFGS-B", bounds=bounds) for start in starts]
        best = min(found, key=lambda result: float(result.fun))
        power, floor = (float(value) for value in np.exp(best.x))
        return Calibration(min(max(power, LEAST_POWER), MOST_POWER), min(floor, MOST_FLOOR))

    def to_dict(self) -> dict[str, float]:
        """Plain values, ready for JSON."""
        return {"power": self.power, "floor": self.floor}

    @staticmethod
    def from_dict(record: Any) -> "Calibration":
        """The map stored in a record; ValueError for anything that `to_dict` would not have written."""
        if not isinstance(record, dict) or set(record) != {"power", "floor"}:
            raise ValueError("a calibration must have the keys 'power' and 'floor'.")
        if not all(type(value) in (int, float) for value in record.values()):
            raise ValueError(f"a calibration must hold numbers; got {str(record)[:80]}.")
        return Calibration(float(record["power"]), float(record["floor"]))


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


def check_chain(shapes: list[tuple[int, int]], n_classes: int = 2) -> None:
    """Refuse layers (outputs, inputs) that do not fit together, or end in other than one output for two classes and one
    for each of several.
    """
    outputs, inputs = [rows for rows, _ in shapes], [columns for _, columns in shapes]
    if not shapes or outputs[-1] != (1 if n_classes == 2 else n_classes) or outputs[:-1] != inputs[1:]:
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
    labels : Labels or array of labels
        Of two labels the first stands for -1, the second for +1.
    feature_names : tuple of str, optional
        Columns in the order of training.
    preparation : object with ``transform``, optional
        Fitted map from the caller's rows to the network's inputs.
    certificate : Certificate, optional
        The latter for one network drawn from the posterior.
    details : dict
        Plain values for `abnet inspect`: settings, sizes, data fingerprint.
    calibration : Calibration, optional
        From shares of the vote to probabilities; without it they are the same.
    """

    labels: Labels = field(default_factory=lambda: Labels(np.array([-1, 1])))
    feature_names: tuple[str, ...] | None = None
    preparation: Any = None
    certificate: Certificate | None = None
    details: dict[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.labels, Labels):
            object.__setattr__(self, "labels", Labels(self.labels))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array."""
        return self.labels.classes

    def code_words(self, length: int) -> NDArray[np.int8]:
        """The code book (K, c) that the model was made with: the one among its details, else `abnet.codebook`'s own."""
        kept = self.details.get("code_book")
        if kept is None:
            return code_words(self.labels.n_classes, length)
        return words_from_text(kept, self.labels.n_classes, length)


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """A fitted classifier that needs no training library.

    A row has one score for two classes, or one for each of several.

    The score of a row depends on that row alone (but for the last bit, which may depend on its place in a block).
    Inputs are rounded to float32, as in training; every score after that is computed in float64.
    """

    info: ModelInfo = field(default_factory=ModelInfo, kw_only=True)

    shares: ClassVar[bool] = True
    """Whether a score is a share of votes, and so a probability."""
    coded_block: ClassVar[int] = 2048
    """Coded rows at a time: their sums should stay in the cache."""

    def __post_init__(self) -> None:
        if self.info.labels.n_classes != self.n_classes:
            labels = self.info.labels.n_classes
            raise ValueError(f"the scores tell {self.n_classes} classes apart, but there are {labels} labels.")

    @property
    def n_classes(self) -> int:
        """Number of classes that the scores tell apart."""
        return 2

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
        """Scores of a block of prepared rows, (rows,) or (rows, K): in [-1, 1], or [0, 1], where they are shares."""

    def coded_scorer(self, counts: tuple[int, ...]) -> "Callable[[CodedRows], NDArray[np.float64]] | None":
        """`score_rows` of coded rows with so many thresholds of each feature; None if they have to be written out."""
        return None

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that define the predictor, by field name."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; of two the one of -1 first."""
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
        """The score ``F(x)`` of every row; positive for ``classes_[1]``. Several classes: their shares of the vote."""
        return self.score_prepared(self.inputs(X))

    def prepare(self, X: Any) -> Any:
        """The network's inputs for the caller's rows."""
        return np.asarray(inputs) if isinstance(inputs := self.inputs(X), CodedRows) else inputs

    def inputs(self, X: Any) -> Any:
        """`prepare`, but with codes that are not written out."""
        X, preparation = in_order(X, self.info.feature_names, self.info.preparation), self.info.preparation
        if preparation is None:
            return X
        return preparation.coded_rows(X) if hasattr(preparation, "coded_rows") else preparation.transform(X)

    def score_prepared(self, X: Any, *, threads: int = 1) -> NDArray[np.float64]:
        """`decision_function` of rows that are prepared already; the same in one thread as in several."""
        matrix = as_matrix(X, self.n_inputs)
        scores = np.empty(matrix.shape[0] if self.n_classes == 2 else (matrix.shape[0], self.n_classes))
        looked_up = self.coded_scorer(matrix.counts) if isinstance(matrix, CodedRows) else None
        rows = self.coded_block if looked_up else min(max(BLOCK_ENTRIES // self.n_inputs, 16), MOST_ROWS)

        def score(start: int) -> None:
            block = matrix[start : start + rows]
            with np.errstate(over="ignore", invalid="ignore"):
                if looked_up is not None:
                    scores[start : start + rows] = looked_up(block)
                    return
                dense = block.toarray() if hasattr(block, "toarray") else block
                # Inputs are single precision in training, in the certificate and here: one and the same predictor.
                scores[start : start + rows] = self.score_rows(np.asarray(dense, np.float32).astype(np.float64))

        mapped(score, range(0, matrix.shape[0], rows), threads)
        if not np.isfinite(scores).all():
            row = int(np.argwhere(~np.isfinite(scores))[0, 0])
            raise ValueError(
                f"Input contains NaN, infinity or a value too large for float32 in row {row}: "
                "fill in or remove it first."
            )
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The vote's label for every row: ``sgn(F(x))``, or the class with the largest share."""
        return self.info.labels.decode(self.votes(self.inputs(X)))

    def votes(self, X: Any, *, threads: int = 1) -> NDArray[np.intp]:
        """The code of each prepared row's label: of two, 1 where its score is at least zero, else 0."""
        return winners(self.score_prepared(X, threads=threads))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K): the shares of the vote, calibrated if the model knows how."""
        self.check_shares()
        return self.probabilities_from_scores(self.decision_function(X))

    def vote_share(self, X: ArrayLike) -> NDArray[np.float64]:
        """Share of the aggregation's networks that vote for each class, (n, K); two classes: ``(1 ∓ F(x))/2``."""
        self.check_shares()
        return self.shares_from_scores(self.decision_function(X))

    def probabilities_from_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """`predict_proba` of rows with these scores."""
        shares = self.shares_from_scores(scores)
        return shares if self.info.calibration is None else self.info.calibration.apply(shares)

    def shares_from_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """`vote_share` of rows with these scores; ValueError where a score is no share of votes."""
        self.check_shares()
        if scores.ndim == 2:
            return scores
        p = 0.5 + 0.5 * scores
        return np.stack([1 - p, p], axis=1)

    def to_c(self, path: str | os.PathLike[str], *, prefix: str = "abnet", example: bool = False) -> Any:
        """Write this predictor, with its preparation, as C99 with a header: see `abnet.export.to_c`."""
        from abnet.export import to_c

        return to_c(self, path, prefix=prefix, example=example)

    def to_onnx(self, path: str | os.PathLike[str]) -> Any:
        """Write this predictor, with its preparation, as an ONNX model: see `abnet.export.to_onnx`."""
        from abnet.export import to_onnx

        return to_onnx(self, path)

    def _repr_html_(self) -> str:
        """For notebooks: what it is, and its certificate; its arrays are long, and nothing to read."""
        from abnet.certificates.sentences import fitted_html

        names = ", ".join(self.info.labels.names[:8]) + (", …" if self.n_classes > 8 else "")
        about = f"<p>{type(self).__name__} of {self.n_inputs:,} inputs; classes: {escape(names)}.</p>"
        return fitted_html(about, self.info.certificate, str(self.info.details.get("recipe", "")))

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
    many = isinstance(X, CodedRows) and len(X) >= MANY_CODED
    matrix = X if many else X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != n_inputs:
        raise ValueError(f"X has shape {matrix.shape}, but the network expects (rows, {n_inputs}).")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X holds values of type {matrix.dtype}, but the network expects numbers.")
    return matrix
