"""Teachers: fitted on the rows given and no others, honest about them, cells moved as a whole."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from abnet.training import teachers
from abnet.training.pooling import pooled
from abnet.training.teachers import WITH_METRIC, Teaching, recombined_rows, teach, teachers_named


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
    teaching = Teaching.of({"parrot": Parrot()}, *sample, 2, 0)
    np.testing.assert_array_equal(teaching.unseen, 0.5)
    np.testing.assert_allclose(teaching.probabilities(sample[0])[:, 1], sample[1], atol=1e-3)


class ThreadCounter(Parrot):
    """Remembers how many OpenMP threads it might have used."""

    counts: list[set[int]] = []  # noqa: RUF012 shared by all clones on purpose

    def fit(self, X: Any, y: Any) -> "ThreadCounter":
        self.counts.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"})
        super().fit(X, y)
        return self


@pytest.mark.parametrize(("many", "expected"), [(10**9, {1}), (1, {2})])
def test_few_cells_are_learned_by_one_thread(
    sample: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch, many: int, expected: set[int]
) -> None:
    """Two threads that share cores with other programs wait for each other far longer than they compute."""
    monkeypatch.setattr(teachers, "MANY_CELLS", many)
    ThreadCounter.counts.clear()
    with threadpool_limits(2, user_api="openmp"):
        Teaching.of({"counter": ThreadCounter()}, *sample, 2, 0)
    assert len(ThreadCounter.counts) == 1 + teachers.FOLDS
    assert all(count == expected for count in ThreadCounter.counts)


def test_trees_of_many_rows_are_grown_on_a_part_of_them() -> None:
    """By a share, so that folds with fewer rows may have it too; few rows are left as they are."""
    few, many = (teachers_named("forest", 0, (n, 5))["forest"].max_samples for n in (25_000, 100_000))
    assert few is None
    assert many == 0.25


def test_folds_take_whole_groups(rng: np.random.Generator) -> None:
    groups, codes = rng.integers(12, size=90), rng.integers(2, size=90)
    judged = []
    for learn, judge in teachers._folds(codes, 0, groups):
        assert not set(groups[learn]) & set(groups[judge])
        judged += judge.tolist()
    assert sorted(judged) == list(range(90))


def test_a_forest_with_groups_says_nothing_it_learned_from_the_group() -> None:
    """Four rows a group, alike but for a whisper, labels by coin: bags remember them, folds of groups cannot."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(40, 3))[groups] + 1e-3 * rng.normal(size=(160, 3))
    codes = rng.integers(2, size=40)[groups].astype(np.intp)
    errors = {}
    for known in (None, groups):
        forest = {"forest": teachers_named("forest", 0)["forest"].set_params(n_estimators=60)}
        teaching = Teaching.of(forest, X, codes, 2, 0, groups=known)
        errors[known is None] = np.mean(teaching.unseen.argmax(axis=1) != codes)
    assert errors[True] < 0.1
    assert errors[False] > 0.3


