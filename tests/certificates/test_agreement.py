"""A certificate that contradicts itself is refused, also if somebody has repaired the arithmetic of its statements."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from abnet.certificates.certificate import Certificate, load_certificate
from abnet.certificates.certify_model import certify_judged, confusion_of
from abnet.certificates.certify_own_decision import about_the_decision
from abnet.certificates.compare_models import compare_judged
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.certificates.facts import Facts
from abnet.certificates.from_evidence import certify, certify_drawn, counting, for_candidates
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall
from abnet.certificates.goals.specificity import TargetSpecificity
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.meet_goal import meet
from abnet.certificates.prediction_sets import certify_sets
from abnet.certificates.region_counts import LocatedRows
from abnet.certificates.requests import Gaps, Requests
from abnet.certificates.scores import certify_scores
from abnet.certificates.set_rule import Sets
from abnet.certificates.statements.betting_gibbs_bound import BettingGibbsBound
from abnet.certificates.statements.confusion_rate import confusion_rates
from abnet.certificates.statements.copied_error import CopiedErrorBound
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.statements.counterfactual_share import CounterfactualShare
from abnet.certificates.statements.statement import Statement, statement_types
from abnet.certificates.statements.tolerated_error import ToleratedError
from abnet.certificates.statements.trained_error_bound import TrainedErrorBound
from abnet.certificates.terms import Expected, Terms
from abnet.certificates.validation_scores import ValidationScores

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
    held = ValidationScores(SCORES, TRUTH)
    terms = TEST
    if fitted:
        terms = Terms()
    decision, made = meet(goal, held, SCORES, TRUTH, NAMES, terms, keys=KEYS)
    certificate = certify(evidence(keys=KEYS), terms)
    return (certificate if decision is None else counting(certificate, "vote")).adding(made)


def decided(decision: Decision, goal: Goal | None = None, **options: Any) -> Certificate:
    answers = np.array([*NAMES, None], object)[decision(SCORES)]
    judged = judge_answers(np.array(NAMES)[TRUTH], answers)
    plain = certify_judged(judged, TEST, KEYS, **options)
    return about_the_decision(plain, judged, decision, with_goal(goal, fitted=True) if goal else None, TEST, KEYS)


CLASS_SCORES = RNG.dirichlet([1.0, 1.0, 1.0], N)
CLASS_TRUTH = (RNG.random(N)[:, None] > CLASS_SCORES.cumsum(axis=1)).sum(axis=1).clip(max=2)
SKEWED = Costs([[0, 1, 1], [1, 0, 1], [9, 9, 0]])


def with_costs_of_several() -> Certificate:
    held = ValidationScores(CLASS_SCORES, CLASS_TRUTH)
    decision, made = meet(SKEWED, held, CLASS_SCORES, CLASS_TRUTH, ("a", "b", "c"), Terms(), keys=KEYS)
    assert decision is not None
    assert decision.kind == "costs"
    plain = certify(observe(CLASS_SCORES.argmax(axis=1), CLASS_TRUTH, ("a", "b", "c")), Terms())
    return counting(plain, "vote").adding(made)


def decided_by_costs() -> Certificate:
    table = tuple(map(tuple, SKEWED.table("abc").tolist()))
    decision = Decision(kind="costs", costs=ExpectedCosts(table=table, power=2.0))
    judged = judge_answers(np.array([*"abc"])[CLASS_TRUTH], np.array([*"abc"])[decision(CLASS_SCORES)])
    return about_the_decision(certify_judged(judged, TEST, KEYS), judged, decision, None, TEST, KEYS)


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


def with_sets(by_class: bool, joint: Any = None, known: int = 2) -> Certificate:
    shares = np.column_stack([1 - SCORES, 1 + SCORES]) / 2
    truth = np.array(NAMES)[TRUTH]
    truth[: 2 - known] = "other"
    judged = judge_answers(truth, np.array(NAMES)[(SCORES > 0).astype(int)], known=NAMES)
    return certify_sets(shares, judged, Sets(0.2, by_class), TEST, joint=joint)


def gaps(positive: str | None = None) -> Certificate:
    seen = evidence(populations=np.arange(N) % 3)
    return certify(seen, TEST, Requests(gaps=Gaps("site", positive)))


def counterfactual() -> Certificate:
    unlabelled = observe(np.zeros(N, int), np.zeros(N, int), ("rows without labels",))
    share = CounterfactualShare.from_counts(column="sex", values=("f", "m"), changed=7, n=N, delta=0.05)
    return Certificate(statements=(share,), facts=Facts.of(unlabelled, TEST))


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
    "gaps": gaps,
    "gaps of a class": lambda: gaps("ill"),
    "abstaining, gaps": lambda: decided(
        Decision(kind="abstain", threshold=0.5), by=KEYS % 3, requests=Requests(gaps=Gaps("site", "ill"))),
    "another mix": lambda: certify(evidence(), TEST, Requests(mix={"ill": 0.01})),
    "another mix, unlabelled rows": lambda: certify(evidence(), TEST, Requests(new_answers=(90, 30, 4))),
    "counterfactual": counterfactual,
    "groups": lambda: certify(evidence(keys=KEYS, groups=GROUPS), Terms()),
    "groups of one row": lambda: certify(observe([0] * 30, [0, 1] * 15, NAMES, keys=KEYS[:30], groups=KEYS[:30]), TEST),
    "groups, trained": lambda: certify(evidence(keys=KEYS, groups=GROUPS), TRAINED),
    "trained": lambda: certify(evidence(), TRAINED),
    "trained, Catoni": lambda: certify(evidence(), Terms(trained=True, kl=3.0, expected=Expected(0.1, 3.0, 0.02))),
    "trained, sampled": lambda: certify(
        evidence(n_paths=8), Terms(trained=True, kl=3.0, vote="kept paths", vote_paths=25)),
    "trained, floor": lambda: certify(evidence(), Terms(trained=True, kl=3.0, floor=0.004)),
    "trained, init": lambda: certify(evidence(), Terms(trained=True, kl=9.0, source="init")),
    "copy": lambda: Certificate(
        statements=(CopiedErrorBound.from_counts(
            errors=certify(evidence(), TEST).facts.errors_of(None), n=N, differing=2, compared=900, delta=0.05),),
        facts=certify(evidence(), TEST).facts),
    "a period": lambda: certify(evidence(keys=KEYS), Terms(period="after 2024-03-01")),
    "fit to costs of several classes": lambda: with_costs_of_several(),
    "costs of several classes": lambda: decided_by_costs(),
    "drawn": lambda: certify_drawn(evidence(), Terms()),
    "drawn, trained": lambda: certify_drawn(evidence(), Terms(trained=True), 4.0),
    "confusion": lambda: Certificate(
        statements=tuple(confusion_rates(evidence(), TEST, others=False)), facts=certify(evidence(), TEST).facts),
    "confusion, other answers": lambda: confusion_of(judge_answers(["a", "b", "c"] * 40, ["a", "b", None] * 40), TEST),
    "compared": compared,
    "fit to an error": lambda: with_goal(TargetError(0.1), fitted=True),
    "fit to an error, not met": lambda: with_goal(TargetError(0.0001), fitted=True),
    "fit to a recall": lambda: with_goal(TargetRecall(0.9, "ill"), fitted=True),
    "fit to a precision": lambda: with_goal(TargetPrecision(0.9, "well"), fitted=True),
    "fit to a specificity": lambda: with_goal(TargetSpecificity(0.9, "ill"), fitted=True),
    "fit to costs": lambda: with_goal(COSTS, fitted=True),
    "scores, error": lambda: scored(TargetError(0.12)),
    "scores, recall": lambda: scored(TargetRecall(0.9, "ill")),
    "scores, precision": lambda: scored(TargetPrecision(0.9, "ill")),
    "scores, precision, not met": lambda: scored(TargetPrecision(0.9999, "ill")),
    "scores, specificity": lambda: scored(TargetSpecificity(0.9, "ill")),
    "scores, costs": lambda: scored(COSTS),
    "sets": lambda: with_sets(False),
    "sets, another label": lambda: with_sets(False, known=1),
    "sets by class": lambda: with_sets(True),
    "sets, jointly": lambda: with_sets(True, {"misses by class": 0.5, "average size of the sets": 0.3}),
    "errors, jointly": lambda: certify_judged(
        judge_answers(np.array(NAMES)[TRUTH], np.array(NAMES)[(SCORES > 0).astype(int)]), TEST, KEYS, by=KEYS % 3,
        joint={"classes": 0.5, "populations": 0.25}),
    "abstaining": lambda: decided(Decision(kind="abstain", threshold=0.5)),
    "abstaining, populations": lambda: decided(Decision(kind="abstain", threshold=0.5), by=KEYS % 3),
    "abstaining, groups": lambda: decided(Decision(kind="abstain", threshold=0.5), groups=GROUPS),
    "never answering": lambda: decided(Decision(kind="abstain", threshold=2.0)),
    "a cut for recall": lambda: decided(
        Decision(kind="cut", threshold=-0.2, positive=1), TargetRecall(0.9, "ill")),
    "a cut for specificity": lambda: decided(
        Decision(kind="cut", threshold=0.1, positive=1), TargetSpecificity(0.9, "ill")),
    "a cut for precision": lambda: decided(
        Decision(kind="cut", threshold=0.2, positive=1), TargetPrecision(0.9, "ill")),
    "regions": lambda: certify(
        evidence(regions=LocatedRows(np.where(SCORES > 0.3, "+", "-"), {"+": "high"})), TEST),
    "tolerance": lambda: Certificate(
        statements=(ToleratedError.from_counts(
            errors=certify(evidence(), TEST).facts.errors_of(None), unproved=5, n=N, tolerance="x by 1", delta=0.05),),
        facts=certify(evidence(), TEST).facts),
}  # fmt: skip
"""A certificate of every kind that the library makes."""

FREE = {
    "value", "low", "high",  # computed anew
    "log_density_ratio", "limit", "rate", "largest", "mean", "expected_tandem", "a", "b", "threshold",
}  # fmt: skip
"""Fields that neither the facts nor another statement determine."""

OF_SETS = {"errors"}
"""The facts do not say how many of the sets with exactly one class are wrong."""

FREE_THERE = {
    "copy": {"differing", "compared"},
    "sets": OF_SETS,
    "sets, another label": OF_SETS,
    "sets by class": OF_SETS,
    "sets, jointly": OF_SETS,
    "errors, jointly": {"population"},
    "gaps": {"column", "group"},
    "gaps of a class": {"column", "group"},
    "abstaining, gaps": {"column", "group"},
    "another mix, unlabelled rows": {"new_answers", "shares"},
    "counterfactual": {"column", "changed"},
    "populations": {"population"},
    "abstaining, populations": {"population"},
    "groups": {"risk", "answers"},
    "groups of one row": {"answers"},
    "abstaining, groups": {"answers"},
    "drawn": {"type"},
    "regions": {"errors", "signs", "words"},
    "tolerance": {"unproved", "tolerance"},
    "betting": {"type"},
}
"""More of them. That a certificate is about a drawn network follows from the model that it names. Where groups are
counted, the facts do not tell wrong answers from missing ones. They do not say how many errors are in a region, or how
many rows are robust. As many rows of a stream have the bound without bets."""

TAGS = [str(kind.__struct_config__.tag) for kind in statement_types()]


def changes(value: Any) -> Iterator[Any]:
    """Other values of the same type."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, 0, 2 * value + 3)
    elif isinstance(value, float):
        yield from (value / 2, value * 1.0001, (1 + value) / 2, 0.0)
    elif isinstance(value, str):
        yield from ("x", "predict", "vote", "or none", "test set", *NAMES, *TAGS)
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
    statements: list[Statement] = []
    for s in made.statements:
        if isinstance(s, BettingGibbsBound | CostBound):
            s.check()
            statements.append(s)
        else:
            statements.append(msgspec.structs.replace(s, value=s.bound()))
    return msgspec.structs.replace(made, statements=tuple(statements))


