"""No certificate for preprocessors that look at other rows; no certificate from rows of the fit."""

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale

import abnet
from abnet.certificates.estimate import Estimate
from abnet.estimators import posterior_losses
from abnet.tables.preparation.table_preparation import TablePreparation
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from abnet.training.features import allows_certificate
from abnet.utils.errors import TrainingRowsError
from estimators.worlds import classifier

RNG = np.random.default_rng(4)
Y = RNG.integers(0, 2, 80)
X = RNG.normal(size=(80, 3)) + 2.0 * Y[:, None]


class Stubborn(TransformerMixin, BaseEstimator):
    """Works row by row, but refuses to be cloned."""

    def fit(self, X: Any, y: Any = None) -> "Stubborn":
        return self

    def transform(self, X: Any) -> Any:
        return X

    def __sklearn_clone__(self) -> Any:
        return self


@pytest.mark.parametrize(
    ("preprocessor", "reason"),
    [
        (FunctionTransformer(scale), "row 0 has another result alone"),
        (FrozenEstimator(StandardScaler().fit(X)), "FrozenEstimator was fitted before"),
        (make_pipeline(FrozenEstimator(StandardScaler().fit(X)), FunctionTransformer()), "was fitted before"),
        (Stubborn(), "Stubborn was fitted before"),
    ],
)
def test_there_is_an_estimate_instead_of_a_certificate(preprocessor: Any, reason: str) -> None:
    with pytest.warns(UserWarning, match=reason):
        clf = classifier(0, preprocessor=preprocessor, max_iter=1).fit(X, Y)
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is not None
    assert clf.draw_network().certificate is None


@pytest.mark.parametrize("preprocessor", [None, "standardise", StandardScaler(), FunctionTransformer(np.tanh)])
def test_what_works_row_by_row_is_certified(preprocessor: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "a preprocessor of type FunctionTransformer cannot be stored")
        warnings.filterwarnings("ignore", "Training .* was still improving when it ended")
        assert classifier(0, preprocessor=preprocessor, max_iter=1).fit(X, Y).certificate_ is not None


class Together(ThermometerCodes):
    """Looks at the rows together, whatever its base does."""

    def transform(self, X: Any) -> Any:
        return super().transform(X - X.mean(axis=0))


def test_our_own_maps_are_not_checked_again_but_what_is_made_of_them_is() -> None:
    asked: list[int] = []

    def transform(rows: Any) -> Any:
        asked.append(len(rows))
        return rows

    assert allows_certificate(TablePreparation(), transform, X)
    assert allows_certificate(ThermometerCodes(), transform, X)
    assert not asked
    assert allows_certificate(StandardScaler(), transform, X)
    assert asked
    fitted = Together().fit(X)
    with pytest.warns(UserWarning, match="row 0"):
        assert not allows_certificate(fitted, fitted.transform, X)


@pytest.mark.parametrize("posterior", ["train", "frozen"])
def test_rows_of_the_fit_are_no_test_set(posterior: str) -> None:
    clf = classifier(0, max_iter=1, posterior=posterior).fit(X, Y)
    learned = clf.other_rows_
    bound = clf.bound_rows_
    for certify in (clf.certify, partial(abnet.certify, clf), partial(abnet.certify, clf.model_)):
        with pytest.raises(TrainingRowsError, match=r"\b80 rows"):
            certify(X, Y)
        with pytest.raises(TrainingRowsError):
            certify(X[learned], Y[learned])
        estimate = certify(X, Y, allow_training_rows=True)
        assert isinstance(estimate, Estimate)
        assert (estimate.counted["errors"], estimate.counted["n"]) == (int((clf.predict(X) != Y).sum()), 80)
        assert not any("bound" in name for name in estimate.to_dict())
        with pytest.raises(ValueError, match="groups"):
            certify(X, Y, allow_training_rows=True, by=Y)
        assert isinstance(certify(X + 0.01, Y), abnet.Certificate)
        assert isinstance(certify(X + 0.01, Y, allow_training_rows=True), Estimate)
        if posterior == "frozen":  # nothing learned from its bound rows
            assert isinstance(certify(X[bound], Y[bound], by=Y[bound]), abnet.Certificate)
        else:
            with pytest.raises(TrainingRowsError):
                certify(X[bound], Y[bound])
    with pytest.raises(TrainingRowsError):
        abnet.compare_errors(clf, lambda rows: np.zeros(len(rows), int), X, Y)


def test_rows_of_the_fit_are_found_through_pipelines() -> None:
    model = make_pipeline(StandardScaler(), classifier(0, max_iter=1)).fit(X, Y)
    with pytest.raises(TrainingRowsError):
        abnet.certify(model, X, Y)


def test_a_saved_estimate_is_no_certificate(tmp_path: Any) -> None:
    estimate = abnet.certify(classifier(0, max_iter=1).fit(X, Y), X, Y, allow_training_rows=True)
    estimate.save(tmp_path / "e.json")
    assert Estimate.load(tmp_path / "e.json") == estimate
    with pytest.raises(ValueError, match="certificate"):
        abnet.load_certificate(tmp_path / "e.json")
    assert "bound" not in (tmp_path / "e.json").read_text()


def test_certify_counts_candidates_and_groups() -> None:
    clf = classifier(0, max_iter=1, delta=0.1).fit(X, Y)
    alone, chosen = (clf.certify(X + 0.01, Y, n_candidates=k) for k in (1, 4))
    assert isinstance(alone, abnet.Certificate)
    assert isinstance(chosen, abnet.Certificate)
    assert chosen.vote_error_bound == pytest.approx(
        abnet.bounds.clopper_pearson_bound(sum(alone.facts.class_errors), 80, 0.1, n_candidates=4)
    )
    grouped = clf.certify(X + 0.01, Y, groups=np.arange(80) // 4)
    assert isinstance(grouped, abnet.Certificate)
    assert grouped.facts.n_groups == 20


@pytest.mark.parametrize("fitted_before", [False, True])
def test_an_interrupted_certificate_is_none(
    fitted_before: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """Ctrl-C after the first block of sampled losses: nothing that was computed so far certifies anything."""
    clf = classifier(0, hidden_layer_sizes=(2, 2), aggregation="ancestral", max_iter=1)
    if fitted_before:
        assert clf.fit(X, Y).certificate_ is not None
    blocks = iter([True, False])

    def outputs(layers: Any, rows: Any, n_paths: int, *others: Any) -> Any:
        if not next(blocks):
            raise KeyboardInterrupt
        return np.zeros((len(rows), n_paths))

    monkeypatch.setattr("abnet.estimators.posterior_losses.block_rows", lambda layers, n_paths: 10)
    monkeypatch.setattr("abnet.estimators.posterior_losses.path_outputs", outputs)
    with pytest.warns(UserWarning, match="Interrupted"):
        clf.fit(X, Y)
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is None
    clf.save(tmp_path / "model.abnet")
    assert abnet.load(tmp_path / "model.abnet").certificate_ is None


def test_an_interrupted_certificate_of_a_mixture_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The same for a mixture of sampled networks: the model is kept, with no certificate of an earlier fit."""
    three = RNG.integers(0, 3, 80)
    clf = abnet.ABNetClassifier((30,), max_iter=1, random_state=0).fit(X, three)
    assert clf.aggregation_ == "ancestral"

    def interrupted(*given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(posterior_losses, "path_outputs", interrupted)
    with pytest.warns(UserWarning, match="Interrupted"):
        clf.fit(X, three)
    assert clf.certificate_ is None
    clf.save(tmp_path / "model.abnet")
    assert abnet.load(tmp_path / "model.abnet").certificate_ is None
