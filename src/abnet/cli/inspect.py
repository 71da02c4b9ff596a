"""`abnet inspect`: show the contents of a model file or a saved certificate."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded

__all__ = ["inspect"]


@guarded
def inspect(
    model: Annotated[
        Path, typer.Argument(metavar="FILE", readable=False, help="Model file, or a certificate written with --save.")
    ],
    of: Annotated[
        Path | None,
        typer.Option("--model", metavar="MODEL", help="For a certificate: the model file that it should be about."),
    ] = None,
    details: options.Details = False,
    json: options.AsJSON = False,
) -> None:
    """Show the contents of a model file or of a saved certificate.

    The file is checked in full, and the bounds of its certificate are
    recomputed from the counts that it records. With --model, a certificate
    that is about another model is an error.

    abnet inspect model.abnet --details
    abnet inspect certificate.json --model model.abnet
    abnet inspect model.abnet --json | jq .certificate.vote_error_bound
    """
    from abnet.model.summary import inspect_file

    found = inspect_file(model, model=of)
    console.show_notes(found.notes)
    if json:
        console.as_json(found.to_dict())
        return
    if found.model is None:
        print(found.promise(details=details))
        return
    print(f"{found.path}: {console.file_size(found.size)}\n")
    print(found.promise(details=details), end="\n\n")
    if found.columns:
        print("columns")
        for line in found.column_lines():
            console.indented(line)
        print()
    for name, text in found.facts().items():
        console.indented(text, name=name)
