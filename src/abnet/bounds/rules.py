"""What the bound rows showed, and which bounds it gives: fixed by how a model was made, before the rows are used.

The evidence is the few numbers that a bound needs, for all rows and for each class. Classes are codes 0 to K-1; two
classes may also be given as signs: -1 is code 0, and +1 is code 1 either way. Every rule takes the evidence of one
group of rows, the errors of the deployed vote on them or None, and the terms. `abnet.bounds.certify` makes certificates
of what the rules give; how δ is divided is said in `abnet.bounds.shares`.

| model | bound on the Gibbs risk |
| --- | --- |
| frozen, exact, fewer than 1,000 rows | ``k⁺(r̂, ln(K/δ)/n)`` |
| frozen, exact, 1,000 rows or more | by betting |
| frozen, sampled | ``k⁺`` of the examples' means, at δ |
| trained, figures of the first part given | Catoni's, C from those figures; all rows only |
| trained, otherwise | ``k⁺`` with ξ(n) |

Where rows come in groups, the groups are what is counted: a group's mean loss stands for a row's, and the vote of a
frozen posterior is bounded by betting on the groups' error rates, since fractions are not binomial. If every group has
one row, they are none, and the test-set bound holds.

Bounds for paths that are kept divide by an exact threshold, and classes share δ by their counts. Which bound applies
depends on how the model was made and on the number of rows, never on the losses.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds import shares
from abnet.bounds.betting import betting_bound
from abnet.bounds.certificate import Expected
from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
from abnet.bounds.grouped import GroupCounts
from abnet.bounds.in_advance import catoni_fixed_bound, choose_C
from abnet.bounds.kept_paths_exact import kept_paths_bounds
from abnet.bounds.rounding import exact_sum
from abnet.bounds.sampled import sampled_risk_bound
from abnet.bounds.vote import tandem_bound, tandem_bound_frozen, twice_gibbs_bound, twice_gibbs_bound_frozen
from abnet.checks import count, probability, refusal

__all__ = [
    "BETTING_ROWS",
    "Bounds",
    "ExactRisk",
    "Risk",
    "Rule",
    "SampledRisk",
    "Terms",
    "VoteErrors",
    "class_codes",
    "enough_to_bet",
    "observed",
    "rule_for",
]

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
    n = len(values)
    return ExactRisk(exact_sum(values) / n, exact_sum(values * values) / n, n, losses=values)


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


BETTING_ROWS = 1000
"""So many rows make betting the Gibbs bound of a frozen posterior. For losses of 0 and 1, its worst case, it is then
smaller than Chernoff's on average (by 2 %; with fewer it varies more); for losses that vary little, far smaller."""

Risk = ExactRisk | SampledRisk


@dataclass(frozen=True)
class Bounds:
    """The bounds about one group of rows; the one for ``predict`` is named by ``vote_method``."""

    gibbs: float
    twice_gibbs: float | None = None
    tandem: float | None = None
    test_set: float | None = None
    vote_method: str | None = None

    @property
    def vote(self) -> float | None:
        """The bound that stands for ``predict``."""
        bounds = {"twice Gibbs": self.twice_gibbs, "tandem": self.tandem, "test set": self.test_set}
        return bounds[self.vote_method.removesuffix(", fixed paths")] if self.vote_method else None


@dataclass(frozen=True)
class Terms:
    """How a model was made and what is asked of it; fields as in `Certificate`, the votes as in `MonteCarlo`."""

    kl: float
    delta: float
    prior: str
    n_candidates: int
    posterior: str
    vote: str | None
    vote_paths: int | None = None
    expected: Expected | None = None
    groups: GroupCounts | None = None


Rule = Callable[[Risk, int | None, Terms], Bounds]


def observed(risk: Risk, terms: Terms, delta: float) -> tuple[float, float, float]:
    """Empirical Gibbs risk, empirical tandem risk, and the δ that is left for a bound made of one of them.

    Means that were sampled are replaced by upper bounds on what would have been computed, at their share of δ.
    """
    if isinstance(risk, ExactRisk):
        return risk.mean, risk.pair_mean, delta
    if terms.posterior == "frozen":
        # The mean loss of one example's fresh paths is itself an independent draw in [0, 1].
        return risk.mean, 1.0 if risk.pair_mean is None else risk.pair_mean, delta
    spent, left = shares.share_for_sampling(delta)
    mean = sampled_risk_bound(risk.mean, risk.n_losses, spent, n_candidates=terms.n_candidates)
    if risk.pair_mean is None:  # one path for each example makes no pairs, and nothing is known of them
        return mean, 1.0, left
    return mean, sampled_risk_bound(risk.pair_mean, risk.n_pairs, spent, n_candidates=terms.n_candidates), left


def _gibbs(risk: Risk, terms: Terms, delta: float) -> float:
    mean, _, left = observed(risk, terms, delta)
    if isinstance(risk, ExactRisk) and risk.losses is not None and _by_betting(risk, terms):
        return betting_bound(risk.losses, left, n_candidates=terms.n_candidates)
    return _by_mean(mean, risk.n_examples, terms, left)


def _by_betting(risk: Risk, terms: Terms) -> bool:
    """Whether the Gibbs bound needs the losses themselves."""
    return isinstance(risk, ExactRisk) and enough_to_bet(risk.n_examples, terms)


