"""Wide networks end to end: which aggregation is used, what is certified, what is only estimated."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from abnet import ABNetClassifier, PBGNetClassifier
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.trained_error_bound import TrainedErrorBound
from abnet.estimators.posterior_losses import fresh_path_count, sampled_losses
from abnet.networks import expected_output, pbgnet
from abnet.training.resolve import network_aggregation
from promised import promised

SETTINGS: dict[str, Any] = {"max_iter": 6, "n_samples": 30, "random_state": 0}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(250, 5))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=250) > 0, "yes", "no")


@pytest.fixture(scope="module")
def ancestral(data: tuple[Any, Any]) -> ABNetClassifier:
    clf = ABNetClassifier((30, 25), aggregation="ancestral", posterior="train", **SETTINGS).fit(*data)
    assert isinstance(clf, ABNetClassifier)
    return clf


def test_ancestral_network_learns_and_is_certified_from_fresh_paths(ancestral: Any, data: tuple[Any, Any]) -> None:
    certificate = ancestral.certificate_
    assert ancestral.score(*data) > 0.8
    assert ancestral.bound_estimate_ is None
    assert certificate.facts.n_paths == fresh_path_count(125)
    assert certificate.facts.vote_paths == certificate.find(TrainedErrorBound).kept_paths == 30
    assert certificate.gibbs_risk_bound < certificate.vote_error_bound
    certificate.check()


def test_fit_is_reproducible_and_draws_are_fixed(ancestral: Any, data: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = data
    again = ABNetClassifier((30, 25), aggregation="ancestral", posterior="train", **SETTINGS).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), ancestral.decision_function(X))
    assert again.certificate_ == ancestral.certificate_
    ancestral.save(tmp_path / "wide.abnet")
    loaded = abnet.load(tmp_path / "wide.abnet")
    np.testing.assert_array_equal(loaded.decision_function(X), ancestral.decision_function(X))
    assert loaded.certificate_ == ancestral.certificate_


def test_frozen_posterior_has_a_test_set_bound_for_the_very_paths_that_vote(data: tuple[Any, Any]) -> None:
    clf = ABNetClassifier((30, 25), aggregation="ancestral", posterior="frozen", **SETTINGS).fit(*data)
    assert promised(clf).find(ErrorBound).n == 125
    assert promised(clf).facts.n_paths is not None


@pytest.mark.parametrize("objective", ["bound", "loss"])
def test_uniform_network_has_an_estimate_only(objective: str, data: tuple[Any, Any]) -> None:
    clf = ABNetClassifier((30,), aggregation="uniform", objective=objective, **SETTINGS).fit(*data)
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is not None
    assert clf.model_.card.bound_estimate == clf.bound_estimate_.value


def test_stochastic_pbgnet_has_an_estimate_only(data: tuple[Any, Any]) -> None:
    X, y = data
    clf = PBGNetClassifier((30,), aggregation="sampled", **SETTINGS).fit(X, y)
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is not None
    assert clf.score(X, y) > 0.8
    bound = clf.certify(X + 0.01, y).gibbs_risk_bound
    assert bound is not None
    assert bound < 1


def test_certify_draws_fresh_paths_for_new_rows(ancestral: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 5))
    y = np.where(X[:, 0] > 0, "yes", "no")
    certificate = ancestral.certify(X, y)
    assert certificate.facts.source == "test set"
    assert certificate.facts.n_paths is not None
    assert sum(certificate.facts.class_errors) == int((ancestral.predict(X) != y).sum())
    assert certificate == ancestral.certify(X, y)


def test_a_preprocessor_fitted_on_bound_rows_leaves_an_estimate(data: tuple[Any, Any]) -> None:
    from sklearn.preprocessing import StandardScaler

    clf = ABNetClassifier((30,), aggregation="ancestral", prior="init", preprocessor=StandardScaler(), **SETTINGS)
    clf.fit(*data)
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is not None


# The widths of the other tests: their programs are compiled already.
@pytest.mark.parametrize(("hidden", "chosen"), [((30,), "exact"), ((30, 25), "ancestral")])
def test_auto_says_what_it_chose(hidden: Any, chosen: str, data: tuple[Any, Any], capsys: Any) -> None:
    clf = ABNetClassifier(hidden, aggregation="auto", verbose=1, **SETTINGS).fit(*data)
    assert clf.aggregation_ == chosen
    assert chosen in capsys.readouterr().err
    assert clf.certificate_ is not None
    assert clf.get_params()["aggregation"] == "auto"


@pytest.mark.parametrize(
    ("hidden", "chosen"),
    [
        ((12, 12), "exact"),
        ((13, 13), "ancestral"),
        ((21,), "exact"),
        ((1000,), "exact"),
        ((8, 50), "exact"),
        ((50, 8), "ancestral"),
        ((12,) * 9, "ancestral"),
    ],
    ids=str,
)
def test_auto_weighs_the_cost_of_a_step(hidden: Any, chosen: str) -> None:
    assert network_aggregation(ABNetClassifier(hidden, aggregation="auto").settings(), hidden, 1000) == chosen


def test_exact_refuses_a_wide_layer_below_another_and_names_the_way_out(data: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match=r"Hidden layer 1 has 30 units.*ancestral"):
        ABNetClassifier((30, 4), aggregation="exact").fit(*data)
    three = np.where(data[0][:, 2] > 1, "perhaps", data[1])
    with pytest.raises(ValueError, match=r"Hidden layer 1 has 30 units.*two classes.*ancestral"):
        ABNetClassifier((30,), aggregation="exact").fit(data[0], three)


@pytest.mark.parametrize("aggregation", ["exact", "ancestral"])
def test_one_wide_layer_is_certified_without_paths(aggregation: str, data: tuple[Any, Any]) -> None:
    clf = ABNetClassifier((30,), aggregation=aggregation, posterior="train", **SETTINGS).fit(*data)
    facts = promised(clf).facts
    assert (facts.n_paths, facts.vote_paths) == (None, None)
    F = expected_output(clf.network_.astype(np.float64), data[0].astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(clf.decision_function(data[0]), F, atol=1e-12)
    rows = clf.bound_rows_
    risk = np.mean(0.5 - 0.5 * F[rows] * np.where(data[1][rows] == "yes", 1, -1))
    certified = promised(clf).empirical_gibbs_risk
    assert certified == pytest.approx(risk, abs=1e-11)
    assert certified >= risk


@pytest.mark.parametrize(("hidden", "drawn"), [((30,), "network"), ((20, 15), "tree")], ids=str)
def test_a_wide_pbgnet_is_exact_and_certified(
    hidden: tuple[int, ...], drawn: str, data: tuple[Any, Any], tmp_path: Path
) -> None:
    clf = PBGNetClassifier(hidden, **SETTINGS).fit(*data)
    assert clf.score(*data) > 0.8
    F = pbgnet.expected_output(clf.network_.astype(np.float64), data[0].astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(clf.decision_function(data[0]), F, atol=1e-12)
    certificate = promised(clf)
    assert certificate.facts.n_paths is None
    assert certificate.facts.drawn == drawn  # neurons of deep networks read draws of their own
    assert ("PBGNet tree" in certificate.describe(details=True)) == (drawn == "tree")
    assert type(certificate).from_dict(certificate.to_dict()) == certificate
    clf.save(tmp_path / "tree.abnet")
    loaded = abnet.load(tmp_path / "tree.abnet")
    np.testing.assert_array_equal(loaded.decision_function(data[0]), clf.decision_function(data[0]))


def test_sampled_losses_do_not_depend_on_the_blocks_in_distribution(
    ancestral: Any, data: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streaming in small blocks gives the same record of counts, and a mean within Monte Carlo error."""
    X = data[0]
    codes = (data[1] == "yes").astype(int)

    def sample(seed: int) -> Any:
        return sampled_losses((ancestral.network_,), X, codes, 2, np.random.default_rng(seed), n_paths=20)

    whole = sample(0)
    monkeypatch.setattr("abnet.model.predictors.paths.BLOCK_SIGNS", 20 * 31 * 7)
    pieces = sample(1)
    assert (len(pieces.losses), pieces.n_paths) == (len(whole.losses), whole.n_paths) == (250, 20)
    assert abs(pieces.losses.mean() - whole.losses.mean()) < 5 / np.sqrt(5000)
