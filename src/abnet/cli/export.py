"""`abnet export`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import UsageError, guarded

__all__ = ["export"]


@guarded
def export(
    model: options.Model,
    to: Annotated[
        str,
        typer.Option(metavar="c|onnx", help="One self-contained C99 file, or an ONNX model for onnxruntime."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; by default named like the model."),
    ] = None,
    precision: Annotated[
        str,
        typer.Option(
            metavar="single|double",
            help="Of the weights and tables in C: single takes half the flash, double gives Python's scores.",
        ),
    ] = "single",
    json: options.AsJSON = False,
) -> None:
    """Write a model for other programs, with its preparation, labels and certificate.

    Compact networks, mixtures of them, MAP networks and networks drawn from the
    posterior can be exported. What was written gives the labels of abnet predict.

    abnet export model.abnet --to c --output model.c
    abnet export model.abnet --to onnx
    """
    from abnet.cli.jobs.export_model import export_model

    if to not in ("c", "onnx"):
        raise UsageError(f"--to must be 'c' or 'onnx', not {to!r}.")
    if precision not in ("single", "double"):
        raise UsageError(f"--precision must be 'single' or 'double', not {precision!r}.")
    record = export_model(model, to, output, precision=precision)
    if json:
        show.as_json(record)
        return
    replaced = ", in place of an older file" if record["replaced"] else ""
    print(f"Wrote {record['output']} ({show.kilobytes(record['bytes'])}){replaced}.")
    if to == "c":
        link = "link with -lm" if record["libm"] else "no mathematical library needed"
        print(f"constants: {record['flash_bytes']:,} bytes of flash, beside the code")
        print(f"working memory: {record['ram_bytes']:,} bytes of stack; {link}")
    else:
        print(f"inputs: {', '.join(record['inputs'])}")
        print(f"outputs: {', '.join(record['outputs'])}")
