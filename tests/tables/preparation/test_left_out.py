"""Columns that name or count the rows, that hold nothing, or too much."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet import ABNetClassifier
from abnet.tables import TableError, read_table
from abnet.tables.preparation import TablePreparation, preparation_from_dict, preparation_to_dict
from abnet.tables.preparation.input_shift import InputShiftWarning
from abnet.tables.table import as_table
from abnet.tables.table_errors import UnknownColumnError
from promised import promised

X = [str(i * i % 17) for i in range(60)]


def kept(table: Any, **options: Any) -> tuple[list[str], list[str]]:
    """The columns that are used, and the notes as text."""
    preparation = TablePreparation(**options).fit(table)
    return [column.name for column in preparation.map_.columns], [str(note) for note in preparation.notes_]


def codes(table: Any, **options: Any) -> list[tuple[str, str]]:
    """Kind and column of each note."""
    notes = TablePreparation(**options).fit(table).notes_
    return [(note.code, column) for note in notes for column in note.columns]


def test_a_column_without_a_name_is_left_out_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",x\n" + "".join(f"{i * 7 % 5},{x}\n" for i, x in enumerate(X)))
    frame = read_table(tmp_path / "t.csv")
    names, (note,) = kept(frame)
    assert names == ["x"]
    assert codes(frame) == [("no name", "column 1 (unnamed)")]
    assert "use='column 1 (unnamed)'" in note
    assert kept(frame, use=["column 1 (unnamed)"]) == (["column 1 (unnamed)", "x"], [])
    assert kept({"Unnamed: 0": X, "x": X})[0] == ["x"]


@pytest.mark.parametrize("start", [0, 1, -7, 2**60])
def test_whole_numbers_that_count_the_rows_are_left_out_with_a_note(start: int) -> None:
    count = [str(start + i) for i in range(60)]
    for index in (count, [start + i for i in range(60)], count[::-1]):
        names, notes = kept({"index": index, "x": X})
        assert names == ["x"]
        assert codes({"index": index, "x": X}) == [("identifier", "index")]
        assert "use='index'" in notes[0]
        assert kept({"index": index, "x": X}, use="index")[0] == ["index", "x"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_part_of_the_rows_shows_it_too(share: float) -> None:
    part = np.random.default_rng(0).permutation(2000)[: int(2000 * share)]
    assert kept({"index": part, "x": part % 7})[0] == ["x"]


def test_other_whole_numbers_are_kept() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 90, 60),
        "distinct but far apart": rng.permutation(10**6)[:60],
        "counted with a gap": [*range(59), None],
        "twice": [*range(59), 7],
        "halves": np.arange(60) / 2,
    }
    assert kept(columns)[0] == list(columns)
    assert kept({"seconds, once a minute": np.arange(5000) * 60})[0] == ["seconds, once a minute"]
    assert kept({"few": [1, 2, 3, 4, 5, 6]})[0] == ["few"]


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ([*range(59), None], "never"),
        ([*map(str, range(58)), "", ""], "never"),
        ([*range(59), 7], "hardly ever"),
        ([*range(200), 7, 9, 11], "hardly ever"),
        ([100 * i for i in range(60)], "never"),
        ([1_600_000_000 + 60 * i for i in range(60)], "never"),
    ],
    ids=["a gap", "empty cells", "a repeat", "repeats", "hundreds", "once a minute"],
)
def test_what_nearly_counts_the_rows_is_kept_with_a_note(index: list[Any], said: str) -> None:
    table = {"count": index, "x": [i * i % 17 for i in range(len(index))]}
    names, (note,) = kept(table)
    assert names == ["count", "x"]
    assert codes(table) == [("perhaps identifier", "count")]
    assert f" {said} " in note
    assert kept(table, use="count") == (["count", "x"], [])
    names, _ = kept({"id": index, "x": table["x"]})
    assert names == ["x"]
    assert codes({"id": index, "x": table["x"]}) == [("identifier", "id")]


@pytest.mark.parametrize("name", ["customer_id", "CustomerID", "userid", "rownames", "Policy No", "key"])
def test_whole_numbers_with_a_name_for_rows_are_left_out_with_a_note(name: str) -> None:
    """Six digits each, or a sample of the rows: too far apart to be taken for a count."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    for numbers in (100_000 + rng.permutation(900_000)[:400], rng.permutation(1_000_000)[:400]):
        names, _ = kept({name: np.sort(numbers), "x": x})
        assert names == ["x"]
        assert codes({name: np.sort(numbers), "x": x}) == [("identifier", name)]
        assert kept({name: numbers, "x": x}, use=name) == ([name, "x"], [])
    assert kept({name: rng.integers(9, size=400), "x": x}) == ([name, "x"], [])  # they repeat
    assert kept({name: 1000 * x, "x": x}) == ([name, "x"], [])  # fractions
    texts = [f"C{number}" for number in (*range(395), *range(5))]
    assert kept({name: texts, "x": x})[0] == ["x"]


