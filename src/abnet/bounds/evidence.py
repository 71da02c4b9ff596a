"""What the bound examples showed, reduced to the few numbers that a bound needs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.checks import count, probability
from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
from abnet.bounds.sampled import (
    sampled_gibbs_bound,
    sampled_gibbs_bound_frozen,
    sampled_tandem_bound,
    sampled_tandem_bound_frozen,
)
from abnet.bounds.vote import tandem_bound, tandem_bound_frozen

__all__ = ["ExactRisk", "SampledRisk", "VoteErrors"]

# Losses computed as (1 - yF)/2 may leave [0, 1] by rounding; more than this is a mistake.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class ExactRisk:
    """Mean loss ``p_i`` and mean square ``p_i ** 2`` over examples whose expected output was computed exactly.

    Attributes
    ----------
    mean, pair_mean : float
        Empirical Gibbs risk and empirical tandem risk.
    n_examples : int
        Number of examples.
    positive, negative : ExactRisk or None
        The same for the examples of either class; None where there are none.
    """

    mean: float
    pair_mean: float
    n_examples: int
    positive: "ExactRisk | None" = None
    negative: "ExactRisk | None" = None

    @classmethod
    def from_values(cls, risks: ArrayLike, labels: ArrayLike) -> "ExactRisk":
        """Reduce losses of shape (n,) and labels of -1 and +1."""
        values = _losses(risks, ndim=1)
        signs = _signs(labels, len(values))
        parts = [_exact(values[signs == sign]) if np.any(signs == sign) else None for sign in (1, -1)]
        whole = _exact(values)
        return cls(whole.mean, whole.pair_mean, whole.n_examples, *parts)

    def gibbs_bound(self, kl: float, delta: float, n_candidates: int) -> float:
        """Bound the Gibbs risk of a posterior trained on the examples."""
        return gibbs_bound(self.mean, kl, self.n_examples, delta, n_candidates=n_candidates)

    def gibbs_bound_frozen(self, delta: float, n_candidates: int) -> float:
        """Bound the Gibbs risk of a posterior that did not see the examples."""
        return gibbs_bound_frozen(self.mean, self.n_examples, delta, n_candidates=n_candidates)

    def tandem_bound(self, kl: float, delta: float, n_candidates: int) -> float:
        """Bound the vote of a posterior trained on the examples, to second order."""
        return tandem_bound(self.pair_mean, kl, self.n_examples, delta, n_candidates=n_candidates)

    def tandem_bound_frozen(self, delta: float, n_candidates: int) -> float:
        """Bound the vote of a posterior that did not see the examples, to second order."""
        return tandem_bound_frozen(self.pair_mean, self.n_examples, delta, n_candidates=n_candidates)


@dataclass(frozen=True)
class SampledRisk:
    """Mean loss of sampled paths over examples, each with fresh independent paths of its own.

    A caller who streams makes one record per block and joins them by :meth:`merge`.

    Attributes
    ----------
    mean : float
        Mean of the ``n_examples * n_paths`` losses.
    pair_mean : float or None
        Mean of ``n_examples * (n_paths // 2)`` products of two paths' losses on the same example, no path used twice;
        None for one path per example.
    n_examples, n_paths : int
        Number of examples, and of paths for each.
    positive, negative : SampledRisk or None
        The same for the examples of either class; None where there are none.

    Examples
    --------
    >>> block = SampledRisk.from_values([[0, 1, 0, 0], [1, 1, 1, 0]], [1, -1])
    >>> block.mean, block.pair_mean, SampledRisk.merge([block, block]).n_examples
    (0.5, 0.25, 4)
    """

    mean: float
    pair_mean: float | None
    n_examples: int
    n_paths: int
    positive: "SampledRisk | None" = None
    negative: "SampledRisk | None" = None

    def __post_init__(self) -> None:
        probability("mean", self.mean)
        count("n_examples", self.n_examples)
        if (count("n_paths", self.n_paths) >= 2) != (self.pair_mean is not None):
            raise ValueError(f"pair_mean must be given just for two or more paths, got {self.pair_mean!r}")
        if self.pair_mean is not None:
            probability("pair_mean", self.pair_mean)

    @classmethod
    def from_values(cls, values: ArrayLike, labels: ArrayLike) -> "SampledRisk":
        """Reduce losses of shape (n, T), column t the t-th path of each example, and labels of -1 and +1."""
        losses = _losses(values, ndim=2)
        signs = _signs(labels, len(losses))
        parts = [_sampled(losses[signs == sign]) if np.any(signs == sign) else None for sign in (1, -1)]
        whole = _sampled(losses)
        return cls(whole.mean, whole.pair_mean, whole.n_examples, whole.n_paths, *parts)

    @classmethod
    def merge(cls, parts: Iterable["SampledRisk"]) -> "SampledRisk":
        """Join the records of disjoint blocks of examples."""
        records = list(parts)
        whole = _pooled(records)
        positive = [record.positive for record in records if record.positive is not None]
        negative = [record.negative for record in records if record.negative is not None]
        pools = [_pooled(some) if some else None for some in (positive, negative)]
        return cls(whole.mean, whole.pair_mean, whole.n_examples, whole.n_paths, *pools)

    def gibbs_bound(self, kl: float, delta: float, n_candidates: int) -> float:
        """Bound the Gibbs risk of a posterior trained on the examples."""
        n = self.n_examples
        return sampled_gibbs_bound(self.mean, n * self.n_paths, kl, n, delta, n_candidates=n_candidates)

    def gibbs_bound_frozen(self, delta: float, n_candidates: int) -> float:
        """Bound the Gibbs risk of a posterior that did not see the examples."""
        n = self.n_examples
        return sampled_gibbs_bound_frozen(self.mean, n * self.n_paths, n, delta, n_candidates=n_candidates)

    def tandem_bound(self, kl: float, delta: float, n_candidates: int) -> float:
        """Bound the vote sgn(F) of a posterior trained on the examples, to second order; 1 without pairs of paths."""
        if self.pair_mean is None:
            return 1.0
        n, pairs = self.n_examples, self.n_examples * (self.n_paths // 2)
        return sampled_tandem_bound(self.pair_mean, pairs, kl, n, delta, n_candidates=n_candidates)

    def tandem_bound_frozen(self, delta: float, n_candidates: int) -> float:
        """Bound the vote sgn(F) of a posterior that did not see the examples, to second order; 1 without pairs."""
        if self.pair_mean is None:
            return 1.0
        n, pairs = self.n_examples, self.n_examples * (self.n_paths // 2)
        return sampled_tandem_bound_frozen(self.pair_mean, pairs, n, delta, n_candidates=n_candidates)


@dataclass(frozen=True)
class VoteErrors:
    """Numbers of examples that the deployed vote gets wrong: all, of the positive and of the negative class."""

    total: int
    positive: int
    negative: int

    @classmethod
    def from_values(cls, wrong: ArrayLike, labels: ArrayLike) -> Self:
        """Count a boolean array of shape (n,), by labels of -1 and +1."""
        flags = np.asarray(wrong)
        if flags.dtype != np.bool_ or flags.ndim != 1:
            raise ValueError(f"wrong must be a boolean array of shape (n,), got {flags.dtype} of shape {flags.shape}")
        signs = _signs(labels, len(flags))
        return cls(int(flags.sum()), int(flags[signs == 1].sum()), int(flags[signs == -1].sum()))


def _losses(values: ArrayLike, *, ndim: int) -> NDArray[np.float64]:
    losses = np.asarray(values, dtype=np.float64)
    if losses.ndim != ndim or losses.size == 0:
        shape = "(n,)" if ndim == 1 else "(n, T)"
        raise ValueError(f"losses must be an array of shape {shape} with at least one example, got {losses.shape}")
    inside = (losses >= -_ROUNDING) & (losses <= 1.0 + _ROUNDING)  # false for NaN
    if not inside.all():
        row = int(np.argmin(inside.reshape(len(losses), -1).all(axis=1)))
        raise ValueError(f"losses must be finite and lie in [0, 1]; row {row} has {losses[row]}")
    return np.clip(losses, 0.0, 1.0)


def _signs(labels: ArrayLike, n: int) -> NDArray[np.generic]:
    signs = np.asarray(labels)
    if signs.shape != (n,):
        raise ValueError(f"labels must have shape ({n},), one for each example, got {signs.shape}")
    if not np.isin(signs, (-1, 1)).all():
        raise ValueError("labels must be -1 or +1; encode the classes as signs first")
    return signs


def _exact(values: NDArray[np.float64]) -> ExactRisk:
    # fsum is exact, so that a certificate does not depend on the order of the rows.
    n = len(values)
    return ExactRisk(math.fsum(values.tolist()) / n, math.fsum((values * values).tolist()) / n, n)


def _sampled(losses: NDArray[np.float64]) -> SampledRisk:
    n, paths = losses.shape
    half = paths // 2
    pairs = losses[:, :half] * losses[:, half : 2 * half]
    return SampledRisk(float(losses.mean()), float(pairs.mean()) if half else None, n, paths)


def _pooled(records: list[SampledRisk]) -> SampledRisk:
    paths = {record.n_paths for record in records}
    if len(paths) != 1:
        raise ValueError(f"blocks to merge must have one and the same number of paths, got {sorted(paths)}")
    n = sum(record.n_examples for record in records)
    mean = math.fsum(record.mean * record.n_examples for record in records) / n
    squares = [record.pair_mean * record.n_examples for record in records if record.pair_mean is not None]
    return SampledRisk(min(1.0, mean), min(1.0, math.fsum(squares) / n) if squares else None, n, paths.pop())
