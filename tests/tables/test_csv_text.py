import csv
import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet.tables import TableError, batches, csv_files, read_table
from abnet.tables.byte_source import ByteSource
from abnet.tables.csv_dialect import Dialect
from abnet.tables.csv_regular import regular_frame
from abnet.tables.notes import NoteWarning


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
        ("a|b\n1,5|2;0\n", {"a": ["1,5"], "b": ["2;0"]}),
        ("a,b\nx\0y,2\n", {"a": ["x\0y"], "b": ["2"]}),
        ('size,n\n5" pipe,2\n7,3\n', {"size": ['5" pipe', "7"], "n": ["2", "3"]}),
        ("a,b\n1,2\r3,4\n", {"a": ["1", "3"], "b": ["2", "4"]}),
        ('a,b\r\n"x\r\ny",1\r\n\r\n"z",2\r\n', {"a": ["x\r\ny", "z"], "b": ["1", "2"]}),
        ('a\n"x"\n\n"y"\n', {"a": ["x", "y"]}),
        ('"a\nb",c\n1,2\n', {"a\nb": ["1"], "c": ["2"]}),
        ("a,b\n\ufeff1,2\n", {"a": ["\ufeff1"], "b": ["2"]}),
        ("a\n" + "y" * 200_000 + "\n", {"a": ["y" * 200_000]}),
        ('a\n"' + "y" * 200_000 + '\nz"\n', {"a": ["y" * 200_000 + "\nz"]}),
        ("\n\na,b\n\n1,2\n\n3,4\n\n", {"a": ["1", "3"], "b": ["2", "4"]}),
        (",x\n0,1\n", {"column 1 (unnamed)": ["0"], "x": ["1"]}),
        ("zip,flag\n00123,NA\n,true\n", {"zip": ["00123", ""], "flag": ["NA", "true"]}),
        ('one\n""\n5\n', {"one": ["", "5"]}),
    ],
)
def test_cells_are_text_exactly_as_in_the_file(tmp_path: Path, content: str, expected: dict[str, list[str]]) -> None:
    zipped = gzip.compress(content.encode())
    for name, written in (("t.csv", content), ("t.csv.gz", zipped), ("zipped.csv", zipped), ("plain.csv.gz", content)):
        path = write(tmp_path, written, name)
        frame = read_table(path)
        assert frame.to_dict(as_series=False) == expected
        assert set(frame.dtypes) == {pl.String}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a,b,a,a\n1,2,3,4\n", ["a", "b", "a.1", "a.2"]),
        ("a, a,a.1\n1,2,3\n", ["a", "a.2", "a.1"]),
        ('"x" "y"\n"1" 2 3\n"2" 4 5\n', ["column 1 (unnamed)", "x", "y"]),
        ("x,y\nr1,1,2\nr2,3,4\n", ["column 1 (unnamed)", "x", "y"]),
        ("x,y\n1,2,\n3,4,\n", ["x", "y", "column 3 (unnamed)"]),
        ("sep=;\nx,y;z\n1,5;2\n", ["x,y", "z"]),
        ("x y z\n1 2 3\n", ["x", "y", "z"]),
        ("size, cm;mass\n1,5;2\n3;4\n", ["size, cm", "mass"]),
    ],
)
def test_headers_as_other_programs_write_them(tmp_path: Path, content: str, names: list[str]) -> None:
    for ending in ("csv", "txt"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoteWarning)
            assert read_table(write(tmp_path, content, f"t.{ending}")).columns == names


