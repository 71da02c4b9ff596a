"""One contract for all exporters: the labels of Python and its probabilities, for every kind of model and column."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.export import c_program, onnx_program
from abnet.export.export_plan import export_plan
from abnet.export.js_model import js_program
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.moments import MomentsPredictor
from abnet.networks.bam import BAM
from abnet.tables.columns import HashedColumn, NumericColumn, WordsColumn
from abnet.tables.labels import Labels
from abnet.tables.number_forms import NumberForm
from abnet.tables.preparation import TableMap, TablePreparation, as_preparation
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.unseen import UnseenWarning
from export import models
from export.compiled import SANITIZED, build, needs_compiler
from export.compiled import run as run_compiled
from export.test_js import needs_node, predicted
from model.every_kind import model as stored

NO_ANSWER = -2


@dataclass(frozen=True)
class Answers:
    """Codes of rows, -1 where one is refused, NO_ANSWER for abstentions, and their probabilities if there are any."""

    codes: list[int]
    probabilities: Any


def by_c(model: Model, rows: Any, folder: Path) -> Answers:
    codes, probabilities = run_compiled(build(model, folder, *SANITIZED)[0], model, rows)
    no_answer = -1 - export_plan(model).n_columns
    answers = np.maximum(codes, -1)
    answers[codes == no_answer] = NO_ANSWER
    return Answers(answers.tolist(), probabilities)


def by_onnx(model: Model, rows: Any, folder: Path) -> Answers:
    from export.test_onnx import feed, run

    found = run(onnx_program(model), feed(model, rows))
    places = {label: code for code, label in enumerate(model.classes_.tolist())}
    codes = []
    for label, valid, answered in zip(*(found[name].tolist() for name in ("label", "valid", "answered")), strict=True):
        # A label that is none of the model's stands for no answer.
        assert (label in places) == answered
        if answered:
            codes.append(places[label])
        elif valid:
            codes.append(NO_ANSWER)
        else:
            codes.append(-1)
    shares = found.get("probabilities")
    assert shares is None or np.array_equal(np.isnan(shares).all(axis=1), ~found["valid"])
    return Answers(codes, shares)


def by_javascript(model: Model, rows: Any, folder: Path) -> Answers:
    if isinstance(rows, pl.DataFrame):
        table = rows.rows()
    else:
        table = np.asarray(rows, float).tolist()
    codes = []
    probabilities = []
    for answer in predicted(folder, model, [[_cell(cell) for cell in row] for row in table]):
        if isinstance(answer, str):
            codes.append(-1)
            continue
        probabilities.append(answer["probabilities"])
        code = answer["code"]
        if code is None:
            code = NO_ANSWER
        codes.append(code)
    return Answers(codes, probabilities)


def _cell(cell: Any) -> Any:
    """A cell as JSON has it: numbers that are not finite are null."""
    if isinstance(cell, float) and not np.isfinite(cell):
        return None
    return cell


@dataclass(frozen=True)
class Exporter:
    """How to run an export, and how to make one."""

    run: Callable[[Model, Any, Path], Answers]
    write: Callable[[Model], Any]


def no_onnx() -> bool:
    try:
        import onnx
        import onnxruntime
    except ImportError:
        return True
    return onnx is None or onnxruntime is None


EXPORTERS = [
    pytest.param(Exporter(by_c, c_program), id="C", marks=needs_compiler),
    pytest.param(Exporter(by_onnx, onnx_program), id="ONNX", marks=pytest.mark.skipif(no_onnx(), reason="no ONNX")),
    pytest.param(Exporter(by_javascript, js_program), id="JavaScript", marks=needs_node),
]
every_exporter = pytest.mark.parametrize("exporter", EXPORTERS)
tables = pytest.mark.parametrize("exporter", EXPORTERS[:2])


def check(exporter: Exporter, model: Model, rows: Any, folder: Path, reference: Any = None) -> None:
    """The labels of Python, and its probabilities within 1e-6 (float32)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        if reference is None:
            reference = rows
        labels = model.predict(reference)
        shares = None
        if model.predictor.shares:
            shares = model.predict_proba(reference)
    found = exporter.run(model, rows, folder)
    named = dict(enumerate(model.classes_.tolist())) | {NO_ANSWER: None}
    assert [named[code] for code in found.codes] == labels.tolist()
    assert len(set(found.codes)) > 1
    if shares is not None:
        np.testing.assert_allclose(found.probabilities, shares, rtol=0, atol=1e-6)


