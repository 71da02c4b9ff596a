"""A teacher for smooth inputs: ridge regression of the classes with a Gaussian or Laplace kernel.

Trees and linear models are poor where many columns matter together, such as the pixels of an image or the bands of a
spectrum. With the kernel ``k(x, z) = exp(-‖x - z‖² / s)`` and one column of Y for each class (1 for the row's own, else
0; 1/K subtracted from all), the fit that minimises ``Σ_i w_i ‖Y_i - f(x_i)‖² + λ ‖f‖²`` is ``f(x) = Σ_i k(x, x_i) A_i``
with ``G = K + λ diag(1/w)`` and ``A = G⁻¹ Y``. The leave-one-out prediction of row i needs no further fit: it is
``Y_i - A_i / (G⁻¹)_ii``. So s, λ and the sharpness of the probabilities are chosen, and the teacher is weighed, by
predictions for rows it was not fitted on.

With a learned metric, the squared distance is ``Σ_j r_j (x_j - z_j)²`` with the relevance r_j of each feature: the mean
square of the derivatives of a first fit by that feature, over rows and classes. The step from a kernel's gradients to
its metric is that of Radhakrishnan, Beaglehole, Pandit and Belkin (Science 383, 2024). A row that is left out had its
part in the metric, as it had in the choice of the settings, so leave-one-out predictions are a little too hopeful: with
random labels and ten rows per feature their log loss was 1% too small, with one row per feature 6%.

The Laplace kernel ``exp(-‖x - z‖ / s)`` may take the place of the Gaussian one; it is better at steps.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from abnet.training.pooled_predictions import softmax

__all__ = ["KernelTeacher", "left_out", "relevances"]

# Upper limits of numbers of rows; the rows are drawn at random.
MOST_ROWS = 4_000
"""Rows that the teacher is fitted on."""
TRIED_ROWS = 800
"""Rows on which settings are chosen, and a metric is learned."""
METRIC_ROWS = 400
"""Rows on which settings are chosen if a metric is learned, because there are then two choices."""
SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Tried for s, as multiples of the median squared distance of two rows, or of the median distance."""
RIDGES = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SHARPNESSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Tried for t in the probabilities ``p_j ∝ exp(t f_j)``."""
LEAST_WEIGHT = 1e-9
"""Of a row, as a multiple of the mean."""
NOTHING = 1e-12
"""Share of two rows' squares below which their distance is rounding."""
BLOCK = 500
"""Rows whose distances are computed at a time: 16 MB."""


