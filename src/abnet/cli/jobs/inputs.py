"""What the jobs start from: a classifier from the options of a command, labelled rows from a file, parts of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.cli.guard import UsageError
from abnet.cli.show import count

__all__ = ["Labelled", "make_estimator", "read_labelled", "take", "two_random_parts"]


def make_estimator(model: str, settings: dict[str, Any], *, preprocessor: Any = None, verbose: bool = False) -> Any:
    """An unfitted classifier; options that it would refuse are wrong use, found before any file is read."""
    if model not in ("abnet", "pbgnet"):
        raise UsageError(f"--model must be 'abnet' or 'pbgnet', not {model!r}.")
    from abnet import ABNetClassifier, PBGNetClassifier

    kind = ABNetClassifier if model == "abnet" else PBGNetClassifier
    classifier = kind(**settings, preprocessor=preprocessor, verbose=int(verbose))
    classifier._check_parameters()
    return classifier


class Labelled(NamedTuple):
    """Features, as a frame or an array, and labels of two classes."""

    X: Any
    y: NDArray[Any]


def take(data: Labelled, rows: Any) -> Labelled:
    """Some rows of a labelled table or array."""
    from sklearn.utils import _safe_indexing

    return Labelled(_safe_indexing(data.X, rows), data.y[rows])


def two_random_parts(n: int, fraction: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of about ``fraction · n`` rows at random, and of the rest."""
    from abnet.training.trainer import two_parts

    return two_parts(n, fraction, np.random.default_rng([seed, 1]))


def read_labelled(table: Path, target: str, *, drop: Sequence[str] = (), at_least: int) -> Labelled:
    """Read a table and take the target out of it.

    Parameters
    ----------
    table : path
    target : str
        Column with the labels.
    drop : sequence of str
        Columns to leave out.
    at_least : int
        Rows that the job needs to split the table.

    Raises
    ------
    UsageError
        If a column that was named is not in the table.
    TableError
        If the table itself is of no use.
    """
    from abnet.data.tables import TableError, read_table, split_target
    from abnet.data.tables.error import UnknownColumnError, listed

    frame = read_table(table)
    unknown = [name for name in drop if name not in frame.columns]
    if unknown:
        raise UsageError(f"--drop: no column {listed(unknown)} in {table}; its columns are {listed(frame.columns)}.")
    if target in drop:
        raise UsageError(f"--drop: {target!r} is the target, which cannot be dropped.")
    try:
        X, y, _ = split_target(frame.drop(list(drop)), target)
    except UnknownColumnError as error:
        raise UsageError(f"--target: {error}") from error
    if len(y) < at_least:
        raise TableError(
            f"{table} has {count(len(y), 'row')}, too few to learn from one part and certify on another; "
            f"at least {at_least} are needed."
        )
    return Labelled(X, y)
