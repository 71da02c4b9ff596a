"""The exact members of a model as functions of the features: what bounds over a box of features are computed from.

A feature f enters a neuron's sum by its own weight and by those of its thermometer codes, which change at the
thresholds: ``A_i(f) = Σ_j (w_ij f_j + T_ij[r_j(f_j)]) + b_i``, with r_j the number of thresholds that f_j reaches. The
codes have squares of 1, so ``z_i = A_i/√N`` with ``N = 1 + (number of codes) + Σ_j f_j²``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.networks.cube import multilinear
from abnet.robustness.unsupported import unsupported

__all__ = ["ExactNetwork", "exact_network"]

Floats = NDArray[np.float64]

WIDEST = 12
"""Widest leading layer: a bound takes all 2^d vertices of every member."""


@dataclass(frozen=True, eq=False)
class ExactNetwork:
    """A mixture of M exact members with d leading neurons each, for two classes.

    Attributes
    ----------
    weights : array (M · d, features)
    steps : tuple of arrays (M · d, codes + 1)
        For each feature, what its codes add to each neuron's sum, by the number of thresholds that are reached.
    thresholds : tuple of float32 arrays
        For each feature, the least float32 numbers that reach its thresholds, increasing.
    b : array (M · d,)
    H : array (M, 2**d)
    """

    weights: Floats
    steps: tuple[Floats, ...]
    thresholds: tuple[NDArray[np.float32], ...]
    b: Floats
    H: Floats

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.H)

    @property
    def width(self) -> int:
        """Leading neurons of a member."""
        return len(self.b) // len(self.H)

    @property
    def constant(self) -> float:
        """The part of N that does not depend on the features."""
        return 1.0 + sum(map(len, self.thresholds))

    def reached(self, j: int, values: NDArray[np.float32]) -> NDArray[np.intp]:
        """Number of thresholds of feature j that each value reaches."""
        return np.searchsorted(self.thresholds[j], values, side="right")

    def sums(self, features: NDArray[np.float32]) -> Floats:
        """``A`` of rows (n, features), shape (n, M · d)."""
        total = features.astype(np.float64) @ self.weights.T + self.b
        for j, table in enumerate(self.steps):
            if table.shape[1] > 1:
                total += table[:, self.reached(j, features[:, j])].T
        return np.asarray(total)

    def squares(self, features: NDArray[np.float32]) -> Floats:
        """``N`` of rows (n, features)."""
        exact = features.astype(np.float64)
        return np.asarray(self.constant + np.vecdot(exact, exact))

    def scores(self, features: NDArray[np.float32]) -> Floats:
        """``F`` of rows (n, features)."""
        z = self.sums(features) / np.sqrt(self.squares(features))[:, None]
        means = erf(z / np.sqrt(2.0)).reshape(len(features), self.n_members, self.width)
        members = [multilinear(H, means[:, m]) for m, H in enumerate(self.H)]
        return np.asarray(np.mean(members, axis=0))


def exact_network(model: Model) -> ExactNetwork:
    """The exact members of a model; a ValueError says what else is possible for a model of another kind."""
    predictor = model.predictor
    if not isinstance(predictor, Compact):
        raise unsupported(
            f"a tolerance needs exact members (`Compact`), not a predictor of kind {type(predictor).__name__}",
            "fit a CertifiedClassifier with hidden_layer_sizes=(8,), for example",
        )
    if predictor.n_classes > 2:
        raise unsupported("a tolerance is for two classes", "fit a model for each class against the others")
    M, d, n_inputs = predictor.W.shape
    if d > WIDEST:
        raise unsupported(f"a tolerance is for at most {WIDEST} leading neurons, not {d}", "fit narrower members")
    codes = model.preparation.codes
    n_features = n_inputs - sum(map(len, codes))
    if not codes:
        codes = ((),) * n_features
    W = predictor.W.reshape(M * d, n_inputs)
    steps = []
    first = n_features
    for thresholds in codes:
        steps.append(_steps(W[:, first : first + len(thresholds)]))
        first += len(thresholds)
    return ExactNetwork(
        weights=np.ascontiguousarray(W[:, :n_features]),
        steps=tuple(steps),
        thresholds=tuple(_least_reaching(thresholds) for thresholds in codes),
        b=predictor.b.reshape(-1),
        H=predictor.H,
    )


def _steps(signs: Floats) -> Floats:
    """What codes with these weights (neurons, codes) add, by the number of thresholds that are reached."""
    codes = signs.shape[1]
    written = np.where(np.arange(codes) < np.arange(codes + 1)[:, None], 1.0, -1.0)
    return np.asarray(signs @ written.T)


def _least_reaching(thresholds: tuple[float, ...]) -> NDArray[np.float32]:
    """The least float32 at or above each threshold."""
    exact = np.array(thresholds, np.float64)
    rounded = exact.astype(np.float32)
    return np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded)
