"""Which bounds a certificate gets: that they are valid, and computed again when it is checked."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from abnet import bounds
from abnet.bounds import Certificate, Expected, SampledRisk
from abnet.bounds.betting import betting_bound, least_betting_bound
from abnet.bounds.certify import assemble
from abnet.bounds.kept_paths_exact import kept_paths_threshold
from abnet.bounds.rules import BETTING_ROWS, ExactRisk, Terms, VoteErrors
from promise import breaks

RNG = np.random.default_rng(11)
N = 1200
RISKS = RNG.beta(2.0, 20.0, N)
CODES = (RNG.random(N) < 0.1).astype(int)
WRONG: NDArray[np.bool_] = RNG.random(N) < 0.05
PATHS = SampledRisk.from_values(RNG.random((N, 8)) < RISKS[:, None], CODES)
EXPECTED = Expected(0.08, 3.0, 0.01)


def certificates() -> dict[str, Certificate]:
    exact, errors = ExactRisk.from_values(RISKS, CODES), VoteErrors.from_values(WRONG, CODES)
    train = (4.0, 0.05, "split", 1, "train")
    frozen = (0.0, 0.05, "split", 1, "frozen")
    return {
        "frozen": assemble(exact, errors, Terms(*frozen, "expectation")),
        "frozen, sampled": assemble(PATHS, errors, Terms(*frozen, None)),
        "trained": assemble(exact, None, Terms(*train, "expectation")),
        "kept paths": assemble(PATHS, None, Terms(*train, "fixed paths", 100)),
        "fresh paths": assemble(PATHS, None, Terms(*train, "fresh paths")),
    }


@pytest.mark.parametrize("name", certificates())
def test_a_certificate_is_computed_again_from_its_record(name: str) -> None:
    certificate = certificates()[name]
    bounds.verify_certificate(Certificate.from_dict(certificate.to_dict()))
    if name != "frozen":  # found by betting, which needs the losses
        with pytest.raises(ValueError, match="does not follow"):
            bounds.verify_certificate(replace(certificate, gibbs_risk_bound=certificate.empirical_gibbs_risk))


def test_betting_is_the_frozen_bound_from_a_number_of_rows_that_is_fixed() -> None:
    few, many = BETTING_ROWS - 1, BETTING_ROWS
    made = [bounds.certify_frozen(RISKS[:n], CODES[:n], WRONG[:n], delta=0.05, prior="split") for n in (few, many)]
    assert made[0].gibbs_risk_bound == pytest.approx(bounds.gibbs_bound_frozen(float(RISKS[:few].mean()), few))
    assert made[1].gibbs_risk_bound == betting_bound(RISKS[:many])
    assert made[1].gibbs_risk_bound < 0.95 * bounds.gibbs_bound_frozen(float(RISKS[:many].mean()), many)


def test_a_bound_by_betting_is_computed_again_from_the_losses() -> None:
    certificate = bounds.certify_frozen(RISKS, CODES, WRONG, delta=0.05, prior="split")
    bounds.verify_certificate(certificate, RISKS)
    flattered = replace(certificate, gibbs_risk_bound=certificate.gibbs_risk_bound - 1e-4)
    bounds.verify_certificate(flattered)  # it cannot be told without the losses
    with pytest.raises(ValueError, match=r"observations: gibbs_risk_bound$"):
        bounds.verify_certificate(flattered, RISKS)


def test_rows_that_nobody_drew_are_bet_on_in_an_order_that_is_drawn() -> None:
    """Sorted by loss, as a file may be: bets in that order would promise less than the mean."""
    order = np.argsort(RISKS)
    risks, codes, wrong = RISKS[order], CODES[order], WRONG[order]
    drawn = np.random.default_rng(0).permutation(len(risks))
    certificate = bounds.certify_frozen(risks, codes, wrong, delta=0.05, prior="test set", order=drawn)
    assert certificate == bounds.certify_test_set(risks, codes, wrong, delta=0.05, order=drawn)
    assert bounds.certify_test_set(risks, codes, wrong, delta=0.05).gibbs_risk_bound > 1.01 * RISKS.mean()
    assert betting_bound(risks) == pytest.approx(RISKS.mean())
    assert certificate.gibbs_risk_bound > 1.01 * RISKS.mean()
    bounds.verify_certificate(certificate, risks[drawn])


def test_a_bound_that_betting_cannot_reach_is_found_out_without_the_losses() -> None:
    clean = bounds.certify_frozen(np.zeros(N), CODES, WRONG, delta=0.05, prior="split")
    bounds.verify_certificate(clean)
    with pytest.raises(ValueError, match="gibbs_risk_bound"):
        bounds.verify_certificate(replace(clean, gibbs_risk_bound=0.9 * least_betting_bound(N)))


@pytest.mark.parametrize("field", ["test_set_bound", "twice_gibbs_bound", "tandem_bound"])
def test_everything_else_of_a_large_frozen_certificate_is_computed_again(field: str) -> None:
    certificate = bounds.certify_frozen(RISKS, CODES, WRONG, delta=0.05, prior="split")
    smaller = 0.99 * float(getattr(certificate, field))
    change: dict[str, Any] = {field: smaller}
    if field == "test_set_bound":
        change["vote_error_bound"] = smaller
    with pytest.raises(ValueError, match=field):
        bounds.verify_certificate(replace(certificate, **change))


def test_expected_figures_give_catonis_bound_and_are_recorded() -> None:
    plain = bounds.certify_trained(RISKS, CODES, 3.0, delta=0.05, prior="split")
    with_C = bounds.certify_trained(RISKS, CODES, 3.0, delta=0.05, prior="split", expected=EXPECTED)
    assert with_C.gibbs_risk_bound < plain.gibbs_risk_bound
    assert (with_C.vote_error_bound or 1.0) < (plain.vote_error_bound or 0.0)
    assert with_C.per_class == plain.per_class
    bounds.verify_certificate(Certificate.from_dict(with_C.to_dict()))
    with pytest.raises(ValueError, match="does not follow"):
        bounds.verify_certificate(replace(with_C, expected=replace(EXPECTED, risk=0.2)))


@pytest.mark.parametrize("prior", ["init", "split"])
def test_expected_figures_need_a_prior_part(prior: str) -> None:
    if prior == "split":
        bounds.certify_trained(RISKS, CODES, 3.0, delta=0.05, prior=prior, expected=EXPECTED)
        return
    with pytest.raises(ValueError, match="need a first part"):
        bounds.certify_trained(RISKS, CODES, 3.0, delta=0.05, prior=prior, expected=EXPECTED)


def test_kept_paths_share_one_threshold() -> None:
    gibbs = bounds.sampled_gibbs_bound(PATHS.mean, 8 * N, 1.0, N, 0.225)
    for paths in (3, 30):
        c = bounds.certify_trained_sampled(PATHS, 1.0, delta=0.5, prior="split", vote="fixed paths", vote_paths=paths)
        first, second = (kept_paths_threshold(paths, 0.05, order=j) for j in (1, 2))
        assert (second > 0.0) == (paths > 4)  # so few paths have no second-order bound
        assert c.twice_gibbs_bound == pytest.approx(min(1.0, gibbs / min(first, second or first)))
        assert (c.tandem_bound == 1.0) == (second == 0.0)


def failures(bound_of: Any, repetitions: int = 1500) -> int:
    return sum(bound_of(np.random.default_rng([3, seed])) for seed in range(repetitions))


DELTA = 0.2


@pytest.mark.parametrize("mutant", [False, True])
def test_frozen_sampled_promise(mutant: bool) -> None:
    """Four rows with 200 paths each: taking the paths for independent rows (the mutant) breaks the promise."""
    chances, n, paths = np.array([0.0, 0.9]), 12, 200

    def failed(rng: np.random.Generator) -> bool:
        p = chances[(rng.random(n) < 0.3).astype(int)]
        sampled = SampledRisk.from_values(rng.random((n, paths)) < p[:, None], np.ones(n))
        if mutant:
            return bool(bounds.gibbs_bound_frozen(sampled.mean, n * paths, DELTA) < 0.27)
        made = bounds.certify_frozen_sampled(sampled, delta=DELTA, prior="split")
        return bool(made.gibbs_risk_bound < 0.27)

    assert breaks(failures(failed), 1500, DELTA) == mutant


@pytest.mark.parametrize("mutant", [False, True])
def test_betting_promise(mutant: bool) -> None:
    """Losses sorted before they are bet on (the mutant) are losses in an order that depends on them."""

    def failed(rng: np.random.Generator) -> bool:
        risks = np.where(rng.random(BETTING_ROWS) < 0.1, 1.0, 0.0)
        risks = np.sort(risks) if mutant else risks
        wrong = np.zeros(BETTING_ROWS, dtype=bool)
        made = bounds.certify_frozen(risks, np.ones(BETTING_ROWS), wrong, delta=DELTA, prior="split")
        return bool(made.gibbs_risk_bound < 0.1)

    assert breaks(failures(failed, 400), 400, DELTA) == mutant


@pytest.mark.parametrize("mutant", [False, True])
def test_fixed_C_promise(mutant: bool) -> None:
    """The best of 50 coins, told apart by ln 50 nats; the mutant forgets them."""
    n, coins, truth = 100, 50, 0.3

    def failed(rng: np.random.Generator) -> bool:
        losses = (rng.random((coins, n)) < truth).astype(float)
        best = losses[np.argmin(losses.mean(axis=1))]
        kl = 0.0 if mutant else float(np.log(coins))
        figures = Expected(0.2, kl, 0.2)
        made = bounds.certify_trained(best, np.ones(n), kl, delta=DELTA, prior="split", expected=figures)
        return bool(made.gibbs_risk_bound < truth)

    assert breaks(failures(failed, 400), 400, DELTA) == mutant
