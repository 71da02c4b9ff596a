"""Promises of whole fits that no formula alone keeps: goals on sorted rows, quantile bins, restarts, deviations."""

import os
import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from abnet import fit_table
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.statements.answered_error import AnsweredErrorTest
from abnet.certificates.statements.coverage import Coverage
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.precision import PrecisionBound, PrecisionTest
from abnet.certificates.statements.recall import RecallBound, RecallTest
from abnet.certificates.statements.statement import Statement
from abnet.networks.lifting import lift
from abnet.paper.protocol import protocol_of
from abnet.paper.runs import group_training
from abnet.paper.runs.prepared_split import PreparedSplit
from abnet.paper.runs.run_setting import Setting, Variant
from abnet.paper.runs.setting_groups import SettingGroup
from abnet.tables.target_bins import bin_names
from abnet.training.loop import pad_rows
from broken_promise import breaks
from estimators.worlds import DELTA, NOISE, POINTS, SIGNAL, World, broken_promises, certified, count, repetition
from promised import promised

REPETITIONS = int(os.environ.get("ABNET_SAMPLES", "200"))
worlds = pytest.mark.parametrize("world", [NOISE, SIGNAL], ids=["noise", "signal"])

COSTS = np.array([[0.0, 1.0], [5.0, 0.0]])
GOALS: dict[str, Goal] = {
    "error": TargetError(0.3),
    "recall": TargetRecall(0.85, positive=1),
    "precision": TargetPrecision(0.75, positive=1),
    "costs": Costs(COSTS),
}


def sorted_draw(rng: np.random.Generator, n: int = 600) -> tuple[Any, Any]:
    """Rows of the signal world in the order of their labels."""
    where = rng.integers(len(POINTS), size=n)
    y = (rng.random(n) < SIGNAL.chances[where]).astype(int)
    order = np.argsort(y, kind="stable")
    return POINTS[where][order], y[order]


def truth_of(statement: Statement, answers: Any) -> float:
    """The true value of what a statement is about: all 512 inputs are equally frequent."""
    positive = SIGNAL.chances
    if isinstance(statement, Coverage):
        return float(np.mean([answer is not None for answer in answers]))
    if isinstance(statement, AnsweredErrorTest | CutError):
        wrong = np.where(answers == 1, 1 - positive, positive)
        return float(wrong[[answer is not None for answer in answers]].mean())
    called = (answers == 1).astype(float)
    if isinstance(statement, Flagged):
        return float(called.mean())
    if isinstance(statement, RecallTest | RecallBound):
        return float(np.average(called, weights=positive))
    if isinstance(statement, PrecisionTest | PrecisionBound):
        return float(np.average(positive, weights=called))
    return float(np.mean(positive * COSTS[1, answers.astype(int)] + (1 - positive) * COSTS[0, answers.astype(int)]))


@pytest.mark.parametrize("kind", GOALS)
def test_goals_of_a_fit_on_rows_sorted_by_label(kind: str) -> None:
    """One seed for all samples: the split must not depend on the rows' places."""
    met = 0
    broken = Counter[str]()
    for sample in range(REPETITIONS):
        X, y = sorted_draw(np.random.default_rng([sample, 31]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a goal could not be certified
            clf = certified(0, n_estimators=2, max_iter=30, decision=GOALS[kind]).fit(X, y)
        asked = [s for s in clf.certificate_.statements if s.about_decision or s.only_in_table]
        if clf.model_.decision.kind == "argmax":
            continue
        met += 1
        answers = clf.predict(POINTS)
        for s in asked:
            true = truth_of(s, answers)
            broken[s.about] += true > s.value if s.side == "at most" else true < s.value
    print({"goal": kind, "met": met, "broken": dict(broken), "of": REPETITIONS})
    assert met > REPETITIONS // 4
    assert not any(breaks(failures, REPETITIONS, DELTA) for failures in broken.values())


def numbers(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """A target that nothing tells, so that the error of every answer is known."""
    return pl.DataFrame(
        {"a": rng.normal(size=n).round(3), "b": rng.integers(0, 9, n), "y": rng.normal(size=n).round(6)}
    )


@pytest.mark.parametrize("bins", [2, 3])
def test_quantile_bins_of_a_sorted_table(bins: int) -> None:
    """The cuts come from rows that are set aside; the bound is about classes between these very cuts."""
    failures = 0
    for sample in range(REPETITIONS):
        rng = np.random.default_rng([sample, 32])
        estimator = certified(0, n_estimators=2, delta=DELTA)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = fit_table(numbers(rng, 300).sort("y"), "y", estimator=estimator, bins=bins)
        cuts = clf.model_.card.cuts
        chances = np.diff(np.concatenate([[0.0], norm.cdf(cuts), [1.0]]))
        names = bin_names(cuts)
        answers = clf.predict(numbers(rng, 2000).drop("y"))
        error = 1 - sum(chances[k] * np.mean(answers == name) for k, name in enumerate(names))
        failures += promised(clf).vote_error_bound < error
    print({"bins": bins, "failures": failures, "of": REPETITIONS})
    assert not breaks(failures, REPETITIONS, DELTA)


@worlds
@pytest.mark.parametrize("prior", ["init", "split"])
def test_learned_deviations(world: World, prior: str) -> None:
    settings = {"prior": prior, "deviations": True, "warm_up": 2, "learning_rate_init": 0.1}
    failures = count(REPETITIONS, lambda seed: broken_promises(world, repetition(world, seed, **settings)))
    print({"prior": prior, "failures": failures.tolist(), "of": REPETITIONS})
    assert not any(breaks(int(broken), REPETITIONS, DELTA) for broken in failures)


def prepared(world: World, rng: np.random.Generator) -> PreparedSplit:
    """A sample to train on; the test rows are the world itself, each input ten times, with its labels in proportion."""
    X, y = world.draw(rng)
    labels = np.where(np.arange(10)[None, :] < np.round(10 * world.chances)[:, None], 1.0, -1.0)
    rows = np.concatenate([X, np.repeat(POINTS, 10, axis=0)]).astype(np.float32)
    signs = np.concatenate([2.0 * y - 1.0, labels.ravel()]).astype(np.float32)
    return PreparedSplit(rows, signs, pad_rows(lift(rows), signs), 0, len(y), "")


@worlds
def test_the_best_of_several_restarts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every restart has a prior of its own: the paper's runs compute each bound at δ over their number."""
    failures = 0
    restarts = 4
    variant = Variant(deviations=True, restarts=restarts)
    short: dict[str, Any] = {"max_epochs": 6, "patience": 3, "delta": DELTA, "variant": variant}
    monkeypatch.setattr(group_training, "protocol_of", lambda setting: replace(protocol_of(setting), **short))
    for sample in range(REPETITIONS):
        split = prepared(world, np.random.default_rng([sample, 33]))
        monkeypatch.setattr(group_training, "prepared_split", lambda *_, split=split: split)
        group = SettingGroup((Setting("circles", "ABNet", (2,), 0.1, sample),))
        (result,) = group_training.run_group(group, data_dir=None)
        assert result.bound is not None
        assert result.test_loss is not None
        failures += result.bound < result.test_loss
    print({"failures": failures, "of": REPETITIONS})
    assert not breaks(failures, REPETITIONS, DELTA)
