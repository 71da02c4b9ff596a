"""A data set that is known by name, written as a CSV table."""

import csv
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from abnet.paper.data.datasets import Dataset, UnknownDatasetError, load
from abnet.tables.labels import Labels
from abnet.utils.atomic import atomic_path
from abnet.utils.errors import ParameterError

__all__ = ["WrittenDataset", "write_dataset"]


@dataclass(frozen=True)
class WrittenDataset:
    """A named data set: its size, its classes, and the file it was written to, if any."""

    name: str
    n_rows: int
    n_columns: int
    classes: tuple[str, ...]
    description: str
    output: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "classes": list(self.classes),
            "description": self.description,
            "output": self.output,
        }


def write_dataset(
    name: str,
    output: str | os.PathLike[str] | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = False,
) -> WrittenDataset:
    """Describe a data set that is known by name, and write it as CSV if a file is named; labels are in 'label'.

    Parameters
    ----------
    name : str
        One of `abnet.paper.names`.
    output : path, optional
    data_dir, download
        As for `abnet.paper.load`.
    """
    try:
        dataset = load(name, data_dir=data_dir, download=download)
    except UnknownDatasetError as error:
        raise ParameterError("{}", str(error)) from error
    if output is not None:
        output = os.fspath(output)
        _write(dataset, output)
    n_rows, n_columns = dataset.X.shape
    return WrittenDataset(
        name=name,
        n_rows=n_rows,
        n_columns=n_columns,
        classes=tuple(map(str, dataset.classes)),
        description=dataset.description,
        output=output,
    )


def _write(dataset: Dataset, output: str) -> None:
    """Rows with the shortest decimals that give the same float32 back, whole numbers without a point."""
    labels = Labels(np.array(dataset.classes)).from_scores(dataset.y).tolist()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*dataset.feature_names, "label"])
        for row, label in zip(dataset.X, labels, strict=True):
            cells = [str(value).removesuffix(".0") for value in row]
            writer.writerow([*cells, label])
