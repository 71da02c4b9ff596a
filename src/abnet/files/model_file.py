"""One predictor in one file: its arrays and one JSON text, strict when read, with a digest of everything."""

import hashlib
import json
import math
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import atomic_path
from abnet.certificates.certificate import Certificate
from abnet.labels import Labels
from abnet.predictors.predictor import Calibration, ModelInfo, Predictor

__all__ = [
    "FORMAT",
    "VERSION",
    "config_text",
    "digest",
    "info_from_config",
    "kind_of",
    "load",
    "pack",
    "parse_config",
    "predictor_class",
    "register",
    "save",
    "unpack",
]


_HOMES = {
    "compact ABNet": "abnet.predictors.compact:CompactABNet",
    "compact MAP": "abnet.predictors.compact:CompactMAP",
    "mean field": "abnet.predictors.mean_field_network:MeanFieldNetwork",
    "paths": "abnet.predictors.paths:PathPredictor",
    "compact stochastic ABNet": "abnet.predictors.paths:CompactUniform",
    "stochastic mean field": "abnet.predictors.mean_field_network:SampledMeanField",
    "posterior average": "abnet.predictors.drawn_network:PosteriorAverage",
    "binary network": "abnet.predictors.binary_network:BinaryNetwork",
    "drawn network": "abnet.predictors.drawn_network:DrawnNetwork",
    "compact mixture": "abnet.predictors.mixture:CompactMixture",
    "mixture of paths": "abnet.predictors.mixture:PathMixture",
}
"""From the name in the file to the class. A file chooses among these, so it cannot have anything else imported."""


def register(kind: str, home: str) -> None:
    """Let files hold a further class of predictor.

    Parameters
    ----------
    kind : str
        Name in the file; it stays for ever.
    home : str
        ``module:class`` of a `Predictor`, whose ``from_arrays`` builds it from what ``arrays()`` gave, and raises
        ValueError for anything else.
    """
    if _HOMES.setdefault(kind, home) != home:
        raise ValueError(f"the kind {kind!r} is taken by {_HOMES[kind]}.")


def kind_of(predictor: Predictor) -> str:
    """The name under which a predictor is stored.

    Examples
    --------
    >>> import numpy as np
    >>> from abnet.predictors.compact import CompactABNet
    >>> kind_of(CompactABNet(np.ones((1, 2)), np.zeros(1), np.array([-1.0, 1.0])))
    'compact ABNet'
    """
    cls = type(predictor)
    home = f"{cls.__module__}:{cls.__qualname__}"
    for kind, known in _HOMES.items():
        if known == home:
            return kind
    raise ValueError(f"a {cls.__name__} cannot be stored in a model file; the kinds are {', '.join(_HOMES)}.")


def predictor_class(kind: object) -> type[Predictor]:
    """The class of a kind, imported now."""
    home = _HOMES.get(kind) if isinstance(kind, str) else None
    if home is None:
        raise ValueError(f"unknown kind of model {str(kind)[:60]!r}; this release reads {', '.join(_HOMES)}.")
    module, name = home.split(":")
    found: type[Predictor] = getattr(import_module(module), name)
    return found


HEADER = 2**26
"""Longest header read, in bytes: the preparation of a very wide table takes some megabytes."""
_DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1", "U8": "|u1"}
"""Types of arrays that predictors are made of, by their name in the file."""


def pack(arrays: dict[str, NDArray[Any]], texts: dict[str, str]) -> bytes:
    """The bytes of a safetensors file, always the same for the same content.

    Written here, since the library orders the texts at random, and takes the memory of an array as it lies: one in
    Fortran order would come back with its values at other places.
    """
    header: dict[str, Any] = {"__metadata__": texts}
    content = b""
    for name in sorted(arrays):
        array = arrays[name]
        dtype = next((key for key, known in _DTYPES.items() if np.dtype(known) == array.dtype), None)
        if dtype is None:
            raise ValueError(f"the array {name} of type {array.dtype} cannot be stored in a model file.")
        data = array.astype(_DTYPES[dtype]).tobytes("C")
        offsets = [len(content), len(content) + len(data)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        content += data
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)  # arrays of float64 then lie at multiples of 8 bytes
    return len(text).to_bytes(8, "little") + text + content


