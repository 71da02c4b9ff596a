"""Model files: the arrays and one JSON text, with a digest of everything; reading is strict."""

import json
import math
import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import Decision
from abnet.certificates.statements.cost_bound import CostBound
from abnet.model.calibration import Calibration
from abnet.model.card import Card
from abnet.model.digest import belonging, digest, predicting_parts
from abnet.model.model import Model
from abnet.model.predictors.kinds import predictor_class
from abnet.model.smaller_arrays import restored, shrunk
from abnet.tables.labels import Labels
from abnet.tables.preparation import preparation_from_dict
from abnet.tables.preparation.preparation import Unprepared
from abnet.utils.atomic import atomic_path

__all__ = ["FORMAT", "VERSION", "check_promise", "config_text", "digest", "file_size", "load", "pack", "save", "unpack"]

FORMAT = "abnet"
VERSION = "4"
"""Increased whenever a reader of the previous version would refuse a new file or predict something else from it. In
version 4 the filter of training rows uses another hash, and each kind of statement has fields of its own."""

HEADER = 2**26
"""Maximum length of a header in bytes; the preparation of a very wide table takes several megabytes."""
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
"""Types of the arrays of predictors in NumPy, by their name in the file."""


def pack(arrays: dict[str, NDArray[Any]], texts: dict[str, str]) -> bytes:
    """The bytes of a safetensors file; the same content always gives the same bytes.

    The safetensors library is not used for writing: it orders the metadata at random, and it ignores the memory order
    of arrays, so that an array in Fortran order would be stored wrongly.
    """
    header: dict[str, Any] = {"__metadata__": texts}
    content = b""
    for name in sorted(arrays):
        array = arrays[name]
        dtype = _dtype_name(name, array)
        data = array.astype(_DTYPES[dtype]).tobytes("C")
        offsets = [len(content), len(content) + len(data)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        content += data
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)  # arrays of float64 then lie at multiples of 8 bytes
    return len(text).to_bytes(8, "little") + text + content


def _dtype_name(name: str, array: NDArray[Any]) -> str:
    """The type of an array by its name in the file."""
    for dtype, stored in _DTYPES.items():
        if np.dtype(stored) == array.dtype:
            return dtype
    raise ValueError(f"the array {name} of type {array.dtype} cannot be stored in a model file.")


def unpack(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Read the arrays and texts of a file; raises a ValueError if it is truncated, damaged or not a safetensors file.

    It never allocates more memory than the size of the file.
    """
    from safetensors import SafetensorError, safe_open

    _check_header(path)
    try:
        with safe_open(str(path), "np") as file:
            arrays = {name: _array(file, name) for name in file.keys()}  # noqa: SIM118 it is no mapping
            return arrays, file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"it is truncated, damaged or not a safetensors file ({error}).") from error


def _check_header(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise ValueError("it is truncated, or not a safetensors file.")
    if length > HEADER:
        raise ValueError(f"its header of {length:,} bytes exceeds the {HEADER:,} that are read.")


def _array(file: Any, name: str) -> NDArray[Any]:
    dtype = _DTYPES.get(file.get_slice(name).get_dtype())
    if dtype is None:
        raise ValueError(f"the array {name[:60]!r} has a type that no model has.")
    # A copy is aligned and contiguous, as after training; otherwise the last bit of a product may differ.
    return np.array(file.get_tensor(name), dtype, order="C", copy=True)


_KEYS = {"kind", "labels", "feature_names", "preparation", "calibration", "certificate", "decision", "card"}


def config_text(model: Model) -> str:
    """The JSON text of everything but the arrays."""
    config = predicting_parts(model)
    config["certificate"] = None
    if model.certificate is not None:
        config["certificate"] = model.certificate.to_dict()
    config["card"] = model.card.to_dict()
    try:
        return json.dumps(config, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a model file holds plain finite numbers and text only: {error}.") from error


def parse_config(text: str) -> dict[str, Any]:
    """Parse the result of `config_text`; raises a ValueError for other keys, or numbers that are not finite.

    Examples
    --------
    >>> parse_config('{"kind": "table"}')
    Traceback (most recent call last):
    ValueError: its config lacks calibration, card, certificate, decision, feature_names, labels, preparation.
    """
    try:
        config = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its config is not valid JSON ({error}).") from error
    if not isinstance(config, dict):
        raise ValueError("its config is not a JSON object.")
    missing = sorted(_KEYS - set(config))
    unknown = sorted(set(config) - _KEYS)
    if missing:
        raise ValueError(f"its config lacks {', '.join(missing)}.")
    if unknown:
        raise ValueError(f"its config has unknown keys: {', '.join(unknown)[:200]}.")
    return config


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def _model(config: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Model:
    """The model from a parsed config and arrays; every part is checked."""
    preparation: Any = None
    if config["preparation"] is not None:
        preparation = preparation_from_dict(config["preparation"])
    calibration = None
    if config["calibration"] is not None:
        calibration = Calibration.from_dict(config["calibration"])
    certificate = None
    if config["certificate"] is not None:
        certificate = Certificate.from_dict(config["certificate"])
    return Model(
        predictor=predictor_class(config["kind"]).from_arrays(arrays),
        labels=Labels.from_dict(config["labels"]),
        preparation=preparation,
        feature_names=_names(config["feature_names"]),
        calibration=calibration,
        certificate=certificate,
        decision=_decision(config["decision"]),
        card=Card.from_dict(config["card"]),
    )


def _decision(record: Any) -> Decision:
    try:
        return msgspec.convert(record, Decision)
    except msgspec.ValidationError as error:
        raise ValueError(f"its decision is damaged: {error}.") from error


def _names(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("its feature names are not a list of texts.")
    return tuple(value)


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model, with its certificate and preparation, to one file, atomically.

    Parameters
    ----------
    model : Model
        ``clf.model_`` of a fitted classifier.
    path : path
        An existing file is replaced atomically.

    Raises
    ------
    ValueError
        If a part of the model cannot be stored as plain numbers and text, such as a preprocessor of another library or
        labels that are dates, or if its certificate is about another model.
    OSError
        If the file cannot be written there.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> path = Path(tempfile.mkdtemp()) / "model.abnet"
    >>> save(model, path)
    >>> load(path).predict([[1.0, 2.0], [-1.0, 0.5]])
    array([ 1, -1])
    """
    content = _content(model)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def file_size(model: Model) -> int | None:
    """Size in bytes of the file that `save` would write; None for a model that cannot be stored."""
    try:
        return len(_content(model))
    except (ValueError, AttributeError, TypeError):  # parts of the caller's own
        return None


def _content(model: Model) -> bytes:
    """The bytes of a model file."""
    check_promise(model, model.certificate)
    arrays = shrunk(model.predictor.arrays())
    config = config_text(model)
    texts = {
        "format": FORMAT,
        "format_version": VERSION,
        "config": config,
        "sha256": digest(arrays, VERSION, config),
    }
    return pack(arrays, texts)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file written by `save`; its predictions are the same bit for bit.

    No code from the file is run, and neither JAX nor scikit-learn is imported. The bounds of a certificate are
    recomputed from its counts, so a file cannot claim a better bound than its counts support.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        If the file is truncated, damaged, altered, of another kind or of another version; the message names the file.
    FileNotFoundError
        If there is no such file.
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"there is no model file {path}; check the path.")
    if not file.is_file():
        raise ValueError(f"{path} is not a model file but a folder or a device.")
    try:
        return _load(file)
    except ValueError as error:
        raise ValueError(f"{path} is not a valid model file: {error}") from error