def enough_to_bet(n: int, terms: Terms) -> bool:
    """Whether a Gibbs bound on so many rows is found by betting."""
    return terms.posterior == "frozen" and n >= BETTING_ROWS


def _by_mean(mean: float, n: int, terms: Terms, delta: float) -> float:
    """The Gibbs bound that needs the mean loss alone."""
    chosen, expected = terms.n_candidates, terms.expected
    if terms.posterior == "frozen":
        return gibbs_bound_frozen(mean, n, delta, n_candidates=chosen)
    if expected is None:
        return gibbs_bound(mean, terms.kl, n, delta, n_candidates=chosen)
    C = choose_C(expected.risk, expected.kl, n, delta, n_candidates=chosen)
    return catoni_fixed_bound(mean, terms.kl, n, C, delta, n_candidates=chosen)


def _twice_gibbs(risk: Risk, terms: Terms, delta: float) -> float:
    mean, _, left = observed(risk, terms, delta)
    n, chosen = risk.n_examples, terms.n_candidates
    if terms.posterior == "frozen":
        return twice_gibbs_bound_frozen(mean, n, left, n_candidates=chosen)
    if terms.expected is None:
        return twice_gibbs_bound(mean, terms.kl, n, left, n_candidates=chosen)
    return min(1.0, 2.0 * _by_mean(mean, n, terms, left))


def _tandem(risk: Risk, terms: Terms, delta: float) -> float:
    _, pairs, left = observed(risk, terms, delta)
    if terms.posterior == "frozen":
        return tandem_bound_frozen(pairs, risk.n_examples, left, n_candidates=terms.n_candidates)
    if terms.expected is not None and terms.expected.tandem is not None:
        n, chosen, twice = risk.n_examples, terms.n_candidates, 2.0 * terms.expected.kl
        C = choose_C(terms.expected.tandem, twice, n, left, n_candidates=chosen)
        return min(1.0, 4.0 * catoni_fixed_bound(pairs, 2.0 * terms.kl, n, C, left, n_candidates=chosen))
    return tandem_bound(pairs, terms.kl, risk.n_examples, left, n_candidates=terms.n_candidates)


def _trained(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, vote sgn(F): the smaller of twice Gibbs and tandem."""
    share = shares.share_of_an_order(terms.delta)
    twice, tandem = _twice_gibbs(risk, terms, share), _tandem(risk, terms, share)
    method = "twice Gibbs" if twice <= tandem else "tandem"
    return Bounds(_gibbs(risk, terms, terms.delta), twice, tandem, vote_method=method)


def _trained_fresh(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, vote of fresh sampled paths: twice Gibbs; tandem does not cover it."""
    twice = _twice_gibbs(risk, terms, terms.delta)
    return Bounds(_gibbs(risk, terms, terms.delta), twice, vote_method="twice Gibbs")


def _trained_fixed(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, vote of kept paths: as for sgn(F), with what their draw leaves of δ."""
    spent, left = shares.share_for_fixed_paths(terms.delta)
    share, paths, chosen = shares.share_of_an_order(left), terms.vote_paths or 0, terms.n_candidates
    gibbs = _gibbs(risk, terms, share)
    # The tandem bound is four times a bound on the tandem risk, cut at 1; where it is cut, so is what follows.
    pairs = _tandem(risk, terms, share) / 4.0
    twice, tandem = kept_paths_bounds(gibbs, pairs, paths, spent, n_candidates=chosen)
    method = "twice Gibbs, fixed paths" if twice <= tandem else "tandem, fixed paths"
    return Bounds(_gibbs(risk, terms, terms.delta), twice, tandem, vote_method=method)


def _trained_gibbs(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, a vote that no bound on the posterior covers."""
    return Bounds(_gibbs(risk, terms, terms.delta))


def _frozen(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Frozen posterior, vote sgn(F): the test-set bound, the other two for the record."""
    share = shares.share_of_an_order(terms.delta)
    counted = _frozen_any_vote(risk, errors, terms)
    return replace(counted, twice_gibbs=_twice_gibbs(risk, terms, share), tandem=_tandem(risk, terms, share))


def _frozen_any_vote(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Frozen posterior, any vote: the test-set bound, if its errors were counted."""
    gibbs = _gibbs(risk, terms, terms.delta)
    if errors is None:
        return Bounds(gibbs)
    return Bounds(gibbs, test_set=_test_set(errors, risk, terms), vote_method="test set")


def _test_set(errors: int, risk: Risk, terms: Terms) -> float:
    if terms.groups is not None and max(terms.groups.rows) > 1:  # groups of one row each are rows
        return betting_bound(terms.groups.rates, terms.delta, n_candidates=terms.n_candidates)
    return clopper_pearson_bound(errors, risk.n_examples, terms.delta, n_candidates=terms.n_candidates)


def rule_for(terms: Terms, *, sampled: bool) -> Rule:
    """Return the rule for a way of making a model."""
    if terms.posterior == "frozen":
        return _frozen_any_vote if sampled else _frozen
    rules = {
        "expectation": _trained, "fresh paths": _trained_fresh, "fixed paths": _trained_fixed, None: _trained_gibbs,
    }  # fmt: skip
    return rules[terms.vote]
