"""`abnet export`: a model for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded

__all__ = ["export"]


@guarded
def export(
    model: options.Model,
    to: Annotated[
        str, typer.Option(metavar="c|onnx", help="A C99 file with its header, or an ONNX model for onnxruntime.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write; by default named like the model."),
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="NAME", help="C: prefix of all names; two models in one program need two.")
    ] = "abnet",
    example: Annotated[
        bool, options.flag("--example", "C: also write a main program that reads plain CSV (numbers, YYYY-MM-DD).")
    ] = False,
    single: Annotated[bool, options.flag("--float", "C: compute in float, for processors without doubles.")] = False,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
) -> None:
    """Write a model for other programs, with its preparation, labels and certificate.

    The export gives the same labels as `abnet predict`. Models with columns of
    hashed text cannot be exported, and models with columns of words only to ONNX.
    ONNX needs an extra: pip install 'abnet[onnx]'.

    abnet export model.abnet --to c --output model.c
    abnet export skin.abnet --to c --prefix skin --example
    abnet export model.abnet --to onnx
    """
    from abnet.cli.outputs import EXPORTED, check_output
    from abnet.export.export_model import SUFFIXES, export_files, export_model

    target = output or model.with_suffix(SUFFIXES.get(to, ".c"))
    for file in export_files(target, to, example=example):
        check_output(file, EXPORTED[to], inputs=[model], overwrite=overwrite)
    made = export_model(model, target, to=to, prefix=prefix, example=example, single=single)
    if json:
        console.as_json({"model": str(model), **made.to_dict()})
        return
    print(f"Wrote {made.output} ({console.file_size(made.size)}){console.replaced(made.replaced)}.")
    if to == "c":
        link = "no math library needed"
        if made.facts["libm"]:
            link = "link with -lm"
        print(f"Files:  {', '.join(made.files)}")
        print(f"Flash:  {made.facts['flash_bytes']:,} bytes of constants, and a few kB of code")
        print(f"Stack:  {made.facts['ram_bytes']:,} bytes of local arrays; {link}")
    else:
        from abnet.utils.wording import printable

        console.paragraph(f"Inputs: {', '.join(map(printable, made.facts['inputs']))}", end="\n")
        console.paragraph(f"Outputs: {', '.join(map(printable, made.facts['outputs']))}", end="\n")
