"""Limits of a confusion matrix: by SciPy's quantiles, by enumeration, and by simulation."""

import itertools
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom, multinomial

from abnet.bounds import ConfusionMatrix
from abnet.bounds.shares import share_of_a_limit, shares_of_classes

COUNTS = ((57, 3, 0), (1, 30, 9), (0, 0, 5))


def test_counts_of_labels_and_answers() -> None:
    truth, said = ["b", "a", "a", "c", "a", "new"], ["b", "a", "b", None, "a", "a"]
    matrix = ConfusionMatrix.from_labels(truth, said, known=["a", "b", "c"])
    assert matrix.classes == ("a", "b", "c", "new")
    assert matrix.answers == ("a", "b", "c", "new", "(other answer)")
    assert matrix.counts == ((2, 1, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0, 0, 0))
    assert matrix.n_rows == (3, 1, 1, 1)


@pytest.mark.parametrize("n_candidates", [1, 7])
def test_limits_are_quantiles_of_the_beta_distribution(n_candidates: int) -> None:
    matrix = ConfusionMatrix(COUNTS, tuple("abc"), tuple("abc"), 0.1, n_candidates)
    weights = np.array([1 / 60, 1 / 40, 1 / 5])
    for i, row in enumerate(COUNTS):
        share = 0.1 * weights[i] / weights.sum() / 6 / n_candidates
        for j, k in enumerate(row):
            n = sum(row)
            upper = beta.ppf(1 - share, k + 1, n - k) if k < n else 1.0
            lower = beta.ppf(share, k, n - k + 1) if k else 0.0
            assert matrix.upper[i, j] == pytest.approx(upper, rel=1e-6)
            assert matrix.lower[i, j] == pytest.approx(lower, rel=1e-6, abs=1e-15)
            assert matrix.lower[i, j] <= k / n <= matrix.upper[i, j]


def test_two_answers_need_half_the_limits() -> None:
    """Each rate is one less the other, and so are their limits: nothing is paid for saying it twice."""
    matrix = ConfusionMatrix(((57, 3), (4, 36)), ("a", "b"), ("a", "b"))
    np.testing.assert_allclose(matrix.lower[:, 0], 1 - matrix.upper[:, 1], rtol=1e-9)
    np.testing.assert_allclose(matrix.lower[:, 1], 1 - matrix.upper[:, 0], rtol=1e-9)
    assert share_of_a_limit(0.05, 2) == pytest.approx(6 * share_of_a_limit(0.05, 6))


@pytest.mark.parametrize("rates", [(0.7, 0.2, 0.1), (0.98, 0.01, 0.01), (1 / 3, 1 / 3, 1 / 3), (1.0, 0.0, 0.0)])
def test_a_row_fails_at_most_as_often_as_it_may_by_enumeration(rates: tuple[float, ...]) -> None:
    n, delta = 25, 0.3
    failing = 0.0
    for k in itertools.product(range(n + 1), repeat=2):
        if sum(k) <= n:
            row = (*k, n - sum(k))
            matrix = ConfusionMatrix((row,), ("a",), ("a", "b", "c"), delta)
            missed = (matrix.lower[0] > rates).any() or (matrix.upper[0] < rates).any()
            failing += multinomial.pmf(row, n, rates) * missed
    assert failing <= delta


