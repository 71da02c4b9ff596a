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
CODES = RNG.choice(5, N, p=[0.6, 0.2, 0.1, 0.1, 0.0])
PATHS = SampledRisk.from_values(RNG.random((N, 8)) < RISKS[:, None], LABELS)
FIVE = SampledRisk.from_values(RNG.random((N, 8)) < RISKS[:, None], CODES, 5)


def every_certificate() -> dict[str, Certificate]:
    wanted: Any = {"delta": 0.05, "n_candidates": 3}
    return {
        "trained": bounds.certify_trained(RISKS, LABELS, 4.0, prior="split", **wanted),
        "trained, counted": bounds.certify_trained(RISKS, LABELS, 4.0, prior="init", wrong=WRONG, **wanted),
        "frozen": bounds.certify_frozen(RISKS, LABELS, WRONG, prior="split", **wanted),
        "test set": bounds.certify_test_set(RISKS, LABELS, WRONG, **wanted),
        "trained, sampled": bounds.certify_trained_sampled(PATHS, 4.0, prior="split", **wanted),
        "trained, fresh paths": bounds.certify_trained_sampled(PATHS, 4.0, prior="init", vote="fresh paths", **wanted),
        "trained, expectation": bounds.certify_trained_sampled(PATHS, 4.0, prior="init", vote="expectation", **wanted),
        "frozen, sampled": bounds.certify_frozen_sampled(PATHS, LABELS, WRONG, prior="split", **wanted),
        "frozen, Gibbs only": bounds.certify_frozen_sampled(PATHS, prior="split", **wanted),
        "one class": bounds.certify_frozen(RISKS, np.ones(N), WRONG, prior="split", **wanted),
        "five classes": bounds.certify_frozen(RISKS, CODES, WRONG, prior="split", n_classes=5, **wanted),
        "five classes, sampled": bounds.certify_trained_sampled(FIVE, 4.0, prior="init", vote="expectation", **wanted),
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
def test_trained_class_part_is_the_same_at_its_share_of_delta(label: int) -> None:
    c = bounds.certify_trained(RISKS, LABELS, 4.0, delta=0.1, prior="split", wrong=WRONG)
    mine = label == LABELS
    # 1/n_c, divided by 1/n_c + 1/(n - n_c), is (n - n_c)/n.
    share = 0.1 * float(np.mean(~mine))
    part = c.per_class[max(label, 0)]
    assert part.label == max(label, 0)
    assert part.delta == pytest.approx(share)
    alone = bounds.certify_trained(RISKS[mine], LABELS[mine], 4.0, delta=part.delta, prior="split")
    assert part.n_examples == np.sum(mine)
    assert part.vote_errors == np.sum(WRONG[mine])
    assert (part.gibbs_risk_bound, part.vote_error_bound) == (alone.gibbs_risk_bound, alone.vote_error_bound)


def test_frozen_certificate_is_the_chernoff_and_the_test_set_bound() -> None:
    c = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split", n_candidates=2)
    assert c.gibbs_risk_bound == pytest.approx(bounds.gibbs_bound_frozen(MEAN, N, 0.05))
    assert c.vote_error_bound == c.test_set_bound == bounds.clopper_pearson_bound(int(WRONG.sum()), N, 0.05)
    assert c.twice_gibbs_bound == pytest.approx(bounds.twice_gibbs_bound_frozen(MEAN, N, 0.025))
    assert c.tandem_bound == pytest.approx(bounds.tandem_bound_frozen(SQUARE, N, 0.025))
    assert (c.vote_method, c.vote_errors, c.kl) == ("test set", WRONG.sum(), 0.0)
    for part in c.per_class:
        mine = 2 * part.label - 1 == LABELS
        share = 0.05 * float(np.mean(~mine))
        k, n = int(np.sum(WRONG[mine])), int(np.sum(mine))
        assert part.vote_error_bound == pytest.approx(bounds.clopper_pearson_bound(k, n, share))
        assert part.gibbs_risk_bound == pytest.approx(bounds.gibbs_bound_frozen(float(RISKS[mine].mean()), n, share))


def test_a_test_set_has_the_frozen_form() -> None:
    frozen = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split")
    assert bounds.certify_test_set(RISKS, LABELS, WRONG, delta=0.1) == replace(frozen, prior="test set")


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
    assert c.vote_error_bound == bounds.clopper_pearson_bound(int(WRONG.sum()), N, 0.1)
    assert c.gibbs_risk_bound == bounds.gibbs_bound_frozen(PATHS.mean, N, 0.1)
    assert c.monte_carlo is not None
    assert (c.monte_carlo.delta, c.monte_carlo.risk_bound) == (0.0, PATHS.mean)


def test_balanced_bound_is_the_mean_of_the_classes() -> None:
    c = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split")
    votes = [part.vote_error_bound or 0.0 for part in c.per_class]
    assert c.balanced_vote_bound == pytest.approx(np.mean(votes))


def test_five_classes_share_delta_and_hold_their_own_bounds() -> None:
    c = bounds.certify_frozen(RISKS, CODES, WRONG, delta=0.1, prior="split", n_classes=5)
    assert c.class_names == ("0", "1", "2", "3", "4")
    assert [part.label for part in c.per_class] == [0, 1, 2, 3, 4]
    assert sum(part.delta for part in c.per_class) == pytest.approx(0.1)
    shares = 1.0 / np.bincount(CODES, minlength=4)
    shares = 0.1 * shares / shares.sum()  # the class without rows has none
    for part, share in zip(c.per_class[:4], shares.tolist(), strict=True):
        mine = part.label == CODES
        k, n = int(np.sum(WRONG[mine])), int(np.sum(mine))
        assert (part.n_examples, part.vote_errors) == (n, k)
        assert part.vote_error_bound == pytest.approx(bounds.clopper_pearson_bound(k, n, share))
        assert part.gibbs_risk_bound == pytest.approx(bounds.gibbs_bound_frozen(float(RISKS[mine].mean()), n, share))
    assert (c.per_class[4].n_examples, c.per_class[4].vote_error_bound) == (0, 1.0)
    assert c.balanced_vote_bound == pytest.approx(np.mean([part.vote_error_bound or 0.0 for part in c.per_class]))
    # All rows together know nothing of classes.
    assert replace(c, per_class=()) == replace(
        bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split"), per_class=(), class_names=c.class_names
    )


def test_codes_and_signs_give_one_certificate() -> None:
    signs = bounds.certify_frozen(RISKS, LABELS.astype(float), WRONG, delta=0.1, prior="split")
    assert bounds.certify_frozen(RISKS, (LABELS + 1) // 2, WRONG, delta=0.1, prior="split") == signs


def test_losses_and_errors_must_be_of_the_same_classes() -> None:
    with pytest.raises(ValueError, match="codes must lie between 0 and 1"):
        bounds.certify_frozen_sampled(PATHS, CODES, WRONG, delta=0.05, prior="split")


def test_other_shares_of_the_classes_are_verified_as_they_are() -> None:
    c = bounds.certify_frozen(RISKS, LABELS, WRONG, delta=0.1, prior="split")
    # Class 0 has three rows in four, and so a quarter of δ.
    small, large = c.per_class
    assert small.vote_errors is not None
    bound = bounds.clopper_pearson_bound(small.vote_errors, small.n_examples, 0.02)
    gibbs = bounds.gibbs_bound_frozen(small.empirical_gibbs_risk or 0.0, small.n_examples, 0.02)
    shared = replace(small, delta=0.02, vote_error_bound=bound, gibbs_risk_bound=gibbs)
    bounds.verify_certificate(replace(c, per_class=(shared, large)))
    with pytest.raises(ValueError, match="does not follow from its own observations: per_class"):
        bounds.verify_certificate(replace(c, per_class=(replace(small, delta=0.02), large)))
    with pytest.raises(ValueError, match="add up to more than delta"):
        replace(c, per_class=(replace(small, delta=0.06), large))


def test_a_class_without_examples_has_vacuous_bounds() -> None:
    negative, positive = every_certificate()["one class"].per_class
    assert (negative.n_examples, negative.gibbs_risk_bound, negative.vote_error_bound) == (0, 1.0, 1.0)
    assert (positive.n_examples, negative.empirical_gibbs_risk) == (N, None)


@pytest.mark.parametrize("n", [1, 2, 20])
@pytest.mark.parametrize("risk", [0.0, 0.5, 1.0])
def test_small_samples_give_a_valid_certificate(n: int, risk: float) -> None:
    c = bounds.certify_trained(np.full(n, risk), np.ones(n), 1e6, delta=0.05, prior="init")
    assert c.gibbs_risk_bound == c.vote_error_bound == 1.0
    assert "This bound is vacuous" in " ".join(str(c).split())


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
    with pytest.raises(ValueError, match=r"does not follow|n_examples|more than delta"):
        bounds.verify_certificate(replace(certificate, **{name: flattered[name]}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delta": 0.0}, "^delta must"),
        ({"kl": -1.0}, "^kl must"),
        ({"kl": float("inf")}, "^kl must be a finite number"),
        ({"kl": float("nan")}, "^kl must"),
        ({"prior": "guess"}, "^prior must"),
        ({"prior": "test set"}, "no test set"),
        ({"prior": "hold-out"}, "^prior must"),
        ({"n_candidates": 0}, "^n_candidates must"),
        ({"risks": [[0.1]]}, "shape"),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, object], message: str) -> None:
    arguments: dict[str, Any] = {"risks": RISKS, "codes": LABELS, "kl": 1.0, "delta": 0.05, "prior": "init"}
    with pytest.raises(ValueError, match=message):
        bounds.certify_trained(**{**arguments, **change})


def test_errors_of_the_vote_need_classes() -> None:
    with pytest.raises(ValueError, match="codes and wrong"):
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
