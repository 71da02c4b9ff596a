"""Thresholds of kept paths against binomial sums, and worlds in which the paths do their worst."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from abnet.bounds import fixed_paths_threshold
from abnet.bounds import kept_paths_exact as kept
from broken_promise import breaks

PATHS = [1, 2, 3, 4, 5, 9, 25, 100]
SHARE = 0.05
Bound = Callable[..., float]


def mp_pmf(T: int, p: float) -> list[mpmath.mpf]:
    q = mpmath.mpf(p)
    return [mpmath.binomial(T, k) * q**k * (1 - q) ** (T - k) for k in range(T + 1)]


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("delta", [1e-6, 0.005, 0.3])
def test_sign_threshold_solves_its_equation(paths: int, delta: float) -> None:
    tau = kept.kept_signs_threshold(paths, delta)
    with mpmath.workdps(40):
        misled = mpmath.fsum(mp_pmf(paths, tau)[math.ceil(paths / 2) :])
    assert misled <= delta
    at_the_end_of_growth = tau == (math.ceil(paths / 2) - 1) / max(paths - 1, 1)
    assert misled >= delta * (1 - 1e-6) or at_the_end_of_growth


@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("delta", [1e-6, 0.005, 0.3])
def test_path_threshold_solves_its_equation(paths: int, delta: float) -> None:
    tau = kept.kept_paths_threshold(paths, delta)
    with mpmath.workdps(40):
        chances = mp_pmf(paths, tau)
        hinges = [
            mpmath.fsum((k - a) * chances[k] for k in range(a, paths + 1)) / (mpmath.mpf(paths) / 2 - a)
            for a in range(math.ceil(paths / 2))
        ]
    assert delta * (1 - 1e-5) <= min(hinges) <= delta


@pytest.mark.parametrize("paths", PATHS[3:])
def test_thresholds_are_in_order(paths: int) -> None:
    """Chernoff's is the smallest, the binomial tail's the largest; and a second order never has the larger one."""
    chernoff, hinge, tail = (
        threshold(paths, 0.005)
        for threshold in (fixed_paths_threshold, kept.kept_paths_threshold, kept.kept_signs_threshold)
    )
    assert chernoff < hinge < tail < 0.5
    assert kept.kept_paths_threshold(paths, 0.005, order=2) <= hinge
    assert kept.kept_signs_threshold(paths, 0.005, order=2) <= tail


def test_figures() -> None:
    assert 1 / fixed_paths_threshold(25, 0.005) == pytest.approx(4.85, abs=5e-3)
    assert 1 / kept.kept_signs_threshold(25, 0.005) == pytest.approx(3.84, abs=5e-3)
    assert 1 / kept.kept_paths_threshold(25, 0.005) == pytest.approx(4.25, abs=5e-3)
    assert 1 / fixed_paths_threshold(100, 0.005) == pytest.approx(2.93, abs=5e-3)
    assert 1 / kept.kept_signs_threshold(100, 0.005) == pytest.approx(2.71, abs=5e-3)
    assert 1 / kept.kept_paths_threshold(100, 0.005) == pytest.approx(2.79, abs=5e-3)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("paths", PATHS[2:])
def test_the_mislead_ratio_grows_up_to_the_threshold(order: int, paths: int) -> None:
    """g(p)/p^j must not be larger anywhere below τ than at τ; g in both forms by direct sums."""
    grid = np.linspace(1e-3, 1.0, 300)
    tau = kept.kept_signs_threshold(paths, 0.3, order=order)
    if tau > 0.0:
        tail = binom.sf(math.ceil(paths / 2) - 1, paths, tau * grid) / (tau * grid) ** order
        assert np.all(np.diff(tail) >= -1e-12 * tail[1:])


def misled(paths: int, p: np.ndarray, value: float) -> np.ndarray:
    """Probability that paths whose loss is ``value`` or 0, with the mean p, have a mean of 1/2 or more."""
    least = math.ceil(paths / 2 / value - 1e-12)
    return np.asarray(binom.sf(least - 1, paths, p / value))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("paths", PATHS)
@pytest.mark.parametrize("value", [0.5, 0.55, 0.625, 0.75, 1.0])
def test_no_kind_of_path_beats_the_bound(order: int, paths: int, value: float) -> None:
    """The worst dependence between examples is that one draw of the paths misleads on all of them or on none."""
    tau = kept.kept_paths_threshold(paths, SHARE, order=order)
    p = np.linspace(1e-4, min(0.4999, value), 400)
    promised = np.array([kept.kept_vote_bound(float(q**order), tau, order=order) for q in p])
    assert np.all((promised >= 1) | (misled(paths, p, value) <= SHARE))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("paths", PATHS)
def test_no_sign_paths_beat_the_binomial_bound(order: int, paths: int) -> None:
    tau = kept.kept_signs_threshold(paths, SHARE, order=order)
    p = np.linspace(1e-4, 0.4999, 1000)
    promised = np.array([kept.kept_vote_bound(float(q**order), tau, order=order) for q in p])
    assert np.all((promised >= 1) | (misled(paths, p, 1.0) <= SHARE))


def worst_excess(threshold: Bound) -> float:
    """How far the probability of being misled exceeds δ' where the bound promises something."""
    p = np.linspace(1e-3, 0.4, 200)
    excess = [
        np.where([kept.kept_vote_bound(float(x), tau) < 1 for x in p], misled(paths, p, value) - SHARE, -1.0).max()
        for paths in (3, 5, 7, 9)
        for tau in (threshold(paths, SHARE),)
        for value in (0.5, 0.51, 0.6, 0.75)
    ]
    return float(max(excess))


