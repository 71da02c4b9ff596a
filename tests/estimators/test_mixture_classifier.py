"""Mixtures as classifiers: nothing reaches them from the bound rows, several classes, recipes that repeat."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from abnet import ABNetClassifier, CertifiedClassifier, load
from abnet.bounds import clopper_pearson_bound
from abnet.certificates.goals import TargetError
from abnet.certificates.statements.confusion_rate import RateAtMost
from abnet.certificates.validation_scores import ValidationScores
from abnet.estimators import fit as whole_fit
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.moments import MomentsPredictor
from abnet.training import wide_members
from abnet.training.calibrate import pool_scores
from abnet.training.kernel_teacher import KernelTeacher
from abnet.training.resolve import Sizes, resolve
from abnet.training.targets import SOFTENING
from abnet.utils.errors import TrainingRowsError
from promised import promised

QUICK: dict[str, Any] = {"n_estimators": 2, "max_iter": 4, "random_state": 0}
TRAINED: dict[str, Any] = {"posterior": "train", "max_iter": 4, "random_state": 0}


class Parrot(ClassifierMixin, BaseEstimator):
    """Remembers every row that it was ever shown."""

    seen: ClassVar[set[bytes]] = set()

    def fit(self, X: Any, y: Any) -> "Parrot":
        Parrot.seen |= {np.asarray(row, np.float32).tobytes() for row in np.asarray(X)}
        self.classes_ = np.unique(y)
        self.share_ = np.array([np.mean(y == label) for label in self.classes_])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.tile(self.share_, (len(X), 1))


@pytest.fixture
def rows(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(160, 3)).astype(np.float32)


def two(X: np.ndarray) -> np.ndarray:
    return np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")


def four(X: np.ndarray) -> np.ndarray:
    return np.array(["a", "b", "c", "d"])[2 * (X[:, 0] > 0) + (X[:, 1] > 0)]


def test_teacher_sees_the_first_part_and_nothing_else(rows: np.ndarray) -> None:
    Parrot.seen.clear()
    clf = CertifiedClassifier((3,), teacher=Parrot(), preprocessor=None, **QUICK).fit(rows, two(rows))
    first = {row.tobytes() for row in rows[clf.other_rows_]}
    assert first <= Parrot.seen == first
    assert not {row.tobytes() for row in rows[clf.bound_rows_]} & Parrot.seen


@pytest.mark.parametrize("limits", [[2.5], [1.5, 3.5, 5.0]], ids=["two classes", "four"])
def test_the_kernel_learns_from_the_first_part_alone(
    rows: np.ndarray, limits: list[float], monkeypatch: pytest.MonkeyPatch, split_as: Callable[..., None]
) -> None:
    seen: set[bytes] = set()
    real = KernelTeacher.fit

    def fit(self: KernelTeacher, X: Any, y: Any, sample_weight: Any = None) -> KernelTeacher:
        seen.update(np.asarray(row, np.float32).tobytes() for row in np.asarray(X))
        return real(self, X, y, sample_weight)

    monkeypatch.setattr(KernelTeacher, "fit", fit)
    options: dict[str, Any] = {"teacher": "all", "preprocessor": None, **QUICK}
    y = np.digitize((rows**2).sum(axis=1), limits)
    split_as(rows, y)
    clf = CertifiedClassifier((3,), **options).fit(rows, y)
    assert seen == {row.tobytes() for row in rows[clf.other_rows_]}
    assert "kernel" in clf.recipe_text_
    moved = rows.copy()
    moved[clf.bound_rows_] *= 3
    again = CertifiedClassifier((3,), **options).fit(moved, y)
    for name, array in clf.model_.predictor.arrays().items():
        np.testing.assert_array_equal(again.model_.predictor.arrays()[name], array)


@pytest.mark.parametrize("teacher", [None, "linear", "kernel"])
@pytest.mark.parametrize("labels", [two, four])
def test_labels_of_the_bound_rows_change_nothing_but_the_certificate(
    rows: np.ndarray, labels: Any, teacher: Any, split_as: Callable[..., None]
) -> None:
    y = labels(rows)
    split_as(rows, y)
    clf = CertifiedClassifier((3,), teacher=teacher, codes="thermometer", **QUICK).fit(rows, y)
    turned = y.copy()
    turned[clf.bound_rows_] = np.roll(np.sort(np.unique(y)), 1)[np.searchsorted(np.sort(np.unique(y)), y)][
        clf.bound_rows_
    ]
    other = CertifiedClassifier((3,), teacher=teacher, codes="thermometer", **QUICK).fit(rows, turned)
    for name, array in clf.model_.predictor.arrays().items():
        np.testing.assert_array_equal(other.model_.predictor.arrays()[name], array)
    assert other.model_.calibration == clf.model_.calibration
    assert sum(promised(other).facts.class_errors) > sum(promised(clf).facts.class_errors)


@pytest.mark.parametrize("width", [3, 12], ids=["exact", "ancestral"])
def test_several_classes(rows: np.ndarray, width: int, tmp_path: Path) -> None:
    y = four(rows)
    clf = CertifiedClassifier((width,), teacher="linear", n_estimators=2, random_state=0).fit(rows, y)
    assert np.mean(clf.predict(rows) != y) < 0.2
    np.testing.assert_allclose(clf.predict_proba(rows).sum(axis=1), 1)
    np.testing.assert_allclose(clf.vote_share(rows).sum(axis=1), 1)
    certificate = promised(clf)
    bound = clf.bound_rows_
    matrix = clf.confusion(rows, y, fitted=True)
    said = clf.predict(rows[bound])
    counts = {(s.label, s.answer): s.count for s in matrix.each(RateAtMost)}
    assert counts == {(a, b): int(np.sum(said[y[bound] == a] == b)) for b in "abcd" for a in "abcd"}
    assert matrix.facts.class_errors == certificate.facts.class_errors
    with pytest.raises(ValueError, match=r"\b160\b"):
        clf.confusion(rows[:10], y[:10], fitted=True)
    turned = np.arange(len(y))[::-1]
    with pytest.raises(ValueError, match="order"):
        clf.confusion(rows[turned], y[turned], fitted=True)
    with pytest.raises(TrainingRowsError):
        clf.confusion(rows, y)
    certificate.check()
    errors = int(np.sum(clf.predict(rows[bound]) != y[bound]))
    assert sum(certificate.facts.class_errors) == errors
    assert certificate.vote_error_bound == clopper_pearson_bound(errors, len(bound), 0.05)
    assert certificate.facts.classes == ("a", "b", "c", "d")
    clf.save(tmp_path / "m.abnet")
    np.testing.assert_array_equal(load(tmp_path / "m.abnet").predict(rows), clf.predict(rows))
    drawn = clf.draw_network()
    wrong = int(np.sum(drawn.predict(rows[bound]) != y[bound]))
    assert drawn.certificate is not None
    assert sum(drawn.certificate.facts.class_errors) == wrong


def test_a_label_first_met_among_the_bound_rows_is_an_error(rows: np.ndarray, split_as: Callable[..., None]) -> None:
    y = four(rows).astype("<U20")
    split_as(rows, y)
    plain = CertifiedClassifier((3,), **QUICK).fit(rows, y)
    y[plain.bound_rows_[:3]] = "never seen before"
    with pytest.warns(UserWarning, match="3 held-out rows"):
        clf = CertifiedClassifier((3,), **QUICK).fit(rows, y)
    assert clf.classes_.tolist() == ["a", "b", "c", "d"]
    wrong = clf.predict(rows[clf.bound_rows_]) != y[clf.bound_rows_]
    assert sum(promised(clf).facts.class_errors) == wrong.sum() >= 3
    assert promised(clf).facts.classes[-1] == "another label"
    declared = CertifiedClassifier((3,), classes=[*"abcd", "never seen before", "nor this"], **QUICK).fit(rows, y)
    assert declared.classes_.tolist() == [*"abcd", "never seen before", "nor this"]
    promised(declared).check()


def test_posterior_of_several_classes_trained_through_the_bound(rows: np.ndarray) -> None:
    clf = ABNetClassifier((3,), **TRAINED).fit(rows, four(rows))
    assert promised(clf).facts.trained
    moved = [
        0.5 * sum(float(np.sum((a.astype(float) - b) ** 2)) for a, b in zip(w.layers, v.layers, strict=True))
        for w, v in zip(clf.networks_, clf.priors_, strict=True)
    ]
    assert promised(clf).facts.kl == pytest.approx(np.mean(moved), rel=1e-6)
    assert promised(clf).facts.kl > 0
    promised(clf).check()


def mixed(rng: np.random.Generator, n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    size = rng.normal(size=n)
    town = rng.choice(["Oslo", "Lima", "Pune"], n)
    frame = pd.DataFrame({"size": size, "town": town, "age": rng.integers(20, 80, n).astype(float)})
    frame.loc[::9, "age"] = np.nan
    return frame, np.where(size + (town == "Lima") > 0.3, "up", "down")


def test_nothing_to_set_and_the_recipe_repeats(rng: np.random.Generator, tmp_path: Path) -> None:
    frame, y = mixed(rng)
    clf = CertifiedClassifier(random_state=0).fit(frame, y)
    assert isinstance(clf.model_.predictor, Compact)
    assert np.mean(clf.predict(frame) != y) < 0.2
    assert clf.recipe_["n_estimators"] == 8
    again = CertifiedClassifier(**clf.recipe_, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(again.decision_function(frame), clf.decision_function(frame))
    assert again.certificate_ == clf.certificate_
    clf.save(tmp_path / "m.abnet")
    loaded = load(tmp_path / "m.abnet")
    np.testing.assert_array_equal(loaded.predict_proba(frame), clf.predict_proba(frame))
    assert loaded.card.recipe == clf.recipe_text_
    assert "8 " in clf.recipe_text_


@pytest.mark.parametrize(
    ("K", "features", "hidden"), [(2, 10, (8,)), (2, 401, (100,)), (3, 10, (150,)), (5, 10, (150,)), (6, 10, (300,))]
)
def test_widths_follow_from_numbers_alone(K: int, features: int, hidden: tuple[int, ...]) -> None:
    recipe = resolve(CertifiedClassifier().settings(), Sizes(1000, features, K))
    assert recipe.hidden_layer_sizes == hidden
    assert recipe.aggregation == ("exact" if hidden == (8,) else "moments")
    if K > 2:
        many = resolve(CertifiedClassifier().settings(), Sizes(3000, features, K))
        assert (recipe.n_estimators, many.n_estimators) == (2, 4)


@pytest.mark.parametrize(("K", "teacher"), [(2, "all"), (30, "all"), (31, "forest")])
def test_the_forest_is_the_only_teacher_of_many_classes(K: int, teacher: str) -> None:
    assert resolve(CertifiedClassifier().settings(), Sizes(1000, 10, K)).teacher == teacher


@pytest.mark.parametrize(
    ("K", "wanted", "length"), [(2, "auto", 1), (2, 8, 1), (3, 2, 2), (5, 2, r"\b3 and 16\b.*\b5 classes"),
                                (3, 17, r"\b2 and 16\b"), (2**16 + 1, "auto", "65,537 classes")]
)  # fmt: skip
def test_codes_are_long_enough_for_the_classes(K: int, wanted: Any, length: Any) -> None:
    if isinstance(length, int):
        assert resolve(ABNetClassifier(code_length=wanted).settings(), Sizes(1000, 10, K)).code_length == length
        return
    with pytest.raises(ValueError, match=length):
        resolve(ABNetClassifier(code_length=wanted).settings(), Sizes(1000, 10, K))


def test_wide_arrays_are_scaled_only(rng: np.random.Generator) -> None:
    X = rng.normal(size=(120, 401))
    clf = CertifiedClassifier(max_iter=4, random_state=0).fit(X, X[:, 0] > 0)
    assert isinstance(clf.model_.predictor, MomentsPredictor)
    assert (clf.recipe_["codes"], clf.recipe_["teacher"], clf.recipe_["preprocessor"]) == ("none", None, "standardise")


def test_only_the_proportions_of_sample_weights_matter(rng: np.random.Generator) -> None:
    X = rng.normal(size=(120, 3))
    y = X[:, 0] > 0
    weights = rng.integers(1, 5, size=120)
    fits = [
        CertifiedClassifier(max_iter=3, random_state=0).fit(X, y, sample_weight=weights * unit)
        for unit in (1.0, 2.0**-170, 2.0**1020)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.decision_function(X), fits[0].decision_function(X))


def test_class_weight_moves_the_vote(rng: np.random.Generator) -> None:
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + 2 * rng.normal(size=400) > 2.5).astype(int)
    shares = [
        CertifiedClassifier((3,), class_weight=weight, max_iter=20, random_state=0).fit(X, y).predict(X).mean()
        for weight in ({0: 1, 1: 1}, "balanced", {0: 1, 1: 50})
    ]
    assert shares[0] < shares[1] < shares[2]


def test_abstaining_keeps_its_promise_on_the_bound_rows(rng: np.random.Generator) -> None:
    X = rng.normal(size=(3000, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=3000) > 0, "yes", "no")
    clf = CertifiedClassifier((3,), max_iter=20, random_state=0, decision=TargetError(0.1)).fit(X, y)
    assert clf.model_.decision.kind == "abstain"
    answers = clf.predict(X)
    given = np.array([answer is not None for answer in answers])
    assert 0.2 < given.mean() < 1
    assert np.mean(answers[given] != y[given]) < 0.1
    np.testing.assert_array_equal(answers[given], clf.vote(X)[given])


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"teacher": "forrest"}, "teacher.*'forrest'"),
        ({"teacher": 3}, "predict_proba"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"codes": "binary"}, "codes.*'binary'"),
        ({"class_weight": "unbalanced"}, "class_weight.*'unbalanced'"),
        ({"decision": 0.1}, "decision"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(rows: np.ndarray, parameters: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        CertifiedClassifier(**parameters).fit(rows, two(rows))


def test_rate_of_a_trained_posterior_leaves_its_prior_alone(rows: np.ndarray) -> None:
    """Otherwise `ABNetSearch`, for which the rate is free, would choose among priors without paying."""
    slow, fast = (
        ABNetClassifier((3,), learning_rate_init=rate, **TRAINED).fit(rows, four(rows)) for rate in (0.001, 0.3)
    )
    for one, other in zip(slow.priors_, fast.priors_, strict=True):
        np.testing.assert_array_equal(one.weights[0], other.weights[0])
    assert not np.array_equal(slow.networks_[0].weights[0], fast.networks_[0].weights[0])


def test_share_of_the_rows_that_learn(rows: np.ndarray) -> None:
    assert len(CertifiedClassifier((3,), **QUICK).fit(rows, two(rows)).other_rows_) == 80
    free = CertifiedClassifier(teacher=None, **QUICK).fit(rows, two(rows))
    assert len(free.other_rows_) == 96
    assert free.recipe_["learn_fraction"] == 0.6
    assert len(CertifiedClassifier(teacher=None, learn_fraction=0.25, **QUICK).fit(rows, two(rows)).other_rows_) == 40


@pytest.mark.parametrize(
    ("limit", "trial", "less", "aggregation"),
    [(-1.0, 2.0, 2.0, "moments"), (-1.0, 2.0, 0.0, "exact"), (-1.0, 0.0, 2.0, "exact")],
)
def test_wide_members_only_where_small_ones_fall_short(
    rows: np.ndarray, monkeypatch: pytest.MonkeyPatch, limit: float, trial: float, less: float, aggregation: str
) -> None:
    monkeypatch.setattr(wide_members, "MUCH", limit)
    monkeypatch.setattr(wide_members, "CLEARLY_LESS", less)
    monkeypatch.setattr(wide_members, "LESS_IN_TRIAL", trial)
    monkeypatch.setattr(wide_members, "WIDE_NEURONS", (12,))
    clf = CertifiedClassifier(teacher="linear", max_iter=1, random_state=0).fit(rows, two(rows))
    assert clf.aggregation_ == aggregation
    again = CertifiedClassifier(**{**clf.recipe_, "teacher": "linear"}, max_iter=1, random_state=0).fit(rows, two(rows))
    for name, array in clf.model_.predictor.arrays().items():
        np.testing.assert_array_equal(again.model_.predictor.arrays()[name], array)


def test_fraction_of_the_targets_that_is_not_learned(rng: np.random.Generator) -> None:
    """Zero for the teacher itself, one for whoever knows the mean alone, by the definition of the divergence."""
    chance = rng.uniform(0.01, 0.99, 50)
    targets = np.stack([1 - chance, chance], axis=1)

    def loss(said: np.ndarray) -> float:
        return float(-np.mean(chance * np.log(said) + (1 - chance) * np.log(1 - said)))

    assert wide_members.unlearned_fraction(targets, loss(chance)) == pytest.approx(0, abs=1e-12)
    assert wide_members.unlearned_fraction(targets, loss(np.full(50, chance.mean()))) == pytest.approx(1)
    assert 0 < wide_members.unlearned_fraction(targets, loss(0.9 * chance + 0.05)) < 1


@pytest.mark.parametrize(
    ("X", "y", "match"),
    [
        (np.array([[1e300, 0.0], [-1e300, 1.0]] * 9), [0, 1] * 9, "column 0 holds 1e.300, and numbers of 1e.150"),
        (np.array([["u", 0.0], ["v", 1.0]] * 9, object), [0, 1] * 9, "Give X as a frame"),
        (np.eye(2), ["no", None], r"\by\b.*missing"),
        (np.eye(2), pd.array([True, None], dtype="boolean"), r"\by\b.*missing"),
        (np.eye(2), [1.0, np.nan], r"\by\b.*missing"),
        (pd.DataFrame({"a": range(20)}), [0, 1] * 9, "20, 18"),
        (pl.DataFrame({"a": range(20)}), [0, 1] * 9, "20, 18"),
        (pd.DataFrame({"a": range(20)}), np.eye(20), r"\by\b.*1d"),
        (pd.DataFrame(np.eye(2), columns=["a", "a"]), [0, 1], "'a'"),
        ({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}, [0, 1], "2, 3"),
    ],
    ids=["huge", "text", "no label", "NA", "NaN label", "pandas", "polars", "wide y", "names", "uneven"],
)
def test_what_is_wrong_with_rows_and_labels_is_said(X: Any, y: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        CertifiedClassifier().fit(X, y)


def test_columns_in_a_plain_mapping_are_a_frame(rows: np.ndarray) -> None:
    columns = {f"column {j}": rows[:, j] for j in range(3)}
    clf = CertifiedClassifier(teacher=None, **QUICK).fit(columns, two(rows))
    frame = pd.DataFrame(columns)
    np.testing.assert_array_equal(clf.predict(columns), clf.predict(frame))


def test_a_plan_of_polars_is_a_frame(rows: np.ndarray) -> None:
    frame = pl.DataFrame({f"column {j}": rows[:, j] for j in range(3)})
    clf = CertifiedClassifier(teacher=None, **QUICK).fit(frame.lazy(), two(rows))
    again = CertifiedClassifier(teacher=None, **QUICK).fit(frame, two(rows))
    np.testing.assert_array_equal(clf.predict(frame.lazy()), again.predict(frame))


def test_weights_of_rows_reach_the_default_recipe(rng: np.random.Generator) -> None:
    """Nearly half of the rows have the wrong label and hardly any weight: what is learned is what the others say."""
    X = rng.normal(size=(300, 2))
    truth = X[:, 0] > 0
    doubtful = rng.random(300) < 0.48
    told = np.where(doubtful, ~truth, truth)
    weights = np.where(doubtful, 1e-3, 1.0)
    options: dict[str, Any] = {"teacher": "forest", "n_estimators": 2, "max_iter": 10, "random_state": 0}
    heard = CertifiedClassifier((3,), **options).fit(X, told, sample_weight=weights)
    deaf = CertifiedClassifier((3,), **options).fit(X, told)
    assert np.mean(heard.predict(X) == truth) > 0.9
    assert np.mean(deaf.predict(X) == truth) < 0.85
    with pytest.raises(ValueError, match="weight 0"):
        CertifiedClassifier((3,), **options).fit(X, told, np.isin(np.arange(300), heard.bound_rows_[:1]).astype(float))


def test_weights_shape_a_posterior_that_is_trained_on(rows: np.ndarray) -> None:
    """The same prior, moved by other weights of the bound rows alone; the certificate stays unweighted."""
    y = four(rows)
    options = {**TRAINED, "learning_rate_init": 0.1}
    plain = ABNetClassifier((3,), **options).fit(rows, y, np.ones(len(y)))
    weights = np.ones(len(y))
    weights[plain.bound_rows_[:10]] = 20
    moved = ABNetClassifier((3,), **options).fit(rows, y, weights)
    for one, other in zip(plain.priors_, moved.priors_, strict=True):
        np.testing.assert_array_equal(one.weights[0], other.weights[0])
    assert not np.array_equal(plain.networks_[0].weights[0], moved.networks_[0].weights[0])
    promised(moved).check()


def test_a_first_part_of_one_class_has_no_teacher(rows: np.ndarray, split_as: Callable[..., None]) -> None:
    split_as(rows, two(rows))
    plain = CertifiedClassifier((3,), teacher="linear", **QUICK)
    bound = plain.fit(rows, two(rows)).bound_rows_
    assert "linear" in plain.recipe_text_
    declared = CertifiedClassifier((3,), teacher="linear", classes=[False, True], **QUICK)
    clf = declared.fit(rows, np.isin(np.arange(len(rows)), bound[:20]))
    assert "distilled" not in clf.recipe_text_
    assert clf.recipe_["teacher"] == "linear"
    assert sum(promised(clf).facts.class_errors) == 20


def test_programs_of_a_mixture_are_kept(rows: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process has not to compile what the first one has."""
    import jax

    from abnet.training import compilation

    name = "jax_compilation_cache_dir"
    monkeypatch.setattr(compilation, "_read", lambda setting: None if setting == name else getattr(jax.config, setting))
    monkeypatch.setenv("ABNET_CACHE", str(tmp_path))
    seen: list[str] = []

    def stop(*given: Any) -> Any:
        seen.append(getattr(jax.config, name))
        raise InterruptedError

    monkeypatch.setattr(whole_fit, "learn_mixture", stop)
    with pytest.raises(InterruptedError):
        CertifiedClassifier(**QUICK).fit(rows, rows[:, 0] > 0)
    assert seen == [str(tmp_path / "compiled")]


