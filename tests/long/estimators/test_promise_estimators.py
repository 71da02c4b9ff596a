"""The promise kept by the estimators over hundreds of samples, for each kind of certificate, after a choice too."""

import warnings
from typing import Any

import numpy as np
import pytest

from abnet.estimators.search import ABNetSearch
from abnet.model.predictors.compact import Compact
from estimators.worlds import (
    KINDS,
    MIXTURES,
    NOISE,
    OVERFIT,
    POINTS,
    PROMISES,
    SIGNAL,
    World,
    broken_promises,
    certified,
    classifier,
    count,
    repetition,
    seed_search,
    surely_more_than_delta,
)

REPETITIONS = 400
SEARCHES = 300
LONG = {
    **KINDS,
    "ancestral": {"aggregation": "ancestral", "learning_rate_init": 0.1},
    "overfitted": OVERFIT,
    **MIXTURES,
}

worlds = pytest.mark.parametrize("world", [NOISE, SIGNAL], ids=["noise", "signal"])


def assert_kept(failures: Any, repetitions: int) -> None:
    print({promise: f"{int(broken)}/{repetitions}" for promise, broken in zip(PROMISES, failures, strict=True)})
    for promise, broken in zip(PROMISES, failures, strict=True):
        assert not surely_more_than_delta(int(broken), repetitions), promise


@worlds
@pytest.mark.parametrize("settings", LONG.values(), ids=LONG.keys())
def test_certificates_keep_their_promise(world: World, settings: dict[str, Any]) -> None:
    assert_kept(
        count(REPETITIONS, lambda seed: broken_promises(world, repetition(world, seed, **settings))), REPETITIONS
    )


def searched(world: World, search: ABNetSearch, seed: int) -> Any:
    return broken_promises(world, search.fit(*world.draw(np.random.default_rng([seed, 5]))))


@worlds
def test_promises_hold_after_a_choice_among_frozen_networks(world: World) -> None:
    assert_kept(count(SEARCHES, lambda seed: searched(world, seed_search(seed, 6), seed)), SEARCHES)


@worlds
def test_promises_hold_after_a_choice_among_posteriors_of_several_priors(world: World) -> None:
    grid = {"learning_rate_init": [0.3, 0.03], "prior_fraction": [0.3, 0.5, 0.7]}
    assert_kept(count(SEARCHES, lambda seed: searched(world, ABNetSearch(classifier(seed), grid), seed)), SEARCHES)


@worlds
def test_promises_hold_after_a_choice_that_costs_nothing(world: World) -> None:
    grid = {"learning_rate_init": [0.3, 0.1, 0.03], "max_iter": [4, 8]}
    search = classifier(0, prior="init")

    def broken(seed: int) -> Any:
        return searched(world, ABNetSearch(search.set_params(random_state=seed), grid), seed)

    assert_kept(count(SEARCHES, broken), SEARCHES)


COPIES = 4
GROUP_KINDS: dict[str, dict[str, Any]] = {
    "split, train": KINDS["split, train"],
    "split, frozen": KINDS["split, frozen"],
    "init": KINDS["init"],
    "ancestral": {"aggregation": "ancestral", "learning_rate_init": 0.1},
    "taught mixture": {"n_estimators": 2, "teacher": "linear", "max_iter": 2},
}


def broken_on_groups(world: World, seed: int, grouped: bool, **settings: Any) -> Any:
    """Every row comes with three copies of itself: groups, whose error is that of a row. Gibbs and vote."""
    X, y = (np.repeat(part, COPIES, axis=0) for part in world.draw(np.random.default_rng([seed, 6])))
    groups = np.repeat(np.arange(len(y) // COPIES), COPIES) if grouped else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rows look like copies
        make = certified if "teacher" in settings else classifier
        fitted = make(seed, **settings).fit(X, y, groups=groups)
    networks = getattr(fitted, "networks_", (fitted.network_,))
    exact = np.mean([Compact.from_networks([network]).scores(POINTS) for network in networks], axis=0)
    c = fitted.certificate_
    vote = world.vote_error(fitted.decision_function(POINTS))
    return np.array([c.gibbs_risk_bound < world.gibbs_risk(exact), c.vote_error_bound < vote]).astype(int)


@worlds
@pytest.mark.parametrize("settings", GROUP_KINDS.values(), ids=GROUP_KINDS.keys())
def test_certificates_about_new_groups(world: World, settings: dict[str, Any]) -> None:
    repetitions = REPETITIONS // 4 if "teacher" in settings else REPETITIONS  # a taught mixture takes seconds
    failures = count(repetitions, lambda seed: broken_on_groups(world, seed, True, **settings))
    print(dict(zip(("Gibbs", "vote"), failures.tolist(), strict=True)), repetitions)
    assert not any(surely_more_than_delta(int(broken), repetitions) for broken in failures)


def test_rows_of_groups_taken_for_independent_rows_break_the_promise() -> None:
    """The twin: whoever leaves the groups out gets copies of bound rows into the first part, and counts them."""
    failures = count(REPETITIONS, lambda seed: broken_on_groups(NOISE, seed, False, posterior="frozen"))
    assert surely_more_than_delta(int(failures[1]), REPETITIONS)
