"""The promises of decisions in the long: thousands of repetitions, long streams, many rows, killed processes."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet.bounds.anytime import anytime_upper_limit, log_evidence
from abnet.bounds.betting import betting_bound, row_weighted_betting_bound
from abnet.bounds.counted import cost_bound
from abnet.certificates import Monitor
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.goals import TargetError
from abnet.certificates.held import Held
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.meet_goal import meet
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.terms import Terms
from broken_promise import breaks

Rows = NDArray[np.float64]

ERROR = 0.05
ALPHA = 0.01


def first_alarms(rng: np.random.Generator, rate: float, rows: int, repetitions: int) -> np.ndarray:
    """Row of each repetition's alarm, 0 if there is none: the evidence is largest right after an error."""
    times = np.zeros(repetitions, dtype=int)
    for i in range(repetitions):
        at = np.flatnonzero(rng.random(rows) < rate) + 1
        reached = log_evidence(np.arange(1, len(at) + 1), at, ERROR) >= -np.log(ALPHA)
        times[i] = at[reached.argmax()] if reached.any() else 0
    return times


def test_false_alarms_at_exactly_the_promised_error() -> None:
    times = first_alarms(np.random.default_rng(1), ERROR, 4000, 10_000)
    share = np.mean(times > 0)
    assert share > 0.004
    assert not breaks(int(np.sum(times > 0)), 10_000, ALPHA)


@pytest.mark.parametrize(("rate", "median", "rows"), [(0.2, 36, 600), (0.1, 263, 4000), (0.075, 954, 12_000)])
def test_median_delays(rate: float, median: int, rows: int) -> None:
    times = first_alarms(np.random.default_rng(2), rate, rows, 4000)
    assert np.median(np.where(times > 0, times, rows + 1)) == pytest.approx(median, rel=0.08)


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.3])
def test_anytime_limit_over_a_long_stream(rate: float) -> None:
    rng = np.random.default_rng(3)
    failures = 0
    repetitions = 1000
    alpha = 0.1
    for _ in range(repetitions):
        wrong = rng.random(3000) < rate
        # The moments before an error have the smallest limits; of these, every one with a low rate.
        ends = np.append(np.flatnonzero(wrong), 3000)
        k = np.arange(len(ends))
        low = np.flatnonzero((ends > 0) & (k < ends * rate))
        gaps = ends[low] * rate - k[low]
        suspects = low[gaps > 1.2 * np.sqrt(ends[low] * rate * (1 - rate))]
        failures += any(anytime_upper_limit(int(i), int(ends[i]), alpha) < rate for i in suspects)
    assert not breaks(failures, repetitions, alpha)


@pytest.mark.parametrize("n", [20, 285, 3000])
@pytest.mark.parametrize("shape", [(0.05, 0.95), (0.02, 0.18), (2.0, 30.0), (5.0, 5.0)])
def test_betting(n: int, shape: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    mean = shape[0] / sum(shape)
    repetitions = 2000
    failures = sum(betting_bound(rng.beta(*shape, size=n)) < mean for _ in range(repetitions))
    assert not breaks(failures, repetitions, 0.05)


def test_row_weighted_betting() -> None:
    """Large groups err more often, and all rows of a group err together in half of them."""
    rng = np.random.default_rng(5)
    failures = 0
    repetitions = 3000
    for _ in range(repetitions):
        sizes = rng.choice([1, 3, 10], size=60, p=[0.5, 0.3, 0.2])
        rates = np.where(sizes == 10, 0.3, 0.05)
        together = rng.random(60) < 0.5
        sums = np.where(together, sizes * (rng.random(60) < rates), rng.binomial(sizes, rates))
        failures += row_weighted_betting_bound(sums, sizes, 10) < (1.4 * 0.05 + 2 * 0.3) / 3.4
    assert not breaks(failures, repetitions, 0.05)


def _order(losses: Rows) -> NDArray[np.intp]:
    return row_order(row_hashes(losses[:, None]))


def _costs(losses: Rows) -> float:
    return cost_bound(losses[_order(losses)], 1.0)


def _groups(losses: Rows) -> float:
    truth = np.zeros(2 * len(losses), int)
    groups = np.repeat(np.arange(len(losses)), 2)
    twice = np.repeat(losses, 2)
    keys = bet_keys(row_order(row_hashes(twice[:, None]), groups=groups))
    seen = observe(truth, truth, ("a",), losses=twice, groups=groups, keys=keys)
    return certify(seen, Terms(source="test set")).gibbs_risk_bound or 0.0


def _frozen(losses: Rows) -> float:
    truth = np.zeros(len(losses), int)
    seen = observe(truth, truth, ("a",), losses=losses, keys=bet_keys(_order(losses)))
    return certify(seen, Terms(source="test set")).gibbs_risk_bound or 0.0


@pytest.mark.parametrize("n", [60, 300, 1500])
@pytest.mark.parametrize(
    ("bound", "broken"),
    [(_costs, False), (_groups, False), (_frozen, False), (betting_bound, True)],
)
def test_losses_sorted_by_size(n: int, bound: Callable[[Rows], float], broken: bool) -> None:
    """Whatever bets on rows that a file may have sorted draws an order first; the twin bets in that of the file."""
    rng = np.random.default_rng(8)
    shape = (0.2, 1.8)
    repetitions = 1000
    failures = sum(bound(np.sort(rng.beta(*shape, size=n))) < 0.1 for _ in range(repetitions))
    assert breaks(failures, repetitions, 0.05) == broken


def test_betting_on_a_million_losses() -> None:
    losses = np.random.default_rng(6).beta(1.0, 20.0, size=10**6)
    start = time.process_time()
    bound = betting_bound(losses)
    assert time.process_time() - start < 20.0
    assert losses.mean() < bound < losses.mean() + 2e-4


def test_abstaining_with_few_rows() -> None:
    """n = 300, ε = .05, δ = .1, a hundred thresholds: certified in half of the samples, false in few."""
    rng = np.random.default_rng(7)
    issued = 0
    false = 0
    covered = 0
    for _ in range(3000):
        held = Held(rng.random(300), np.ones(300, int))
        s = rng.random(300)
        right = (rng.random(300) >= 0.01 + 0.3 * (1 - s) ** 2).astype(int)
        decision, made = meet(
            TargetError(0.05), held, s, right, ("a", "b"), Terms(delta=0.1), keys=np.arange(300)
        )  # fmt: skip
        if decision is not None:
            answered = 1 - max(decision.threshold or 0.0, 0.0)
            issued += 1
            false += 0.01 + 0.1 * answered**2 > 0.05
            covered += (made[1].value or 0.0) > answered
    assert issued > 1200
    assert not breaks(false, 3000, 0.1)
    assert not breaks(covered, 3000, 0.1)


def test_state_survives_a_kill(tmp_path: Path) -> None:
    """Whenever the process dies, the file is a whole state, and of the latest saves."""
    path = tmp_path / "state.json"
    script = (
        "import sys; from abnet.certificates import Monitor\n"
        "m = Monitor(0.05)\n"
        "while True:\n    m.update([False] * 7 + [True]); m.save(sys.argv[1])\n"
    )
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", script, str(path)])
        while not path.exists():
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        monitor = Monitor.load(path)
        assert monitor.n == 8 * monitor.errors > 0
