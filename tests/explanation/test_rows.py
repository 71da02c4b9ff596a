"""Rows explained in the user's own cells: every kind of column, missing and unseen values, hostile names, plans."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import abnet
from abnet import ABNetClassifier
from abnet.certificates.decision import Decision
from abnet.explanation import ExplanationPlan, explain, without_background
from abnet.explanation.background import column_layout
from abnet.explanation.background_rows import background_rows
from abnet.model import Card, Model
from abnet.tables.preparation.coded import CodedMap
from abnet.utils.wording import printable
from explanation.test_shapley import compact, public_outputs
from export.models import HOSTILE, columns, preparations, with_dates
from export.models import model as exported
from export.models import table as plain_table

NAMES = ["age", "income", "member", "city", "colour", "born", "remark", "diary"]
UNSEEN = "ignore:.*not seen in training"


def table(n: int, names: list[str], *, seed: int = 1) -> pl.DataFrame:
    return with_dates(plain_table(n, names, seed=seed), names[5])


def tabular(kind: str, names: list[str], *, coded: bool = True) -> Model:
    """A model of a table with a column of every kind, codes beside the numbers."""
    base: Any = columns(tuple(names), hashed=True)
    if coded:
        some = base.read(table(60, names))[0]
        base = CodedMap.of(base, some)
    return exported(kind, base.n_features_out, preparation=base)


@pytest.mark.parametrize("kind", ["compact", "mixture", "classes", "drawn"])
@pytest.mark.filterwarnings(UNSEEN)
def test_every_kind_of_column_adds_up_to_the_probability(kind: str) -> None:
    """Missing values and unseen categories included."""
    model = tabular(kind, NAMES)
    rows = table(8, NAMES, seed=3)
    explanation = explain(model, rows, background=table(12, NAMES, seed=4), seed=1)
    assert explanation.columns == tuple(NAMES)
    values = public_outputs(model, rows)
    labels = model.predict(rows).tolist()
    for row, value, label in zip(explanation, values, labels, strict=True):
        np.testing.assert_allclose(row.base + row.contributions.sum(axis=0), value, rtol=0, atol=1e-10)
        np.testing.assert_allclose(row.values, value, rtol=0, atol=1e-12)
        assert row.label == label
        assert row.exact  # eight columns
    written = [row.cells for row in explanation]
    assert [cells[3] for cells in written] == [(city or "").strip() for city in rows["city"].to_list()]
    assert [cells[0] for cells in written] == ["" if a is None else f"{a:g}" for a in rows["age"].to_list()]


@pytest.mark.filterwarnings(UNSEEN)
def test_all_features_and_codes_of_a_column_move_together() -> None:
    """A row that differs from the background in one column's cell: that column has all of the difference."""
    model = tabular("mixture", NAMES)
    usual = table(1, NAMES, seed=5).with_columns(pl.lit(20.0).alias("age"), pl.lit("Oslo").alias("city"))
    row = usual.with_columns(pl.lit(90.0).alias("age"))
    explanation = explain(model, row, background=usual)[0]
    moved = public_outputs(model, row)[0, 0] - public_outputs(model, usual)[0, 0]
    assert explanation.contributions[0, 0] == pytest.approx(moved, abs=1e-13)
    assert abs(moved) > 1e-3
    assert not explanation.contributions[1:].any()


@pytest.mark.filterwarnings(UNSEEN)
def test_a_category_that_was_never_seen_is_a_cell_like_any_other() -> None:
    model = tabular("mixture", NAMES)
    rows = table(1, NAMES, seed=5).with_columns(pl.lit("Atlantis").alias("city"))
    row = explain(model, rows, background=table(10, NAMES, seed=6))[0]
    assert row.cells[3] == "Atlantis"
    assert "Atlantis" in row.describe()
    assert row.base[0] + row.contributions.sum() == pytest.approx(public_outputs(model, rows)[0, 0], abs=1e-10)


@pytest.mark.parametrize("name", ["none", "standard", "minmax", "clipped", "thermometer", "coded"])
@pytest.mark.parametrize("sampled", [False, True])
def test_arrays_are_explained_column_by_column(name: str, sampled: bool, rng: np.random.Generator) -> None:
    n = 5
    if sampled:
        n = 12
    preparation = preparations(n)[name]
    inputs = n
    if preparation is not None:
        inputs = preparation.n_features_out
    model = exported("mixture", inputs, preparation=preparation)
    X = rng.normal(size=(6, n))
    explanation = explain(model, X, background=rng.normal(size=(9, n)))
    used = [f"x{i}" for i in range(n) if name != "thermometer" or preparation.thresholds[i]]
    assert list(explanation.columns) == used
    sums = np.array([row.base[0] for row in explanation]) + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(sums, public_outputs(model, X)[:, 0], rtol=0, atol=1e-10)
    assert explanation[0].exact == (not sampled or name == "thermometer")
    assert [float(cell) for cell in explanation[2].cells] == [X[2, int(column[1:])] for column in used]


