"""What a researcher puts into the paper's classifiers: a prior, a start, an aggregation, deviations, a warm-up."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import abnet
from abnet import BAM, ABNetClassifier, EBPClassifier, PBGNetClassifier, bounds
from abnet.certificates.statements.drawn_network_error import DrawnNetworkError
from abnet.estimators.search import free_parameters
from abnet.networks import (
    Aggregation,
    Ancestral,
    Exact,
    FanInUniform,
    GlorotNormal,
    Initialisation,
    exact,
    expected_output,
)
from abnet.networks.gaussian_kl import gaussian_kl
from abnet.networks.posterior import Posterior
from conftest import random_network
from promised import promised

SHORT: dict[str, Any] = {"preprocessor": None, "max_iter": 5, "random_state": 0, "batch_size": 32}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 4))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "yes", "no")


@dataclass(frozen=True)
class Noisy(Aggregation):
    """With probability q a draw answers by a fair coin."""

    q: float = 0.2
    certified: ClassVar[bool] = True

    def output(self, layers: tuple[Any, ...], lifted: Any, key: Any = None, table: Any = None) -> Any:
        return (1 - self.q) * exact.output(layers, lifted, table)

    def kl(self, layers: tuple[Any, ...], prior: tuple[Any, ...], log_sigma: Sequence[Any]) -> Any:
        return gaussian_kl(layers, prior, log_sigma)


def test_losses_of_rows_give_the_bound_of_the_certificate(data: Any) -> None:
    X, y = data
    trained = ABNetClassifier((2,), prior="init", **SHORT).fit(X, y)
    losses = trained.gibbs_losses(X, y)
    assert losses.shape == (len(y),)
    assert losses.mean() == pytest.approx(promised(trained).empirical_gibbs_risk, abs=1e-9)
    assert bounds.loss_bound(losses, trained.kl_) == pytest.approx(promised(trained).gibbs_risk_bound, abs=1e-9)
    turned = np.where(y == "yes", "no", "yes")
    np.testing.assert_allclose(trained.gibbs_losses(X, turned), 1 - losses, atol=1e-12)


def test_losses_of_a_wide_network_are_means_over_fresh_draws(data: Any) -> None:
    X, y = data
    wide = ABNetClassifier((30,), aggregation="ancestral", **SHORT).fit(X, y)
    losses = wide.gibbs_losses(X, y)[wide.bound_rows_]
    assert ((losses >= 0) & (losses <= 1)).all()
    assert losses.mean() == pytest.approx(promised(wide).empirical_gibbs_risk, abs=0.02)


def test_an_aggregation_of_ones_own_trains_certifies_and_predicts(data: Any, tmp_path: Path) -> None:
    X, y = data
    clf = ABNetClassifier((2,), prior="init", aggregation=Noisy(), **SHORT).fit(X, y)
    F = 0.8 * expected_output(clf.network_.astype(np.float64), X.astype(np.float32))
    np.testing.assert_allclose(clf.decision_function(X), F, atol=1e-12)
    risk = float(np.mean((1 - np.where(y == "yes", 1, -1) * F) / 2))
    assert promised(clf).gibbs_risk_bound == pytest.approx(bounds.gibbs_bound(risk, clf.kl_, len(y)), abs=1e-9)
    assert promised(clf).gibbs_risk_bound >= 0.1  # half of the coins err
    assert "one predictor drawn" in str(promised(clf))  # a draw is a network and a coin
    with pytest.raises(ValueError, match="cannot be"):
        clf.save(tmp_path / "model.abnet")


def test_what_promises_nothing_gets_an_estimate(data: Any) -> None:
    @dataclass(frozen=True)
    class Unsure(Noisy):
        certified: ClassVar[bool] = False

    clf = ABNetClassifier((2,), prior="init", aggregation=Unsure(), **SHORT).fit(*data)
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is not None
    assert clf.bound_estimate_.value > 0


def test_the_librarys_own_aggregations_keep_their_names(data: Any, tmp_path: Path) -> None:
    X, y = data
    given, named = (ABNetClassifier((2,), aggregation=a, **SHORT).fit(X, y) for a in (Exact(), "exact"))
    assert given.aggregation_ == "exact"
    np.testing.assert_array_equal(given.decision_function(X), named.decision_function(X))
    given.save(tmp_path / "model.abnet")
    assert ABNetClassifier((2,), aggregation=Ancestral(7), **SHORT).settings().aggregation == "ancestral"
    with pytest.raises(ValueError, match="aggregation"):
        ABNetClassifier((2,), aggregation=3, **SHORT).fit(X, y)


@pytest.mark.parametrize("kind", [BAM, Posterior])
def test_a_given_prior_is_the_prior_and_all_rows_are_bound_rows(kind: type, data: Any) -> None:
    (X, y), rng = data, np.random.default_rng(1)
    network = random_network(rng, (4, 2, 1)).astype(np.float32)
    prior = network if kind is BAM else Posterior.from_networks([network], [network], Exact())
    clf = ABNetClassifier((2,), prior=prior, **SHORT).fit(X, y)
    for mine, theirs in zip(clf.prior_.layers, network.layers, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert len(clf.bound_rows_) == len(y)
    assert promised(clf).facts.source == "given"
    assert "random" not in str(clf.certificate_)
    assert clf.kl_ == pytest.approx(
        float(abnet.networks.kl(clf.network_.astype(float), network.astype(float))), rel=1e-6
    )
    assert clf.C_ > 0


def test_a_given_prior_may_be_the_model(data: Any) -> None:
    X, y = data
    network = random_network(np.random.default_rng(1), (4, 2, 1))
    clf = ABNetClassifier((2,), prior=network, posterior="frozen", **SHORT).fit(X, y)
    assert clf.kl_ == 0
    assert not hasattr(clf, "C_")
    errors = int((clf.predict(X) != y).sum())
    assert promised(clf).vote_error_bound == bounds.clopper_pearson_bound(errors, len(y))


def test_a_start_of_ones_own_leaves_the_prior_alone(data: Any) -> None:
    X, y = data
    network = random_network(np.random.default_rng(1), (4, 2, 1), 3.0).astype(np.float32)
    plain = ABNetClassifier((2,), prior="init", **SHORT).fit(X, y)
    clf = ABNetClassifier((2,), prior="init", init=network, learning_rate_init=1e-6, **SHORT).fit(X, y)
    for mine, theirs in zip(clf.prior_.layers, plain.prior_.layers, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_allclose(clf.network_.weights[0], network.weights[0], atol=1e-3)
    assert clf.kl_ > 10


@pytest.mark.parametrize(
    ("init", "named"),
    [("auto", FanInUniform()), ("glorot_normal", GlorotNormal()), (GlorotNormal(gain=0.5), GlorotNormal(gain=0.5))],
    ids=str,
)
def test_a_random_prior_is_drawn_as_init_says(init: Any, named: Initialisation, data: Any) -> None:
    """Biases are zero only by Glorot's rule, and a gain scales the same draws."""
    X, y = data
    prior = ABNetClassifier((2,), prior="init", init=init, **SHORT).fit(X, y).prior_
    usual = ABNetClassifier((2,), prior="init", init="glorot_normal", **SHORT).fit(X, y).prior_
    if isinstance(named, GlorotNormal):
        np.testing.assert_allclose(prior.weights[0], named.gain * usual.weights[0], rtol=1e-6)
        assert not prior.biases[0].any()
    else:
        assert prior.biases[0].all()
        assert max(np.abs(prior.weights[0]).max(), np.abs(prior.biases[0]).max()) <= 1 / np.sqrt(4)


