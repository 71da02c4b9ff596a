"""BinaryConnect and BNN for prediction: batch normalisation folded into each unit, NumPy alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bam import sgn
from abnet.baselines.row_blocks import map_rows

__all__ = ["FoldedNetwork", "Affine", "Ramp", "Step", "first_nonnegative"]


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