def _load(file: Path) -> Model:
    arrays, texts = unpack(file)
    model = _model(_checked_config(arrays, texts), restored(arrays))
    _check_width(model)
    check_promise(model, model.certificate)
    return model


def _checked_config(arrays: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    if texts.get("format") != FORMAT:
        raise ValueError("it was not written by abnet.")
    if texts.get("format_version") != VERSION:
        raise ValueError(_other_version(texts.get("format_version", "")))
    if set(texts) != {"format", "format_version", "config", "sha256"}:
        raise ValueError(f"its metadata has the keys {', '.join(sorted(texts))[:200]}.")
    if digest(arrays, VERSION, texts["config"]) != texts["sha256"]:
        raise ValueError("it was damaged or altered after it was written (checksum mismatch).")
    return parse_config(texts["config"])


def _other_version(found: str) -> str:
    what_to_do = "install a newer abnet."
    if found.isdecimal() and int(found[:20]) < int(VERSION):
        what_to_do = "fit the model again, or read it with the abnet that wrote it."
    return f"it has format version {found[:20]!r}, this release reads {VERSION!r}; {what_to_do}"


def _check_width(model: Model) -> None:
    """Raise a ValueError for a preparation, feature names or a decision that do not match the predictor."""
    if isinstance(model.preparation, Unprepared) and model.feature_names is not None:
        n_features = len(model.feature_names)
        if n_features != model.n_inputs:
            raise ValueError(f"it names {n_features} features, its network takes {model.n_inputs}.")
    elif model.preparation.n_features_out != model.n_inputs:
        raise ValueError(
            f"its preparation makes {model.preparation.n_features_out} features, its network takes {model.n_inputs}."
        )
    if model.decision.kind == "cut" and (model.n_classes != 2 or model.decision.positive not in (0, 1)):
        raise ValueError("its decision is a cut, which is for two classes.")
    costs = model.decision.costs
    if costs is not None and (len(costs.table) != model.n_classes or model.n_classes == 2):
        raise ValueError(f"its decision has costs of {len(costs.table)} classes, but it has {model.n_classes}.")


def check_promise(model: Model, certificate: Certificate | None) -> None:
    """Raise a ValueError for a certificate about another model, or about another decision than the model's."""
    if certificate is None:
        return
    belonging(certificate, model)
    for statement in certificate.statements:
        rule = getattr(statement, "rule", None)
        if statement.value is None or rule is None:
            continue
        if not rule.is_of(model.decision, model.labels.names):
            raise ValueError(f"the certificate is about the decision {rule}, but the model has {model.decision}.")
    _check_costs(model.decision, certificate)


def _check_costs(decision: Decision, certificate: Certificate) -> None:
    """Raise a ValueError for an expected cost of other answers than those of the decision."""
    for cost in certificate.each(CostBound):
        of_rule = decision.costs is not None and decision.costs.largest == cost.largest
        if cost.minimised != of_rule:
            raise ValueError(f"the certificate is about the {cost.about} of other answers than the model's decision.")
