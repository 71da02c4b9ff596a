"""What every classifier of the library owes to scikit-learn and to its users."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_class_weight_classifiers, parametrize_with_checks

import abnet

SMALL: dict[str, Any] = {"hidden_layer_sizes": (2,), "max_iter": 20, "random_state": 0}
NETWORK, TRAINED, CERTIFIED, PBGNET, EBP, BC, BNN = CLASSIFIERS = [
    abnet.ABNetClassifier(**SMALL),
    abnet.ABNetClassifier(**SMALL, posterior="train"),
    abnet.CertifiedClassifier(**SMALL),
    abnet.PBGNetClassifier(**SMALL),
    abnet.EBPClassifier(**SMALL),
    # Two rectified units may all be off, and a score of exactly 0 is +1 here, but not in the checks.
    abnet.BinaryConnectClassifier(**SMALL | {"hidden_layer_sizes": (6,)}, batch_size=4),
    # Two signs have four values, on which three outputs, one against the rest, can hardly agree.
    abnet.BNNClassifier(**SMALL | {"hidden_layer_sizes": (8,)}, batch_size=4),
]
CHECKED = [TRAINED, CERTIFIED, EBP]
"""Those that go through scikit-learn's checks here. The others share all but their learner or a stage of training with
one of these, and go through the same checks in tests/long."""

WEIGHTS_ARE_NOT_COPIES = (
    "rows are split into parts and minibatches at random, so that a row of weight two is in one part and one batch, "
    "while two copies of it are in two; a weight scales the row's share of the loss, as documented"
)


def expected_failures(estimator: Any) -> dict[str, str]:
    return {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS_ARE_NOT_COPIES,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_ARE_NOT_COPIES,
    }


@pytest.mark.parametrize("teacher", [None, "linear"])
def test_class_weights_rule(teacher: str | None) -> None:
    check_class_weight_classifiers(
        "CertifiedClassifier", abnet.CertifiedClassifier((2,), teacher=teacher, random_state=0)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(params=CLASSIFIERS, ids=lambda c: f"{type(c).__name__} {getattr(c, 'posterior', '')}".strip())
def classifier(request: pytest.FixtureRequest) -> Any:
    return clone(request.param)


TUNED = [one for one in CLASSIFIERS if not isinstance(one, abnet.CertifiedClassifier)]
"""Those with parameters of training."""


@pytest.fixture(params=TUNED, ids=lambda c: f"{type(c).__name__} {getattr(c, 'posterior', '')}".strip())
def tuned(request: pytest.FixtureRequest) -> Any:
    return clone(request.param)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    return rng.normal(size=(200, 3)) + 2.4 * y[:, None] - 1.2, y


def test_learns_and_is_deterministic(classifier: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    first = clone(classifier).fit(X, y)
    second = clone(classifier).fit(X, y)
    assert first.score(X, y) > 0.8
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    other = clone(classifier).set_params(random_state=1).fit(X, y)
    assert np.any(other.decision_function(X) != first.decision_function(X))


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (False, True), (3, 7), (0.0, 1.0)], ids=lambda v: type(v[0]).__name__
)
def test_labels_of_any_type(classifier: Any, blobs: tuple[np.ndarray, np.ndarray], labels: tuple[Any, Any]) -> None:
    X, y = blobs
    named = np.array(labels)[y]
    predicted = classifier.set_params(max_iter=2).fit(X, named).predict(X)
    assert predicted.dtype == named.dtype
    assert set(predicted) <= set(labels)
    np.testing.assert_array_equal(classifier.classes_, labels)


@pytest.mark.parametrize("kind", [abnet.ABNetClassifier, abnet.EBPClassifier])
def test_a_batch_is_never_larger_than_the_data(kind: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    assert kind((2,), batch_size=10**9, max_iter=1, random_state=0).fit(X, y).predict(X).shape == (200,)


def test_labels_that_cannot_be_sorted_are_refused(classifier: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    with pytest.raises(ValueError, match="type"):
        classifier.fit(X, np.array(["a", 1], dtype=object)[y])


def test_three_classes_are_learned_or_refused_by_name(classifier: Any, tmp_path: Path) -> None:
    """PBGNet alone has no several classes; what the others have learned is what their file predicts."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 3)) + 4 * np.eye(3)[y]
    named = np.array(["hare", "owl", "toad"])[y]
    if isinstance(classifier, abnet.PBGNetClassifier):
        with pytest.raises(ValueError, match=r"\b3\b.*hare, owl, toad"):
            classifier.fit(X, named)
        return
    fitted = classifier.fit(X, named)
    assert fitted.score(X, named) > 0.8
    assert fitted.decision_function(X).shape == (240, 3)
    fitted.save(tmp_path / "model.abnet")
    loaded = abnet.load(tmp_path / "model.abnet")
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1)
    outside = abnet.certify(loaded, X + 0.01, named)
    assert isinstance(outside, abnet.Certificate)
    assert sum(outside.facts.class_errors) == np.sum(fitted.predict(X + 0.01) != named)


