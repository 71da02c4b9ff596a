"""Shapley values of the columns: what each of them moved, against background rows.

The game of a row x and a background row z: with the columns S as in x and the others as in z, the network says
``v_z(S) = F(x_S, z_{-S})``. A column's contribution is its Shapley value in the mean of these games over the background
rows (the interventional game), so that ``mean_z F(z) + Σ_j φ_j = F(x)``. What the structure is used for:

- all features and codes of a column move together;
- the value is linear in the game, so that it is the mean of the values of the games of single background rows, and in
  the game of z a column in which x and z agree has the value 0: only the columns that differ are players;
- where they are few, all coalitions are enumerated; where they are many, columns are entered in random orders, each
  forwards and backwards: exact for any game in which columns act alone or in pairs, and unbiased for every other;
- a leading layer is linear in its inputs before it is scaled, so that a coalition is a sum of one vector per column.
"""

from dataclasses import dataclass
from functools import singledispatch
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.cube import corners, multilinear
from abnet.explanation.background import ExplanationPlan
from abnet.model.model import Model
from abnet.predictors.predictor import Predictor
from abnet.predictors.table import Table

__all__ = ["FeatureGame", "Game", "TableGame", "Values", "exact_values", "game_of", "ordered_values", "shapley_values"]

Floats = NDArray[np.float64]


