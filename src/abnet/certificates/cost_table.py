"""Costs as a table, true class by answer."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.utils.errors import Parameter, ParameterError

__all__ = ["EVERY", "check_costs", "costs_by_pair", "costs_of_answers"]

Floats = NDArray[np.float64]

COSTS = Parameter("costs")

EVERY = "*"
"""Stands for every label in a pair, unless it is a label itself."""


def costs_by_pair(costs: Mapping[tuple[Any, Any], float], classes: Sequence[Any]) -> Floats:
    """The table from costs by pairs (truth, answer); a ValueError names a missing or unknown pair.

    Examples
    --------
    >>> costs_by_pair({("*", "*"): 1.0, ("ill", "*"): 10.0}, ["ill", "well", "unsure"])
    array([[ 0., 10., 10.],
           [ 1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """
    places = {str(label): place for place, label in enumerate(classes)}
    table = np.full((len(places), len(places)), np.nan)
    np.fill_diagonal(table, 0.0)
    given: dict[tuple[int, int], int] = {}
    for pair, cost in costs.items():
        if not _is_pair_of(pair, places):
            raise ParameterError(
                "{}: {!r} is not a pair (truth, answer) of the classes {}.", COSTS, pair, ", ".join(places)
            )
        n_named = sum(str(label) in places for label in pair)
        for place in _places_of(pair, places):
            n_before = given.get(place, -1)
            if n_named == n_before:
                truth = classes[place[0]]
                answer = classes[place[1]]
                raise ParameterError(
                    "{}: the cost of answering {} when {} is true is given twice.", COSTS, answer, truth
                )
            if n_named > n_before:
                given[place] = n_named
                table[place] = cost
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise ParameterError(
            "{}: the cost of answering {} when {} is true is needed.", COSTS, classes[column], classes[row]
        )
    return check_costs(table, len(classes))


def _is_pair_of(pair: Any, places: Mapping[str, int]) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and all(str(label) in (*places, EVERY) for label in pair)


def _places_of(pair: tuple[Any, Any], places: Mapping[str, int]) -> list[tuple[int, int]]:
    """Rows and columns of the table that a pair stands for; "*" stands for wrong answers only."""
    truth, answer = map(str, pair)
    if truth in places and answer in places:
        return [(places[truth], places[answer])]
    matching = []
    for row, column in permutations(places, 2):
        if truth in (row, EVERY) and answer in (column, EVERY):
            matching.append((places[row], places[column]))
    return matching


def check_costs(costs: ArrayLike, n_classes: int) -> Floats:
    """The checked table."""
    table = np.asarray(costs, np.float64)
    if table.shape != (n_classes, n_classes):
        raise ValueError(f"costs must be a table of {n_classes} classes; got the shape {table.shape}.")
    if not np.isfinite(table).all() or table.min() < 0.0 or table.max() == 0.0:
        raise ParameterError("{} must be finite, not negative, and not all 0.", COSTS)
    return table


def costs_of_answers(table: Floats, answers: NDArray[np.intp], truth: NDArray[np.intp]) -> Floats:
    """The cost of each answer as a share of the largest cost, which rows with an unknown label or answer have.

    Examples
    --------
    >>> costs_of_answers(np.array([[0.0, 1.0], [4.0, 0.0]]), np.array([1, 0, 1, 1]), np.array([0, 1, 1, 2])).tolist()
    [0.25, 1.0, 0.0, 1.0]
    """
    known = (truth < len(table)) & (answers < len(table))
    costs = table[np.where(known, truth, 0), np.where(known, answers, 0)]
    return np.where(known, costs / table.max(), 1.0)
