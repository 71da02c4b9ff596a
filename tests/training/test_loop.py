"""The training loop on a toy learner whose every epoch can be followed by hand."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.training.compilation import compilation_cache, epoch
from abnet.training.loop import Limits, Rows, Run, Span, open_runs, outputs, pad_rows
from abnet.training.padding import bucket
from abnet.training.runner import new_keys, run_stage, stack


class Mean(NamedTuple):
    at: Any


@dataclass(frozen=True)
class MeanLearner:
    """Gradient descent towards the weighted mean target; monitors the squared distance to it on the watched rows."""

    def step(self, state: Mean, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> Mean:
        gradient = jnp.sum(weights * (state.at - targets)) / jnp.sum(weights)
        return Mean(state.at - rate * gradient)

    def output(self, state: Mean, inputs: Any, key: Any) -> Any:
        return state.at + 0 * inputs[:, 0]

    def monitor(self, state: Mean, outputs: Any, targets: Any, weights: Any) -> Any:
        return jnp.sum(weights * (outputs - targets) ** 2) / jnp.sum(weights)


LEARNER = MeanLearner()


def make_rows(rng: np.random.Generator, n: int) -> tuple[Rows, np.ndarray]:
    y = rng.normal(size=n).astype(np.float32)
    return pad_rows(rng.normal(size=(n, 3)), y), y


def make_runs(rates: list[float], at: float = 3.0) -> Run:
    states = stack([Mean(np.float32(at)) for _ in rates])
    return open_runs(states, rates, new_keys(np.random.default_rng(0), len(rates)))


def by_hand(y: np.ndarray, n: int, rate: float, batch: int, limits: Limits, seed: int) -> dict[str, Any]:
    """The same training in plain Python."""
    rng = np.random.default_rng(seed)
    at = 3.0
    curve = []
    best = (np.inf, 0, at)
    reference = np.inf
    stale = 0
    waited = 0
    for number in range(limits.max_epochs + 1):
        order = rng.permutation(n)
        if number > 0:
            for i in range(0, n, batch):
                at -= rate * float(np.mean(at - y[order[i : i + batch]]))
        value = float(np.mean((at - y[:n]) ** 2))
        curve.append(value)
        if value < best[0]:
            best = (value, number, at)
        if value < reference - limits.tolerance or number == 0:
            reference = min(value, reference)
            stale = 0
            waited = 0
        else:
            stale = stale + 1
            waited = waited + 1
        if waited >= limits.halving_patience:
            rate = rate / 2
            waited = 0
        if stale >= limits.patience:
            break
    return {"curve": curve, "best_epoch": best[1], "best": best[2], "rate": rate}


@pytest.mark.parametrize(("n", "rate"), [(70, 0.05), (70, 1.5), (64, 0.3)])
def test_follows_the_plain_python_loop(n: int, rate: float, rng: np.random.Generator) -> None:
    rows, y = make_rows(rng, n)
    limits = Limits(1e-3, 6, 2, 40)
    expected = by_hand(y, n, rate, 16, limits, 5)
    outcome = run_stage(
        (LEARNER,), (make_runs([rate]),), rows, Span(0, n), Span(0, n),
        rng=np.random.default_rng(5), batch_size=16, limits=limits,
    )  # fmt: skip
    run = outcome.runs[0]
    np.testing.assert_allclose(outcome.curve[:, 0], expected["curve"], rtol=2e-4)
    assert int(run.best_epoch[0]) == expected["best_epoch"]
    assert float(run.best.at[0]) == pytest.approx(expected["best"], rel=1e-4)
    assert float(run.rate[0]) == pytest.approx(expected["rate"])


def test_runs_side_by_side_are_the_runs_one_by_one(rng: np.random.Generator) -> None:
    """A run that stops early is frozen while the others go on."""
    rows, _ = make_rows(rng, 100)
    options: dict[str, Any] = {"batch_size": 16, "limits": Limits(1e-3, 4, 2, 30)}
    span = Span(0, 100)
    rates = [1.9, 0.3, 0.01, 0.0001]

    def train(rates: list[float]) -> Run:
        order = np.random.default_rng(1)
        return run_stage((LEARNER,), (make_runs(rates),), rows, span, span, rng=order, **options).runs[0]

    together = train(rates)
    assert len({int(e) for e in together.epoch}) > 1
    for i, rate in enumerate(rates):
        alone = train([rate])
        assert int(alone.epoch[0]) == int(together.epoch[i])
        assert int(alone.best_epoch[0]) == int(together.best_epoch[i])
        np.testing.assert_allclose(alone.best.at[0], together.best.at[i], rtol=1e-5)


def test_padding_and_rows_outside_the_spans_have_no_influence(rng: np.random.Generator) -> None:
    n = 90
    rows, _ = make_rows(rng, n)
    inputs, targets, weights = (np.array(a) for a in rows)
    # padding
    inputs[n:] = 99.0
    targets[n:] = -99.0
    targets[:10] = 77.0  # rows before the span
    spoiled = Rows(*map(jnp.asarray, (inputs, targets, weights)))
    span = Span(10, 80)
    options = {"batch_size": 16, "limits": Limits(max_epochs=5)}
    clean = run_stage((LEARNER,), (make_runs([0.1]),), rows, span, span, rng=np.random.default_rng(1), **options)  # type: ignore[arg-type]
    other = run_stage((LEARNER,), (make_runs([0.1]),), spoiled, span, span, rng=np.random.default_rng(1), **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(clean.curve, other.curve)


def test_watched_rows_near_the_end_of_the_padding_are_all_seen(rng: np.random.Generator) -> None:
    """The last evaluation block is shifted back inside the array; its rows must stay in place."""
    n = 1270  # padded to 1280, blocks of 1024
    rows, y = make_rows(rng, n)
    states = stack([Mean(np.float32(0.5))])
    keys = new_keys(rng, 1)
    values = np.asarray(outputs(LEARNER, states, keys, rows, Span(jnp.int32(300), jnp.int32(970))))[0]
    assert (values[300:1270] == 0.5).all()
    outcome = run_stage(
        (LEARNER,), (make_runs([0.1]),), rows, Span(0, 10), Span(300, 970),
        rng=rng, batch_size=16, limits=Limits(max_epochs=1),
    )  # fmt: skip
    assert outcome.curve[0, 0] == pytest.approx(float(np.mean((3.0 - y[300:1270]) ** 2)), rel=1e-5)


def test_nothing_is_compiled_again_for_other_rates_rows_seeds_or_limits(rng: np.random.Generator) -> None:
    def train(n: int, rate: float, limits: Limits) -> None:
        rows, _ = make_rows(rng, n)
        run_stage((LEARNER,), (make_runs([rate]),), rows, Span(0, n), Span(0, n), rng=rng, batch_size=16, limits=limits)

    train(100, 0.1, Limits(max_epochs=2))
    compiled: Any = epoch
    before = compiled._cache_size()
    train(130, 0.2, Limits(1e-3, 3, 1, 4, 4))
    train(250, 0.01, Limits(max_epochs=3))
    assert compiled._cache_size() == before


def test_an_interrupt_keeps_the_best_so_far(rng: np.random.Generator) -> None:
    rows, _ = make_rows(rng, 50)

    def impatient(number: int, values: np.ndarray) -> None:
        if number == 3:
            raise KeyboardInterrupt

    outcome = run_stage(
        (LEARNER,), (make_runs([0.1]),), rows, Span(0, 50), Span(0, 50),
        rng=rng, batch_size=16, limits=Limits(), report=impatient,
    )  # fmt: skip
    assert outcome.interrupted
    assert len(outcome.curve) == 4
    assert int(outcome.runs[0].best_epoch[0]) == 3


def test_an_interrupt_while_an_epoch_runs_leaves_the_epoch_before(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host waits for the program when Ctrl-C comes: the runs must not be ahead of their curve."""
    rows, _ = make_rows(rng, 50)
    waits = iter(range(4))

    def impatient(done: Any) -> Any:
        if next(waits) == 3:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(jax, "block_until_ready", impatient)
    outcome = run_stage(
        (LEARNER,), (make_runs([0.1]),), rows, Span(0, 50), Span(0, 50), rng=rng, batch_size=16, limits=Limits()
    )
    assert outcome.interrupted
    assert len(outcome.curve) == 3
    assert int(outcome.runs[0].epoch[0]) == int(outcome.runs[0].best_epoch[0]) == 2
    assert float(outcome.runs[0].best_value[0]) == outcome.curve[2, 0]


