"""Columns that are the label under another name, or that only some labels have, are noted; no others are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet import ABNetClassifier
from abnet.tables.preparation import TablePreparation

Y = np.array(["yes", "no", "no"] * 500)
X = np.random.default_rng(0).normal(size=1500).round(2)


def remarks(column: Any, y: Any = Y) -> list[str]:
    preparation = TablePreparation().fit(pl.DataFrame({"x": X[: len(y)], "c": column}), y)
    return [note.code for note in preparation.notes_ if note.columns == ("c",)]


@pytest.mark.parametrize("column", [Y, Y == "yes", (Y == "yes") * 1.0, ["left" if y == "yes" else None for y in Y]])
def test_a_copy_of_the_label_is_noted(column: Any) -> None:
    assert remarks(column) == ["one value per label"]


def test_a_column_that_only_one_label_has_is_noted() -> None:
    for column in (np.where(Y == "yes", X, np.nan), [str(x) if y == "yes" else "" for x, y in zip(X, Y, strict=True)]):
        assert remarks(column) == ["gaps tell the label"]


def test_a_text_with_several_values_for_each_label_is_noted() -> None:
    rng = np.random.default_rng(0)
    why = np.where(Y == "yes", rng.choice(["moved", "price", "service"], 1500), rng.choice(["", "fine", "ok"], 1500))
    assert remarks(why) == ["values tell the label"]
    why[7] = {"yes": "ok", "no": "moved"}[Y[7]]
    assert remarks(why) == ["gaps of one label"]


def test_values_that_hardly_repeat_or_are_measured_say_nothing() -> None:
    rng = np.random.default_rng(0)
    threes = np.array([f"{y}-{i // 6 % 40}" for i, y in enumerate(Y)])
    assert "values tell the label" in remarks(threes)
    pairs = np.array([f"n{i // 2}" for i in range(60)])  # 30 repeats, which chance may give one label each
    assert "values tell the label" not in remarks(pairs, np.repeat(["u", "u", "v"], 20))
    assert remarks(np.where(Y == "yes", rng.integers(0, 5, 1500), rng.integers(4, 9, 1500))) == []
    rare = np.array(["no"] * 1495 + ["yes"] * 5)
    assert remarks(np.where(rare == "yes", "a", rng.choice(["b", "c"], 1500)), rare) == []


@pytest.mark.parametrize("scale", [1.0, -3.5, 1e9])
def test_a_number_that_separates_the_labels_at_a_cut_is_noted(scale: float) -> None:
    rng = np.random.default_rng(0)
    weeks = np.where(Y == "yes", rng.uniform(24, 36, 1500), rng.uniform(37, 42, 1500)).round(1)
    preparation = TablePreparation().fit(pl.DataFrame({"x": X, "c": weeks * scale}), Y)
    (note,) = preparation.notes_
    assert (note.code, note.columns, note.rows) == ("cut tells the label", ("c",), 1500)
    low, high = sorted((weeks[Y == "yes"].max() * scale, weeks[Y == "no"].min() * scale))
    assert low < float(note.facts["cut"]) < high
    weeks[7] = {"yes": 42.0, "no": 24.0}[Y[7]]
    assert remarks(weeks) == []


def test_cuts_between_several_labels_and_beside_gaps_are_noted() -> None:
    several = np.array(["u", "v", "w"] * 500)
    score = np.select([several == "u", several == "v"], [2.0, 0.0], 4.0) + np.arange(1500) % 2
    assert remarks(score, several) == ["cut tells the label"]
    assert remarks(np.where(np.arange(1500) % 7, score, np.nan), several) == ["cut tells the label"]
    assert remarks(np.minimum(score, 4), several) == ["cut tells the label"]
    assert remarks(np.minimum(score, 3), several) == []


def test_chance_separates_few_rows() -> None:
    """Of n rows with one of another label, one in n numbers separates it: that says nothing."""
    rare = np.array(["no"] * 1499 + ["yes"])
    assert remarks(np.arange(1500.0) / 7, rare) == []
    rare[:20] = "yes"
    assert remarks(np.where(rare == "yes", -(X**2) - 1, X**2), rare) == ["cut tells the label"]


def test_values_or_gaps_of_one_label_are_noted() -> None:
    rng = np.random.default_rng(0)
    some = rng.random(1500) < 0.5
    cause = rng.choice(["a", "b", "c"], 1500)
    age = rng.integers(20, 90, 1500)
    for column in (np.where((Y == "yes") & some, cause, ""), np.where((Y == "yes") & some, age, np.nan)):
        assert remarks(column) == ["values of one label"]
    for column in (np.where((Y == "no") | some, cause, ""), np.where((Y == "no") | some, age, np.nan)):
        assert remarks(column) == ["gaps of one label"]
    assert remarks(np.where(some, age, np.nan)) == []
    few = (Y == "yes") & (np.cumsum(Y == "yes") <= 15)  # chance: 3^-15
    assert remarks(np.where(few, age, np.nan)) == []


def test_the_order_of_the_rows_does_not_matter() -> None:
    order = np.argsort(Y, kind="stable")
    for column in (Y, np.where(Y == "yes", X, np.nan)):
        for rows in (order, order[::-1]):
            assert len(remarks(column[rows], Y[rows])) == 1


def test_one_row_that_differs_is_enough_to_say_nothing() -> None:
    for row in (5, 1499):
        other = Y.copy()
        other[row] = {"yes": "no", "no": "yes"}[other[row]]
        assert remarks(other) == []
    assert remarks(Y[:10], Y[:10]) == []
    assert remarks(np.random.default_rng(1).permutation(Y)) == []
    several = np.array(["u", "v", "w"] * 500)
    assert remarks(Y, several) == []
    assert len(remarks(several, several)) == 1


def test_it_looks_at_the_first_part_alone(split_as: Callable[..., None]) -> None:
    frame = pl.DataFrame({"x": X, "c": Y})
    split_as(frame, Y)
    clf = ABNetClassifier((2,), max_iter=1, preprocessor=TablePreparation(), random_state=0).fit(frame, Y)
    other = Y.copy()
    other[clf.bound_rows_] = Y[np.roll(clf.bound_rows_, 1)]
    assert (other != Y).any()
    again = ABNetClassifier((2,), max_iter=1, preprocessor=TablePreparation(), random_state=0)
    again.fit(frame.with_columns(c=pl.Series(other)), Y)
    assert again.preprocessor_.notes_ == clf.preprocessor_.notes_
    assert clf.preprocessor_.notes_[0].rows == 750