class Game(Protocol):
    """What a network says of a row that has some columns of x and the others of a background row."""

    def differing(self, x: Any, z: Any) -> NDArray[np.intp]:
        """The columns in which two rows differ."""

    def parts(self, row: Floats) -> Any:
        """A prepared row as `differing` and `values` take it."""

    def values(self, x: Any, z: Any, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Scores (states, C) for coalitions of the players, one in each row of `member`."""


@dataclass(frozen=True, eq=False)
class FeatureGame:
    """The game of any model, by rows put together of the features of two.

    Parameters
    ----------
    predictor : Predictor
    owners : int array (inputs,)
        The column of every input.
    """

    predictor: Predictor
    owners: NDArray[np.intp]

    def parts(self, row: Floats) -> Floats:
        """The row itself."""
        return row

    def differing(self, x: Floats, z: Floats) -> NDArray[np.intp]:
        """The columns with a feature that differs."""
        return np.unique(self.owners[x != z])

    def values(self, x: Floats, z: Floats, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Scores (states, C)."""
        place = np.full(int(self.owners.max()) + 1, len(players))
        place[players] = np.arange(len(players))
        taken = np.column_stack([member, np.zeros(len(member), bool)])[:, place[self.owners]]
        scores = self.predictor.scores(np.where(taken, x, z))
        return scores.reshape(len(member), -1)


@dataclass(frozen=True, eq=False)
class TableGame:
    """The game of compact networks: a coalition is a sum of one vector for each column.

    ``W x + b`` and ``‖x‖²`` are sums over the columns; the rest is ``mean_m Σ_s H_m[s] P_m[s]`` as in prediction.

    Parameters
    ----------
    W : array (M, d, inputs)
    b : array (M, d)
    H : array (M, 2**d, C)
    owners : int array (inputs,)
        The column of every input; each column has one or more.
    """

    W: Floats
    b: Floats
    H: Floats
    owners: NDArray[np.intp]

    def parts(self, row: Floats) -> tuple[Floats, Floats]:
        """The row, and for each column its part of all pre-activations and of the squared norm, (columns, M d + 1)."""
        order = np.argsort(self.owners, kind="stable")
        first = np.searchsorted(self.owners[order], np.arange(int(self.owners.max()) + 1))
        weighted = np.concatenate([self.W.reshape(-1, len(row)) * row, (row * row)[None]])
        return row, np.add.reduceat(weighted[:, order], first, axis=1).T

    def differing(self, x: Any, z: Any) -> NDArray[np.intp]:
        """The columns with a feature that differs."""
        return np.unique(self.owners[x[0] != z[0]])

    def values(self, x: Any, z: Any, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Scores (states, C)."""
        members, d = self.b.shape
        state = z[1].sum(axis=0) + member.astype(np.float64) @ (x[1] - z[1])[players]
        t = (state[:, :-1] + self.b.reshape(-1)) / np.sqrt(2 * (np.maximum(state[:, -1:], 0.0) + 1))
        means = erf(t).reshape(-1, members, d)
        return np.asarray(sum(multilinear(self.H[m], means[:, m]) for m in range(members)) / members)


@singledispatch
def game_of(predictor: Predictor, owners: NDArray[np.intp]) -> Game:
    """The fastest game for a predictor."""
    return FeatureGame(predictor, owners)


@game_of.register
def _(predictor: Table, owners: NDArray[np.intp]) -> Game:
    H = predictor.H if predictor.H.ndim == 3 else predictor.H[:, :, None]
    return TableGame(predictor.W, predictor.b, H, owners)


def exact_values(v: Floats) -> Floats:
    """Shapley values of k players from the values of all coalitions.

    ``φ_j = Σ_{S ∌ j} (v(S ∪ j) - v(S)) / (k C(k-1, |S|))``.

    Parameters
    ----------
    v : array (2**k, C)
        Coalitions in the order of binary numbers, the first player's digit first.

    Returns
    -------
    array (k, C)

    Examples
    --------
    >>> exact_values(np.array([[0.0], [1.0], [2.0], [5.0]])).ravel()
    array([3., 2.])
    """
    k, columns = len(v).bit_length() - 1, v.shape[1]
    sizes = (corners(k, np.int8) > 0).sum(axis=1)
    weights = np.array([1 / (k * comb(k - 1, size)) for size in range(k)])
    out = np.empty((k, columns))
    for j in range(k):
        halves = v.reshape(2**j, 2, -1, columns)
        without = sizes.reshape(2**j, 2, -1)[:, 0]
        out[j] = (weights[without][:, :, None] * (halves[:, 1] - halves[:, 0])).sum(axis=(0, 1))
    return out


def ordered_values(values: Any, players: NDArray[np.intp], permutations: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """What each player adds when players enter in the given orders, forwards and backwards.

    Parameters
    ----------
    values : callable
        From coalitions (states, k) to their values (states, C).
    players : int array (k,)
    permutations : int array (P, columns)
        Orders of all columns; those that are no players are passed over.

    Returns
    -------
    mean, variance : arrays (k, C)
        Over the P pairs of orders, the variance that of the mean.
    """
    (P, _), k = permutations.shape, len(players)
    entered = np.argsort(np.argsort(permutations, axis=1)[:, players], axis=1)
    rank = np.argsort(entered, axis=1)  # of every player among the players, forwards
    ranks = np.concatenate([rank, k - 1 - rank])
    member = ranks[:, None, :] < np.arange(k + 1)[:, None]
    gains = np.diff(values(member.reshape(-1, k)).reshape(2 * P, k + 1, -1), axis=1)
    found = np.take_along_axis(gains, ranks[:, :, None], axis=1)
    pairs = (found[:P] + found[P:]) / 2
    return pairs.mean(axis=0), pairs.var(axis=0, ddof=1) / P


@dataclass(frozen=True, eq=False)
class Values:
    """Contributions of the columns to one row's scores.

    Attributes
    ----------
    base : array (C,)
        Mean score of the background rows.
    contributions, standard_errors : arrays (columns, C)
        The error is that of the orders, for these background rows; 0 where all coalitions were enumerated.
    """

    base: Floats
    contributions: Floats
    standard_errors: Floats

    @property
    def exact(self) -> bool:
        """Whether nothing was sampled."""
        return not self.standard_errors.any()


def shapley_values(model: Model, rows: Floats, plan: ExplanationPlan) -> list[Values]:
    """The contributions of all columns to the scores of prepared rows.

    Parameters
    ----------
    model : Model
    rows : array (n, inputs)
        As the network reads them.
    plan : ExplanationPlan

    Returns
    -------
    list of Values
        ``base + contributions.sum(axis=0)`` is the row's score, up to rounding.

    Examples
    --------
    >>> model = Model(Table(np.array([[[2.0, -1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> plan = ExplanationPlan.of(model, [[0.0, 0.0], [1.0, 1.0]])
    >>> found = shapley_values(model, np.array([[1.0, 0.5]]), plan)[0]
    >>> bool(np.isclose(found.base + found.contributions.sum(axis=0), model.decision_function([[1.0, 0.5]])))
    True
    """
    game = game_of(model.predictor, plan.columns.input_owners)
    background = [game.parts(row) for row in plan.background_inputs(model)]
    return [_explained(game, game.parts(row), background, plan) for row in rows]


def _explained(game: Game, x: Any, background: list[Any], plan: ExplanationPlan) -> Values:
    base: Any = 0.0
    total: Any = 0.0
    variance: Any = 0.0
    for z, permutations in zip(background, plan.permutations, strict=True):
        start, mean, spread = _against(game, x, z, permutations, plan.exact_columns)
        base, total, variance = base + start, total + mean, variance + spread
    B = len(background)
    return Values(base / B, total / B, np.sqrt(variance) / B)


def _against(game: Game, x: Any, z: Any, permutations: NDArray[np.intp], limit: int) -> tuple[Floats, Floats, Floats]:
    """Value of the empty coalition, contributions of all columns and their variance, for one background row."""
    players = game.differing(x, z)
    k, J = len(players), permutations.shape[1]
    if k <= limit:
        v = game.values(x, z, players, corners(k, np.int8) > 0)
        start, found, variance = v[0], exact_values(v), np.zeros((k, v.shape[1]))
    else:
        start = game.values(x, z, players, np.zeros((1, k), bool))[0]
        found, variance = ordered_values(lambda member: game.values(x, z, players, member), players, permutations)
    mean, spread = np.zeros((J, len(start))), np.zeros((J, len(start)))
    mean[players], spread[players] = found, variance
    return start, mean, spread
