"""The pool of teachers: honest out-of-fold predictions, and weights that follow from them."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from abnet.training import teacher_pool
from abnet.training.teacher_pool import fit_pool
from abnet.training.teachers import teachers_named


class Parrot(ClassifierMixin, BaseEstimator):
    """Knows the labels of the rows it was fitted on by heart, and nothing else."""

    seen: list[np.ndarray] = []  # noqa: RUF012 shared by all clones on purpose

    def fit(self, X: Any, y: Any) -> "Parrot":
        Parrot.seen.append(np.asarray(X))
        self.classes_ = np.unique(y)
        self.known_ = {row.tobytes(): label for row, label in zip(np.asarray(X), y, strict=True)}
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        equal = np.full(len(self.classes_), 1 / len(self.classes_))
        rows = [self.known_.get(row.tobytes()) for row in np.asarray(X)]
        return np.array([equal if label is None else (self.classes_ == label) * 1.0 for label in rows])


@pytest.fixture
def sample(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(90, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=90) > 0).astype(np.intp)


def test_what_is_said_of_own_rows_was_not_learned_from_them(sample: tuple[np.ndarray, np.ndarray]) -> None:
    pool = fit_pool({"parrot": Parrot()}, *sample, 2, 0)
    np.testing.assert_array_equal(pool.out_of_fold, 0.5)
    np.testing.assert_allclose(pool.probabilities(sample[0])[:, 1], sample[1], atol=1e-3)


class ThreadCounter(Parrot):
    """Remembers how many OpenMP threads it might have used."""

    counts: list[set[int]] = []  # noqa: RUF012 shared by all clones on purpose

    def fit(self, X: Any, y: Any) -> "ThreadCounter":
        self.counts.append({threads["num_threads"] for threads in threadpool_info() if threads["user_api"] == "openmp"})
        super().fit(X, y)
        return self


@pytest.mark.parametrize(("many", "expected"), [(10**9, {1}), (1, {2})])
def test_few_cells_are_learned_by_one_thread(
    sample: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch, many: int, expected: set[int]
) -> None:
    """Two threads that share cores with other programs wait for each other far longer than they compute."""
    monkeypatch.setattr(teacher_pool, "MANY_CELLS", many)
    ThreadCounter.counts.clear()
    with threadpool_limits(2, user_api="openmp"):
        fit_pool({"counter": ThreadCounter()}, *sample, 2, 0)
    assert len(ThreadCounter.counts) == 1 + teacher_pool.FOLDS
    assert all(count == expected for count in ThreadCounter.counts)


def test_folds_take_whole_groups(rng: np.random.Generator) -> None:
    groups = rng.integers(12, size=90)
    codes = rng.integers(2, size=90)
    predicted = []
    for fold in teacher_pool._folds(codes, 0, groups):
        assert not set(groups[fold.fit]) & set(groups[fold.predict])
        predicted += fold.predict.tolist()
    assert sorted(predicted) == list(range(90))


def test_a_forest_with_groups_says_nothing_it_learned_from_the_group() -> None:
    """Four rows a group, alike but for a whisper, labels by coin: bags remember them, folds of groups cannot."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(40, 3))[groups] + 1e-3 * rng.normal(size=(160, 3))
    codes = rng.integers(2, size=40)[groups].astype(np.intp)
    errors = {}
    for known in (None, groups):
        forest = {"forest": teachers_named("forest", 0)["forest"].set_params(n_estimators=60)}
        pool = fit_pool(forest, X, codes, 2, 0, groups=known)
        errors[known is None] = np.mean(pool.out_of_fold.argmax(axis=1) != codes)
    assert errors[True] < 0.1
    assert errors[False] > 0.3


def test_forest_uses_its_bags(sample: tuple[np.ndarray, np.ndarray]) -> None:
    pool = fit_pool(teachers_named("forest", 0), *sample, 2, 0)
    own = np.mean(pool.probabilities(sample[0]).argmax(1) != sample[1])
    unseen = np.mean(pool.out_of_fold.argmax(1) != sample[1])
    assert own == 0 < unseen < 0.4


class Interrupted(Parrot):
    """Ctrl-C is pressed while it learns."""

    def fit(self, X: Any, y: Any) -> "Interrupted":
        raise KeyboardInterrupt


def test_ctrl_c_while_teachers_learn_stops_the_fit(sample: tuple[np.ndarray, np.ndarray]) -> None:
    """Networks without some of their teachers would be another model than the one asked for."""
    with pytest.raises(KeyboardInterrupt):
        fit_pool({"linear": LogisticRegression(), "interrupted": Interrupted()}, *sample, 2, 0)


class Raving(Parrot):
    """Predicts what is no probability."""

    answer = np.nan

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.full((len(X), 2), self.answer)


@pytest.mark.parametrize("answer", [np.nan, 5.0, -0.5, np.inf])
def test_a_teacher_without_probabilities_is_refused(
    sample: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch, answer: float
) -> None:
    monkeypatch.setattr(Raving, "answer", answer)
    with pytest.raises(ValueError, match="Raving"):
        fit_pool({"raving": Raving()}, *sample, 2, 0)


