"""Gaps between groups: what is counted, and the promise where the rates of all groups are known."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import abnet
from abnet.bounds.gaps import gap_bound
from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.planning import rows_for_gap
from abnet.certificates.requests import Gaps, Requests
from abnet.certificates.statements.gap_bound import GapBound, Rate
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.terms import Terms
from broken_promise import breaks

DELTA = 0.2
REPETITIONS = 140
CLASSES = ("well", "ill", "unsure")
SHARES = np.array([0.45, 0.3, 0.15, 0.1])
LABELS = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.7, 0.2, 0.1], [0.3, 0.6, 0.1]])
ANSWERS = np.array([
    [[0.9, 0.05, 0.05], [0.1, 0.9, 0.0], [0.5, 0.3, 0.2]],
    [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.5, 0.3, 0.2]],
    [[0.7, 0.3, 0.0], [0.1, 0.9, 0.0], [0.1, 0.1, 0.8]],
    [[0.9, 0.1, 0.0], [0.4, 0.5, 0.1], [0.2, 0.0, 0.8]],
])  # fmt: skip
"""Shares of the groups; of the labels in each; of the answers for each group and label."""
JOINT = LABELS[:, :, None] * ANSWERS
TRUE: dict[Rate, NDArray[np.float64]] = {
    "error": 1 - np.trace(JOINT, axis1=1, axis2=2),
    "true-positive": ANSWERS[:, 1, 1],
    "false-positive": JOINT[:, [0, 2], 1].sum(axis=1) / LABELS[:, [0, 2]].sum(axis=1),
    "selection": JOINT[:, :, 1].sum(axis=1),
}
Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def draw(rng: np.random.Generator, n: int = 300) -> Rows:
    """Groups, labels and answers."""
    cells = rng.choice(JOINT.size, n, p=(SHARES[:, None, None] * JOINT).ravel())
    group, truth, answers = np.unravel_index(cells, JOINT.shape)
    return group, truth, answers


def certificate(rows: Rows, delta: float = DELTA, positive: str | None = "ill", **options: Any) -> Certificate:
    group, truth, answers = rows
    seen = observe(answers, truth, CLASSES, populations=group)
    terms = Terms(delta=delta, source="test set", **options)
    return certify(seen, terms, Requests(gaps=Gaps("site", positive)))


def stated(made: Certificate, rate: Rate) -> GapBound:
    return next(part for part in made.each(GapBound) if part.rate == rate)


def is_false(statement: GapBound, true: NDArray[np.float64]) -> bool:
    rates = [true[int(part.group)] for part in statement.groups]
    outside = any(not part.low <= rate <= part.high for part, rate in zip(statement.groups, rates, strict=True))
    return outside or (statement.value is not None and statement.value < max(rates) - min(rates))


@pytest.mark.parametrize("shared", [True, False])
def test_limits_of_all_groups_hold_jointly_with_the_gap(rng: np.random.Generator, shared: bool) -> None:
    """The mutant gives each of the four groups the whole δ."""
    delta = DELTA
    if not shared:
        delta = 4 * DELTA
    failures = dict.fromkeys(TRUE, 0)
    for _ in range(REPETITIONS):
        made = certificate(draw(rng), delta)
        for rate, true in TRUE.items():
            failures[rate] += is_false(stated(made, rate), true)
    assert {breaks(number, REPETITIONS, DELTA) for number in failures.values()} == {not shared}


def test_a_bootstrap_of_the_gap_breaks_the_promise(rng: np.random.Generator) -> None:
    """The trap: a group of 8 rows that happens to have no failure looks as if it could have none."""

    def failed(bound: Callable[[NDArray[Any], NDArray[Any]], float]) -> int:
        failures = 0
        for _ in range(REPETITIONS):
            group = np.repeat([0, 1], [400, 8])
            wrong = rng.random(408) < np.array([0.01, 0.1])[group]
            failures += bound(group, wrong.astype(int)) < 0.09
        return failures

    def certified(group: NDArray[Any], wrong: NDArray[Any]) -> float:
        rows = (group, np.zeros(len(wrong), int), wrong)
        return stated(certificate(rows, positive=None), "error").value or 0.0

    def bootstrap(group: NDArray[Any], wrong: NDArray[Any]) -> float:
        one, other = (rng.binomial(n, wrong[group == g].mean(), 200) / n for g, n in ((0, 400), (1, 8)))
        return float(np.quantile(np.abs(one - other), 1 - DELTA))

    assert not breaks(failed(certified), REPETITIONS, DELTA)
    assert breaks(failed(bootstrap), REPETITIONS, DELTA)


def test_the_model_with_the_smallest_gap_is_paid_for(rng: np.random.Generator) -> None:
    """The trap: one of ten models with the same gap is chosen by these rows."""
    group = np.arange(200) % 2
    failures = dict.fromkeys((1, 10), 0)
    for _ in range(REPETITIONS):
        wrong = (rng.random((10, 200)) < np.array([0.2, 0.5])[group]).astype(int)
        gaps = np.abs(wrong[:, group == 0].mean(axis=1) - wrong[:, group == 1].mean(axis=1))
        rows = (group, np.zeros(200, int), wrong[int(np.argmin(gaps))])
        for n_candidates in failures:
            statement = stated(certificate(rows, positive=None, n_candidates=n_candidates), "error")
            failures[n_candidates] += is_false(statement, np.array([0.2, 0.5]))
    assert breaks(failures[1], REPETITIONS, DELTA)
    assert not breaks(failures[10], REPETITIONS, DELTA)


def test_rates_count_what_they_say(rng: np.random.Generator) -> None:
    group, truth, answers = rows = draw(rng)
    made = certificate(rows)
    assert made.check()["largest gap in selection rate"] == "recomputed"
    for place, name in enumerate(sorted({str(g) for g in group})):
        inside = group == int(name)
        expected: dict[Rate, tuple[int, int]] = {
            "error": (int(np.sum(inside & (truth != answers))), int(inside.sum())),
            "true-positive": (int(np.sum(inside & (truth == 1) & (answers == 1))), int(np.sum(inside & (truth == 1)))),
            "false-positive": (int(np.sum(inside & (truth != 1) & (answers == 1))), int(np.sum(inside & (truth != 1)))),
            "selection": (int(np.sum(inside & (answers == 1))), int(inside.sum())),
        }
        for rate, (number, n) in expected.items():
            part = stated(made, rate).groups[place]
            assert (part.group, part.count, part.n) == (name, number, n)
    error = stated(made, "error")
    counts = [part.count for part in error.groups]
    assert error.value == gap_bound(counts, [part.n for part in error.groups], DELTA)


def test_the_order_of_rows_and_the_parts_of_a_table_do_not_matter(rng: np.random.Generator) -> None:
    group, truth, answers = rows = draw(rng)
    order = np.lexsort([truth, group])
    assert certificate((group[order], truth[order], answers[order])) == certificate(rows)
    parts = [observe(answers[p], truth[p], CLASSES, populations=group[p]) for p in (order[:100], order[100:])]
    terms = Terms(delta=DELTA, source="test set")
    assert certify(parts[0] + parts[1], terms, Requests(gaps=Gaps("site", "ill"))) == certificate(rows)


def test_without_a_positive_class_there_is_the_error_alone_in_place_of_its_bounds(rng: np.random.Generator) -> None:
    made = certificate(draw(rng), positive=None)
    assert [part.rate for part in made.each(GapBound)] == ["error"]
    assert not made.each(PopulationError)


def test_a_group_without_rows_of_the_class_leaves_the_gap_open(rng: np.random.Generator) -> None:
    group, truth, answers = draw(rng)
    kept = (group != 2) | (truth != 1)
    made = certificate((group[kept], truth[kept], answers[kept]))
    found = stated(made, "true-positive")
    assert found.value is None
    assert (found.groups[2].low, found.groups[2].high) == (0.0, 1.0)
    assert stated(made, "false-positive").value is not None
    seen = sum(part.count for part in found.groups) / sum(part.n for part in found.groups)
    words = " ".join(str(made).split())
    assert "could not be certified" in words
    assert f"about {rows_for_gap(seen, 4, 0.1, DELTA):,} such rows" in words
    assert Certificate.from_dict(made.to_dict()) == made


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5])
def test_planned_rows_suffice_and_fewer_do_not(rate: float) -> None:
    n = rows_for_gap(rate, 3, 0.1)
    for rows, suffices in ((n, True), (n - 1, False)):
        assert (gap_bound([round(rate * rows)] * 3, [rows] * 3) <= 0.1) == suffices


def test_a_changed_limit_is_refused(rng: np.random.Generator) -> None:
    record = certificate(draw(rng)).to_dict()
    place = next(k for k, part in enumerate(record["statements"]) if part["type"] == "gap")
    record["statements"][place]["groups"][0]["high"] -= 0.01
    with pytest.raises(ValueError, match="limits"):
        Certificate.from_dict(record)


def test_a_choice_among_candidates_widens_limits_and_gap(rng: np.random.Generator) -> None:
    one = stated(certificate(draw(rng)), "selection")
    more = one.for_candidates(5)
    assert (more.value or 0.0) > (one.value or 0.0)
    assert more.groups[0].low < one.groups[0].low
    assert msgspec.structs.replace(more).check() == "recomputed"


def test_any_model_from_a_frame() -> None:
    frame = pl.DataFrame({"x": np.arange(300) % 7, "sex": ["f", "m", None] * 100})
    labels = (frame["x"].to_numpy() > 3).astype(int)
    made: Any = abnet.certify(lambda X: (X["x"].to_numpy() > 2).astype(int), frame, labels, by=Gaps("sex", positive=1))
    found = stated(made, "selection")
    assert (found.column, found.positive) == ("sex", "1")
    assert [part.group for part in found.groups] == ["None", "f", "m"]
    assert sum(part.count for part in found.groups) == int((frame["x"] > 2).sum())


@pytest.mark.parametrize(
    ("gaps", "named"), [(Gaps(["a"] * 20), "'a'"), (Gaps([0, 1] * 10, positive="ill"), "'ill'")], ids=["one", "class"]
)
def test_what_has_no_gaps_is_refused(gaps: Gaps, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        abnet.certify(lambda X: X, [0, 1] * 10, [0, 1] * 10, by=gaps)


def test_a_fitted_classifier_certifies_gaps_too(rng: np.random.Generator) -> None:
    X = rng.normal(size=(500, 2))
    y = (X[:, 0] > 0).astype(int)
    site = np.where(X[:, 1] > 0, "a", "b")
    clf = abnet.ABNetClassifier((2,), max_iter=2, preprocessor=None, random_state=0).fit(X[:200], y[:200])
    own: Any = clf.certify(X[200:], y[200:], by=Gaps(site[200:], positive=1), random_state=0)
    other: Any = abnet.certify(clf, X[200:], y[200:], by=Gaps(site[200:], positive=1), random_state=0)
    assert own.each(GapBound) == other.each(GapBound)
    assert len(own.each(GapBound)) == 4
