"""Named data sets as tables: the job of `abnet data`."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from abnet.atomic import atomic_path
from abnet.cli.guard import WrongUseError
from abnet.data import Dataset, load, names
from abnet.data.named import UnknownDatasetError
from abnet.labels import Labels

__all__ = ["list_names", "write_dataset"]


def list_names() -> dict[str, Any]:
    """Names with the original files that they need."""
    return {name: list(files) for name, files in names().items()}


def write_dataset(name: str, output: Path | None, *, data_dir: Path | None, download: bool) -> dict[str, Any]:
    """Describe a data set, and write it as CSV if a file is named."""
    try:
        dataset = load(name, data_dir=data_dir, download=download)
    except UnknownDatasetError as error:
        raise WrongUseError(str(error)) from error
    if output is not None:
        _write(dataset, output)
    n, d = dataset.X.shape
    classes = " or ".join(dataset.classes)
    summary = f"{name}: {n:,} rows, {d} columns, label {classes}"
    return {
        "name": name, "n_rows": n, "n_columns": d, "classes": dataset.classes, "description": dataset.description,
        "output": None if output is None else str(output), "summary": summary,
    }  # fmt: skip


def _write(dataset: Dataset, output: Path) -> None:
    """Rows with the shortest decimals that give the same float32 back, whole numbers without a point."""
    labels = Labels(np.array(dataset.classes)).from_scores(dataset.y).tolist()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*dataset.feature_names, "label"])
        for row, label in zip(dataset.X, labels, strict=True):
            writer.writerow([*(str(value).removesuffix(".0") for value in row), label])
