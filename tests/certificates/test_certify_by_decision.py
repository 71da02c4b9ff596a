"""A model that answers by a decision: what is certified and watched later are its answers, not its plain vote."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet import Model
from abnet.certificates.certify_model import certify_judged
from abnet.certificates.certify_own_decision import about_the_decision
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify, counting
from abnet.certificates.goals import TargetError, TargetRecall
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.meet_goal import meet
from abnet.certificates.statements.answered_error import AnsweredErrorBound
from abnet.certificates.statements.coverage import Coverage
from abnet.certificates.statements.cut_bound import CutRateBound
from abnet.certificates.statements.cut_error import CutError
from abnet.certificates.statements.decision_rule import CutRule
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.flagged import Flagged
from abnet.certificates.statements.precision import PrecisionBound, PrecisionTest
from abnet.certificates.statements.rate_test import CutTest
from abnet.certificates.statements.recall import RecallBound, RecallTest
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from abnet.model.card import Card
from abnet.model.certify_table import certify_table
from abnet.model.predictors.compact import Compact
from abnet.tables.labels import Labels
from broken_promise import breaks

X = np.linspace(-3.0, 3.0, 200)
TRUTH = np.where(X > 0, "yes", "no")
TABLE = {"x": X.tolist(), "y": TRUTH.tolist()}
CUT = Decision(kind="cut", threshold=-0.9, positive=1)
ABSTAIN = Decision(kind="abstain", threshold=0.5)


def model(decision: Decision) -> Model:
    """A model whose plain vote makes no error, with a certificate of that vote."""
    predictor = Compact(np.ones((1, 1, 1)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    seen = observe([0] * 100, [0] * 100, ("no", "yes"))
    promised = counting(certify(seen, Terms()), "vote")
    return Model(
        predictor, Labels(np.array(["no", "yes"])), feature_names=("x",), certificate=promised, decision=decision,
        card=Card(target="y"),
    )  # fmt: skip


@pytest.mark.parametrize("decision", [CUT, ABSTAIN])
def test_certify_counts_the_answers_of_predict(decision: Decision) -> None:
    made: Any = certify_table(model(decision), TABLE)
    wrong = int(np.sum(model(decision).predict(X[:, None]) != TRUTH))
    assert wrong > 10
    assert made.made.find(ErrorBound).errors == wrong
    answers = {statement.answer for statement in made.confusion().statements}
    assert ("other or none" in answers) == (decision is ABSTAIN)


def test_rows_without_an_answer_are_not_called_errors() -> None:
    made: Any = certify_table(model(ABSTAIN), TABLE).made
    answers = model(ABSTAIN).predict(X[:, None])
    answered = np.array([answer is not None for answer in answers])
    first, coverage = made.statements[:2]
    assert isinstance(first, AnsweredErrorBound)
    assert (first.errors, first.n) == (np.sum(answers[answered] != TRUTH[answered]), answered.sum())
    assert (coverage.answered, coverage.n) == (answered.sum(), len(X))
    text = " ".join(made.describe().split())
    assert "without an answer" in text
    assert "the error rate on new data" not in text
    assert set(made.check().values()) == {"recomputed"}


@pytest.mark.parametrize("further", [{"by": "place"}, {"group": "place"}], ids=["by", "group"])
def test_nor_with_populations_or_groups(further: dict[str, Any]) -> None:
    places = [f"p{place // 4 if 'group' in further else place % 2}" for place in range(len(X))]
    made: Any = certify_table(model(ABSTAIN), {**TABLE, "place": places}, **further).made
    text = " ".join(made.describe().split())
    assert "without an answer" in text
    assert "the error rate on" not in text
    assert "upper bounds on the error rate" not in text
    assert isinstance(made.statements[0], AnsweredErrorBound) == (
        "by" in further
    )  # rows of a group are no independent draws


@pytest.mark.parametrize("quantity", ["recall", "precision"])
def test_what_a_cut_was_made_for_comes_first(quantity: str) -> None:
    kinds: dict[str, tuple[type[CutTest], type[CutRateBound], type[CutRateBound]]] = {
        "recall": (RecallTest, RecallBound, PrecisionBound),
        "precision": (PrecisionTest, PrecisionBound, RecallBound),
    }
    promised, first, second = kinds[quantity]
    rule = CutRule(threshold=-0.9, called="yes")
    promise = promised.from_counts(failures=0, trials=100, rate=0.9, rule=rule, delta=0.05)
    cut = model(CUT)
    assert cut.certificate is not None
    made: Any = certify_table(replace(cut, certificate=cut.certificate.adding([promise])), TABLE).made
    answers = cut.predict(X[:, None])
    among = (TRUTH if quantity == "recall" else answers) == "yes"
    right = int(np.sum((answers == "yes") & (TRUTH == "yes")))
    assert isinstance(made.statements[0], first)
    assert (made.statements[0].successes, made.statements[0].n) == (right, among.sum())
    assert "score for yes is above -0.9" in " ".join(made.describe().split())
    flagged = made.find(Flagged, "yes")
    assert (flagged.flagged, flagged.n) == (np.sum(answers == "yes"), len(X))
    other = made.find(second, "yes")
    assert other.successes == right
    assert (flagged.n_candidates, other.n_candidates) == (1, 1)  # the threshold was not chosen with these rows
    assert not made.each(CutError)
    assert made.find(ErrorBound).errors == np.sum(answers != TRUTH)


@pytest.mark.parametrize("tight", [False, True])
def test_statements_about_answered_rows_are_kept(tight: bool, rng: np.random.Generator) -> None:
    """60% of the rows are answered, and 10% of the answers are wrong; observed rates are no bounds."""
    runs = 400
    terms = Terms(delta=0.1, source="test set")
    false = Counter[str]()
    for _ in range(runs):
        truth = rng.integers(0, 2, 80)
        answers = np.where(rng.random(80) < 0.1, 1 - truth, truth)
        said = [answer if given else None for answer, given in zip(answers, rng.random(80) < 0.6, strict=True)]
        judged = judge_answers(truth, said, known=[0, 1])
        errors = certify_judged(judged, terms, np.arange(80))
        made = about_the_decision(errors, judged, ABSTAIN, None, terms, np.arange(len(judged.truth)))
        (error,) = made.each(AnsweredErrorBound)
        (coverage,) = made.each(Coverage)
        seen = error.errors / error.n, coverage.answered / 80
        bound, least = seen if tight else (error.value or 0.0, coverage.value or 0.0)
        false += Counter(error=bound < 0.1, coverage=least > 0.6)
    assert breaks(false["error"], runs, 0.1) == breaks(false["coverage"], runs, 0.1) == tight


def test_a_new_threshold_is_found_for_the_plain_vote() -> None:
    made: Any = certify_table(model(CUT), TABLE, goal=TargetRecall(0.8, positive="yes"), random_state=0)
    assert made.made.find(RecallTest, "yes").value == 0.8
    assert made.judged.wrong.sum() == 0


@pytest.mark.parametrize("decision", [CUT, ABSTAIN])
def test_a_monitor_does_not_hold_answers_to_the_votes_promise(decision: Decision, tmp_path: Path) -> None:
    path = tmp_path / "m.abnet"
    state = tmp_path / "s.json"
    model(decision).save(path)
    with pytest.raises(ValueError, match="error"):
        abnet.monitor(path, TABLE, state)
    assert not state.exists()
    seen = abnet.monitor(path, TABLE, state, error=0.6)
    assert seen.errors_new == np.sum(model(decision).predict(X[:, None]) != TRUTH)


def test_the_short_form_says_whose_error_is_bounded() -> None:
    assert "error rate of the plain vote at most" in repr(model(CUT))
    assert "error rate at most" in repr(model(Decision()))
    assert "error rate of the plain vote" in str(model(CUT).certificate_)


def test_a_threshold_below_every_row_is_said_to_answer_all() -> None:
    scores = np.linspace(-1.0, 1.0, 400)
    truth = (scores > 0).astype(int)
    decision, made = meet(
        TargetError(0.1), ValidationScores(scores, truth), scores, truth, ("no", "yes"), Terms(), keys=np.arange(400)
    )
    assert decision is not None
    certificate = certify(observe(truth, truth, ("no", "yes")), Terms()).adding(made)
    for text in (certificate.describe(), decision.sentence(("no", "yes"))):
        assert "-1" not in text
        assert "every row is answered" in " ".join(text.lower().split())
