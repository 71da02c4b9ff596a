"""Worlds of finitely many inputs, where the true risk of a fitted classifier is a sum."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

import abnet
from abnet.estimators.search import ABNetSearch
from abnet.model.predictors.compact import Compact

DELTA = 0.2
N = 80
POINTS = np.random.default_rng(2024).choice([-1.0, 1.0], size=(512, 20))
Array = NDArray[np.float64]


class World:
    """512 equally frequent inputs, the label 1 at each with probability ``chances``."""

    def __init__(self, chances: Array) -> None:
        self.chances = chances

    def draw(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.int_]]:
        where = rng.integers(len(POINTS), size=N)
        return POINTS[where], (rng.random(N) < self.chances[where]).astype(int)

    def gibbs_risk(self, F: Array) -> float:
        wrong = (1 - F) / 2  # for the label 1
        return float(np.mean(self.chances * wrong + (1 - self.chances) * (1 - wrong)))

    def vote_error(self, F: Array) -> float:
        return self.gibbs_risk(votes(F))

    def class_errors(self, F: Array) -> tuple[float, float]:
        """Errors of the vote among the examples of either class, that of the label 0 first."""
        wrong = (1 - votes(F)) / 2
        negative = 1 - self.chances
        positive = self.chances
        return float(np.average(1 - wrong, weights=negative)), float(np.average(wrong, weights=positive))


class FourClasses:
    """512 equally frequent inputs, each of four labels at each of them with its chance."""

    def __init__(self, chances: Array) -> None:
        self.chances = chances

    def draw(self, rng: np.random.Generator, n: int = N) -> tuple[Array, NDArray[np.int_]]:
        where = rng.integers(len(POINTS), size=n)
        drawn = (rng.random(n)[:, None] > self.chances[where].cumsum(axis=1)[:, :3]).sum(axis=1)
        return POINTS[where], drawn

    def gibbs_risk(self, P: Array) -> float:
        """Of class probabilities P (512, 4)."""
        return float(1 - np.mean(np.sum(self.chances * P, axis=1)))

    def vote_error(self, P: Array) -> float:
        return self.gibbs_risk(np.eye(4)[P.argmax(axis=1)])

    def class_errors(self, P: Array) -> Array:
        """Errors of the vote among the examples of each class."""
        right = np.eye(4)[P.argmax(axis=1)]
        return np.asarray(1 - np.sum(self.chances * right, axis=0) / self.chances.sum(axis=0))


_QUARTER = 2 * (POINTS[:, 0] > 0) + (POINTS[:, 1:4].sum(axis=1) > 0)
FOUR = {
    "noise": FourClasses(np.full((512, 4), 0.25)),
    "signal": FourClasses(0.9 * np.eye(4)[_QUARTER] + 0.025),
    "rare": FourClasses(np.tile([0.7, 0.2, 0.08, 0.02], (512, 1))),
}


def votes(F: Array) -> Array:
    return np.where(F >= 0, 1.0, -1.0)


NOISE = World(np.full(512, 0.5))
SIGNAL = World(np.where(POINTS[:, :3].sum(axis=1) > 0, 0.9, 0.1))
WORLDS = {"noise": NOISE, "signal": SIGNAL}

SMALL: dict[str, Any] = {"posterior": "train", "hidden_layer_sizes": (2,), "max_iter": 8, "delta": DELTA}
KINDS: dict[str, dict[str, Any]] = {
    "split, train": {"learning_rate_init": 0.1},
    "split, frozen": {"posterior": "frozen"},
    "init": {"prior": "init", "learning_rate_init": 0.1},
    "loss": {"objective": "loss", "learning_rate_init": 0.3},
}

MIXTURES: dict[str, dict[str, Any]] = {
    "mixture": {"n_estimators": 3},
    "taught mixture": {"n_estimators": 2, "teacher": "linear"},
}
OVERFIT: dict[str, Any] = {
    "objective": "loss", "learning_rate_init": 0.3, "max_iter": 40, "n_iter_no_change": 40, "validation_fraction": 0.01
}  # fmt: skip
"""One validation row: half of the time it asks for as much fitting as there is to be had."""


def classifier(seed: int, **settings: Any) -> Any:
    return abnet.ABNetClassifier(**{**SMALL, "random_state": seed, **settings})


def certified(seed: int, **settings: Any) -> Any:
    return abnet.CertifiedClassifier(
        **{"hidden_layer_sizes": (2,), "max_iter": 8, "delta": DELTA, "random_state": seed, **settings}
    )


def repetition(world: World, seed: int, **settings: Any) -> Any:
    """A classifier fitted to a fresh sample: a mixture if the settings say of how many networks."""
    make = classifier
    if "n_estimators" in settings:
        make = certified
    return make(seed, **settings).fit(*world.draw(np.random.default_rng([seed, 5])))


def broken_promises(world: World, fitted: Any) -> NDArray[np.int_]:
    """Which bounds of a fitted classifier or search lie below the truth, as 0 or 1, in the order of `PROMISES`."""
    c = fitted.certificate_
    drawn = fitted.draw_network()
    chosen = fitted
    if isinstance(fitted, ABNetSearch):
        chosen = fitted.best_estimator_
    members = getattr(chosen, "networks_", (chosen.network_,))
    exact = np.mean([Compact.from_networks([network]).scores(POINTS) for network in members], axis=0)
    F = fitted.decision_function(POINTS)
    h = drawn.decision_function(POINTS)
    vote = world.vote_error(F)
    classes = zip(c.per_class, world.class_errors(F), strict=True)
    broken = [
        c.gibbs_risk_bound < world.gibbs_risk(exact),
        c.vote_error_bound < vote,
        any(part.vote_error_bound < error for part, error in classes),
        drawn.certificate.vote_error_bound < world.vote_error(h),
    ]
    return np.array(broken).astype(int)


PROMISES = ("Gibbs", "vote", "both classes", "drawn network")


def count(repetitions: int, broken: Callable[[int], Any]) -> Any:
    """Sum of what is broken over repetitions with different seeds."""
    return sum(np.asarray(broken(seed), dtype=int) for seed in range(repetitions))


def seed_search(seed: int, n_seeds: int) -> ABNetSearch:
    """A choice among frozen networks with different parts and starts."""
    seeds = [1000 * (seed + 1) + i for i in range(n_seeds)]
    return ABNetSearch(classifier(0, posterior="frozen", max_iter=2), {"random_state": seeds})


class Memoriser(TransformerMixin, BaseEstimator):
    """Puts the label of every row that it was fitted on in the row's place, and leaves other rows as they are."""

    def fit(self, X: Any, y: Any) -> "Memoriser":
        signs = np.where(y == np.max(y), 1.0, -1.0)
        self.known_ = {row.tobytes(): sign for row, sign in zip(np.asarray(X), signs, strict=True)}
        return self

    def transform(self, X: Any) -> Array:
        rows = np.array(X, np.float64)
        for i, row in enumerate(np.asarray(X)):
            rows[i] = self.known_.get(row.tobytes(), rows[i])
        return rows
