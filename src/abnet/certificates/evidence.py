"""`Evidence`: errors and losses of one model on the bound rows.

Evidence from disjoint rows is added with ``+``, so streams, partitions and folds need no certification code of their
own. It does not record how the model was made; that is in the terms (`abnet.certificates.terms`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.rounding import exact_sum
from abnet.utils.groups import number_groups

__all__ = ["Evidence", "Groups", "Moments", "Values", "observe"]

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
        n = int(self.n.sum() if code is None else self.n[code])
        total = float(sums.sum() if code is None else sums[code])
        return min(1.0, max(0.0, total / n)) if n else None


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

    def __add__(self, other: "Values") -> "Values":
        return Values.of(
            *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("keys", "codes", "values"))
        )


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
            old = merged.get(name)
            sums = new[1:] if old is None else tuple(a + b for a, b in zip(old[1:], new[1:], strict=True))
            merged[name] = (new[0] if old is None else min(old[0], new[0]), *sums)
        return Groups(merged)

    def in_order(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Rows, errors, mean losses and mean pairs of the groups, in the order of their keys."""
        ordered = sorted(self.table.values(), key=lambda entry: entry[0])
        rows, errors = (np.array([entry[k] for entry in ordered], np.int64) for k in (1, 2))
        means, pairs = (np.array([entry[k] for entry in ordered]) / rows for k in (3, 4))
        return rows, errors, np.clip(means, 0.0, 1.0), np.clip(pairs, 0.0, 1.0)


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
        Maps a population's name to its numbers of rows and errors.
    groups : Groups or None
    """

    classes: tuple[str, ...]
    counts: Ints
    thresholds: tuple[float, ...] = ()
    losses: Moments | None = None
    values: Values | None = None
    costs: Values | None = None
    populations: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    groups: Groups | None = None

    def __add__(self, other: "Evidence") -> "Evidence":
        if self.classes != other.classes or self.thresholds != other.thresholds:
            raise ValueError("evidence can only be added for the same classes and the same thresholds.")
        populations = dict(self.populations)
        for name, (rows, errors) in other.populations.items():
            old = populations.get(name, (0, 0))
            populations[name] = (old[0] + rows, old[1] + errors)
        return replace(
            self, counts=self.counts + other.counts, populations=populations,
            losses=_sum(self.losses, other.losses), values=_sum(self.values, other.values),
            costs=_sum(self.costs, other.costs), groups=_sum(self.groups, other.groups),
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


def _sum(one: Any, other: Any) -> Any:
    if (one is None) != (other is None):
        raise ValueError("evidence can only be added if both parts have the same of losses, values, costs and groups.")
    return None if one is None else one + other


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

    Examples
    --------
    >>> one = observe([0, 1, 1], [0, 0, 1], ("no", "yes"))
    >>> (one + one).errors, (one + one).class_rows.tolist()
    (2, [4, 2, 0])
    """
    K = len(classes)
    said, true = _codes("answers", answers, K), _codes("truth", truth, K)
    if len(said) != len(true):
        raise ValueError(f"there are {len(said)} answers, but {len(true)} labels.")
    bins = np.zeros(len(true), np.int64)
    if thresholds:
        cuts, marks = np.asarray(thresholds, np.float64), np.asarray(scores, np.float64)
        if np.any(np.diff(cuts) <= 0.0) or marks.shape != true.shape or not np.isfinite(marks).all():
            raise ValueError("thresholds must be increasing, and every row needs a finite score.")
        bins = np.searchsorted(cuts, marks, side="left")  # how many thresholds lie below the score
    shape = (K + 1, K + 1, len(thresholds) + 1)
    flat = np.ravel_multi_index((true, said, bins), shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
    wrong = (said != true) | (true == K)
    of_draw = None if losses is None else _unit("losses", losses, len(true))
    of_two = of_draw if of_draw is None else of_draw**2 if pairs is None else _unit("pairs", pairs, len(true))
    moments = None
    if of_draw is not None and of_two is not None:
        n = np.bincount(true, minlength=K + 1).astype(np.int64)
        moments = Moments(n, _by_class(of_draw, true, n), _by_class(of_two, true, n), n_paths)
    kept = None if keys is None or of_draw is None else Values.of(keys, true, of_draw)
    paid = None if keys is None or costs is None else Values.of(keys, true, _unit("costs", costs, len(true)))
    return Evidence(
        classes, counts, tuple(thresholds), moments, kept, paid,
        {} if populations is None else _by_population(populations, wrong),
        None if groups is None else _by_group(groups, wrong, of_draw, of_two, keys),
    )  # fmt: skip


def _codes(name: str, values: ArrayLike, K: int) -> Ints:
    codes = np.asarray(values)
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or np.any((codes < 0) | (codes > K)):
        raise ValueError(f"{name} must be a vector of codes from 0 to {K}.")
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


def _by_class(values: Floats, true: Ints, n: Ints) -> Floats:
    """Sums that do not depend on the order of the rows."""
    parts = np.split(values[np.argsort(true, kind="stable")], np.cumsum(n)[:-1])
    return np.array([exact_sum(part) for part in parts])


def _by_population(populations: ArrayLike, wrong: NDArray[np.bool_]) -> dict[str, tuple[int, int]]:
    names, where = np.unique(np.asarray([str(name) for name in np.asarray(populations).tolist()]), return_inverse=True)
    rows, errors = np.bincount(where, minlength=len(names)), np.bincount(where, weights=wrong, minlength=len(names))
    return {str(name): (int(n), int(k)) for name, n, k in zip(names, rows, errors, strict=True)}


def _by_group(
    groups: ArrayLike, wrong: NDArray[np.bool_], losses: Floats | None, pairs: Floats | None, keys: ArrayLike | None
) -> Groups:
    if keys is None:
        raise ValueError("groups need keys, which define an order of the rows that does not depend on their labels.")
    where = number_groups(groups, len(wrong))
    names = np.asarray(groups)[np.unique(where, return_index=True)[1]]
    of_draw, of_two = (wrong.astype(np.float64) if v is None else v for v in (losses, pairs))
    sums = [np.bincount(where, weights=v, minlength=len(names)) for v in (wrong, of_draw, of_two)]
    rows = np.bincount(where, minlength=len(names))
    # Rows of a group are neighbours in the order of their keys, so the smallest key can stand for the group.
    of_group = np.full(len(names), np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(of_group, where, np.asarray(keys, np.uint64))
    return Groups({
        name: (int(key), int(n), int(k), float(s), float(p))
        for name, key, n, k, s, p in zip(names.tolist(), of_group, rows, *sums, strict=True)
    })  # fmt: skip
