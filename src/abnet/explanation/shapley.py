"""Shapley values of the columns: what each of them moved, against background rows.

The game of a row x and a background row z: with the columns S as in x and the others as in z, the model gives a class
the probability ``v_z(S) = p(x_S, z_{-S})``. A column's contribution is its Shapley value in the mean of these games
over the background rows (the interventional game), so that ``mean_z p(z) + Σ_j φ_j = p(x)``. Models without
probabilities are explained by their scores. What the structure is used for:

- all features and codes of a column move together;
- the value is linear in the game, so that it is the mean of the values of the games of single background rows, and in
  the game of z a column in which x and z agree has the value 0: only the columns that differ are players;
- where they are few, all coalitions are enumerated; where they are many, columns are entered in random orders, each
  forwards and backwards: exact for any game in which columns act alone or in pairs, and unbiased for every other;
- a leading layer is linear in its inputs before it is scaled, so that a coalition is a sum of one vector per column.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.networks.cube import corners
from abnet.utils.threads import one_blas_thread

__all__ = [
    "FeatureGame",
    "Game",
    "LeadingGame",
    "Values",
    "exact_values",
    "explained",
    "game_of",
    "ordered_coalitions",
    "ordered_values",
    "shapley_values",
]

Floats = NDArray[np.float64]


class Game(Protocol):
    """What a network says of rows that have some columns of one row and the others of another."""

    def differing(self, x: Any, z: Any) -> NDArray[np.intp]:
        """The columns in which two rows differ."""

    def parts(self, row: Floats) -> Any:
        """A prepared row as `differing` and `states` take it."""

    def states(self, x: Any, z: Any, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Rows put together for coalitions of the players, one for each row of `member`, as `scores` takes them."""

    def scores(self, states: Floats) -> Floats:
        """Scores of such rows: (states,) or (states, K)."""

    def exchanged(self, rows: Floats, orders: NDArray[np.intp]) -> Iterator[list[Floats]]:
        """For each column, scores of all rows with that column taken from other rows; orders (columns, R, rows)."""


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

    def states(self, x: Floats, z: Floats, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Inputs of x for the members, of z for the others."""
        place = np.full(int(self.owners.max()) + 1, len(players))
        place[players] = np.arange(len(players))
        taken = np.column_stack([member, np.zeros(len(member), bool)])[:, place[self.owners]]
        return np.where(taken, x, z)

    def scores(self, states: Floats) -> Floats:
        """Scores of rows."""
        return self.predictor.scores(states)

    def exchanged(self, rows: Floats, orders: NDArray[np.intp]) -> Iterator[list[Floats]]:
        """Scores with a column's inputs taken from other rows."""
        for column, places in enumerate(orders):
            taken, mixed = self.owners == column, []
            for order in places:
                mixed.append(self.predictor.scores(np.where(taken, rows[order], rows)))
            yield mixed


BLOCK = 256
"""Rows whose units are computed at a time: their numbers should stay in the cache."""


BATCH = 2048
"""Coalitions scored in one call, at least."""


@dataclass(frozen=True, eq=False)
class LeadingGame:
    """The game of networks that read a row through one linear layer: a coalition is a sum of one vector per column.

    ``W x + b`` and ``‖x‖²`` are sums over the columns; the layers above see ``(W x + b)/sqrt(2(‖x‖² + 1))`` only.

    Parameters
    ----------
    W : array (units, inputs)
        Of all members, in the order of the columns.
    b : array (units,)
    above : callable
        From the arguments (rows, units) of the units' mean outputs to scores.
    owners : int array (inputs,)
        The column of every input; each column has one or more.
    order, first : int arrays
        The inputs by columns, and where each column begins.
    """

    W: Floats
    b: Floats
    above: Callable[[Floats], Floats]
    owners: NDArray[np.intp]
    order: NDArray[np.intp]
    first: NDArray[np.intp]

    @staticmethod
    def of(W: Floats, b: Floats, above: Callable[[Floats], Floats], owners: NDArray[np.intp]) -> "LeadingGame":
        """The game of stacked members: W (M, d, inputs), b (M, d)."""
        order = np.argsort(owners, kind="stable")
        first = np.searchsorted(owners[order], np.arange(int(owners.max()) + 1))
        rows = np.ascontiguousarray(W.reshape(-1, len(owners))[:, order])
        return LeadingGame(rows, b.reshape(-1), above, owners, order, first)

    def parts(self, row: Floats) -> tuple[Floats, Floats]:
        """The row, and each column's part of all pre-activations and of the squared norm, (columns, units + 1)."""
        sorted_row = row[self.order]
        sums = np.add.reduceat(self.W * sorted_row, self.first, axis=1)
        norms = np.add.reduceat(sorted_row * sorted_row, self.first)
        return row, np.concatenate([sums, norms[None]]).T

    def differing(self, x: Any, z: Any) -> NDArray[np.intp]:
        """The columns with a feature that differs."""
        return np.unique(self.owners[x[0] != z[0]])

    def states(self, x: Any, z: Any, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Pre-activations without the biases, and the squared norm behind them."""
        start, changes = z[1].sum(axis=0), (x[1] - z[1])[players]
        return np.asarray(start + member.astype(np.float64) @ changes)

    def exchanged(self, rows: Floats, orders: NDArray[np.intp]) -> Iterator[list[Floats]]:
        """Scores with a column's part of the sums taken from other rows."""
        ordered = rows[:, self.order]
        whole = np.column_stack([ordered @ self.W.T, np.vecdot(ordered, ordered)])
        for start, end, places in zip(self.first, [*self.first[1:], len(self.owners)], orders, strict=True):
            own = np.column_stack([
                ordered[:, start:end] @ self.W[:, start:end].T, np.vecdot(ordered[:, start:end], ordered[:, start:end])
            ])  # fmt: skip
            rest = whole - own
            yield [self.scores(rest + own[order]) for order in places]

    def scores(self, states: Floats) -> Floats:
        """Scores from pre-activations without the biases, and the squared norm behind them."""
        blocks = [states[start : start + BLOCK] for start in range(0, len(states), BLOCK)]
        roots = [np.sqrt(2 * (np.maximum(block[:, -1:], 0.0) + 1)) for block in blocks]
        made = [self.above((block[:, :-1] + self.b) / root) for block, root in zip(blocks, roots, strict=True)]
        return np.concatenate(made)


@singledispatch
def game_of(predictor: Predictor, owners: NDArray[np.intp]) -> Game:
    """The fastest game for a predictor."""
    return FeatureGame(predictor, owners)


@game_of.register
def _(predictor: Compact, owners: NDArray[np.intp]) -> Game:
    return LeadingGame.of(predictor.W, predictor.b, predictor.above, owners)


@game_of.register
def _(predictor: MomentsPredictor, owners: NDArray[np.intp]) -> Game:
    return LeadingGame.of(predictor.weights[0], predictor.biases[0], predictor.above, owners)


def explained(model: Model, scores: Floats) -> Floats:
    """What is explained, (n, C): probabilities, of two classes that of the second alone; else the scores themselves."""
    if not model.predictor.shares:
        return scores.reshape(len(scores), -1)
    probabilities = model.probabilities_from_scores(scores)
    return probabilities[:, 1:] if model.n_classes == 2 else probabilities


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


def _ranks(players: NDArray[np.intp], permutations: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rank of every player among the players, for each order forwards, then for each backwards: (2 P, k)."""
    entered = np.argsort(np.argsort(permutations, axis=1)[:, players], axis=1)
    rank = np.argsort(entered, axis=1)
    return np.concatenate([rank, len(players) - 1 - rank])


def ordered_coalitions(players: NDArray[np.intp], permutations: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The coalitions that form when players enter in the given orders, forwards and backwards: (2 P (k + 1), k).

    Parameters
    ----------
    players : int array (k,)
    permutations : int array (P, columns)
        Orders of all columns; those that are no players are passed over.

    Examples
    --------
    >>> ordered_coalitions(np.array([0, 2]), np.array([[2, 1, 0]])).astype(int).tolist()
    [[0, 0], [0, 1], [1, 1], [0, 0], [1, 0], [1, 1]]
    """
    k = len(players)
    member = _ranks(players, permutations)[:, None, :] < np.arange(k + 1)[:, None]
    return np.asarray(member.reshape(-1, k))


def ordered_values(v: Floats, players: NDArray[np.intp], permutations: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """What each player adds when players enter in the given orders, forwards and backwards.

    Parameters
    ----------
    v : array (2 P (k + 1), C)
        Values of the `ordered_coalitions` of these players and orders.
    players, permutations
        As for `ordered_coalitions`.

    Returns
    -------
    mean, variance : arrays (k, C)
        Over the P pairs of orders, the variance that of the mean.
    """
    P, k = len(permutations), len(players)
    gains = np.diff(v.reshape(2 * P, k + 1, -1), axis=1)
    found = np.take_along_axis(gains, _ranks(players, permutations)[:, :, None], axis=1)
    pairs = (found[:P] + found[P:]) / 2
    return pairs.mean(axis=0), pairs.var(axis=0, ddof=1) / P


@dataclass(frozen=True, eq=False)
class Values:
    """Contributions of the columns to what is explained of one row.

    Attributes
    ----------
    base : array (C,)
        Mean over the background rows.
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


@one_blas_thread()
def shapley_values(
    model: Model, rows: Floats, plan: ExplanationPlan, progress: Callable[[float], None] | None = None
) -> list[Values]:
    """The contributions of all columns to the probabilities of prepared rows.

    Parameters
    ----------
    model : Model
    rows : array (n, inputs)
        As the network reads them.
    plan : ExplanationPlan
    progress : callable, optional
        Takes the share that is done.

    Returns
    -------
    list of Values
        ``base + contributions.sum(axis=0)`` is what `explained` says of the row, up to rounding.

    Examples
    --------
    >>> model = Model(Compact(np.array([[[2.0, -1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> plan = ExplanationPlan.of(model, [[0.0, 0.0], [1.0, 1.0]])
    >>> found = shapley_values(model, np.array([[1.0, 0.5]]), plan)[0]
    >>> bool(np.isclose(found.base + found.contributions.sum(axis=0), model.predict_proba([[1.0, 0.5]])[0, 1]))
    True
    """
    game = game_of(model.predictor, plan.columns.input_owners)
    background = [game.parts(row) for row in plan.background_inputs(model)]
    made = []
    for place, row in enumerate(rows):
        made.append(_explained(model, game, game.parts(row), background, plan))
        if progress is not None:
            progress((place + 1) / len(rows))
    return made


def _explained(model: Model, game: Game, x: Any, background: list[Any], plan: ExplanationPlan) -> Values:
    """Coalitions of several background rows are scored together: of few columns, each has few of them."""
    J, B = plan.permutations.shape[2], len(background)
    base, total, variance = (np.zeros(0), np.zeros((J, 0)), np.zeros((J, 0)))
    for places in _batches(game, x, background, plan):
        v = explained(model, game.scores(np.concatenate([states for _, _, states in places])))
        if not base.size:
            base, total, variance = np.zeros(v.shape[1]), np.zeros((J, v.shape[1])), np.zeros((J, v.shape[1]))
        ends = np.cumsum([len(states) for _, _, states in places])
        for (z, players, _), values in zip(places, np.split(v, ends[:-1]), strict=True):
            base += values[0]  # the first coalition is empty
            if len(players) <= plan.exact_columns:
                total[players] += exact_values(values)
            else:
                mean, spread = ordered_values(values, players, plan.permutations[z])
                total[players] += mean
                variance[players] += spread
    return Values(base / B, total / B, np.sqrt(variance) / B)


def _batches(
    game: Game, x: Any, background: list[Any], plan: ExplanationPlan
) -> Iterator[list[tuple[int, NDArray[np.intp], Floats]]]:
    """For some background rows at a time: their place, the players and the coalitions' rows."""
    made: list[tuple[int, NDArray[np.intp], Floats]] = []
    for place, z in enumerate(background):
        players = game.differing(x, z)
        k = len(players)
        member = (
            corners(k, np.int8) > 0
            if k <= plan.exact_columns
            else ordered_coalitions(players, plan.permutations[place])
        )
        made.append((place, players, game.states(x, z, players, member)))
        if sum(len(states) for _, _, states in made) >= BATCH:
            yield made
            made = []
    if made:
        yield made