def test_the_columns_of_a_foreign_transformer_are_its_features(rng: np.random.Generator) -> None:
    X = rng.normal(size=(30, 4))
    model = exported("compact", 2, preparation=PCA(2).fit(X))
    explanation = explain(model, X[:2], background=X)
    assert explanation.columns == ("pca0", "pca1")
    assert not explanation.plan.columns.original
    assert explanation[0].base[0] + explanation[0].contributions.sum() == pytest.approx(
        public_outputs(model, X[:1])[0, 0], abs=1e-10
    )


# Names


def hostile() -> list[str]:
    return [*HOSTILE, "remark", "diary"]


@pytest.mark.filterwarnings(UNSEEN)
def test_hostile_names_and_cells_stay_inert_in_text_csv_and_json() -> None:
    names = hostile()
    model = tabular("classes", names)
    rows = table(2, names, seed=3).with_columns(pl.lit("\x1b[2J\n=cmd|' /C calc'!A0").alias(names[6]))
    explanation = explain(model, rows, background=table(5, names, seed=4))
    text = explanation.describe(most=20)
    assert all(character == "\n" or character.isprintable() for character in text)
    assert max(map(len, text.splitlines())) < 200
    assert '"; rm -rf / #' in text
    assert "n" * 39 + "…" in text
    records = list(csv.reader(io.StringIO(explanation.to_csv())))
    assert records[0] == ["row", "prediction", "class", "column", "cell", "contribution", "standard_error"]
    assert {len(record) for record in records} == {7}
    assert {record[3] for record in records[1:]} == {*names, "(average)"}
    assert len(records) == 1 + 2 * 5 * (1 + len(names))
    again = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert again["columns"] == names
    np.testing.assert_array_equal(again["rows"][1]["contributions"], explanation.contributions[1])


def test_columns_of_the_same_name_stay_apart(rng: np.random.Generator) -> None:
    """An array's names may repeat; a table with such names is refused when it is read."""
    model = exported("compact", 3, feature_names=("a", "a", "a"))
    explanation = explain(model, rng.normal(size=(1, 3)), background=rng.normal(size=(4, 3)))
    assert explanation.columns == ("a", "a", "a")
    assert len(set(explanation.contributions[0].tolist())) == 3


def test_text_is_shown_without_what_is_no_letter() -> None:
    assert printable("a\u202eb\x00") == "a\\u202eb\\x00"
    assert printable("ü" * 41) == "ü" * 39 + "…"


# Plans and backgrounds


def test_a_plan_comes_back_from_json_and_gives_the_same_numbers(rng: np.random.Generator) -> None:
    model = exported("mixture", 12)
    X = rng.normal(size=(2, 12))
    Z = rng.normal(size=(5, 12))
    plan = ExplanationPlan.of(model, Z, seed=7, pairs=3)
    again = ExplanationPlan.from_dict(json.loads(json.dumps(plan.to_dict(), allow_nan=False)))
    assert again.to_dict() == plan.to_dict()
    np.testing.assert_array_equal(again.background, Z.astype(np.float32))
    first = explain(model, X, plan=plan)
    second = explain(model, X, plan=again)
    np.testing.assert_array_equal(first.contributions, second.contributions)
    assert not first[0].exact
    other = explain(model, X, background=Z, seed=8)
    assert not np.array_equal(first.contributions, other.contributions)


DAMAGE: dict[str, Any] = {
    "version": 2, "columns": ["a"], "owners": [0, 1, 9], "codes": [0], "background": [[1.0]], "exact_columns": 17,
    "permutations": [[[0, 1, 1]] * 2] * 2, "seed": -1, "original": 1,
}  # fmt: skip


@pytest.mark.parametrize("key", DAMAGE)
def test_a_damaged_plan_is_refused(key: str) -> None:
    plan = ExplanationPlan.of(exported("compact", 3), np.eye(3)[:2])
    with pytest.raises(ValueError, match="plan"):
        ExplanationPlan.from_dict({**plan.to_dict(), key: DAMAGE[key]})


def test_a_plan_for_another_model_is_refused() -> None:
    plan = ExplanationPlan.of(exported("compact", 3), np.eye(3))
    with pytest.raises(ValueError, match="columns"):
        explain(exported("compact", 4), np.zeros((1, 4)), plan=plan)


def test_the_orders_are_permutations_drawn_anew_for_every_background_row() -> None:
    plan = ExplanationPlan.of(exported("compact", 11), np.random.default_rng(0).normal(size=(6, 11)), pairs=4)
    assert (np.sort(plan.permutations, axis=2) == np.arange(11)).all()
    assert len({tuple(order) for row in plan.permutations.tolist() for order in row}) == 24


