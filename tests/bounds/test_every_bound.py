"""What every bound has in common, over a registry of all of them."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds

Bound = Callable[[int, float, int, float, int], float]


# Each takes errors, divergence, number of examples, δ and the number of candidates.
REGISTRY: dict[str, Bound] = {
    "gibbs_bound": lambda k, kl, n, d, K: bounds.gibbs_bound(k / n, kl, n, d, n_candidates=K),
    "loss_bound": lambda k, kl, n, d, K: bounds.loss_bound([1] * k + [0] * (n - k), kl, d, n_candidates=K),
    "gibbs_bound_frozen": lambda k, kl, n, d, K: bounds.gibbs_bound_frozen(k / n, n, d, n_candidates=K),
    "twice_gibbs_bound": lambda k, kl, n, d, K: bounds.twice_gibbs_bound(k / n, kl, n, d, n_candidates=K),
    "tandem_bound": lambda k, kl, n, d, K: bounds.tandem_bound(k / n, kl, n, d, n_candidates=K),
    "vote_bound": lambda k, kl, n, d, K: bounds.vote_bound(k / n, k / n, kl, n, d, n_candidates=K),
    "clopper_pearson_bound": lambda k, kl, n, d, K: bounds.clopper_pearson_bound(k, n, d, n_candidates=K),
    "single_network_bound": lambda k, kl, n, d, K: bounds.single_network_bound(k / n, kl, n, d, n_candidates=K),
    "sampled_risk_bound": lambda k, kl, n, d, K: bounds.sampled_risk_bound(k / n, n, d, n_candidates=K),
    "fixed_paths_vote_bound": lambda k, kl, n, d, K: bounds.fixed_paths_vote_bound(k / n, n, d, n_candidates=K),
    "fixed_paths_tandem_bound": lambda k, kl, n, d, K: bounds.fixed_paths_tandem_bound(k / n, n, d, n_candidates=K),
    "c_bound": lambda k, kl, n, d, K: bounds.c_bound(k / n, 0.0, kl, n, d, n_candidates=K),
    "mu_tandem_bound": lambda k, kl, n, d, K: bounds.mu_tandem_bound(k / n, k / n, kl, n, d, n_candidates=K),
    "catoni_bound": lambda k, kl, n, d, K: bounds.catoni_bound(k / n, kl, n, d / K),
    "catoni_bound at C": lambda k, kl, n, d, K: bounds.catoni_bound(k / n, kl, n, d / K, 0.8),
}
each_bound = pytest.mark.parametrize("bound", REGISTRY.values(), ids=REGISTRY.keys())
arguments = st.integers(1, 300).flatmap(
    lambda n: st.tuples(
        st.integers(0, n),
        st.one_of(st.just(0.0), st.floats(0.0, 300.0)),
        st.just(n),
        st.floats(1e-9, 0.999),
        st.integers(1, 20),
    )
)
draws = settings(max_examples=25, deadline=None, derandomize=True)
SLACK = 1.0 + 1e-12


def test_registry_has_every_bound() -> None:
    names = {name for name in bounds.__all__ if "_bound" in name}
    assert names <= set(REGISTRY)


@each_bound
@draws
@given(arguments)
def test_bound_lies_between_the_observed_rate_and_one(bound: Bound, a: tuple[int, float, int, float, int]) -> None:
    assert a[0] / a[2] <= bound(*a) <= 1.0


@each_bound
@draws
@given(arguments, st.floats(0.0, 50.0), st.floats(0.01, 1.0), st.integers(2, 9))
def test_bound_is_monotone(
    bound: Bound, a: tuple[int, float, int, float, int], more: float, share: float, times: int
) -> None:
    k, kl, n, delta, candidates = a
    value = bound(*a)
    assert bound(k, kl + more, n, delta, candidates) * SLACK >= value
    assert bound(min(n, k + 1), kl, n, delta, candidates) * SLACK >= value
    assert bound(k, kl, n, delta * share, candidates) * SLACK >= value
    assert bound(k, kl, n, delta, candidates + 1) * SLACK >= value
    assert bound(times * k, kl, times * n, delta, candidates) <= value * SLACK


@each_bound
@draws
@given(arguments)
def test_candidates_cost_what_a_smaller_delta_costs(bound: Bound, a: tuple[int, float, int, float, int]) -> None:
    k, kl, n, delta, candidates = a
    assert bound(*a) == pytest.approx(bound(k, kl, n, delta / candidates, 1), rel=1e-9)


@each_bound
@pytest.mark.parametrize("kl", [0.0, 1e12, math.inf])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 10**8), (10**8, 10**8), (17, 10**7)])
def test_bound_survives_extreme_arguments(bound: Bound, k: int, n: int, kl: float) -> None:
    if bound is REGISTRY["loss_bound"] and n > 10**6:
        pytest.skip("this bound takes an array of n losses")
    value = bound(k, kl, n, 1e-300, 1)
    assert k / n <= value <= 1.0


@each_bound
@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan, math.inf])
def test_bound_refuses_a_wrong_delta(bound: Bound, delta: float) -> None:
    with pytest.raises(ValueError, match=r"^delta"):
        bound(1, 1.0, 10, delta, 1)


@each_bound
def test_bound_refuses_no_examples_and_no_candidates(bound: Bound) -> None:
    with pytest.raises((ValueError, ZeroDivisionError)):
        bound(0, 1.0, 0, 0.05, 1)
    with pytest.raises((ValueError, ZeroDivisionError)):
        bound(1, 1.0, 10, 0.05, 0)


@pytest.mark.parametrize("name", ["gibbs_bound", "twice_gibbs_bound", "tandem_bound", "catoni_bound"])
@pytest.mark.parametrize(
    ("risk", "kl", "n"), [(math.nan, 1.0, 9), (-0.1, 1.0, 9), (0.1, -1.0, 9), (0.1, math.nan, 9), (0.1, 1.0, 9.0)]
)
def test_bound_refuses_what_is_out_of_range(name: str, risk: float, kl: float, n: int) -> None:
    with pytest.raises(ValueError, match="must"):
        getattr(bounds, name)(risk, kl, n, 0.05)


@pytest.mark.parametrize("name", ["gibbs_bound", "twice_gibbs_bound", "tandem_bound", "catoni_bound"])
def test_bound_over_a_grid_is_the_bound_at_every_place(name: str) -> None:
    bound = getattr(bounds, name)
    risks = np.array([0.0, 0.1, 0.5])
    kls = np.array([[0.0], [7.0]])
    n = np.array([50, 60, 70])
    grid = bound(risks, kls, n, 0.05)
    assert grid.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        assert grid[i, j] == bound(float(risks[j]), float(kls[i, 0]), int(n[j]), 0.05)
    with pytest.raises(ValueError, match=r"risk|tandem"):
        bound(np.array([0.1, 1.5]), 1.0, 50)


def test_clopper_pearson_over_a_grid() -> None:
    grid = bounds.clopper_pearson_bound(np.arange(4), 10, delta=np.array([0.05, 0.1, 0.05, 0.1]))
    assert grid.tolist() == [bounds.clopper_pearson_bound(k, 10, (0.05, 0.1)[k % 2]) for k in range(4)]