LONG = np.random.default_rng(4).integers(10**17, 10**18, 60)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("PID", [100_000 + 37 * i * i for i in range(60)]),
        ("id_str", LONG.tolist()),
        ("id_str", list(map(str, LONG))),
        ("posted", LONG.tolist()),
        ("posted", list(map(str, LONG))),
        ("posted", pl.Series([10**15 + 977 * i * i for i in range(60)])),
    ],
)
def test_identifiers_of_few_or_many_digits_are_left_out_with_a_note(name: str, values: Any) -> None:
    table = {name: values, "x": [i % 7 for i in range(60)]}
    preparation = TablePreparation().fit(table)
    assert [(note.code, note.columns) for note in preparation.notes_] == [("identifier", (name,))]
    assert [column.name for column in TablePreparation(use=name).fit(table).map_.columns] == [name, "x"]


def test_large_measurements_are_no_identifiers() -> None:
    x = np.exp(np.random.default_rng(5).normal(40, 2, size=200))
    table = {"charge": x, "written": [f"{value:.6e}" for value in x], "bytes": np.rint(x / 1e9)}
    preparation = TablePreparation().fit(table)
    assert [column.name for column in preparation.map_.columns] == ["charge", "written", "bytes"]


def test_a_note_names_numbers_that_chance_would_repeat() -> None:
    """Of 5,000 numbers out of 900,000 some would be equal; of 400 hardly any."""
    rng = np.random.default_rng(0)
    for n, noted in ((5000, True), (400, False)):
        table = {"badge": 100_000 + rng.permutation(900_000)[:n], "x": rng.normal(size=n)}
        assert kept(table)[0] == ["badge", "x"]
        assert codes(table) == [("perhaps identifier", "badge")] * noted


def test_amounts_are_kept_in_silence() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "capital": rng.lognormal(12, 2, 2000).astype(int),
        "income": (30_000 + 15_000 * rng.gamma(2, size=2000)).astype(int),
        "population": rng.lognormal(14, 1, 300).astype(int),
        "fnlwgt": rng.integers(12_285, 1_484_705, 2000),
        "amount_paid": rng.integers(10**6, size=2000),
    }
    for name, numbers in columns.items():
        assert kept({name: numbers, "x": rng.normal(size=len(numbers))}) == ([name, "x"], [])


def test_a_number_for_each_customer_no_longer_makes_a_certificate() -> None:
    n = 400
    rng = np.random.default_rng(0)
    ids = np.sort(100_000 + rng.permutation(900_000)[:n])
    table = pl.DataFrame({"customer_id": ids, "noise": rng.normal(size=n)})
    y = np.repeat(["first", "second"], n // 2)
    for use, low in (("customer_id", True), ((), False)):
        clf = ABNetClassifier((2,), max_iter=30, preprocessor=TablePreparation(use=use), random_state=0).fit(table, y)
        assert (promised(clf).vote_error_bound < 0.2) == low


def test_no_note_for_numbers_that_repeat_more_often_than_by_chance() -> None:
    """One in twenty of these, where one in twenty-five would be chance: far from chance, to the other side."""
    rng = np.random.default_rng(0)
    once = rng.choice(12 * 30_000, 28_500, replace=False)
    assert kept({"some twice": np.append(once, once[:1500]), "x": rng.normal(size=30_000)}) == (["some twice", "x"], [])


def test_no_note_for_numbers_that_repeat_by_chance_or_design() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 90, 300),
        "each five times": np.arange(300) // 5,
        "large": rng.integers(10**6, size=300),
        "wide": rng.integers(3600, size=300),
        "salary": 100 * rng.integers(400, size=300),
        "skewed": rng.poisson(9, 300),
    }
    assert kept(columns) == (list(columns), [])


def test_text_that_differs_in_every_row_is_left_out_with_a_note() -> None:
    names, notes = kept({"id": [f"person-{i}" for i in range(60)], "x": X})
    assert names == ["x"]
    assert "60" in notes[0]
    assert codes({"id": [f"person-{i}" for i in range(60)], "x": X}) == [("identifier", "id")]
    names, (note,) = kept({"id": [f"person-{i}" for i in range(60)], "x": X}, use=["id"])
    assert names == ["id", "x"]
    assert re.findall(r"\b\d+\b", note)[:2] == ["41", "60"]  # rare categories of all


