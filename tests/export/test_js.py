"""Predictors in JavaScript, run by Node: the labels of Python, and its probabilities within 1e-5."""

import json
import shutil
import subprocess
import unicodedata
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import erf

from abnet.explanation import ExplanationPlan, explain
from abnet.export.js_model import js_library, js_program, js_record, script_json
from abnet.model.model import Model
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words
from abnet.tables.columns import HashedColumn, NumericColumn
from abnet.tables.labels import Labels
from abnet.tables.number_forms import NumberForm
from abnet.tables.preparation import TableMap
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.table import as_table
from abnet.tables.unseen import UnseenWarning
from export import models

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
VECTORS = Path(__file__).parents[2] / "docs" / "model-format-vectors.json"


def run_node(tmp_path: Path, code: str) -> Any:
    """The JSON that a program of Node prints."""
    path = tmp_path / "program.js"
    path.write_text(code, encoding="utf-8")
    assert NODE is not None
    done = subprocess.run([NODE, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def predicted(tmp_path: Path, model: Model, rows: list[list[Any]]) -> list[Any]:
    """Answers to rows; the text of the error where one is refused."""
    code = (
        f"{js_program(model)}\nconst rows = {json.dumps(rows)};\n"
        "const answer = (row) => { try { return abnet_model.predict(row); } catch (e) { return e.message; } };\n"
        "console.log(JSON.stringify(rows.map(answer)));"
    )
    found = run_node(tmp_path, code)
    assert isinstance(found, list)
    return found


def cells(frame: pl.DataFrame) -> list[list[Any]]:
    """Rows as the page gives them: null where a cell is missing."""
    return [list(row) for row in frame.rows()]


def path_models() -> dict[str, Model]:
    rng = np.random.default_rng(2)

    def network(*sizes: int) -> BAM:
        net = BAM.init(rng, sizes)
        return BAM(tuple(4 * W for W in net.weights), tuple(rng.normal(size=b.shape) for b in net.biases))

    def words(length: int) -> Any:
        if length == 3:
            return models.BOOK
        return code_words(5, length)

    vowels = Labels(np.array(["a", "e", "i", "o", "u"]))
    several = [network(4, 20, 15, 5) for _ in range(2)]
    own = [network(4, 20, 3) for _ in range(2)]
    return {
        "paths": Model(Paths.from_networks([network(4, 30, 20, 1)], rng, n_paths=15)),
        "mixture of paths": Model(Paths.from_networks([network(4, 25, 1) for _ in range(3)], rng, n_paths=30)),
        "several classes": Model(Paths.from_networks(several, rng, n_paths=20, words=words(5)), vowels),
        "a code book of its own": Model(Paths.from_networks(own, rng, n_paths=10, words=words(3)), vowels),
        "drawn, several classes": Model(Layers.from_network(network(4, 20, 5), words(5)), vowels),
        "pbgnet": Model(PBGNetPredictor.from_networks([network(4, 5, 3, 1)])),
        "moments": Model(MomentsPredictor.from_networks([network(4, 30, 20, 1), network(4, 30, 20, 1)], e=0.5)),
        "moments, several classes": Model(MomentsPredictor.from_networks(several, words(5)), vowels),
    }


@needs_node
def test_texts_of_all_scripts_are_hashed_as_python_hashes_them(tmp_path: Path) -> None:
    """But for characters that this Python does not know yet, and Node may."""
    given = (*models.STORIES, *models.strange_texts())
    texts = [text for text in given if not any(unicodedata.category(c) == "Cn" for c in text)]
    column = HashedColumn("x", 61, True)
    table = TableMap((column,))
    code = (
        f"{js_program(models.model('drawn', table.n_features_out, preparation=table))}\n"
        f"console.log(JSON.stringify({json.dumps(texts)}.map((text) => Array.from(abnet_model.features([text])))));"
    )
    expected = column.encode(as_table({"x": texts}))[0]
    np.testing.assert_array_equal(run_node(tmp_path, code), expected)
    assert expected.any(axis=0).all()


@needs_node
def test_whole_numbers_beyond_a_float_keep_their_differences(tmp_path: Path) -> None:
    offset = 2**60
    table = TableMap((NumericColumn("id", 3.0, 3.0, 2.0, False, NumberForm(offset=offset)),))
    texts = [str(offset + k) for k in range(-6, 12)]
    frame = pl.DataFrame({"id": texts})
    model = models.lively(table, frame)
    found = predicted(tmp_path, model, [[text] for text in texts])
    assert [answer["label"] for answer in found] == [str(label) for label in model.predict(frame).tolist()]


@needs_node
def test_the_golden_vectors(tmp_path: Path) -> None:
    """The arrays' models of docs/model-format.md: features, scores and labels as the page has them."""
    vectors = json.loads(VECTORS.read_text("utf-8"))["models"]
    from export.vectors import golden_models

    checked = 0
    for name, (model, X) in golden_models().items():
        if isinstance(X, pl.DataFrame):
            continue
        found = predicted(tmp_path, model, vectors[name]["rows"])
        np.testing.assert_allclose(
            np.squeeze([answer["scores"] for answer in found]), vectors[name]["scores"], atol=1e-12
        )
        expected = [None if label is None else str(label) for label in vectors[name]["labels"]]
        assert [answer["label"] for answer in found] == expected
        checked += 1
    assert checked > 6


@needs_node
def test_rows_that_python_refuses_are_refused(tmp_path: Path) -> None:
    array = models.model("compact", 2, feature_names=("a", "b"))
    found = predicted(tmp_path, array, [[1.0, None], [1.0, "x"], [1.0, 1e200], [1e39, 1.0], [1.0]])
    assert all(isinstance(answer, str) for answer in found)
    assert found[0].startswith("b: ")
    assert "2 cells" in found[4]


@needs_node
def test_the_error_function(tmp_path: Path) -> None:
    x = np.concatenate([np.linspace(-7, 7, 4001), [0.0, 1e-300, -1e-9, 5.99999, 6.00001, 50.0]])
    values = run_node(tmp_path, f"{js_library()}\nconsole.log(JSON.stringify({x.tolist()}.map(abnet.erf)));")
    np.testing.assert_allclose(values, erf(x), atol=3e-15)


def explained(tmp_path: Path, model: Model, plan: ExplanationPlan, rows: list[list[Any]]) -> list[Any]:
    record = js_record(model)
    thresholds = [] if record["preparation"] is None else record["preparation"].get("thresholds", [])
    code = (
        f"{js_library()}\n{js_library('explain')}\nconst model = abnet.predictor({json.dumps(record)});\n"
        f"const plan = {json.dumps(plan.to_dict())}, thresholds = {json.dumps(thresholds)};\n"
        "const one = (row) => ({ ...abnetExplain.run(model, plan, row, thresholds), "
        "regions: model.regions(model.features(row), 4) });\n"
        f"console.log(JSON.stringify({json.dumps(rows)}.map(one)));"
    )
    found = run_node(tmp_path, code)
    assert isinstance(found, list)
    return found


def table_model() -> tuple[Model, pl.DataFrame]:
    table = models.columns(models.HOSTILE, hashed=True)
    names = [column.name for column in table.columns]
    coded = CodedMap(table, ((-0.5, 0.75), *[()] * (table.n_features_out - 1)))
    return models.model("mixture", coded.n_features_out, preparation=coded), models.table(40, names)


@needs_node
@pytest.mark.parametrize("exact_columns", [0, 10])
@pytest.mark.parametrize("name", ["table", "several classes of a table", *path_models(), "drawn"])
def test_contributions_and_regions(tmp_path: Path, name: str, exact_columns: int) -> None:
    """The same numbers as in Python, from the same plan: computed exactly, and from sampled orders."""
    rng = np.random.default_rng(6)
    X: Any
    background: Any
    if "table" in name:
        model, frame = table_model()
        if name != "table":
            model = models.model("classes", model.n_inputs, preparation=model.preparation)
        rows = cells(frame)
        dated = models.with_dates(frame, frame.columns[5])
        X = dated[:5]
        background = dated[5:12]
    else:
        if name == "drawn":
            model = models.model("drawn", 4)
        else:
            model = path_models()[name]
        X = rng.normal(size=(5, 4))
        background = rng.normal(size=(6, 4))
        rows = X.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        plan = ExplanationPlan.of(model, background, pairs=3, exact_columns=exact_columns)
        expected = explain(model, X, plan=plan, regions=4)
    for row, found in zip(expected, explained(tmp_path, model, plan, rows[:5]), strict=True):
        np.testing.assert_allclose(found["base"], row.base, atol=1e-12)
        np.testing.assert_allclose(found["contributions"], row.contributions, atol=1e-11)
        np.testing.assert_allclose(found["errors"], row.standard_errors, atol=1e-11)
        assert row.exact == (exact_columns > 0 or not np.any(row.standard_errors))
        if row.regions is None:
            assert found["regions"] is None
        else:
            assert [(r["member"], r["word"]) for r in found["regions"]["listed"]] == [
                (r.member, r.word) for r in row.regions.listed
            ]
            np.testing.assert_allclose(
                [r["share"] for r in found["regions"]["listed"]], [r.share for r in row.regions.listed]
            )
            np.testing.assert_allclose(found["regions"]["otherShare"], row.regions.other_share, atol=1e-12)
            assert found["regions"]["others"] == row.regions.others
    assert np.abs(expected.contributions).max() > 0.01


def test_a_column_that_pages_do_not_read_is_refused_in_words() -> None:
    """What a later version adds must not be taken for something else."""

    class Smell(NumericColumn, frozen=True, tag="smell"):
        pass

    table = TableMap((Smell("nose", 0.0, 0.0, 1.0, False),))
    with pytest.raises(ValueError, match="'nose'"):
        js_record(models.model("compact", 1, preparation=table))


def test_json_never_leaves_its_element() -> None:
    text = script_json(["</script>", "<!--", "\u2028", "]]>"])
    assert "<" not in text
    assert text.isascii()
    assert json.loads(text) == ["</script>", "<!--", "\u2028", "]]>"]
