"""Betting against products in mpmath, and its promise where the mean is known."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.bounds import betting, gibbs_bound_frozen
from abnet.bounds.betting import betting_bound, row_weighted_betting_bound
from broken_promise import breaks

Array = NDArray[np.float64]
DELTA = 0.1


def mp_wealth(s: Array, w: Array, m: float, delta: float) -> mpmath.mpf:
    """Largest wealth against the ratio m, as the definition has it: one row after the other."""
    goal = mpmath.log(1 / mpmath.mpf(delta))
    total = mpmath.mpf(0)
    square = mpmath.mpf(0)
    size = mpmath.mpf(0)
    wealth = mpmath.mpf(1)
    best = mpmath.mpf(0)
    variance = mpmath.mpf(1) / 4
    for i, (loss, weight) in enumerate(zip(s, w, strict=True), start=1):
        stake = mpmath.sqrt(2 * goal / (len(s) * variance))
        if m < 1:
            stake = min(stake, mpmath.mpf(0.9) / (1 - mpmath.mpf(m)))
        wealth *= 1 - stake * (mpmath.mpf(loss) - mpmath.mpf(m) * mpmath.mpf(weight))
        best = max(best, wealth)
        total = total + loss
        size = size + weight
        square += (loss - (mpmath.mpf("0.5") + total) / (1 + size) * weight) ** 2
        variance = (mpmath.mpf(1) / 4 + square) / (i + 1)
    return best


@pytest.mark.parametrize("delta", [0.05, 1e-6, 0.6])
@pytest.mark.parametrize("shape", [(0.1, 2.0), (2.0, 5.0), (5.0, 0.5)])
def test_bound_is_where_the_wealth_reaches_its_goal(
    rng: np.random.Generator, delta: float, shape: tuple[float, float]
) -> None:
    losses = rng.beta(*shape, size=40)
    bound = betting_bound(losses, delta)
    ones = np.ones(40)
    assert losses.mean() <= bound <= 1.0
    with mpmath.workdps(40):
        assert bound == 1.0 or mp_wealth(losses, ones, bound, delta) >= 1 / mpmath.mpf(delta)
        assert bound == losses.mean() or mp_wealth(losses, ones, bound - 1e-9, delta) < 1 / mpmath.mpf(delta)


def test_row_weighted_bound_is_where_the_wealth_reaches_its_goal(rng: np.random.Generator) -> None:
    sizes = rng.integers(1, 9, size=60)
    sums = rng.binomial(sizes, 0.2)
    bound = row_weighted_betting_bound(sums, sizes, 8, DELTA)
    with mpmath.workdps(40):
        assert mp_wealth(sums / 8, sizes / 8, bound, DELTA) >= 1 / mpmath.mpf(DELTA)
        assert mp_wealth(sums / 8, sizes / 8, bound - 1e-9, DELTA) < 1 / mpmath.mpf(DELTA)


def test_wealth_grows_with_the_mean_it_doubts(rng: np.random.Generator) -> None:
    """The proof of the module's docstring, in numbers: so the rejected means are an interval that ends at 1."""
    for _ in range(5):
        w = rng.random(25)
        s = w * rng.beta(0.5, 2.0, size=25)
        wealth = [mp_wealth(s, w, m, DELTA) for m in np.linspace(0.0, 1.0, 30)]
        assert wealth == sorted(wealth)


def test_groups_of_one_row_are_rows(rng: np.random.Generator) -> None:
    losses = rng.random(50) ** 3
    assert row_weighted_betting_bound(losses, np.ones(50, int), 1) == betting_bound(losses)


def test_stakes_do_not_look_at_their_own_loss_or_later_ones(rng: np.random.Generator) -> None:
    losses = rng.random(30)
    changed = np.concatenate([losses[:20], 1.0 - losses[20:]])
    ones = np.ones(30)
    np.testing.assert_array_equal(betting._bets(losses, ones, 3.0)[:21], betting._bets(changed, ones, 3.0)[:21])
    assert betting._bets(losses, ones, 3.0)[21] != betting._bets(changed, ones, 3.0)[21]


SOURCES: dict[str, tuple[float, Callable[[np.random.Generator, int], Array]]] = {
    "coins": (0.05, lambda rng, n: (rng.random(n) < 0.05).astype(float)),
    "diverse": (1 / 16, lambda rng, n: rng.beta(2.0, 30.0, n)),
    "confident": (0.1, lambda rng, n: rng.beta(0.02, 0.18, n)),
    "rare": (0.01, lambda rng, n: (rng.random(n) < 0.01).astype(float)),
    "large": (0.8, lambda rng, n: np.where(rng.random(n) < 0.6, 1.0, 0.5)),
}


