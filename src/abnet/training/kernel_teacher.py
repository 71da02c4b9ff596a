"""A teacher for smooth inputs: ridge regression of the classes with a Gaussian kernel.

Trees and lines are poor at what is told by many columns together, such as the pixels of an image or the bands of a
spectrum. With the kernel ``k(x, z) = exp(-‖x - z‖² / s)`` and one column of Y for each class (1 for the row's own, else
0; 1/K subtracted from all), the fit that minimises ``Σ_i w_i ‖Y_i - f(x_i)‖² + λ ‖f‖²`` is ``f(x) = Σ_i k(x, x_i) A_i``
with ``G = K + λ diag(1/w)`` and ``A = G⁻¹ Y``. What it says of row i when fitted without it needs no further fit: it is
``Y_i - A_i / (G⁻¹)_ii``. So s, λ and how sure to be are chosen, and the teacher is judged, on rows it has not seen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = ["KernelTeacher", "left_out"]

MOST_ROWS, TRIED_ROWS = 4_000, 800
"""Rows that it is fitted on, and those on which kernel and ridge are chosen; of more rows a random part."""
SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Tried for s, as multiples of the median squared distance of two rows."""
RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SHARPNESSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Tried for t in the probabilities ``p_j ∝ exp(t f_j)``."""
LEAST_WEIGHT = 1e-9
"""Of a row, as a multiple of the mean."""
NOTHING = 1e-12
"""Share of two rows' squares below which their distance is rounding."""
BLOCK = 2_000
"""Rows that are answered at a time: 64 MB of distances."""


class KernelTeacher(ClassifierMixin, BaseEstimator):
    """Gaussian kernel ridge regression of the classes, its settings chosen on rows left out one by one.

    Parameters
    ----------
    random_state : int
        Draws the rows that it is fitted on, if there are more than 4,000.

    Attributes
    ----------
    classes_ : array (K,)
    oob_decision_function_ : array (n, K)
        Probabilities of each row of the fit by the fit without that row.

    Examples
    --------
    >>> angle = np.linspace(0, 12, 60)
    >>> ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.repeat([[1.0], [2.0], [3.0]], 20, axis=0)
    >>> teacher = KernelTeacher().fit(ring, np.repeat([0, 1, 2], 20))
    >>> int(np.sum(teacher.oob_decision_function_.argmax(axis=1) != np.repeat([0, 1, 2], 20)))
    0
    """

    oob_score = True  # as scikit-learn's forest says that it has answers for rows it has not seen

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelTeacher":
        """Choose kernel, ridge and sharpness, then fit; all from these rows."""
        rows = np.asarray(X, np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        # A row of next to no weight, next to no pull: the ridge of its own is finite all the same.
        weights = np.maximum(weights / weights.mean(), LEAST_WEIGHT)
        order = np.random.default_rng(self.random_state).permutation(len(rows))
        kept, tried = np.sort(order[:MOST_ROWS]), np.sort(order[:TRIED_ROWS])
        self._rows = rows[kept]
        self._scale, self._ridge, self._sharpness = _chosen(rows[tried], codes[tried], weights[tried], self._classes())
        kernel = np.exp(-squared_distances(self._rows, self._rows) / self._scale)
        targets = _centred_targets(codes[kept], self._classes())
        while True:
            try:
                self._weights, without = left_out(kernel, targets, self._ridge, weights[kept])
                break
            except np.linalg.LinAlgError:  # too small a ridge for so many rows that are nearly equal
                self._ridge *= 10.0
        answers = np.empty((len(rows), self._classes()))
        answers[kept] = _softmax(self._sharpness * without)
        others = np.setdiff1d(np.arange(len(rows)), kept)
        answers[others] = self.predict_proba(rows[others])
        self.oob_decision_function_ = answers
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K)."""
        rows = np.asarray(X, np.float64)
        out = np.empty((len(rows), self._classes()))
        for start in range(0, len(rows), BLOCK):
            kernel = np.exp(-squared_distances(rows[start : start + BLOCK], self._rows) / self._scale)
            out[start : start + BLOCK] = kernel @ self._weights
        return _softmax(self._sharpness * out)

    def _classes(self) -> int:
        return len(self.classes_)


def left_out(
    kernel: NDArray[np.float64], targets: NDArray[np.float64], ridge: float, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients ``A = G⁻¹ Y`` of a kernel ridge regression, and what each row is told by the fit without it.

    Parameters
    ----------
    kernel : array (n, n)
    targets : array (n, K)
    ridge : float
        λ in ``G = K + λ diag(1/w)``.
    weights : array (n,)
        w, above 0.

    Examples
    --------
    >>> left_out(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0], [-1.0]]), 1.0, np.ones(2))[1].ravel()
    array([-0.25,  0.25])
    """
    from scipy.linalg import cho_factor, cho_solve, lapack

    G = np.array(kernel, order="F")
    G.ravel(order="K")[:: len(G) + 1] += ridge / weights
    factor = cho_factor(G, lower=True, overwrite_a=True)
    coefficients = cho_solve(factor, targets)
    inverse, _ = lapack.dpotri(factor[0], lower=1, overwrite_c=1)
    return coefficients, targets - coefficients / np.diag(inverse)[:, None]


def squared_distances(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """``‖a_i - b_j‖²`` for all pairs of rows.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[25.,  1.]])
    """
    from sklearn.metrics.pairwise import euclidean_distances

    distances = np.asarray(euclidean_distances(A, B, squared=True))
    squares = np.square(A).sum(axis=1)[:, None] + np.square(B).sum(axis=1)
    distances[distances <= NOTHING * squares] = 0.0  # of equal rows: what rounding leaves of them is no distance
    return distances


def _chosen(
    rows: NDArray[np.float64], codes: NDArray[np.intp], weights: NDArray[np.float64], n_classes: int
) -> tuple[float, float, float]:
    """Kernel scale, ridge and sharpness of least log loss on the rows, each left out once."""
    distances, targets = squared_distances(rows, rows), _centred_targets(codes, n_classes)
    apart = distances[distances > 0]
    unit = float(np.median(apart)) if len(apart) else 1.0
    best = (np.inf, unit, 1.0, 1.0)
    for scale in SCALES:
        kernel = np.exp(-distances / (scale * unit))
        for ridge in RIDGES:
            try:
                _, without = left_out(kernel, targets, ridge, weights)
            except np.linalg.LinAlgError:  # too small for rows that are nearly equal
                continue
            for sharpness in SHARPNESSES:
                chances = _softmax(sharpness * without)[np.arange(len(codes)), codes]
                loss = -float(np.average(np.log(np.maximum(chances, 1e-12)), weights=weights))
                best = min(best, (loss, scale * unit, ridge, sharpness))
    return best[1:]


def _centred_targets(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """One column a class, 1 for its own rows and 0 for others, less 1/K: far from all rows no class is likelier."""
    return np.eye(n_classes)[codes] - 1 / n_classes


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
