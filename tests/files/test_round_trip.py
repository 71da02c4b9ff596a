import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import abnet
from abnet.files import save
from abnet.predictors.compact import CompactABNet
from abnet.preparation import TablePreparation
from abnet.preparation.coded import CodedMap
from abnet.preparation.transformers import ThermometerCodes
from files.predictors import ALL, information, predictor, rows


@pytest.mark.parametrize("kind", ALL)
def test_predictions_come_back_bit_for_bit(kind: str, tmp_path: Path) -> None:
    before = predictor(kind)
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert type(after) is type(before)
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()
    assert after.predict(rows()).tolist() == before.predict(rows()).tolist()
    for name, array in before.arrays().items():
        assert after.arrays()[name].dtype == array.dtype
        assert after.arrays()[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ALL)
def test_everything_else_comes_back(kind: str, tmp_path: Path) -> None:
    before = predictor(kind)
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.certificate_ == before.certificate_
    assert after.feature_names_in_ == before.feature_names_in_
    assert after.info.details == before.info.details
    assert str(after.certificate_) == str(before.certificate_)


def test_arrays_in_another_memory_order_come_back(tmp_path: Path) -> None:
    W = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    table = np.linspace(-1, 1, 8)[::2]  # with gaps
    before = CompactABNet(W, np.zeros(2), table, info=information())
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet").arrays()
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
    save(predictor(labels=labels), tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet").classes_
    assert after.dtype == labels.dtype
    assert after.tolist() == labels.tolist()
    assert [type(label) for label in after.tolist()] == [type(label) for label in labels.tolist()]


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [
        (np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"), "cannot be stored"),
        (np.array([b"a", b"b"]), "cannot be stored"),
        (np.array([1.0, np.inf]), "not of the type"),
        (np.array([1, 1]), "must differ"),
        (np.array([1, 2, 3]), "there are 3 labels"),
        (np.array([None, "a"], object), "not of the type"),
    ],
)
def test_other_labels_are_refused(labels: Any, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=complaint):
        save(predictor(labels=labels), tmp_path / "model.abnet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MinMaxScaler(clip=True)])
def test_scalers_come_back(scaler: Any, tmp_path: Path) -> None:
    before = predictor(preparation=scaler.fit(rows()[:100]))
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()


def test_thermometer_codes_come_back(tmp_path: Path) -> None:
    codes = ThermometerCodes(3).fit(rows()[:100])
    width = sum(map(len, codes.thresholds_))
    rng = np.random.default_rng(0)
    before = CompactABNet(
        rng.normal(size=(2, width)), np.zeros(2), np.linspace(-1, 1, 4), info=information(preparation=codes)
    )
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.decision_function(rows()).tobytes() == before.decision_function(rows()).tobytes()


def test_a_table_preparation_comes_back(tmp_path: Path) -> None:
    table = pd.DataFrame({"age": ["20", "40", ""], "sea": ["yes", "no", "yes"]})
    before = predictor(preparation=TablePreparation().fit(table))
    save(before, tmp_path / "model.abnet")
    after = abnet.load(tmp_path / "model.abnet")
    assert after.predict(table).tolist() == before.predict(table).tolist()
    assert after.decision_function(table).tobytes() == before.decision_function(table).tobytes()
    save(after, tmp_path / "again.abnet")
    assert (tmp_path / "again.abnet").read_bytes() == (tmp_path / "model.abnet").read_bytes()


def test_a_preprocessor_with_code_is_refused(tmp_path: Path) -> None:
    strange = FunctionTransformer(np.sqrt).fit(rows())
    with pytest.raises(ValueError, match="FunctionTransformer cannot be stored"):
        save(predictor(preparation=strange), tmp_path / "model.abnet")


def test_details_that_are_not_plain_are_refused(tmp_path: Path) -> None:
    for value in (float("nan"), {1, 2}, np.float32(1)):
        with pytest.raises(ValueError, match="plain finite numbers and text"):
            save(predictor(details={"value": value}), tmp_path / "model.abnet")


def test_a_predictor_of_unknown_kind_is_refused(tmp_path: Path) -> None:
    class Other(CompactABNet):
        pass

    known = predictor()
    assert isinstance(known, CompactABNet)
    with pytest.raises(ValueError, match="a Other cannot be stored"):
        save(Other(known.W, known.b, known.H), tmp_path / "model.abnet")


def test_a_further_kind_can_be_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from abnet.files import model_file, register

    monkeypatch.setattr(model_file, "_HOMES", dict(model_file._HOMES))
    register("other", "files.predictors:predictor")
    register("other", "files.predictors:predictor")
    assert model_file.predictor_class("other") is predictor
    with pytest.raises(ValueError, match="is taken by"):
        register("other", "os:system")


def test_loading_and_predicting_import_neither_jax_nor_scikit_learn(tmp_path: Path) -> None:
    save(predictor(), tmp_path / "plain.abnet")
    table = pd.DataFrame({"age": ["20", "40", ""], "sea": ["yes", "no", "yes"]})
    save(predictor(preparation=TablePreparation().fit(table)), tmp_path / "table.abnet")
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
        save(predictor(kind, preparation=coded, feature_names=("age",)), tmp_path / f"{number}.abnet")
    program = (
        "import sys, abnet\n"
        f"for number in range({len(ALL)}):\n"
        f"    model = abnet.load({str(tmp_path)!r} + f'/{{number}}.abnet')\n"
        "    assert len(model.predict({'age': ['30', '']})) == 2\n"
        "    found = [name for name in ('jax', 'sklearn', 'optax', 'pandas', 'matplotlib') if name in sys.modules]\n"
        "    assert not found, (type(model).__name__, found)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_certificate_may_be_absent(tmp_path: Path) -> None:
    save(predictor(certificate=None, feature_names=None), tmp_path / "model.abnet")
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
    assert after.info.details == clf.compact().info.details


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        save(predictor(), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