class KernelTeacher(ClassifierMixin, BaseEstimator):
    """Kernel ridge regression of the classes, its settings chosen on rows left out one by one.

    Parameters
    ----------
    random_state : int
        Draws the rows that it is fitted on, if there are more than 4,000, and those on which settings are chosen.
    metric : bool
        Whether the relevance of each feature is learned.
    laplace : bool
        Whether to use the Laplace kernel.

    Attributes
    ----------
    classes_ : array (K,)
    oob_decision_function_ : array (n, K)
        Probabilities of each row of the fit by the fit without that row, with the same settings and metric.

    Examples
    --------
    >>> angle = np.linspace(0, 12, 60)
    >>> ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.repeat([[1.0], [2.0], [3.0]], 20, axis=0)
    >>> teacher = KernelTeacher().fit(ring, np.repeat([0, 1, 2], 20))
    >>> int(np.sum(teacher.oob_decision_function_.argmax(axis=1) != np.repeat([0, 1, 2], 20)))
    0
    """

    oob_score = True  # as for scikit-learn's forest: there are predictions for rows it was not fitted on

    def __init__(self, random_state: int = 0, metric: bool = False, laplace: bool = False) -> None:
        self.random_state = random_state
        self.metric = metric
        self.laplace = laplace

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelTeacher":
        """Choose kernel, ridge and sharpness, then fit; all from these rows."""
        rows = np.asarray(X, np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights = np.ones(len(rows))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, np.float64)
        # The ridge λ/w of a row with hardly any weight has to stay finite.
        weights = np.maximum(weights / weights.mean(), LEAST_WEIGHT)
        order = np.random.default_rng(self.random_state).permutation(len(rows))
        kept = np.sort(order[:MOST_ROWS])
        some = np.sort(order[:TRIED_ROWS])
        self._stretch = np.ones(rows.shape[1])
        if self.metric:
            few = np.sort(order[:METRIC_ROWS])
            self._choose(rows[few], codes[few], weights[few])
            self._solve(rows[some], codes[some], weights[some])
            self._stretch = np.sqrt(relevances(self._rows, self._weights, self._scale, self.laplace))
            self._choose(rows[few], codes[few], weights[few])
        else:
            self._choose(rows[some], codes[some], weights[some])
        without = self._solve(rows[kept], codes[kept], weights[kept])
        answers = np.empty((len(rows), self._classes()))
        answers[kept] = softmax(self._sharpness * without)
        others = np.setdiff1d(np.arange(len(rows)), kept)
        answers[others] = self.predict_proba(rows[others])
        self.oob_decision_function_ = answers
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (n, K)."""
        rows = np.asarray(X, np.float64) * self._stretch
        out = np.empty((len(rows), self._classes()))
        for block, part in self._kernel(rows):
            out[block] = part @ self._weights
        return softmax(self._sharpness * out)

    def _choose(self, rows: NDArray[np.float64], codes: NDArray[np.intp], weights: NDArray[np.float64]) -> None:
        """Choose kernel scale, ridge and sharpness by these rows."""
        self._scale, self._ridge, self._sharpness = _chosen(
            rows * self._stretch, codes, weights, self._classes(), self.laplace
        )

    def _solve(
        self, rows: NDArray[np.float64], codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Fit these rows with the scale and ridge chosen, and return their leave-one-out predictions."""
        self._rows = rows * self._stretch
        targets = _centred_targets(codes, self._classes())
        while True:
            kernel = np.empty((len(rows), len(rows)))
            for block, part in self._kernel(self._rows):
                kernel[block] = part
            try:
                self._weights, without = left_out(kernel, targets, self._ridge, weights)
                return without
            except np.linalg.LinAlgError:  # too small a ridge for so many rows that are nearly equal
                self._ridge *= 10.0

    def _kernel(self, rows: NDArray[np.float64]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Blocks of the kernel between rows and those of the fit."""
        for start in range(0, len(rows), BLOCK):
            block = slice(start, start + BLOCK)
            part = _distances(rows[block], self._rows, self.laplace)
            yield block, np.exp(np.divide(part, -self._scale, out=part), out=part)

    def _classes(self) -> int:
        return len(self.classes_)


def left_out(
    kernel: NDArray[np.float64], targets: NDArray[np.float64], ridge: float, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients ``A = G⁻¹ Y`` of a kernel ridge regression, and its leave-one-out predictions.

    Parameters
    ----------
    kernel : array (n, n)
        Overwritten: for 4,000 rows it has 128 MB.
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

    G = kernel.T  # symmetric, and in the order of Fortran, so that LAPACK works in its memory
    np.fill_diagonal(kernel, np.diag(kernel) + ridge / weights)
    factor = cho_factor(G, lower=True, overwrite_a=True)
    coefficients = cho_solve(factor, targets)
    inverse, _ = lapack.dpotri(factor[0], lower=1, overwrite_c=1)
    return coefficients, targets - coefficients / np.diag(inverse)[:, None]


def relevances(
    rows: NDArray[np.float64], coefficients: NDArray[np.float64], scale: float, laplace: bool = False
) -> NDArray[np.float64]:
    """Relevance of each feature to a fit ``f(x) = Σ_i k(x, x_i) A_i``, with mean 1.

    That is the mean square of the derivatives ``∂f_c / ∂x_j`` over rows and classes, drawn towards 1, the more so the
    fewer rows there are for each feature. The Laplace kernel has no derivative at its own row, which is left out there.

    Parameters
    ----------
    rows : array (n, d)
    coefficients : array (n, K)
        A.
    scale : float
        s of the kernel.
    laplace : bool
        Whether to use the Laplace kernel.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])  # the first feature alone tells the class
    >>> relevances(rows, np.array([[1.0], [1.0], [-1.0], [-1.0]]), 1.0).round(2)
    array([1.43, 0.57])
    """
    n, d = rows.shape
    distances = _distances(rows, rows, laplace)
    slopes = np.exp(-distances / scale)  # of the kernel, divided by the difference of the rows, but for a factor
    if laplace:
        np.divide(slopes, distances, out=slopes, where=distances > 0)
    squares = np.zeros(d)
    for column in coefficients.T:
        pulls = slopes * column
        squares += np.square(pulls @ rows - rows * pulls.sum(axis=1, keepdims=True)).sum(axis=0)
    if not squares.sum() > 0:  # a constant fit
        return np.ones(d)
    return np.asarray((squares / squares.mean() + d / n) / (1 + d / n))


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
    distances[distances <= NOTHING * squares] = 0.0  # equal rows, but for rounding
    return distances


def _distances(A: NDArray[np.float64], B: NDArray[np.float64], laplace: bool) -> NDArray[np.float64]:
    """What the kernel falls off with: squared distances, or distances for the Laplace kernel."""
    squared = squared_distances(A, B)
    if laplace:
        return np.sqrt(squared, out=squared)
    return squared


def _chosen(
    rows: NDArray[np.float64],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64],
    n_classes: int,
    laplace: bool,
) -> tuple[float, float, float]:
    """Kernel scale, ridge and sharpness with a small leave-one-out log loss: the first two by walks (`_least`)."""
    distances = _distances(rows, rows, laplace)
    targets = _centred_targets(codes, n_classes)
    positive = distances[distances > 0]
    unit = 1.0
    if len(positive):
        unit = float(np.median(positive))

    def of_sharpness(without: NDArray[np.float64], scale: float, ridge: float, sharpness: float) -> _Tried:
        chances = softmax(sharpness * without)[np.arange(len(codes)), codes]
        loss = -float(np.average(np.log(np.maximum(chances, 1e-12)), weights=weights))
        return loss, scale * unit, ridge, sharpness

    def of_ridge(kernel: NDArray[np.float64], scale: float, ridge: float) -> _Tried:
        try:
            _, without = left_out(kernel.copy(), targets, ridge, weights)
        except np.linalg.LinAlgError:  # too small for rows that are nearly equal
            return np.inf, scale * unit, 1.0, 1.0
        return min(of_sharpness(without, scale, ridge, sharpness) for sharpness in SHARPNESSES)

    def of_scale(scale: float) -> _Tried:
        kernel = np.exp(-distances / (scale * unit))
        return _least(RIDGES, lambda ridge: of_ridge(kernel, scale, ridge))

    return _least(SCALES, of_scale)[1:]


_Tried = tuple[float, float, float, float]
"""A log loss, and the scale, ridge and sharpness that have it."""


def _least(values: tuple[float, ...], tried: Callable[[float], _Tried]) -> _Tried:
    """The least of what is tried, from the middle towards larger values, or else smaller ones, for as long as it falls.

    Examples
    --------
    >>> _least((1.0, 2.0, 3.0, 4.0, 5.0), lambda x: (abs(x - 2), x, 0.0, 0.0))
    (0.0, 2.0, 0.0, 0.0)
    >>> _least((1.0, 2.0, 3.0, 4.0, 5.0), lambda x: (0.0 if x == 5 else np.inf, x, 0.0, 0.0))
    (0.0, 5.0, 0.0, 0.0)
    """
    middle = len(values) // 2
    best = tried(values[middle])
    for way in (values[middle + 1 :], values[:middle][::-1]):
        start = best
        for value in way:
            other = tried(value)
            if other[0] < best[0]:
                best = other
            elif best[0] < np.inf:
                break
        if best is not start:
            break
    return best


def _centred_targets(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """One column per class: 1 for its rows, else 0, minus 1/K. Far from all rows no class is more likely."""
    return np.eye(n_classes)[codes] - 1 / n_classes
