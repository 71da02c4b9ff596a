import copy
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from abnet.tables.preparation import TablePreparation, as_preparation, preparation_from_dict, preparation_to_dict
from abnet.tables.preparation.thermometer_codes import ThermometerCodes

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(5, 3, 100), RNG.normal(size=100) * 1e-3, np.ones(100), RNG.lognormal(3, 2, 100)])
SCALERS = {
    "standard": StandardScaler(),
    "no mean": StandardScaler(with_mean=False),
    "no deviation": StandardScaler(with_std=False),
    "minmax": MinMaxScaler(),
    "range and clip": MinMaxScaler((-1, 3), clip=True),
    "thermometer": ThermometerCodes(5),
}


@pytest.mark.parametrize("name", list(SCALERS))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_scalers_keep_every_bit_of_float64(name: str, dtype: Any) -> None:
    """Whatever the type of the rows, their features are those of the same numbers in float64."""
    scaler = SCALERS[name].fit(X[:50].astype(dtype))
    back = preparation_from_dict(json.loads(json.dumps(preparation_to_dict(scaler), allow_nan=False)))
    new = (1.7 * X - 1).astype(dtype)
    before = new.copy()
    out = back.transform(new)
    expected = scaler.transform(new.astype(np.float64))
    assert out.dtype == expected.dtype
    assert out.tobytes() == expected.tobytes()
    assert np.array_equal(new, before)


def test_scaled_features_must_be_as_many_as_fitted() -> None:
    stored = as_preparation(StandardScaler().fit(X))
    with pytest.raises(ValueError, match=r"\b4 features.*\(100, 3\)"):
        stored.transform(X[:, :3])


def test_a_stored_thermometer_refuses_what_has_no_sign() -> None:
    stored = as_preparation(ThermometerCodes().fit(X))
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        stored.transform(bad)
    with pytest.raises(ValueError, match=r"\b4 features.*\(100, 3\)"):
        stored.transform(X[:, :3])


class Odd(StandardScaler):
    pass


@pytest.mark.parametrize(
    "other", [PCA(), Odd(), make_pipeline(StandardScaler()), len], ids=["PCA", "Odd", "Pipeline", "len"]
)
def test_other_transformers_are_refused_by_type(other: Any) -> None:
    with pytest.raises(ValueError, match=rf"{type(other).__name__}.*TablePreparation, StandardScaler"):
        preparation_to_dict(other)


@pytest.mark.parametrize("unfitted", [StandardScaler(), MinMaxScaler(), TablePreparation()])
def test_unfitted_transformers_are_refused(unfitted: Any) -> None:
    with pytest.raises(ValueError, match="fitted"):
        preparation_to_dict(unfitted)


def test_a_preparation_is_taken_as_it_is() -> None:
    for transformer in (StandardScaler().fit(X), TablePreparation().fit(X)):
        stored = as_preparation(transformer)
        assert as_preparation(stored) is stored


TABLE = pd.DataFrame(
    {
        "n": ["1", "2", "", ""] * 5,
        "b": ["yes", "no", "", ""] * 5,
        "t": ["u", "u", "v", "w"] * 5,
        "s": [f"{'good' if i % 2 else 'bad'} wine, no {i}" for i in range(20)],
        "c": "same",
    }
)
RECORD = preparation_to_dict(TablePreparation(max_categories=2).fit(TABLE))


def tampered(path: list[Any], value: Any) -> Any:
    record = copy.deepcopy(RECORD)
    place = record
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return record


