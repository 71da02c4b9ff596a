"""`abnet data`."""

from pathlib import Path
from typing import Annotated

import typer

from abnet.cli import options, show
from abnet.cli.guard import guarded

__all__ = ["data"]


@guarded
def data(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Data set to describe or write.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="CSV file to write the data set to.")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder with the original files, tried before ABNET_DATA."),
    ] = None,
    download: Annotated[bool, typer.Option("--download", metavar="", help="Fetch missing files from OpenML.")] = False,
    json: options.AsJSON = False,
) -> None:
    """List the data sets known by name, or write one to a CSV file.

    The labels are in the column 'label'.

    abnet data
    abnet data breast_cancer --output cancer.csv
    abnet data adult --data-dir ~/data --output adult.csv
    """
    from abnet.cli.jobs.write_dataset import list_names, write_dataset

    if name is None:
        listing = list_names()
        if json:
            show.as_json(listing)
        else:
            show.rows(
                ["name", "files needed"], [[key, ", ".join(files) or "none"] for key, files in listing.items()], left=2
            )
        return
    record = write_dataset(name, output, data_dir=data_dir, download=download)
    if json:
        show.as_json(record)
    else:
        print(record["summary"] + (f", written to {output}" if output else ""))
