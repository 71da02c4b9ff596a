"""`Evidence`: errors and losses of one model on the bound rows.

Evidence from disjoint rows is added with ``+``, so streams, partitions and folds need no certification code of their
own. It does not record how the model was made; that is in the terms (`abnet.certificates.terms`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.rounding import exact_sum
from abnet.certificates.population_rows import PopulationRows, rows_by_population
from abnet.certificates.region_counts import LocatedRows, RegionCounts
from abnet.utils.groups import number_groups

__all__ = ["Evidence", "Groups", "Moments", "Values", "observe", "sum_evidence"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Rounding may move losses computed as (1 - yF)/2 out of [0, 1] by this much; more is an error.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums of the Gibbs losses (losses of one drawn network) over the rows of each class.

    Attributes
    ----------
    n : int array (K + 1,)
        Number of rows of each class; the last entry is for labels that the model does not know.
    total, pairs : float array (K + 1,)
        Sum of the losses, and of the products of the losses of two independent draws.
    n_paths : int or None
        Number of fresh paths over which each row's loss was averaged; None if the losses are exact.
    """

    n: Ints
    total: Floats
    pairs: Floats
    n_paths: int | None = None

    def __add__(self, other: "Moments") -> "Moments":
        if self.n_paths != other.n_paths:
            raise ValueError(f"losses of {self.n_paths} paths cannot be added to losses of {other.n_paths} paths.")
        return Moments(self.n + other.n, self.total + other.total, self.pairs + other.pairs, self.n_paths)

    def mean(self, code: int | None = None) -> float | None:
        """Empirical Gibbs risk of all rows or of one class; None if there are no rows."""
        return self._mean(self.total, code)

    def pair_mean(self, code: int | None = None) -> float | None:
        """Empirical tandem risk."""
        return self._mean(self.pairs, code)

    def _mean(self, sums: Floats, code: int | None) -> float | None:
        n = int(self.n.sum())
        total = float(sums.sum())
        if code is not None:
            n = int(self.n[code])
            total = float(sums[code])
        if n == 0:
            return None
        mean = total / n
        return min(1.0, max(0.0, mean))


