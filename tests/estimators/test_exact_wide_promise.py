"""Certificates of exact wide networks (1×64) where the true risk is a sum over sixteen points: what they promise holds.

The network was fixed before the rows. All points are equally frequent, and a label differs from the network's answer
with one and the same chance, so the error of its vote is that chance. It is just above a bound that Clopper and Pearson
give for some count, where that bound fails nearly as often as it may.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from abnet import bounds
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.estimators.observing import observe_posterior
from abnet.model.deployment import deploy
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.networks import Exact, exact
from abnet.networks.bam import BAM
from abnet.networks.independent_signs import layer_means, normal_means
from abnet.networks.posterior import Posterior
from abnet.training.learned import BoundRows
from abnet.utils.class_scores import winners
from broken_promise import breaks

WIDTH = 64
DELTA = 0.2
N = 300
REPETITIONS = 100
NAMES = ("-1", "1")

rng = np.random.default_rng(0)
POINTS = rng.normal(size=(16, 3)).astype(np.float32).astype(np.float64)
NETWORK = BAM(
    (4 * rng.normal(size=(WIDTH, 3)), 9 * rng.normal(size=(1, WIDTH))), (4 * rng.normal(size=WIDTH), np.zeros(1))
)
ANSWERS = exact.expected_output(NETWORK, POINTS)
ERROR = bounds.clopper_pearson_bound(30, N, DELTA) + 1e-9
CHANCES = np.where(ANSWERS >= 0, 1 - ERROR, ERROR)
"""Of the label +1 at each point."""


def risk(F: Any) -> float:
    """Expected linear loss of outputs on the points."""
    return float(np.mean(CHANCES * (1 - F) / 2 + (1 - CHANCES) * (1 + F) / 2))


def moved(k: int) -> BAM:
    """A posterior at a divergence of about 1.3 nats from the prior; the first is the prior itself."""
    rng = np.random.default_rng([k, 1])
    if k == 0:
        return NETWORK
    (W, v) = NETWORK.weights
    return BAM((W, v + 0.2 * rng.normal(size=v.shape)), NETWORK.biases)


POSTERIORS = [moved(k) for k in range(6)]


@cache
def predictor(k: int = 0) -> PBGNetPredictor:
    """The deployed predictor of a posterior, which uses the series."""
    deployed = deploy(Exact(), [POSTERIORS[k]], np.random.default_rng(0))
    assert isinstance(deployed, PBGNetPredictor)
    return deployed


@cache
def scores_of_points(k: int = 0) -> Any:
    return predictor(k).scores(POINTS)


def draw(sample: int) -> tuple[Any, Any]:
    """Numbers of the points, and labels."""
    rng = np.random.default_rng([sample, 64])
    where = rng.integers(len(POINTS), size=N)
    return where, (rng.random(N) < CHANCES[where]).astype(np.intp)


def certified(scores: Any, codes: Any, terms: Terms) -> Any:
    """The certificate of rows with these scores, with the losses that `fit` would count."""
    losses = predictor().expected_losses(scores, codes)
    return certify(observe(winners(scores), codes, NAMES, losses=losses), terms)


def failures(terms: Terms) -> dict[str, int]:
    """How often each bound of a frozen posterior is below the truth."""
    count = {"gibbs": 0, "vote": 0}
    true_risk = risk(ANSWERS)
    for sample in range(REPETITIONS):
        where, codes = draw(sample)
        made = certified(scores_of_points()[where], codes, terms)
        count["gibbs"] += made.gibbs_risk_bound < true_risk
        count["vote"] += made.vote_error_bound < ERROR
    return count


def vote_failures(delta: float) -> int:
    """How often the bound on the vote alone fails."""
    count = 0
    for sample in range(REPETITIONS):
        where, codes = draw(sample)
        seen = observe(winners(scores_of_points()[where]), codes, NAMES)
        bound = certify(seen, Terms(delta=delta)).vote_error_bound
        assert bound is not None
        count += bound < ERROR
    return count


def failures_of_trained() -> dict[str, int]:
    """How often the bounds of the posterior with the smallest loss on these very rows are below the truth."""
    count = {"gibbs": 0, "vote": 0}
    for sample in range(REPETITIONS):
        where, codes = draw(sample)
        losses = [
            predictor(k).expected_losses(scores_of_points(k)[where], codes).mean() for k in range(len(POSTERIORS))
        ]
        k = int(np.argmin(losses))
        scores = scores_of_points(k)
        terms = Terms(delta=DELTA, source="init", trained=True, kl=float(exact.kl(POSTERIORS[k], NETWORK)))
        made = certified(scores[where], codes, terms)
        count["gibbs"] += made.gibbs_risk_bound < risk(scores)
        count["vote"] += made.vote_error_bound < risk(np.where(scores >= 0, 1.0, -1.0))
    return count


@pytest.mark.parametrize(
    "found", [lambda: failures(Terms(delta=DELTA)), failures_of_trained], ids=["frozen", "trained"]
)
def test_certificates_of_exact_wide_networks_keep_their_promise(found: Any) -> None:
    assert not any(breaks(count, REPETITIONS, DELTA) for count in found().values())


def test_a_vote_certified_at_twice_the_failure_rate_breaks_the_promise() -> None:
    assert not breaks(vote_failures(DELTA), REPETITIONS, DELTA)
    assert breaks(vote_failures(2 * DELTA), REPETITIONS, DELTA)


def test_losses_that_are_too_small_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = PBGNetPredictor.expected_losses
    monkeypatch.setattr(PBGNetPredictor, "expected_losses", lambda *args: 0.7 * losses(*args))
    assert breaks(failures(Terms(delta=DELTA))["gibbs"], REPETITIONS, DELTA)
    assert breaks(failures_of_trained()["gibbs"], REPETITIONS, DELTA)


def test_the_certificate_is_the_one_that_fit_makes() -> None:
    where, codes = draw(0)
    terms = Terms(delta=DELTA)
    posterior = Posterior.from_networks([NETWORK], [NETWORK], Exact())
    rows = BoundRows(POINTS[where], codes)
    seen = observe_posterior(posterior, predictor(), rows, NAMES, terms, np.random.default_rng(0))
    assert seen.evidence is not None
    assert certify(seen.evidence, seen.terms) == certified(scores_of_points()[where], codes, terms)


def test_the_normal_approximation_would_certify_a_false_risk() -> None:
    """One of 64 weights dominates: the output follows one sign, and its mean is far from that of a normal variable."""
    V = np.zeros((1, WIDTH + 1))
    V[0, :WIDTH] = 0.1
    V[0, 0] = 60.0
    m = np.full((1, WIDTH), 0.5)
    m[0, 0] = 0.9
    approximate = float(normal_means(V, m.T)[0, 0])
    exact_mean = float(layer_means(V, m)[0, 0])
    n = 2000
    codes = np.ones(n, np.intp)
    bound_of_surrogate = certified(np.full(n, approximate), codes, Terms(delta=DELTA)).gibbs_risk_bound
    bound = certified(np.full(n, exact_mean), codes, Terms(delta=DELTA)).gibbs_risk_bound
    assert bound_of_surrogate < (1 - exact_mean) / 2 < bound
