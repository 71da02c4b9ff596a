"""Prediction sets: misses of one model with its thresholds, for all rows and per class; sizes and single answers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import abnet
from abnet.certificates.prediction_sets import PredictionSets
from abnet.certificates.set_rule import SetRule
from abnet.certificates.statements.missed_class import MissedClass
from abnet.certificates.statements.set_size import SetSize
from abnet.certificates.statements.single_answers import SingleAnswerError, SingleAnswers
from simulation import Simulation, repeated

DELTA = 0.05
ALPHA = 0.1
REPETITIONS = 1_000
CLASSES = 4
Array = NDArray[Any]

DOUBTFUL = 0.3
"""Share of rows whose true class has a probability below .1; the others have one above .97."""
RARE = (0.1, 0.25, 0.35, 0.6)
"""This share by class, where the classes differ."""


class World:
    """A fixed model: a row is its probabilities, and the class after the true one has the rest of the probability.

    Parameters
    ----------
    doubtful : sequence of float
        For each class, the share of rows with a low probability of the true class.
    """

    def __init__(self, doubtful: tuple[float, ...]) -> None:
        self.doubtful = np.array(doubtful)
        self.classes_ = np.arange(len(doubtful))

    def predict_proba(self, X: Array) -> Array:
        """The rows themselves."""
        return np.asarray(X)

    def draw(self, rng: np.random.Generator, y: Array) -> Array:
        """Rows with these labels."""
        is_doubtful = rng.random(len(y)) < self.doubtful[y]
        own = np.where(is_doubtful, 0.1 * rng.random(len(y)), 1.0 - 0.03 * rng.random(len(y)))
        X = np.zeros((len(y), len(self.classes_)))
        rows = np.arange(len(y))
        X[rows, y] = own
        X[rows, (y + 1) % len(self.classes_)] = 1.0 - own
        return X

    def below(self, label: int, value: float) -> float:
        """Probability that the true class has less than this value, for rows of a class."""
        q = self.doubtful[label]
        low = min(max(value / 0.1, 0.0), 1.0)
        high = min(max((value - 0.97) / 0.03, 0.0), 1.0)
        return float(q * low + (1.0 - q) * high)

    def truth(self, rule: SetRule) -> dict[str, Any]:
        """Misses of each class, mean size, share of single answers and their error, for classes of equal shares."""
        least = [-1.0 if threshold is None else threshold for threshold in rule.thresholds]
        n = len(least)
        misses = np.array([self.below(label, least[label]) for label in range(n)])
        size = 0.0
        right = 0.0
        wrong = 0.0
        for label in range(n):
            following = (label + 1) % n
            n_zero = sum(least[other] <= 0.0 for other in range(n) if other not in (label, following))
            # The next class is in the set where the true class has at most this value.
            other_up_to = 1.0 - least[following]
            both = max(0.0, self.below(label, other_up_to) - misses[label])
            size += (1.0 - misses[label]) + self.below(label, other_up_to) + n_zero
            if n_zero == 0:
                right += 1.0 - misses[label] - both
                wrong += min(misses[label], self.below(label, other_up_to))
        singles = right + wrong
        error = 0.0
        if singles > 0.0:
            error = wrong / singles
        return {"misses": misses, "size": size / n, "singles": singles / n, "error": error}


ALIKE = World((DOUBTFUL,) * CLASSES)
UNLIKE = World(RARE)
MANY = World((0.1,) * 10)


def sets_of(world: World, rng: np.random.Generator, n: int, *, by_class: bool, order: str = "") -> PredictionSets:
    """The sets that a user gets from n rows."""
    y = rng.integers(len(world.classes_), size=n)
    X = world.draw(rng, y)
    if order == "label":
        places = np.argsort(y, kind="stable")
        X = X[places]
        y = y[places]
    if order == "rounded":
        X = np.round(X, 2)
    return abnet.prediction_sets(world, X, y, alpha=ALPHA, by_class=by_class, delta=DELTA)


def missed_too_often(sets: PredictionSets, world: World) -> bool:
    """Whether a certified miss rate is false."""
    true = world.truth(sets.rule)["misses"]
    for made in sets.certificate.each(MissedClass):
        rate = float(true.mean())
        if made.label is not None:
            rate = float(true[int(made.label)])
        if made.value is not None and rate > made.value:
            return True
    return False


def all_rows(rng: np.random.Generator, order: str = "") -> bool:
    return missed_too_often(sets_of(ALIKE, rng, 400, by_class=False, order=order), ALIKE)


def each_class(rng: np.random.Generator) -> bool:
    return missed_too_often(sets_of(UNLIKE, rng, 400, by_class=True), UNLIKE)


def rounded(rng: np.random.Generator) -> bool:
    """Probabilities with two decimals, so that many are equal: the miss rate is that of rounded ones, too."""
    sets = sets_of(ALIKE, rng, 400, by_class=False, order="rounded")
    threshold = sets.rule.thresholds[0]
    assert threshold is not None
    # A rounded value is at least the threshold where the value itself is half a hundredth below the next hundredth.
    next_hundredth = np.ceil(threshold * 100) / 100
    return ALIKE.below(0, float(next_hundredth) - 0.005) > ALPHA


def unknown_labels(rng: np.random.Generator) -> bool:
    """Every twentieth row has a label that the model does not know, which no set holds."""
    y = rng.integers(CLASSES, size=400)
    X = ALIKE.draw(rng, y)
    labels = np.where(rng.random(400) < 0.05, 99, y)
    sets = abnet.prediction_sets(ALIKE, X, labels, alpha=ALPHA, delta=DELTA)
    true = 0.05 + 0.95 * float(ALIKE.truth(sets.rule)["misses"].mean())
    return sets.certificate.statements[0].value is not None and true > ALPHA


def sizes(rng: np.random.Generator, kind: type[Any], by_class: bool) -> bool:
    """Whether a statement about the sizes is false; ten classes, each with a threshold of its own, or four."""
    world = ALIKE
    n = 400
    if by_class:
        world = MANY
        n = 700
    sets = sets_of(world, rng, n, by_class=by_class)
    made: Any = sets.certificate.find(kind)
    true = world.truth(sets.rule)
    if made is None:
        return False
    if kind is SingleAnswers:
        return bool(true["singles"] < made.value)
    name = "error"
    if kind is SetSize:
        name = "size"
    return bool(true[name] > made.value)


def threshold_of_an_average(rng: np.random.Generator) -> bool:
    """The usual conformal quantile: right on average over samples, but this sample's sets are read as promised."""
    y = rng.integers(CLASSES, size=400)
    X = ALIKE.draw(rng, y)
    own = np.sort(X[np.arange(400), y])
    threshold = own[int(np.floor(ALPHA * 401)) - 1]
    return ALIKE.below(0, float(threshold)) > ALPHA


