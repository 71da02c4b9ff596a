import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from abnet import ABNetClassifier
from abnet.tables import TableError, batches, read_table
from abnet.tables.preparation import TablePreparation, UnseenWarning, preparation_from_dict, preparation_to_dict
from abnet.tables.table import as_table


def features(table: dict[str, list[Any]], **options: Any) -> dict[str, list[float]]:
    """Fit and transform, as feature name → values."""
    frame = pd.DataFrame(table)
    preparation = TablePreparation(**options).fit(frame)
    X = preparation.transform(frame)
    assert X.dtype == np.float32
    return {str(name): X[:, i].round(5).tolist() for i, name in enumerate(preparation.get_feature_names_out())}


def test_a_small_table_by_hand() -> None:
    table = {
        "age": ["20", " 40", "", "30"],
        "member": ["yes", "No", "?", "YES"],
        "city": ["Oslo", "Bergen", " Oslo ", ""],
    }
    half = 0.5**0.5
    root = 2**0.5
    assert root == pytest.approx(2 * half)
    assert features(table) == {
        "age": pytest.approx([-root, root, 0, 0], abs=1e-5),  # median 30 for the missing one; deviation sqrt(50)
        "age (missing)": [0, 0, 1, 0],
        "member": [1, -1, 0, 1],
        "member (missing)": [0, 0, 1, 0],
        "city=Bergen": [0, 1, 0, 0],
        "city=Oslo": [1, 0, 1, 0],
        "city (missing)": [0, 0, 0, 1],
    }


def messy(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(9, 2, n)),
            "height": rng.normal(170, 10, n),
            "town": rng.choice(["a", "b", "c", "d", "e", "f"], n, p=[0.4, 0.25, 0.15, 0.1, 0.07, 0.03]),
            "colour": rng.choice(["red", "blue"], n),
        }
    )


def test_it_agrees_with_scikit_learns_own_preprocessors() -> None:
    train = messy(500)
    new = messy(300, seed=1)
    numeric = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    onehot = OneHotEncoder(max_categories=4, handle_unknown="infrequent_if_exist", sparse_output=False)
    oracle = ColumnTransformer([("number", numeric, ["income", "height"]), ("text", onehot, ["town", "colour"])])
    oracle.fit(train)
    preparation = TablePreparation(max_categories=4).fit(train)
    names = preparation.get_feature_names_out().tolist()
    assert names == [
        "income",
        "income (missing)",
        "height",
        "town=a",
        "town=b",
        "town=c",
        "town (other)",
        "colour=blue",
        "colour=red",
    ]
    for frame in (train, new):
        ours = np.delete(preparation.transform(frame), 1, axis=1)
        assert np.allclose(ours, oracle.transform(frame), rtol=1e-5, atol=1e-6)
        assert np.array_equal(preparation.transform(frame)[:, 1], frame["income"].isna())


def test_text_and_typed_tables_give_the_same_features(tmp_path: Path) -> None:
    train = messy(200)
    train.to_csv(tmp_path / "t.csv", index=False)
    from_text = TablePreparation().fit(read_table(tmp_path / "t.csv"))
    typed = TablePreparation().fit(train)
    assert from_text.map_ == typed.map_
    assert np.array_equal(from_text.transform(read_table(tmp_path / "t.csv")), typed.transform(train))


ADVERSARIAL = (
    "id,n,big,code,flag,when,late\n"
    "p1,1,12345678901234567,00123,true,2024-01-01,\n"
    "p2,2,12345678901234568,10,false,2024-01-02,\n"
    "p3,3,1,7,TRUE,2024-01-01,\n"
    "p4,NA,0.1,00123,,2024-01-03,5\n"
    "p5,2.5,-1e5,10,False,,x\n"
    "p6,,7,7,true,2024-01-01,\n"
)


@pytest.mark.parametrize("rows", [1, 2, 4, 6])
def test_features_do_not_depend_on_the_chunk(tmp_path: Path, rows: int) -> None:
    (tmp_path / "t.csv").write_text(ADVERSARIAL)
    whole = read_table(tmp_path / "t.csv")
    preparation = TablePreparation(max_categories=5).fit(whole)
    assert [column.kind for column in preparation.map_.columns] == [
        "numeric",
        "numeric",
        "text",
        "boolean",
        "date",
        "text",
    ]
    parts = [preparation.transform(chunk) for chunk in batches(tmp_path / "t.csv", rows=rows)]
    assert np.array_equal(np.vstack(parts), preparation.transform(whole))


