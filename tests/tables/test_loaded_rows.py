"""Of a table that is too large, which rows learn."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from abnet import ABNetClassifier, fit_table
from abnet.certificates import row_hashes, row_order
from abnet.report.page import report_page
from abnet.tables import TableError, batches
from abnet.tables.loaded_rows import load_rows
from abnet.tables.notes import NoteWarning

N = 10_000
TABLE = pl.DataFrame({"row": range(N), "y": [n >= N // 2 for n in range(N)]})


def pieces(size: int, table: pl.DataFrame = TABLE) -> Iterator[pl.DataFrame]:
    return (table.slice(start, size) for start in range(0, N, size))


@pytest.mark.parametrize("size", [17, 100, 3333, N])
@pytest.mark.parametrize("most", [50, 700, N - 1])
def test_the_rows_that_learn_come_first_in_the_order_of_hashes(size: int, most: int) -> None:
    part = load_rows(lambda: pieces(size), "y", max_learn_rows=most, share=0.5, seed=5)
    signs = np.where(TABLE["y"].to_numpy(), 1.0, -1.0)
    in_order = row_order(row_hashes(TABLE.drop("y"), signs), 5)[: min(most, N // 2)]
    expected = np.sort(in_order)
    assert part.held_out is not None
    assert np.array_equal(part.X["row"].to_numpy()[part.held_out.training_order], in_order)
    assert part.n_rows == N
    assert part.X["row"].to_list() == np.flatnonzero(part.held_out.is_training).tolist() == expected.tolist()
    assert np.array_equal(part.y.astype(str) == "True", expected >= N // 2)


def test_the_order_of_the_file_does_not_matter() -> None:
    shuffled = TABLE.sample(fraction=1.0, shuffle=True, seed=1)
    tables = [lambda: pieces(500), lambda: pieces(300, shuffled)]
    one, other = (load_rows(table, "y", max_learn_rows=400, share=0.5, seed=0) for table in tables)
    assert sorted(one.X["row"]) == sorted(other.X["row"])
    assert np.bincount(one.X["row"].to_numpy() // (N // 4)).min() > 60


def test_a_table_that_fits_is_taken_whole() -> None:
    part = load_rows(lambda: pieces(100), "y", max_learn_rows=N, share=0.5, seed=0)
    assert part.held_out is None
    assert part.X["row"].to_list() == list(range(N))


def test_a_file_streams_through(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(1000)))
    part = load_rows(lambda: batches(tmp_path / "t.csv", rows=64), "y", max_learn_rows=100, share=0.5, seed=0)
    assert part.held_out is not None
    assert len(part.y) == 100
    assert part.X["x"].to_list() == [str(row) for row in np.flatnonzero(part.held_out.is_training)]


def test_wrong_use() -> None:
    with pytest.raises(TableError, match="rows"):
        load_rows(lambda: [], "y", max_learn_rows=10, share=0.5, seed=0)
    for share, most in ((0.0, 5), (1.0, 5), (0.5, 0)):
        with pytest.raises(ValueError, match="share"):
            load_rows(lambda: pieces(100), "y", max_learn_rows=most, share=share, seed=0)


@pytest.mark.parametrize("bad", range(0, 300, 60))
def test_a_row_without_a_label_is_left_out_whether_it_would_learn_or_be_counted(tmp_path: Path, bad: int) -> None:
    rows = [{"x": str(i * 37 % 101), "z": str(i * 11 % 7), "y": "ab"[i % 2]} for i in range(300)]
    rows[bad]["y"] = ""
    lines = ["x,z,y", *(",".join(row.values()) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    small = ABNetClassifier((2,), max_iter=1, random_state=0)
    with pytest.warns(NoteWarning, match=r"\b1 row"):
        clf = fit_table(tmp_path / "t.csv", "y", estimator=small, max_learn_rows=120)
    assert clf.certificate_ is not None
    assert clf.certificate_.facts.n_rows == 299 - 120
    assert clf.model_.card.n_unlabelled_rows == 1
    assert "1 row " in report_page(clf.model_)
    with pytest.raises(TableError, match=rf"'y'.*data row {bad + 1}\b"):
        fit_table(tmp_path / "t.csv", "y", estimator=small, max_learn_rows=120, missing_label="error")


def test_a_quantity_is_cut_into_classes_of_rows_that_are_not_set_aside() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=400), "price": rng.gamma(2.0, 50.0, 400)})
    for most in (N, 100):
        part = load_rows(lambda: [frame], "price", max_learn_rows=most, share=0.5, seed=1, bins=4)
        assert part.n_rows == 320
        assert [note.code for note in part.notes] == ["binned"]
        assert part.notes[0].rows == 80
        assert len(np.unique(part.y)) == 4
