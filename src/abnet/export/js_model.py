"""Export a model to JavaScript for web pages: its preparation and network as JSON, and the code that reads them."""

import base64
import json
from functools import cache, singledispatch
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.export.export_plan import MeanSeries, mean_layers, output_codes
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.tables.cells import BLANK
from abnet.tables.columns import HashedColumn, WordsColumn
from abnet.tables.preparation import preparation_to_dict

__all__ = ["js_library", "js_program", "js_record", "script_json"]

KINDS = ("numeric", "date", "boolean", "text", "words", "hashed")
"""Columns that the JavaScript knows."""

MOST_BYTES = 2**24
"""Maximum size of a network in a page, in bytes: larger pages would load too slowly."""


def js_program(model: Model) -> str:
    """One JavaScript file: ``abnet_model.predict(row)`` gives label, code, scores and probabilities of a row.

    Label and code are those of the model's decision, null where it abstains; ``vote`` is the code of the largest score.

    A row is a list of cells in the order of ``abnet_model.columns``: numbers, days since 1970-01-01 for dates, texts,
    true or false; null where one is missing.

    Examples
    --------
    >>> net = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> js_program(net).splitlines()[-2][:40]
    'const abnet_model = abnet.predictor({"bl'
    """
    record = script_json(js_record(model))
    statement = f"const abnet_model = abnet.predictor({record});\n"
    return f'{js_library()}\n{statement}if (typeof module !== "undefined") module.exports = abnet_model;\n'


@cache
def js_library(name: str = "predictor") -> str:
    """The JavaScript that all models share: the "predictor", or "explain", the contributions of the columns."""
    return files("abnet.export").joinpath(f"{name}.js").read_text(encoding="utf-8")


def script_json(record: Any) -> str:
    """JSON that may stand inside an element ``script``: nothing in it ends the element or begins a comment.

    Examples
    --------
    >>> script_json({"</script><!--": 1})
    '{"\\\\u003c/script>\\\\u003c!--": 1}'
    """
    text = json.dumps(record, allow_nan=False, sort_keys=True)  # ASCII: no separators of lines that are no JSON
    return text.replace("<", "\\u003c")


def js_record(model: Model) -> dict[str, Any]:
    """What ``abnet.predictor`` of the JavaScript takes; ValueError for a model that it does not know.

    Examples
    --------
    >>> net = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> record = js_record(net)
    >>> record["network"]["type"], record["columns"][1]["name"], record["classes"]
    ('table', 'column 2', ['-1', '1'])
    """
    calibration = None
    if model.calibration is not None:
        calibration = model.calibration.to_dict()
    folds = {}
    if any(isinstance(column, WordsColumn | HashedColumn) for column in model.preparation.columns):
        folds = _folds()
    return {
        "network": _sized(_network(model.predictor)),
        "preparation": _plain(preparation_to_dict(model.preparation)),
        "columns": _columns(model),
        "classes": list(model.labels.names),
        "shares": model.predictor.shares,
        "calibration": calibration,
        "decision": model.decision.to_dict(),
        "blank": sorted(BLANK),
        "folds": folds,
    }


def _columns(model: Model) -> list[dict[str, Any]]:
    """Name and kind of every cell of a row."""
    columns = model.preparation.columns
    for column in columns:
        if column.kind not in KINDS:
            raise ValueError(f"column {column.name!r} has the kind {column.kind!r}, which no page's form reads.")
    if columns:
        return [{"name": column.name, "kind": column.kind} for column in columns]
    n = model.preparation.n_features_in or model.n_inputs
    names = model.feature_names or [f"column {place}" for place in range(1, n + 1)]
    return [{"name": name, "kind": "numeric"} for name in names]


def _plain(record: Any) -> Any:
    """A stored preparation without its notes, which are for people, and with offsets as text.

    An offset is a whole number that the numbers of JavaScript do not hold.
    """
    if isinstance(record, list):
        return [_plain(value) for value in record]
    if not isinstance(record, dict):
        return record
    plain = {key: _plain(value) for key, value in record.items() if key != "notes"}
    if "offset" in record:
        plain["offset"] = str(record["offset"])
    return plain