@dataclass(frozen=True, eq=False)
class Values:
    """One value for each row (or group), in the order of the rows' keys, as betting bounds need them.

    Attributes
    ----------
    keys : uint64 array (n,)
        In increasing order; they follow from a keyed hash of each row's content (`keyed_order`), never from its
        position in a file.
    codes : int array (n,)
        Classes.
    values : float array (n,)
    """

    keys: NDArray[np.uint64]
    codes: Ints
    values: Floats

    @staticmethod
    def of(keys: ArrayLike, codes: ArrayLike, values: ArrayLike) -> "Values":
        """Sort values by their keys."""
        order = np.argsort(np.asarray(keys, np.uint64), kind="stable")
        return Values(
            np.asarray(keys, np.uint64)[order],
            np.asarray(codes, np.int64)[order],
            np.asarray(values, np.float64)[order],
        )

    @staticmethod
    def joined(parts: "Sequence[Values]") -> "Values":
        """The values of disjoint rows together; they are sorted once."""
        return Values.of(
            keys=np.concatenate([part.keys for part in parts]),
            codes=np.concatenate([part.codes for part in parts]),
            values=np.concatenate([part.values for part in parts]),
        )

    def __add__(self, other: "Values") -> "Values":
        return Values.joined([self, other])


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows, errors and losses of each group; the rows of one group may be spread over several parts.

    Attributes
    ----------
    table : dict
        Maps a group's id to its key (uint64), number of rows, errors, sum of losses and sum of loss pairs.
    """

    table: Mapping[Any, tuple[int, int, int, float, float]] = field(default_factory=dict)

    def __add__(self, other: "Groups") -> "Groups":
        merged = dict(self.table)
        for name, new in other.table.items():
            if name not in merged:
                merged[name] = new
                continue
            old_key, *old_sums = merged[name]
            new_key, *new_sums = new
            sums = [a + b for a, b in zip(old_sums, new_sums, strict=True)]
            merged[name] = (min(old_key, new_key), *sums)
        return Groups(merged)

    def in_order(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Rows, errors, mean losses and mean pairs of the groups, in the order of their keys."""
        ordered = sorted(self.table.values(), key=lambda entry: entry[0])
        _, n_rows, n_errors, loss_sums, pair_sums = zip(*ordered, strict=True)
        rows = np.array(n_rows, np.int64)
        errors = np.array(n_errors, np.int64)
        mean_losses = np.array(loss_sums) / rows
        mean_pairs = np.array(pair_sums) / rows
        return rows, errors, np.clip(mean_losses, 0.0, 1.0), np.clip(mean_pairs, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Errors and losses of one model on the bound rows.

    Attributes
    ----------
    classes : tuple of str
        The K classes that the model knows, in order.
    counts : int array (K + 1, K + 1, B)
        Number of rows by true class (last: a label that the model does not know), answer (last: no answer) and bin of
        the decision's score (B is the number of thresholds plus 1).
    thresholds : tuple of float
        In increasing order; the bin of a row is the number of thresholds below its score.
    losses : Moments or None
        Sums of the Gibbs losses.
    values, costs : Values or None
        The Gibbs loss and the cost of every single row; streams do not keep them.
    populations : dict
        Maps a population's name to its rows (`PopulationRows`).
    groups : Groups or None
    regions : RegionCounts or None
        Counts by region of the model, for one that has regions.
    """

    classes: tuple[str, ...]
    counts: Ints
    thresholds: tuple[float, ...] = ()
    losses: Moments | None = None
    values: Values | None = None
    costs: Values | None = None
    populations: Mapping[str, PopulationRows] = field(default_factory=dict)
    groups: Groups | None = None
    regions: RegionCounts | None = None

    def __add__(self, other: "Evidence") -> "Evidence":
        if self.classes != other.classes or self.thresholds != other.thresholds:
            raise ValueError("evidence can only be added for the same classes and the same thresholds.")
        populations = dict(self.populations)
        for name, rows in other.populations.items():
            if name in populations:
                rows = populations[name] + rows
            populations[name] = rows
        return replace(
            self, counts=self.counts + other.counts, populations=populations,
            losses=_sum(self.losses, other.losses), values=_sum(self.values, other.values),
            costs=_sum(self.costs, other.costs), groups=_sum(self.groups, other.groups),
            regions=_sum(self.regions, other.regions),
        )  # fmt: skip

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def class_rows(self) -> Ints:
        """Rows of each class, those with an unknown label last."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @property
    def class_errors(self) -> Ints:
        """Wrong or missing answers among them."""
        right = np.einsum("iib->i", self.counts)
        right[-1] = 0  # a row whose label the model does not know is an error, whatever the answer
        return np.asarray(self.class_rows - right)

    @property
    def errors(self) -> int:
        """Wrong or missing answers among all rows."""
        return int(self.class_errors.sum())


def sum_evidence(parts: Sequence[Evidence]) -> Evidence:
    """The sum of evidence from disjoint rows, such as the blocks of a stream.

    The values of single rows are sorted once, and not again for every part.

    Parameters
    ----------
    parts : sequence of Evidence
        At least one.

    Examples
    --------
    >>> one = observe([0, 1, 1], [0, 0, 1], ("no", "yes"))
    >>> sum_evidence([one, one, one]).errors
    3
    """
    first, *others = parts
    if not others:
        return first
    # Betting bounds need the values of all rows in one order: adding them part by part would sort them each time.
    total = replace(first, values=None, costs=None)
    for part in others:
        total += replace(part, values=None, costs=None)
    return replace(
        total,
        values=_joined([part.values for part in parts]),
        costs=_joined([part.costs for part in parts]),
    )


def _joined(parts: Sequence[Values | None]) -> Values | None:
    """The values of all parts; None if no part has any."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    if len(present) < len(parts):
        raise ValueError(_UNLIKE)
    return Values.joined(present)


_UNLIKE = "evidence can only be added if both parts have the same of losses, values, costs, groups and regions."


def _sum(one: Any, other: Any) -> Any:
    if one is None and other is None:
        return None
    if one is None or other is None:
        raise ValueError(_UNLIKE)
    return one + other


def observe(
    answers: ArrayLike,
    truth: ArrayLike,
    classes: tuple[str, ...],
    *,
    scores: ArrayLike | None = None,
    thresholds: tuple[float, ...] = (),
    losses: ArrayLike | None = None,
    pairs: ArrayLike | None = None,
    n_paths: int | None = None,
    costs: ArrayLike | None = None,
    keys: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    populations: ArrayLike | None = None,
    regions: LocatedRows | None = None,
) -> Evidence:
    """Count the errors and sum the losses of a model on labelled rows.

    Parameters
    ----------
    answers, truth : int arrays (n,)
        Predicted and true classes as codes from 0 to K - 1; K stands for no answer, and for a label that the model does
        not know.
    classes : tuple of K str
    scores : float array (n,), optional
        Scores that the decision compares with the thresholds.
    thresholds : tuple of float
        In increasing order, fixed before these rows were seen.
    losses : float array (n,), optional
        Gibbs loss of each row, exact or the mean over fresh paths.
    pairs : float array (n,), optional
        Product of the losses of two independent draws for each row; by default the square of `losses`, which is right
        for exact losses.
    n_paths : int, optional
        Number of paths over which the losses are averaged; None if they are exact.
    costs : float array (n,), optional
        Cost of each row, as a fraction of the largest cost.
    keys : uint64 array (n,), optional
        Position of each row in the order for betting bounds (`bet_keys`); without them the single values are not kept.
        Rows of a group have neighbouring keys.
    groups : array (n,), optional
        Group of each row.
    populations : array (n,), optional
        Population of each row.
    regions : LocatedRows, optional
        Region of each row, by a model that was fixed before these rows were seen.

    Examples
    --------
    >>> one = observe([0, 1, 1], [0, 0, 1], ("no", "yes"))
    >>> (one + one).errors, (one + one).class_rows.tolist()
    (2, [4, 2, 0])
    """
    n_classes = len(classes)
    answer_codes = _codes("answers", answers, n_classes)
    true_codes = _codes("truth", truth, n_classes)
    n = len(true_codes)
    if len(answer_codes) != n:
        raise ValueError(f"there are {len(answer_codes)} answers, but {n} labels.")
    bins = np.zeros(n, np.int64)
    if thresholds:
        bins = _bins_of_scores(scores, thresholds, n)
    shape = (n_classes + 1, n_classes + 1, len(thresholds) + 1)
    cells = np.ravel_multi_index((true_codes, answer_codes, bins), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
    wrong = (answer_codes != true_codes) | (true_codes == n_classes)

    single_losses = None
    loss_pairs = None
    moments = None
    if losses is not None:
        single_losses = _unit("losses", losses, n)
        loss_pairs = single_losses**2
        if pairs is not None:
            loss_pairs = _unit("pairs", pairs, n)
        class_rows = np.bincount(true_codes, minlength=n_classes + 1).astype(np.int64)
        loss_sums = _sums_by_class(single_losses, true_codes, class_rows)
        moments = Moments(class_rows, loss_sums, _sums_by_class(loss_pairs, true_codes, class_rows), n_paths)
    values = None
    if keys is not None and single_losses is not None:
        values = Values.of(keys, true_codes, single_losses)
    kept_costs = None
    if keys is not None and costs is not None:
        kept_costs = Values.of(keys, true_codes, _unit("costs", costs, n))
    by_population: Mapping[str, PopulationRows] = {}
    if populations is not None:
        by_population = rows_by_population(populations, true_codes, answer_codes, n_classes + 1)
    by_group = None
    if groups is not None:
        by_group = _by_group(groups, wrong, single_losses, loss_pairs, keys)
    by_region = None
    if regions is not None:
        by_region = RegionCounts.of(regions, answer_codes, wrong, n_classes + 1)
    return Evidence(
        classes=classes,
        counts=counts,
        thresholds=tuple(thresholds),
        losses=moments,
        values=values,
        costs=kept_costs,
        populations=by_population,
        groups=by_group,
        regions=by_region,
    )


def _bins_of_scores(scores: ArrayLike | None, thresholds: tuple[float, ...], n: int) -> Ints:
    """How many thresholds lie below the score of each row."""
    cuts = np.asarray(thresholds, np.float64)
    values = np.asarray(scores, np.float64)
    if np.any(np.diff(cuts) <= 0.0) or values.shape != (n,) or not np.isfinite(values).all():
        raise ValueError("thresholds must be increasing, and every row needs a finite score.")
    return np.searchsorted(cuts, values, side="left").astype(np.int64)


def _codes(name: str, values: ArrayLike, n_classes: int) -> Ints:
    codes = np.asarray(values)
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or np.any((codes < 0) | (codes > n_classes)):
        raise ValueError(f"{name} must be a vector of codes from 0 to {n_classes}.")
    return codes.astype(np.int64)


def _unit(name: str, values: ArrayLike, n: int) -> Floats:
    array = np.asarray(values, np.float64)
    if array.shape != (n,):
        raise ValueError(f"{name} must have one number for each of the {n} rows; got the shape {array.shape}.")
    inside = (array >= -_ROUNDING) & (array <= 1.0 + _ROUNDING)  # false for NaN
    if not inside.all():
        row = int(np.argmin(inside))
        raise ValueError(f"{name} must lie in [0, 1]; row {row} has {array[row]}.")
    return np.clip(array, 0.0, 1.0)


def _sums_by_class(values: Floats, true: Ints, n: Ints) -> Floats:
    """Sums that do not depend on the order of the rows."""
    parts = np.split(values[np.argsort(true, kind="stable")], np.cumsum(n)[:-1])
    return np.array([exact_sum(part) for part in parts])


def _by_group(
    groups: ArrayLike, wrong: NDArray[np.bool_], losses: Floats | None, pairs: Floats | None, keys: ArrayLike | None
) -> Groups:
    if keys is None:
        raise ValueError("groups need keys, which define an order of the rows that does not depend on their labels.")
    places = number_groups(groups, len(wrong))
    names = np.asarray(groups)[np.unique(places, return_index=True)[1]]
    if losses is None or pairs is None:
        losses = wrong.astype(np.float64)
        pairs = losses
    errors, loss_sums, pair_sums = (
        np.bincount(places, weights=values, minlength=len(names)) for values in (wrong, losses, pairs)
    )
    rows = np.bincount(places, minlength=len(names))
    # Rows of a group are neighbours in the order of their keys, so the smallest key can stand for the group.
    group_keys = np.full(len(names), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(group_keys, places, np.asarray(keys, np.uint64))
    entries = zip(group_keys, rows, errors, loss_sums, pair_sums, strict=True)
    table = {
        name: (int(key), int(n), int(k), float(loss_sum), float(pair_sum))
        for name, (key, n, k, loss_sum, pair_sum) in zip(names.tolist(), entries, strict=True)
    }
    return Groups(table)
