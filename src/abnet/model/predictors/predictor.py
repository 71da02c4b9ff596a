"""`Predictor`: arrays that score prepared rows with NumPy and SciPy. Predictors are what is deployed and certified."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from abnet.utils.class_scores import losses_of, winners
from abnet.utils.coded_layer import MANY_CODED
from abnet.utils.coded_rows import CodedRows, dense
from abnet.utils.threads import parallel_map

__all__ = ["Predictor", "as_matrix", "shares_of"]

Arrays = Mapping[str, NDArray[Any]]
Vote = Literal["expectation", "kept paths"] | None
"""Relation of a score to the posterior's vote: its expectation, the mean of kept paths, or neither."""

BLOCK_ENTRIES = 96 * 1024
"""Inputs read at a time: their float64 copy stays in the cache, and the product is too small to wake BLAS threads."""
MOST_ROWS = 1024
"""Rows at a time, at the most: so do their corner probabilities."""


@dataclass(frozen=True, eq=False)
class Predictor(ABC):
    """Arrays that score prepared rows: one score for two classes, or one for each of several.

    The score of a row depends only on that row (except for the last bit, which may depend on its position in a block).
    Inputs are rounded to float32, as in training; scores are computed in float64.
    """

    shares: ClassVar[bool] = True
    """Whether a score is a share of votes, or approximates one (`MomentsPredictor`), and so a probability."""
    vote: ClassVar[Vote] = None
    """What the scores are of the vote of a posterior."""
    coded_block: ClassVar[int] = 2048
    """Coded rows at a time: their sums should stay in the cache."""

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Number of inputs of the network, after preparation."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    def n_paths(self) -> int | None:
        """Number of kept paths; None for a predictor without."""
        return None

    @property
    def least_loss(self) -> float:
        """A number that the expected loss of no row and label can be below, for a vote of expected outputs."""
        return 0.0

    @property
    def score_error(self) -> float:
        """Proved upper bound on the error of an expectation, where more than the last digits of a sum may be wrong."""
        return 0.0

    def expected_losses(self, scores: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Upper bounds on the Gibbs losses of rows, from scores that are expectations.

        Parameters
        ----------
        scores : array (n,) or (n, K)
        codes : array (n,)
            Classes, 0 to K - 1; K for an unknown label.
        """
        return np.minimum(losses_of(scores, codes) + self.score_error / 2, 1.0)

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that define the predictor, by name."""

    @staticmethod
    @abstractmethod
    def from_arrays(arrays: Arrays) -> "Predictor":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""

    @abstractmethod
    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of a block of prepared rows, (rows,) or (rows, K): in [-1, 1], or [0, 1], where they are shares."""

    def coded_scorer(self, counts: tuple[int, ...]) -> "Callable[[CodedRows], NDArray[np.float64]] | None":
        """A faster `score_rows` for coded rows with these numbers of thresholds; None if codes must be written out."""
        return None

    def scores(self, features: Any, *, threads: int = 1) -> NDArray[np.float64]:
        """Scores of prepared rows, (n,) or (n, K); they do not depend on the number of threads.

        Parameters
        ----------
        features : array, sparse matrix or CodedRows (n, n_inputs)
        threads : int
        """
        matrix = as_matrix(features, self.n_inputs)
        shape: tuple[int, ...] = (matrix.shape[0], self.n_classes)
        if self.n_classes == 2:
            shape = (matrix.shape[0],)
        scores = np.empty(shape)
        rows = min(max(BLOCK_ENTRIES // self.n_inputs, 16), MOST_ROWS)
        coded_scorer = None
        if isinstance(matrix, CodedRows):
            coded_scorer = self.coded_scorer(matrix.counts)
            if coded_scorer is not None:
                rows = self.coded_block

        def score(start: int) -> None:
            block = matrix[start : start + rows]
            with np.errstate(over="ignore", invalid="ignore"):
                if coded_scorer is not None:
                    scores[start : start + rows] = coded_scorer(block)
                    return
                # Inputs are rounded to single precision in training, in the certificate and here, so all use the same
                # predictor.
                scores[start : start + rows] = self.score_rows(np.asarray(dense(block), np.float32).astype(np.float64))

        parallel_map(score, range(0, matrix.shape[0], rows), threads)
        if not np.isfinite(scores).all():
            row = int(np.argwhere(~np.isfinite(scores))[0, 0])
            raise ValueError(
                f"Input contains NaN, infinity or a value too large for float32 in row {row}: "
                "fill in or remove it first."
            )
        return scores

    def votes(self, features: Any, *, threads: int = 1) -> NDArray[np.intp]:
        """The predicted class code of each prepared row; with two classes, 1 if the score is at least 0."""
        return winners(self.scores(features, threads=threads))


def shares_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the vote (n, K) from scores; two classes: ``(1 ∓ F(x))/2``.

    Examples
    --------
    >>> shares_of(np.array([0.5, -1.0]))
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """
    if scores.ndim == 2:
        return scores
    p = 0.5 + 0.5 * scores
    return np.stack([1 - p, p], axis=1)


def as_matrix(X: Any, n_inputs: int) -> Any:
    """Rows as a two-dimensional array or row-sliceable sparse matrix of the right width."""
    if isinstance(X, CodedRows) and len(X) >= MANY_CODED:
        matrix: Any = X
    elif hasattr(X, "tocsr"):
        matrix = X.tocsr()
    else:
        matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != n_inputs:
        raise ValueError(f"X has shape {matrix.shape}, but the network expects (rows, {n_inputs}).")
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"X holds values of type {matrix.dtype}, but the network expects numbers.")
    return matrix
