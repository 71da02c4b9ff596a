"""A model file for other programs: the job of `abnet export`."""

from pathlib import Path
from typing import Any

from abnet.export import to_c, to_onnx
from abnet.files import load

__all__ = ["export_model"]

SUFFIXES = {"c": ".c", "onnx": ".onnx"}


def export_model(model: Path, to: str, output: Path | None = None, *, precision: str = "single") -> dict[str, Any]:
    """Write the export; a record of what was written and what it takes."""
    predictor = load(model)
    target = output or model.with_suffix(SUFFIXES[to])
    if target.exists() and target.samefile(model):
        raise ValueError(f"{target} is the model file itself; name another file with --output.")
    replaced = target.exists()
    if to == "c":
        source = to_c(predictor, target, precision=precision)
        about = {
            "flash_bytes": source.flash_bytes, "ram_bytes": source.ram_bytes, "libm": source.libm,
            "precision": precision, "columns": list(source.members),
        }  # fmt: skip
    else:
        graph = to_onnx(predictor, target).graph
        about = {"inputs": [given.name for given in graph.input], "outputs": [made.name for made in graph.output]}
    return {"model": str(model), "to": to, "output": str(target), "replaced": replaced, **about} | {
        "bytes": target.stat().st_size
    }
