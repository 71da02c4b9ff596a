"""The stages of a fit: which rows each of them reads, how long it may last, at what rate it learns."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from abnet.networks import Exact
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.training import resolve
from abnet.training.compilation import epoch
from abnet.training.loop import Limits, Rows, Span, open_runs
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import NEVER, new_keys, stack
from abnet.training.sample_weights import scaled_weights
from abnet.training.stages import (
    Trainer,
    learn_linear,
    learn_posterior,
    learn_prior,
    lifted_rows,
    prior_spans,
)

SIZES = (3, 2, 1)
LIMITS = Limits(0.0, 50, max_epochs=7)


def problem(rng: np.random.Generator, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


def trainer(rows: Rows, seed: int = 0, limits: Limits = LIMITS, report: Any = None) -> Trainer:
    return Trainer(PosteriorLearner(SIZES), rows, 16, 0.05, limits, np.random.default_rng(seed), report)


def first(seed: int = 1) -> Posterior:
    network = BAM.init(np.random.default_rng(seed), SIZES)
    return Posterior.from_networks([network], [network], Exact())


def same(one: Posterior, other: Posterior) -> bool:
    return all(map(np.array_equal, one.layers, other.layers))


class Call(dict[str, Any]):
    """The arguments of one stage, by name."""

    NAMES = ("name", "objective", "first", "train", "watch", "rate", "limits")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Stages that are asked for, none of them run: each returns the posterior that it got."""
    made: list[Call] = []

    def stage(self: Trainer, *arguments: Any, **options: Any) -> Posterior:
        made.append(Call(zip(Call.NAMES, arguments, strict=True), **options))
        return arguments[2]

    monkeypatch.setattr(Trainer, "stage", stage)
    return made


def numbers(span: Span) -> set[int]:
    return set(range(span.first, span.first + span.size))


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("part", [Span(0, 40), Span(10, 7), Span(3, 20)])
def test_a_prior_watches_rows_that_it_does_not_learn_from(part: Span, share: float) -> None:
    train, watch = prior_spans(part, share)
    if train == watch:
        assert round(share * part.size) in (0, part.size)
    else:
        assert not numbers(train) & numbers(watch)
    assert numbers(train) | numbers(watch) == numbers(part)


@pytest.mark.parametrize("part", [Span(5, 1), Span(0, 2)])
def test_a_part_too_small_to_spare_any_row_watches_itself(part: Span) -> None:
    assert prior_spans(part, 0.2) == (part, part)


def test_a_prior_is_one_stage_of_two_halves(calls: list[Call], rng: np.random.Generator) -> None:
    learn_prior(trainer(lifted_rows(*problem(rng), None)), first(), Span(0, 30), 0.2, 0.4)
    log, linear = calls
    assert (log["objective"], linear["objective"]) == (Objective.LOG, Objective.LINEAR)
    assert (log["rate"], linear["rate"]) == (0.4, pytest.approx(0.08))
    for call in calls:
        assert (call["limits"].max_epochs, call["limits"].cosine_epochs) == (3, 3)
        assert call["limits"].halving_patience == NEVER
        assert numbers(call["train"]) | numbers(call["watch"]) == set(range(30))


def test_the_default_rates_are_those_of_the_published_results(calls: list[Call], rng: np.random.Generator) -> None:
    learn_prior(trainer(lifted_rows(*problem(rng), None)), first(), Span(0, 30), 0.2)
    assert [call["rate"] for call in calls] == [0.05, 0.01]
    assert resolve.RATE == 0.01


def test_the_posterior_learns_and_is_watched_on_the_bound_rows_alone(
    calls: list[Call], rng: np.random.Generator
) -> None:
    prior = first()
    learn_posterior(trainer(lifted_rows(*problem(rng), None)), prior, Span(30, 30), 0.01)
    (call,) = calls
    assert call["objective"] is Objective.BOUND
    assert call["train"] == call["watch"] == Span(30, 30)
    assert same(call["first"], prior)
    assert call["first"].kl() == 0
    assert call["limits"] == LIMITS