def test_without_a_background_the_error_says_what_to_give() -> None:
    with pytest.raises(ValueError, match="background"):
        explain(exported("compact", 3), np.zeros((1, 3)))


@pytest.mark.parametrize("rows", [((1.0,),), ((),), ((1.0,) * 3, (1.0,) * 2), ((1e300,) * 3,)])
def test_stored_rows_that_do_not_fit_are_refused(rows: Any) -> None:
    with pytest.raises(ValueError, match="background"):
        explain(exported("compact", 3, card=Card(background=rows)), np.zeros((1, 3)))


def test_stored_rows_are_some_of_those_given_bit_for_bit(rng: np.random.Generator) -> None:
    X = rng.normal(size=(200, 6)).astype(np.float32)
    kept = np.array(background_rows(X), np.float32)
    assert kept.shape == (25, 6)
    assert {row.tobytes() for row in kept} <= {row.tobytes() for row in X}
    assert len(background_rows(rng.normal(size=(50, 1000)))) == 8
    assert background_rows(rng.normal(size=(50, 3000))) == ()
    assert background_rows(X[:0]) == ()


# Classifiers and files


@pytest.fixture(scope="module")
def fitted() -> tuple[ABNetClassifier, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(loc=[100.0, -3.0, 0.0], scale=[20.0, 1.0, 5.0], size=(160, 3))
    y = np.where(X[:, 0] + 10 * X[:, 1] > 70, "high", "low")
    clf = ABNetClassifier((3,), preprocessor=StandardScaler(), max_iter=5, random_state=0).fit(X, y)
    return clf, X, y


def test_a_classifier_explains_with_rows_of_its_first_part(fitted: Any) -> None:
    clf, X, _ = fitted
    explanation = clf.explain(X[:4])
    kept = explanation.plan.background
    first = StandardScaler().fit(X[clf.other_rows_]).transform(X[clf.other_rows_]).astype(np.float32)
    assert len(kept) == 25
    assert all(np.isclose(first, row, atol=1e-5).all(axis=1).any() for row in kept)
    sums = explanation[0].base[0] + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(sums, clf.predict_proba(X[:4])[:, 1], rtol=0, atol=1e-10)
    assert [row.label for row in explanation] == clf.predict(X[:4]).tolist()
    assert [float(cell) for cell in explanation[0].cells] == X[0].tolist()


def test_a_loaded_model_explains_alike_and_alone(fitted: Any, tmp_path: Path) -> None:
    clf, X, _ = fitted
    clf.save(tmp_path / "model.abnet")
    loaded = abnet.explain(abnet.load(tmp_path / "model.abnet"), X[:3])
    np.testing.assert_array_equal(loaded.contributions, clf.explain(X[:3]).contributions)
    clf.save(tmp_path / "bare.abnet", background=False)
    bare = abnet.load(tmp_path / "bare.abnet")
    assert bare.card.background == ()
    with pytest.raises(ValueError, match="background"):
        abnet.explain(bare, X[:1])
    np.testing.assert_allclose(
        abnet.explain(bare, X[:3], plan=loaded.plan).contributions, loaded.contributions, atol=1e-15
    )


@pytest.mark.parametrize("kind", ["compact", "classes"])
def test_explaining_a_loaded_model_imports_neither_jax_nor_scikit_learn(kind: str, tmp_path: Path) -> None:
    base: Any = preparations(5)["coded"]
    model = exported(kind, base.n_features_out, preparation=base)
    from abnet.model.file import save

    save(replace(model, card=Card(background=background_rows(np.eye(5)))), tmp_path / "m.abnet")
    script = (
        "import sys, numpy, abnet\n"
        f"model = abnet.load({str(tmp_path / 'm.abnet')!r})\n"
        "X = numpy.ones((2, 5))\n"
        "abnet.explain(model, X)[0].describe()\n"
        "abnet.explanation.explain_model(model, X, model.predict(X)).describe()\n"
        "print([name for name in ('jax', 'sklearn', 'optax', 'matplotlib', 'pandas') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rows_that_are_refused_in_prediction_are_refused_here() -> None:
    model = exported("compact", 3)
    with pytest.raises(ValueError, match="NaN"):
        explain(model, [[np.nan, 0.0, 0.0]], background=np.eye(3))
    with pytest.raises(ValueError, match="finite"):
        explain(model, np.eye(3), background=[[np.inf, 0.0, 0.0]])
    with pytest.raises(TypeError, match="dict"):
        explain({}, np.eye(3))  # type: ignore[arg-type]


def test_no_rows_make_no_explanation() -> None:
    explanation = explain(exported("compact", 3), np.empty((0, 3)), background=np.eye(3))
    assert len(explanation) == 0
    assert explanation.contributions.shape == (0, 3)


def test_taking_the_rows_out_leaves_everything_else() -> None:
    model = exported("mixture", 3, card=Card(background=((0.0, 0.0, 0.0),), seed=1))
    assert without_background(model).card == Card(seed=1)


def test_several_classes_have_a_column_each(rng: np.random.Generator) -> None:
    model, _ = compact("classes", rng)
    explanation = explain(model, rng.normal(size=(2, 5)), background=rng.normal(size=(4, 5)))
    assert explanation.contributions.shape == (2, 5, 3)
    # Shares add up to one in every state, so that what one class gains others lose.
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), 0, atol=1e-14)
    row = explanation[0]
    assert row.output == row.code
    assert f"P({row.classes[row.code]})" in row.describe()