MEMBERS: dict[Any, dict[str, Any]] = {"auto": {"n_estimators": 2}, (3,): {}}


@pytest.mark.parametrize("widths", MEMBERS, ids=str)
def test_nan_in_an_array_is_a_missing_value(rows: np.ndarray, widths: Any, split_as: Callable[..., None]) -> None:
    """A gap in a row outside the training rows changes neither the training nor answers to rows without a gap."""
    y = two(rows)
    rows = rows.astype(np.float64)
    split_as(rows, y)
    options: dict[str, Any] = {"teacher": None, "max_iter": 2, "random_state": 0} | MEMBERS[widths]
    plain = CertifiedClassifier(widths, **options).fit(rows, y)
    later = rows.copy()
    learned = rows.copy()
    later[plain.bound_rows_[:3], 0] = np.nan
    learned[plain.other_rows_[:9], 0] = np.nan
    clf = CertifiedClassifier(widths, **options).fit(later, y)
    np.testing.assert_allclose(clf.decision_function(rows), plain.decision_function(rows), atol=1e-12)
    assert promised(clf).facts.n_rows == promised(plain).facts.n_rows
    errors = np.sum(clf.predict(later[clf.bound_rows_]) != y[clf.bound_rows_])
    assert sum(promised(clf).facts.class_errors) == errors
    other = CertifiedClassifier(widths, **options).fit(learned, y)
    assert np.isfinite(other.decision_function(learned)).all()
    if widths == "auto":  # as in a frame, a feature says where the gaps were
        assert other.model_.preparation.base.n_features_out == rows.shape[1] + 1
    with pytest.raises(ValueError, match="infinity"):
        CertifiedClassifier(widths, max_iter=2).fit(np.where(np.isnan(later), np.inf, later), y)


