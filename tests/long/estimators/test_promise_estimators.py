"""The promise kept by the estimators over hundreds of samples, for each kind of certificate, after a choice too."""

from typing import Any

import numpy as np
import pytest

from abnet.estimators.search import ABNetSearch
from estimators.worlds import (
    KINDS,
    MIXTURES,
    NOISE,
    OVERFIT,
    PROMISES,
    SIGNAL,
    World,
    broken_promises,
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