def test_parquet_chunks_with_and_without_missing_values_agree(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"n": pd.array([1, 2**53 + 1, None, 7], "Int64"), "b": [True, False, None, True]})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    whole = read_table(tmp_path / "t.parquet")
    preparation = TablePreparation().fit(whole)
    assert [column.kind for column in preparation.map_.columns] == ["numeric", "boolean"]
    parts = [preparation.transform(chunk) for chunk in batches(tmp_path / "t.parquet", rows=1)]
    assert np.array_equal(np.vstack(parts), preparation.transform(whole))
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert np.array_equal(preparation.transform(read_table(tmp_path / "t.csv")), preparation.transform(whole))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "NA"], "numeric"),
        (["1", "-2.5e3", " .5 ", "?"], "numeric"),
        (["00123", "10115", "99999"], "text"),
        (["0", "0.5", "-0.5"], "numeric"),
        (["true", "False", ""], "boolean"),
        (["Yes", "no"], "boolean"),
        (["0", "1"], "numeric"),
        (["yes", "maybe"], "text"),
        (["2024-01-31", "2024-02-01"], "date"),
        (["2024", "2025"], "numeric"),
        (["20240131", "20240201"], "numeric"),
        (["1/2/24", "2/2/24"], "date"),
        (["1", "two"], "text"),
        (["1_000", "2"], "text"),
        (["NA", "DE"], "text"),
        ([1, 2], "numeric"),
        ([1.5, None], "numeric"),
        ([True, False], "boolean"),
        ([True, None, False], "boolean"),
        (pd.array([True, None], "boolean"), "boolean"),
        (pd.Categorical(["u", "v"]), "text"),
        (pd.to_datetime(["2024-01-31", "2024-02-01"]), "date"),
    ],
)
def test_kinds_of_columns(values: Any, kind: str) -> None:
    preparation = TablePreparation().fit(pd.DataFrame({"c": values}))
    assert [column.kind for column in preparation.map_.columns] == [kind]


def test_na_is_a_category_of_text_and_missing_among_numbers() -> None:
    assert features({"country": ["NA", "DE", ""]}) == {
        "country=DE": [0, 1, 0],
        "country=NA": [1, 0, 0],
        "country (missing)": [0, 0, 1],
    }
    assert list(features({"n": ["NA", "1", "2"]})) == ["n", "n (missing)"]


def test_useless_columns_are_left_out_and_listed() -> None:
    table = pd.DataFrame(
        {
            "x": [str(i * i) for i in range(30)],
            "same": "7",
            "words": "hello",
            "on": "yes",
            "empty": "",
            "id": [f"person {i}" for i in range(30)],
        }
    )
    preparation = TablePreparation().fit(table)
    assert preparation.get_feature_names_out().tolist() == ["x"]
    assert [(note.columns[0], note.code, note.facts.get("value")) for note in preparation.notes_] == [
        ("same", "constant", "7"),
        ("words", "constant", "hello"),
        ("on", "constant", "yes"),
        ("empty", "empty", None),
        ("id", "identifier", None),
    ]
    assert preparation.transform(table[["x"]]).shape == (30, 1)
    assert preparation.map_.extra_columns(as_table(table.assign(new=1))) == ["new"]


def test_a_constant_with_missing_cells_says_where_they_are() -> None:
    assert features({"n": ["7", "", "7"]}) == {"n (missing)": [0, 1, 0]}
    assert features({"w": ["hi", "", "hi"]}) == {"w=hi": [1, 0, 1], "w (missing)": [0, 1, 0]}
    assert features({"b": ["yes", "", "yes"]}) == {"b": [1, 0, 1], "b (missing)": [0, 1, 0]}


def test_a_few_odd_cells_in_a_numeric_column_are_missing_with_a_note() -> None:
    table = pd.DataFrame({"age": [str(i % 12) for i in range(99)] + ["many"]})
    preparation = TablePreparation().fit(table)
    (note,) = preparation.notes_
    assert "'age'" in str(note)
    assert "'many'" in str(note)
    assert preparation.get_feature_names_out().tolist() == ["age", "age (missing)"]
    with pytest.warns(UnseenWarning, match="'many'"):
        features = preparation.transform(table)
    assert features[:, 1].tolist() == [0] * 99 + [1]