@pytest.mark.parametrize("most", [1, 4, 7])
def test_no_stage_lasts_longer_than_it_may(most: int, rng: np.random.Generator) -> None:
    seen: list[tuple[str, int, int]] = []

    def report(name: str, epoch: int, of: int, value: float) -> None:
        seen.append((name, epoch, of))

    job = trainer(lifted_rows(*problem(rng), None), limits=LIMITS._replace(max_epochs=most), report=report)
    prior = learn_prior(job, first(), Span(0, 30), 0.2)
    learn_posterior(job, prior, Span(30, 30), 0.01)
    epochs = {name: len(curve) - 1 for name, curve in job.curves.items()}  # the start is on the curve too
    half = max(most // 2, 1)
    assert epochs == {"prior, log loss": half, "prior, linear loss": half, "bound": most}
    assert {name: (epoch, of) for name, epoch, of in seen} == {name: (n, n) for name, n in epochs.items()}


def test_patience_ends_a_stage(rng: np.random.Generator) -> None:
    """No improvement can be as large as 1, so that the patience is used up at once."""
    job = trainer(lifted_rows(*problem(rng), None), limits=Limits(1.0, 3, max_epochs=50))
    learn_linear(job, first(), Span(0, 40), Span(40, 20), 0.01)
    assert len(job.curves["linear loss"]) == 1 + 3


def test_a_prior_depends_on_its_part_alone(rng: np.random.Generator) -> None:
    X, y = problem(rng)
    priors = []
    for flipped in (y, np.where(np.arange(60) < 30, y, -y)):
        job = trainer(lifted_rows(X, flipped, None))
        priors.append(learn_prior(job, first(), Span(0, 30), 0.2))
    assert same(*priors)
    other = learn_prior(trainer(lifted_rows(X, -y, None)), first(), Span(0, 30), 0.2)
    assert not same(priors[0], other)


def test_the_rate_changes_the_prior(rng: np.random.Generator) -> None:
    rows = lifted_rows(*problem(rng), None)
    one, other = (learn_prior(trainer(rows), first(), Span(0, 30), 0.2, rate) for rate in (0.05, 0.2))
    assert not same(one, other)


def test_after_an_interrupt_no_further_stage_runs(rng: np.random.Generator) -> None:
    def report(name: str, epoch: int, of: int, value: float) -> None:
        if epoch == 2:
            raise KeyboardInterrupt

    job = trainer(lifted_rows(*problem(rng), None), report=report)
    prior = learn_prior(job, first(), Span(0, 30), 0.2)
    assert job.interrupted
    assert list(job.curves) == ["prior, log loss"]
    assert same(learn_posterior(job, prior, Span(30, 30), 0.01), prior)


def test_weights_of_either_part_have_mean_one(rng: np.random.Generator) -> None:
    weights = rng.random(10)
    scaled = scaled_weights(weights, 4)
    assert scaled is not None
    assert scaled[:4].mean() == pytest.approx(1)
    assert scaled[4:].mean() == pytest.approx(1)
    heavier = scaled_weights(np.where(np.arange(10) < 4, weights, 1e6 * weights), 4)
    assert heavier == pytest.approx(scaled)
    assert scaled_weights(np.zeros(10), 4) == pytest.approx(np.zeros(10))
    assert scaled_weights(None, 4) is None


@pytest.mark.parametrize(("n", "seen"), [(60, False), (19_999, False), (20_000, True)])
def test_many_rows_are_watched_in_the_training_pass(calls: list[Call], n: int, seen: bool) -> None:
    learn_posterior(trainer(Rows(None, None, None)), first(), Span(0, n), 0.01)
    assert calls[0]["seen"] is seen
    assert calls[0]["train"] == calls[0]["watch"] == Span(0, n)


def test_what_the_pass_met_is_what_is_monitored(rng: np.random.Generator) -> None:
    """Step by step by hand: the outputs of each minibatch before its step, the divergence after the last one."""
    X, y = problem(rng)
    rows = lifted_rows(X, y, None)
    learner = PosteriorLearner(SIZES)
    begin = Posterior(first().layers, first(2).layers, first().log_sigma, Exact())
    state = start(begin, Objective.BOUND, 40, 0.05)
    runs = open_runs(stack([state]), [0.05], new_keys(rng, 1))
    order = np.zeros(len(rows.targets) + 16, np.int32)
    order[:40] = 10 + rng.permutation(40)
    limits = Limits(*map(np.asarray, Limits()))
    span = Span(np.int32(10), np.int32(40))
    count = np.int32(40)
    options: dict[str, Any] = {"batch_size": 16, "seen": True}
    looked_at = epoch((learner,), (runs,), rows, order, count, span, limits, **options)
    (run,) = epoch((learner,), looked_at, rows, order, count, span, limits, **options)

    inputs = np.asarray(rows.inputs)
    targets = np.asarray(rows.targets)
    outputs = np.zeros(len(targets), np.float32)
    output, step, monitor = (jax.jit(rule) for rule in (learner.output, learner.step, learner.monitor))
    for start_at in range(0, 40, 16):
        batch = order[start_at : min(start_at + 16, 40)]
        outputs[batch] = output(state, inputs[batch], None)
        state = step(state, inputs[batch], targets[batch], np.ones(len(batch), np.float32), 0.05, None)
    watched = np.zeros(len(targets), np.float32)
    watched[10:50] = 1
    np.testing.assert_allclose(run.state.learned.weights[0], state.learned.weights, atol=1e-5)
    np.testing.assert_allclose(run.value[0], monitor(state, outputs, targets, watched), atol=1e-5)
    state = start(begin, Objective.BOUND, 40, 0.05)
    looked = monitor(state, output(state, inputs, None), targets, watched)
    np.testing.assert_allclose(looked_at[0].value[0], looked, atol=1e-5)  # the start is looked at, in a pass of its own


def test_a_warm_up_leaves_the_prior_where_it_was(rng: np.random.Generator) -> None:
    job = trainer(lifted_rows(*problem(rng), None), limits=Limits(max_epochs=3))
    learned = learn_posterior(job, first(), Span(0, 60), 0.05, warm_up=2)
    assert list(job.curves) == ["warm-up", "bound"]
    assert len(job.curves["warm-up"]) == 3  # the start, and two epochs
    assert same(replace(learned, layers=learned.prior), first())
    assert not same(learned, first())


def test_learned_deviations_reach_the_posterior(rng: np.random.Generator) -> None:
    job = trainer(lifted_rows(*problem(rng), None), limits=Limits(max_epochs=3))
    job.learner = replace(job.learner, deviations=True)
    learned = learn_posterior(job, first(), Span(0, 60), 0.05)
    assert np.all(learned.log_sigma)
    assert job.C is not None
    assert job.C != 1
    job.learner = replace(job.learner, deviations=False)
    again = learn_posterior(job, learned.as_prior(), Span(0, 60), 0.05)  # w/σ, as prior
    np.testing.assert_allclose(again.prior[0], learned.layers[0] / np.exp(learned.log_sigma[0]), rtol=1e-6)
