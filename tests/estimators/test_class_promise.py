"""The promise for four classes: over many samples no bound of a certificate fails more often than it may."""

from typing import Any

import numpy as np
import pytest

from abnet.certificates.certificate import Certificate
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.estimators.observing import observe_posterior
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.paths import Paths
from abnet.networks import Ancestral, Exact
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.networks.posterior import Posterior
from abnet.training.learned import BoundRows
from broken_promise import breaks
from estimators.worlds import FOUR, POINTS, FourClasses

DELTA = 0.2
SAMPLES = 100
NETWORKS = tuple(BAM.init(np.random.default_rng([5, m]), (20, 3, 4)) for m in range(2))
WORDS = code_words(4, 4)


def broken(world: FourClasses, certificate: Certificate, exact: Any, voted: Any) -> Any:
    """Which of Gibbs, vote and all classes at once are false, from class probabilities of the 512 inputs."""
    errors = zip(certificate.per_class, world.class_errors(voted), strict=True)
    by_class = any((part.vote_error_bound or 1.0) < error for part, error in errors if part.n_examples)
    vote = 1.0
    if certificate.vote_error_bound is not None:
        vote = certificate.vote_error_bound
    return np.array(
        [(certificate.gibbs_risk_bound or 0.0) < world.gibbs_risk(exact), vote < world.vote_error(voted), by_class]
    ).astype(int)


@pytest.mark.parametrize("world", FOUR.values(), ids=FOUR.keys())
@pytest.mark.parametrize("kind", ["exact", "exact, bound of all posteriors", "paths"])
def test_certificates_of_a_mixture_keep_their_promise(world: FourClasses, kind: str) -> None:
    exact = Compact.from_networks(NETWORKS, WORDS)
    scorer: Any = exact
    aggregation: Any = Exact()
    if kind == "paths":
        scorer = Paths.from_networks(NETWORKS, np.random.default_rng(0), n_paths=6, words=WORDS)
        aggregation = Ancestral()
    truth = exact.scores(POINTS)
    voted = scorer.scores(POINTS)
    terms = Terms(delta=DELTA, trained=kind == "exact, bound of all posteriors")
    posterior = Posterior.from_networks(NETWORKS, NETWORKS, aggregation)
    failures: Any = np.zeros(3, int)
    for seed in range(SAMPLES):
        X, y = world.draw(np.random.default_rng([seed, 9]))
        rows = BoundRows(X.astype(np.float32), y)
        seen = observe_posterior(posterior, scorer, rows, tuple("abcd"), terms, np.random.default_rng([seed, 2]))
        assert seen.evidence is not None
        certificate = certify(seen.evidence, seen.terms)
        failures += broken(world, certificate, truth, voted)
    for count in failures.tolist():
        assert not breaks(count, SAMPLES, DELTA)


def test_the_simulation_notices_a_bound_that_is_none() -> None:
    """The errors that were counted, given out for a bound, fail in about half of the samples."""
    world = FOUR["signal"]
    voted = Compact.from_networks(NETWORKS, WORDS).scores(POINTS)
    answers = dict(zip((point.tobytes() for point in POINTS), voted.argmax(axis=1), strict=True))
    failures = 0
    for seed in range(SAMPLES):
        X, y = world.draw(np.random.default_rng([seed, 9]))
        counted = np.mean([answers[x.tobytes()] != label for x, label in zip(X, y, strict=True)])
        failures += counted < world.vote_error(voted)
    assert breaks(failures, SAMPLES, DELTA)
