"""Limits of a confusion matrix: by SciPy's quantiles, by enumeration, and by simulation."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom, multinomial

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import confusion_of
from abnet.certificates.judged_answers import judge_answers
from abnet.certificates.statements.confusion_rate import ConfusionRate
from abnet.certificates.terms import Terms
from abnet.utils.text_layout import page_width

COUNTS = ((57, 3, 0), (1, 30, 9), (0, 0, 5))
Limits = tuple[np.ndarray, np.ndarray]


def matrix_of(counts: Any, delta: float = 0.05, n_candidates: int = 1, *, others: bool = False) -> Certificate:
    """The certificate of rows with these counts, truth by answer."""
    table = np.asarray(counts)
    names = "abcdefgh"[: table.shape[1]]
    truth = [names[i] for i, row in enumerate(table) for _ in range(row.sum())]
    said = [names[j] for row in table for j, n in enumerate(row) for _ in range(n)]
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    return confusion_of(judge_answers(truth, said, known=list(names)), terms, others=others)


def limits_of(made: Certificate) -> Limits:
    """Lower and upper limits; 0 and 1 for a class without rows."""
    rates = made.each(ConfusionRate)
    answers = list(dict.fromkeys(s.answer for s in rates))
    lower = np.zeros((len(made.facts.classes), len(answers)))
    upper = np.ones((len(made.facts.classes), len(answers)))
    for s in rates:
        at = made.facts.classes.index(s.label), answers.index(s.answer)
        (lower if s.side == "at least" else upper)[at] = s.value
    return lower, upper


@pytest.mark.parametrize("names", [("c-1.0", "c1.0", "c2.0", "c10.0"), ("a-1", "a-2", "z")])
def test_the_matrix_is_printed_in_natural_order(names: tuple[str, ...]) -> None:
    known = sorted(names, reverse=True)
    made = confusion_of(judge_answers(known * 5, known * 5, known=known), Terms(source="test set"))
    with page_width(200):
        head, *lines = made.describe().splitlines()
    assert head.split() == ["class", *names, "other", "or", "none"]
    assert tuple(line.split()[0] for line in lines[: len(names)]) == names


@pytest.mark.parametrize("n_candidates", [1, 7])
def test_limits_are_quantiles_of_the_beta_distribution(n_candidates: int) -> None:
    made = matrix_of(COUNTS, 0.1, n_candidates)
    assert set(made.check().values()) == {"recomputed"}
    assert len(made.check()) == len(made.statements)
    low, high = limits_of(made)
    weights = np.array([1 / 60, 1 / 40, 1 / 5])
    for i, row in enumerate(COUNTS):
        share = 0.1 * weights[i] / weights.sum() / 6 / n_candidates
        for j, k in enumerate(row):
            n = sum(row)
            upper = 1.0
            if k < n:
                upper = beta.ppf(1 - share, k + 1, n - k)
            lower = 0.0
            if k:
                lower = beta.ppf(share, k, n - k + 1)
            assert high[i, j] == pytest.approx(upper, rel=1e-6)
            assert low[i, j] == pytest.approx(lower, rel=1e-6, abs=1e-15)


def test_two_answers_need_half_the_limits() -> None:
    """Each rate is one less the other, and so are their limits: nothing is paid for saying it twice."""
    lower, upper = limits_of(matrix_of(((57, 3), (4, 36))))
    np.testing.assert_allclose(lower[:, 0], 1 - upper[:, 1], rtol=1e-9)
    np.testing.assert_allclose(lower[:, 1], 1 - upper[:, 0], rtol=1e-9)


@pytest.mark.parametrize("rates", [(0.7, 0.2, 0.1), (0.98, 0.01, 0.01), (1 / 3, 1 / 3, 1 / 3), (1.0, 0.0, 0.0)])
def test_a_row_fails_at_most_as_often_as_it_may_by_enumeration(rates: tuple[float, ...]) -> None:
    n = 12
    delta = 0.3
    failing = 0.0
    for k in itertools.product(range(n + 1), repeat=2):
        if sum(k) <= n:
            row = (*k, n - sum(k))
            lower, upper = limits_of(matrix_of((row, (0, 0, 0), (0, 0, 0)), delta))
            failing += multinomial.pmf(row, n, rates) * ((lower[0] > rates).any() or (upper[0] < rates).any())
    assert failing <= delta


def simulated_failures(limits: Any, delta: float, repetitions: int) -> int:
    """Samples in which any rate of a four-class model lies outside its limits; the classes are drawn too."""
    rng = np.random.default_rng(0)
    rates = np.array([[0.9, 0.05, 0.03, 0.02], [0.1, 0.6, 0.2, 0.1], [0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
    failures = 0
    for _ in range(repetitions):
        sizes = rng.multinomial(120, [0.5, 0.3, 0.15, 0.05])
        counts = np.array([rng.multinomial(n, p) for n, p in zip(sizes, rates, strict=True)])
        lower, upper = limits(counts, delta)
        failures += bool((lower > rates).any() or (upper < rates).any())
    return failures


def test_all_limits_hold_at_once_and_a_trap_is_caught() -> None:
    delta = 0.2
    repetitions = 400
    most = binom.isf(1e-3, repetitions, delta)
    assert simulated_failures(lambda counts, d: limits_of(matrix_of(counts, d)), delta, repetitions) <= most

    def one_at_a_time(counts: np.ndarray, delta: float) -> Limits:
        """δ for every limit by itself: what a reader of all of them must not be given."""
        n = counts.sum(axis=1)[:, None]
        with np.errstate(invalid="ignore"):
            lower = beta.ppf(delta, counts, n - counts + 1)
            upper = beta.ppf(1 - delta, counts + 1, n - counts)
        return np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=1.0)

    assert simulated_failures(one_at_a_time, delta, repetitions) > most


def test_classes_without_rows_have_no_limits() -> None:
    made = matrix_of(((5, 0), (0, 0)))
    assert {s.label for s in made.each(ConfusionRate)} == {"a"}


def test_words_are_rounded_outward() -> None:
    said = str(matrix_of(((57, 3), (4, 36))))
    lower, upper = limits_of(matrix_of(((57, 3), (4, 36))))
    assert f"57 ({np.floor(lower[0, 0] * 1000) / 10:g}%" in said
    assert f"{np.ceil(upper[0, 1] * 1000) / 10:g}%)" in said


def test_the_number_of_answers_does_not_depend_on_the_answers() -> None:
    truth = ["a"] * 30 + ["b"] * 20
    terms = Terms(source="test set")
    silent = [None] * 50
    wild = [f"answer {i}" for i in range(50)]
    for said in (truth, silent, wild):
        assert len(confusion_of(judge_answers(truth, said), terms).statements) == 2 * 2 * 3
    with pytest.raises(ValueError, match="others"):
        confusion_of(judge_answers(truth, wild), terms, others=False)


def test_limits_of_a_model_that_may_say_anything_hold_at_once() -> None:
    """Fifty rare answers: with a column for each that was met, the limits failed in .17 of such samples at δ = .05."""
    rng = np.random.default_rng(0)
    delta = 0.05
    repetitions = 300
    failures = 0
    for _ in range(repetitions):
        said = [f"answer {i}" for i in rng.integers(50, size=5)]
        lower, upper = limits_of(confusion_of(judge_answers(["a"] * 5, said), Terms(delta=delta, source="test set")))
        p = np.array([0.0, 1.0])
        failures += bool((lower[0] > p).any() or (upper[0] < p).any())
    assert failures <= binom.isf(1e-3, repetitions, delta)
