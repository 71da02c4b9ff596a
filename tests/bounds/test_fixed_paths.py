"""Votes of paths that are drawn once and kept: the threshold against its definition, the promise in simulation."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from abnet import bounds
from abnet.bounds import SampledRisk, verify_certificate


@pytest.mark.parametrize("paths", [3, 20, 100, 10_000])
@pytest.mark.parametrize("delta", [1e-6, 0.005, 0.3])
def test_threshold_solves_its_equation(paths: int, delta: float) -> None:
    with mpmath.workdps(40):
        tau = mpmath.mpf(bounds.fixed_paths_threshold(paths, delta))
        misled = (4 * tau * (1 - tau)) ** (mpmath.mpf(paths) / 2)
    assert delta * (1 - 1e-6) <= misled <= delta


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("paths", [5, 9, 30, 101])
def test_a_world_of_two_kinds_of_examples_never_beats_the_bound(order: int, paths: int) -> None:
    """Examples of one loss p: whatever p, the paths mislead on more than r/τ of them with probability at most δ'.

    The worst dependence between examples is that one draw of the paths misleads on all of them or on none.
    """
    delta = 0.05
    p = np.linspace(1e-4, 0.4999, 4000)
    bound = bounds.fixed_paths_vote_bound if order == 1 else bounds.fixed_paths_tandem_bound
    promised = np.array([bound(float(q**order), paths, delta) for q in p])
    misled = binom.sf(math.ceil(paths / 2) - 1, paths, p)  # the vote of Bernoulli paths, ties counted as errors
    assert np.all((promised >= 1) | (misled <= delta))


@pytest.mark.parametrize("delta_prime", [0.05, 0.3])
def test_promise_holds_over_draws_of_the_paths(delta_prime: float) -> None:
    """The share of examples that kept paths get wrong exceeds r/τ in at most δ' of the draws."""
    rng = np.random.default_rng(5)
    p = 0.5 * rng.beta(0.3, 1.0, 300)
    failures, draws, paths = 0, 400, 15
    promised = bounds.fixed_paths_vote_bound(float(p.mean()), paths, delta_prime)
    for _ in range(draws):
        wrong = (rng.random((paths, 1)) < p).mean(axis=0) >= 0.5  # one number a path, shared by all examples
        failures += wrong.mean() > promised
    assert binom.sf(failures - 1, draws, delta_prime) > 1e-3


def test_few_paths_promise_nothing_and_many_nearly_twice_gibbs() -> None:
    assert bounds.fixed_paths_vote_bound(0.01, 2, 0.005) == 1.0
    assert bounds.fixed_paths_tandem_bound(0.01, 4, 0.005) == 1.0
    assert 2.0 < bounds.fixed_paths_vote_bound(0.01, 10**6, 0.005) / 0.01 < 2.01


def test_certificate_names_it_apart_and_verifies() -> None:
    sampled = SampledRisk(0.02, 0.004, n_examples=5000, n_paths=20)
    terms = {"delta": 0.05, "prior": "split"}
    fixed = bounds.certify_trained_sampled(sampled, 5.0, vote="fixed paths", vote_paths=1000, **terms)  # type: ignore[arg-type]
    ideal = bounds.certify_trained_sampled(sampled, 5.0, vote="expectation", **terms)  # type: ignore[arg-type]
    assert fixed.vote_method is not None
    assert fixed.vote_method.endswith(", fixed paths")
    assert fixed.gibbs_risk_bound == ideal.gibbs_risk_bound
    assert ideal.vote_error_bound is not None
    assert fixed.vote_error_bound is not None
    assert 1.0 < fixed.vote_error_bound / ideal.vote_error_bound < 1.3
    verify_certificate(fixed)
    assert bounds.Certificate.from_dict(fixed.to_dict()) == fixed
    assert "1,000 sampled paths" in str(fixed)
    with pytest.raises(ValueError, match="does not follow"):
        verify_certificate(replace(fixed, vote_error_bound=0.03, twice_gibbs_bound=0.03, tandem_bound=0.03))


def test_number_of_paths_goes_with_fixed_paths_only() -> None:
    sampled = SampledRisk(0.02, 0.004, n_examples=50, n_paths=2)
    for vote, paths in (("fixed paths", None), ("expectation", 10)):
        with pytest.raises(ValueError, match="vote_paths"):
            bounds.certify_trained_sampled(sampled, 1.0, delta=0.05, prior="init", vote=vote, vote_paths=paths)
