"""Bounds that count groups: reduction by hand, the promise for trained and frozen posteriors, and the row-wise trap."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from abnet.bounds import gibbs_bound, tandem_bound
from abnet.bounds.betting import betting_bound
from abnet.bounds.certificate import Certificate
from abnet.bounds.certify import verify_certificate
from abnet.bounds.gibbs import gibbs_bound_frozen
from abnet.bounds.grouped import GroupCounts
from abnet.bounds.sampled import sampled_risk_bound
from abnet.decisions.groups import certify_groups, grouped_risk, grouped_sample
from abnet.groups import number_groups
from promise import breaks

DELTA, G, SIZE = 0.1, 40, 8
GROUPS = np.repeat(np.arange(G), SIZE)


def test_means_of_means(rng: np.random.Generator) -> None:
    groups, losses = rng.integers(6, size=50), rng.random(50)
    names = list(dict.fromkeys(groups.tolist()))
    risk = grouped_risk(losses, groups)
    assert risk.losses is not None
    np.testing.assert_allclose(risk.losses, [losses[groups == g].mean() for g in names])
    assert risk.mean == pytest.approx(np.mean([losses[groups == g].mean() for g in names]))
    assert risk.pair_mean == pytest.approx(np.mean([(losses[groups == g] ** 2).mean() for g in names]))
    sample = grouped_sample(losses, losses**2, 20, groups)
    assert (sample.mean, sample.pair_mean, sample.n_losses) == (risk.mean, risk.pair_mean, 20 * len(names))


def test_the_formulas_of_the_certificates(rng: np.random.Generator) -> None:
    losses, wrong = rng.random(G * SIZE) * 0.3, rng.random(G * SIZE) < 0.1
    risk, rates = grouped_risk(losses, GROUPS), wrong.reshape(G, SIZE).mean(axis=1)
    trained = certify_groups(
        risk, GROUPS, wrong, delta=DELTA, prior="split", posterior="train", kl=2.5, n_candidates=3
    )  # fmt: skip
    assert trained.gibbs_risk_bound == gibbs_bound(risk.mean, 2.5, G, DELTA, n_candidates=3)
    twice = min(1.0, 2 * gibbs_bound(risk.mean, 2.5, G, DELTA / 2, n_candidates=3))
    assert trained.vote_error_bound == min(twice, tandem_bound(risk.pair_mean, 2.5, G, DELTA / 2, n_candidates=3))
    frozen = certify_groups(risk, GROUPS, wrong, delta=DELTA, prior="split", n_candidates=3)
    assert frozen.gibbs_risk_bound == gibbs_bound_frozen(risk.mean, G, DELTA, n_candidates=3)
    assert frozen.vote_error_bound == betting_bound(rates, DELTA, n_candidates=3)
    sample = grouped_sample(losses, losses**2, 20, GROUPS)
    sampled = certify_groups(
        sample, GROUPS, None, delta=DELTA, prior="split", posterior="train", kl=2.5, vote="fixed paths", vote_paths=100
    )  # fmt: skip
    upper = sampled_risk_bound(risk.mean, 20 * G, DELTA / 10)
    assert sampled.gibbs_risk_bound == pytest.approx(gibbs_bound(upper, 2.5, G, 0.9 * DELTA), abs=1e-12)
    for certificate in (trained, frozen, sampled):
        verify_certificate(certificate)
        assert Certificate.from_dict(certificate.to_dict()) == certificate


HYPOTHESES, TRUTH = 20, 0.2


def world(rng: np.random.Generator) -> np.ndarray:
    """Errors (H, G, 8) of 20 classifiers; each errs on a group at a rate of its own, 0.2 on average."""
    rates = rng.beta(0.4, 1.6, size=(HYPOTHESES, G, 1))
    return rng.random((HYPOTHESES, G, SIZE)) < rates


def trained_on_groups(wrong: np.ndarray) -> float:
    """The classifier with the fewest errors, from a uniform prior: a divergence of ln 20."""
    best = wrong[wrong.mean(axis=(1, 2)).argmin()].ravel()
    options = {"delta": DELTA, "prior": "split", "posterior": "train", "kl": math.log(HYPOTHESES)}
    return certify_groups(grouped_risk(best, GROUPS), GROUPS, best, **options).gibbs_risk_bound  # type: ignore[arg-type]


def trained_on_rows(wrong: np.ndarray) -> float:
    best = wrong[wrong.mean(axis=(1, 2)).argmin()].ravel()
    return gibbs_bound(float(best.mean()), math.log(HYPOTHESES), len(best), DELTA)


def frozen_vote(wrong: np.ndarray) -> float:
    first = wrong[0].ravel()
    certificate = certify_groups(grouped_risk(first, GROUPS), GROUPS, first, delta=DELTA, prior="split")
    return certificate.vote_error_bound or 0.0


def frozen_gibbs(wrong: np.ndarray) -> float:
    first = wrong[0].ravel()
    return certify_groups(grouped_risk(first, GROUPS), GROUPS, first, delta=DELTA, prior="split").gibbs_risk_bound


def too_bold(wrong: np.ndarray) -> float:
    """The frozen vote at four times the δ that was promised."""
    first = wrong[0].ravel()
    return betting_bound(first.reshape(G, SIZE).mean(axis=1), 4 * DELTA)


def untrained_price(wrong: np.ndarray) -> float:
    """The best of 20 without paying for the choice."""
    best = wrong[wrong.mean(axis=(1, 2)).argmin()]
    return betting_bound(best.mean(axis=1), DELTA)


@pytest.mark.parametrize(
    ("bound", "broken"),
    [
        (trained_on_groups, False), (frozen_vote, False), (frozen_gibbs, False),
        (trained_on_rows, True), (too_bold, True), (untrained_price, True),
    ],
)  # fmt: skip
def test_promise(rng: np.random.Generator, bound: Callable[[np.ndarray], float], broken: bool) -> None:
    failures = sum(bound(world(rng)) < TRUTH for _ in range(500))
    assert breaks(failures, 500, DELTA) == broken


def test_counts_are_checked() -> None:
    with pytest.raises(ValueError, match="a group has more errors than rows"):
        GroupCounts((2, 3), (0, 4))
    with pytest.raises(ValueError, match="one number for each"):
        GroupCounts((2, 3), (0,))
    with pytest.raises(ValueError, match="one number for each"):
        GroupCounts(())
    with pytest.raises(ValueError, match="rows"):
        GroupCounts.from_dict({"rows": [0], "errors": None})
    with pytest.raises(ValueError, match="losses are those of 2 groups"):
        certify_groups(grouped_risk([0.1, 0.2], [0, 1]), [0, 0], [False, False], delta=DELTA, prior="split")


def test_groups_are_numbered_as_they_come() -> None:
    assert number_groups(np.array(["b", "a", "b", 3], object), 4).tolist() == [0, 1, 0, 2]
    assert number_groups(np.array([7.0, 7.0, 1.0]), 3).tolist() == [0, 0, 1]
