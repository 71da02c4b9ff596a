"""One drawn network: what is drawn, what is promised for it, and that it cannot be drawn again."""

import pickle
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import abnet
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify_drawn
from abnet.certificates.terms import Terms
from abnet.estimators.drawn_network import draw_network
from abnet.model.file import save
from abnet.model.predictors.layers import Layers
from abnet.networks import Exact
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from conftest import random_network
from estimators.worlds import SIGNAL, N, classifier

X, Y = SIGNAL.draw(np.random.default_rng(0))


def around(centre: BAM) -> Posterior:
    return Posterior.from_networks([centre], [centre], Exact())


def flat(network: BAM) -> np.ndarray:
    return np.concatenate([np.ravel(leaf) for leaf in (*network.weights, *network.biases)])


def test_certificate_counts_the_errors_of_the_network_itself(rng: np.random.Generator) -> None:
    centre = random_network(rng, (20, 2, 1))
    terms = Terms(source="init", trained=True)
    signs = np.where(Y == 1, 1.0, -1.0)
    drawn = draw_network(around(centre), rng)
    answers = drawn.predictor.votes(X.astype(np.float32))
    certificate = drawn.certify(observe(answers, (Y == 1).astype(int), ("no", "yes")), terms)
    network = drawn.predictor.network
    assert network is not None
    layer = np.where(X @ network.weights[0].T + network.biases[0] >= 0, 1, -1)
    output = np.where(layer @ network.weights[1].T + network.biases[1] >= 0, 1, -1)[:, 0]
    assert sum(certificate.facts.class_errors) == np.sum(output != signs)
    assert certificate.facts.n_rows == N


def test_bound_is_that_of_section_six_or_of_the_test_set() -> None:
    seen = observe([0] * 47 + [1] * 3, [0] * 50, ("a", "b"))
    trained = certify_drawn(seen, Terms(trained=True, n_candidates=2), 2.0)
    with mpmath.workdps(40):
        n = 50
        k = mpmath.mpf(3) / 50
        p = mpmath.mpf(trained.vote_error_bound)
        # The terms of at most n p errors, and 1 for all the others.
        last = int(n * p)
        xi = 1 + mpmath.fsum(
            mpmath.binomial(n, i) * (mpmath.mpf(i) / n) ** i * (1 - mpmath.mpf(i) / n) ** (n - i)
            for i in range(last + 1)
        )
        kl = k * mpmath.log(k / p) + (1 - k) * mpmath.log((1 - k) / (1 - p))
        assert float(kl) == pytest.approx(float((2 + mpmath.log(2 * xi / mpmath.mpf("0.05"))) / n), rel=1e-6)
    frozen = certify_drawn(observe([0] * 50, [0] * 50, ("a", "b")), Terms())
    assert frozen.vote_error_bound == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-9)


WAYS = [{}, {"posterior": "frozen"}, {"prior": "init"}, {"aggregation": "uniform", "n_samples": 4}]


@pytest.mark.parametrize("settings", WAYS)
def test_every_call_returns_the_one_network(settings: dict[str, Any]) -> None:
    fitted = classifier(0, **settings).fit(X, Y)
    drawn = fitted.draw_network()
    assert fitted.draw_network() is drawn
    assert drawn.certificate is not None
    assert drawn.certificate.vote_error_bound >= drawn.certificate.empirical_error
    assert drawn.certificate.facts.trained == (fitted.posterior != "frozen")
    again = classifier(0, **settings).fit(X, Y).draw_network()
    np.testing.assert_array_equal(flat(drawn.predictor.network), flat(again.predictor.network))
    noise = flat(drawn.predictor.network) - flat(fitted.network_.astype(np.float64))
    assert 0.1 < np.mean(noise**2) < 3
    again = pickle.loads(pickle.dumps(drawn))
    np.testing.assert_array_equal(again.predict(X), drawn.predict(X))


def test_the_draw_does_not_depend_on_the_data() -> None:
    def noise(y: np.ndarray) -> np.ndarray:
        fitted = classifier(3).fit(X, y)
        return flat(fitted.draw_network().predictor.network) - flat(fitted.network_.astype(np.float64))

    np.testing.assert_allclose(noise(Y), noise(1 - Y), atol=1e-12)


def test_labels_and_preparation_are_the_callers() -> None:
    named = np.array(["no", "yes"])[Y]
    fitted = classifier(0, preprocessor=StandardScaler()).fit(X, named)
    drawn = fitted.draw_network()
    predicted = drawn.predict(X)
    assert set(predicted) <= {"no", "yes"}
    scaled = fitted.model_.preparation.transform(X)
    np.testing.assert_array_equal(drawn.predictor.network.predict(np.float32(scaled)) > 0, predicted == "yes")


def test_the_drawn_network_is_a_model_that_can_be_saved(tmp_path: Path) -> None:
    named = np.array(["no", "yes"])[Y]
    fitted = classifier(0, preprocessor=StandardScaler()).fit(X, named)
    drawn = fitted.draw_network()
    save(drawn, tmp_path / "drawn.abnet")
    again = abnet.load(tmp_path / "drawn.abnet")
    assert isinstance(again.predictor, Layers)
    np.testing.assert_array_equal(again.predict(X), drawn.predict(X))
    assert again.certificate_ == drawn.certificate_ == drawn.certificate is not None
    assert again.card.data_fingerprint == fitted.model_.card.data_fingerprint


def test_no_certificate_where_the_preparation_saw_the_bound_rows() -> None:
    fitted = classifier(0, prior="init", preprocessor=StandardScaler()).fit(X, Y)
    assert fitted.certificate_ is None
    assert fitted.draw_network().certificate is None


def test_senseless_rows_are_refused() -> None:
    drawn = classifier(0).fit(X, Y).draw_network()
    with pytest.raises(ValueError, match=r"\(rows, 20\)"):
        drawn.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        drawn.predict(np.full((1, 20), np.nan))
    with pytest.raises(NotFittedError):
        classifier(0).draw_network()
