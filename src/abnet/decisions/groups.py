"""Errors of rows that belong together (patients), and of declared populations (hospitals).

Rows of one group are not independent, so that no bound that counts rows holds for them. What is independent are the
groups: each gives one value, and a bound on these is a promise about new groups.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.betting import bet_order, betting_bound, row_weighted_betting_bound
from abnet.bounds.certificate import Certificate, Expected
from abnet.bounds.certificate_file import write_record
from abnet.bounds.certify import assemble
from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.grouped import GroupCounts, group_totals
from abnet.bounds.rules import ExactRisk, SampledRisk, Terms, VoteErrors
from abnet.bounds.shares import shares_by_count
from abnet.bounds.wording import InNotebooks
from abnet.checks import count, exactly, level, list_of, tally, text
from abnet.decisions.monitor import (
    confidence,
    paragraphs,
    percent,
    percent_up,
)
from abnet.groups import number_groups
from abnet.words import number_of

__all__ = [
    "PopulationErrors",
    "PopulationError",
    "certify_groups",
    "errors_by",
    "group_averaged_bound",
    "group_totals",
    "grouped_risk",
    "grouped_sample",
    "one_row_per_group_bound",
    "row_weighted_bound",
]

Array = NDArray[np.float64]


def group_averaged_bound(
    losses: ArrayLike,
    groups: ArrayLike,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
    order: ArrayLike | None = None,
) -> float:
    r"""Bound on the error of a new group, averaged over its rows, by betting on the groups' means.

    .. math:: \mathbf E\Big[\frac{1}{n_g} \sum_{i \in g} \ell_i\Big]
              \le \mathrm{betting}(\bar\ell_1, ..., \bar\ell_G; δ/K)

    With probability at least 1-δ over G independent groups, for a model that saw none of them: every split must leave
    whole groups on one side. Every group counts the same, whatever its size.

    Parameters
    ----------
    losses : array-like (n,)
        Losses in [0, 1], or errors.
    groups : array-like (n,)
        Each row's group.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of models judged on the same groups.
    order : int array (n,), optional
        Rows in the order in which their groups are bet on, by what they hold (`abnet.certificates.row_order` with
        groups), never by their places in a file; by default one is drawn, another every time.

    Examples
    --------
    >>> wrong, groups = [0, 0, 1, 0] * 60, np.repeat(np.arange(60), 4)
    >>> round(group_averaged_bound(wrong, groups), 4)
    0.2911

    References
    ----------
    I. Waudby-Smith, A. Ramdas (2024), Estimating means of bounded random variables by betting.
    """
    sums, sizes = group_totals(losses, groups)
    return betting_bound((sums / sizes)[_bets(groups, order)], delta, n_candidates=n_candidates)


def _bets(groups: ArrayLike, order: ArrayLike | None) -> NDArray[np.intp]:
    """Numbers of the groups in the order of the bets; that in which they appear first in an order of the rows."""
    numbers = number_groups(groups, len(np.asarray(groups)))
    if order is None:
        return bet_order(None, int(numbers.max()) + 1)
    found, first = np.unique(numbers[bet_order(order, len(numbers))], return_index=True)
    return np.asarray(found[np.argsort(first)])


def grouped_risk(risks: ArrayLike, groups: ArrayLike) -> ExactRisk:
    r"""What a bound needs of losses whose rows come in groups: means of the groups' means, over G groups.

    .. math:: \hat r = \frac1G \sum_g \frac1{n_g} \sum_{i \in g} p_i, \qquad
              \hat e = \frac1G \sum_g \frac1{n_g} \sum_{i \in g} p_i^2

    Examples
    --------
    >>> risk = grouped_risk([0.5, 0.5, 0.0], ["a", "a", "b"])
    >>> risk.mean, risk.pair_mean, risk.n_examples
    (0.25, 0.125, 2)
    """
    values = np.clip(np.asarray(risks, np.float64), 0.0, 1.0)
    means, squares = _means(values, groups), _means(values * values, groups)
    return ExactRisk(_mean(means), _mean(squares), len(means), losses=means)


def grouped_sample(means: ArrayLike, pair_means: ArrayLike | None, n_paths: int, groups: ArrayLike) -> SampledRisk:
    """The same for sampled losses: a group's t-th value is the mean of its rows' t-th losses, G·T independent values.

    Parameters
    ----------
    means : array-like (n,)
        Mean loss of each row's fresh paths.
    pair_means : array-like (n,) or None
        Mean product of two different paths' losses on each row; None for one path.
    n_paths : int
        Paths T of each row.
    groups : array-like (n,)

    Examples
    --------
    >>> grouped_sample([0.5, 0.5, 0.0], [0.2, 0.2, 0.0], 4, ["a", "a", "b"])
    SampledRisk(mean=0.25, pair_mean=0.1, n_examples=2, n_paths=4, by_class=())
    """
    losses = _means(np.clip(np.asarray(means, np.float64), 0.0, 1.0), groups)
    pairs = None if pair_means is None else _mean(_means(np.clip(np.asarray(pair_means, np.float64), 0, 1), groups))
    return SampledRisk(_mean(losses), pairs, len(losses), n_paths)


def _means(values: Array, groups: ArrayLike) -> Array:
    sums, sizes = group_totals(values, groups)
    return np.minimum(sums / sizes, 1.0)


def _mean(values: Array) -> float:
    return min(1.0, math.fsum(values.tolist()) / len(values))


def certify_groups(
    risk: ExactRisk | SampledRisk,
    groups: ArrayLike,
    wrong: ArrayLike | None,
    *,
    delta: float,
    prior: str,
    posterior: str = "frozen",
    n_candidates: int = 1,
    kl: float = 0.0,
    vote: str | None = "expectation",
    vote_paths: int | None = None,
    expected: Expected | None = None,
    order: ArrayLike | None = None,
) -> Certificate:
    r"""Certify a posterior on bound rows that come in groups: its error on a new group, averaged over its rows.

    .. math:: r \le k^+\Big(\frac1G \sum_g \bar p_g, \frac{\mathrm{KL} + \ln(K ξ(G)/δ)}{G}\Big)
              \text{ (trained)}, \qquad r \le k^+\Big(\frac1G \sum_g \bar p_g, \frac{\ln(K/δ)}{G}\Big)
              \text{ (frozen)}

    The rules are those of single rows (`abnet.bounds.rules`), with groups in the place of rows; the vote of a frozen
    posterior is bounded by betting on the groups' error rates. With probability at least 1-δ over G independent groups,
    none of whose rows had a part in the prior or, for a frozen posterior, in the model.

    Parameters
    ----------
    risk : ExactRisk or SampledRisk
        From `grouped_risk` or `grouped_sample`.
    groups : array-like (n,)
        Each bound row's group.
    wrong : array-like of bool (n,) or None
        Where the deployed vote errs, if it was counted.
    delta, prior, posterior, n_candidates, kl, vote, vote_paths, expected
        As for `abnet.bounds.certify_trained_sampled`. With the prior "split" the groups are bet on in their order,
        which is then that of the random split.
    order : int array (n,), optional
        Otherwise: as for :func:`group_averaged_bound`.

    Examples
    --------
    >>> wrong, groups = np.tile([False, False, True, False], 60), np.repeat(np.arange(60), 4)
    >>> certificate = certify_groups(grouped_risk(wrong, groups), groups, wrong, delta=0.05, prior="test set")
    >>> certificate.n_groups, certificate.n_examples, round(certificate.vote_error_bound, 3)
    (60, 240, 0.291)
    """
    counts = GroupCounts.of(groups, wrong)
    if len(counts.rows) != risk.n_examples:
        raise ValueError(f"the losses are those of {risk.n_examples} groups, but there are {len(counts.rows)}.")
    if prior != "split":  # in the order of a file, which may be sorted by label: betting needs one that is not
        bets = _bets(groups, order)
        errors = None if counts.errors is None else tuple(counts.errors[i] for i in bets)
        counts = GroupCounts(tuple(counts.rows[i] for i in bets), errors)
        if isinstance(risk, ExactRisk) and risk.losses is not None:
            risk = replace(risk, losses=risk.losses[bets])
    frozen_sample = posterior == "frozen" and isinstance(risk, SampledRisk)
    terms = Terms(
        kl, delta, prior, n_candidates, posterior, None if frozen_sample else vote, vote_paths,
        expected=expected, groups=counts,
    )  # fmt: skip
    return assemble(risk, None if counts.errors is None else VoteErrors(sum(counts.errors)), terms)


def row_weighted_bound(
    losses: ArrayLike,
    groups: ArrayLike,
    largest_size: int,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
    order: ArrayLike | None = None,
) -> float:
    r"""Bound on the error of the rows of new groups, in which large groups count more.

    .. math:: \frac{\mathbf E[S_g]}{\mathbf E[n_g]} \quad\text{by betting on } S_g - p\,n_g,\; n_g \le B

    With probability at least 1-δ over G independent groups; see
    :func:`abnet.bounds.betting.row_weighted_betting_bound`.

    Parameters
    ----------
    losses, groups, delta, n_candidates, order
        As for :func:`group_averaged_bound`.
    largest_size : int
        The most rows B that a group can have, declared in advance.

    Examples
    --------
    >>> wrong, groups = [0, 0, 1, 0] * 60, np.repeat(np.arange(60), 4)
    >>> round(row_weighted_bound(wrong, groups, largest_size=4), 4)
    0.2911
    """
    sums, sizes = group_totals(losses, groups)
    bets = _bets(groups, order)
    return row_weighted_betting_bound(sums[bets], sizes[bets], largest_size, delta, n_candidates=n_candidates)


def one_row_per_group_bound(
    wrong: ArrayLike,
    groups: ArrayLike,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
    order: ArrayLike | None = None,
) -> float:
    r"""Clopper-Pearson limit of the group-averaged error, from one row of each group, drawn at random.

    .. math:: \mathbf E\Big[\frac{1}{n_g} \sum_{i \in g} \ell_i\Big] \le \mathrm{CP}(k, G, δ/K)

    The drawn rows' errors are independent and have the group-averaged error as their mean. The rows are drawn once,
    without looking at their errors. Clopper-Pearson on the groups' fractional means has no such justification.

    Parameters
    ----------
    wrong : array-like of bool (n,)
        Whether the model errs on each row.
    groups, delta, n_candidates
        As for :func:`group_averaged_bound`.
    order : int array (n,), optional
        The first row of each group in this order is drawn: one by what the rows hold (`abnet.certificates.row_order`),
        never by their places in a file. By default one is drawn; trying several is choosing among candidates.

    Examples
    --------
    >>> wrong, groups = np.tile([False, False, True, False], 60), np.repeat(np.arange(60), 4)
    >>> one_row_per_group_bound(wrong, groups) > 0.15
    True
    """
    bad = _bools(wrong)
    where = number_groups(groups, len(bad))
    places = bet_order(order, len(bad))
    _, first = np.unique(where[places], return_index=True)
    drawn = bad[places[first]]
    return clopper_pearson_bound(int(drawn.sum()), len(drawn), delta, n_candidates=n_candidates)


@dataclass(frozen=True)
class PopulationError:
    """The error of one population.

    Attributes
    ----------
    value : str
        The value of the column.
    n_rows, n_errors : int
        Bound rows of the population and the errors among them.
    delta : float
        Its share of δ; 0 where there are no rows.
    error_bound : float
        Upper limit of its error; 1 where there are no rows.
    """

    value: str
    n_rows: int
    n_errors: int
    delta: float
    error_bound: float


@dataclass(frozen=True)
class PopulationErrors(InNotebooks):
    """Errors of declared populations; all bounds hold at once with probability at least 1-δ.

    Attributes
    ----------
    populations : tuple of PopulationError
    delta : float
    n_candidates : int
        Models judged on the same rows.
    """

    populations: tuple[PopulationError, ...]
    delta: float
    n_candidates: int = 1

    def describe(self) -> str:
        """Say in plain English what is promised."""
        parts = "; ".join(_population(part) for part in self.populations)
        return paragraphs(
            f"With {confidence(self.delta)} confidence, for all of these populations at once, the error on new data of "
            f"the population is at most: {parts}.",
            "This assumes that the bound rows and the new data are independent draws from one source, and that the "
            "model and the column were fixed without looking at them.",
        )

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers, strings and lists, fit for JSON."""
        return {**asdict(self), "populations": [asdict(part) for part in self.populations]}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "PopulationErrors":
        """Read what `to_dict` wrote; a bound that does not follow from the counts is a ValueError."""
        values = exactly(cls.__name__, record, cls.__dataclass_fields__)
        names = list(PopulationError.__dataclass_fields__)
        parts = [
            exactly("population", part, names) for part in list_of(_as_it_is)("populations", values["populations"])
        ]
        rows = [
            (text("value", p["value"]), tally("n_rows", p["n_rows"]), tally("n_errors", p["n_errors"])) for p in parts
        ]
        made = _counted(rows, level("delta", values["delta"]), count("n_candidates", values["n_candidates"]))
        for part, again in zip(parts, made.populations, strict=True):
            if not math.isclose(part["delta"], again.delta) or not math.isclose(part["error_bound"], again.error_bound):
                raise ValueError(f"the bound of {again.value!r} does not follow from its own observations")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        write_record(path, "populations", self.to_dict())


