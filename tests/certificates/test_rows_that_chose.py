"""Rows that found a decision cannot certify it: every function refuses them, and what is certified holds."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import abnet
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.fitted_rows import row_filter
from abnet.certificates.goals import TargetError
from abnet.certificates.held import Held
from abnet.certificates.meet_goal import meet
from abnet.certificates.statements.answered_error import AnsweredErrorBound
from abnet.certificates.terms import Terms
from abnet.model.card import Card
from abnet.model.distributed_scoring import certify_frame
from abnet.model.predictors.compact import Compact
from abnet.tables.labels import Labels, signs_of
from abnet.utils.errors import TrainingRowsError
from broken_promise import breaks, most_failures
from estimators.worlds import certified

RNG = np.random.default_rng(8)
N = 300
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
Y = np.where(RNG.random(N) < 1 / (1 + np.exp(-3 * X["a"])), "ill", "well")


@pytest.fixture(scope="module")
def clf() -> Any:
    fitted = certified(0, max_iter=3, decision=abnet.TargetRecall(0.7, positive="ill")).fit(X, Y)
    assert fitted.model_.decision.kind == "cut"
    return fitted


def dask_frame(model: Any, rows: pd.DataFrame, labels: np.ndarray) -> Any:
    parts = pytest.importorskip("dask.dataframe", reason="needs abnet[dask]")
    return certify_frame(model, parts.from_pandas(rows.assign(label=labels), npartitions=5), "label")


def ill(rows: Any) -> np.ndarray:
    return np.full(len(rows), "ill")


ENTRIES: dict[str, Callable[[Any, pd.DataFrame, np.ndarray], Any]] = {
    "abnet.certify": abnet.certify,
    "of its method": lambda clf, rows, labels: abnet.certify(clf.predict, rows, labels),
    "of its model": lambda clf, rows, labels: abnet.certify(clf.model_, rows, labels),
    "by populations": lambda clf, rows, labels: abnet.certify(clf, rows, labels, by=labels),
    "by groups": lambda clf, rows, labels: abnet.certify(clf, rows, labels, groups=np.arange(len(rows))),
    "clf.certify": lambda clf, rows, labels: clf.certify(rows, labels),
    "confusion": lambda clf, rows, labels: clf.confusion(rows, labels),
    "compare_errors": lambda clf, rows, labels: abnet.compare_errors(ill, clf, rows, labels),
    "certify_table": lambda clf, rows, labels: abnet.certify_table(clf, rows.assign(label=labels), truth="label"),
    "with a goal": lambda clf, rows, labels: abnet.certify_table(
        clf, rows.assign(label=labels), truth="label", goal=abnet.TargetRecall(0.5, positive="ill")
    ),
    "Dask": lambda clf, rows, labels: dask_frame(clf, rows, labels),
}
ROWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as they were": lambda bound: bound,
    "sorted": lambda bound: bound[np.argsort(X["a"].to_numpy()[bound])],
    "a few": lambda bound: bound[:12],
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_rows_that_found_the_decision_are_refused(entry: str, clf: Any) -> None:
    certify = ENTRIES[entry]
    bound = clf.bound_rows_
    for chosen in ROWS.values():
        rows = chosen(bound)
        with pytest.raises(TrainingRowsError):
            certify(clf, X.iloc[rows], Y[rows])
    with pytest.raises(TrainingRowsError):
        certify(clf, X.iloc[bound].astype(np.float32), Y[bound])
    half = bound[: len(bound) // 2]
    with pytest.raises(TrainingRowsError):
        certify(clf, pd.concat([X.iloc[half], X.iloc[half] + 0.01]), np.r_[Y[half], Y[half]])
    assert certify(clf, X + 0.01, Y) is not None


def test_a_monitor_refuses_them_too_and_writes_no_state(clf: Any, tmp_path: Path) -> None:
    clf.save(tmp_path / "m.abnet")
    bound = clf.bound_rows_
    watch = partial(abnet.monitor, tmp_path / "m.abnet", state=tmp_path / "s.json", error=0.4, truth="label")
    with pytest.raises(TrainingRowsError):
        watch(table=X.iloc[bound].assign(label=Y[bound]))
    assert not (tmp_path / "s.json").exists()
    assert watch(table=(X + 0.01).assign(label=Y)).n_new == N


def test_the_plain_vote_of_these_rows_is_still_counted(clf: Any) -> None:
    matrix = clf.confusion(X, Y, fitted=True)
    bound = clf.bound_rows_
    assert sum(matrix.facts.class_errors) == np.sum(clf.vote(X.iloc[bound]) != Y[bound])


def test_costs_are_no_exception_and_a_goal_that_was_not_met_is_one() -> None:
    """A cut for costs was tested on these rows; without a decision they chose nothing."""
    costs = abnet.Costs({("ill", "well"): 10.0, ("well", "ill"): 1.0})
    cut = certified(0, max_iter=3, decision=costs).fit(X, Y)
    bound = cut.bound_rows_
    assert cut.model_.decision != ARGMAX
    with pytest.raises(TrainingRowsError):
        abnet.certify(cut, X.iloc[bound], Y[bound])
    with pytest.warns(UserWarning, match="certified"):
        vote = certified(0, max_iter=3, decision=abnet.TargetError(0.001)).fit(X, Y)
    bound = vote.bound_rows_
    again: Any = abnet.certify(vote, X.iloc[bound], Y[bound], delta=vote.delta)
    assert again.vote_error_bound == vote.certificate_.vote_error_bound


# The promise, with the true rates known

PREDICTOR = Compact(np.array([[[4.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
DELTA = 0.1
GOAL = TargetError(0.07)


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(0, 0.5, (n, 1))
    return x, (rng.random(n) < 1 / (1 + np.exp(-4 * x[:, 0]))).astype(np.intp)


WORLD = draw(np.random.default_rng(99), 100_000)


def decided(rng: np.random.Generator) -> tuple[Decision, tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """A decision that rows found, those rows, and the training rows; drawn again until there is one."""
    while True:
        first = draw(rng, 300)
        bound = draw(rng, 100)
        held = Held(PREDICTOR.scores(first[0]), first[1])
        scores = PREDICTOR.scores(bound[0])
        terms = Terms(delta=DELTA)
        decision, _ = meet(GOAL, held, scores, bound[1], ("0", "1"), terms, keys=np.arange(len(scores)))
        if decision is not None:
            return decision, bound, first


def true_rate(decision: Decision) -> float:
    """The error rate among answered rows."""
    answers = decision(PREDICTOR.scores(WORLD[0]))
    answered = answers < 2
    return float(np.mean(answers[answered] != WORLD[1][answered]))


def is_false(model: abnet.Model, rate: float, rows: np.ndarray, labels: np.ndarray) -> bool:
    """Whether there is a certificate of the answered rows and it is false."""
    table = {"x": rows[:, 0].tolist(), "y": labels.astype(str).tolist()}
    try:
        made: Any = abnet.certify_table(model, table, truth="y", delta=DELTA).made
    except TrainingRowsError:
        return False
    stated = made.find(AnsweredErrorBound)
    return stated is not None and bool(stated.value < rate)


def test_a_certificate_of_answered_rows_holds_whatever_rows_are_given() -> None:
    """If the filter forgets the rows that found the decision, most certificates from them are false."""
    rng = np.random.default_rng(4)
    runs = 12
    fresh_each = 25
    forgotten = remembered = fresh = 0
    for _ in range(runs):
        decision, (rows, labels), first = decided(rng)
        rate = true_rate(decision)
        used = (np.r_[first[0], rows], signs_of(np.r_[first[1], labels]))
        whole = abnet.Model(
            PREDICTOR, Labels(np.array(["0", "1"])), feature_names=("x",), decision=decision,
            card=Card(row_filter=row_filter(*used)),
        )  # fmt: skip
        partly = replace(whole, card=Card(row_filter=row_filter(*used, len(first[1]))))
        forgotten += is_false(partly, rate, rows, labels)
        for order in (rng.permutation(len(rows)), np.argsort(rows[:, 0]), np.argsort(labels, kind="stable")):
            remembered += is_false(whole, rate, rows[order], labels[order])
        fresh += sum(is_false(whole, rate, *draw(rng, 100)) for _ in range(fresh_each))
    assert forgotten > most_failures(runs, DELTA)
    assert remembered == 0
    assert not breaks(fresh, runs * fresh_each, DELTA)
