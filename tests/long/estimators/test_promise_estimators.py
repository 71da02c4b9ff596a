"""The promise kept by the estimators over hundreds of samples, for each kind of certificate, after a choice too."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from abnet import bounds
from abnet.estimators.search import ABNetSearch
from abnet.model.predictors.compact import Compact
from broken_promise import breaks
from estimators.worlds import (
    DELTA,
    KINDS,
    MIXTURES,
    NOISE,
    OVERFIT,
    POINTS,
    PROMISES,
    SIGNAL,
    Memoriser,
    World,
    broken_promises,
    certified,
    classifier,
    count,
    repetition,
    seed_search,
)
from promised import promised

REPETITIONS = 200
SEARCHES = 200
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
        assert not breaks(int(broken), repetitions, DELTA), promise


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


def test_a_choice_among_frozen_networks_that_is_not_paid_for_breaks_the_promise() -> None:
    def broken(seed: int) -> bool:
        facts = promised(seed_search(seed, 6).fit(*NOISE.draw(np.random.default_rng([seed, 5])))).facts
        return bounds.clopper_pearson_bound(sum(facts.class_errors), facts.n_rows, DELTA) < 0.5

    assert breaks(int(count(SEARCHES, broken)), SEARCHES, DELTA)


@pytest.mark.filterwarnings("ignore:The training rows hold only")
def test_a_preparation_that_saw_the_bound_rows_voids_the_certificate() -> None:
    def broken(seed: int) -> list[bool]:
        X, y = NOISE.draw(np.random.default_rng([seed, 5]))
        outside = make_pipeline(Memoriser(), classifier(seed, max_iter=20)).fit(X, y)[-1]
        inside = classifier(seed, max_iter=20, preprocessor=Memoriser()).fit(X, y)
        return [fitted.certificate_.gibbs_risk_bound < 0.5 for fitted in (outside, inside)]

    outside, inside = count(SEARCHES, broken)
    assert breaks(int(outside), SEARCHES, DELTA)
    assert not breaks(int(inside), SEARCHES, DELTA)


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
    groups = None
    if grouped:
        groups = np.repeat(np.arange(len(y) // COPIES), COPIES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rows look like copies
        make = classifier
        if "teacher" in settings:
            make = certified
        fitted = make(seed, **settings).fit(X, y, groups=groups)
    networks = getattr(fitted, "networks_", (fitted.network_,))
    exact = np.mean([Compact.from_networks([network]).scores(POINTS) for network in networks], axis=0)
    c = fitted.certificate_
    vote = world.vote_error(fitted.decision_function(POINTS))
    return np.array([c.gibbs_risk_bound < world.gibbs_risk(exact), c.vote_error_bound < vote]).astype(int)


@worlds
@pytest.mark.parametrize("settings", GROUP_KINDS.values(), ids=GROUP_KINDS.keys())
def test_certificates_about_new_groups(world: World, settings: dict[str, Any]) -> None:
    failures = count(REPETITIONS, lambda seed: broken_on_groups(world, seed, True, **settings))
    print(dict(zip(("Gibbs", "vote"), failures.tolist(), strict=True)), REPETITIONS)
    assert not any(breaks(int(broken), REPETITIONS, DELTA) for broken in failures)


def test_rows_of_groups_taken_for_independent_rows_break_the_promise() -> None:
    """The twin: whoever leaves the groups out gets copies of bound rows into the first part, and counts them."""
    failures = count(REPETITIONS, lambda seed: broken_on_groups(NOISE, seed, False, posterior="frozen"))
    assert breaks(int(failures[1]), REPETITIONS, DELTA)