@every_exporter
@pytest.mark.parametrize("kind", models.KINDS)
def test_every_kind_of_predictor(exporter: Exporter, kind: str, tmp_path: Path) -> None:
    X = np.random.default_rng(7).normal(size=(500, 6)).astype(np.float32)
    X[np.random.default_rng(8).random(X.shape) < 0.2] = 0
    calibration = None
    if kind in ("mixture", "classes by paths"):
        calibration = models.calibrated()
    check(exporter, models.model(kind, 6, calibration=calibration), X, tmp_path)


def on_the_threshold(classes: int) -> Model:
    """A model that scores a row of zeros with 0.25, or with the shares 0.5, 0.25 and 0.25: in any order of addition."""
    if classes == 2:
        H = np.array([[-1.0, 0.5, 0.5, 1.0]])
    else:
        H = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]])
    table = Compact(np.array([[[3.0, -1.0], [0.5, 4.0]]]), np.zeros((1, 2)), H)
    return Model(table, labels=Labels(np.array(["a", "b", "c"][:classes])))


DECISIONS = {
    2: [
        ARGMAX,
        Decision(kind="cut", threshold=0.25, positive=1),
        Decision(kind="cut", threshold=-0.25, positive=0),
        Decision(kind="abstain", threshold=0.25),
    ],
    3: [
        ARGMAX,
        Decision(kind="abstain", threshold=0.5),
        # For the row of zeros, the first two answers cost the same.
        Decision(kind="costs", costs=ExpectedCosts(table=((0.0, 1.0, 3.0), (2.0, 0.0, 3.0), (2.0, 2.0, 0.0)))),
        Decision(
            kind="costs",
            costs=ExpectedCosts(table=((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (9.0, 5.0, 0.0)), power=1.7, floor=0.01),
        ),
    ],
}


@every_exporter
@pytest.mark.parametrize(
    ("classes", "decision"), [(classes, decision) for classes, some in DECISIONS.items() for decision in some], ids=str
)
def test_every_decision(exporter: Exporter, classes: int, decision: Decision, tmp_path: Path) -> None:
    """Answers and abstentions of Python; a row exactly on the threshold is not above it."""
    X = np.random.default_rng(9).normal(size=(200, 2)).astype(np.float32)
    X[0] = 0
    model = replace(on_the_threshold(classes), decision=decision)
    if decision.threshold is not None:
        assert decision.score(model.scores(X[:1])).tolist() == [decision.threshold]
    if decision != ARGMAX:
        assert (model.predict(X) != replace(model, decision=ARGMAX).predict(X)).any()
    check(exporter, model, X, tmp_path)


@every_exporter
@pytest.mark.parametrize("kind", ["classes", "moments of classes"])
def test_the_least_expected_cost_of_several_classes(exporter: Exporter, kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    model = models.model(kind, 4, calibration=models.calibrated())
    table = tuple(tuple(row) for row in (rng.integers(1, 9, (5, 5)) * (1 - np.eye(5))).tolist())
    decision = Decision(kind="costs", costs=ExpectedCosts(table=table, power=2.3, floor=1e-4))
    assert (model.predict(X) != replace(model, decision=decision).predict(X)).sum() > 20
    check(exporter, replace(model, decision=decision), X, tmp_path)


@every_exporter
@pytest.mark.parametrize("kind", ["mixture", "moments", "classes by paths", "moments of classes"])
def test_abstentions_of_wide_networks_and_mixtures(exporter: Exporter, kind: str, tmp_path: Path) -> None:
    X = np.random.default_rng(9).normal(size=(300, 4)).astype(np.float32)
    model = models.model(kind, 4, calibration=models.calibrated())
    threshold = float(np.median(Decision(kind="abstain", threshold=0.0).score(model.scores(X)))) + 1e-9
    abstaining = replace(model, decision=Decision(kind="abstain", threshold=threshold))
    assert 100 < sum(label is None for label in abstaining.predict(X)) < 200
    check(exporter, abstaining, X, tmp_path)


@every_exporter
@pytest.mark.parametrize("name", models.preparations(6))
def test_every_preparation_of_an_array(exporter: Exporter, name: str, tmp_path: Path) -> None:
    preparation = models.preparations(6)[name]
    width = 6
    if preparation is not None:
        width = preparation.n_features_out
    X = np.random.default_rng(8).normal(size=(500, 6))
    names = None
    if name in ("coded", "clipped", "thermometer"):
        names = models.HOSTILE
    model = models.model("compact", width, preparation=preparation, feature_names=names)
    check(exporter, model, X, tmp_path)


FAR = {"seconds": (1.6e9, 30.0), "metres": (4.6e6, 0.3), "pascals": (1e5, 0.005), "hertz": (50.0, 1e-5)}
"""Centres and deviations of columns far from zero: float32 rounds away much of what tells their rows apart."""


def far_preparation(name: str, train: Any) -> Any:
    if name == "table":
        table: Any = as_preparation(TablePreparation().fit(pl.DataFrame(train, schema=list(FAR))))
        return CodedMap.of(table, table.transform(pl.DataFrame(train, schema=list(FAR))))
    base = as_preparation((MinMaxScaler(clip=True) if name == "minmax" else StandardScaler()).fit(train))
    if name == "coded":
        return CodedMap.of(base, base.transform(train))
    return base


@every_exporter
@pytest.mark.parametrize("name", ["standard", "minmax", "coded", "named columns", "table"])
def test_columns_far_from_zero(exporter: Exporter, name: str, tmp_path: Path) -> None:
    """Rows in double precision have Python's labels; so have rows in single precision, whose numbers are others."""
    rng = np.random.default_rng(6)
    centres, deviations = np.array(list(FAR.values())).T
    train, X = (centres + deviations * rng.normal(size=(n, len(FAR))) for n in (300, 1000))
    preparation = far_preparation(name, train)
    names = None
    if name == "named columns":
        names = tuple(FAR)
    model = models.model("compact", preparation.n_features_out, preparation=preparation, feature_names=names)
    single = X.astype(np.float32)
    for column in range(len(FAR)):
        rounded = X.copy()
        rounded[:, column] = single[:, column]
        given = rounded
        if name == "table":
            given = pl.DataFrame(rounded, schema=list(FAR))
        full = X
        if name == "table":
            full = pl.DataFrame(X, schema=list(FAR))
        assert (model.predict(given) != model.predict(full)).any()  # else rounding could not be noticed
    for rows in (X, single):
        check(exporter, model, pl.DataFrame(rows, schema=list(FAR)) if name == "table" else rows, tmp_path)


@every_exporter
@pytest.mark.parametrize(
    "kind", ["mixture", "classes by paths", "wide drawn classes", "moments", "rounded moments of classes"]
)
def test_every_kind_of_column_with_codes_and_hostile_names(exporter: Exporter, kind: str, tmp_path: Path) -> None:
    words = exporter.run is not by_c
    table = models.columns(models.HOSTILE, words=words, hashed=exporter.run is by_javascript)
    coded = CodedMap(table, ((-0.5, 0.1, 0.75), (), (), *[()] * (table.n_features_out - 4), (0.25, 0.5)))
    names = [column.name for column in table.columns]
    model = models.model(kind, coded.n_features_out, preparation=coded)
    frame = models.table(400, names)
    check(exporter, model, frame, tmp_path, models.with_dates(frame, names[5]))


@every_exporter
@pytest.mark.parametrize("name", models.lone_columns())
def test_every_kind_of_column_alone(exporter: Exporter, name: str, tmp_path: Path) -> None:
    table, frame = models.lone_columns()[name]
    check(exporter, models.lively(table, frame), frame, tmp_path)


@pytest.mark.parametrize("exporter", EXPORTERS[1:])
def test_a_column_of_words_alone(exporter: Exporter, tmp_path: Path) -> None:
    table = TableMap((WordsColumn("x", ("oslo",), False),))
    frame = models.lone_text()
    check(exporter, models.lively(table, frame), frame, tmp_path)


def test_columns_of_words_are_not_written_in_c() -> None:
    table = TableMap((WordsColumn("diary", ("a",), False), WordsColumn("letters", ("b",), False)))
    with pytest.raises(ValueError, match=r"'diary', 'letters'.*ONNX.*--drop"):
        c_program(models.model("compact", 2, preparation=table))


@every_exporter
@pytest.mark.parametrize("name", ["none", "standard", "thermometer", "coded"])
def test_rows_that_python_refuses_are_refused(exporter: Exporter, name: str, tmp_path: Path) -> None:
    preparation = models.preparations(6)[name]
    model = models.model("drawn", 6 if preparation is None else preparation.n_features_out, preparation=preparation)
    X = np.ones((4, 6), np.float32)
    X[1, 3] = np.nan
    X[2, 3] = np.inf
    X[3, 0] = -np.inf
    for row in X[1:]:
        with pytest.raises(ValueError, match="NaN"):
            model.predict(row[None])
    codes = exporter.run(model, X, tmp_path).codes
    assert [code < 0 for code in codes] == [False, True, True, True]


@tables
def test_a_number_beyond_reason_counts_as_missing_in_a_table(exporter: Exporter, tmp_path: Path) -> None:
    table = models.columns(words=False)
    cells = [None, np.nan, np.inf, -np.inf, 1e151, -1e200, 1e150]
    rows = models.table(40, [column.name for column in table.columns])
    odd = pl.concat([rows[:1]] * len(cells)).with_columns(pl.Series("age", cells))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        features = table.transform(odd)
    assert (features[:6] == features[0]).all()
    assert features[6, 0] == 1e6  # the largest number that is taken, cut
    frame = pl.concat([odd, rows])
    dated = models.with_dates(frame, "born")
    check(exporter, models.lively(table, dated), frame, tmp_path, reference=dated)


@every_exporter
@pytest.mark.parametrize("kind", ["uniform", "pbgnet: drawn", "layers: units", "one output for each class"])
def test_predictors_that_cannot_be_exported_are_named(exporter: Exporter, kind: str) -> None:
    if kind == "one output for each class":
        network = BAM.init(np.random.default_rng(0), (4, 6, 3))
        model = Model(MomentsPredictor.from_networks([network]), labels=Labels(np.array(["a", "b", "c"])))
    else:
        model = stored(kind)
    with pytest.raises(ValueError, match="cannot be"):
        exporter.write(model)


@tables
def test_columns_that_cannot_be_exported_are_named(exporter: Exporter) -> None:
    hashed = TableMap((HashedColumn("diary", 5, False), HashedColumn("letters", 5, False)))
    with pytest.raises(ValueError, match=r"'diary', 'letters'.*--drop"):
        exporter.write(models.model("compact", 10, preparation=hashed))
    large = TableMap((NumericColumn("id", 0.0, 0.0, 1.0, False, NumberForm(offset=2**60)),))
    with pytest.raises(ValueError, match="'id'"):
        exporter.write(models.model("compact", 1, preparation=large))