@pytest.mark.parametrize("odd", ["inf", "-Infinity", "1e400", "many", np.inf, 1e200])
def test_what_is_no_number_of_reasonable_size_is_missing_in_a_fit_and_later(odd: Any) -> None:
    numbers: list[Any] = [float(i % 9) for i in range(20)]
    if isinstance(odd, str):
        numbers = [str(i % 9) for i in range(20)]
    good = pd.DataFrame({"x": numbers})
    gap = pd.DataFrame({"x": numbers})
    gap.loc[1, "x"] = None
    wrong = good.copy()
    wrong.loc[1, "x"] = odd
    fitted = TablePreparation().fit(wrong)
    assert fitted.map_.columns == TablePreparation().fit(gap).map_.columns
    for preparation in (fitted, TablePreparation().fit(good)):
        with pytest.warns(UnseenWarning, match="1 cell"):
            found = preparation.transform(wrong)
        assert np.array_equal(found, preparation.transform(gap))
        with pytest.raises(TableError, match="column 'x', data row 2"):
            preparation.map_.transform(wrong, unseen="error")


@pytest.mark.parametrize("share", [0.03, 0.09, 0.12])
def test_a_column_is_numeric_up_to_one_odd_cell_in_ten(share: float) -> None:
    odd = int(share * 1000)
    heights = [f"{150 + i * 7 % 50}.{i % 10}" for i in range(1000 - odd)] + [f"5'{i % 12}\"" for i in range(odd)]
    kind = TablePreparation().fit({"height": heights, "x": range(1000)}).map_.columns[0].kind
    assert (kind == "numeric") == (share <= 0.1)


def test_few_values_with_an_odd_one_that_comes_again_are_categories() -> None:
    counts = ["0"] * 60 + ["1"] * 20 + ["2"] * 12
    kinds = [TablePreparation().fit({"c": counts + ["3+"] * n}).map_.columns[0].kind for n in (1, 8)]
    assert kinds == ["numeric", "text"]


def test_kinds_by_hand() -> None:
    table = {
        "times": ["9:12", "10:30", "9.12", "11:05"] * 5,
        "year": ["1999", "2001"] * 10,
        "day": ["2020-01-01", "soon"] * 10,
        "code": ["1", "A", "B", "C"] * 5,
    }
    asked = TablePreparation(numeric=["code", "times"], categorical="year", dates="day").fit(table)
    assert [column.kind for column in asked.map_.columns] == ["numeric", "text", "date", "numeric"]
    usual = [column.kind for column in TablePreparation().fit(table).map_.columns]
    assert usual == ["text", "numeric", "text", "text"]
    with pytest.raises(TableError, match=r"'code'.*dates='code'"):
        TablePreparation(dates="code").fit(table)
    with pytest.raises(TableError, match=r"'letters'.*numeric='letters'"):
        TablePreparation(numeric="letters").fit({"letters": ["a", "b"]})
    with pytest.raises(ValueError, match=r"'year'.*numeric.*dates"):
        TablePreparation(numeric="year", dates=["year"]).fit(table)
    with pytest.raises(TableError, match=r"categorical.*'age'"):
        TablePreparation(categorical="age").fit(table)


def test_extreme_numbers_make_finite_features() -> None:
    train = pd.DataFrame({"tiny": [0, 1e-300, 2e-300], "huge": [-1e149, 0, 1e149], "flat": [1, 1, 1 + 2e-16]})
    new = pd.DataFrame({"tiny": [1e149], "huge": [1.0], "flat": [-1e149]})
    preparation = TablePreparation().fit(train)
    assert np.isfinite(preparation.transform(train)).all()
    assert np.isfinite(preparation.transform(new)).all()


def test_missing_values_first_met_in_prediction_are_the_median() -> None:
    preparation = TablePreparation().fit(pd.DataFrame({"n": ["1", "2", "9"], "t": ["a", "b", "a"]}))
    row = preparation.transform(pd.DataFrame({"n": [""], "t": [""]}))[0]
    assert row.tolist() == pytest.approx([(2 - 4) / np.std([1, 2, 9]), 0, 0])