def test_the_untampered_record_is_read() -> None:
    assert preparation_to_dict(preparation_from_dict(copy.deepcopy(RECORD))) == RECORD
    assert [column["kind"] for column in RECORD["columns"]] == ["numeric", "boolean", "text", "words"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["kind"], "pickle"),
        (["kind"], ["table"]),
        (["kind"], KeyError),
        (["version"], 2),
        (["version"], 0),
        (["version"], True),
        (["version"], KeyError),
        (["more"], 1),
        (["columns"], []),
        (["columns"], {"0": 1}),
        (["columns", 0], "n"),
        (["columns", 0, "kind"], "code"),
        (["columns", 0, "kind"], []),
        (["columns", 0, "name"], 5),
        (["columns", 0, "name"], "b"),
        (["columns", 0, "name"], "c"),
        (["columns", 0, "fill"], float("nan")),
        (["columns", 0, "mean"], float("inf")),
        (["columns", 0, "mean"], "0"),
        (["columns", 0, "mean"], True),
        (["columns", 0, "scale"], 0.0),
        (["columns", 0, "scale"], -1.0),
        (["columns", 0, "scale"], KeyError),
        (["columns", 0, "indicator"], 1),
        (["columns", 0, "indicator"], KeyError),
        (["columns", 0, "extra"], 0),
        (["columns", 0, "form"], None),
        (["columns", 0, "form"], KeyError),
        (["columns", 0, "form", "decimal"], ""),
        (["columns", 0, "form", "thousands"], "."),
        (["columns", 0, "form", "thousands"], "_"),
        (["columns", 0, "form", "after"], 1),
        (["columns", 0, "form", "offset"], 1.0),
        (["columns", 0, "form", "duration"], 0),
        (["columns", 0, "form", "more"], 0),
        (["columns", 3, "words"], []),
        (["columns", 3, "words"], [1]),
        (["columns", 3, "missing"], 0),
        (["notes"], None),
        (["notes"], KeyError),
        (["notes"], [["n", "is odd"]]),
        (["notes"], [{"code": "gossip", "columns": ["n"], "rows": None, "example": "", "facts": {}}]),
        (["notes", 0, "columns"], "n"),
        (["notes", 0, "rows"], "3"),
        (["columns", 1, "indicator"], None),
        (["columns", 2, "categories"], ["u", "u"]),
        (["columns", 2, "categories"], "u"),
        (["columns", 2, "categories"], [1]),
        (["columns", 2, "categories"], ["v"]),
        (["columns", 2, "rare"], [None]),
        (["columns", 2, "missing"], "no"),
    ],
)
def test_a_tampered_table_record_is_a_value_error(path: list[Any], value: Any) -> None:
    with pytest.raises(ValueError, match=r"^stored preparation: "):
        preparation_from_dict(tampered(path, value))


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [{**RECORD["columns"][0], "scale": None, "indicator": False}]},
        {"columns": [{**RECORD["columns"][3], "words": []}]},
        {"columns": [{"kind": "text", "name": "t", "categories": [], "rare": [], "missing": False}]},
    ],
)
def test_a_column_without_features_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="feature"):
        preparation_from_dict({**RECORD, **change})


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"kind": "standard"},
        {"kind": "standard", "mean": [0.0], "scale": [0.0]},
        {"kind": "standard", "mean": [0.0], "scale": [1.0, 1.0]},
        {"kind": "standard", "mean": [], "scale": []},
        {"kind": "standard", "mean": 0.0, "scale": [1.0]},
        {"kind": "standard", "mean": ["0"], "scale": [1.0]},
        {"kind": "minmax", "scale": [1.0], "shift": [], "limits": []},
        {"kind": "minmax", "scale": [1.0], "shift": [0.0], "limits": [1.0, 0.0]},
        {"kind": "minmax", "scale": [1.0], "shift": [float("inf")], "limits": []},
        {"kind": "thermometer", "thresholds": []},
        {"kind": "thermometer", "thresholds": [[], []]},
        {"kind": "thermometer", "thresholds": [0.5]},
        {"kind": "thermometer", "thresholds": [[0.5, 0.5]]},
        {"kind": "thermometer", "thresholds": "[[0.5]]"},
        {"kind": ["thermometer"], "thresholds": [[0.5]]},
    ],
)
def test_a_tampered_scaler_record_is_a_value_error(record: Any) -> None:
    with pytest.raises(ValueError, match=r"^stored preparation: "):
        preparation_from_dict(record)


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_stored_forms_need_neither_scikit_learn_nor_jax() -> None:
    table = "from abnet.tables.preparation import preparation_from_dict\n"
    table += f"preparation_from_dict({RECORD!r}).transform({TABLE.to_dict('list')!r})"
    assert not {"sklearn", "jax", "pandas", "polars", "scipy"} & modules_after(table)
    scaler = {"kind": "standard", "mean": [0.0], "scale": [1.0]}
    code = "from abnet.tables.preparation import preparation_from_dict\n"
    code += f"preparation_from_dict({scaler!r}).transform([[1.0]])"
    assert not {"sklearn", "jax", "pandas", "scipy"} & modules_after(code)


def test_importing_the_room_loads_numpy_alone() -> None:
    assert not {"sklearn", "jax", "pandas", "scipy", "platformdirs"} & modules_after("import abnet.tables.preparation")