def test_an_empty_column_is_left_out_like_a_constant_one() -> None:
    for empty in ("", "NA", None):
        table = {"empty": [empty] * 60, "same": ["7"] * 60, "x": X}
        names, notes = kept(table)
        assert names == ["x"]
        assert codes(table) == [("empty", "empty"), ("constant", "same")]
        assert "(7)" in notes[1]


def test_use_names_columns_that_there_are() -> None:
    with pytest.raises(UnknownColumnError, match=r"use: .*'y'.*'x'"):
        TablePreparation(use=["y"]).fit({"x": X})


def test_names_that_repeat_are_an_error_in_fit_and_transform() -> None:
    twice = pd.DataFrame([[1, 2], [3, 5]], columns=["a", "a"])
    preparation = TablePreparation().fit({"a": [1, 2]})
    for use in (TablePreparation().fit, preparation.transform):
        with pytest.raises(TableError, match="'a'"):
            use(twice)
    with pytest.raises(TableError, match="'1'"):
        TablePreparation().fit(pd.DataFrame([[1, 2], [3, 5]], columns=[1, "1"]))


REVIEWS = [
    f"{'A lovely' if i % 3 else 'an Awful'} wine, {'from the south' if i % 2 else 'of the north'}; bottle {i}"
    for i in range(120)
]


def test_texts_whose_words_come_again_are_words() -> None:
    table = {"review": [*REVIEWS, ""]}
    preparation = TablePreparation().fit(table)
    (column,) = preparation.map_.columns
    assert column.kind == "words"
    names = preparation.get_feature_names_out().tolist()
    assert {"review has 'lovely'", "review has 'awful'", "review has 'south'", "review (missing)"} <= set(names)
    assert "review has 'wine'" not in names  # in every text but the missing one
    X = preparation.transform(table)
    assert X[:, names.index("review has 'lovely'")].tolist() == [float(i % 3 > 0) for i in range(120)] + [0.0]
    assert X[-1].tolist() == [0.0] * (len(names) - 1) + [1.0]
    assert preparation.notes_[0].code == "words"
    for frame in (pl.DataFrame(table), pd.DataFrame(table)):
        assert preparation_from_dict(preparation_to_dict(preparation)).transform(frame).tobytes() == X.tobytes()
    assert preparation.transform({"review": ["something new"]}).sum() == 0


def test_at_most_150_words_are_features() -> None:
    words = [chr(97 + i % 26) + chr(97 + i // 26 % 26) + "x" for i in range(200)]
    rng = np.random.default_rng(0)
    table = {"t": [" ".join(rng.choice(words, 20)) for _ in range(300)]}
    assert len(TablePreparation().fit(table).get_feature_names_out()) == 150


def test_the_index_of_a_sorted_table_no_longer_makes_a_certificate() -> None:
    """By the index the classes of a sorted table are known, and those of new rows are not."""
    n = 400
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"index": np.arange(n), "noise": rng.normal(size=n).round(3)})
    y = np.repeat(["first", "second"], n // 2)
    new = pl.DataFrame({"index": np.arange(n, 2 * n), "noise": rng.normal(size=n).round(3)})

    def learned(**options: Any) -> Any:
        return ABNetClassifier((2,), max_iter=30, preprocessor=TablePreparation(**options), random_state=0).fit(
            table, y
        )

    misled = learned(use="index")
    careful = learned()
    assert promised(misled).vote_error_bound < 0.1
    with pytest.warns(InputShiftWarning, match="index"):
        assert np.mean(misled.predict(new) != y) == 0.5  # all of them are second
    assert promised(careful).vote_error_bound > 0.4


def test_thousands_with_points_no_longer_make_a_certificate_of_nonsense() -> None:
    """Prices from 100 to 9.999 in the German way: as fractions, those above 999 would be the smallest of all."""
    prices = np.random.default_rng(0).integers(100, 10_000, 400)
    y = np.where(prices > 999, "dear", "cheap")
    written = [f"{price:,}".replace(",", ".") for price in prices.tolist()]
    table = {"price": written, "n": ["1", "2"] * 200}
    with pytest.raises(TableError, match=r"decimals.*thousands"):
        TablePreparation().fit(table)
    raw = TablePreparation(decimal="comma").fit(table).map_.columns[0].raw(as_table(table))
    assert raw is not None
    assert raw.tolist() == prices.tolist()
    assert (raw > 999).tolist() == (y == "dear").tolist()