def test_an_unseen_category_is_zero_everywhere_with_a_warning() -> None:
    preparation = TablePreparation().fit(pd.DataFrame({"t": ["a", "b"], "f": ["yes", "no"]}))
    new = pd.DataFrame({"t": ["c", "a", "c"], "f": ["yes", "perhaps", "no"]})
    with pytest.warns(UnseenWarning) as caught:
        X = preparation.transform(new)
    assert X.tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, -1]]
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 2
    assert all(fact in texts[0] for fact in ("'t'", "'c' (2 rows)"))
    assert all(fact in texts[1] for fact in ("'f'", "1 cell ", "'perhaps'"))
    features_, reports, _ = preparation.map_.read(new)
    assert np.array_equal(features_, X)
    assert [(report.column, report.rows) for report in reports] == [("t", {"c": 2}), ("f", {"perhaps": 1})]


def test_rare_categories_share_a_feature_and_only_new_ones_are_reported() -> None:
    values = ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"] * 2 + ["e"]
    preparation = TablePreparation(max_categories=3).fit(pd.DataFrame({"t": values}))
    assert preparation.get_feature_names_out().tolist() == ["t=a", "t=b", "t (other)"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert preparation.transform(pd.DataFrame({"t": ["b", "e", "c"]})).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    with pytest.warns(UnseenWarning, match="'z'"):
        assert preparation.transform(pd.DataFrame({"t": ["z"]})).tolist() == [[0, 0, 1]]


def test_categories_have_features_if_they_have_rows_and_a_note_says_how_many_were_merged() -> None:
    """Of 200 cities 160 have three rows or more: they have a feature of their own, and forty share one."""
    rows_of_each = [30] * 20 + [3] * 140 + [2] * 40
    values = [f"c{i:03}" for i, n_rows in enumerate(rows_of_each) for _ in range(n_rows)]
    preparation = TablePreparation().fit(pd.DataFrame({"city": values}))
    assert len(preparation.get_feature_names_out()) == 161
    (note,) = preparation.notes_
    assert (note.code, note.columns, note.rows) == ("merged categories", ("city",), 80)
    assert (note.facts["merged"], note.facts["values"]) == (40, 200)
    few = TablePreparation(max_categories=20).fit(pd.DataFrame({"city": values}))
    assert (len(few.get_feature_names_out()), few.notes_[0].facts["merged"]) == (20, 181)
    all_common = TablePreparation().fit(pd.DataFrame({"city": values[: 600 + 3 * 140]}))
    assert (len(all_common.get_feature_names_out()), all_common.notes_) == (160, ())
    one_rare = TablePreparation().fit(pd.DataFrame({"city": values[: 600 + 3 * 140 + 1]}))
    assert (len(one_rare.get_feature_names_out()), one_rare.notes_) == (161, ())


def test_twenty_categories_have_features_however_rare_they_are() -> None:
    values = ["a"] * 50 + list("bcdefghijklmnopqrst")
    preparation = TablePreparation().fit(pd.DataFrame({"t": values}))
    assert (len(preparation.get_feature_names_out()), preparation.notes_) == (20, ())


def test_names_by_the_thousand_are_not_stored() -> None:
    values = [f"name {i}" for i in range(3000)] * 2
    preparation = TablePreparation().fit(pd.DataFrame({"t": values}))
    assert len(json.dumps(preparation_to_dict(preparation))) < 2000
    assert preparation.transform(pd.DataFrame({"t": ["someone"]})).sum() == 1


def test_a_missing_column_is_named_and_further_ones_and_order_do_not_matter() -> None:
    train = messy(50)
    preparation = TablePreparation().fit(train)
    shuffled = train[["colour", "town", "height", "income"]].assign(extra="x")
    assert np.array_equal(preparation.transform(shuffled), preparation.transform(train))
    with pytest.raises(TableError, match="'height', 'town'"):
        preparation.transform(train[["income", "colour"]])


def test_an_odd_cell_in_any_row_changes_nothing_about_the_others() -> None:
    """Whether it falls into the first part or among the bound rows, the fit goes on, and rows are answered."""
    n = 60
    for place in range(0, n, 7):
        x = [str(i % 11) for i in range(n)]
        x[place] = "rotary"
        frame = pl.DataFrame({"x": x})
        clf = ABNetClassifier((2,), preprocessor=TablePreparation(), max_iter=2, random_state=0)
        with pytest.warns(UnseenWarning, match="'rotary'"):
            clf.fit(frame, np.arange(n) % 2)
        assert clf.certificate_ is not None
        assert clf.certificate_.facts.n_rows == len(clf.bound_rows_)
        with pytest.warns(UnseenWarning, match="'rotary'"):
            assert len(clf.predict(frame)) == n


def test_arrays_polars_frames_and_numbered_columns_are_tables_too() -> None:
    array = np.array([[1.0, 5.0], [2.0, 3.0], [4.0, np.nan]])
    fitted = TablePreparation().fit(array)
    assert fitted.get_feature_names_out().tolist() == ["x0", "x1", "x1 (missing)"]
    numbered = TablePreparation().fit(pd.DataFrame(array))
    assert np.array_equal(numbered.transform(pd.DataFrame(array)), fitted.transform(array))
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, None, 3], "t": ["u", "v", None]})
    assert np.array_equal(
        TablePreparation().fit_transform(frame),
        TablePreparation().fit_transform(pd.DataFrame({"a": [1, None, 3], "t": ["u", "v", None]})),
    )
    with pytest.raises(ValueError, match=r"\("):
        TablePreparation().fit(np.zeros(3))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"a": []}), "0 by 1"),
        (pd.DataFrame(index=[0, 1]), "2 by 0"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "'a'"),
        (
            pd.DataFrame({"a": ["1", "1"], "b": ["", ""]}),
            r"\b2 rows .*'a'.*'b'",
        ),
        (pd.DataFrame({"a": [[1], [2]]}), "'a'.*list"),
    ],
)
def test_tables_of_no_use_are_refused(table: pd.DataFrame, message: str) -> None:
    with pytest.raises(TableError, match=message):
        TablePreparation().fit(table)


