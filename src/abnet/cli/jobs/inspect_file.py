"""The content of a model file as plain values: the job of `abnet inspect`."""

from pathlib import Path
from typing import Any

from abnet.bounds.single_network import DrawnCertificate
from abnet.files import load
from abnet.files.config import certificate_record
from abnet.files.kinds import kind_of
from abnet.predictors.predictor import Predictor

__all__ = ["inspect_file"]


KINDS = {"standard": "standard scaling", "minmax": "minmax scaling", "thermometer": "signs between thresholds"}
"""Preparations of numeric rows, in words."""


def inspect_file(path: Path) -> tuple[dict[str, Any], str]:
    """A record of everything but the numbers in the arrays, and the certificate in words."""
    model = load(path)
    info = model.info
    record = {
        "path": str(path),
        "bytes": path.stat().st_size,
        "kind": kind_of(model),
        "n_inputs": model.n_inputs,
        "arrays": {name: list(array.shape) for name, array in model.arrays().items()},
        "classes": info.classes.tolist(),
        "feature_names": info.feature_names,
        "columns": _columns(model),
        "preparation": None if info.preparation is None else info.preparation.to_dict(),
        "certificate": certificate_record(info.certificate),
        "details": info.details,
    }
    return record, _promise(model)


def _columns(model: Predictor) -> list[str]:
    """A line per column of the tables that the model takes."""
    preparation, names = model.info.preparation, model.info.feature_names
    if preparation is not None and preparation.to_dict()["kind"] == "table":
        return list(preparation.describe())
    scaled = "" if preparation is None else f": numeric, {KINDS[preparation.to_dict()['kind']]}"
    return [f"{name}{scaled}" for name in names or ()]


def _promise(model: Predictor) -> str:
    if model.certificate_ is None:
        return "There is no certificate in this file: no theorem covered the way the model was learned."
    if isinstance(model.certificate_, DrawnCertificate):
        return model.certificate_.describe()
    first, second = model.info.labels.names
    return model.certificate_.describe(classes=(first, second))
