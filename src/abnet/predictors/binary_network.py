"""The comparison methods as deployed predictors: folded binary networks, and EBP's posterior average."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from abnet.bam import BAM, sgn
from abnet.predictors.predictor import ModelInfo, Predictor
from abnet.records import check_array, check_names

__all__ = [
    "Affine",
    "BinaryNetwork",
    "FoldedNetwork",
    "PosteriorAverage",
    "Ramp",
    "Step",
    "ebp_output",
    "first_nonnegative",
]


@dataclass(frozen=True, eq=False)
class Affine:
    """``(a - centre) · scale + shift`` for each unit; the output layer.

    The centre is kept apart from the shift so that a = centre gives exactly the shift, as in evaluation mode.
    """

    centres: NDArray[np.float64]
    scales: NDArray[np.float64]
    shifts: NDArray[np.float64]

    @staticmethod
    def from_normalisation(mean: Any, variance: Any, gamma: Any, beta: Any, *, epsilon: float) -> "Affine":
        """Batch normalisation with fixed statistics: ``(a - μ) · γ/sqrt(σ² + ε) + β``."""
        mean, variance, gamma, beta = (np.asarray(v, np.float64) for v in (mean, variance, gamma, beta))
        return Affine(mean, gamma / np.sqrt(variance + epsilon), beta)

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the affine value of pre-activations (n, units)."""
        return (a - self.centres) * self.scales + self.shifts