@pytest.mark.parametrize("value", [1, 0, 2.0, "20", True])
def test_max_categories_is_checked(value: Any) -> None:
    with pytest.raises(ValueError, match="max_categories"):
        TablePreparation(max_categories=value).fit(pd.DataFrame({"a": [1, 2]}))


def test_it_is_a_scikit_learn_transformer() -> None:
    train = messy(100)
    y = np.arange(100) % 2
    preparation = TablePreparation(max_categories=3)
    assert clone(preparation).get_params()["max_categories"] == 3
    model = make_pipeline(preparation, LogisticRegression()).fit(train, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.predict(train), again.predict(train))
    assert preparation.n_features_in_ == 4
    assert preparation.feature_names_in_.tolist() == list(train)
    frame = clone(preparation).set_output(transform="pandas").fit_transform(train)
    assert list(frame) == preparation.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="fitted"):
        TablePreparation().transform(train)


def test_the_stored_form_gives_the_same_bits() -> None:
    train = messy(300)
    new = messy(200, seed=1)
    preparation = TablePreparation(max_categories=4).fit(train)
    text = json.dumps(preparation_to_dict(preparation), allow_nan=False)
    back = preparation_from_dict(json.loads(text))
    assert back == preparation.map_
    assert json.dumps(preparation_to_dict(back)) == text
    assert preparation.transform(new).tobytes() == back.transform(new).tobytes()


def test_many_columns_agree_with_a_scaler() -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.integers(0, 3, (50, 500))).astype(str).add_prefix("c")
    X = TablePreparation().fit_transform(wide)
    expected = StandardScaler().fit_transform(wide.to_numpy(float))
    assert np.allclose(X, expected[:, expected.std(0) > 0], atol=1e-5)


@pytest.mark.parametrize("n", [50, 12_345])
def test_every_row_goes_to_its_place(n: int, rng: np.random.Generator) -> None:
    table = pl.DataFrame(
        {
            "x": [None if i % 9 == 0 else f"{i * 0.37:.2f}" for i in range(n)],
            "day": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype(str),
            "colour": rng.choice(["red", "blue", "green"], n),
            "sold": rng.choice(["yes", "no", ""], n),
            "note": [f"{a} {b} {i}" for i, (a, b) in enumerate(rng.choice(["good", "bad", "fair"], (n, 2)))],
        }
    )
    map_ = TablePreparation().fit(table).map_
    in_order = map_.transform(table)
    places = rng.permutation(n)
    np.testing.assert_array_equal(map_.transform(table, places=places)[places], in_order)
    each = [column.encode(map_._table(table))[0] for column in map_.columns]
    np.testing.assert_array_equal(np.hstack(each), in_order)
