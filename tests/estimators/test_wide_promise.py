"""The promise of sampled networks kept where the true risk is known, and the uniform estimate shown to break it."""

from typing import Any

import numpy as np

from abnet import bounds
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.estimators.posterior_losses import sampled_losses
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.uniform import UniformPredictor
from abnet.networks import exact
from abnet.networks.bam import BAM
from broken_promise import breaks

DELTA = 0.2
N = 30
REPETITIONS = 90

# Eight equally frequent inputs, labels +1 with a known chance: true risks are sums of eight terms.
POINTS = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32).astype(np.float64)
CHANCES = np.where(POINTS[:, 0] > 0, 0.8, 0.2)
PRIOR = BAM(
    tuple(np.random.default_rng(k).normal(size=shape) for k, shape in enumerate([(5, 3), (4, 5), (1, 4)])),
    (np.zeros(5), np.zeros(4), np.zeros(1)),
)


def risk(F: Any) -> float:
    """Expected loss of scores on the eight points."""
    return float(np.mean(CHANCES * (1 - F) / 2 + (1 - CHANCES) * (1 + F) / 2))


def posterior(X: Any, y: Any) -> BAM:
    """Looks at the bound rows: of a few steps from the prior, that with the smallest bound."""
    step = (y[:, None] * X).mean(axis=0)
    steps = [np.outer(np.linspace(-1, 1, 5), scale * step) for scale in (0.0, 1.0, 2.0, 4.0)]
    networks = [BAM((PRIOR.weights[0] + s, *PRIOR.weights[1:]), PRIOR.biases) for s in steps]

    def bound(network: BAM) -> float:
        loss = float(np.mean((1 - y * exact.expected_output(network, X)) / 2))
        return bounds.gibbs_bound(loss, float(exact.kl(network, PRIOR)), N, DELTA)

    return min(networks, key=bound)


def repetition(k: int) -> tuple[bool, bool]:
    """Whether the Gibbs bound and the bound on the vote of kept paths fail on one sample."""
    rng = np.random.default_rng([17, k])
    where = rng.integers(8, size=N)
    X = POINTS[where]
    y = np.where(rng.random(N) < CHANCES[where], 1.0, -1.0)
    network = posterior(X, y)
    vote = Paths.from_networks([network], rng, n_paths=11).scores(POINTS)
    truth = (y > 0).astype(int)
    sampled = sampled_losses((network,), X, truth, 2, rng, n_paths=2)
    terms = Terms(
        delta=DELTA, source="init", trained=True, kl=float(exact.kl(network, PRIOR)), vote="kept paths", vote_paths=11
    )
    certificate = certify(observe(truth, truth, ("-1", "1"), **sampled._asdict()), terms)
    assert certificate.gibbs_risk_bound is not None
    assert certificate.vote_error_bound is not None
    error = risk(np.where(vote >= 0, 1.0, -1.0))
    return (
        certificate.gibbs_risk_bound < risk(exact.expected_output(network, POINTS)),
        certificate.vote_error_bound < error,
    )


def test_certificates_of_sampled_networks_keep_their_promise() -> None:
    failures = np.sum([repetition(k) for k in range(REPETITIONS)], axis=0)
    assert not any(breaks(int(broken), REPETITIONS, DELTA) for broken in failures)


def threshold_network(d: int, share: float) -> BAM:
    """All hidden units are on with probability .95, and the output is on when more than `share` of them are."""
    on = np.full((d, 1), np.sqrt(2) * 1.645)
    return BAM((on, np.full((1, d), 40.0)), (np.zeros(d), np.full(1, -40.0 * d * (2 * share - 1))))


def test_uniform_estimate_claims_a_risk_of_zero_where_the_truth_is_one() -> None:
    """No uniform draw of 100 units has 80 of them on, nearly all of the aggregation has: the normaliser hides it."""
    network = threshold_network(100, 0.8)
    X = np.ones((500, 1))
    y = -np.ones(500)
    truth = float(
        sampled_losses((network,), X, (y > 0).astype(int), 2, np.random.default_rng(0), n_paths=20).losses.mean()
    )
    failures = 0
    for k in range(20):
        F = UniformPredictor.from_network(network, np.random.default_rng(k), n_samples=100).scores(X)
        estimate = bounds.gibbs_bound(float(np.mean((1 - y * F) / 2)), 0.0, len(y), 0.05)
        failures += estimate < truth
        assert estimate < 0.05
    assert truth > 0.95
    assert failures == 20
