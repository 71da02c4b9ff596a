import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet.data.tables import TableError, read_chunks, read_table


def write(folder: Path, content: bytes | str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        ("a,b\r\n1,2\r\n3,4", {"a": ["1", "3"], "b": ["2", "4"]}),
        ("a,b\r1,2\r", {"a": ["1"], "b": ["2"]}),
        ("\ufeffa,b\n1,2\n", {"a": ["1"], "b": ["2"]}),
        ('name,city\n"Doe, Jane","Oslo\nNorway"\n', {"name": ["Doe, Jane"], "city": ["Oslo\nNorway"]}),
        ('q\n"say ""hi"""\n', {"q": ['say "hi"']}),
        ("age (years), home town \n39, Oslo\n", {"age (years)": ["39"], "home town": ["Oslo"]}),
        ('a, b\n1, "x, y"\n', {"a": ["1"], "b": ["x, y"]}),
        ("a;b\n1,5;2\n", {"a": ["1,5"], "b": ["2"]}),
        ("a\tb\n1\t2\n", {"a": ["1"], "b": ["2"]}),
        ("\n\na,b\n\n1,2\n\n3,4\n\n", {"a": ["1", "3"], "b": ["2", "4"]}),
        (",x\n0,1\n", {"column 1": ["0"], "x": ["1"]}),
        ("zip,flag\n00123,NA\n,true\n", {"zip": ["00123", ""], "flag": ["NA", "true"]}),
        ('one\n""\n5\n', {"one": ["", "5"]}),
    ],
)
def test_cells_are_text_exactly_as_in_the_file(tmp_path: Path, content: str, expected: dict[str, list[str]]) -> None:
    zipped = gzip.compress(content.encode())
    for name, written in (("t.csv", content), ("t.csv.gz", zipped), ("zipped.csv", zipped), ("plain.csv.gz", content)):
        path = write(tmp_path, written, name)
        frame = read_table(path)
        assert {str(name): frame[name].tolist() for name in frame} == expected
        assert frame.index.tolist() == list(range(len(frame)))


def test_tabs_separate_in_tsv_files_whatever_the_header(tmp_path: Path) -> None:
    frame = read_table(write(tmp_path, "a,b\tc;d\n1,2\t\n", "t.tsv"))
    assert frame.to_dict("list") == {"a,b": ["1,2"], "c;d": [""]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \r\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b\n\n\n", "has a header but no rows"),
        (b"a,b\n1,2\n1,2,3\n", "line 3: 3 fields where the header has 2"),
        (b"a,b\n1\n", "line 2: 1 fields where the header has 2"),
        (b"\na,b\n\n1,2\n3\n", "line 5: 1 fields"),
        (b'a,b\n"x\ny",2\n3\n', "line 4: 1 fields"),
        (b"a,b,a\n1,2,3\n", "'a' repeat"),
        (b"a, a\n1,2\n", "'a' repeat"),
        (b"name\ncaf\xe9\n", "line 2: not UTF-8 text .byte 0xe9."),
        (b"a\n" + b"x\n" * 20000 + b"caf\xe9\n", "line 20002: not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "zero bytes"),
        (b'a,b\n1,"open\n2,3\n', "broken CSV .unexpected end of data."),
        (b'a,b\n"x"y,2\n', "line 2: broken CSV"),
        (b"a\n" + b"y" * 200_000 + b"\n", "broken CSV .field larger"),
    ],
)
def test_bad_files_are_one_line_errors_that_name_the_file(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_damaged_gzip_files_are_errors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{value}\n" for value in rng.normal(size=3000))
    whole = gzip.compress(f"a\n{rows}".encode())
    flipped = whole[:9000] + bytes([whole[9000] ^ 255]) + whole[9001:]
    for content in (whole[: len(whole) // 2], whole[:2], flipped):
        for name in ("t.csv.gz", "t.csv"):
            with pytest.raises(TableError, match=r"not a whole gzip file|not UTF-8|broken CSV|fields where"):
                read_table(write(tmp_path, content, name))


@pytest.mark.parametrize("rows", [1, 3, 7, 1000])
def test_chunks_are_the_table_in_pieces(tmp_path: Path, rows: int) -> None:
    path = write(tmp_path, "a,b\n" + "".join(f"{i},{'' if i < 50 else i / 4}\n" for i in range(100)))
    shares: list[float] = []
    chunks = list(read_chunks(path, rows=rows, progress=shares.append))
    whole = read_table(path)
    assert max(len(chunk) for chunk in chunks) <= rows
    pd.testing.assert_frame_equal(pd.concat(chunks), whole)
    assert all((chunk.dtypes == whole.dtypes).all() for chunk in chunks)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) == len(chunks)


def test_an_error_far_down_comes_after_the_chunks_before_it(tmp_path: Path) -> None:
    chunks = read_chunks(write(tmp_path, "a,b\n" + "1,2\n" * 10 + "1\n"), rows=5)
    assert [len(next(chunks)), len(next(chunks))] == [5, 5]
    with pytest.raises(TableError, match="line 12"):
        next(chunks)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_whatever_is_written_by_the_csv_rules_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    frame = read_table(write(tmp_path_factory.mktemp("csv"), text.getvalue()))
    assert list(frame.itertuples(index=False, name=None)) == rows
