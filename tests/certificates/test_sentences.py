"""What the words of a certificate say: which rows were held out, what holds jointly, and what is assumed."""

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from abnet.certificates.certificate import Certificate
from abnet.certificates.describe import assumptions, describe, main_table, sentences
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms

N = 300


def made(terms: Terms, *, losses: bool = False, populations: bool = False, wrong: float = 0.1) -> Certificate:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, N)
    answers = np.where(rng.random(N) < wrong, 1 - truth, truth)
    more: dict[str, Any] = {"losses": 0.4 * rng.random(N)} if losses else {}
    more |= {"populations": rng.choice(["east", "west"], N)} if populations else {}
    return certify(observe(answers, truth, ("no", "yes"), **more), terms)


def sentences_of(text: str) -> list[str]:
    return re.split(r"(?<=[a-z%)])\. ", " ".join(text.split()))


TRAINED = [
    Terms(source="split", trained=True, kl=1.0),
    Terms(source="init", trained=True, kl=1.0),
    Terms(source="init"),
]


@pytest.mark.parametrize("terms", TRAINED, ids=str)
@pytest.mark.parametrize("details", [False, True])
def test_rows_that_are_not_held_out_are_bound_rows(terms: Terms, details: bool) -> None:
    """Also where nothing could be trained on them: without a first part no rows were held out from anything."""
    found = describe(made(terms, losses=True), details=details)
    assert "held-out" not in " ".join(found.split())
    assert "bound row" in " ".join(found.split())


@pytest.mark.parametrize("source", ["split", "test set"])
def test_rows_that_had_no_part_in_training_are_held_out(source: Any) -> None:
    assert "held-out row" in " ".join(describe(made(Terms(source=source))).split())


@pytest.mark.parametrize("terms", [Terms(), TRAINED[0]], ids=["frozen", "trained"])
@pytest.mark.parametrize("details", [False, True])
def test_every_family_that_is_said_to_hold_jointly_spends_one_delta(terms: Terms, details: bool) -> None:
    """The error rate and the Gibbs risk of the classes are two columns, of δ each: a sentence for each."""
    certificate = made(terms, losses=True, populations=not terms.trained)
    spent: Counter[str] = Counter()
    for statement in certificate.statements:
        if statement.jointly is not None:
            spent[statement.jointly] += statement.delta  # type: ignore[assignment]
    assert max(spent.values()) <= terms.delta * (1 + 1e-9)
    header = main_table(certificate, details=details)[0]
    columns = {name for name in spent if name != "classes, Gibbs risk" or "Gibbs risk (upper bound)" in header}
    jointly = [one for one in sentences(certificate, details=details) if "hold jointly with" in one]
    assert len(jointly) == len(columns)
    assert sum("Gibbs risk" in one for one in jointly) == ("classes, Gibbs risk" in columns)


def test_that_a_foreign_model_never_saw_the_rows_is_an_assumption() -> None:
    """Of a fit it is a fact."""
    (assumed,) = [
        one for one in sentences_of(assumptions(made(Terms(source="test set")))) if "without these rows" in one
    ]
    assert "assumes" in assumed
    of_fit = assumptions(made(Terms(source="split")))
    assert "without these rows" not in of_fit
    assert len([one for one in sentences_of(of_fit) if "learned from other rows" in one and "assumes" not in one]) == 1


def test_a_model_for_rare_classes_is_also_compared_by_its_balanced_error() -> None:
    """Worse than always answering no, but better than any constant answer where each class counts the same."""
    truth = np.repeat([0, 1], [1800, 200])
    answers = truth.copy()
    answers[:360] = 1
    answers[1800:1840] = 0
    rare = certify(observe(answers, truth, ("no", "yes")), Terms())
    found = " ".join(sentences(rare))
    assert "bound on the error rate exceeds the majority-class error" in found  # not the statement before it
    assert re.search(r"balanced error rate is at most [\d.]+%; that of any constant answer is 50%", found)
    useless = " ".join(sentences(made(Terms(), wrong=0.6)))
    assert "majority-class error" in useless
    assert "constant answer" not in useless
