"""Teachers: fitted on the rows given and no others, honest about them, cells moved as a whole."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from abnet.training import teachers
from abnet.training.teachers import Teaching, recombined_rows, stack_weights, teach, teachers_named


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
    assert teaching is not None
    np.testing.assert_array_equal(teaching.unseen, 0.5)
    np.testing.assert_array_equal(teaching.probabilities(sample[0])[:, 1], sample[1])


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
        assert teaching is not None
        errors[known is None] = np.mean(teaching.unseen.argmax(axis=1) != codes)
    assert errors[True] < 0.1
    assert errors[False] > 0.3


def test_no_row_is_made_of_watched_rows(sample: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = sample
    teaching = Teaching.of({"parrot": Parrot()}, X, codes, 2, 0)
    assert teaching is not None
    lesson = teach(teaching, X, codes, np.arange(3), np.random.default_rng(0), watched=np.arange(80, 90))
    made = lesson.X[lesson.n_own :]
    assert not np.isin(made, X[80:]).any()
    assert np.isin(made, X[:80]).all()


def test_forest_uses_its_bags(sample: tuple[np.ndarray, np.ndarray]) -> None:
    teaching = Teaching.of(teachers_named("forest", 0), *sample, 2, 0)
    assert teaching is not None
    own = np.mean(teaching.probabilities(sample[0]).argmax(1) != sample[1])
    unseen = np.mean(teaching.unseen.argmax(1) != sample[1])
    assert own == 0 < unseen < 0.4


def test_targets_are_halfway_and_made_rows_have_the_teachers(
    sample: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    X, codes = sample
    teaching = Teaching.of({"linear": LogisticRegression()}, X, codes, 2, 0)
    assert teaching is not None
    lesson = teach(teaching, X, codes, np.arange(3), rng)
    np.testing.assert_array_equal(lesson.X[: lesson.n_own], X)
    np.testing.assert_allclose(lesson.targets[:90, 1], (codes + teaching.unseen[:, 1]) / 2)
    np.testing.assert_allclose(
        lesson.targets[90:], LogisticRegression().fit(X, codes).predict_proba(lesson.X[90:]), atol=1e-6
    )


def test_made_rows_hold_cells_of_the_table(rng: np.random.Generator) -> None:
    X = np.arange(40.0).reshape(10, 4)
    made = recombined_rows(X, np.array([0, 1, 1, 2]), rng)
    assert all(set(made[:, j]) <= set(X[:, j]) for j in range(4))
    np.testing.assert_array_equal(made[:, 2] - made[:, 1], 1)
    moved = np.mean(made[:, 0] != made[:, 3] - 3)
    assert 0.3 < moved < 0.55  # either cell moved (.51), but for draws of the same row


def test_weights_minimise_the_log_loss(rng: np.random.Generator) -> None:
    chances = rng.uniform(0.2, 0.95, (3, 200)) * np.array([[1.0], [0.8], [0.9]])
    weights = stack_weights(chances, steps=3000)
    grid = [np.array([a, b, 1 - a - b]) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1 - a, 41)]
    best = min(-np.log(w @ chances).mean() for w in grid)
    assert -np.log(weights @ chances).mean() < best + 1e-4
    assert weights.sum() == pytest.approx(1)


def test_interrupt_keeps_the_teachers_that_are_ready(
    sample: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = teachers._fit

    def interrupted(model: Any, X: Any, codes: Any) -> Any:
        if isinstance(model, Parrot):
            raise KeyboardInterrupt
        return real(model, X, codes)

    monkeypatch.setattr(teachers, "_fit", interrupted)
    teaching = Teaching.of({"linear": LogisticRegression(), "parrot": Parrot()}, *sample, 2, 0)
    assert teaching is not None
    assert list(teaching.models) == ["linear"]
    assert Teaching.of({"parrot": Parrot()}, *sample, 2, 0) is None


def test_classes_that_a_fold_lacks_have_probability_zero(rng: np.random.Generator) -> None:
    X, codes = rng.normal(size=(41, 2)), np.array([0] * 20 + [1] * 20 + [2])
    teaching = Teaching.of({"linear": LogisticRegression()}, X, codes, 3, 0)
    assert teaching is not None
    np.testing.assert_allclose(teaching.unseen.sum(axis=1), 1)
    assert teaching.unseen[40, 2] == 0


def test_teachers_of_few_rows_have_one_thread(sample: tuple[Any, Any]) -> None:
    from threadpoolctl import threadpool_info

    used: list[set[int]] = []

    class Counting(LogisticRegression):
        def fit(self, X: Any, y: Any) -> Any:
            used.append({pool["num_threads"] for pool in threadpool_info()})
            return super().fit(X, y)

    assert Teaching.of({"counting": Counting()}, *sample, 2, 0) is not None
    assert used
    assert set.union(*used) == {1}
