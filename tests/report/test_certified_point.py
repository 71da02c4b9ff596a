"""The certified region behind the curves: what the certificate says, at its place in the picture."""

import re
from dataclasses import replace

import msgspec
import pytest

from abnet.certificates.certificate import Certificate
from abnet.certificates.cut_counts import CutCounts
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.from_evidence import certify
from abnet.certificates.rates_of_cut import rates_of_cut
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.precision import PrecisionBound
from abnet.certificates.statements.recall import RecallBound, RecallTest
from abnet.certificates.terms import Terms
from abnet.model.model import Model
from abnet.report.certified_point import certified_point
from abnet.report.page import report_page
from report import pages

REGION = re.compile(r'class="certified" data-x="(\S+) (\S+)" data-y="(\S+) (\S+)"')


@pytest.fixture(scope="module")
def plain() -> Model:
    """Two classes; 4 of 100 rows of the first are wrong, and 10 of 50 of the second."""
    model = pages.hostile()
    answers = [0] * 96 + [1] * 4 + [1] * 40 + [0] * 10
    made = certify(observe(answers, [0] * 100 + [1] * 50, tuple(model.labels.names)), Terms(source="test set"))
    return replace(model, certificate=made)


def test_the_plain_vote_has_the_bounds_of_both_classes(plain: Model) -> None:
    assert plain.certificate_ is not None
    first, second = plain.certificate_.per_class
    assert first.vote_error_bound is not None
    assert second.vote_error_bound is not None
    of_second = certified_point(plain, 1)
    assert of_second is not None
    assert (of_second.recall, of_second.false_alarms) == (1 - second.vote_error_bound, first.vote_error_bound)
    assert of_second.recall < 40 / 50
    assert of_second.false_alarms > 4 / 100
    of_first = certified_point(plain, 0)
    assert of_first is not None
    assert (of_first.recall, of_first.false_alarms) == (1 - first.vote_error_bound, second.vote_error_bound)
    assert of_first.joint
    assert of_first.precision == 0.0


def test_the_page_draws_the_region_of_the_certificate(plain: Model) -> None:
    point = certified_point(plain, 1)
    assert point is not None
    found = [tuple(map(float, edges)) for edges in REGION.findall(report_page(plain, pages.given(plain), form=False))]
    assert found == [(0.0, point.false_alarms, point.recall, 1.0), (point.recall, 1.0, 0.0, 1.0)]


def test_nothing_is_drawn_without_a_certificate(plain: Model) -> None:
    bare = replace(plain, certificate=None)
    assert certified_point(bare, 1) is None
    assert not REGION.findall(report_page(bare, pages.given(bare), form=False))


def test_bounds_of_the_plain_vote_say_nothing_about_other_answers(plain: Model) -> None:
    threshold = replace(plain, decision=Decision(kind="cut", threshold=0.2, positive=1))
    assert certified_point(threshold, 1) is None
    abstaining = replace(plain, decision=Decision(kind="abstain", threshold=0.2))
    assert certified_point(abstaining, 1) is None


def test_a_threshold_has_the_rates_of_its_own_class(plain: Model) -> None:
    called = plain.labels.names[1]
    counts = CutCounts(100, 90, negatives=200, negatives_above=20, rows=300, rows_above=110)
    rates = rates_of_cut(counts, CutRule(threshold=0.3, called=called), delta=0.05, n_candidates=1)
    facts = Facts.of(observe([1] * 300, [0] * 200 + [1] * 100, tuple(plain.labels.names)), Terms())
    made = Certificate(statements=tuple(rates), facts=facts)
    model = replace(plain, certificate=made, decision=Decision(kind="cut", threshold=0.3, positive=1))
    recall = made.find(RecallBound, called)
    precision = made.find(PrecisionBound, called)
    assert recall is not None
    assert precision is not None
    point = certified_point(model, 1)
    assert point is not None
    assert (point.recall, point.precision, point.false_alarms) == (recall.value, precision.value, 1.0)
    assert not point.joint
    assert certified_point(model, 0) is None
    shared = msgspec.structs.replace(made, shares={recall.unit: 0.5, precision.unit: 0.5})
    together = certified_point(replace(model, certificate=shared), 1)
    assert together is not None
    assert together.joint

    # A goal that was tested goes first: of two bounds that hold singly, the larger must not be picked.
    goal = RecallTest.from_counts(
        rate=0.8, rule=CutRule(threshold=0.3, called=called), failures=10, trials=100, delta=0.05, n_candidates=1
    )
    both = replace(model, certificate=made.adding([goal]))
    chosen = certified_point(both, 1)
    assert chosen is not None
    assert chosen.recall == 0.8 < recall.value  # type: ignore[operator]
