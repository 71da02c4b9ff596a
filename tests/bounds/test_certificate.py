"""The record itself: strict when read, honest when printed."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from abnet.bounds import Certificate, SampledRisk, certify_frozen, certify_frozen_sampled, certify_trained
from abnet.bounds import certify_trained_sampled as certify_sampled
from abnet.bounds.wording import percent, percent_up

FROZEN = certify_frozen([0.02, 0.1] * 500, [1, -1] * 500, [True] * 30 + [False] * 970, delta=0.05, prior="split")
TRAINED = certify_trained([0.02, 0.3] * 500, [1, -1] * 500, 12.0, delta=0.01, prior="init", n_candidates=4)
SAMPLED = certify_sampled(SampledRisk(0.05, 0.01, 1000, 20), 8.0, delta=0.05, prior="split")

Change = Callable[[dict[str, Any]], object]
CHANGES: dict[str, Change] = {
    "missing": lambda d: d.pop("delta"),
    "unknown": lambda d: d.update(colour="red"),
    "string for a number": lambda d: d.update(delta="0.05"),
    "boolean for a number": lambda d: d.update(kl=False),
    "nan": lambda d: d.update(kl=float("nan")),
    "infinite": lambda d: d.update(kl=float("inf")),
    "bound above one": lambda d: d.update(gibbs_risk_bound=1.5),
    "bound below what was seen": lambda d: d.update(gibbs_risk_bound=0.0),
    "float for a count": lambda d: d.update(n_examples=1000.0),
    "no examples": lambda d: d.update(n_examples=0),
    "number for a string": lambda d: d.update(prior=3),
    "unknown method": lambda d: d.update(vote_method="prayer"),
    "method without its bound": lambda d: d.update(vote_method="tandem"),
    "vote without a method": lambda d: d.update(vote_method=None),
    "more errors than examples": lambda d: d.update(vote_errors=1001),
    "divergence of a frozen posterior": lambda d: d.update(kl=1.0),
    "test set of a trained posterior": lambda d: d.update(posterior="train"),
    "classes in no list": lambda d: d.update(per_class={}),
    "one class": lambda d: d["per_class"].pop(),
    "class with an unknown field": lambda d: d["per_class"][0].update(colour="red"),
    "class with a wrong label": lambda d: d["per_class"][0].update(label=0),
    "class that is no record": lambda d: d["per_class"].append("x"),
    "classes that do not add up": lambda d: d["per_class"][0].update(n_examples=3),
    "sampling that is no record": lambda d: d.update(monte_carlo="yes"),
    "sampling with missing fields": lambda d: d.update(monte_carlo={"n_paths": 3}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_reading_is_strict(change: Change) -> None:
    record = copy.deepcopy(FROZEN.to_dict())
    assert Certificate.from_dict(record) == FROZEN
    change(record)
    with pytest.raises(ValueError, match=r"must|missing|not a certificate"):
        Certificate.from_dict(record)


def test_reading_refuses_what_is_no_dictionary() -> None:
    with pytest.raises(ValueError, match="Certificate must be a dictionary"):
        Certificate.from_dict([])  # type: ignore[arg-type]


def test_certificate_is_hashable_and_pickles() -> None:
    assert pickle.loads(pickle.dumps(SAMPLED)) == SAMPLED
    assert hash(SAMPLED) == hash(Certificate.from_dict(SAMPLED.to_dict()))


def words(certificate: Certificate) -> str:
    return " ".join(str(certificate).split())


def test_frozen_certificate_in_words() -> None:
    text = words(FROZEN)
    promise = "With 95 % confidence, the error of `predict` on new data from the same source is at most 4.1 %"
    assert promise in text
    assert "30 errors on 1,000 examples" in text
    assert "holds with 95 % confidence by itself, not both at once" in text
    assert "sample weights did not enter" in text
    assert "independent draws from one source" in text
    assert "says nothing" not in text


def test_trained_certificate_in_words() -> None:
    text = words(TRAINED)
    assert "With 99 % confidence" in text
    assert "choice among 4 candidates is paid for" in text
    assert "class negative" in text
    assert "class malignant" in " ".join(TRAINED.describe(classes=("malignant", "benign")).split())


def test_sampled_certificate_in_words() -> None:
    text = words(SAMPLED)
    assert "There is no certificate for `predict`" in text
    assert "sampled with 20 paths for each" in text
    assert "not both at once" not in text


@pytest.mark.parametrize(
    ("wrong", "sentence"), [(5, "says nothing of use: tossing a coin"), (10, "says nothing: no error exceeds 100 %")]
)
def test_a_vacuous_certificate_says_so(wrong: int, sentence: str) -> None:
    flags = [True] * wrong + [False] * (10 - wrong)
    assert sentence in words(certify_frozen([0.0] * 10, [1, -1] * 5, flags, delta=0.05, prior="hold-out"))


def test_a_useful_certificate_does_not_say_so() -> None:
    assert "says nothing" not in words(
        certify_frozen_sampled(SampledRisk(0.05, 0.01, 1000, 20), delta=0.05, prior="init")
    )


@pytest.mark.parametrize(
    ("delta", "text"), [(0.05, "95 %"), (0.001, "99.9 %"), (1 / 3, "66.6666 %"), (1e-9, "99.9999 %")]
)
def test_confidence_is_rounded_down(delta: float, text: str) -> None:
    assert f"With {text} confidence" in words(certify_trained([0.1] * 9, [1] * 9, 1.0, delta=delta, prior="init"))


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.04, "4.1 %"), (0.25, "25 %"), (0.00875, "0.88 %"), (0.9999, "100 %"), (0.0, "0 %"), (1e-9, "0.01 %")],
)
def test_bounds_are_rounded_up(bound: float, text: str) -> None:
    # 0.04 as a double lies a hair above four hundredths
    assert percent_up(bound) == text


def test_observed_rates_are_rounded_to_nearest() -> None:
    assert [percent(rate) for rate in (0.0, 0.0333, 0.00449, 1.0)] == ["0 %", "3.3 %", "0.45 %", "100 %"]


def test_a_vote_of_fresh_paths_is_promised_on_average() -> None:
    certificate = certify_sampled(SampledRisk(0.05, 0.01, 1000, 20), 8.0, delta=0.05, prior="split", vote="fresh paths")
    assert "the error of `predict` on new data from the same source, averaged over its random paths, is" in words(
        certificate
    )


def test_confidence_is_never_rounded_up() -> None:
    from abnet.bounds.wording import confidence

    assert confidence(0.05) == "95 %"
    assert confidence(1e-300) == "99.9999 %"
