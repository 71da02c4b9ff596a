"""What the bound rows showed, reduced to the few numbers that a bound needs, for all rows and for each class.

Classes are codes 0 to K-1. Two classes may also be given as signs: -1 is code 0, and +1 is code 1 either way.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.records import count, probability, refusal

__all__ = ["ExactRisk", "SampledRisk", "VoteErrors", "class_codes"]

# Losses computed as (1 - yF)/2 may leave [0, 1] by rounding; more than this is a mistake.
_ROUNDING = 1e-9

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class ExactRisk:
    """Mean loss ``p_i`` and mean square ``p_i ** 2`` over examples whose expected output was computed exactly.

    Attributes
    ----------
    mean, pair_mean : float
        Empirical Gibbs risk and empirical tandem risk.
    n_examples : int
        Number of examples.
    by_class : tuple of ExactRisk or None
        The same for the examples of each class, None for a class without examples; empty if nothing is known by class.
    losses : array of shape (n,) or None
        The losses in their order, for the bound by betting; None where they are no longer at hand.

    Examples
    --------
    >>> risk = ExactRisk.from_values([0.5, 0.0, 1.0], codes=[0, 2, 2], n_classes=3)
    >>> risk.mean, [part and part.mean for part in risk.by_class]
    (0.5, [0.5, None, 0.5])
    """

    mean: float
    pair_mean: float
    n_examples: int
    by_class: tuple["ExactRisk | None", ...] = ()
    losses: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_values(cls, risks: ArrayLike, codes: ArrayLike, n_classes: int | None = None) -> "ExactRisk":
        """Reduce losses of shape (n,) and the classes of the examples, as `class_codes` takes them."""
        values = _losses(risks, ndim=1)
        groups = _groups(*class_codes(codes, len(values), n_classes))
        return replace(_exact(values), by_class=tuple(_exact(values[mine]) if mine.any() else None for mine in groups))


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
    by_class : tuple of SampledRisk or None
        The same for the examples of each class, None for a class without examples; empty if nothing is known by class.

    Examples
    --------
    >>> block = SampledRisk.from_values([[0, 1, 0, 0], [1, 1, 1, 0]], codes=[1, 0])
    >>> block.mean, block.pair_mean, SampledRisk.merge([block, block]).n_examples
    (0.5, 0.25, 4)
    """

    mean: float
    pair_mean: float | None
    n_examples: int
    n_paths: int
    by_class: tuple["SampledRisk | None", ...] = ()

    def __post_init__(self) -> None:
        probability("mean", self.mean)
        count("n_examples", self.n_examples)
        if (count("n_paths", self.n_paths) >= 2) != (self.pair_mean is not None):
            raise refusal("pair_mean", "be given for two or more paths, and only for them", self.pair_mean)
        if self.pair_mean is not None:
            probability("pair_mean", self.pair_mean)

    @property
    def n_losses(self) -> int:
        """Number of sampled losses."""
        return self.n_examples * self.n_paths

    @property
    def n_pairs(self) -> int:
        """Number of products of two losses."""
        return self.n_examples * (self.n_paths // 2)

    @classmethod
    def from_values(cls, values: ArrayLike, codes: ArrayLike, n_classes: int | None = None) -> "SampledRisk":
        """Reduce losses of shape (n, T), column t the t-th path of each example, and the classes of the examples."""
        losses = _losses(values, ndim=2)
        groups = _groups(*class_codes(codes, len(losses), n_classes))
        parts = tuple(_sampled(losses[mine]) if mine.any() else None for mine in groups)
        return replace(_sampled(losses), by_class=parts)

    @classmethod
    def merge(cls, parts: Iterable["SampledRisk"]) -> "SampledRisk":
        """Join the records of disjoint blocks of examples."""
        records = list(parts)
        sizes = {len(record.by_class) for record in records}
        if len(sizes) != 1:
            raise ValueError(f"blocks to merge must have one and the same number of classes; got {sorted(sizes)}.")
        whole = _pooled(records)
        classes = zip(*(record.by_class for record in records), strict=True)
        known = ([part for part in blocks if part is not None] for blocks in classes)
        return replace(whole, by_class=tuple(_pooled(some) if some else None for some in known))


@dataclass(frozen=True)
class VoteErrors:
    """Numbers of examples that the deployed vote gets wrong: all of them, and those of each class."""

    total: int
    by_class: tuple[int, ...] = ()

    @classmethod
    def from_values(cls, wrong: ArrayLike, codes: ArrayLike, n_classes: int | None = None) -> Self:
        """Count a boolean array of shape (n,), by the classes of the examples."""
        flags = np.asarray(wrong)
        if flags.dtype != np.bool_ or flags.ndim != 1:
            raise ValueError(f"wrong must be a boolean array of shape (n,); got {flags.dtype} of shape {flags.shape}.")
        groups = _groups(*class_codes(codes, len(flags), n_classes))
        return cls(int(flags.sum()), tuple(int(flags[mine].sum()) for mine in groups))


def class_codes(codes: ArrayLike, n: int, n_classes: int | None = None) -> tuple[Codes, int]:
    """The classes of n examples as codes 0 to K-1, and K.

    Parameters
    ----------
    codes : array of shape (n,)
        Whole numbers 0 to K-1, or signs: an array that holds -1 must hold nothing but -1 and +1. No array means two
        things, for +1 is the code 1.
    n : int
        Number of examples.
    n_classes : int, optional
        Their number K, at least 2; by default one more than the largest code, or 2.

    Examples
    --------
    >>> class_codes([-1.0, 1.0, 1.0], 3)
    (array([0, 1, 1]), 2)
    >>> class_codes([0, 3], 2), class_codes([1, 1], 2)[1]
    ((array([0, 3]), 4), 2)
    """
    values = np.asarray(codes)
    if values.shape != (n,):
        raise ValueError(f"codes must have shape ({n},), one for each example; got {values.shape}.")
    if values.dtype.kind not in "iuf" or not np.all(np.isfinite(values) & (values == np.round(values))):
        raise ValueError("codes must be whole numbers: the place of each example's class, counted from 0.")
    if np.any(values == -1):
        if not np.isin(values, (-1, 1)).all():
            raise ValueError("codes must be 0 to K-1, or signs of -1 and +1; they are a mixture.")
        values = (values + 1) // 2
    found = values.astype(np.intp)
    classes = count("n_classes", max(2, int(found.max(initial=0)) + 1) if n_classes is None else n_classes, least=2)
    if np.any(found < 0) or np.any(found >= classes):
        raise ValueError(f"codes must lie between 0 and {classes - 1}, for {classes} classes.")
    return found, classes


def _groups(codes: Codes, n_classes: int) -> list[NDArray[np.bool_]]:
    """Where the examples of each class are."""
    return [codes == code for code in range(n_classes)]


def _losses(values: ArrayLike, *, ndim: int) -> NDArray[np.float64]:
    losses = np.asarray(values, dtype=np.float64)
    if losses.ndim != ndim or losses.size == 0:
        shape = "(n,)" if ndim == 1 else "(n, T)"
        raise ValueError(f"losses must be an array of shape {shape} with at least one example; got {losses.shape}.")
    inside = (losses >= -_ROUNDING) & (losses <= 1.0 + _ROUNDING)  # false for NaN
    if not inside.all():
        row = int(np.argmin(inside.reshape(len(losses), -1).all(axis=1)))
        raise ValueError(f"losses must be finite and lie in [0, 1]; row {row} has {losses[row]}.")
    return np.clip(losses, 0.0, 1.0)


def _exact(values: NDArray[np.float64]) -> ExactRisk:
    # fsum is exact, so that a certificate does not depend on the order of the rows.
    n = len(values)
    return ExactRisk(math.fsum(values.tolist()) / n, math.fsum((values * values).tolist()) / n, n, losses=values)


def _sampled(losses: NDArray[np.float64]) -> SampledRisk:
    n, paths = losses.shape
    half = paths // 2
    pairs = losses[:, :half] * losses[:, half : 2 * half]
    return SampledRisk(float(losses.mean()), float(pairs.mean()) if half else None, n, paths)


def _pooled(records: list[SampledRisk]) -> SampledRisk:
    paths = {record.n_paths for record in records}
    if len(paths) != 1:
        raise ValueError(f"blocks to merge must have one and the same number of paths; got {sorted(paths)}.")
    n = sum(record.n_examples for record in records)
    mean = math.fsum(record.mean * record.n_examples for record in records) / n
    squares = [record.pair_mean * record.n_examples for record in records if record.pair_mean is not None]
    return SampledRisk(min(1.0, mean), min(1.0, math.fsum(squares) / n) if squares else None, n, paths.pop())