def test_a_prior_learned_on_a_first_part_starts_by_glorots_rule(data: Any) -> None:
    X, y = data
    plain, named = (ABNetClassifier((2,), init=init, **SHORT).fit(X, y) for init in ("auto", "glorot_normal"))
    np.testing.assert_array_equal(plain.decision_function(X), named.decision_function(X))


def test_an_initialisation_that_nothing_would_draw_from_is_refused(data: Any) -> None:
    network = random_network(np.random.default_rng(1), (4, 2, 1))
    with pytest.raises(ValueError, match=r"init.*prior"):
        ABNetClassifier((2,), prior=network, init="fan_in_uniform", **SHORT).fit(*data)
    with pytest.raises(ValueError, match=r"init.*glorot_normal.*'he'"):
        ABNetClassifier((2,), prior="init", init="he", **SHORT).fit(*data)


@pytest.mark.parametrize(
    "settings",
    [{}, {"prior": "split"}, {"posterior": "train"}, {"posterior": "frozen", "prior": "a network"}],
    ids=str,
)
def test_a_start_that_knows_the_rows_gets_no_certificate_for_knowing_them(settings: dict[str, Any]) -> None:
    """Random labels, and a start that has them by heart: held-out rows would show no error, and the truth is 1/2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    y = rng.integers(2, size=60)
    w = 1e3 * np.linalg.lstsq(X, 2.0 * y - 1, rcond=None)[0]
    knows = BAM((w[None], np.full((1, 1), 50.0)), (np.zeros(1), np.zeros(1)))
    if "prior" in settings and settings["prior"] != "split":
        settings = {**settings, "prior": BAM.init(rng, (200, 1, 1))}
    with pytest.raises(ValueError, match="init"):
        ABNetClassifier((1,), init=knows, **settings, **SHORT).fit(X, y)
    clf = ABNetClassifier((1,), prior="init", init=knows, **SHORT).fit(X, y)
    assert np.mean(clf.predict(X) != y) < 0.1
    assert promised(clf).vote_error_bound > 0.5


def test_a_frozen_posterior_has_nothing_to_train_by_a_loss(data: Any) -> None:
    network = random_network(np.random.default_rng(1), (4, 2, 1))
    with pytest.raises(ValueError, match="posterior"):
        ABNetClassifier((2,), prior=network, posterior="frozen", objective="loss", **SHORT).fit(*data)


def test_networks_that_do_not_fit_are_refused(data: Any) -> None:
    rng = np.random.default_rng(0)
    for name in ("prior", "init"):
        start: dict[str, Any] = {"prior": "init"} if name == "init" else {}
        with pytest.raises(ValueError, match=rf"{name}.*\(3, 2, 1\)"):
            ABNetClassifier((2,), **start, **SHORT).set_params(**{name: random_network(rng, (3, 2, 1))}).fit(*data)
        with pytest.raises(ValueError, match=name):
            ABNetClassifier((2,), **SHORT).set_params(**{name: 3}).fit(*data)
    with pytest.raises(ValueError, match="warm_up"):
        ABNetClassifier((2,), warm_up=-1, **SHORT).fit(*data)
    X, y = data
    with pytest.raises(ValueError, match="deviations"):
        ABNetClassifier((2,), deviations=True, **SHORT).fit(X, np.arange(len(y)) % 3)


@pytest.mark.parametrize("kind", [ABNetClassifier, PBGNetClassifier])
def test_learned_deviations_reach_prediction_certificate_drawn_network_and_file(
    kind: Any, data: Any, tmp_path: Path
) -> None:
    X, y = data
    clf = kind((2, 2), prior="init", deviations=True, warm_up=1, **SHORT | {"learning_rate_init": 0.1}).fit(X, y)
    posterior = clf.posterior_.astype(np.float64)
    sigma = np.exp(clf.posterior_.log_sigma)
    assert np.all(np.abs(sigma - 1) > 1e-3)
    if kind is PBGNetClassifier:
        counts = (2, 1, 1)
    else:
        counts = (1, 1, 1)
    nats = [
        c * 0.5 * (w.size * (s**2 - 1 - np.log(s**2)) + ((w - v) ** 2).sum())
        for c, w, v, s in zip(counts, posterior.layers, posterior.prior, sigma.astype(float), strict=True)
    ]
    assert clf.kl_ == pytest.approx(sum(nats), rel=1e-5)
    assert promised(clf).facts.kl == pytest.approx(clf.kl_)
    risk = float(np.mean((1 - np.where(y == "yes", 1, -1) * clf.decision_function(X)) / 2))
    assert promised(clf).gibbs_risk_bound == pytest.approx(bounds.gibbs_bound(risk, clf.kl_, len(y)), abs=1e-9)
    clf.save(tmp_path / "model.abnet")
    loaded = abnet.load(tmp_path / "model.abnet")
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    if kind is ABNetClassifier:
        rng = np.random.default_rng(2)
        draws = 3000
        votes = np.mean([posterior.draw(rng)[0].predict(X[:5]) for _ in range(draws)], axis=0)
        F = clf.decision_function(X[:5])
        assert np.abs((votes - F) / np.sqrt((1 - F**2) / draws)).max() < 4.5
        drawn = clf.draw_network()
        (statement,) = drawn.certificate.each(DrawnNetworkError)
        h = drawn.predictor.network.layers
        ratio = sum(
            ((a - v[0]) ** 2 - ((a - w[0]) / s) ** 2).sum() / 2 - a.size * np.log(s)
            for a, w, v, s in zip(h, posterior.layers, posterior.prior, np.exp(posterior.log_sigma), strict=True)
        )
        assert statement.log_density_ratio == pytest.approx(ratio, rel=1e-6)


def test_a_warm_up_is_a_stage_of_its_own_and_free_to_choose(data: Any) -> None:
    X, y = data
    clf = ABNetClassifier((2,), prior="init", warm_up=2, **SHORT).fit(X, y)
    assert len(clf.loss_curve_) == 3  # the start, and two epochs
    assert promised(clf).facts.kl == pytest.approx(
        float(abnet.networks.kl(clf.network_.astype(float), clf.prior_.astype(float))), rel=1e-6
    )
    assert {"warm_up", "deviations", "init"} <= free_parameters(clf)
    assert "warm_up" not in free_parameters(ABNetClassifier((2,), posterior="train"))


def test_networks_from_a_random_prior_are_explained_with_regions(data: Any) -> None:
    X, y = data
    clf = ABNetClassifier((2, 2), prior="init", **SHORT).fit(X, y)
    regions = clf.explain(X[:1])[0].regions
    assert regions is not None
    assert len(regions.listed) == 4
    assert sum(region.probability for region in regions.listed) == pytest.approx(1)


def test_every_classifier_has_a_model_that_saves(data: Any, tmp_path: Path) -> None:
    X, y = data
    clf = EBPClassifier((2,), max_iter=2, random_state=0).fit(X, y)
    clf.model_.save(tmp_path / "ebp.abnet")
    np.testing.assert_array_equal(abnet.load(tmp_path / "ebp.abnet").predict(X), clf.predict(X))


@pytest.mark.parametrize("kind", [abnet.EBPClassifier, abnet.ABNetClassifier])
def test_every_classifier_has_a_compact_form_that_can_be_saved(kind: Any, tmp_path: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    clf = kind((2,), max_iter=1, random_state=0).fit(X, X[:, 0] > 0)
    clf.compact().save(tmp_path / "compact.abnet")
    np.testing.assert_array_equal(abnet.load(tmp_path / "compact.abnet").predict(X), clf.predict(X))