@cache
def _folds() -> dict[str, str]:
    """Letters whose full case folding is not their small letter, which is all that JavaScript knows."""
    letters = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return {letter: letter.casefold() for letter in letters if letter.casefold() != letter.lower()}


@singledispatch
def _network(predictor: Predictor) -> dict[str, Any]:
    """The first layer of all members stacked, and what stands above it; one function for each kind."""
    raise ValueError(
        f"a predictor of kind {type(predictor).__name__} cannot be written for web pages; what can be are compact "
        "networks, mixtures, networks of kept paths, exact PBGNets and wide networks, MAP networks and "
        "networks drawn from the posterior."
    )


@_network.register
def _(predictor: Compact) -> dict[str, Any]:
    H = predictor.H
    if H.ndim == 2:
        H = H[:, :, None]
    return {"type": "table", "first": _layer(predictor.W, predictor.b), "H": H}


@_network.register
def _(predictor: PBGNetPredictor) -> dict[str, Any]:
    layers: list[dict[str, Any]] = []
    for layer in mean_layers(predictor):
        if isinstance(layer, MeanSeries):
            layers.append(vars(layer))
        else:
            layers.append({"table": layer})
    return {"type": "pbgnet", "first": _layer(predictor.weights[0], predictor.biases[0]), "means": layers}


@_network.register
def _(predictor: Layers) -> dict[str, Any]:
    network = predictor.network
    if network is None:
        raise ValueError("a BinaryConnect or BNN network cannot be written for web pages; a network of signs can be.")
    return {"type": "signs", **_layers(network.weights, network.biases), "decode": _decode(predictor.words)}


@_network.register
def _(predictor: Paths) -> dict[str, Any]:
    layers = _layers(predictor.weights, predictor.biases)
    return {"type": "paths", **layers, "noise": list(predictor.noise), "decode": _decode(predictor.words)}


@_network.register
def _(predictor: MomentsPredictor) -> dict[str, Any]:
    if predictor.words is None and predictor.n_classes > 2:
        raise ValueError(
            "an EBP network of several classes cannot be written for web pages; one of two classes can be."
        )
    layers = _layers(predictor.weights, predictor.biases)
    return {"type": "moments", **layers, "e": predictor.e, "decode": _decode(predictor.words)}


def _decode(words: NDArray[np.int8] | None) -> list[int] | None:
    """The class of each corner of the outputs; None for two classes, whose one output is a sign."""
    codes = output_codes(words)
    if codes is None:
        return None
    return codes.tolist()


def _layers(weights: Any, biases: Any) -> dict[str, Any]:
    first, *above = (_layer(W, b) for W, b in zip(weights, biases, strict=True))
    return {"first": first, "above": above}


def _layer(W: Any, b: Any) -> dict[str, Any]:
    return {"W": W, "b": b}


def _sized(network: dict[str, Any]) -> dict[str, Any]:
    packed = _packed(network)
    size = len(json.dumps(packed))
    if size > MOST_BYTES:
        raise ValueError(f"the network takes {size:,} bytes, more than the {MOST_BYTES:,} that a page should carry.")
    return dict(packed)


def _packed(value: Any) -> Any:
    """Arrays as text: their bytes in base 64, in single precision where that loses nothing."""
    if isinstance(value, dict):
        return {name: _packed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_packed(part) for part in value]
    if isinstance(value, np.ndarray):
        return _array(value)
    return value


def _array(array: NDArray[Any]) -> dict[str, Any]:
    dtype = "f8"
    with np.errstate(over="ignore"):
        if (array.astype(np.float32) == array).all():
            dtype = "f4"
    data = np.ascontiguousarray(array, f"<{dtype}")
    return {"dtype": dtype, "shape": list(array.shape), "data": base64.b64encode(data.tobytes()).decode("ascii")}
