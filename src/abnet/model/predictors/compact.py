"""`Compact`: the leading hidden layer of each member, and one table for everything above it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.model.predictors.leading import leading_arguments, leading_weights
from abnet.model.predictors.predictor import Arrays, Predictor, Vote, as_matrix
from abnet.model.predictors.single_precision import (
    MOST_SLACK,
    lead,
    single_precision_arguments,
    single_precision_error,
    single_precision_rows,
)
from abnet.model.predictors.stored_arrays import check_array, check_names
from abnet.networks.bam import BAM
from abnet.networks.codebook import decode_table
from abnet.networks.cube import multilinear, summed_multilinear
from abnet.utils.class_scores import winners
from abnet.utils.coded_layer import CodedLayer
from abnet.utils.coded_rows import CodedRows
from abnet.utils.threads import parallel_map

__all__ = ["Compact"]

WIDEST = 40
"""Widest leading layer that a table over its representations could be stored for: 2^40 values are 8 TB."""


# More than the rounding errors of H, and of losses that are computed from it.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Compact(Predictor):
    """Compact networks: ``F(x) = mean_m Σ_s H_m[s] P_m(x)[s]``, at the same cost for every depth.

    Parameters
    ----------
    W : array (M, d_1, d_0)
    b : array (M, d_1)
        The members' leading hidden layers; one network has M = 1.
    H : array (M, 2**d_1) or (M, 2**d_1, K)
        Expected output of each of their representations (`abnet.networks.region_values`), or the probability of each
        of several classes.
    score_error : float
        Proved upper bound on the error of a score, for a wide last hidden layer; 0 for tables of sums only.

    Examples
    --------
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> Compact.from_networks([net]).votes([[3.0, 3.0], [-1.0, -2.0]])
    array([1, 0])
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    H: NDArray[np.float64]
    score_error: float = 0.0
    vote: ClassVar[Vote] = "expectation"

    @staticmethod
    def from_networks(networks: Sequence[BAM], words: NDArray[np.int8] | None = None) -> "Compact":
        """Collapse all layers above the first of every member, in float64; code words (K, c) for several classes."""
        from abnet.networks.exact import has_wide_top, output_error, region_values

        decode = None
        if words is not None:
            decode = decode_table(words)
        exact = [network.astype(np.float64) for network in networks]
        W, b = (np.stack(parts) for parts in zip(*map(leading_weights, exact), strict=True))
        H = np.stack([region_values(network, decode) for network in exact])
        errors = [output_error(network.layers) for network in exact if has_wide_top(network.layers, decode)]
        return Compact(W, b, H, float(np.mean(errors or [0.0])))

    @staticmethod
    def from_arrays(arrays: Arrays) -> "Compact":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        names: tuple[str, ...] = ("W", "b", "H")
        if "score_error" in arrays:
            names = (*names, "score_error")
        check_names(arrays, names)
        shape = arrays["W"].shape
        columns = arrays["H"].shape[2:]
        if len(shape) != 3 or 0 in shape or shape[1] > WIDEST:
            raise ValueError(f"the array W must have the shape (members, 1 to {WIDEST}, inputs), but has {shape}.")
        if columns and (len(columns) > 1 or columns[0] < 3):
            raise ValueError(f"the array H must have a column for each of several classes, but has {columns}.")
        check_array(arrays, "W", shape)
        check_array(arrays, "b", shape[:2])
        check_array(arrays, "H", (shape[0], 2 ** shape[1], *columns))
        # Probabilities of several classes, or outputs in [-1, 1].
        least = -1
        if columns:
            least = 0
        if arrays["H"].min() < least - 1e-9 or arrays["H"].max() > 1 + 1e-9:
            raise ValueError(f"the array H holds values outside [{least}, 1].")
        score_error = 0.0
        if "score_error" in arrays:
            check_array(arrays, "score_error", (1,))
            score_error = float(arrays["score_error"][0])
            if score_error < 0:
                raise ValueError(f"the array score_error must not be negative; it holds {score_error}.")
        return Compact(arrays["W"], arrays["b"], arrays["H"], score_error)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.W.shape[2])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        if self.H.ndim == 2:
            return 2
        return int(self.H.shape[2])

    @property
    def least_loss(self) -> float:
        """``(1 - mean_m max_s |H_m[s]|)/2``: the output of each member is a mean of its entries of H."""
        largest = float(np.abs(self.H).reshape(len(self.H), -1).max(axis=1).mean())
        if self.n_classes == 2:
            largest = (1.0 + largest) / 2.0
        return max(0.0, 1.0 - largest - _ROUNDING - self.score_error)

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``mean_m Σ_s H_m[s] P_m(x)[s]``."""
        return self._dense_scorer(np.float64)(X)

    def above(self, arguments: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores from the arguments (rows, members · d_1) of the leading means."""
        return _mean_value(self.H, arguments)

    def _dense_scorer(self, dtype: Any) -> Callable[[Any], NDArray[Any]]:
        """From rows to scores; the members' leading layers are one matrix product."""
        W = np.asarray(self.W, dtype).reshape(-1, self.n_inputs)
        b = np.asarray(self.b, dtype).reshape(-1)
        H = np.asarray(self.H, dtype)
        arguments = leading_arguments
        if dtype == np.float32:
            arguments = single_precision_arguments
        return lambda X: _mean_value(H, arguments(W, b, X))

    def coded_scorer(self, counts: tuple[int, ...], dtype: Any = np.float64) -> Callable[[CodedRows], NDArray[Any]]:
        """`score_rows` of coded rows; what the codes add to the members' sums is looked up."""
        layer = CodedLayer(self.W.reshape(-1, self.n_inputs), self.b.reshape(-1), counts, dtype)
        H = np.asarray(self.H, dtype)
        return lambda rows: _mean_value(H, layer.arguments(rows))

    def votes(self, features: Any, *, threads: int = 1) -> NDArray[np.intp]:
        """The predicted class codes, computed in single precision where its error bound allows."""
        matrix = as_matrix(features, self.n_inputs)
        slack = self._single_precision_slack(matrix)
        if hasattr(matrix, "tocsr") or slack > MOST_SLACK:
            return super().votes(matrix, threads=threads)
        scores = self._single_precision_scores(matrix, threads)
        if not np.isfinite(scores).all():
            return super().votes(matrix, threads=threads)
        # The error of one score is at most the slack, that of a difference of two scores at most twice the slack.
        votes = winners(scores)
        unsure = lead(scores) <= slack * scores.ndim
        votes[unsure] = super().votes(matrix[unsure])
        return votes

    def _single_precision_slack(self, X: Any) -> float:
        """Error bound of scores in float32."""
        terms = None
        if isinstance(X, CodedRows):
            # The sum of a feature's codes is looked up: one term, which is itself rounded once.
            terms = X.features.shape[1] + len(X.reached) + 2
        errors = [single_precision_error(W, b, terms=terms) for W, b in zip(self.W, self.b, strict=True)]
        return float(np.mean(errors)) + 1e-6

    def _single_precision_scores(self, X: Any, threads: int) -> NDArray[np.float64]:
        """Scores in float32, with an error of at most the slack."""
        scorer: Any
        if isinstance(X, CodedRows):
            scorer = self.coded_scorer(X.counts, np.float32)
            rows = self.coded_block
        else:
            scorer = self._dense_scorer(np.float32)
            members, width = self.b.shape
            rows = max(single_precision_rows(self.n_inputs, width) // members, 16)
        scores = np.empty((len(X), *self.H.shape[2:]))

        def score(start: int) -> None:
            with np.errstate(over="ignore"):
                scores[start : start + rows] = scorer(X[start : start + rows])

        parallel_map(score, range(0, len(X), rows), threads)
        return scores

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W``, ``b``, ``H``, and ``score_error`` unless it is 0."""
        arrays = {"W": self.W, "b": self.b, "H": self.H}
        if self.score_error:
            arrays["score_error"] = np.array([self.score_error])
        return arrays


def _mean_value(H: NDArray[Any], arguments: NDArray[Any]) -> NDArray[Any]:
    """Mean of the members' scores, from the arguments (rows, members · width) of their leading means."""
    if len(H) == 1 and H.ndim == 2:
        # Rows first is the faster order for one table.
        return np.asarray(multilinear(H[0], erf(arguments)))
    means = np.ascontiguousarray(erf(arguments).T).reshape(len(H), -1, len(arguments))
    return summed_multilinear(H, means) / H.dtype.type(len(H))