def test_binomial_tail_is_no_bound_for_paths_that_output_numbers() -> None:
    """The trap: losses of a half, which two signs could not have."""
    assert worst_excess(kept.kept_paths_threshold) <= 0.0
    assert worst_excess(kept.kept_signs_threshold) > 0.02


def test_promise_holds_over_draws_of_the_paths(rng: np.random.Generator) -> None:
    """Two kinds of examples: the share that kept paths get wrong exceeds r/τ in at most δ' of the draws."""
    p = np.repeat([0.0, 0.25], 50)
    draws = 1000
    paths = 5
    promised = kept.kept_vote_bound(float(p.mean()), kept.kept_signs_threshold(paths, SHARE))
    uniform = rng.random((draws, paths, 1))  # one number a path, shared by all examples
    wrong = ((uniform < p).mean(axis=1) >= 0.5).mean(axis=1)
    assert not breaks(int(np.sum(wrong > promised)), draws, SHARE)
    assert breaks(int(np.sum(wrong > 2 * p.mean())), draws, SHARE)  # the mutant: twice Gibbs, without the price


def test_few_paths_promise_nothing_and_many_nearly_twice_gibbs() -> None:
    assert kept.kept_vote_bound(0.01, kept.kept_signs_threshold(1, 0.005)) == 1.0
    for threshold in (kept.kept_paths_threshold, kept.kept_signs_threshold):
        assert kept.kept_vote_bound(0.01, threshold(2, 0.005, order=2), order=2) == 1.0
        assert 2.0 < kept.kept_vote_bound(0.01, threshold(10**6, 0.005)) / 0.01 < 2.01


def test_candidates_share_delta() -> None:
    assert kept.kept_paths_threshold(30, 0.05, n_candidates=10) == kept.kept_paths_threshold(30, 0.005)
    assert kept.kept_signs_threshold(30, 0.05, n_candidates=10) == kept.kept_signs_threshold(30, 0.005)


@pytest.mark.parametrize("threshold", [kept.kept_paths_threshold, kept.kept_signs_threshold])
def test_arguments_are_checked(threshold: Bound) -> None:
    for arguments in ({"n_paths": 0}, {"delta_prime": 1.0}, {"order": 3}, {"n_candidates": 0}):
        with pytest.raises(ValueError, match=f"^{next(iter(arguments))}"):
            threshold(**{"n_paths": 5, "delta_prime": 0.05, **arguments})
