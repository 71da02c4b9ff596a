"""Notes come in few lines and as data; a new kind of column is a file."""

import sys
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

from abnet.export.plan import export_plan
from abnet.lazy import import_folder
from abnet.preparation import TablePreparation, columns, preparation_from_dict, preparation_to_dict
from abnet.preparation.columns import KINDS, RULES
from abnet.preparation.table_map import TableMap
from abnet.tables.notes import Note, note_lines
from export import models

N = 93
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(2)


def test_many_notes_are_one_line() -> None:
    frame = pl.DataFrame({"x": X, **{f"c{i}": [0] * N for i in range(312)}})
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


PARITY = """
import numpy as np
from abnet.preparation.columns.column import Chosen, Column, Encoded, kind, rule

@kind
class Parity(Column, frozen=True, tag="parity"):
    @property
    def features(self):
        return (f"{self.name} is odd",)

    def encoded(self, table):
        odd = np.array([[int(str(cell)[1:]) % 2] for cell in table.columns[self.name]], np.float32)
        return Encoded(len(odd), 1, lambda rows: odd[rows]), {}

@rule(5)
def parity(name, cells, rules):
    return Chosen(Parity(name)) if all(text.startswith("#") for text in cells.sample()) else None
"""


def test_a_new_kind_of_column_is_a_file_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognised, fitted, stored and read again; exporters that do not know it refuse it by name."""
    (tmp_path / "parity.py").write_text(PARITY)
    monkeypatch.setattr(columns, "__path__", [*columns.__path__, str(tmp_path)])
    rules = list(RULES)
    try:
        import_folder(columns)
        table = {"n": ["#1", "#2", "#4", "#7"], "x": [0.5, 1.5, 2.5, 0.1]}
        fitted = TablePreparation().fit(table)
        assert fitted.transform(table)[:, 0].tolist() == [1, 0, 0, 1]
        back = preparation_from_dict(preparation_to_dict(fitted))
        assert back == fitted.map_
        model = models.model("compact", 1, preparation=TableMap((KINDS["parity"]("n"),)))
        with pytest.raises(ValueError, match=r"'n'.*'parity'"):
            export_plan(model)
    finally:
        RULES[:] = rules
        KINDS.pop("parity", None)
        sys.modules.pop("abnet.preparation.columns.parity", None)


def test_a_note_says_what_it_is_about_as_data() -> None:
    cells = [f"{3 + i % 7}.5" for i in range(N)]
    odd = [*cells[:-1], "rotary"]
    for column, code in ((odd, "odd number"), ([*cells[:-2], "-999", "-999"], "sentinel")):
        notes = TablePreparation(use="c").fit({"x": X.tolist(), "c": column}).notes_
        assert [note.code for note in notes if note.columns == ("c",)] == [code]
        assert msgspec.convert(msgspec.to_builtins(notes), tuple[Note, ...]) == notes
