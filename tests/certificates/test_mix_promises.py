"""Error rates at another class mix: what is counted, and the promise where the new error rate is known."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import abnet
from abnet.bounds.label_shift import NotLabelShiftError, known_mix_bound, possible_shares, unknown_mix_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import certify_judged
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.requests import Requests
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.mix_error import KnownMixError, MixError, UnknownMixError, shares_of_mix
from abnet.certificates.terms import Terms
from abnet.utils.errors import ParameterError
from broken_promise import breaks

DELTA = 0.2
REPETITIONS = 140
ANSWERS = np.array([[0.9, 0.1], [0.3, 0.7]])
OLD = np.array([0.9, 0.1])
NEW = np.array([0.3, 0.7])
NEW_ERROR = float(NEW @ (1 - np.diag(ANSWERS)))
NAMES = np.array(["ok", "fraud"], object)
Labels = NDArray[Any]


def draw(rng: np.random.Generator, n: int, mix: NDArray[np.float64]) -> tuple[Labels, Labels]:
    """Labels and answers."""
    truth = rng.choice(2, n, p=mix)
    answers = (rng.random(n) < ANSWERS[truth, 1]).astype(int)
    return NAMES[truth], NAMES[answers]


def certificate(truth: Any, answers: Any, delta: float = DELTA, **requests: Any) -> Certificate:
    judged = judge_answers(truth, answers, known=["fraud", "ok"])
    terms = Terms(delta=delta, source="test set")
    return certify_judged(judged, terms, np.arange(len(truth)), requests=Requests(**requests))


def counts(answers: Labels) -> tuple[int, ...]:
    return (int(np.sum(answers == "fraud")), int(np.sum(answers == "ok")), 0)


def value(made: Certificate, kind: type[Any] = MixError) -> float:
    (statement,) = [part for part in made.each(kind) if getattr(part, "label", None) is None]
    return float(statement.value)


@pytest.mark.parametrize("order", ["drawn", "sorted"])
def test_both_promises_hold_and_that_of_the_old_mix_does_not(rng: np.random.Generator, order: str) -> None:
    failures = dict.fromkeys(("known", "unknown", "old"), 0)
    for _ in range(REPETITIONS):
        truth, answers = draw(rng, 400, OLD)
        if order == "sorted":
            rows = np.argsort(truth, kind="stable")
            truth, answers = truth[rows], answers[rows]
        known = certificate(truth, answers, mix={"fraud": 0.7})
        failures["known"] += value(known) < NEW_ERROR
        failures["old"] += value(known, ErrorBound) < NEW_ERROR
        _, new = draw(rng, 200, NEW)
        (unknown,) = certificate(truth, answers, new_answers=counts(new), others=False).each(UnknownMixError)
        outside = not all(low <= share <= high for (low, high), share in zip(unknown.shares, NEW[::-1], strict=True))
        failures["unknown"] += outside or (unknown.value or 0.0) < NEW_ERROR
    assert {name for name, number in failures.items() if breaks(number, REPETITIONS, DELTA)} == {"old"}


def test_a_mix_that_is_estimated_and_taken_as_known_breaks_the_promise(rng: np.random.Generator) -> None:
    """The trap: with many labelled rows nothing pays for the error of the estimate."""
    failures = 0
    for _ in range(REPETITIONS):
        truth, answers = draw(rng, 20_000, OLD)
        wrong = [float(np.mean(answers[truth == name] == "fraud")) for name in NAMES]
        _, new = draw(rng, 200, NEW)
        share = (float(np.mean(new == "fraud")) - wrong[0]) / (wrong[1] - wrong[0])
        rows = [int(np.sum(truth == name)) for name in NAMES]
        errors = [int(np.sum((truth == name) & (answers != name))) for name in NAMES]
        mix = np.clip([1 - share, share], 0.0, 1.0)
        failures += known_mix_bound(rows, errors, (mix / mix.sum()).tolist(), DELTA) < NEW_ERROR
    assert breaks(failures, REPETITIONS, DELTA)


def test_bounds_are_those_of_the_counts(rng: np.random.Generator) -> None:
    truth, answers = draw(rng, 300, OLD)
    answers[0] = None
    made = certificate(truth, answers, mix={"ok": 0.25})
    (known,) = made.each(KnownMixError)
    assert (known.classes, known.shares) == (("fraud", "ok"), (0.75, 0.25))
    assert known.value == known_mix_bound(known.rows, known.errors, known.shares, DELTA)
    made = certificate(truth, answers, new_answers=(60, 40, 3))
    (unknown,) = made.each(UnknownMixError)
    flat = [count for row in unknown.confusion for count in row]
    assert sum(row[-1] for row in unknown.confusion) == 1
    assert unknown.value == unknown_mix_bound(flat, (60, 40, 3), DELTA)
    assert list(unknown.shares) == possible_shares(flat, (60, 40, 3), DELTA)
    assert made.check()[unknown.about] == "recomputed"
    assert (unknown.for_candidates(9).value or 0.0) > (unknown.value or 0.0)


def test_a_class_without_a_share_takes_nothing(rng: np.random.Generator) -> None:
    truth, answers = draw(rng, 300, OLD)
    alone = certificate(truth, answers, mix={"ok": 1.0})
    errors = int(np.sum((truth == "ok") & (answers != "ok")))
    expected = known_mix_bound([0, int(np.sum(truth == "ok"))], [0, errors], [0.0, 1.0], DELTA)
    assert value(alone) == expected


def test_a_class_without_rows_counts_as_wrong() -> None:
    made = certificate(["ok"] * 100, ["ok"] * 100, mix={"fraud": 0.5})
    assert value(made) > 0.5


def test_a_changed_share_is_refused(rng: np.random.Generator) -> None:
    truth, answers = draw(rng, 300, OLD)
    record = certificate(truth, answers, new_answers=(60, 40, 3)).to_dict()
    record["statements"][-1]["shares"][0][1] -= 0.01
    with pytest.raises(ValueError, match="shares"):
        Certificate.from_dict(record)


@pytest.mark.parametrize(
    ("mix", "named"),
    [({"frad": 0.1}, "'frad'"), ({"a": 1.2}, "'a'"), ({"a": 0.5}, "0.5"), ({"a": 0.5, "b": 0.2, "c": 0.2}, "0.9")],
)
def test_a_mix_that_is_none_is_refused(mix: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        shares_of_mix(mix, ("a", "b", "c"))


def test_any_model_and_its_unlabelled_rows(rng: np.random.Generator) -> None:
    truth, answers = draw(rng, 300, OLD)
    _, new = draw(rng, 200, NEW)
    made: Any = abnet.certify(lambda rows: rows, answers.tolist(), truth, new_rows=new.tolist(), delta=DELTA)
    (statement,) = made.each(UnknownMixError)
    assert statement.new_answers == counts(new)
    with pytest.raises(ParameterError, match="new_rows"):
        abnet.certify(lambda rows: rows, answers.tolist(), truth, new_rows=new.tolist(), mix={"ok": 0.5})
    with pytest.raises(ParameterError, match="groups"):
        abnet.certify(lambda rows: rows, answers.tolist(), truth, mix={"ok": 0.5}, groups=np.arange(300) // 2)


def test_answers_that_no_mix_explains_say_what_to_do() -> None:
    truth = ["ok", "fraud"] * 200
    with pytest.raises(NotLabelShiftError, match="label some of them"):
        certificate(truth, ["ok"] * 400, new_answers=(400, 0, 0))