def test_texts_are_about_the_probability_of_the_class_that_is_predicted(rng: np.random.Generator) -> None:
    """Of two classes too: the arrays hold the second class, and the first one is predicted about as often."""
    model, _ = compact("mixture", rng)
    X = rng.normal(size=(12, 5))
    explanation = explain(model, X, background=rng.normal(size=(4, 5)))
    assert {row.code for row in explanation} == {0, 1}
    for row, probabilities in zip(explanation, model.predict_proba(X), strict=True):
        waterfall = row.waterfall
        assert waterfall.value == pytest.approx(probabilities[row.code], abs=1e-12)
        assert waterfall.value == pytest.approx(waterfall.base + waterfall.contributions.sum(), abs=1e-12)
        assert waterfall.value >= 0.5
        assert waterfall.quantity == f"P({row.classes[row.code]})"
        assert row.describe().count(waterfall.quantity) == 1


def test_a_row_is_explained_as_the_decision_rule_answers_it(rng: np.random.Generator) -> None:
    plain, _ = compact("one", rng)
    X = rng.normal(size=(12, 5))
    background = rng.normal(size=(4, 5))
    for decision in (
        Decision(kind="cut", threshold=0.6, positive=1),
        Decision(kind="abstain", threshold=float(np.median(np.abs(plain.scores(X))))),
    ):
        model = replace(plain, decision=decision)
        explanation = explain(model, X, background=background)
        labels = model.predict(X).tolist()
        assert [row.label for row in explanation] == labels
        assert labels != plain.predict(X).tolist()
        for row in explanation:
            assert ("no answer" in row.describe()) == (row.label is None)
            assert row.waterfall.value == pytest.approx(model.predict_proba(X)[row.number - 1, row.code], abs=1e-12)


@pytest.mark.parametrize("kind", ["one", "classes"])
def test_shap_takes_the_same_numbers(kind: str, rng: np.random.Generator) -> None:
    shap = pytest.importorskip("shap")
    model, _ = compact(kind, rng)
    X = rng.normal(size=(3, 5))
    explanation = explain(model, X, background=rng.normal(size=(4, 5)))
    made = explanation.to_shap()
    assert isinstance(made, shap.Explanation)
    np.testing.assert_array_equal(made.values, explanation.contributions)
    np.testing.assert_allclose(
        made.base_values + made.values.sum(axis=1),
        public_outputs(model, X)[:, 0] if kind == "one" else public_outputs(model, X),
    )
    assert made.feature_names == list(explanation.columns)
    np.testing.assert_allclose(made.data.astype(float), X)


def test_without_shap_the_error_says_what_to_install(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="pip install shap"):
        explain(exported("compact", 3), np.eye(3), background=np.eye(3)).to_shap()


class Reader(HTMLParser):
    """Texts and element names of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.filterwarnings(UNSEEN)
def test_notebooks_show_the_numbers_and_hostile_names_as_text() -> None:
    names = hostile()
    model = tabular("mixture", names)
    rows = table(7, names, seed=3)
    explanation = explain(model, rows, background=table(5, names, seed=4))
    row = Reader(explanation[0]._repr_html_())
    assert row.tags == {"div", "p", "b", "table", "tr", "td", "svg", "rect"}
    for j in explanation[0].ranked():
        assert f"{100 * explanation[0].waterfall.contributions[j]:+.1f}%" in row.text
    assert f"{100 * model.predict_proba(rows)[0].max():.1f}%" in row.text
    assert "2 more rows" in Reader(explanation._repr_html_()).text
    whole = abnet.explanation.explain_model(model, rows, background=rows)
    importance_page = Reader(whole._repr_html_())
    assert f"{100 * whole.ranked()[0].contribution:.1f}%" in importance_page.text
    assert importance_page.tags <= row.tags


def test_the_layout_covers_every_input() -> None:
    model = tabular("compact", NAMES)
    layout = column_layout(model)
    assert len(layout.input_owners) == model.n_inputs
    assert set(layout.input_owners.tolist()) == set(range(len(NAMES)))
