"""A target specificity: from the command line to the certificate, and as a promise."""

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

import abnet
from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import Decision
from abnet.certificates.goals.specificity import TargetSpecificity
from abnet.certificates.meet_goal import meet
from abnet.certificates.statements.specificity import SpecificityBound, SpecificityTest
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from abnet.cli.app import app
from broken_promise import breaks

DELTA = 0.1
CLASSES = ("well", "ill")


def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores for the second class, "ill", and codes: the classes are normal with means -1 and 1."""
    truth = (rng.random(n) < 0.4).astype(np.intp)
    return rng.normal(size=n) + 2.0 * truth - 1.0, truth


def true_specificity(decision: Decision) -> float:
    """The probability that a row of the other class is not above the threshold; its scores have mean -1."""
    assert decision.threshold is not None
    return float(norm.cdf(decision.threshold + 1.0))


@pytest.mark.parametrize("positive", CLASSES)
@pytest.mark.parametrize("mutant", [False, True])
def test_promise(positive: str, mutant: bool) -> None:
    """The mutant takes the best threshold on the counted rows that seems to meet the goal, without a test."""
    rng = np.random.default_rng(8)
    goal = TargetSpecificity(0.85, positive)
    samples = 400
    broken = met = 0
    for _ in range(samples):
        held = ValidationScores(*draw(rng, 200))
        scores, truth = draw(rng, 300)
        if mutant:
            candidates = goal.candidates(held, CLASSES, 300, Terms(delta=DELTA))
            others = [d(scores[truth != d.positive]) == d.positive for d in candidates.decisions]
            passing = [d for d, called in zip(candidates.decisions, others, strict=True) if called.mean() <= goal.limit]
            decision = min(passing, key=lambda d: float(d.threshold or 0.0))
        else:
            found, (made, *_) = meet(goal, held, scores, truth, CLASSES, Terms(delta=DELTA), keys=np.arange(300))
            if found is None:
                assert made.value is None
                continue
            decision = found
        met += 1
        broken += true_specificity(decision) < goal.specificity
    assert met > 0.9 * samples
    assert breaks(broken, samples, DELTA) == mutant


def test_the_counts_are_those_of_the_rows() -> None:
    """A label that the model does not know is not positive, so predicting its row as positive is a failure."""
    rng = np.random.default_rng(0)
    scores, truth = draw(rng, 500)
    truth[:20] = 2
    goal = TargetSpecificity(0.7, "ill")
    decision, statements = meet(
        goal, ValidationScores(*draw(rng, 300)), scores, truth, CLASSES, Terms(source="test set"), keys=np.arange(500)
    )
    assert decision is not None
    (made,) = (s for s in statements if isinstance(s, SpecificityTest))
    flagged = scores > made.rule.threshold
    assert (made.failures, made.trials) == (np.sum(flagged & (truth != 1)), np.sum(truth != 1))
    assert made.value == 0.7


def test_scores_of_another_model() -> None:
    scores, truth = draw(np.random.default_rng(1), 2000)
    labels = np.array(CLASSES)[truth]
    made = abnet.certify_scores(scores, labels, TargetSpecificity(0.9, "ill"), random_state=0)
    assert made.find(SpecificityTest, "ill") is not None
    assert "90%" in made.describe()
    assert Certificate.from_dict(made.to_dict()) == made
    other = abnet.certify_scores(scores, labels, TargetSpecificity(0.9999, "ill"), random_state=0)
    assert other.statements[0].value is None
    assert "specificity" in other.describe()


def test_without_a_negative_row_there_is_no_threshold() -> None:
    with pytest.raises(ValueError, match="ill"):
        TargetSpecificity(0.9, "ill").candidates(
            ValidationScores(np.zeros(9), np.ones(9, np.intp)), CLASSES, 9, Terms()
        )


def test_from_fit_to_certify(tmp_path: Path) -> None:
    """The option, the file, the decision on fresh rows, and the report."""
    scores, truth = draw(np.random.default_rng(2), 900)
    table = {"a": scores, "b": np.round(scores**2, 3), "state": np.array(CLASSES)[truth]}
    for name, rows in (("fit", slice(0, 600)), ("fresh", slice(600, None))):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*(values[rows] for values in table.values()), strict=True))
    model = tmp_path / "m.abnet"
    options = ["--target-specificity", "0.7", "--positive-class", "ill", "--random-state", "0", "--max-iter", "20"]
    fit = CliRunner().invoke(app, ["fit", str(tmp_path / "fit.csv"), "--target", "state", "-o", str(model), *options])
    assert fit.exit_code == 0, fit.output
    loaded: Any = abnet.load(model)
    made = loaded.certificate.find(SpecificityTest, "ill")
    assert made.value == 0.7
    assert loaded.decision.threshold == made.rule.threshold
    assert "recall" in str(loaded.certificate)
    # Certified again on fresh rows, at the model's own threshold.
    result = CliRunner().invoke(app, ["certify", str(model), str(tmp_path / "fresh.csv"), "--json"])
    record = json.loads(result.stdout)["certificate"]["statements"][0]
    fresh = msgspec.convert(record, SpecificityBound)
    answers = loaded.predict({name: values[600:] for name, values in table.items() if name != "state"})
    called = np.asarray(answers) == "ill"
    negative = truth[600:] == 0
    assert (fresh.successes, fresh.n, fresh.promised) == (np.sum(negative & ~called), np.sum(negative), True)


def test_what_contradicts_the_facts_is_refused() -> None:
    scores, truth = draw(np.random.default_rng(3), 400)
    certificate = abnet.certify_scores(scores, np.array(CLASSES)[truth], TargetSpecificity(0.8, "ill"), random_state=0)
    made = certificate.find(SpecificityTest, "ill")
    assert made is not None
    for changes in ({"failures": made.failures - 1}, {"trials": made.trials + 1}, {"delta": 0.2}):
        altered = msgspec.structs.replace(made, **changes)
        altered = msgspec.structs.replace(altered, value=altered.bound())
        with pytest.raises(ValueError, match=r"specificity|threshold"):
            msgspec.structs.replace(certificate, statements=(altered, *certificate.statements[1:])).check()
