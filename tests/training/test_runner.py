"""A stack of runs that shrinks while it trains, and the orders in which rows are visited."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from abnet.training.loop import Limits, Span, open_runs, pad_rows
from abnet.training.runner import (
    Stack,
    best_of,
    leave_out_finished,
    new_keys,
    run_stage,
    stack,
)
from training.test_loop import LEARNER, Mean, make_rows, make_runs


def stacked(active: list[bool]) -> Stack:
    """Runs at 0, 1, 2, …, of which some are active."""
    count = len(active)
    runs = open_runs(
        stack([Mean(np.float32(i)) for i in range(count)]), [0.1] * count, new_keys(np.random.default_rng(0), count)
    )
    values = np.arange(count, dtype=np.float32)
    return Stack(LEARNER, runs._replace(active=np.array(active), value=values, best_value=-values))


def test_active_runs_are_kept_first_and_in_their_order() -> None:
    some = stacked([False, True, False, True, True])
    some.keep(4)
    assert some.places.tolist() == [0, 1, 3, 4]
    some.keep(3)
    assert some.places.tolist() == [1, 3, 4]
    assert some.active.all()


def test_what_left_the_program_keeps_its_state_and_place() -> None:
    some = stacked([False, True, False, True, True])
    some.keep(3)
    some.run = some.run._replace(state=Mean(some.run.state.at + 10), value=some.run.value + 10)
    whole = some.all_runs()
    assert whole.state.at.tolist() == [0, 11, 2, 13, 14]
    assert some.values().tolist() == [0, 11, 2, 13, 14]
    assert some.best_values().tolist() == [0, -1, -2, -3, -4]
    assert best_of(whole, 2).at == 2
    np.testing.assert_array_equal(jax.random.key_data(whole.key), jax.random.key_data(stacked([True] * 5).run.key))


@pytest.mark.parametrize(
    ("active", "left"),
    [
        ([[True] * 4], [4]),
        ([[True, True, True, False]], [4]),  # three need a program of four
        ([[True, True, False, False]], [2]),
        ([[True, False, False, False], [True, False, False, False]], [1, 1]),
        ([[True, False, False, False], [False] * 4], [1, 0]),
        ([[False] * 4], [4]),  # nothing goes on, so nothing is compiled
    ],
)
def test_finished_runs_leave_once_they_are_half(active: list[list[bool]], left: list[int]) -> None:
    stacks = [stacked(row) for row in active]
    leave_out_finished(stacks)
    assert [some.places.size for some in stacks] == left


def test_shrinking_changes_no_network(rng: np.random.Generator) -> None:
    rows, _ = make_rows(rng, 100)
    rates = [1.9, 0.3, 0.01, 0.0001]
    span = Span(0, 100)

    def train(shrink: bool) -> Any:
        return run_stage(
            (LEARNER,), (make_runs(rates),), rows, span, span, rng=np.random.default_rng(1), batch_size=16,
            limits=Limits(1e-3, 4, 2, 30), shrink=shrink,
        )  # fmt: skip

    whole = train(False)
    shrunk = train(True)
    np.testing.assert_array_equal(whole.runs[0].epoch, shrunk.runs[0].epoch)
    np.testing.assert_allclose(whole.runs[0].best.at, shrunk.runs[0].best.at, rtol=1e-5)
    np.testing.assert_allclose(whole.curve, shrunk.curve, rtol=1e-5)


class Visits:
    """Counts how often the target of each row is met: targets are powers of two, and a step adds up a minibatch."""

    def step(self, state: Mean, inputs: Any, targets: Any, weights: Any, rate: Any, key: Any) -> Mean:
        return Mean(state.at + jnp.sum(weights * targets))

    def output(self, state: Mean, inputs: Any, key: Any) -> Any:
        return 0 * inputs[:, 0]

    def monitor(self, state: Mean, outputs: Any, targets: Any, weights: Any) -> Any:
        return -state.at


@pytest.mark.parametrize("batch_size", [1, 3, 8, 50])
def test_an_epoch_visits_every_training_row_once(batch_size: int) -> None:
    rows = pad_rows(np.zeros((12, 1)), 2.0 ** np.arange(12))
    runs = open_runs(stack([Mean(np.float32(0))]), [0.1], new_keys(np.random.default_rng(0), 1))
    outcome = run_stage(
        (Visits(),), (runs,), rows, Span(3, 8), Span(0, 12),
        rng=np.random.default_rng(0), batch_size=batch_size, limits=Limits(0.0, 99, 99, 2),
    )  # fmt: skip
    once = sum(2**i for i in range(3, 11))
    assert (-outcome.curve[:, 0]).tolist() == [0, once, 2 * once]
