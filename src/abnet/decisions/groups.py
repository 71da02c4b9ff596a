"""Errors of rows that belong together (patients), and of declared populations (hospitals).

Rows of one group are not independent, so that no bound that counts rows holds for them. What is independent are the
groups: each gives one value, and a bound on these is a promise about new groups.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.betting import betting_bound, row_weighted_betting_bound, unit_interval
from abnet.bounds.binomial import clopper_pearson_bound
from abnet.bounds.certificate_file import write_record
from abnet.bounds.shares import by_count
from abnet.bounds.wording import InNotebooks
from abnet.decisions.monitor import (
    confidence,
    paragraphs,
    percent,
    percent_up,
)
from abnet.records import count, exactly, level, list_of, tally, text

__all__ = [
    "PopulationErrors",
    "PopulationError",
    "errors_by",
    "group_averaged_bound",
    "group_totals",
    "one_row_per_group_bound",
    "row_weighted_bound",
]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def group_totals(losses: ArrayLike, groups: ArrayLike) -> tuple[Array, Ints]:
    """Sum of the losses and number of rows of each group, in the order in which the groups appear first.

    Parameters
    ----------
    losses : array-like (n,)
        Losses in [0, 1].
    groups : array-like (n,)
        Each row's group.

    Examples
    --------
    >>> group_totals([0.0, 1.0, 0.5, 0.5], ["b", "a", "b", "b"])
    (array([1., 1.]), array([3, 1]))
    """
    values = unit_interval("losses", losses)
    where = _numbers(groups, len(values))
    return np.asarray(np.bincount(where, weights=values), np.float64), np.asarray(np.bincount(where), np.int64)


def group_averaged_bound(losses: ArrayLike, groups: ArrayLike, delta: float = 0.05, *, n_candidates: int = 1) -> float:
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
        Each row's group; the groups' order of first appearance must not depend on the losses.
    delta : float
        Probability with which the bound may fail.
    n_candidates : int
        Number K of models judged on the same groups.

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
    return betting_bound(sums / sizes, delta, n_candidates=n_candidates)


def row_weighted_bound(
    losses: ArrayLike, groups: ArrayLike, largest_size: int, delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound on the error of the rows of new groups, in which large groups count more.

    .. math:: \frac{\mathbf E[S_g]}{\mathbf E[n_g]} \quad\text{by betting on } S_g - p\,n_g,\; n_g \le B

    With probability at least 1-δ over G independent groups; see
    :func:`abnet.bounds.betting.row_weighted_betting_bound`.

    Parameters
    ----------
    losses, groups, delta, n_candidates
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
    return row_weighted_betting_bound(sums, sizes, largest_size, delta, n_candidates=n_candidates)


def one_row_per_group_bound(
    wrong: ArrayLike,
    groups: ArrayLike,
    rng: np.random.Generator,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
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
    rng : numpy.random.Generator
        Draws the rows; trying several is choosing among candidates.

    Examples
    --------
    >>> wrong, groups = np.tile([False, False, True, False], 60), np.repeat(np.arange(60), 4)
    >>> one_row_per_group_bound(wrong, groups, np.random.default_rng(0)) > 0.25
    True
    """
    bad = _bools(wrong)
    where = _numbers(groups, len(bad))
    order = rng.permutation(len(bad))
    _, first = np.unique(where[order], return_index=True)
    drawn = bad[order[first]]
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
    shares = by_count([n for _, n, _ in rows], delta)
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
    seen = f"{percent(part.n_errors / part.n_rows)} of {part.n_rows:,} rows"
    return f"{part.value}: {percent_up(part.error_bound)} (seen: {seen})"


def _numbers(groups: ArrayLike, n: int) -> Ints:
    """Number the groups by first appearance."""
    column = np.asarray(groups)
    if column.shape != (n,):
        raise ValueError(f"groups must name one group for each of the {n} rows, got the shape {column.shape}")
    _, first, where = np.unique(column, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[where])


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
