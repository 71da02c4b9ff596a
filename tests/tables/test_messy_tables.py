"""Made-up tables with the cells of real ones that used to be refused: fitted at once, whatever the seed."""

import warnings
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from abnet import ABNetClassifier, fit_table
from abnet.preparation import TablePreparation
from abnet.tables.notes import Note, note_lines

N = 93
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(2)
Y = np.where(RNG.random(N) < 0.5, "yes", "no").tolist()


def with_odd(cells: list[str], odd: dict[int, str]) -> list[str]:
    return [odd.get(row, cell) for row, cell in enumerate(cells)]


TABLES: dict[str, dict[str, Any]] = {
    "one word among numbers": {"cylinders": with_odd([str(4 + 2 * (i % 3)) for i in range(N)], {57: "rotary"})},
    "a number among times": {"released": with_odd([f"{8 + i % 9}:{i % 60:02}" for i in range(N)], {40: "9.12"})},
    "feet and inches": {"height": [f"{150 + i % 50}" if i % 14 else f"5'{i % 12}\"" for i in range(N)]},
    "infinite": {"ratio": with_odd([str(x) for x in X], {3: "inf", 71: "1e400"})},
    "an odd date": {"day": with_odd([f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)], {9: "never"})},
    "missing labels": {"y": with_odd(Y, {5: "", 60: "nan"})},
    "constant columns": {f"c{i}": [0] * N for i in range(312)},
    "sentinels": {"depth": with_odd([f"{3 + i % 7}.5" for i in range(N)], {8: "-999", 30: "-999", 66: "-999"})},
    "months": {"month": [f"20{10 + i % 9}-{1 + i % 12:02}" for i in range(N)]},
}


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("name", TABLES)
def test_an_ordinary_table_is_fitted_at_the_first_attempt(name: str, seed: int) -> None:
    frame = pl.DataFrame({"x": X, "y": Y, **TABLES[name]})
    small = ABNetClassifier((2,), max_iter=1, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = fit_table(frame, "y", estimator=small)
        assert len(clf.predict(frame.drop("y"))) == N
    assert len(note_lines(clf.preprocessor_.notes_)) <= 10


def test_many_notes_are_one_line() -> None:
    frame = pl.DataFrame({"x": X, **TABLES["constant columns"]})
    (line,) = note_lines(TablePreparation().fit(frame).notes_)
    assert line.startswith("312 constant columns")


def test_leaks_come_first_and_ten_lines_are_enough() -> None:
    codes = ["odd number", "constant", "missing labels", "gap words", "months", "sentinel", "empty", "no name", "words",
             "hashed", "common texts", "identifier"]  # fmt: skip
    facts: dict[str, str | int | float] = {"value": "0", "why": "", "values": 3, "words": "", "buckets": 64}
    notes = [Note(code, (f"c{i}",), 2, "?", facts) for i, code in enumerate(codes)]
    lines = note_lines(notes)
    assert len(lines) == 10
    assert "identifier" in lines[0]
    assert "label" in lines[1]
    assert "3 more" in lines[-1]
    assert len(note_lines(notes, every=True)) == len(notes)


def test_a_note_says_what_it_is_about_as_data() -> None:
    for name, code in {"sentinels": "sentinel", "months": "months", "one word among numbers": "odd number"}.items():
        (column,) = TABLES[name]
        notes = TablePreparation(use=column).fit({"x": X.tolist(), column: TABLES[name][column]}).notes_
        assert [note.code for note in notes if note.columns == (column,)] == [code]
        assert msgspec.convert(msgspec.to_builtins(notes), tuple[Note, ...]) == notes
