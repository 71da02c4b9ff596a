"""Shapley values of the columns: how much each of them moved a row's probabilities away from background rows.

The game of a row x and a background row z: with the columns S taken from x and the others from z, the model gives a
class the probability ``v_z(S) = p(x_S, z_{-S})``. A column's contribution is its Shapley value in the mean of these
games over the background rows (the interventional game), so that ``mean_z p(z) + Σ_j φ_j = p(x)``. For models without
probabilities, scores take their place. Four facts make this fast:

- All features and codes of a column move together.
- Shapley values are linear in the game, so they are the mean over the games of single background rows. In the game of
  z, a column in which x and z agree has the value 0, so only columns that differ are players.
- If there are few players, all coalitions are enumerated. Otherwise players enter in random orders, each forwards and
  backwards: this is exact for games in which columns act alone or in pairs, and unbiased for all others.
- A leading layer is linear in its inputs before it is scaled, so a coalition is a sum of one vector per column.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from math import comb
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.networks.cube import corners
from abnet.utils.threads import one_blas_thread

__all__ = [
    "FeatureGame",
    "Game",
    "LeadingGame",
    "RowContributions",
    "exact_values",
    "explained_outputs",
    "game_of",
    "ordered_coalitions",
    "ordered_values",
    "shapley_values",
]

Floats = NDArray[np.float64]


class Game(Protocol):
    """Scores of a network for rows that combine some columns of one row with the other columns of another."""

    def differing(self, x: Any, z: Any) -> NDArray[np.intp]:
        """The columns in which two rows differ."""

    def parts(self, row: Floats) -> Any:
        """A prepared row in the form that `differing` and `states` take."""

    def states(self, x: Any, z: Any, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """The combined row of each coalition (a row of `member`), in the form that `scores` takes."""

    def scores(self, states: Floats) -> Floats:
        """Scores of combined rows: (states,) or (states, K)."""

    def exchanged(self, rows: Floats, orders: NDArray[np.intp]) -> Iterator[list[Floats]]:
        """For each column, scores of all rows with that column taken from other rows; orders: (columns, R, rows)."""


@dataclass(frozen=True, eq=False)
class FeatureGame:
    """The game of any model: rows are combined feature by feature.

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
        """The columns with at least one feature that differs."""
        return np.unique(self.owners[x != z])

    def states(self, x: Floats, z: Floats, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Inputs of x for the members, and of z for the other columns."""
        n_columns = int(self.owners.max()) + 1
        from_x = np.zeros((len(member), n_columns), bool)
        from_x[:, players] = member
        return np.where(from_x[:, self.owners], x, z)

    def scores(self, states: Floats) -> Floats:
        """Scores of rows."""
        return self.predictor.scores(states)

    def exchanged(self, rows: Floats, orders: NDArray[np.intp]) -> Iterator[list[Floats]]:
        """Scores with a column's inputs taken from other rows."""
        for column, places in enumerate(orders):
            exchanged = self.owners == column
            yield [self.predictor.scores(np.where(exchanged, rows[order], rows)) for order in places]


BLOCK = 256
"""Rows whose units are computed together, so that the numbers stay in the cache."""


BATCH = 2048
"""Minimum number of coalitions that are scored in one call."""


@dataclass(frozen=True, eq=False)
class LeadingGame:
    """The game of networks with one linear leading layer: a coalition is a sum of one vector per column.

    ``W x + b`` and ``‖x‖²`` are sums over the columns; the layers above only see ``(W x + b)/sqrt(2(‖x‖² + 1))``.

    Parameters
    ----------
    W : array (units, inputs)
        Weights of all members, sorted by column.
    b : array (units,)
    above : callable
        Maps the arguments of the units' erf, (rows, units), to scores.
    owners : int array (inputs,)
        The column of every input; each column has one or more.
    order, first : int arrays
        The inputs sorted by column, and where each column begins.
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
        """The columns with at least one feature that differs."""
        x_row, _ = x
        z_row, _ = z
        return np.unique(self.owners[x_row != z_row])

    def states(self, x: Any, z: Any, players: NDArray[np.intp], member: NDArray[np.bool_]) -> Floats:
        """Pre-activations without the biases, and the squared norm behind them."""
        _, x_parts = x
        _, z_parts = z
        changes = (x_parts - z_parts)[players]
        return np.asarray(z_parts.sum(axis=0) + member.astype(np.float64) @ changes)

    def exchanged(self, rows: Floats, orders: NDArray[np.intp]) -> Iterator[list[Floats]]:
        """Scores with a column's part of the sums taken from other rows."""
        ordered = rows[:, self.order]
        ends = [*self.first[1:], len(self.owners)]
        whole = _sums(ordered, self.W)
        for start, end, places in zip(self.first, ends, orders, strict=True):
            own = _sums(ordered[:, start:end], self.W[:, start:end])
            others = whole - own
            yield [self.scores(others + own[order]) for order in places]

    def scores(self, states: Floats) -> Floats:
        """Scores from pre-activations without the biases, and the squared norm behind them."""
        scores = []
        for start in range(0, len(states), BLOCK):
            block = states[start : start + BLOCK]
            squared_norms = np.maximum(block[:, -1:], 0.0)  # differences of sums may round below zero
            scores.append(self.above((block[:, :-1] + self.b) / np.sqrt(2 * (squared_norms + 1))))
        return np.concatenate(scores)


def _sums(rows: Floats, W: Floats) -> Floats:
    """Pre-activations without the biases, followed by the squared norm, of (some columns of) rows."""
    return np.column_stack([rows @ W.T, np.vecdot(rows, rows)])


@singledispatch
def game_of(predictor: Predictor, owners: NDArray[np.intp]) -> Game:
    """The fastest game that gives the scores of a predictor."""
    return FeatureGame(predictor, owners)


@game_of.register
def _(predictor: Compact, owners: NDArray[np.intp]) -> Game:
    return LeadingGame.of(predictor.W, predictor.b, predictor.above, owners)


@game_of.register
def _(predictor: PBGNetPredictor, owners: NDArray[np.intp]) -> Game:
    return LeadingGame.of(predictor.weights[0], predictor.biases[0], predictor.above, owners)


@game_of.register
def _(predictor: MomentsPredictor, owners: NDArray[np.intp]) -> Game:
    return LeadingGame.of(predictor.weights[0], predictor.biases[0], predictor.above, owners)


def explained_outputs(model: Model, scores: Floats) -> Floats:
    """What is explained, (n, C): probabilities, for two classes that of the second alone; otherwise the scores."""
    if not model.predictor.shares:
        return scores.reshape(len(scores), -1)
    probabilities = model.probabilities_from_scores(scores)
    if model.n_classes == 2:
        return probabilities[:, 1:]
    return probabilities


def exact_values(v: Floats) -> Floats:
    """Shapley values of k players from the values of all coalitions.

    ``φ_j = Σ_{S ∌ j} (v(S ∪ j) - v(S)) / (k C(k-1, |S|))``.

    Parameters
    ----------
    v : array (2**k, C)
        Coalitions in the order of binary numbers, with the first player as the leading digit.

    Returns
    -------
    array (k, C)

    Examples
    --------
    >>> exact_values(np.array([[0.0], [1.0], [2.0], [5.0]])).ravel()
    array([3., 2.])
    """
    k = len(v).bit_length() - 1
    C = v.shape[1]
    sizes = (corners(k, np.int8) > 0).sum(axis=1)
    weights = np.array([1 / (k * comb(k - 1, size)) for size in range(k)])
    values = np.empty((k, C))
    for j in range(k):
        halves = v.reshape(2**j, 2, -1, C)  # the second axis: without and with player j
        gains = halves[:, 1] - halves[:, 0]
        sizes_without = sizes.reshape(2**j, 2, -1)[:, 0]
        values[j] = (weights[sizes_without][:, :, None] * gains).sum(axis=(0, 1))
    return values


def _ranks(players: NDArray[np.intp], permutations: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rank of each player among the players: for every order forwards, then for every order backwards, (2 P, k)."""
    positions = np.argsort(permutations, axis=1)[:, players]
    ranks = np.argsort(np.argsort(positions, axis=1), axis=1)
    return np.concatenate([ranks, len(players) - 1 - ranks])


def ordered_coalitions(players: NDArray[np.intp], permutations: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The coalitions that form when players enter in the given orders, forwards and backwards: (2 P (k + 1), k).

    Parameters
    ----------
    players : int array (k,)
    permutations : int array (P, columns)
        Orders of all columns; columns that are no players are skipped.

    Examples
    --------
    >>> ordered_coalitions(np.array([0, 2]), np.array([[2, 1, 0]])).astype(int).tolist()
    [[0, 0], [0, 1], [1, 1], [0, 0], [1, 0], [1, 1]]
    """
    k = len(players)
    member = _ranks(players, permutations)[:, None, :] < np.arange(k + 1)[:, None]
    return np.asarray(member.reshape(-1, k))


def ordered_values(v: Floats, players: NDArray[np.intp], permutations: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """How much each player adds when players enter in the given orders, forwards and backwards.

    Parameters
    ----------
    v : array (2 P (k + 1), C)
        Values of the `ordered_coalitions` of these players and orders.
    players, permutations
        As for `ordered_coalitions`.

    Returns
    -------
    mean, variance : arrays (k, C)
        Mean over the P pairs of orders, and the variance of that mean.
    """
    P = len(permutations)
    k = len(players)
    gains = np.diff(v.reshape(2 * P, k + 1, -1), axis=1)
    by_player = np.take_along_axis(gains, _ranks(players, permutations)[:, :, None], axis=1)
    pairs = (by_player[:P] + by_player[P:]) / 2  # of an order forwards and backwards
    return pairs.mean(axis=0), pairs.var(axis=0, ddof=1) / P


@dataclass(frozen=True, eq=False)
class RowContributions:
    """Contributions of all columns to one row's probabilities (or scores).

    Attributes
    ----------
    base : array (C,)
        Mean over the background rows.
    contributions, standard_errors : arrays (columns, C)
        Errors come from drawing orders, for these background rows; 0 where all coalitions were enumerated.
    """

    base: Floats
    contributions: Floats
    standard_errors: Floats

    @property
    def exact(self) -> bool:
        """Whether all coalitions were enumerated."""
        return not self.standard_errors.any()


@one_blas_thread()
def shapley_values(
    model: Model, rows: Floats, plan: ExplanationPlan, progress: Callable[[float], None] | None = None
) -> list[RowContributions]:
    """The contributions of all columns to the probabilities of prepared rows.

    Parameters
    ----------
    model : Model
    rows : array (n, inputs)
        As the network reads them.
    plan : ExplanationPlan
    progress : callable, optional
        Called with the share that is done, between 0 and 1.

    Returns
    -------
    list of RowContributions
        ``base + contributions.sum(axis=0)`` equals `explained_outputs` of the row, up to rounding.

    Examples
    --------
    >>> model = Model(Compact(np.array([[[2.0, -1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> plan = ExplanationPlan.of(model, [[0.0, 0.0], [1.0, 1.0]])
    >>> moved = shapley_values(model, np.array([[1.0, 0.5]]), plan)[0]
    >>> bool(np.isclose(moved.base + moved.contributions.sum(axis=0), model.predict_proba([[1.0, 0.5]])[0, 1]))
    True
    """
    game = game_of(model.predictor, plan.columns.input_owners)
    background = [game.parts(row) for row in plan.background_inputs(model)]
    contributions = []
    for place, row in enumerate(rows):
        contributions.append(_contributions_to_row(model, game, game.parts(row), background, plan))
        if progress is not None:
            progress((place + 1) / len(rows))
    return contributions


def _contributions_to_row(
    model: Model, game: Game, x: Any, background: list[Any], plan: ExplanationPlan
) -> RowContributions:
    B, _, J = plan.permutations.shape
    if model.n_classes == 2:
        C = 1
    else:
        C = model.n_classes
    base = np.zeros(C)
    total = np.zeros((J, C))
    variance = np.zeros((J, C))
    for batch in _batches(game, x, background, plan):
        v = explained_outputs(model, game.scores(np.concatenate([pair.states for pair in batch])))
        ends = np.cumsum([len(pair.states) for pair in batch])
        for pair, values in zip(batch, np.split(v, ends[:-1]), strict=True):
            base += values[0]  # the first coalition is empty
            if len(pair.players) <= plan.exact_columns:
                total[pair.players] += exact_values(values)
            else:
                mean, variance_of_mean = ordered_values(values, pair.players, plan.permutations[pair.place])
                total[pair.players] += mean
                variance[pair.players] += variance_of_mean
    return RowContributions(base=base / B, contributions=total / B, standard_errors=np.sqrt(variance) / B)


class _Pair(NamedTuple):
    """The game of the row and one background row: the row's place in the background, players, and coalitions."""

    place: int
    players: NDArray[np.intp]
    states: Floats


def _batches(game: Game, x: Any, background: list[Any], plan: ExplanationPlan) -> Iterator[list[_Pair]]:
    """Games of several background rows, because scoring a few coalitions at a time would be slow."""
    batch: list[_Pair] = []
    n_states = 0
    for place, z in enumerate(background):
        players = game.differing(x, z)
        if len(players) <= plan.exact_columns:
            member = corners(len(players), np.int8) > 0
        else:
            member = ordered_coalitions(players, plan.permutations[place])
        batch.append(_Pair(place, players, game.states(x, z, players, member)))
        n_states += len(member)
        if n_states >= BATCH:
            yield batch
            batch = []
            n_states = 0
    if batch:
        yield batch