def test_cosine_decay_ends_at_a_standstill(rng: np.random.Generator) -> None:
    rows, _ = make_rows(rng, 64)
    outcome = run_stage(
        (LEARNER,), (make_runs([0.5]),), rows, Span(0, 64), Span(0, 64),
        rng=rng, batch_size=16, limits=Limits(0.0, 100, 100, 10, 10),
    )  # fmt: skip
    steps = np.abs(np.diff(outcome.curve[:, 0]))
    assert steps[-1] < 1e-3 * steps[0]


def test_a_monitored_value_that_is_not_a_number_is_never_kept(rng: np.random.Generator) -> None:
    rows, _ = make_rows(rng, 50)
    outcome = run_stage(
        (LEARNER,), (make_runs([1e30]),), rows, Span(0, 50), Span(0, 50),
        rng=rng, batch_size=16, limits=Limits(max_epochs=4),
    )  # fmt: skip
    assert not np.isfinite(outcome.curve[-1, 0])
    assert float(outcome.runs[0].best.at[0]) == 3.0


@pytest.mark.parametrize("n", [1, 256, 257, 320, 321, 1000, 70_000, 1_000_000])
def test_buckets_hold_their_rows_and_waste_little(n: int) -> None:
    assert bucket(n) >= n
    assert bucket(n) == 256 or bucket(n) <= 1.25 * n
    assert bucket(bucket(n)) == bucket(n)


def test_importing_and_training_leave_jax_settings_as_they_were(rng: np.random.Generator) -> None:
    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs", "jax_enable_x64")
    before = [getattr(jax.config, name) for name in names]
    with compilation_cache(), compilation_cache():
        assert getattr(jax.config, names[1]) < 1
    assert [getattr(jax.config, name) for name in names] == before