def test_no_row_is_made_of_watched_rows(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = sample
    teaching = Teaching.of({"parrot": Parrot()}, X, codes, 2, 0)
    lesson = teach(teaching, X, codes, np.arange(3), np.random.default_rng(0), watched=np.arange(80, 90))
    made = lesson.X[lesson.n_own :]
    assert not np.isin(made, X[80:]).any()
    assert np.isin(made, X[:80]).all()


def test_forest_uses_its_bags(sample: tuple[np.ndarray, np.ndarray]) -> None:
    teaching = Teaching.of(teachers_named("forest", 0), *sample, 2, 0)
    own = np.mean(teaching.probabilities(sample[0]).argmax(1) != sample[1])
    unseen = np.mean(teaching.unseen.argmax(1) != sample[1])
    assert own == 0 < unseen < 0.4


def test_targets_are_halfway_and_made_rows_have_the_teachers(
    sample: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    X, codes = sample
    teaching = Teaching.of({"linear": LogisticRegression()}, X, codes, 2, 0)
    lesson = teach(teaching, X, codes, np.arange(3), rng)
    np.testing.assert_array_equal(lesson.X[: lesson.n_own], X)
    np.testing.assert_allclose(lesson.targets[:90, 1], (codes + teaching.unseen[:, 1]) / 2)
    alone = LogisticRegression().fit(X, codes).predict_proba(lesson.X[90:])
    np.testing.assert_allclose(lesson.targets[90:], pooled(teaching.weights, alone[None]), atol=1e-6)


def test_with_several_classes_the_targets_of_own_rows_are_their_labels(
    sample: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    X = sample[0]
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    teaching = Teaching.of({"linear": LogisticRegression()}, X, codes, 3, 0)
    np.testing.assert_array_equal(teach(teaching, X, codes, np.arange(3), rng).targets[:90], np.eye(3)[codes])


def test_made_rows_hold_cells_of_the_table(rng: np.random.Generator) -> None:
    X = np.arange(40.0).reshape(10, 4)
    made = recombined_rows(X, np.array([0, 1, 1, 2]), rng)
    assert all(set(made[:, j]) <= set(X[:, j]) for j in range(4))
    np.testing.assert_array_equal(made[:, 2] - made[:, 1], 1)
    rows = {tuple(row // 4) for row in made}  # where each cell comes from
    assert max(len(set(row)) for row in rows) == 2
    moved = np.mean(made[:, 0] != made[:, 3] - 3)
    assert 0.25 < moved < 0.35  # one of the two cells and not the other (1/3), but for draws of the same row


class Interrupted(Parrot):
    """Ctrl-C is pressed while it learns."""

    def fit(self, X: Any, y: Any) -> "Interrupted":
        raise KeyboardInterrupt


def test_ctrl_c_while_teachers_learn_stops_the_fit(sample: tuple[np.ndarray, np.ndarray]) -> None:
    """Networks without some of their teachers would be another model than the one asked for."""
    with pytest.raises(KeyboardInterrupt):
        Teaching.of({"linear": LogisticRegression(), "interrupted": Interrupted()}, *sample, 2, 0)


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
    with pytest.raises(ValueError, match="Raving must predict probabilities"):
        Teaching.of({"raving": Raving()}, *sample, 2, 0)


def test_a_class_is_no_teacher() -> None:
    with pytest.raises(TypeError, match=r"such as LogisticRegression\(\)"):
        teachers_named(LogisticRegression, 0)


def test_classes_that_a_fold_lacks_have_probability_zero(rng: np.random.Generator) -> None:
    X, codes = rng.normal(size=(41, 2)), np.array([0] * 20 + [1] * 20 + [2])
    teaching = Teaching.of({"linear": LogisticRegression()}, X, codes, 3, 0)
    np.testing.assert_allclose(teaching.unseen.sum(axis=1), 1)
    linear = teachers._Candidate(LogisticRegression(), teachers._Rows(X, codes, 3, None, None))
    linear.learn((np.arange(40), np.array([40])))
    assert linear.unseen[40, 2] == 0


class Misled(Parrot):
    """Sure of itself, by a column that says nothing about the label."""

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.eye(2)[(np.asarray(X)[:, 2] > 0).astype(int)]


def test_a_teacher_that_adds_nothing_is_fitted_on_one_fold_alone(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = sample
    Parrot.seen.clear()
    teaching = Teaching.of({"linear": LogisticRegression(), "misled": Misled()}, X, codes, 2, 0)
    assert list(teaching.models) == ["linear"]
    assert [len(rows) for rows in Parrot.seen] == [len(X) - len(X) // teachers.FOLDS]
    alone = Teaching.of({"linear": LogisticRegression()}, X, codes, 2, 0)
    np.testing.assert_array_equal(teaching.unseen, alone.unseen)


class Boaster(Misled):
    """Misled, and with answers for rows it has not seen, so that no fold tells early."""

    oob_score = True

    def fit(self, X: Any, y: Any) -> "Boaster":
        self.oob_decision_function_ = self.predict_proba(X)
        return super().fit(X, y)


def test_a_teacher_of_little_weight_is_not_asked_about_made_rows(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = sample
    alone, beside = (
        Teaching.of({"linear": LogisticRegression()} | further, X, codes, 2, 0)
        for further in ({}, {"boaster": Boaster()})
    )
    assert list(beside.models) == ["linear"]
    np.testing.assert_array_equal(beside.unseen, alone.unseen)
    np.testing.assert_array_equal(beside.probabilities(X), alone.probabilities(X))


def test_weights_of_rows_reach_the_teachers(sample: tuple[np.ndarray, np.ndarray]) -> None:
    """Labels turned in rows of hardly any weight: who heeds the weights still tells the true ones."""
    X, codes = sample
    doubtful = np.arange(90) % 2 == 0
    told, weights = np.where(doubtful, 1 - codes, codes), np.where(doubtful, 1e-3, 1.0)
    models = {
        "linear": LogisticRegression(),
        "forest": teachers_named("forest", 0)["forest"].set_params(n_estimators=60),
    }
    heeding = Teaching.of(models, X, told, 2, 0, weights=weights)
    assert np.mean(heeding.probabilities(X[~doubtful]).argmax(axis=1) == codes[~doubtful]) > 0.8
    assert np.mean(heeding.unseen[doubtful].argmax(axis=1) == codes[doubtful]) > 0.7
    with pytest.warns(UserWarning, match="Parrot takes no sample_weight"):
        Teaching.of({"parrot": Parrot()}, X, told, 2, 0, weights=weights)


def test_equal_weights_are_none(sample: tuple[np.ndarray, np.ndarray]) -> None:
    forest = {"forest": teachers_named("forest", 0)["forest"].set_params(n_estimators=20)}
    without, equal = (Teaching.of(forest, *sample, 2, 0, weights=given).unseen for given in (None, np.full(90, 3.0)))
    np.testing.assert_array_equal(without, equal)


def test_a_metric_is_learned_with_several_classes_and_enough_rows() -> None:
    def names(shape: tuple[int, int], n_classes: int) -> list[str]:
        return [name for name in teachers_named("all", 0, shape, n_classes) if name in WITH_METRIC]

    assert names((200, 20), 3) == list(WITH_METRIC)
    assert names((199, 20), 3) == names((200, 20), 2) == []


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

    teaching = Teaching.of({"timid": Timid(0.45), "sure": Sure(0.7)}, X, codes, 3, 0)
    assert teaching.weights[0] > 4 * teaching.weights[1:].sum()
    assert teaching.unseen.max(axis=1).mean() == pytest.approx(np.mean(good == codes), abs=0.05)
    np.testing.assert_allclose(teaching.probabilities(X), teaching.unseen)
    np.testing.assert_allclose(teaching.unseen.sum(axis=1), 1)
