"""The kernel teacher: what it says of one of its own rows is what a fit without that row says."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.kernel_ridge import KernelRidge

from abnet.training import kernel_teacher
from abnet.training.built_in_teachers import teachers_named
from abnet.training.kernel_teacher import KernelTeacher, left_out, relevances, squared_distances
from abnet.training.teacher_pool import fit_pool


@pytest.fixture
def rings(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes by distance from the middle: no line tells them apart."""
    X = rng.normal(size=(150, 2))
    return X, np.digitize((X**2).sum(axis=1), [0.8, 2.2])


def laplace(X: np.ndarray, Z: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(-np.sqrt(((X[:, None] - Z[None]) ** 2).sum(axis=2)) / scale)


def gaussian(X: np.ndarray, Z: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / scale)


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_rows_are_those_of_fits_without_them(weighted: bool, rng: np.random.Generator) -> None:
    """Against scikit-learn's kernel ridge regression, fitted once for each row that is left out."""
    X = rng.normal(size=(25, 3))
    Y = rng.normal(size=(25, 2))
    if weighted:
        weights = rng.uniform(0.2, 3.0, 25)
    else:
        weights = np.ones(25)
    kernel = gaussian(X, X, 2.0)
    ridge = 0.3
    coefficients, without = left_out(kernel.copy(), Y, ridge, weights)
    whole = KernelRidge(alpha=ridge, kernel="precomputed").fit(kernel, Y, sample_weight=weights)
    np.testing.assert_allclose(kernel @ coefficients, whole.predict(kernel), atol=1e-10)
    for i in range(25):
        rest = np.delete(np.arange(25), i)
        model = KernelRidge(alpha=ridge, kernel="precomputed")
        model.fit(kernel[np.ix_(rest, rest)], Y[rest], sample_weight=weights[rest])
        np.testing.assert_allclose(without[i], model.predict(kernel[i : i + 1, rest])[0], atol=1e-10)


def test_distances_are_those_of_the_definition(rng: np.random.Generator) -> None:
    A = rng.normal(size=(6, 4))
    B = rng.normal(size=(5, 4))
    np.testing.assert_allclose(squared_distances(A, B), ((A[:, None] - B[None]) ** 2).sum(axis=2), atol=1e-12)


def test_probabilities_follow_from_the_fit(rings: tuple[np.ndarray, np.ndarray], rng: np.random.Generator) -> None:
    X, codes = rings
    new = rng.normal(size=(40, 2))
    teacher = KernelTeacher().fit(X, codes)
    targets = np.eye(3)[codes] - 1 / 3
    G = gaussian(X, X, teacher._scale) + teacher._ridge * np.eye(len(X))
    scores = teacher._sharpness * gaussian(new, X, teacher._scale) @ np.linalg.solve(G, targets)
    odds = np.exp(scores)
    np.testing.assert_allclose(teacher.predict_proba(new), odds / odds.sum(axis=1, keepdims=True), atol=1e-6)


@pytest.mark.parametrize("kernel", [gaussian, laplace])
def test_relevances_are_the_mean_squares_of_derivatives(kernel: Any, rng: np.random.Generator) -> None:
    """Against central differences of the fit at its own rows, drawn to 1 by the number of features over that of rows.

    At its own rows the kernel of Laplace has a corner. The differences leave the share of the row itself out, as the
    formula does.
    """
    rows = rng.normal(size=(12, 3))
    A = rng.normal(size=(12, 2))
    step = 1e-5
    squares = np.zeros(3)
    for i, row in enumerate(rows):
        others = np.delete(rows, i, axis=0)
        B = np.delete(A, i, axis=0)
        for j, along in enumerate(step * np.eye(3)):
            up, down = (kernel((row + sign * along)[None], others, 1.7)[0] @ B for sign in (1, -1))
            squares[j] += (((up - down) / (2 * step)) ** 2).sum()
    expected = (squares / squares.mean() + 3 / 12) / (1 + 3 / 12)
    np.testing.assert_allclose(relevances(rows, A, 1.7, kernel is laplace), expected, rtol=1e-6)


def test_relevances_of_a_constant_fit_are_equal() -> None:
    np.testing.assert_array_equal(relevances(np.ones((5, 3)), np.ones((5, 2)), 1.0), np.ones(3))
    np.testing.assert_array_equal(relevances(np.eye(3), np.zeros((3, 2)), 1.0, laplace=True), np.ones(3))


@pytest.mark.parametrize("name", ["metric-kernel", "laplace-kernel"])
def test_a_learned_metric_finds_the_features_that_matter(name: str, rng: np.random.Generator) -> None:
    """Two of twelve features tell the classes: distances by all of them hide that."""
    X = rng.normal(size=(400, 12))
    new = rng.normal(size=(1_000, 12))
    codes, truth = (np.digitize((rows[:, :2] ** 2).sum(axis=1), [0.8, 2.2]) for rows in (X, new))
    plain, learned = (teachers_named(one, 0)[one].fit(X, codes) for one in ("kernel", name))
    errors = [np.mean(teacher.predict_proba(new).argmax(axis=1) != truth) for teacher in (plain, learned)]
    assert errors[1] < 0.7 * errors[0]
    assert learned._stretch[:2].min() > 1.5 * learned._stretch[2:].max()
    assert np.mean(learned.oob_decision_function_.argmax(axis=1) != codes) == pytest.approx(errors[1], abs=0.08)


@pytest.mark.parametrize("name", ["metric-kernel", "laplace-kernel"])
def test_a_learned_metric_follows_its_definition(name: str, rings: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = rings
    teacher = teachers_named(name, 0)[name].fit(X, codes)
    kernel = gaussian
    if name == "laplace-kernel":
        kernel = laplace
    stretched = X * teacher._stretch
    G = kernel(stretched, stretched, teacher._scale) + teacher._ridge * np.eye(len(X))
    coefficients = np.linalg.solve(G, np.eye(3)[codes] - 1 / 3)
    odds = np.exp(teacher._sharpness * kernel(stretched, stretched, teacher._scale) @ coefficients)
    np.testing.assert_allclose(teacher.predict_proba(X), odds / odds.sum(axis=1, keepdims=True), atol=1e-6)
    assert np.mean(teacher._stretch**2) == pytest.approx(1)


def test_settings_are_those_of_the_whole_grid_or_hardly_worse(rings: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = rings
    targets = np.eye(3)[codes] - 1 / 3
    distances = squared_distances(X, X)
    unit = float(np.median(distances[distances > 0]))
    chosen = kernel_teacher._chosen(X, codes, np.ones(len(X)), 3, laplace=False)
    losses = {}
    for scale, ridge, sharpness in product(kernel_teacher.SCALES, kernel_teacher.RIDGES, kernel_teacher.SHARPNESSES):
        _, without = left_out(np.exp(-distances / (scale * unit)), targets, ridge, np.ones(len(X)))
        odds = np.exp(sharpness * without)
        loss = -np.mean(np.log((odds / odds.sum(axis=1, keepdims=True))[np.arange(len(X)), codes]))
        losses[scale * unit, ridge, sharpness] = loss
    best = min(losses.values())
    assert losses[chosen] <= 1.02 * best
    assert losses[chosen] < 0.5 * np.median(list(losses.values()))


def test_it_tells_rings_that_no_line_does(rings: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = rings
    models = {name: teachers_named(name, 0)[name] for name in ("linear", "kernel")}
    pool = fit_pool(models, X, codes, 3, 0)
    assert list(pool.models) == ["kernel"]
    assert np.mean(pool.out_of_fold.argmax(axis=1) != codes) < 0.15


def test_labels_by_chance_are_not_remembered(rng: np.random.Generator) -> None:
    """Of rows with the labels of dice it says no more than of new ones, though it could know them by heart."""
    X = rng.normal(size=(200, 4))
    codes = rng.integers(0, 3, 200)
    unseen = KernelTeacher().fit(X, codes).oob_decision_function_
    assert np.mean(unseen.argmax(axis=1) != codes) > 0.5
    assert -np.mean(np.log(unseen[np.arange(200), codes])) > 0.98 * np.log(3)


def test_groups_are_left_out_whole(rng: np.random.Generator) -> None:
    """Four rows a group, alike but for a whisper, labels by dice: a fit without one row knows the other three."""
    groups = np.repeat(np.arange(40), 4)
    X = rng.normal(size=(40, 3))[groups] + 1e-3 * rng.normal(size=(160, 3))
    codes = rng.integers(0, 3, 40)[groups].astype(np.intp)
    errors = {}
    for known in (None, groups):
        pool = fit_pool({"kernel": KernelTeacher()}, X, codes, 3, 0, groups=known)
        errors[known is None] = np.mean(pool.out_of_fold.argmax(axis=1) != codes)
    assert errors[True] < 0.1
    assert errors[False] > 0.4


def test_of_many_rows_a_part_is_learned_and_the_others_are_new_to_it(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_teacher, "MOST_ROWS", 60)
    monkeypatch.setattr(kernel_teacher, "BLOCK", 7)
    X, codes = make_blobs(200, centers=3, random_state=0)
    codes[::2] = rng.integers(0, 3, 100)
    teacher = KernelTeacher().fit(X, codes)
    kept = np.isin(X, teacher._rows).all(axis=1)
    assert kept.sum() == 60
    np.testing.assert_allclose(teacher.oob_decision_function_[~kept], teacher.predict_proba(X[~kept]))
    turned = np.where(kept, codes, (codes + 1) % 3)
    monkeypatch.setattr(kernel_teacher, "TRIED_ROWS", 60)
    told, other = (KernelTeacher().fit(X, labels).oob_decision_function_ for labels in (codes, turned))
    np.testing.assert_array_equal(told, other)


def test_weights_of_rows_are_heeded(rings: tuple[np.ndarray, np.ndarray]) -> None:
    X, codes = rings
    doubtful = np.arange(len(X)) % 2 == 0
    told = np.where(doubtful, (codes + 1) % 3, codes)
    for light in (1e-4, 0.0):
        teacher = KernelTeacher().fit(X, told, sample_weight=np.where(doubtful, light, 5.0))
        assert np.mean(teacher.oob_decision_function_[doubtful].argmax(axis=1) == codes[doubtful]) > 0.75


def test_rows_that_are_all_alike_have_the_shares_of_their_classes() -> None:
    said = KernelTeacher().fit(np.ones((30, 2)), np.arange(30) % 3).predict_proba(np.ones((2, 2)))
    np.testing.assert_allclose(said, 1 / 3, atol=1e-6)


def test_rows_that_are_mostly_equal_are_fitted_all_the_same() -> None:
    """Rounding may leave a distance between equal rows; it must not become the scale of the kernel."""
    rng = np.random.default_rng(3)
    X = np.zeros((300, 64)) + 0.1
    some = rng.random(300) < 0.2
    X[some] += rng.poisson(0.3, (int(some.sum()), 64))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert (squared_distances(X[~some], X[~some]) == 0).all()
    teacher = KernelTeacher().fit(X, rng.integers(0, 3, 300))
    assert teacher._scale > 1.0
    assert np.isfinite(teacher.oob_decision_function_).all()


def test_a_ridge_that_is_too_small_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_teacher, "RIDGES", (1e-300,))
    X = np.repeat(np.arange(3.0), 20)[:, None]
    teacher = KernelTeacher().fit(X, np.repeat([0, 1, 2], 20))
    assert teacher._ridge > 1e-20
    np.testing.assert_array_equal(teacher.predict_proba(X).argmax(axis=1), np.repeat([0, 1, 2], 20))
