import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet.tables import TableError, split_target
from abnet.tables.table import as_table
from abnet.tables.target import labelled
from abnet.tables.target_bins import Binning
from abnet.tables.target_classes import NoClassesError


def table(labels: list[object], **columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"age": [str(i) for i in range(len(labels))], **columns, "label": labels})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["yes", "no", " yes "], ["yes", "no", "yes"]),
        (["0", "1", "0"], [0, 1, 0]),
        (["-1", "1", "1"], [-1, 1, 1]),
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
        (["yes", "Yes", "no"], "'Yes' and 'yes'"),
        (["caf\u00e9", "cafe\u0301", "tea"], r"'cafe\u0301' and 'caf\xe9'"),
        (["yes", "yes\u200b", "no"], r"'yes' and 'yes\u200b'"),
        (["very  good", "very good", "bad"], "'very  good' and 'very good'"),
        (["yes", "no", "NA"], "'NA' (1 row)"),
        (["yes", "no", "?", "?"], "'?' (2 rows)"),
        (["yes", "no", "unknown"], "'unknown' (1 row)"),
    ],
)
def test_labels_that_are_perhaps_one_class_or_none_are_noted(labels: list[object], told: str) -> None:
    _, y, notes = split_target(table(labels), "label")
    assert y.tolist() == labels
    assert [told in str(note) for note in notes] == [True]


def test_a_column_whose_name_only_looks_the_same_is_spelled_out() -> None:
    with pytest.raises(TableError) as caught:
        split_target(pd.DataFrame({"a": [1, 2], "cafe\u0301": [0, 1]}), "caf\u00e9")
    assert r"'cafe\u0301'" in str(caught.value)


def test_bytes_are_text() -> None:
    frame = pl.DataFrame({"x": [b"u", b"v", None], "label": [b"0", b"1", b"1"]})
    X, y, _ = split_target(frame, "label")
    assert y.tolist() == [0, 1, 1]
    assert [as_table(X).cells("x").cell(row) for row in range(3)] == ["u", "v", None]
    with pytest.raises(TableError, match=r"'x'.*UTF-8"):
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
    with pytest.raises(TableError, match=r"'Label'.*'label'.*'age', 'label'"):
        split_target(table(["a", "b"]), "Label")
    wide = pd.DataFrame({f"c{i}": ["1"] for i in range(1000)})
    with pytest.raises(TableError) as caught:
        split_target(wide, "zzz")
    assert "and 990 more" in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("mark", ["", "  ", "nan", "NaN", "NULL", "<NA>", "#N/A", None, np.nan])
def test_missing_labels_are_counted_and_the_first_row_named(mark: object) -> None:
    frame = table(["a", mark, "b", mark])
    with pytest.raises(TableError, match=r"'label'.*\b2 rows.*data row 2\b"):
        split_target(frame, "label", missing_label="error")
    for given in (frame, {name: frame[name].tolist() for name in frame}):
        X, y, (note,) = split_target(given, "label")
        assert (note.code, note.columns, note.rows) == ("missing labels", ("label",), 2)
        assert y.tolist() == ["a", "b"]
        assert as_table(X).n_rows == 2
        assert as_table(X).cells("age").cell(1) == as_table(frame).cells("age").cell(2)


def test_a_missing_number_is_a_missing_label() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3], "label": [0.0, 1.0, np.nan]})
    assert split_target(frame, "label").y.tolist() == [0.0, 1.0]
    with pytest.raises(TableError, match=r"\b1 row"):
        split_target(frame, "label", missing_label="error")
    with pytest.raises(TableError, match=r"\b2 rows"):
        split_target(pd.DataFrame({"a": [1, 2], "label": [np.nan, np.nan]}), "label")
    with pytest.raises(ValueError, match="missing_label"):
        split_target(frame, "label", missing_label="guess")


def test_one_class_and_a_quantity_are_refused_with_their_counts() -> None:
    with pytest.raises(TableError, match=r"\b2 to 100\b.*'a' \(2 rows\)"):
        split_target(table(["a", "a"]), "label")
    assert set(split_target(table(["a", "b", "b", "c"]), "label").y) == {"a", "b", "c"}
    with pytest.raises(TableError, match=r"\b101\b.*\b96 more.*'\?'"):
        split_target(table([*(f"c{i}" for i in range(100)), "?"]), "label")


