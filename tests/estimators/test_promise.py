"""The promise kept, from raw rows to the certificate: it fails at most a δ share of the time, and a mutant does not.

The true risk is known exactly (`estimators.worlds`). Longer runs are in the long tests.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from abnet import bounds
from estimators.worlds import (
    DELTA,
    KINDS,
    MIXTURES,
    NOISE,
    OVERFIT,
    PROMISES,
    SIGNAL,
    Memoriser,
    World,
    broken_promises,
    classifier,
    count,
    repetition,
    seed_search,
    surely_more_than_delta,
)

REPETITIONS = 30
FEWER = 20


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("world", [NOISE, SIGNAL], ids=["noise", "signal"])
def test_certificates_keep_their_promise(world: World, settings: dict[str, Any]) -> None:
    failures = count(REPETITIONS, lambda seed: broken_promises(world, repetition(world, seed, **settings)))
    for promise, broken in zip(PROMISES, failures, strict=True):
        assert not surely_more_than_delta(int(broken), REPETITIONS), promise


@pytest.mark.parametrize("name", ["mixture", "taught mixture"])
def test_mixtures_keep_their_promise(name: str) -> None:
    failures = count(FEWER, lambda seed: broken_promises(NOISE, repetition(NOISE, seed, **MIXTURES[name])))
    for promise, broken in zip(PROMISES, failures, strict=True):
        assert not surely_more_than_delta(int(broken), FEWER), promise


@cache
def overfitted(seed: int) -> Any:
    return repetition(NOISE, seed, **OVERFIT)


def test_overfitting_is_paid_for_by_the_divergence() -> None:
    failures = count(REPETITIONS, lambda seed: broken_promises(NOISE, overfitted(seed)))
    assert not any(surely_more_than_delta(int(broken), REPETITIONS) for broken in failures)


def test_mutant_without_the_divergence_breaks_the_promise() -> None:
    def broken(seed: int) -> list[bool]:
        c, drawn = overfitted(seed).certificate_, overfitted(seed).draw_network().certificate
        gibbs = bounds.gibbs_bound(c.empirical_gibbs_risk, 0.0, c.facts.n_rows, DELTA)
        single = bounds.single_network_bound(drawn.empirical_error, 0.0, c.facts.n_rows, DELTA)
        return [gibbs < 0.5, single < 0.5]

    for failures in count(REPETITIONS, broken):
        assert surely_more_than_delta(int(failures), REPETITIONS)


@pytest.mark.parametrize(
    "settings",
    [{"posterior": "frozen"}, {"prior": "init", "learning_rate_init": 1e-4, "max_iter": 1}],
    ids=["frozen", "trained"],
)
def test_mutant_without_the_logarithm_breaks_the_promise(settings: dict[str, Any]) -> None:
    def broken(seed: int) -> bool:
        c = repetition(NOISE, seed, **settings).certificate_
        return bounds.kl_inverse_upper(c.empirical_gibbs_risk, c.facts.kl / c.facts.n_rows) < 0.5

    assert surely_more_than_delta(int(count(REPETITIONS, broken)), REPETITIONS)


def test_a_choice_is_safe_only_if_paid_for() -> None:
    def broken(seed: int) -> list[bool]:
        c = seed_search(seed, 6).fit(*NOISE.draw(np.random.default_rng([seed, 5]))).certificate_
        assert c is not None
        unpaid = bounds.clopper_pearson_bound(sum(c.facts.class_errors), c.facts.n_rows, DELTA)
        return [(c.vote_error_bound or 0.0) < 0.5, unpaid < 0.5]

    paid, unpaid = count(FEWER, broken)
    assert not surely_more_than_delta(int(paid), FEWER)
    assert surely_more_than_delta(int(unpaid), FEWER)


@pytest.mark.filterwarnings("ignore:The training rows hold only")
def test_a_preparation_that_saw_the_bound_rows_voids_the_certificate() -> None:
    def broken(seed: int) -> list[bool]:
        X, y = NOISE.draw(np.random.default_rng([seed, 5]))
        outside = make_pipeline(Memoriser(), classifier(seed, max_iter=20)).fit(X, y)[-1]
        inside = classifier(seed, max_iter=20, preprocessor=Memoriser()).fit(X, y)
        return [certified.certificate_.gibbs_risk_bound < 0.5 for certified in (outside, inside)]

    outside, inside = count(FEWER, broken)
    assert surely_more_than_delta(int(outside), FEWER)
    assert not surely_more_than_delta(int(inside), FEWER)
