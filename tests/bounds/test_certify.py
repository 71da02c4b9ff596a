"""Certificates are made of the right bounds at the right share of δ."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet import bounds
from abnet.bounds import Certificate, SampledRisk

RNG = np.random.default_rng(7)
N = 400
RISKS = RNG.beta(1.0, 12.0, N)
LABELS = np.where(RNG.random(N) < 0.25, 1, -1)
WRONG: NDArray[np.bool_] = np.less(RNG.random(N), 0.04)
MEAN, SQUARE = float(RISKS.mean()), float((RISKS**2).mean())
PATHS = SampledRisk.from_values(RNG.random((N, 8)) < RISKS[:, None], LABELS)


def every_certificate() -> dict[str, Certificate]:
    wanted: Any = {"delta": 0.05, "n_candidates": 3}
    return {
        "trained": bounds.certify_trained(RISKS, LABELS, 4.0, prior="split", **wanted),
        "trained, counted": bounds.certify_trained(RISKS, LABELS, 4.0, prior="init", wrong=WRONG, **wanted),
        "frozen": bounds.certify_frozen(RISKS, LABELS, WRONG, prior="split", **wanted),
        "hold-out": bounds.certify_holdout(RISKS, LABELS, WRONG, **wanted),
        "trained, sampled": bounds.certify_trained_sampled(PATHS, 4.0, prior="split", **wanted),
        "trained, fresh paths": bounds.certify_trained_sampled(PATHS, 4.0, prior="init", vote="fresh paths", **wanted),
        "trained, expectation": bounds.certify_trained_sampled(PATHS, 4.0, prior="init", vote="expectation", **wanted),
        "frozen, sampled": bounds.certify_frozen_sampled(PATHS, LABELS, WRONG, prior="split", **wanted),
        "frozen, Gibbs only": bounds.certify_frozen_sampled(PATHS, prior="split", **wanted),
        "one class": bounds.certify_frozen(RISKS, np.ones(N), WRONG, prior="split", **wanted),
        "one example": bounds.certify_trained([0.3], [-1], 0.0, prior="init", **wanted),
    }


every = pytest.mark.parametrize("certificate", every_certificate().values(), ids=every_certificate().keys())


def test_trained_certificate_is_the_pac_bayes_bounds() -> None:
    c = bounds.certify_trained(RISKS, LABELS, 4.0, delta=0.1, prior="split", n_candidates=5)
    assert c.empirical_gibbs_risk == pytest.approx(MEAN)
    assert c.gibbs_risk_bound == pytest.approx(bounds.gibbs_bound(MEAN, 4.0, N, 0.02))
    assert c.twice_gibbs_bound == pytest.approx(bounds.twice_gibbs_bound(MEAN, 4.0, N, 0.01))
    assert c.tandem_bound == pytest.approx(bounds.tandem_bound(SQUARE, 4.0, N, 0.01))
    assert c.vote_error_bound == pytest.approx(bounds.vote_bound(MEAN, SQUARE, 4.0, N, 0.02))
    assert (c.vote_method, c.test_set_bound, c.vote_errors) == ("tandem", None, None)
    assert (c.posterior, c.prior, c.n_candidates, c.n_examples) == ("train", "split", 5, N)


def test_a_confident_network_is_certified_by_twice_gibbs() -> None:
    c = bounds.certify_trained(np.repeat([0.0, 1.0], [390, 10]), LABELS, 4.0, delta=0.05, prior="init")
    assert (c.vote_method, c.vote_error_bound) == ("twice Gibbs", c.twice_gibbs_bound)


@pytest.mark.parametrize("label", [-1, 1])
def test_trained_class_part_is_the_same_at_half_delta(label: int) -> None:
    c = bounds.certify_trained(RISKS, LABELS, 4.0, delta=0.1, prior="split", wrong=WRONG)
    mine = label == LABELS
    alone = bounds.certify_trained(RISKS[mine], LABELS[mine], 4.0, delta=0.05, prior="split")
    (part,) = (part for part in c.per_class if part.label == label)
    assert part.n_examples == np.sum(mine)
    assert part.vote_errors == np.sum(WRONG[mine])
    assert (part.gibbs_risk_bound, part.vote_error_bound) == (alone.gibbs_risk_bound, alone.vote_error_bound)


def test_frozen_certificate_is_the_chernoff_and_the_test_set_bound() -> None:
    c = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split", n_candidates=2)
    assert c.gibbs_risk_bound == pytest.approx(bounds.gibbs_bound_frozen(MEAN, N, 0.05))
    assert c.vote_error_bound == c.test_set_bound == bounds.test_set_bound(int(WRONG.sum()), N, 0.05)
    assert c.twice_gibbs_bound == pytest.approx(bounds.twice_gibbs_bound_frozen(MEAN, N, 0.025))
    assert c.tandem_bound == pytest.approx(bounds.tandem_bound_frozen(SQUARE, N, 0.025))
    assert (c.vote_method, c.vote_errors, c.kl) == ("test set", WRONG.sum(), 0.0)
    for part in c.per_class:
        mine = part.label == LABELS
        assert part.vote_error_bound == bounds.test_set_bound(int(np.sum(WRONG[mine])), int(np.sum(mine)), 0.025)
        assert part.gibbs_risk_bound == pytest.approx(
            bounds.gibbs_bound_frozen(float(RISKS[mine].mean()), int(np.sum(mine)), 0.025)
        )


def test_holdout_is_the_frozen_form() -> None:
    frozen = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split")
    assert bounds.certify_holdout(RISKS, LABELS, WRONG, delta=0.1) == replace(frozen, prior="hold-out")


def test_sampled_certificate_pays_for_sampling() -> None:
    c = bounds.certify_trained_sampled(PATHS, 4.0, delta=0.1, prior="split", n_candidates=2)
    assert c.gibbs_risk_bound == bounds.sampled_gibbs_bound(PATHS.mean, 8 * N, 4.0, N, 0.1, n_candidates=2)
    assert c.monte_carlo is not None
    assert c.monte_carlo.n_paths == 8
    assert c.monte_carlo.delta == pytest.approx(0.01)
    assert c.monte_carlo.risk_bound == pytest.approx(bounds.sampled_risk_bound(PATHS.mean, 8 * N, 0.005))
    assert (c.vote_error_bound, c.vote_method, c.twice_gibbs_bound, c.tandem_bound) == (None,) * 4


def test_sampled_vote_gets_only_the_bounds_that_cover_it() -> None:
    fresh = bounds.certify_trained_sampled(PATHS, 4.0, delta=0.1, prior="split", vote="fresh paths")
    assert (fresh.vote_error_bound, fresh.tandem_bound) == (2 * fresh.gibbs_risk_bound, None)
    sign = bounds.certify_trained_sampled(PATHS, 4.0, delta=0.1, prior="split", vote="expectation")
    assert PATHS.pair_mean is not None
    assert sign.tandem_bound == bounds.sampled_tandem_bound(PATHS.pair_mean, 4 * N, 4.0, N, 0.05)
    assert sign.twice_gibbs_bound == 2 * bounds.sampled_gibbs_bound(PATHS.mean, 8 * N, 4.0, N, 0.05)


def test_frozen_sampled_vote_is_counted_at_full_delta() -> None:
    c = bounds.certify_frozen_sampled(PATHS, LABELS, WRONG, delta=0.1, prior="split")
    assert c.vote_error_bound == bounds.test_set_bound(int(WRONG.sum()), N, 0.1)
    assert c.gibbs_risk_bound == bounds.sampled_gibbs_bound_frozen(PATHS.mean, 8 * N, N, 0.1)


def test_balanced_bound_is_the_mean_of_the_classes() -> None:
    c = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split")
    votes = [part.vote_error_bound or 0.0 for part in c.per_class]
    assert c.balanced_vote_bound == pytest.approx(np.mean(votes))
    assert c.balanced_gibbs_bound == pytest.approx(np.mean([part.gibbs_risk_bound for part in c.per_class]))


def test_a_class_without_examples_has_vacuous_bounds() -> None:
    negative, positive = every_certificate()["one class"].per_class
    assert (negative.n_examples, negative.gibbs_risk_bound, negative.vote_error_bound) == (0, 1.0, 1.0)
    assert (positive.n_examples, negative.empirical_gibbs_risk) == (N, None)


@pytest.mark.parametrize("n", [1, 2, 20])
@pytest.mark.parametrize("risk", [0.0, 0.5, 1.0])
def test_small_samples_give_a_valid_certificate(n: int, risk: float) -> None:
    c = bounds.certify_trained(np.full(n, risk), np.ones(n), 1e6, delta=0.05, prior="init")
    assert c.gibbs_risk_bound == c.vote_error_bound == 1.0
    assert "says nothing" in str(c)


@every
def test_every_certificate_follows_from_its_own_observations(certificate: Certificate) -> None:
    bounds.verify_certificate(certificate)


@every
@pytest.mark.parametrize("name", ["gibbs_risk_bound", "empirical_gibbs_risk", "delta", "n_examples"])
def test_a_tampered_certificate_is_found_out(certificate: Certificate, name: str) -> None:
    flattered: dict[str, Any] = {
        "gibbs_risk_bound": certificate.empirical_gibbs_risk,
        "empirical_gibbs_risk": certificate.empirical_gibbs_risk * 0.9,
        "delta": certificate.delta / 2,
        "n_examples": 2 * certificate.n_examples,
    }
    with pytest.raises(ValueError, match=r"does not follow|n_examples"):
        bounds.verify_certificate(replace(certificate, **{name: flattered[name]}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 0.0}, "^delta must"),
        ({"kl": -1.0}, "^kl must"),
        ({"kl": float("inf")}, "^kl must be finite"),
        ({"kl": float("nan")}, "^kl must"),
        ({"prior": "guess"}, "^prior must"),
        ({"prior": "hold-out"}, "hold-out"),
        ({"n_candidates": 0}, "^n_candidates must"),
        ({"risks": [[0.1]]}, "shape"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, object], message: str) -> None:
    arguments: dict[str, Any] = {"risks": RISKS, "labels": LABELS, "kl": 1.0, "delta": 0.05, "prior": "init"}
    with pytest.raises(ValueError, match=message):
        bounds.certify_trained(**{**arguments, **change})


def test_errors_of_the_vote_need_labels() -> None:
    with pytest.raises(ValueError, match="labels and wrong"):
        bounds.certify_frozen_sampled(PATHS, None, WRONG, delta=0.05, prior="split")


def test_errors_of_the_vote_must_be_those_of_the_sampled_examples() -> None:
    with pytest.raises(ValueError, match=f"wrong has 3 rows, but {N} examples"):
        bounds.certify_frozen_sampled(PATHS, LABELS[:3], WRONG[:3], delta=0.05, prior="split")


def test_an_unknown_vote_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^vote must"):
        bounds.certify_trained_sampled(PATHS, 1.0, delta=0.05, prior="split", vote="paths")


@every
def test_every_certificate_survives_json(certificate: Certificate) -> None:
    text = json.dumps(certificate.to_dict(), allow_nan=False)
    assert Certificate.from_dict(json.loads(text)) == certificate