def test_one_class_is_refused(classifier: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, _ = blobs
    with pytest.raises(ValueError, match="class"):
        classifier.fit(X, np.zeros(len(X), int))


def test_frames_sparse_matrices_and_arrays_are_the_same_data(
    classifier: Any, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = blobs
    X = np.where(np.abs(X) < 0.5, 0, X)
    if isinstance(classifier, abnet.ABNetClassifier):
        classifier = clone(classifier).set_params(preprocessor=None)  # frames are prepared as tables otherwise
    expected = clone(classifier).fit(X, y).decision_function(X)
    names = [f"column {i}" for i in range(X.shape[1])]
    frame = polars.DataFrame(X, schema=names)
    for data in (csr_array(X), frame, frame.to_pandas()):
        fitted = clone(classifier).fit(data, y)
        np.testing.assert_allclose(fitted.decision_function(data), expected, atol=1e-12)
    assert list(fitted.feature_names_in_) == names
    with pytest.raises(ValueError, match="column 0"):
        fitted.predict(frame.to_pandas().rename(columns={"column 0": "other"}))


def test_works_inside_scikit_learn(classifier: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    quick = classifier
    pipeline = make_pipeline(StandardScaler(), quick)
    assert cross_val_score(pipeline, X, y, cv=2).mean() > 0.5
    calibrated = CalibratedClassifierCV(clone(quick), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (200, 2)
    again = pickle.loads(pickle.dumps(clone(quick).fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), clone(quick).fit(X, y).predict(X))


def test_a_grid_over_learning_rates_compiles_once(
    tuned: Any, blobs: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folds of 100 rows and one fit of 200, two learning rates, several seeds: one program."""
    X, y = blobs
    tuned.set_params(max_iter=2)
    programs = spied_programs(monkeypatch)
    clone(tuned).fit(X[:170], y[:170])
    (epoch,) = programs
    before = epoch._cache_size()
    GridSearchCV(tuned, {"learning_rate_init": [0.1, 0.01], "tol": [1e-3, 1e-5]}, cv=2).fit(X, y)
    clone(tuned).set_params(random_state=5, n_iter_no_change=3).fit(X[:150], y[:150])
    assert programs == {epoch}
    assert epoch._cache_size() == before
    if isinstance(tuned, abnet.ABNetClassifier) and tuned.posterior == "auto":  # the count does count
        clone(tuned).set_params(hidden_layer_sizes=(5,)).fit(X[:150], y[:150])
        assert epoch._cache_size() > before


def spied_programs(monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """The compiled epochs that training asks for from now on."""
    from abnet.training import runner
    from abnet.training.compilation import compiled_epoch

    programs: set[Any] = set()

    def noted(learners: Any) -> Any:
        programs.add(compiled_epoch(learners))
        return compiled_epoch(learners)

    monkeypatch.setattr(runner, "compiled_epoch", noted)
    return programs


def test_a_row_is_scored_alone(classifier: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    fitted = classifier.set_params(max_iter=3).fit(X, y)
    together = fitted.decision_function(X)
    np.testing.assert_allclose(fitted.decision_function(X[::-1])[::-1], together, atol=1e-12)
    np.testing.assert_allclose([fitted.decision_function(x[None, :])[0] for x in X[:20]], together[:20], atol=1e-12)


def test_ctrl_c_keeps_the_best_network_so_far(
    classifier: Any, blobs: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    from abnet.training import runner
    from abnet.training.compilation import compiled_epoch

    X, y = blobs
    calls = [0]

    def interrupted(*args: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == 4:
            raise KeyboardInterrupt
        return compiled_epoch(args[0])(*args, **options)

    monkeypatch.setattr(runner, "compiled_epoch", lambda learners: interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        classifier.fit(X, y)
    assert calls[0] == 4
    assert classifier.predict(X).shape == (200,)
    assert len(classifier.loss_curve_) == 3


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("hidden_layer_sizes", (), "hidden_layer_sizes"),
        ("hidden_layer_sizes", (3, 0), "hidden_layer_sizes"),
        ("validation_fraction", 1.0, "validation_fraction"),
        ("learning_rate_init", -1, "learning_rate_init.*-1"),
        ("max_iter", 0, "max_iter.*0"),
        ("max_iter", 2.5, "max_iter.*2.5"),
        ("batch_size", 0, "batch_size.*0"),
        ("tol", -1.0, "tol"),
        ("hidden_layer_sizes", 4.0, "hidden_layer_sizes.*4.0"),
        ("batch_size", "many", "batch_size.*'many'"),
        ("random_state", -1, "random_state.*-1"),
    ],
)
def test_senseless_parameters_are_named(
    tuned: Any, blobs: tuple[np.ndarray, np.ndarray], parameter: str, value: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tuned.set_params(**{parameter: value}).fit(*blobs)


def test_sample_weights_shape_training(classifier: Any, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    rng = np.random.default_rng(0)
    flipped = np.where(rng.random(200) < 0.45, 1 - y, y)
    trust = np.where(flipped == y, 1.0, 1e-3)
    weighted = clone(classifier).fit(X, flipped, sample_weight=trust).score(X, y)
    assert weighted > 0.8
    with pytest.raises(ValueError, match="non-zero"):
        classifier.fit(X, y, sample_weight=np.zeros(200))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        classifier.fit(X, y, sample_weight=-np.ones(200))


def test_saved_models_predict_with_the_same_bits(
    classifier: Any, blobs: tuple[np.ndarray, np.ndarray], tmp_path: Any
) -> None:
    X, y = blobs
    fitted = classifier.set_params(max_iter=3).fit(X, np.array(["a", "b"])[y])
    fitted.save(tmp_path / "model.abnet")
    loaded = abnet.load(tmp_path / "model.abnet")
    np.testing.assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
