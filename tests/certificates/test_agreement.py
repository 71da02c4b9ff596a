"""A certificate that contradicts itself is refused, also if somebody has repaired the arithmetic of its statements."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from abnet.bounds.methods import METHODS
from abnet.certificates.agreement import RULES, check_agreement
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import certify_judged, confusion_of
from abnet.certificates.decided import about_the_decision
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.from_evidence import (
    Expected,
    Terms,
    about_the_vote,
    certify,
    certify_drawn,
    facts_of,
    for_candidates,
    rates,
)
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.held import Held
from abnet.certificates.meet_goal import meet
from abnet.certificates.outside import judge_answers
from abnet.certificates.paired_errors import compare_judged
from abnet.certificates.scores import certify_scores
from abnet.certificates.statement import state

N = 400
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, N)
SCORES = np.where(TRUTH == 1, 1.0, -1.0) * RNG.beta(4, 1, N) * np.where(RNG.random(N) < 0.04, -1.0, 1.0)
NAMES = ("well", "ill")
KEYS = np.arange(N)
TEST = Terms(source="test set")


def evidence(**options: Any) -> Evidence:
    return observe((SCORES > 0).astype(int), TRUTH, NAMES, losses=(1 - (2 * TRUTH - 1) * SCORES) / 2, **options)


def several() -> Evidence:
    """Three classes, and a few labels that the model does not know."""
    truth = np.where(np.arange(N) < 5, 3, np.arange(N) % 3)
    answers = np.where(np.arange(N) % 11 == 0, (truth + 1) % 3, np.minimum(truth, 2))
    return observe(answers, truth, ("a", "b", "c"))


def with_goal(goal: Goal, *, fitted: bool) -> Certificate:
    held = Held(SCORES, TRUTH)
    terms = Terms() if fitted else TEST
    decision, made = meet(goal, held, SCORES, TRUTH, NAMES, terms, keys=KEYS)
    certificate = certify(evidence(keys=KEYS), terms)
    return (certificate if decision is None else about_the_vote(certificate)).adding(made)


def decided(decision: Decision, goal: Goal | None = None, **options: Any) -> Certificate:
    answers = np.array([*NAMES, None], object)[decision(SCORES)]
    judged = judge_answers(np.array(NAMES)[TRUTH], answers)
    plain = certify_judged(judged, TEST, KEYS, **options)
    return about_the_decision(plain, judged, decision, with_goal(goal, fitted=True) if goal else None, TEST)


def compared() -> Certificate:
    one, other = (judge_answers(TRUTH, (cut < SCORES).astype(int)) for cut in (0.0, 0.6))
    return compare_judged(one, other, TEST)


def scored(goal: Goal) -> Certificate:
    answers = np.array(NAMES)[(SCORES > 0).astype(int)]
    error = isinstance(goal, TargetError)
    return certify_scores(
        np.abs(SCORES) if error else SCORES, np.array(NAMES)[TRUTH], goal, answers=answers if error else None,
        positive="ill" if isinstance(goal, Costs) else None, random_state=0,
    )  # fmt: skip


GROUPS = np.arange(N) // 4
COSTS = Costs({("ill", "well"): 5.0, ("well", "ill"): 1.0})
TRAINED = Terms(trained=True, kl=3.0)

REAL: dict[str, Callable[[], Certificate]] = {
    "two classes": lambda: certify(evidence(keys=KEYS), Terms()),
    "betting": lambda: certify(observe(
        [0, 1] * 600, [0, 1] * 600, NAMES, losses=[0.1, 0.3] * 600, keys=np.arange(1200)), Terms()),
    "several classes": lambda: certify(several(), TEST),
    "candidates": lambda: for_candidates(certify(evidence(), Terms()), 7),
    "populations": lambda: certify(evidence(populations=np.arange(N) % 3), TEST),
    "groups": lambda: certify(evidence(keys=KEYS, groups=GROUPS), Terms()),
    "groups of one row": lambda: certify(observe([0] * 30, [0, 1] * 15, NAMES, keys=KEYS[:30], groups=KEYS[:30]), TEST),
    "groups, trained": lambda: certify(evidence(keys=KEYS, groups=GROUPS), TRAINED),
    "trained": lambda: certify(evidence(), TRAINED),
    "trained, Catoni": lambda: certify(evidence(), Terms(trained=True, kl=3.0, expected=Expected(0.1, 3.0, 0.02))),
    "trained, sampled": lambda: certify(
        evidence(n_paths=8), Terms(trained=True, kl=3.0, vote="kept paths", vote_paths=25)),
    "trained, init": lambda: certify(evidence(), Terms(trained=True, kl=9.0, source="init")),
    "drawn": lambda: certify_drawn(evidence(), Terms()),
    "drawn, trained": lambda: certify_drawn(evidence(), Terms(trained=True), 4.0),
    "confusion": lambda: Certificate(
        statements=tuple(rates(evidence(), TEST, others=False)), facts=certify(evidence(), TEST).facts),
    "confusion, other answers": lambda: confusion_of(judge_answers(["a", "b", "c"] * 40, ["a", "b", None] * 40), TEST),
    "compared": compared,
    "fit to an error": lambda: with_goal(TargetError(0.1), fitted=True),
    "fit to an error, not met": lambda: with_goal(TargetError(0.0001), fitted=True),
    "fit to a recall": lambda: with_goal(TargetRecall(0.9, "ill"), fitted=True),
    "fit to a precision": lambda: with_goal(TargetPrecision(0.9, "well"), fitted=True),
    "fit to costs": lambda: with_goal(COSTS, fitted=True),
    "scores, error": lambda: scored(TargetError(0.12)),
    "scores, recall": lambda: scored(TargetRecall(0.9, "ill")),
    "scores, precision": lambda: scored(TargetPrecision(0.9, "ill")),
    "scores, precision, not met": lambda: scored(TargetPrecision(0.9999, "ill")),
    "scores, costs": lambda: scored(COSTS),
    "abstaining": lambda: decided(Decision(kind="abstain", threshold=0.5)),
    "abstaining, populations": lambda: decided(Decision(kind="abstain", threshold=0.5), by=KEYS % 3),
    "abstaining, groups": lambda: decided(Decision(kind="abstain", threshold=0.5), groups=GROUPS),
    "never answering": lambda: decided(Decision(kind="abstain", threshold=2.0)),
    "a cut for recall": lambda: decided(
        Decision(kind="cut", threshold=-0.2, positive=1), TargetRecall(0.9, "ill")),
    "a cut for precision": lambda: decided(
        Decision(kind="cut", threshold=0.2, positive=1), TargetPrecision(0.9, "ill")),
}  # fmt: skip
"""A certificate of every kind that the library makes."""

FREE = {
    "value",  # computed anew
    "log_density_ratio", "limit", "rate", "largest", "mean", "expected_tandem", "a", "b", "threshold",
}  # fmt: skip
"""Fields that neither the facts nor another statement determine."""

FREE_THERE = {
    "populations": {"name"}, "abstaining, populations": {"name"}, "groups": {"empirical_risk"}, "drawn": {"of"}
}  # fmt: skip
"""More of them. That a certificate is about a drawn network follows from the model that it names."""


def changes(value: Any) -> Iterator[Any]:
    """Other values of the same type."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 0, 2 * value + 3)
    elif isinstance(value, float):
        yield from (value / 2, value * 1.0001, (1 + value) / 2, 0.0)
    elif isinstance(value, str):
        yield from ("x", "predict", "class", "error", "cost", "at most", "at least", "test set", *NAMES, *METHODS)
    elif value is None:
        yield from (3, 0.5, "classes")


