import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abnet.tables import TableError, batches, read_table


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.csv.zip", "t.parquet.gz", ".csv", "t.dta"])
def test_unknown_endings_are_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")
    with pytest.raises(TableError, match=r"\.csv, \.csv\.gz, .*\.parquet|CSV"):
        read_table(tmp_path / name)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"absent\.csv"):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match=r"folder\.csv"):
        read_table(str(tmp_path / "folder.csv"))


def test_pipes_are_refused_with_the_way_to_read_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(TableError, match=r"pipe\.csv"):
        read_table(tmp_path / "pipe.csv")


def test_endings_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "T.CSV").write_text("a\n1\n")
    assert read_table(tmp_path / "T.CSV")["a"].to_list() == ["1"]


def test_chunks_need_a_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"rows .*\b0\b"):
        next(batches(tmp_path / "t.csv", rows=0))


def typed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "count": pd.array([1, None, 3, 4], "Int64"),
            "flag": [True, None, False, True],
            "word": ["x", "NA", None, ""],
            "x": np.array([0.1, np.nan, 3, 4]),
        }
    )


def test_parquet_keeps_types_and_missing_values(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    typed().to_parquet(tmp_path / "t.parquet", index=False)
    frame = read_table(tmp_path / "t.parquet")
    assert frame.to_dict(as_series=False) == {
        "count": [1, None, 3, 4],
        "flag": [True, None, False, True],
        "word": ["x", "NA", None, ""],
        "x": [0.1, None, 3.0, 4.0],
    }
    shares: list[float] = []
    chunks = list(batches(tmp_path / "t.parquet", rows=3, progress=shares.append))
    assert [chunk["count"].to_list() for chunk in chunks] == [[1, None, 3], [4]]
    assert shares == [0.75, 1.0]


def test_an_index_written_by_pandas_is_no_column(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    typed().set_axis(["p", "q", "r", "s"]).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").columns == ["count", "flag", "word", "x"]


def test_bad_parquet_files_are_one_line_errors(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    good = tmp_path / "t.parquet"
    typed().to_parquet(good, index=False)
    content = good.read_bytes()
    for damaged in (b"", b"hello", content[: len(content) // 2], content[:4] + bytes(40) + content[44:]):
        good.write_bytes(damaged)
        with pytest.raises(TableError, match=r"t\.parquet") as caught:
            read_table(good)
        assert "\n" not in str(caught.value)
    typed().iloc[:0].to_parquet(good, index=False)
    with pytest.raises(TableError, match="rows"):
        read_table(good)
    table = pyarrow.table([[1], [2]], names=["a", "a"])
    parquet.write_table(table, good)
    with pytest.raises(TableError, match="'a' repeat"):
        read_table(good)


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_polars_comes_with_the_first_file_and_pandas_never(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    assert not {"pandas", "pyarrow", "polars"} & modules_after("import abnet.tables")
    reading = "from abnet.tables import read_table, split_target\n"
    reading += f"split_target(read_table({str(tmp_path / 't.csv')!r}), 'b')"
    assert modules_after(reading) & {"pandas", "pyarrow", "polars"} == {"polars"}
