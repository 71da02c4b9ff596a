import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import abnet
from abnet.certificates.decision import Decision
from abnet.model.calibration import Calibration
from abnet.model.card import Card
from abnet.model.file import save
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from model.every_kind import ALL, model, model_of, rows


@pytest.mark.parametrize("kind", ALL)
def test_predictions_come_back_bit_for_bit(kind: str, tmp_path: Path) -> None:
    before = model(kind)
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert type(after.predictor) is type(before.predictor)
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()
    assert after.predict(rows()).tolist() == before.predict(rows()).tolist()
    for name, array in before.predictor.arrays().items():
        assert after.predictor.arrays()[name].dtype == array.dtype
        assert after.predictor.arrays()[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ALL)
def test_everything_else_comes_back(kind: str, tmp_path: Path) -> None:
    before = model(kind)
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.certificate_ == before.certificate_
    assert after.feature_names_in_ == before.feature_names_in_
    assert after.card == before.card
    assert str(after.certificate_) == str(before.certificate_)


def test_arrays_in_another_memory_order_come_back(tmp_path: Path) -> None:
    W = np.asfortranarray(np.arange(6.0).reshape(1, 2, 3))
    table = np.linspace(-1, 1, 8)[None, ::2]  # with gaps
    save(model_of(Compact(W, np.zeros((1, 2)), table)), tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet").predictor.arrays()
    assert (after["W"] == W).all()
    assert (after["H"] == table).all()


LABELS = [
    np.array([0, 1]),
    np.array([-128, 127], np.int8),
    np.array([0, 2**64 - 1], np.uint64),
    np.array([1, 2], ">i4"),
    np.array([0.1, 0.3]),
    np.array([0.1, 1e-40], np.float32),
    np.array([False, True]),
    np.array(["ja, klar", "nein\n"]),
    np.array(["", "\udcff"], "<U9"),
    np.array(["a", "b"], object),
    np.array([False, "b"], object),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels.dtype.str}")
def test_labels_come_back_with_their_type(labels: Any, tmp_path: Path) -> None:
    save(model(labels=labels), tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet").classes_
    assert after.dtype == labels.dtype
    assert after.tolist() == labels.tolist()
    assert [type(label) for label in after.tolist()] == [type(label) for label in labels.tolist()]


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        (np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"), "M8"),
        (np.array([b"a", b"b"]), r"\|S1"),
        (np.array([1.0, np.inf]), "not of the type"),
        (np.array([1, 1]), r"\b1\b"),
        (np.array([1, 2, 3]), "3 labels"),
        (np.array([None, "a"], object), "not of the type"),
    ],
)
def test_other_labels_are_refused(labels: Any, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=complaint):
        save(model(labels=labels), tmp_path / "model.abnet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MinMaxScaler(clip=True)])
def test_scalers_come_back(scaler: Any, tmp_path: Path) -> None:
    before = model(preparation=scaler.fit(rows()[:100]))
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()


def test_thermometer_codes_come_back(tmp_path: Path) -> None:
    codes = ThermometerCodes(3).fit(rows()[:100])
    width = sum(map(len, codes.thresholds_))
    rng = np.random.default_rng(0)
    table = Compact(rng.normal(size=(1, 2, width)), np.zeros((1, 2)), np.linspace(-1, 1, 4)[None])
    before = model_of(table, preparation=codes)
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()


def test_a_table_preparation_comes_back(tmp_path: Path) -> None:
    table = pd.DataFrame({"age": ["20", "40", ""], "sea": ["yes", "no", "yes"]})
    before = model(preparation=TablePreparation().fit(table))
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.predict(table).tolist() == before.predict(table).tolist()
    assert after.decision_function(table).tobytes() == before.decision_function(table).tobytes()
    save(after, tmp_path / "again.abnet")
    assert (tmp_path / "again.abnet").read_bytes() == (tmp_path / "model.abnet").read_bytes()


def test_a_preprocessor_with_code_is_refused(tmp_path: Path) -> None:
    strange = FunctionTransformer(np.sqrt).fit(rows())
    with pytest.raises(ValueError, match="FunctionTransformer"):
        save(model(preparation=strange), tmp_path / "model.abnet")


@pytest.mark.parametrize(
    "card",
    [Card(bound_estimate=float("nan")), Card(parameters={"x": object()}), Card(parameters={"x": np.float32(1)})],
    ids=["nan", "object", "numpy"],
)
def test_a_card_that_is_not_plain_is_refused(card: Card, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="plain"):
        save(model(card=card), tmp_path / "model.abnet")
    assert not list(tmp_path.iterdir())


def test_decision_and_calibration_come_back(tmp_path: Path) -> None:
    before = model(decision=Decision(kind="cut", threshold=0.3, positive=0), calibration=Calibration(1.5, 0.01))
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert (after.decision, after.calibration) == (before.decision, before.calibration)
    assert after.predict(rows()).tolist() == before.predict(rows()).tolist()
    assert before.predict(rows()).tolist() != model().predict(rows()).tolist()


def test_a_predictor_of_unknown_kind_is_refused(tmp_path: Path) -> None:
    class Other(Compact):
        pass

    known = model().predictor
    assert isinstance(known, Compact)
    with pytest.raises(ValueError, match="Other"):
        save(Model(Other(known.W, known.b, known.H)), tmp_path / "model.abnet")


def test_a_further_kind_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    from abnet.model.predictors import kinds

    monkeypatch.setattr(kinds, "_HOMES", dict(kinds._HOMES))
    kinds.register("other", "model.every_kind:model")
    kinds.register("other", "model.every_kind:model")
    assert kinds.predictor_class("other") is model  # type: ignore[comparison-overlap]
    with pytest.raises(ValueError, match="taken"):
        kinds.register("other", "os:system")


def test_loading_and_predicting_import_neither_jax_nor_scikit_learn(tmp_path: Path) -> None:
    save(model(), tmp_path / "plain.abnet")
    table = pd.DataFrame({"age": ["20", "40", ""], "sea": ["yes", "no", "yes"]})
    save(model(preparation=TablePreparation().fit(table)), tmp_path / "table.abnet")
    program = (
        "import sys, abnet, numpy\n"
        f"abnet.load({str(tmp_path / 'plain.abnet')!r}).predict(numpy.ones((2, 3)))\n"
        "assert 'pandas' not in sys.modules\n"
        f"model = abnet.load({str(tmp_path / 'table.abnet')!r})\n"
        "import pandas\n"
        "model.predict(pandas.DataFrame({'age': ['3'], 'sea': ['no']}))\n"
        "print([name for name in ('jax', 'sklearn', 'optax', 'matplotlib', 'scipy.stats') if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout.strip()) == (0, "[]"), result.stderr


def test_no_kind_of_model_imports_jax_or_scikit_learn(tmp_path: Path) -> None:
    """Every kind of predictor, each with a code beside the columns of a table, as a fit with nothing set has them."""
    columns = TablePreparation().fit({"age": ["20", "40", ""]}).map_
    coded = CodedMap(columns, ((0.5,), ()))
    assert coded.n_features_out == 3
    for number, kind in enumerate(ALL):
        save(model(kind, preparation=coded, feature_names=("age",)), tmp_path / f"{number}.abnet")
    program = (
        "import sys, abnet\n"
        f"for number in range({len(ALL)}):\n"
        f"    model = abnet.load({str(tmp_path)!r} + f'/{{number}}.abnet')\n"
        "    assert len(model.predict({'age': ['30', '']})) == 2\n"
        "    found = [name for name in ('jax', 'sklearn', 'optax', 'pandas', 'matplotlib') if name in sys.modules]\n"
        "    assert not found, (type(model.predictor).__name__, found)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_certificate_may_be_absent(tmp_path: Path) -> None:
    save(model(certificate=None, feature_names=None), tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.certificate_ is None
    assert after.feature_names_in_ is None


def test_estimators_save_what_load_reads(tmp_path: Path) -> None:
    X = rows()[:40]
    y = np.where(X[:, 0] > 0, "up", "down")
    clf = abnet.ABNetClassifier((2,), max_iter=2, random_state=0).fit(X, y)
    clf.save(tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()
    assert after.certificate_ == clf.certificate_
    assert after.card == clf.model_.card


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(model(), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
