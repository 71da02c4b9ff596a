"""Votes of paths that are drawn once and kept: the threshold against its definition, the promise in simulation."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from abnet import bounds
from broken_promise import breaks


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
    bound: Callable[[float, int, float], float] = bounds.fixed_paths_tandem_bound
    if order == 1:
        bound = bounds.fixed_paths_vote_bound
    promised = np.array([bound(float(q**order), paths, delta) for q in p])
    misled = binom.sf(math.ceil(paths / 2) - 1, paths, p)  # the vote of Bernoulli paths, ties counted as errors
    assert np.all((promised >= 1) | (misled <= delta))


@pytest.mark.parametrize("delta_prime", [0.05, 0.3])
def test_promise_holds_over_draws_of_the_paths(delta_prime: float) -> None:
    """The share of examples that kept paths get wrong exceeds r/τ in at most δ' of the draws."""
    rng = np.random.default_rng(5)
    p = 0.5 * rng.beta(0.3, 1.0, 300)
    draws = 500
    paths = 15
    failures = 0
    promised = bounds.fixed_paths_vote_bound(float(p.mean()), paths, delta_prime)
    for _ in range(draws):
        wrong = (rng.random((paths, 1)) < p).mean(axis=0) >= 0.5  # one number a path, shared by all examples
        failures += wrong.mean() > promised
    assert not breaks(failures, draws, delta_prime)


def test_few_paths_promise_nothing_and_many_nearly_twice_gibbs() -> None:
    assert bounds.fixed_paths_vote_bound(0.01, 2, 0.005) == 1.0
    assert bounds.fixed_paths_tandem_bound(0.01, 4, 0.005) == 1.0
    assert 2.0 < bounds.fixed_paths_vote_bound(0.01, 10**6, 0.005) / 0.01 < 2.01