def failures(
    rng: np.random.Generator, source: str, bound: Callable[[Array], float], *, n: int = 120, repetitions: int = 400
) -> int:
    mean, draw = SOURCES[source]
    return sum(bound(draw(rng, n)) < mean for _ in range(repetitions))


@pytest.mark.parametrize("source", SOURCES)
def test_promise_is_kept(rng: np.random.Generator, source: str) -> None:
    assert not breaks(failures(rng, source, lambda losses: betting_bound(losses, DELTA)), 400, DELTA)


def peeking(losses: Array) -> float:
    """The trap: stakes that know their own loss, here because small losses are put first."""
    return betting_bound(np.sort(losses), DELTA)


def cheap(losses: Array) -> float:
    """The mutant: an eighth of the logarithm."""
    return betting_bound(losses, DELTA**0.125)


@pytest.mark.parametrize(("mutant", "source"), [(peeking, "coins"), (peeking, "confident"), (cheap, "coins")])
def test_mutants_break_it(rng: np.random.Generator, mutant: Callable[[Array], float], source: str) -> None:
    assert breaks(failures(rng, source, mutant), 400, DELTA)


@pytest.mark.parametrize(("paid", "broken"), [(30, False), (1, True)], ids=["accounted for", "not accounted for"])
def test_choice_among_candidates(rng: np.random.Generator, paid: int, broken: bool) -> None:
    def failed() -> bool:
        losses = rng.beta(1.0, 4.0, size=(30, 60))
        return betting_bound(losses[losses.mean(axis=1).argmin()], DELTA, n_candidates=paid) < 0.2

    assert breaks(sum(failed() for _ in range(400)), 400, DELTA) == broken


def test_figures_of_285_examples(rng: np.random.Generator) -> None:
    """A diverse network's .097 becomes .075; a confident one's bound hardly changes, so few rows are not bet on."""
    losses = rng.beta(2.0, 30.0, size=(40, 285))
    losses *= 0.063 / losses.mean(axis=1, keepdims=True)
    assert gibbs_bound_frozen(0.063, 285) == pytest.approx(0.0975, abs=5e-4)
    assert np.mean([betting_bound(row) for row in losses]) == pytest.approx(0.075, abs=1e-3)
    # 0.034 on average, near 0 or 1: the two hardly differ, and for errors alone betting is looser.
    sure = rng.beta(0.0068, 0.1932, size=(60, 285))
    ratio = np.mean([betting_bound(row) / gibbs_bound_frozen(row.mean(), 285) for row in sure])
    assert 0.93 < ratio < 1.1
    errors = rng.permuted(np.repeat([[1.0] * 10 + [0.0] * 275], 60, axis=0), axis=1)
    ratio = np.mean([betting_bound(row) for row in errors]) / gibbs_bound_frozen(10 / 285, 285)
    assert 1.05 < ratio < 1.15


def test_edges() -> None:
    assert betting_bound([1.0, 1.0]) == 1.0
    assert betting_bound([0.0]) == 1.0  # one bet cannot make 20 of 1
    assert betting_bound([0.0], 0.9) < 1.0
    assert betting_bound([0.0] * 2000) < 1.3 * 3 / 2000
    assert betting_bound([0.5] * 50, 1e-300) == 1.0
    assert betting_bound([0.25] * 100_000) < 0.2504
    # An early run of small losses rejects the observed mean.
    assert betting_bound([0.0] * 60 + [1.0] * 40) == 0.4


@pytest.mark.parametrize("losses", [[], [0.5, -0.1], [1.1], [float("nan")], [[0.1]]])
def test_losses_are_checked(losses: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^losses"):
        betting_bound(losses)


@pytest.mark.parametrize(
    ("sums", "sizes", "largest", "name"),
    [
        ([1.0], [2, 2], 3, "sums"),
        ([3.0], [2], 3, "sums"),
        ([-1.0], [2], 3, "sums"),
        ([1.0], [4], 3, "sizes"),
        ([0.0], [0], 3, "sizes"),
        ([0.0], [1.0], 3, "sizes"),
        ([0.0], [1], 0, "largest_size"),
    ],
)
def test_groups_are_checked(sums: list[float], sizes: list[int], largest: int, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}"):
        row_weighted_betting_bound(sums, sizes, largest)