def errors_by(
    wrong: ArrayLike,
    values: ArrayLike,
    delta: float = 0.05,
    *,
    declared: Sequence[Any] | None = None,
    n_candidates: int = 1,
) -> PopulationErrors:
    r"""Errors of the populations that a column names, all at once.

    .. math:: R_v \le \mathrm{CP}(k_v, n_v, δ_v/K), \qquad δ_v = δ \frac{1/n_v}{\sum_w 1/n_w}

    With probability at least 1-δ over independent rows, for a model and a column that were fixed before they were
    seen: the argument conditions on the column. Small populations get their honest, wide limits.

    Parameters
    ----------
    wrong : array-like of bool (n,)
        Whether the model errs on each bound row.
    values : array-like (n,)
        Each row's population.
    delta : float
        Probability with which any of the limits may fail.
    declared : sequence, optional
        Populations in the order to be reported; by default those that occur, sorted by their text. One that does not
        occur has the limit 1, one that occurs must be declared.
    n_candidates : int
        Number K of models judged on the same rows.

    Examples
    --------
    >>> result = errors_by([False] * 99 + [True], ["north"] * 90 + ["south"] * 10, declared=["north", "south", "west"])
    >>> [(part.value, part.n_rows, part.n_errors, round(part.error_bound, 3)) for part in result.populations]
    [('north', 90, 0, 0.057), ('south', 10, 1, 0.402), ('west', 0, 0, 1.0)]
    """
    bad, names = _bools(wrong), _texts(values)
    if len(names) != len(bad):
        raise ValueError(f"values has {len(names)} rows and wrong {len(bad)}")
    known = sorted(set(names)) if declared is None else [str(value) for value in declared]
    if len(set(known)) < len(known) or not set(names) <= set(known):
        raise ValueError(f"declared must name each population once; not declared: {sorted(set(names) - set(known))}")
    column = np.array(names)
    counts = [int(np.sum(column == value)) for value in known]
    errors = [int(np.sum(bad & (column == value))) for value in known]
    return _counted(list(zip(known, counts, errors, strict=True)), delta, n_candidates)