@dataclass(frozen=True, eq=False)
class Ramp:
    """``max(0, affine(a))``: BinaryConnect's hidden units."""

    affine: Affine

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rectified value of pre-activations (n, units)."""
        return np.maximum(self.affine(a), 0.0)


@dataclass(frozen=True, eq=False)
class Step:
    """+1 where ``flip · a ≥ threshold``, else -1: BNN's hidden units, without a multiplication."""

    flips: NDArray[np.int8]
    thresholds: NDArray[np.float64]

    @staticmethod
    def from_affine(affine: Affine) -> "Step":
        """``sgn(affine(a))`` as a threshold test, equal to it for every float64 number a, ties included.

        In real numbers the threshold is ``μ - β sqrt(σ² + ε)/γ``, reversed for γ < 0. Rounding can put that on the
        wrong side of a tie, so the first float that passes is searched for. A unit with γ = 0 is constant.
        """
        flips = sgn(affine.scales)
        return Step(flips.astype(np.int8), first_nonnegative(lambda a: affine(flips * a), len(flips)))

    def __call__(self, a: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ±1 for pre-activations (n, units)."""
        return np.where(self.flips * a >= self.thresholds, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class FoldedNetwork:
    """A trained BinaryConnect or BNN network for prediction in float64.

    Parameters
    ----------
    weights : tuple of arrays (d_k, d_{k-1})
        In {-1, +1} and int8; real weights only for stochastic BinaryConnect. Anything binary is stored as int8.
    units : tuple of Affine, Ramp or Step
        What each layer does with ``W_k h``: `Ramp` or `Step` in the hidden layers, `Affine` at the output.

    Examples
    --------
    >>> step = Step(np.array([1, -1], np.int8), np.array([0.5, 0.5]))
    >>> output = Affine(np.zeros(1), np.array([0.5]), np.zeros(1))
    >>> network = FoldedNetwork((np.array([[1, 1], [1, 1]]), np.array([[1, 1]])), (step, output))
    >>> network.decision_function([[1.0, 1.0], [0.0, 0.0]])
    array([ 0., -1.])
    >>> network.predict([[1.0, 1.0], [0.0, 0.0]])
    array([ 1., -1.])
    """

    weights: tuple[NDArray[Any], ...]
    units: tuple[Affine | Ramp | Step, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.units):
            raise ValueError(f"each weight matrix needs its units; got {len(self.weights)} and {len(self.units)}.")
        object.__setattr__(self, "weights", tuple(map(_compact, self.weights)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """``(d_0, d_1, …, d_L)``."""
        return (int(self.weights[0].shape[1]), *(len(W) for W in self.weights))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the score of every row of X, shape (n,); its sign is the label."""
        matrices = [W.astype(np.float64).T for W in self.weights]

        def score(h: NDArray[np.float64]) -> NDArray[np.float64]:
            for W, units in zip(matrices, self.units, strict=True):
                h = units(h @ W)
            return h[:, 0]

        return map_rows(score, X, columns=self.sizes[0])

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the label of every row of X, -1 or +1, shape (n,)."""
        return sgn(self.decision_function(X))


def _compact(W: NDArray[Any]) -> NDArray[Any]:
    """Binary weights as int8, others as float64."""
    return W.astype(np.int8) if np.all(np.abs(W) == 1) else W.astype(np.float64)


def first_nonnegative(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], units: int
) -> NDArray[np.float64]:
    """Smallest finite float64 t of each unit with ``function(t) ≥ 0``, for a nondecreasing function; +inf if none.

    Bisection over the floats themselves, ordered by their bit patterns: 64 turns, exact by construction.

    Examples
    --------
    >>> first_nonnegative(lambda t: t - np.array([0.1, -3.0]), 2)
    array([ 0.1, -3. ])
    >>> first_nonnegative(lambda t: 0 * t - 1, 1)
    array([inf])
    """
    infinity = np.float64(np.inf).view(np.int64)
    low, high = (
        np.full(units, -infinity),
        np.full(units, infinity),
    )  # function(low) < 0 <= function(high), by convention
    while np.any(high - 1 > low):
        middle = (low & high) + ((low ^ high) >> 1)  # ⌊(low + high)/2⌋ without overflow
        with np.errstate(over="ignore", invalid="ignore"):  # a finished unit may stand at -inf, which does not pass
            passed = function(_float_at(middle)) >= 0
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return _float_at(high)


def _float_at(position: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the float at a signed distance, counted in floats, from zero."""
    return np.copysign(np.abs(position).view(np.float64), position)


def ebp_output(network: BAM, X: ArrayLike, *, e: float = 1.0) -> NDArray[np.float64]:
    """EBP's approximate mean output ``v_L`` of networks drawn from ``N(network, I)``, in float64.

    ``v_l = erf(a_l / (√2 s_l))`` with ``a_l = M_l v_{l-1} + b_l``, ``s_1² = ‖x‖² + 1`` and, for l ≥ 2,
    ``s_l² = (d_{l-1} + 1) + M_l² (1 - v_{l-1}²) + e``. The label is the sign of v_L, and ``P(y|x) = (1 + y v_L)/2``.

    Parameters
    ----------
    network : BAM
        Posterior means, one output; NumPy or JAX arrays.
    X : array (n, d_0)
    e : float
        Extra variance of the layers above the first, as in training.

    Returns
    -------
    array (n,)
        Values in [-1, 1].

    Examples
    --------
    >>> network = BAM((np.array([[1.0, 0.0]]),), (np.array([0.0]),))
    >>> ebp_output(network, [[0.0, 0.0], [3.0, 0.0]]).round(3)
    array([0.   , 0.657])
    """
    means = network.astype(np.float64)

    def output(x: NDArray[np.float64]) -> NDArray[np.float64]:
        v, variance = x, np.sum(x * x, axis=1, keepdims=True) + 1
        for layer, (M, b) in enumerate(zip(means.weights, means.biases, strict=True)):
            if layer > 0:
                variance = M.shape[1] + 1 + e + (1 - v * v) @ (M * M).T
            v = erf((v @ M.T + b) / np.sqrt(2 * variance))
        return v[:, 0]

    return map_rows(output, X, columns=network.sizes[0])


_UNITS: dict[type, tuple[str, ...]] = {
    Affine: ("centres", "scales", "shifts"),
    Ramp: ("centres", "scales", "shifts"),
    Step: ("flips", "thresholds"),
}


@dataclass(frozen=True, eq=False)
class PosteriorAverage(Predictor):
    """EBP's posterior-averaged output.

    Parameters
    ----------
    network : BAM
        Posterior means.
    e : float
        Extra variance of the layers above the first.
    """

    network: BAM
    e: float

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``v_L``, in [-1, 1]."""
        return ebp_output(self.network, X, e=self.e)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The layers ``V_k = (M_k, b_k)`` and e."""
        layers = {f"layer_{k}": np.ascontiguousarray(V) for k, V in enumerate(self.network.layers, start=1)}
        return {**layers, "e": np.array([self.e])}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "PosteriorAverage":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        names = tuple(f"layer_{k}" for k in range(1, len(arrays)))
        check_names(arrays, (*names, "e"))
        check_array(arrays, "e", (1,))
        for name in names:
            check_array(arrays, name, _matrix_shape(arrays, name), arrays[name].dtype)
        layers = tuple(arrays[name] for name in names)
        _check_chain([(V.shape[0], V.shape[1] - 1) for V in layers])
        return PosteriorAverage(BAM.from_layers(layers), float(arrays["e"][0]), info=info)


@dataclass(frozen=True, eq=False)
class BinaryNetwork(Predictor):
    """BinaryConnect or BNN with batch normalisation folded into each unit; scores, no probabilities.

    Parameters
    ----------
    network : FoldedNetwork
    """

    network: FoldedNetwork
    shares: ClassVar[bool] = False

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """The real-valued output."""
        return self.network.decision_function(X)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and unit constants by layer; hidden units with thresholds are BNN's, with centres BinaryConnect's."""
        found = {}
        for k, (W, units) in enumerate(zip(self.network.weights, self.network.units, strict=True), start=1):
            found[f"weights_{k}"] = W
            constants = units.affine if isinstance(units, Ramp) else units
            found |= {f"{name}_{k}": np.asarray(getattr(constants, name)) for name in _UNITS[type(units)]}
        return found

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "BinaryNetwork":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        depth = sum(name.startswith("weights_") for name in arrays)
        kinds: list[Any] = [Step if f"flips_{k}" in arrays else Ramp for k in range(1, depth)] + [Affine] * (depth > 0)
        names = [
            name
            for k, kind in enumerate(kinds, start=1)
            for name in (f"weights_{k}", *(f"{u}_{k}" for u in _UNITS[kind]))
        ]
        check_names(arrays, tuple(names))
        weights = tuple(_weights(arrays, f"weights_{k}") for k in range(1, depth + 1))
        _check_chain([(W.shape[0], W.shape[1]) for W in weights])
        units = tuple(_units(arrays, kind, k, len(weights[k - 1])) for k, kind in enumerate(kinds, start=1))
        return BinaryNetwork(FoldedNetwork(weights, units), info=info)


def _weights(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    shape = _matrix_shape(arrays, name)
    check_array(arrays, name, shape, np.int8 if arrays[name].dtype == np.int8 else np.float64)
    if arrays[name].dtype == np.int8 and not np.all(np.abs(arrays[name]) == 1):
        raise ValueError(f"the array {name} holds values other than -1 and +1.")
    return arrays[name]


def _units(arrays: Mapping[str, NDArray[Any]], kind: Any, k: int, width: int) -> Any:
    constants = [arrays[f"{name}_{k}"] for name in _UNITS[kind]]
    for name, array in zip(_UNITS[kind], constants, strict=True):
        if name == "thresholds":  # infinite for a unit that is constant
            if array.shape != (width,) or array.dtype != np.float64 or np.isnan(array).any():
                raise ValueError(f"the array thresholds_{k} must hold {width} float64 numbers.")
        else:
            check_array(arrays, f"{name}_{k}", (width,), np.int8 if name == "flips" else np.float64)
    return Ramp(Affine(*constants)) if kind is Ramp else kind(*constants)


def _matrix_shape(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[int, ...]:
    if arrays[name].ndim != 2 or 0 in arrays[name].shape:
        raise ValueError(f"the array {name} must be a matrix, but has the shape {arrays[name].shape}.")
    return arrays[name].shape


def _check_chain(shapes: list[tuple[int, int]]) -> None:
    """Refuse layers that do not fit together, or more than one output."""
    outputs, inputs = [rows for rows, _ in shapes], [columns for _, columns in shapes]
    if not shapes or outputs[-1] != 1 or outputs[:-1] != inputs[1:]:
        raise ValueError(f"the layers do not fit together: (outputs, inputs) are {shapes}.")


ROWS = 8192  # 50 MB of float64 at 784 columns


def map_rows(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], X: ArrayLike, *, columns: int, rows: int = ROWS
) -> NDArray[np.float64]:
    """Apply a row-wise function to float64 blocks of X and join the results.

    Parameters
    ----------
    function : callable
        Takes an array (block, columns) and gives an array (block,).
    X : array (n, columns)
    columns : int
        Number of columns the model takes; anything else is refused.
    rows : int
        Rows in a block.

    Examples
    --------
    >>> map_rows(lambda x: x.sum(1), [[1, 2], [3, 4], [5, 6]], columns=2, rows=2)
    array([ 3.,  7., 11.])
    """
    X = np.asarray(X)
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"X must have shape (rows, {columns}), the columns the network was trained on; got {X.shape}.")
    result = np.empty(len(X))
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        result[block] = function(X[block].astype(np.float64))
    return result
