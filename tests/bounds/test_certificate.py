"""The record itself: strict when read, the same after a journey through JSON, and readable by later versions."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds
from abnet.bounds import Certificate, DrawnCertificate, SampledRisk, certify_frozen, certify_test_set
from abnet.bounds import certify_trained_sampled as certify_sampled

FROZEN = certify_frozen([0.02, 0.1] * 500, [1, -1] * 500, [True] * 30 + [False] * 970, delta=0.05, prior="split")
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
    "list for a string": lambda d: d.update(prior=["split"]),
    "unknown method": lambda d: d.update(vote_method="prayer"),
    "method without its bound": lambda d: d.update(vote_method="tandem"),
    "vote without a method": lambda d: d.update(vote_method=None),
    "more errors than examples": lambda d: d.update(vote_errors=1001),
    "divergence of a frozen posterior": lambda d: d.update(kl=1.0),
    "test set of a trained posterior": lambda d: d.update(posterior="train"),
    "classes in no list": lambda d: d.update(per_class={}),
    "one class": lambda d: d["per_class"].pop(),
    "class with an unknown field": lambda d: d["per_class"][0].update(colour="red"),
    "class with a wrong label": lambda d: d["per_class"][0].update(label=1),
    "class with a sign for a label": lambda d: d["per_class"][0].update(label=-1),
    "class without its share, and no sign": lambda d: d["per_class"][0].pop("delta"),
    "class with the whole of delta": lambda d: d["per_class"][0].update(delta=0.05),
    "class that is no record": lambda d: d["per_class"].append("x"),
    "classes that do not add up": lambda d: d["per_class"][0].update(n_examples=3),
    "names in no list": lambda d: d.update(class_names="ab"),
    "a name too few": lambda d: d["class_names"].pop(),
    "a name too many": lambda d: d["class_names"].append("third"),
    "a name that is no text": lambda d: d.update(class_names=["a", 1]),
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


WAYS: dict[str, Callable[..., Certificate]] = {
    "trained": lambda risks, codes, wrong, k, **o: bounds.certify_trained(
        risks, codes, 2.5, prior="init", wrong=wrong, n_classes=k, **o
    ),
    "frozen": lambda risks, codes, wrong, k, **o: certify_frozen(risks, codes, wrong, prior="split", n_classes=k, **o),
    "test set": lambda risks, codes, wrong, k, **o: certify_test_set(risks, codes, wrong, n_classes=k, **o),
    "fixed paths": lambda risks, codes, wrong, k, **o: certify_sampled(
        SampledRisk.from_values(np.stack([risks] * 3, axis=1), codes, k),
        0.5,
        prior="split",
        vote="fixed paths",
        vote_paths=50,
        **o,
    ),
    "frozen, sampled": lambda risks, codes, wrong, k, **o: bounds.certify_frozen_sampled(
        SampledRisk.from_values(risks[:, None], codes, k), codes, wrong, prior="init", **o
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 40),
    k=st.integers(2, 6),
    delta=st.floats(1e-9, 0.99),
    n_candidates=st.integers(1, 9),
    names=st.lists(st.text(), min_size=6, max_size=6),
)
def test_reading_is_the_inverse_of_writing(
    way: Callable[..., Certificate], seed: int, n: int, k: int, delta: float, n_candidates: int, names: list[str]
) -> None:
    rng = np.random.default_rng(seed)
    risks, codes, wrong = rng.random(n) ** 3, rng.integers(0, k, n), np.less(rng.random(n), 0.3)
    made = way(risks, codes, wrong, k, delta=delta, n_candidates=n_candidates)
    certificate = Certificate(**{**vars(made), "class_names": tuple(names[:k])})
    read = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict(), allow_nan=False)))
    assert read == certificate
    assert read.to_dict() == certificate.to_dict()
    assert len(read.per_class) == k
    bounds.verify_certificate(read)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(-1e6, 1e6),
    st.floats(1e-9, 0.99),
    st.sampled_from(["init", "split"]),
    st.integers(1, 99),
)
def test_a_drawn_certificate_is_read_as_it_was_written(
    seen: tuple[int, int], ratio: float, delta: float, prior: str, candidates: int
) -> None:
    drawn = DrawnCertificate(*seen, ratio, delta, prior, "train", candidates)
    assert DrawnCertificate.from_dict(json.loads(json.dumps(drawn.to_dict()))) == drawn
