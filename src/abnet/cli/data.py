"""`abnet data`: data sets known by name."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import console, options
from abnet.cli.guarded import guarded

__all__ = ["data"]


@guarded
def data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Data set to describe or write.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write the data set to.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder with the original files, tried before ABNET_DATA.")
    ] = None,
    download: Annotated[bool, options.flag("--download", "Fetch missing files from OpenML.")] = False,
    overwrite: options.Overwrite = False,
    json: options.AsJSON = False,
) -> None:
    """List the data sets known by name, or write one to a CSV file.

    The labels are in the column 'label'.

    abnet data
    abnet data breast_cancer --output cancer.csv
    abnet data adult --data-dir ~/data --output adult.csv
    """
    from abnet.cli.outputs import check_output
    from abnet.paper.data.datasets import names

    if name is None:
        listing = {key: list(files) for key, files in names().items()}
        if json:
            console.as_json(listing)
        else:
            column = max(map(len, listing)) + 2
            console.indented("files needed", name="name", indent=column)
            for key, files in listing.items():
                console.indented(", ".join(files) or "none", name=key, indent=column)
        return
    if output is not None:
        check_output(output, "CSV", overwrite=overwrite)
    from abnet.paper.data.dataset_table import write_dataset

    written = write_dataset(name, output, data_dir=data_dir, download=download)
    summary = f"{name}: {written.n_rows:,} rows, {written.n_columns} columns, label {' or '.join(written.classes)}"
    if json:
        console.as_json({**written.to_dict(), "summary": summary})
        return
    if output is not None:
        summary += f", written to {output}"
    print(summary)