def one_threshold_by_class(rng: np.random.Generator) -> bool:
    """One threshold for all rows, read as a promise for every class."""
    sets = sets_of(UNLIKE, rng, 400, by_class=False)
    return bool((UNLIKE.truth(sets.rule)["misses"] > ALPHA).any())


def thresholds_as_if_fixed(rng: np.random.Generator) -> bool:
    """The error among single answers, counted on the rows that gave the thresholds as if these had been fixed."""
    from abnet.bounds import clopper_pearson_bound

    y = rng.integers(10, size=700)
    X = MANY.draw(rng, y)
    sets = abnet.prediction_sets(MANY, X, y, alpha=ALPHA, by_class=True, delta=DELTA)
    inside = sets.contains(X)
    is_single = inside.sum(axis=1) == 1
    errors = int((is_single & ~inside[np.arange(700), y]).sum())
    bound = clopper_pearson_bound(errors, max(int(is_single.sum()), 1), DELTA)
    return bool(MANY.truth(sets.rule)["error"] > bound)


def simulate() -> Iterator[Simulation]:
    """Every setting."""
    size: dict[str, Any] = {"delta": DELTA, "repetitions": REPETITIONS}
    yield repeated("400 rows in random order", all_rows, **size)
    yield repeated("400 rows sorted by label", lambda rng: all_rows(rng, "label"), **size)
    yield repeated("rounded probabilities", rounded, **size)
    yield repeated("5% unknown labels", unknown_labels, **size)
    yield repeated("four classes jointly", each_class, **size)
    yield repeated("average size", lambda rng: sizes(rng, SetSize, False), **size)
    yield repeated("share of single answers", lambda rng: sizes(rng, SingleAnswers, False), **size)
    yield repeated("error of single answers", lambda rng: sizes(rng, SingleAnswerError, False), **size)
    yield repeated("error of single answers, ten thresholds", lambda rng: sizes(rng, SingleAnswerError, True), **size)
    yield repeated("conformal quantile of an average", threshold_of_an_average, trap=True, **size)
    yield repeated("one threshold, read for every class", one_threshold_by_class, trap=True, **size)
    yield repeated("single answers, thresholds as if fixed", thresholds_as_if_fixed, trap=True, **size)