def unpack(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Arrays, each in memory of its own, and texts; ValueError if the file is truncated, damaged or foreign.

    Nothing is allocated that the file itself does not fill.
    """
    from safetensors import SafetensorError, safe_open

    _check_header(path)
    try:
        with safe_open(str(path), "np") as file:
            return {name: _array(file, name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118 no mapping
    except SafetensorError as error:
        raise ValueError(f"it is truncated, damaged or no safetensors file ({error}).") from error


def _check_header(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise ValueError("it is truncated, or no safetensors file.")
    if length > HEADER:
        raise ValueError(f"its header of {length:,} bytes exceeds the {HEADER:,} that are read.")


def _array(file: Any, name: str) -> NDArray[Any]:
    dtype = _DTYPES.get(file.get_slice(name).get_dtype())
    if dtype is None:
        raise ValueError(f"the array {name[:60]!r} has a type that no model has.")
    # A copy is aligned, and lies in memory as training left it: both decide about the last bit of a product.
    return np.array(file.get_tensor(name), dtype, order="C", copy=True)


def digest(arrays: dict[str, NDArray[Any]], *texts: str) -> str:
    """SHA-256 of texts and arrays with their names, types and shapes, in hexadecimal.

    Examples
    --------
    >>> digest({"b": np.zeros(2)}, "config") == digest({"b": np.zeros(3)}, "config")
    False
    """
    total = hashlib.sha256()
    for text in texts:
        _add(total, text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<"))
        _add(total, f"{name} {array.dtype.str} {array.shape}".encode())
        _add(total, array.tobytes())
    return total.hexdigest()


def _add(total: Any, content: bytes) -> None:
    # The length goes first, so that no two different lists of parts run together to the same bytes.
    total.update(len(content).to_bytes(8, "little"))
    total.update(content)


_KEYS = {"kind", "classes", "feature_names", "preparation", "certificate", "details"}
_LATER_KEYS = {"calibration"}
"""Written since version 0.2 where there is something to write; a file without them is read as ever."""


def config_text(kind: str, info: ModelInfo) -> str:
    """The JSON text of a predictor's kind and `ModelInfo`."""
    config = {
        "kind": kind,
        "classes": info.labels.to_dict(),
        "feature_names": None if info.feature_names is None else list(info.feature_names),
        "preparation": _stored(info.preparation),
        "certificate": None if info.certificate is None else info.certificate.to_dict(),
        "details": info.details,
    } | ({} if info.calibration is None else {"calibration": info.calibration.to_dict()})
    try:
        return json.dumps(config, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"a model file holds plain finite numbers and text only, but its details do not: {error}."
        ) from error


def _stored(preparation: Any) -> dict[str, Any] | None:
    if preparation is None:
        return None
    from abnet.preparation import preparation_to_dict

    return preparation_to_dict(preparation)


def parse_config(text: str) -> dict[str, Any]:
    """The dictionary in a text that `config_text` wrote; ValueError for other keys or numbers that are not finite.

    Examples
    --------
    >>> parse_config('{"kind": "compact ABNet"}')
    Traceback (most recent call last):
    ValueError: its config lacks certificate, classes, details, feature_names, preparation.
    """
    try:
        config = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its config is not valid JSON ({error}).") from error
    if not isinstance(config, dict):
        raise ValueError("its config is not a JSON object.")
    missing, unknown = sorted(_KEYS - set(config)), sorted(set(config) - _KEYS - _LATER_KEYS)
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


def info_from_config(config: dict[str, Any]) -> ModelInfo:
    """The `ModelInfo` in a parsed config, every part of it checked."""
    details = config["details"]
    if not isinstance(details, dict):
        raise ValueError("its details are not a JSON object.")
    return ModelInfo(
        labels=Labels.from_dict(config["classes"]),
        feature_names=_names(config["feature_names"]),
        preparation=_preparation(config["preparation"]),
        certificate=None if config["certificate"] is None else Certificate.from_dict(config["certificate"]),
        details=details,
        calibration=Calibration.from_dict(config["calibration"]) if "calibration" in config else None,
    )


def _names(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("its feature names are not a list of texts.")
    return tuple(value)


def _preparation(record: Any) -> Any:
    if record is None:
        return None
    from abnet.preparation import preparation_from_dict

    return preparation_from_dict(record)


FORMAT, VERSION = "abnet", "1"


def save(predictor: Predictor, path: str | os.PathLike[str]) -> None:
    """Write a fitted predictor, with its certificate and preparation, to one file, atomically.

    Parameters
    ----------
    predictor : Predictor
        ``clf.compact()`` of a fitted classifier.
    path : path
        A file of that name is replaced in one step.

    Raises
    ------
    ValueError
        If something in the predictor is not plain numbers or text: a preprocessor of another kind, labels that are
        dates.
    OSError
        If the file cannot be written there.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from abnet.predictors.compact import CompactABNet
    >>> net = CompactABNet(np.ones((1, 2)), np.zeros(1), np.array([-1.0, 1.0]))
    >>> path = Path(tempfile.mkdtemp()) / "model.abnet"
    >>> save(net, path)
    >>> load(path).predict([[1.0, 2.0], [-1.0, 0.5]])
    array([ 1, -1])
    """
    arrays, config = predictor.arrays(), config_text(kind_of(predictor), predictor.info)
    texts = {"format": FORMAT, "format_version": VERSION, "config": config, "sha256": digest(arrays, VERSION, config)}
    content = pack(arrays, texts)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def load(path: str | os.PathLike[str]) -> Predictor:
    """Read a predictor from a file that `save` wrote; it gives the same predictions, bit for bit.

    Runs no code from the file, and imports neither JAX nor scikit-learn. The bounds of a certificate are computed again
    from what was observed, so that a file cannot claim a better one than its own record earns.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        If the file is truncated, damaged, altered, foreign, or of a later version; the message names the file.
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


def _load(file: Path) -> Predictor:
    arrays, texts = unpack(file)
    config = _checked_config(arrays, texts)
    info = info_from_config(config)
    predictor = predictor_class(config["kind"]).from_arrays(arrays, info)
    _check_width(predictor)
    return predictor


def _checked_config(arrays: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    if texts.get("format") != FORMAT:
        raise ValueError("it was not written by abnet.")
    if texts.get("format_version") != VERSION:
        raise ValueError(
            f"it has format version {texts.get('format_version', '')[:20]!r}, this release reads {VERSION!r}; "
            "install a newer abnet."
        )
    if set(texts) != {"format", "format_version", "config", "sha256"}:
        raise ValueError(f"its metadata has the keys {', '.join(sorted(texts))[:200]}.")
    if digest(arrays, VERSION, texts["config"]) != texts["sha256"]:
        raise ValueError("it was damaged or altered after it was written (checksum mismatch).")
    return parse_config(texts["config"])


def _check_width(predictor: Predictor) -> None:
    """Refuse a preparation or feature names that do not fit the network."""
    info, expected = predictor.info, predictor.n_inputs
    if info.preparation is not None:
        found, what = info.preparation.n_features_out, "its preparation makes"
    elif info.feature_names is not None:
        found, what = len(info.feature_names), "it names"
    else:
        return
    if found != expected:
        raise ValueError(f"{what} {found} features, its network takes {expected}.")