def simulated_failures(limits: Any, delta: float, repetitions: int) -> int:
    """Samples in which any rate of a four-class model lies outside its limits; the classes are drawn too."""
    rng = np.random.default_rng(0)
    rates = np.array([[0.9, 0.05, 0.03, 0.02], [0.1, 0.6, 0.2, 0.1], [0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    failures = 0
    for _ in range(repetitions):
        sizes = rng.multinomial(120, [0.5, 0.3, 0.15, 0.05])
        counts = np.array([rng.multinomial(n, p) for n, p in zip(sizes, rates, strict=True)])
        lower, upper = limits(ConfusionMatrix(tuple(map(tuple, counts.tolist())), tuple("abcd"), tuple("abcd"), delta))
        failures += bool((lower > rates).any() or (upper < rates).any())
    return failures


def test_all_limits_hold_at_once_and_a_trap_is_caught() -> None:
    delta, repetitions = 0.2, 400
    most = binom.isf(1e-3, repetitions, delta)
    assert simulated_failures(lambda m: (m.lower, m.upper), delta, repetitions) <= most

    def one_at_a_time(matrix: ConfusionMatrix) -> tuple[np.ndarray, np.ndarray]:
        """δ for every limit by itself: what a reader of all of them must not be given."""
        counts, n = np.array(matrix.counts), np.array(matrix.n_rows)[:, None]
        with np.errstate(invalid="ignore"):
            lower, upper = beta.ppf(delta, counts, n - counts + 1), beta.ppf(1 - delta, counts + 1, n - counts)
        return np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)

    assert simulated_failures(one_at_a_time, delta, repetitions) > most


def test_classes_without_rows_have_no_limits() -> None:
    matrix = ConfusionMatrix(((5, 0, 0), (0, 0, 0)), ("a", "b"), ("a", "b", "c"))
    assert matrix.lower[1].tolist() == [0, 0, 0]
    assert matrix.upper[1].tolist() == [1, 1, 1]
    assert sum(shares_of_classes(0.05, [5])) <= 0.05


def test_words_are_rounded_outward() -> None:
    matrix = ConfusionMatrix(COUNTS, ("ant", "bee", "cat"), ("ant", "bee", "cat"))
    text = matrix.describe()
    assert "says bee" in text
    assert "With 95 % confidence, all" in text
    said = np.array(re.findall(r"(\d+) \(([\d.]+)-([\d.]+)\)", text), float)
    assert said[:, 0].tolist() == [k for row in COUNTS for k in row]
    low, high = said[:, 1] / 100, said[:, 2] / 100
    assert (low <= matrix.lower.ravel()).all()
    assert (low > matrix.lower.ravel() - 0.001).all()
    assert (high >= matrix.upper.ravel()).all()
    assert (high < matrix.upper.ravel() + 0.001).all()


@pytest.mark.parametrize(
    ("counts", "classes", "answers"),
    [
        ((), (), ("a", "b")),
        (((1,),), ("a",), ("a",)),
        (((1, 2), (1,)), ("a", "b"), ("a", "b")),
        (((1, -2),), ("a",), ("a", "b")),
    ],
)
def test_what_is_no_matrix_is_refused(counts: Any, classes: Any, answers: Any) -> None:
    with pytest.raises(ValueError, match=r"confusion matrix|counts"):
        ConfusionMatrix(counts, classes, answers)


def test_the_number_of_answers_does_not_depend_on_the_answers() -> None:
    truth = ["a"] * 30 + ["b"] * 20
    silent, wild = [None] * 50, [f"answer {i}" for i in range(50)]
    shapes = [ConfusionMatrix.from_labels(truth, said).counts for said in (truth, silent, wild)]
    assert shapes == [((30, 0, 0), (0, 20, 0)), ((0, 0, 30), (0, 0, 20)), ((0, 0, 30), (0, 0, 20))]
    with pytest.raises(ValueError, match="answer 0"):
        ConfusionMatrix.from_labels(truth, wild, others=False)


def test_limits_of_a_model_that_may_say_anything_hold_at_once() -> None:
    """Fifty rare answers: with a column for each that was met, the limits failed in .17 of such samples at δ = .05."""
    rng, delta, repetitions, failures = np.random.default_rng(0), 0.05, 300, 0
    rates = {"a": 0.0, "(other answer)": 1.0}
    for _ in range(repetitions):
        said = [f"answer {i}" for i in rng.integers(50, size=5)]
        matrix = ConfusionMatrix.from_labels(["a"] * 5, said, delta=delta)
        p = np.array([rates.get(name, 0.02) for name in matrix.answers])
        failures += bool((matrix.lower[0] > p).any() or (matrix.upper[0] < p).any())
    assert failures <= binom.isf(1e-3, repetitions, delta)


def test_labels_and_answers_go_together() -> None:
    with pytest.raises(ValueError, match="a label for each answer; got 2 and 1"):
        ConfusionMatrix.from_labels(["a", "b"], ["a"])
