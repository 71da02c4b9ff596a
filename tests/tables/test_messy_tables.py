"""Notes come in few lines, and as data."""

import msgspec
import numpy as np
import polars as pl

from abnet.tables.notes import Note, note_lines
from abnet.tables.preparation import TablePreparation

N = 93
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(2)


def test_many_notes_are_one_line() -> None:
    frame = pl.DataFrame({"x": X, **{f"c{i}": [0] * N for i in range(312)}})
    (line,) = note_lines(TablePreparation().fit(frame).notes_)
    assert line.startswith("312 constant columns")


def test_leaks_come_first_and_ten_lines_are_enough() -> None:
    codes = [
        "odd number",
        "constant",
        "missing labels",
        "gap words",
        "months",
        "sentinel",
        "empty",
        "no name",
        "words",
        "hashed",
        "merged categories",
        "identifier",
    ]
    facts: dict[str, str | int | float] = {
        "value": "0",
        "why": "",
        "values": 3,
        "words": "",
        "buckets": 64,
        "merged": 2,
    }
    notes = [Note(code, (f"c{i}",), 2, "?", facts) for i, code in enumerate(codes)]
    lines = note_lines(notes)
    assert len(lines) == 10
    assert "identifier" in lines[0]
    assert "label" in lines[1]
    assert "3 more" in lines[-1]
    assert len(note_lines(notes, every=True)) == len(notes)


def test_a_note_says_what_it_is_about_as_data() -> None:
    cells = [f"{3 + i % 7}.5" for i in range(N)]
    odd = [*cells[:-1], "rotary"]
    for column, code in ((odd, "odd number"), ([*cells[:-2], "-999", "-999"], "sentinel")):
        notes = TablePreparation(use="c").fit({"x": X.tolist(), "c": column}).notes_
        assert [note.code for note in notes if note.columns == ("c",)] == [code]
        assert msgspec.convert(msgspec.to_builtins(notes), tuple[Note, ...]) == notes
