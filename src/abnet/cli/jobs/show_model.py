"""A model file as plain values and for other programs: the jobs of `abnet inspect` and `abnet export`."""

from pathlib import Path
from typing import Any

from abnet.certificates.certificate import Certificate, load_certificate
from abnet.certificates.record_file import kind_of_record
from abnet.certificates.statement import Estimate
from abnet.cli.console import say
from abnet.cli.jobs.inputs import EXPORTED, check_output, described
from abnet.export import c_files, to_c, to_onnx
from abnet.model.file import load
from abnet.model.model import Model
from abnet.predictors.kinds import kind_of
from abnet.preparation.coded import CodedMap

__all__ = ["export_model", "inspect_certificate", "inspect_file"]


SUFFIXES = {"c": ".c", "onnx": ".onnx"}


def export_model(
    model: Path,
    to: str,
    output: Path | None = None,
    *,
    prefix: str = "abnet",
    example: bool = False,
    single: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write the export; a record of what was written and what it takes."""
    target = output or model.with_suffix(SUFFIXES[to])
    for file in c_files(target, example=example) if to == "c" else (target,):
        check_output(file, EXPORTED[to], inputs=[model], overwrite=overwrite)
    loaded = load(model)
    replaced = target.exists()
    if to == "c":
        source = to_c(loaded, target, prefix=prefix, example=example, single=single)
        about = {
            "files": [str(file) for file in c_files(target, example=example)], "flash_bytes": source.flash_bytes,
            "ram_bytes": source.ram_bytes, "libm": source.libm, "columns": list(source.members),
        }  # fmt: skip
    else:
        graph = to_onnx(loaded, target).graph
        about = {"inputs": [given.name for given in graph.input], "outputs": [made.name for made in graph.output]}
    return {"model": str(model), "to": to, "output": str(target), "replaced": replaced, **about} | {
        "bytes": target.stat().st_size
    }


KINDS = {"standard": "standard scaling", "minmax": "minmax scaling", "thermometer": "signs between thresholds"}
"""Preparations of numeric rows, in words."""


def inspect_file(path: Path, *, details: bool = False) -> tuple[dict[str, Any], str]:
    """A record of everything but the numbers in the arrays, and the certificate in words."""
    model = load(path)
    record = {
        "path": str(path),
        "bytes": path.stat().st_size,
        "kind": kind_of(model.predictor),
        "n_inputs": model.n_inputs,
        "arrays": {name: list(array.shape) for name, array in model.predictor.arrays().items()},
        "classes": model.classes_.tolist(),
        "feature_names": model.feature_names,
        "columns": _columns(model),
        "preparation": None if model.preparation is None else model.preparation.to_dict(),
        "certificate": None if model.certificate is None else model.certificate.to_dict(),
        "card": model.card.to_dict(),
    }
    return record, _promise(model, details)


def inspect_certificate(path: Path) -> Certificate | Estimate | None:
    """The certificate in a JSON file, its bounds computed again, or the estimate; None for a file of another kind."""
    kind = kind_of_record(path)
    if kind == "estimate":
        return Estimate.load(path)
    if kind is None:
        return None
    found = load_certificate(path)
    _say_what_was_checked(found)
    return found


def _say_what_was_checked(certificate: Certificate) -> None:
    """Name the statements that could not be computed again: betting needs the losses one by one."""
    left = [about for about, how in certificate.check().items() if how == "attainable"]
    if left:
        say(f"not recomputed, because the single values are not in the file: {', '.join(left)}")


def _columns(model: Model) -> list[str]:
    """A line per column of the tables that the model takes."""
    preparation, names = model.preparation, model.feature_names
    coded = isinstance(preparation, CodedMap)
    base = preparation.base if isinstance(preparation, CodedMap) else preparation
    codes = [f"thermometer codes: {sum(map(len, preparation.thresholds))} thresholds on the features"] if coded else []
    if base is not None and base.to_dict()["kind"] == "table":
        names = (*(column.name for column in base.columns), *base.dropped)
        return [*(described(name, line) for name, line in zip(names, base.describe(), strict=True)), *codes]
    scaled = "" if base is None else f": numeric, {KINDS[base.to_dict()['kind']]}"
    return [*(f"{name}{scaled}" for name in names or ()), *codes]


def _promise(model: Model, details: bool) -> str:
    if model.certificate_ is None:
        return "There is no certificate in this file: no theorem covered the way the model was learned."
    _say_what_was_checked(model.certificate_)
    return model.certificate_.describe(details=details)
