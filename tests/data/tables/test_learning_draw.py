from pathlib import Path

import numpy as np
import polars as pl
import pytest

from abnet import ABNetClassifier, fit_table
from abnet.data.tables import LearningDraw, TableError, batches, learning_rows

N = 10_000


def frames(size: int) -> list[pl.DataFrame]:
    return [pl.DataFrame({"row": range(start, min(start + size, N))}) for start in range(0, N, size)]


@pytest.mark.parametrize("size", [1, 7, 1000, 10_000])
def test_batches_do_not_matter(size: int) -> None:
    draw = LearningDraw(3, 0.4)
    whole = draw.learns(0, 1000)
    parts = [draw.learns(start, min(size, 1000 - start)) for start in range(0, 1000, size)]
    assert np.array_equal(np.concatenate(parts), whole)


def test_draws_are_uniform_and_depend_on_the_seed() -> None:
    draws = LearningDraw(0, 0.5).draws(0, 100_000)
    counts = np.bincount((draws * 10).astype(int), minlength=10)
    assert np.abs(counts - 10_000).max() < 5 * 95  # deviation sqrt(9000)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.02
    assert not np.array_equal(draws, LearningDraw(1, 0.5).draws(0, 100_000))


@pytest.mark.parametrize(("size", "most"), [(100, 50), (100, 700), (3333, 700), (10_000, 1_000_000)])
def test_the_rows_that_learn_are_those_that_the_draw_names(size: int, most: int) -> None:
    frame, draw, n_rows = learning_rows(frames(size), seed=5, share=0.5, max_learn_rows=most)
    assert n_rows == N
    assert frame["row"].to_list() == np.flatnonzero(draw.learns(0, N)).tolist()
    assert frame.height == most if most < N // 3 else abs(frame.height - N / 2) < 250
    again, _, _ = learning_rows(frames(17), seed=5, share=0.5, max_learn_rows=most)
    assert again.equals(frame)


def test_few_rows_come_from_all_over_a_sorted_table() -> None:
    frame, _, _ = learning_rows(frames(100), seed=0, max_learn_rows=400)
    quarters = np.bincount(frame["row"].to_numpy() // (N // 4))
    assert quarters.min() > 60


def test_a_file_streams_through(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(1000)))
    frame, draw, n_rows = learning_rows(batches(tmp_path / "t.csv", rows=64), seed=0, max_learn_rows=100)
    assert (frame.height, n_rows) == (100, 1000)
    assert frame["x"].to_list() == [str(row) for row in np.flatnonzero(draw.learns(0, 1000))]


def test_wrong_use() -> None:
    with pytest.raises(TableError, match="no rows to learn from"):
        learning_rows([], seed=0)
    for share, most in ((0.0, 5), (1.0, 5), (0.5, 0)):
        with pytest.raises(ValueError, match="share must lie between 0 and 1"):
            learning_rows(frames(100), seed=0, share=share, max_learn_rows=most)


@pytest.mark.parametrize("bad", range(0, 300, 60))
@pytest.mark.parametrize(("column", "cell"), [("x", "inf"), ("y", "")])
def test_errors_name_the_row_of_the_file_whether_it_learns_or_is_counted(
    tmp_path: Path, bad: int, column: str, cell: str
) -> None:
    rows = [{"x": str(i * 37 % 101), "z": str(i * 11 % 7), "y": "ab"[i % 2]} for i in range(300)]
    rows[bad][column] = cell
    lines = ["x,z,y", *(",".join(row.values()) for row in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    small = ABNetClassifier((2,), max_iter=1, random_state=0)
    with pytest.raises(TableError, match=rf"column '{column}'.*data row {bad + 1}\b"):
        fit_table(tmp_path / "t.csv", "y", estimator=small, max_learn_rows=120)