@pytest.mark.parametrize(
    ("labels", "refused"),
    [
        ([i % 60 for i in range(200)], "60 .*numbers"),
        ([str(i % 60) for i in range(200)], "60 .*numbers"),
        ([i / 7 for i in range(12)] * 9, "12 .*numbers"),
        ([str(i * 3) for i in range(300)], "300 .*numbers"),
        ([f"person {i}" for i in range(100)], r"100 classes.*100 rows"),
        (list(range(10)) * 3, ""),
        ([i % 26 for i in range(600)], ""),
        ([0.5, 1.5, 2.5] * 9, ""),
        ([f"class {i % 40}" for i in range(100)], ""),
    ],
)
def test_targets_that_are_no_classes_are_refused_in_one_line(labels: list[object], refused: str) -> None:
    if refused:
        with pytest.raises(NoClassesError, match=refused) as caught:
            split_target(table(labels), "label")
        assert ("bins=4" in str(caught.value)) == ("numbers" in refused)
    else:
        assert len(split_target(table(labels), "label").y) == len(labels)


def test_several_labels_in_one_cell_are_said() -> None:
    labels: list[object] = ["rain", "snow", "rain;snow", "wind", "rain;wind"] * 5
    _, _, notes = split_target(table(labels), "label")
    (note,) = [note for note in notes if note.code == "several labels"]
    assert note.rows == 10
    assert ";" in note.example
    others: list[list[object]] = [["a/b", "c/d", "e"], ["New York, NY", "Boston, MA", "Austin, TX"]]
    for plain in others:
        assert not any(note.code == "several labels" for note in split_target(table(plain * 5), "label").notes)


def frames(n: int = 500) -> list[pl.DataFrame]:
    rng = np.random.default_rng(0)
    price = rng.gamma(2.0, 100.0, n).round(2)
    whole = pl.DataFrame({"x": rng.normal(size=n), "price": [*map(str, price[:-2]), "", "soon"]})
    return [whole[:200], whole[200:]]


def test_quantiles_come_from_rows_that_are_set_aside() -> None:
    """The classes of the rows that are left do not depend on what their labels are."""
    binning = Binning.of(frames, "price", 4, seed=3)
    assert binning.aside is not None
    assert len(binning.cuts) == 3
    assert binning.aside.sum() == 100
    made = pl.concat(list(labelled(binning.frames(frames()), "price")))
    assert set(made["price"].unique()) == set(binning.names)
    assert 398 <= made.height <= 400
    counts = np.unique(made["price"].to_numpy(), return_counts=True)[1]
    assert counts.min() > 0.12 * made.height
    numbers = pl.concat(frames()).filter(~binning.aside)["price"].cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    expected = [binning.names[int(np.searchsorted(binning.cuts, x, side="right"))] for x in numbers]
    assert made["price"].to_list() == expected
    known = pl.concat(frames()).filter(binning.aside)["price"].cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    np.testing.assert_allclose(binning.cuts, np.quantile(known, [0.25, 0.5, 0.75]), rtol=1e-5)


def test_cut_points_that_are_given_need_no_rows() -> None:
    binning = Binning.of(frames, "price", [100, 300], seed=0)
    assert binning.aside is None
    made = pl.concat(list(binning.frames(frames())))
    assert made.height == 500
    assert made["price"].n_unique() == 4  # one is missing


@pytest.mark.parametrize("bins", [1, 11, True, [], [2, 1], [float("nan")]])
def test_bins_are_checked(bins: object) -> None:
    with pytest.raises(ValueError, match="bins"):
        Binning.of(frames, "price", bins, seed=0)  # type: ignore[arg-type]


def test_text_cannot_be_cut() -> None:
    with pytest.raises(NoClassesError, match="'red'"):
        Binning.of(lambda: [pl.DataFrame({"x": [1, 2], "y": ["red", "blue"]})], "y", 2, seed=0)


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
    (found,) = notes
    assert (found.code, found.columns) == ("one number", ("label",))
    assert note in str(found)


def test_polars_frames_and_records_are_tables_too() -> None:
    columns = {"age": ["1", "2"], "label": ["a", "b"]}
    for frame in (columns, pl.DataFrame(columns), pd.DataFrame(columns)):
        X, y, _ = split_target(frame, "label")
        assert (type(X), y.tolist()) == (type(frame), ["a", "b"])
        assert (list(X) if isinstance(X, dict) else list(X.columns)) == ["age"]


def test_the_label_alone_is_not_enough() -> None:
    with pytest.raises(TableError, match="'label'"):
        split_target(pd.DataFrame({"label": ["a", "b"]}), "label")


def test_labels_that_are_perhaps_one_class_are_noted() -> None:
    """Even where they are all: one class in two spellings is no problem to learn."""
    spellings: list[list[object]] = [["01", "1", "1"], ["Yes", "yes", "yes"]]
    for labels in spellings:
        _, y, notes = split_target(table(labels), "label")
        assert y.tolist() == labels
        assert [note.code for note in notes] == ["labels alike"]


@pytest.mark.parametrize("other", ["no", "2"])
def test_one_number_in_two_spellings_is_one_class_beside_words_too(other: str) -> None:
    _, y, notes = split_target(table(["1", "1.0", other]), "label")
    assert len(set(y.tolist())) == 2
    assert [note.code for note in notes] == ["one number"]
