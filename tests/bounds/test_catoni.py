"""Catoni's bound and the training objective against mpmath."""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from abnet.bounds import catoni_bound, catoni_objective, gibbs_bound, kl_inverse_upper

CASES = [
    (0.1, 20.0, 1000, 0.05, 0.3),
    (0.0, 0.0, 1, 0.5, 0.0),
    (0.0, 3.0, 10_000_000, 1e-6, -9.0),
    (1.0, 1e6, 500, 0.05, 4.0),
    (0.5, 1e-3, 30, 0.05, 20.0),
    (0.25, 40.0, 3000, 0.01, -20.0),
]


def mp_catoni(risk: mpmath.mpf, kl: mpmath.mpf, n: mpmath.mpf, delta: mpmath.mpf, log_c: mpmath.mpf) -> mpmath.mpf:
    c = mpmath.exp(log_c)
    complexity = (kl + mpmath.log(2 * mpmath.sqrt(n) / mpmath.mpf(delta))) / n
    return (1 - mpmath.exp(-c * risk - complexity)) / (1 - mpmath.exp(-c))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.floats(0, 1), st.floats(0, 1e4), st.integers(1, 10**7), st.floats(1e-9, 0.999), st.floats(-15, 15))
def test_bound_is_not_below_the_theorem(risk: float, kl: float, n: int, delta: float, log_c: float) -> None:
    C = math.exp(log_c)
    with mpmath.workdps(50):
        true = min(mpmath.mpf(1), mp_catoni(risk, kl, n, delta, mpmath.log(mpmath.mpf(C))))
    bound = catoni_bound(risk, kl, n, delta, C)
    assert true <= bound <= max(risk, float(true) * (1 + 1e-13))
    assert catoni_bound(risk, kl, n, delta) <= bound + 1e-12


@pytest.mark.parametrize(("risk", "kl", "n"), [(0.1, 20.0, 1000), (0.4, 1.0, 50), (1e-3, 0.0, 10**5)])
def test_best_c_gives_the_kl_form_with_two_root_n(risk: float, kl: float, n: int) -> None:
    best = minimize_scalar(
        lambda log_c: float(mp_catoni(risk, kl, n, 0.05, log_c)), bounds=(-9, 9), method="bounded"
    ).fun
    inverse = kl_inverse_upper(risk, (kl + math.log(2 * math.sqrt(n) / 0.05)) / n)
    assert catoni_bound(risk, kl, n) == pytest.approx(inverse, rel=1e-12)
    assert catoni_bound(risk, kl, n) == pytest.approx(best, rel=1e-8)
    assert gibbs_bound(risk, kl, n) < inverse


@pytest.mark.parametrize("C", [0.0, -1.0, math.inf, math.nan])
def test_bound_refuses_a_c_that_is_not_positive(C: float) -> None:
    with pytest.raises(ValueError, match=r"^C"):
        catoni_bound(0.1, 1.0, 100, 0.05, C)


@pytest.mark.parametrize("case", CASES)
def test_objective_is_the_formula_in_float32(case: tuple[float, float, int, float, float]) -> None:
    value = catoni_objective(*(jnp.float32(x) for x in case))
    assert value.dtype == jnp.float32
    with mpmath.workdps(40):
        assert float(value) == pytest.approx(float(mp_catoni(*case)), rel=5e-6)


def test_objective_is_not_clipped() -> None:
    assert catoni_objective(0.9, 1e4, 100, 0.05, -2.0) > 5.0


@pytest.mark.parametrize("case", CASES)
def test_gradient_is_that_of_the_formula(case: tuple[float, float, int, float, float]) -> None:
    gradient = jax.grad(catoni_objective, argnums=(0, 1, 4))(*(jnp.float32(x) for x in case))
    for argument, ours in zip((0, 1, 4), gradient, strict=True):
        order = tuple(int(i == argument) for i in range(5))
        with mpmath.workdps(40):
            true = float(mpmath.diff(mp_catoni, case, order))
        assert float(ours) == pytest.approx(true, rel=2e-4, abs=1e-9)


def test_one_program_serves_all_sizes_and_levels() -> None:
    traces = []

    def counted(risk: jax.Array, n: jax.Array, delta: jax.Array) -> jax.Array:
        traces.append(1)
        return jax.vmap(lambda r: catoni_objective(r, 3.0, n, delta, 0.5))(risk)

    program = jax.jit(counted)
    risks = jnp.linspace(0.0, 1.0, 4)
    for n, delta in [(100, 0.05), (2000, 0.01)]:
        expected = [float(mp_catoni(r, 3.0, n, delta, 0.5)) for r in np.linspace(0, 1, 4)]
        np.testing.assert_allclose(program(risks, n, delta), expected, rtol=1e-5)
    assert len(traces) == 1