def test_wide_members_are_deployed_in_closed_form(rows: np.ndarray) -> None:
    """Nothing is sampled: held-out statements cover its answers, and nothing is said about draws."""
    y = four(rows)
    clf = CertifiedClassifier((12,), teacher="linear", n_estimators=2, max_iter=2, random_state=0).fit(rows, y)
    bound = clf.bound_rows_
    assert isinstance(clf.model_.predictor, MomentsPredictor)
    expected = MomentsPredictor.from_networks(clf.networks_, clf.model_.predictor.words)
    np.testing.assert_array_equal(clf.decision_function(rows), expected.scores(rows))
    certificate = promised(clf)
    assert certificate.gibbs_risk_bound is None
    assert certificate.facts.n_paths is None
    errors = int(np.sum(clf.predict(rows[bound]) != y[bound]))
    assert certificate.vote_error_bound == clopper_pearson_bound(errors, len(bound), 0.05)
    assert all(part.vote_error_bound is not None for part in certificate.per_class)
    again = clf.certify(rows + 0.01, y)
    assert again.gibbs_risk_bound is None
    certificate.check()


@pytest.mark.parametrize("classes", [2, 5])
def test_held_out_scores_have_the_scale_of_the_networks(classes: int, rng: np.random.Generator) -> None:
    """Networks that answer with the square root of their teachers' odds: so do the scores that fix thresholds."""

    def shares(logits: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))

    logits = 3 * rng.normal(size=(900, classes))
    codes = rng.integers(0, classes, 100)
    of_teachers = shares(logits)
    of_networks = shares(logits / 2)
    scores = ValidationScores.from_shares(of_networks, codes).scores
    predictor: Any = SimpleNamespace(scores=lambda rows: scores[rows])
    pool: Any = SimpleNamespace(out_of_fold=of_teachers[:100])
    examples: Any = SimpleNamespace(inputs=np.arange(900), targets=of_teachers, n_training_rows=100)
    found = pool_scores(pool, predictor, examples, codes, class_weights=None)
    np.testing.assert_allclose(found.shares, of_networks[:100], atol=0.02)


def test_class_weights_of_several_taught_classes_are_taken_as_they_are(rng: np.random.Generator) -> None:
    """Targets are softened after they are weighted: otherwise weights would act as their powers."""
    shares = np.array([0.8, 0.15, 0.05])
    centres = 1.5 * np.array([[0, 0], [1, 0], [0, 1]])

    def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.choice(3, count, p=shares)
        return rng.normal(centres[y]), y

    X, y = rows(1_500)
    new, _ = rows(4_000)
    clf = CertifiedClassifier(teacher="linear", class_weight="balanced", random_state=0).fit(X, y)
    likely = np.exp(-np.square(new[:, None] - centres).sum(axis=2) / 2)  # balanced: classes are equally frequent
    told = clf.predict(new)
    assert np.mean(told == likely.argmax(axis=1)) > 0.9
    assert np.mean(told == (likely * shares ** (1 - 1 / SOFTENING)).argmax(axis=1)) < 0.85