def _counted(rows: Sequence[tuple[str, int, int]], delta: float, n_candidates: int) -> PopulationErrors:
    """The bounds of populations with their numbers of rows and errors."""
    shares = shares_by_count([n for _, n, _ in rows], delta)
    parts = (
        PopulationError(value, n, k, share, clopper_pearson_bound(k, n, share, n_candidates=n_candidates) if n else 1.0)
        for (value, n, k), share in zip(rows, shares, strict=True)
    )
    return PopulationErrors(tuple(parts), level("delta", delta), count("n_candidates", n_candidates))


def _as_it_is(name: str, value: Any) -> Any:
    return value


def _population(part: PopulationError) -> str:
    if part.n_rows == 0:
        return f"{part.value}: no rows, so nothing is known"
    seen = f"{percent(part.n_errors / part.n_rows)} of {number_of(part.n_rows, 'row')}"
    return f"{part.value}: {percent_up(part.error_bound)} (seen: {seen})"


def _bools(wrong: ArrayLike) -> NDArray[np.bool_]:
    bad = np.asarray(wrong)
    if bad.dtype != np.bool_ or bad.ndim != 1 or len(bad) == 0:
        raise ValueError("wrong must be a vector of at least one bool")
    return bad


def _texts(values: ArrayLike) -> list[str]:
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"values must be a vector, got the shape {column.shape}")
    return [str(value) for value in column.tolist()]
