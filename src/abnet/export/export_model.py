"""`export_model`: export a model to other programs."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abnet.export.c_source import c_files, to_c
from abnet.model.table_rows import ModelOrPath, as_model
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["ExportedModel", "export_files", "export_model"]

SUFFIXES = {"c": ".c", "onnx": ".onnx"}


@dataclass(frozen=True)
class ExportedModel:
    """Result of `export_model`.

    Attributes
    ----------
    to : str
        "c" or "onnx".
    files : tuple of str
        All files, the main one first.
    size : int
        Bytes of the main file.
    replaced : bool
        Whether it replaced an older one.
    facts : dict
        For C: ``flash_bytes``, ``ram_bytes``, ``libm`` and ``columns``; for ONNX: ``inputs`` and ``outputs``.
    """

    to: str
    files: tuple[str, ...]
    size: int
    replaced: bool
    facts: dict[str, Any]

    @property
    def output(self) -> str:
        """The main file."""
        return self.files[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "to": self.to,
            "output": self.output,
            "files": list(self.files),
            "bytes": self.size,
            "replaced": self.replaced,
            **self.facts,
        }


def export_files(output: str | os.PathLike[str], to: str, *, example: bool = False) -> tuple[Path, ...]:
    """The files that `export_model` writes, the main one first.

    Examples
    --------
    >>> [file.name for file in export_files("model.c", "c", example=True)]
    ['model.c', 'model.h', 'model_example.c']
    """
    if to not in SUFFIXES:
        raise ParameterError("{} must be 'c' or 'onnx'; got {!r}.", Parameter("to"), to)
    if to == "c":
        return c_files(output, example=example)
    return (Path(output),)


def export_model(
    model: ModelOrPath,
    output: str | os.PathLike[str],
    *,
    to: str,
    prefix: str = "abnet",
    example: bool = False,
    single: bool = False,
) -> ExportedModel:
    """Export a model to C or ONNX, with its preparation, labels and certificate.

    Parameters
    ----------
    model : path, Model or fitted classifier
    output : path
    to : {"c", "onnx"}
        C99 with a header, or an ONNX model.
    prefix : str
        C only: prefix of all names; two models in one program need different prefixes.
    example : bool
        C only: also write a main program that reads a CSV file.
    single : bool
        C only: compute in float, for processors without doubles.
    """
    files = export_files(output, to, example=example)
    loaded = as_model(model)
    replaced = files[0].exists()
    facts: dict[str, Any]
    if to == "c":
        source = to_c(loaded, output, prefix=prefix, example=example, single=single)
        facts = {
            "flash_bytes": source.flash_bytes,
            "ram_bytes": source.ram_bytes,
            "libm": source.libm,
            "columns": list(source.members),
        }
    else:
        from abnet.export.onnx_model import to_onnx

        graph = to_onnx(loaded, output).graph
        facts = {
            "inputs": [tensor.name for tensor in graph.input],
            "outputs": [tensor.name for tensor in graph.output],
        }
    return ExportedModel(
        to=to,
        files=tuple(map(str, files)),
        size=files[0].stat().st_size,
        replaced=replaced,
        facts=facts,
    )
