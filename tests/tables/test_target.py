import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet.tables import TableError, split_target
from abnet.tables.frames import as_table


def table(labels: list[object], **columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"age": [str(i) for i in range(len(labels))], **columns, "label": labels})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["yes", "no", " yes "], ["yes", "no", "yes"]),
        (["0", "1", "0"], [0, 1, 0]),
        (["-1", "1", "1"], [-1, 1, 1]),
        (["01", "1", "1"], ["01", "1", "1"]),
        (["1.0", "2.0", "1.0"], ["1.0", "2.0", "1.0"]),
        (["True", "False", "True"], [True, False, True]),
        (["true", "false", "true"], ["true", "false", "true"]),
        ([True, False, True], [True, False, True]),
        ([3, 5, 5], [3, 5, 5]),
        ([0.0, 1.0, 1.0], [0.0, 1.0, 1.0]),
        (["NA", "EU", "EU"], ["NA", "EU", "EU"]),
        (["None", "Some", "None"], ["None", "Some", "None"]),
    ],
)
def test_labels_stay_as_in_the_file(labels: list[object], expected: list[object]) -> None:
    X, y, notes = split_target(table(labels), "label")
    assert not notes
    assert list(X) == ["age"]
    assert y.tolist() == expected
    assert [type(value) for value in y.tolist()] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["yes", "Yes", "no"], "has the labels 'Yes' and 'yes', which count as different classes; if they are one,"),
        (["caf\u00e9", "cafe\u0301", "tea"], r"has the labels 'cafe\u0301' and 'caf\xe9', which count as different"),
        (["yes", "yes\u200b", "no"], r"has the labels 'yes' and 'yes\u200b', which count"),
        (["very  good", "very good", "bad"], "has the labels 'very  good' and 'very good', which count"),
        (["yes", "no", "NA"], "has the label 'NA' (1 row), which counts as a class; if it stands for a missing label,"),
        (["yes", "no", "?", "?"], "has the label '?' (2 rows), which counts as a class"),
        (["yes", "no", "unknown"], "has the label 'unknown' (1 row), which counts as a class"),
    ],
)
def test_labels_that_are_perhaps_one_class_or_none_are_noted(labels: list[object], told: str) -> None:
    _, y, notes = split_target(table(labels), "label")
    assert y.tolist() == labels
    assert [told in note.text for note in notes] == [True]


def test_a_column_whose_name_only_looks_the_same_is_spelled_out() -> None:
    with pytest.raises(TableError) as caught:
        split_target(pd.DataFrame({"a": [1, 2], "cafe\u0301": [0, 1]}), "caf\u00e9")
    assert r"Did you mean 'cafe\u0301'?" in str(caught.value)


def test_bytes_are_text() -> None:
    frame = pl.DataFrame({"x": [b"u", b"v", None], "label": [b"0", b"1", b"1"]})
    X, y, _ = split_target(frame, "label")
    assert y.tolist() == [0, 1, 1]
    assert [as_table(X).cells("x").cell(row) for row in range(3)] == ["u", "v", None]
    with pytest.raises(TableError, match="column 'x' holds bytes that are no text in UTF-8; leave it out"):
        as_table(pl.DataFrame({"x": [b"\xff"]})).cells("x")


def test_typed_labels_of_parquet_stay_as_they_are() -> None:
    for labels, kind in [
        (pd.array([1, 2], "Int64"), "i"),
        (pd.array([True, False], "boolean"), "b"),
        (pd.Categorical(["u", "v"]), "U"),
    ]:
        _, y, _ = split_target(pd.DataFrame({"a": [1, 2], "label": labels}), "label")
        assert y.dtype.kind == kind
        assert y.tolist() == list(labels)


def test_an_unknown_column_is_answered_with_close_ones_and_all() -> None:
    with pytest.raises(
        TableError, match=r"no column 'Label'.* Did you mean 'label'\? Its columns are 'age', 'label'\."
    ):
        split_target(table(["a", "b"]), "Label")
    wide = pd.DataFrame({f"c{i}": ["1"] for i in range(1000)})
    with pytest.raises(TableError) as caught:
        split_target(wide, "zzz")
    assert "and 990 more" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("mark", ["", "  ", "nan", "NaN", "NULL", "<NA>", "#N/A", None, np.nan])
def test_missing_labels_are_counted_and_the_first_row_named(mark: object) -> None:
    with pytest.raises(TableError, match="column 'label': 2 rows without a label, the first is data row 2;"):
        split_target(table(["a", mark, "b", mark]), "label")


def test_a_missing_number_is_a_missing_label() -> None:
    with pytest.raises(TableError, match="1 row without a label"):
        split_target(pd.DataFrame({"a": [1, 2, 3], "label": [0.0, 1.0, np.nan]}), "label")


def test_one_class_and_a_quantity_are_refused_with_their_counts() -> None:
    with pytest.raises(TableError, match=r"only one class, but 2 to 100 are taken: 'a' \(2 rows\)"):
        split_target(table(["a", "a"]), "label")
    assert set(split_target(table(["a", "b", "b", "c"]), "label").y) == {"a", "b", "c"}
    with pytest.raises(TableError, match=r"101 classes, .* and 96 more.*if '\?' stands for a missing label"):
        split_target(table([*(str(i) for i in range(100)), "?"]), "label")


@pytest.mark.parametrize("empty", [["", ""], ["NA", "?"], [None, None], [np.nan, np.nan]])
def test_a_column_without_any_value_is_no_matter_of_the_labels(empty: list[object]) -> None:
    X, y, _ = split_target(table(["a", "b"], gone=empty), "label")
    assert (list(X), y.tolist()) == (["age", "gone"], ["a", "b"])


@pytest.mark.parametrize(
    ("labels", "expected", "note"),
    [
        (["1", "1.0", "0", "1.00"], [1, 1, 0, 1], "'1' and '1.0' and '1.00'"),
        (["0.5", "1", "0.50", "1"], [0.5, 1.0, 0.5, 1.0], "'0.5' and '0.50'"),
    ],
)
def test_one_number_written_in_several_ways_is_one_class_with_a_note(
    labels: list[object], expected: list[float], note: str
) -> None:
    _, y, notes = split_target(table(labels), "label")
    assert y.tolist() == expected
    assert [type(value) for value in y.tolist()] == [type(value) for value in expected]
    assert [str(found) for found in notes] == [
        f"column 'label' has the labels {note}, which are one number and count as one class"
    ]


def test_polars_frames_and_records_are_tables_too() -> None:
    columns = {"age": ["1", "2"], "label": ["a", "b"]}
    for frame in (columns, pl.DataFrame(columns), pd.DataFrame(columns)):
        X, y, _ = split_target(frame, "label")
        assert (type(X), y.tolist()) == (type(frame), ["a", "b"])
        assert (list(X) if isinstance(X, dict) else list(X.columns)) == ["age"]


def test_the_label_alone_is_not_enough() -> None:
    with pytest.raises(TableError, match="'label' is the only column"):
        split_target(pd.DataFrame({"label": ["a", "b"]}), "label")