@pytest.mark.parametrize(
    ("content", "noted"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,2.5,virginica\n", True),
        ("red,big,yes\nblue,big,no\nred,small,yes\n", True),
        ("red,5.1,yes\nblue,4.9,no\nred,4.7,yes\n", True),
        ("colour,size,y\nred,big,yes\nblue,small,no\n", False),
        ("country,2010,2011,2012,y\nNO,5.1,4.9,4.7,yes\nSE,5.0,4.8,4.6,no\n", False),
        ("0,1,2\n5.1,3.5,yes\n4.9,3.0,no\n", False),
        ("x,2010,12.5,y\n5.1,3.5,4.9,yes\n4.7,3.0,4.6,no\n", False),
    ],
)
def test_a_missing_header_is_noted_by_what_stands_below_it(tmp_path: Path, content: str, noted: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(write(tmp_path, content))
    assert [w.message.note.code for w in caught if isinstance(w.message, NoteWarning)] == ["no header"] * noted


def test_tabs_separate_in_tsv_files_whatever_the_header(tmp_path: Path) -> None:
    frame = read_table(write(tmp_path, "a,b\tc;d\n1,2\t\n", "t.tsv"))
    assert frame.to_dict(as_series=False) == {"a,b": ["1,2"], "c;d": [""]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \r\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b\n\n\n", "has a header but no rows"),
        (b"a,b\n1,2\n1,2,3\n", "line 3: 3 fields where the header has 2"),
        (b"a,b\n1\n", "line 2: 1 field where the header has 2"),
        (b"\na,b\n\n1,2\n3\n", "line 5: 1 field"),
        (b'a,b\n"x\ny",2\n3\n', "line 4: 1 field"),
        (b"a,b\n1,2,3\n4,5\n", r"line 2\b.*\b3\b.*\b2\b"),
        (b"@relation iris\n@attribute x real\n@data\n1,2\n", "ARFF or KEEL"),
        (b"name\ncaf\xe9\n", "line 2: .*UTF-8.*0xe9"),
        (b"a\n" + b"x\n" * 20000 + b"caf\xe9\n", "line 20002: .*UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "zero"),
        (b"PAR1\x15\x04\x15", r"\.parquet"),
        (b"PK\x03\x04\x14\0", "zip.*CSV"),
        (b"\x28\xb5\x2f\xfd\x04", "Zstandard.*gzip"),
        (b'a,b\n1,"open\n2,3\n', "CSV"),
        (b'a,b\n"x"y,2\n', "line 2: .*CSV"),
        (b"a,b\n1,2\n3\n4,5,6\n7,8\n", r"line 3\b.*\b1\b.*\b2\b"),
        (b'a,b\n"1","2"\n"3"\n"4","5","6"\n', r"line 3\b.*\b1\b.*\b2\b"),
    ],
)
def test_bad_files_are_one_line_errors_that_name_the_file(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_before_the_damage_of_a_gzip_file_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but those of the block with the damage."""
    monkeypatch.setattr(csv_files, "_BLOCK", 1 << 16)
    numbers = np.random.default_rng(0).integers(0, 10**9, (60_000, 2)).tolist()
    text = "".join(["a,b\n", *(f"{a},{b}\n" for a, b in numbers)]).encode()
    packed = gzip.compress(text)
    damaged = packed[: len(packed) // 2]
    source = ByteSource(io.BytesIO(damaged), "t.csv.gz")
    lines = list[int]()
    with pytest.raises(TableError, match="gzip"):
        lines.extend(block.count(b"\n") for block in iter(lambda: source.block(1 << 10), b""))
    frames = csv_files.csv_frames(ByteSource(io.BytesIO(damaged), "t.csv.gz"))
    rows = list[int]()
    with pytest.raises(TableError, match="gzip"):
        rows.extend(frame.height for frame in frames)
    lines_of_a_block = csv_files._BLOCK / (len(text) / len(numbers))
    assert sum(lines) > sum(rows) > sum(lines) - lines_of_a_block


def test_damaged_gzip_files_are_errors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{value}\n" for value in rng.normal(size=3000))
    whole = gzip.compress(f"a\n{rows}".encode())
    flipped = whole[:9000] + bytes([whole[9000] ^ 255]) + whole[9001:]
    for content in (whole[: len(whole) // 2], whole[:2], flipped):
        for name in ("t.csv.gz", "t.csv"):
            with pytest.raises(TableError, match=r"gzip|UTF-8|CSV|fields"):
                read_table(write(tmp_path, content, name))


@pytest.mark.parametrize("rows", [1, 3, 7, 1000])
def test_chunks_are_the_table_in_pieces(tmp_path: Path, rows: int) -> None:
    path = write(tmp_path, "a,b\n" + "".join(f"{i},{'' if i < 50 else i / 4}\n" for i in range(100)))
    shares: list[float] = []
    chunks = list(batches(path, rows=rows, progress=shares.append))
    whole = read_table(path)
    assert [len(chunk) for chunk in chunks[:-1]] == [rows] * (len(chunks) - 1)
    assert pl.concat(chunks).equals(whole)
    assert all(chunk.schema == whole.schema for chunk in chunks)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) == len(chunks)


def test_an_error_far_down_comes_after_the_chunks_before_it(tmp_path: Path) -> None:
    chunks = batches(write(tmp_path, "a,b\n" + "1,2\n" * 10 + "1\n"), rows=5)
    assert [len(next(chunks)), len(next(chunks))] == [5, 5]
    with pytest.raises(TableError, match="line 12"):
        next(chunks)


def slow_reference(text: str) -> list[list[str]]:
    """Rows by Python's own reader, which shares nothing with Polars; those that repeat the header are left out."""
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    return [header, *(row for row in rows if row and row != header)]


alphabet = st.one_of(st.sampled_from(' ,;"\n\r\t|.0é€\0'), st.characters(codec="utf-8"))
cells = st.text(alphabet, max_size=6)
quoting = st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
tables = st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1))


@settings(max_examples=200, deadline=None)
@given(tables, quoting, st.sampled_from(["\n", "\r\n"]))
def test_reading_equals_a_slow_reference(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], quoting: int, end: str
) -> None:
    text = io.StringIO(newline="")
    header = ["a", "b", "c"][: len(rows[0])]
    csv.writer(text, quoting=quoting, lineterminator=end).writerows([header, *rows])  # type: ignore[arg-type]
    expected = slow_reference(text.getvalue())[1:]
    path = write(tmp_path_factory.mktemp("csv"), text.getvalue())
    if expected and all(len(row) == len(header) for row in expected):
        assert [list(row) for row in read_table(path).rows()] == expected
    if quoting == csv.QUOTE_ALL:
        assert expected == [row for row in rows if row != header]


raw = st.text(st.sampled_from('a1 ,"\n\r'), max_size=30)