def promises(made: Certificate) -> list[Any]:
    """What is said of new data."""
    return [
        (type(s), s.about, s.value, s.delta, s.n_candidates, getattr(s, "answers", None), getattr(s, "rule", None))
        for s in made.statements
        if s.value is not None
    ]  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_a_real_certificate_agrees_with_itself(name: str) -> None:
    made = REAL[name]()
    assert Certificate.from_dict(made.to_dict()) == made


def test_classes_may_be_called_as_the_library_calls_other_labels_and_answers() -> None:
    names = ("another label", "other or none")
    seen = observe(np.arange(N) % 3, np.arange(N) // 3 % 3, names)  # each with rows of no class, and without an answer
    confusion = Certificate(statements=tuple(confusion_rates(seen, TEST)), facts=Facts.of(seen, TEST))
    for made in (certify(seen, TEST), confusion):
        assert len(set(made.facts.classes)) == 3
        assert Certificate.from_dict(made.to_dict()) == made


def test_every_kind_of_statement_is_in_a_certificate() -> None:
    made = {type(s) for make in REAL.values() for s in make().statements}
    assert made == {kind for kind in statement_types() if kind.__module__.startswith("abnet.")}


@pytest.mark.parametrize("name", REAL)
def test_a_changed_number_is_refused_though_the_arithmetic_is_right(name: str) -> None:
    real = REAL[name]()
    record = msgspec.json.decode(msgspec.json.encode(real))
    passed = set()
    for path in leaves(record):
        if (FREE | FREE_THERE.get(name, set())).intersection(path):
            continue
        for value in changes(_at(record, path)):
            altered = copy.deepcopy(record)
            _at(altered, path[:-1])[path[-1]] = value
            try:
                made = Certificate._unchecked(altered)
                made.check_agreement()
                made = repaired(made)
                made.check_agreement()
            except (ValueError, TypeError, KeyError, ArithmeticError):
                continue
            if any(promise not in promises(real) for promise in promises(made)):
                passed.add((*path, value))
    assert passed == set()


def test_a_floor_that_is_raised_everywhere_is_refused() -> None:
    """Losses between the floor and one minus it have a tandem risk of at most r - f (1 - f)."""
    real = REAL["trained, floor"]()
    risk = real.find(TrainedErrorBound).risk  # type: ignore[union-attr]
    for floor in (0.8 * risk, 0.95 * risk):
        raised = tuple(
            msgspec.structs.replace(s, floor=floor) if isinstance(s, TrainedErrorBound) else s for s in real.statements
        )
        made = repaired(msgspec.structs.replace(real, statements=raised))
        with pytest.raises(ValueError, match="floor"):
            made.check_agreement()


@pytest.mark.parametrize("change", ["dropped statement", "source", "missing answers"])
def test_an_accident_to_a_file_is_noticed(change: str, tmp_path: Path) -> None:
    """The facts determine none of these; the checksum of the file notices them."""
    made = REAL["abstaining, groups" if change == "missing answers" else "regions"]()
    path = tmp_path / "made.json"
    made.save(path)
    assert load_certificate(path) == made
    text = path.read_text()
    record = json.loads(text)["certificate"]
    if change == "dropped statement":
        record["statements"] = [s for s in record["statements"] if s["type"] != "error, region"]
    elif change == "source":
        record["facts"]["source"] = "split"
    else:
        for s in record["statements"]:
            s["answers"] = "predict"
    # Without a checksum, as in files of older releases, the certificate agrees with itself.
    Certificate.from_dict(record)
    content = json.loads(text) | {"certificate": record}
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="checksum"):
        load_certificate(path)


def _at(record: Any, path: Any) -> Any:
    for key in path:
        record = record[key]
    return record