def test_classes_that_a_fold_lacks_have_probability_zero(rng: np.random.Generator) -> None:
    X = rng.normal(size=(41, 2))
    codes = np.array([0] * 20 + [1] * 20 + [2])
    pool = fit_pool({"linear": LogisticRegression()}, X, codes, 3, 0)
    np.testing.assert_allclose(pool.out_of_fold.sum(axis=1), 1)
    linear = teacher_pool._Candidate(LogisticRegression(), teacher_pool._Rows(X, codes, 3, None, None))
    linear.fit_fold(teacher_pool._Fold(np.arange(40), np.array([40])))
    assert linear.out_of_fold[40, 2] == 0


class Misled(Parrot):
    """Sure of itself, by a column that says nothing about the label."""

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.eye(2)[(np.asarray(X)[:, 2] > 0).astype(int)]


def test_a_teacher_that_adds_nothing_is_fitted_on_one_fold_alone(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = sample
    Parrot.seen.clear()
    pool = fit_pool({"linear": LogisticRegression(), "misled": Misled()}, X, codes, 2, 0)
    assert list(pool.models) == ["linear"]
    assert [len(rows) for rows in Parrot.seen] == [len(X) - len(X) // teacher_pool.FOLDS]
    alone = fit_pool({"linear": LogisticRegression()}, X, codes, 2, 0)
    np.testing.assert_array_equal(pool.out_of_fold, alone.out_of_fold)


class Boaster(Misled):
    """Misled, and with answers for rows it has not seen, so that no fold tells early."""

    oob_score = True

    def fit(self, X: Any, y: Any) -> "Boaster":
        self.oob_decision_function_ = self.predict_proba(X)
        return super().fit(X, y)


def test_a_teacher_of_little_weight_is_not_asked_about_made_rows(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = sample
    alone, beside = (
        fit_pool({"linear": LogisticRegression()} | further, X, codes, 2, 0) for further in ({}, {"boaster": Boaster()})
    )
    assert list(beside.models) == ["linear"]
    np.testing.assert_array_equal(beside.out_of_fold, alone.out_of_fold)
    np.testing.assert_array_equal(beside.probabilities(X), alone.probabilities(X))


def test_weights_of_rows_reach_the_teachers(sample: tuple[np.ndarray, np.ndarray]) -> None:
    """Labels turned in rows of hardly any weight: who heeds the weights still tells the true ones."""
    X, codes = sample
    doubtful = np.arange(90) % 2 == 0
    turned = np.where(doubtful, 1 - codes, codes)
    weights = np.where(doubtful, 1e-3, 1.0)
    models = {
        "linear": LogisticRegression(),
        "forest": teachers_named("forest", 0)["forest"].set_params(n_estimators=60),
    }
    heeding = fit_pool(models, X, turned, 2, 0, weights=weights)
    assert np.mean(heeding.probabilities(X[~doubtful]).argmax(axis=1) == codes[~doubtful]) > 0.8
    assert np.mean(heeding.out_of_fold[doubtful].argmax(axis=1) == codes[doubtful]) > 0.7
    with pytest.warns(UserWarning, match="Parrot.*sample_weight"):
        fit_pool({"parrot": Parrot()}, X, turned, 2, 0, weights=weights)


def test_equal_weights_are_none(sample: tuple[np.ndarray, np.ndarray]) -> None:
    forest = {"forest": teachers_named("forest", 0)["forest"].set_params(n_estimators=20)}
    without, equal = (fit_pool(forest, *sample, 2, 0, weights=given).out_of_fold for given in (None, np.full(90, 3.0)))
    np.testing.assert_array_equal(without, equal)


class Timid(ClassifierMixin, BaseEstimator):
    """Reads its answer off the row, and gives it a fixed probability."""

    def __init__(self, answer: float) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> "Timid":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        said = np.full((len(X), 3), (1 - self.answer) / 2)
        said[np.arange(len(X)), np.asarray(X)[:, 0].astype(int)] = self.answer
        return said


def test_a_timid_teacher_of_several_classes_is_judged_by_what_it_means(rng: np.random.Generator) -> None:
    """It is right far more often than one that is sure, which would win by its log loss as it is."""
    codes = rng.integers(0, 3, 400)
    good, poor = (np.where(rng.random(400) < share, codes, rng.integers(0, 3, 400)) for share in (0.9, 0.5))
    X = np.stack([good, poor], axis=1).astype(float)

    class Sure(Timid):
        def predict_proba(self, X: Any) -> np.ndarray:
            return super().predict_proba(np.asarray(X)[:, 1:])

    pool = fit_pool({"timid": Timid(0.45), "sure": Sure(0.7)}, X, codes, 3, 0)
    assert pool.weights[0] > 4 * pool.weights[1:].sum()
    assert pool.out_of_fold.max(axis=1).mean() == pytest.approx(np.mean(good == codes), abs=0.05)
    np.testing.assert_allclose(pool.probabilities(X), pool.out_of_fold)
    np.testing.assert_allclose(pool.out_of_fold.sum(axis=1), 1)