def leaves(record: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    if not inner:
        yield path
    for key, value in inner:
        yield from leaves(value, (*path, key))


def repaired(made: Certificate) -> Certificate:
    """The certificate with the values that follow from its counts; a ValueError if there are none."""
    statements = []
    for s in made.statements:
        if METHODS[s.method].values is None:
            again = state(s.quantity, s.of, s.method, s.counted, delta=s.delta, n_candidates=s.n_candidates)
            statements.append(msgspec.structs.replace(s, value=again.value))
        else:
            s.check()
            statements.append(s)
    return msgspec.structs.replace(made, statements=tuple(statements))


def promises(made: Certificate) -> list[Any]:
    """What is said of new data."""
    return [
        (s.about, s.side, s.value, s.delta, s.jointly, s.n_candidates, s.rule) for s in made.statements
        if s.value is not None
    ]  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_a_real_certificate_agrees_with_itself(name: str) -> None:
    made = REAL[name]()
    assert Certificate.from_dict(made.to_dict()) == made


def test_classes_may_be_called_as_the_library_calls_other_labels_and_answers() -> None:
    names = ("another label", "other or none")
    seen = observe(np.arange(N) % 3, np.arange(N) // 3 % 3, names)  # each with rows of no class, and without an answer
    for made in (certify(seen, TEST), Certificate(statements=tuple(rates(seen, TEST)), facts=facts_of(seen, TEST))):
        assert len(set(made.facts.classes)) == 3
        assert Certificate.from_dict(made.to_dict()) == made


def test_every_kind_of_statement_has_a_rule_and_every_rule_a_certificate() -> None:
    made = {(s.quantity, s.of) for make in REAL.values() for s in make().statements}
    assert made == set(RULES)


@pytest.mark.parametrize("name", REAL)
def test_a_changed_number_is_refused_though_the_arithmetic_is_right(name: str) -> None:
    real = REAL[name]()
    record = msgspec.json.decode(msgspec.json.encode(real))
    passed = set()
    for path in leaves(record):
        if path[-1] in FREE | FREE_THERE.get(name, set()):
            continue
        for value in changes(_at(record, path)):
            altered = copy.deepcopy(record)
            _at(altered, path[:-1])[path[-1]] = value
            try:
                made = msgspec.convert(altered, Certificate)
                check_agreement(made)
                made = repaired(made)
                check_agreement(made)
            except (ValueError, TypeError, KeyError, ArithmeticError):
                continue
            if any(promise not in promises(real) for promise in promises(made)):
                passed.add((*path, value))
    assert passed == set()


def _at(record: Any, path: Any) -> Any:
    for key in path:
        record = record[key]
    return record