@settings(max_examples=300, deadline=None)
@given(raw)
def test_whatever_stands_in_a_file_is_read_as_the_reference_does_or_refused(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    text = f"a,b\n{body}"
    path = write(tmp_path_factory.mktemp("csv"), text)
    try:
        expected = slow_reference(text)[1:]
    except csv.Error:
        expected = []
    named = len(expected) > 1 and all(len(row) == 3 for row in expected)  # as R writes rows with names
    if named or (expected and all(len(row) == 2 for row in expected)):
        assert [list(row) for row in read_table(path).rows()] == expected
    else:
        with pytest.raises(TableError):
            read_table(path)


def test_blocks_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f'{i},"{"x" * (i % 7)}\n{i}",{i / 8}\n' if i % 5 == 0 else f"{i}, y{i},\n" for i in range(400)]
    path = write(tmp_path, "a,b,c\n" + "".join(lines))
    whole = read_table(path)
    assert whole.rows() == [tuple(row) for row in slow_reference(path.read_text())[1:]]
    monkeypatch.setattr("abnet.tables.csv_files._BLOCK", 100)
    monkeypatch.setattr("abnet.tables.byte_source._START", 10)
    assert read_table(path).equals(whole)
    write(tmp_path, path.read_text() + "1,2\n")
    line = path.read_text().count("\n")
    with pytest.raises(TableError, match=rf"line {line}\b.*\b2\b.*\b3\b"):
        read_table(path)


def test_the_line_of_an_error_counts_the_regular_blocks_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abnet.tables.csv_files._BLOCK", 10_000)
    path = write(tmp_path, "a,b\n" + "1,2\n\n" * 100_000 + "3\n")
    with pytest.raises(TableError, match=r"line 200002\b.*\b1\b.*\b2\b"):
        read_table(path)


@pytest.mark.parametrize(
    "block",
    [
        b'"x"y,2\n',
        b'x"y",2\n',
        b'x"y"z,2\n',
        b'"x" ,2\n',
        b' "x",2\n',
        b'1, "x"\n',
        b'"x,2\n',
        b'"x\r\ny",2\r\n',
        b"1\r,2\n",
        b"1,2\r3,4\n",
        b"1,2,3\n4\n",
        b'"1",2,3\n4\n',
        b"\xe9,2\n",
        b"\xef\xbb\xbf1,2\n",
        b"1\n",
    ],
)
def test_what_is_not_regular_is_left_to_the_exact_reader(block: bytes) -> None:
    assert regular_frame(block, ["a", "b"], Dialect(",")) is None


def test_regular_blocks_take_the_fast_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abnet.tables.csv_files._CsvReader._irregular", None)
    plain = "".join(f"{i},x\n\n" for i in range(1000))
    quoted = "".join(f'"{i}","x, y ""z""\n"\n' for i in range(1000))
    windows = "".join(f'{i},"x, y"\r\n' for i in range(1000))
    for body in (plain, quoted, windows):
        assert read_table(write(tmp_path, f"a,b\n{body}")).height == 1000


def test_an_open_quote_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abnet.tables.csv_rows._LONGEST_ROW", 1000)
    path = write(tmp_path, 'a,b\n1,"open\n' + "2,3\n" * 10_000)
    with pytest.raises(TableError, match=r"line 251\b"):
        read_table(path)


def test_standard_input_is_a_table_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = pl.DataFrame({"a": ["1"], "b": ["2"]})
    zipped = gzip.compress(b"a;b\n1;2\n")
    parquet = io.BytesIO()
    expected.write_parquet(parquet)
    for content in (b"a,b\n1,2\n", zipped, parquet.getvalue()):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        assert read_table("-").equals(expected)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(TableError, match="standard input"):
        read_table("-")


@pytest.mark.parametrize("block", [1 << 23, 64])
@pytest.mark.parametrize("strange", ["", '5" pipe,0,z\n'], ids=["regular", "irregular"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows_that_repeat_the_header_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, strange: str, mark: str
) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK", block)
    part = "a, b,c \n" + "".join(f'{i},x,"two\nlines"\n' for i in range(30)) + "\na,b,d\n"
    path = write(tmp_path, part + strange + (mark + part) * 2)
    line = 1 + 60 + 2 + bool(strange) + 1
    for read in (lambda: read_table(path), lambda: pl.concat(batches(path, rows=7))):
        with pytest.warns(UserWarning, match=rf"\b2 rows.*line {line}\b") as caught:
            frame = read()
        assert len(caught) == 1
        assert str(path) in str(caught[0].message)
        assert frame.height == 93 + bool(strange)
        assert frame["a"].to_list().count("a") == 3
        assert set(frame["c"]) <= {"two\nlines", "d", "z"}


def test_rows_that_repeat_a_header_of_numbers_are_rows(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "1,2\n1,2\n3,4\n")).height == 2
    assert read_table(write(tmp_path, ",x\n,x \n0,1\n")).height == 2
    with pytest.warns(UserWarning, match="1 row, first in line 2"), pytest.raises(TableError, match="no rows"):
        read_table(write(tmp_path, "a,b\na,b\n"))
