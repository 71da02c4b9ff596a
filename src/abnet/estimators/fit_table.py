"""`fit_table`: train a classifier on a table of any size, certify it, and write it to a model file."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from abnet.estimators.fitted_table import FittedTable
from abnet.estimators.fitting_mixin import FittingMixin
from abnet.estimators.read_rows import for_tables, read_rows
from abnet.model.card import Rival
from abnet.model.file import save
from abnet.model.model import Model
from abnet.tables.loaded_rows import LoadedRows
from abnet.tables.notes import NoteWarning, warn_of
from abnet.tables.table_source import TableSource
from abnet.utils.atomic import temporary_folder
from abnet.utils.parameters import check_positive
from abnet.utils.progress import report_progress

__all__ = ["FittedTable", "LEAST_ROWS", "fit_table"]


LEAST_ROWS = 10
"""Minimum number of rows for a split into two parts."""


def fit_table(
    table: Any,
    target: str,
    *,
    estimator: FittingMixin | None = None,
    max_learn_rows: int = 1_000_000,
    drop: Sequence[str] = (),
    group: str | None = None,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
    output: str | os.PathLike[str] | None = None,
    background: bool = True,
    command: str | None = None,
    time: str | None = None,
) -> FittingMixin:
    """Train a classifier on a table of any size, certify it, and write it to a model file if one is named.

    A table of at most `max_learn_rows` rows is fitted in memory. On a larger table, at most this many rows train the
    model, chosen by a hash of their content (`abnet.certificates.keyed_order`). All other rows are streamed through the
    fitted model and certify it. The `random_state` of the fitted copy is the seed that was used.

    Parameters
    ----------
    table : path, frame, sequence of frames, or iterator of frames
        A CSV, TSV or Parquet file (``-`` is standard input), or frames of Polars or pandas. A large table is read three
        times; the frames of an iterator are stored in temporary files meanwhile.
    target : str
        Column with the labels.
    estimator : CertifiedClassifier, ABNetClassifier or PBGNetClassifier, optional
        Unfitted; by default ``CertifiedClassifier()``. Without a preprocessor it gets a `TablePreparation`.
    max_learn_rows : int
        Maximum number of training rows.
    drop : sequence of str
        Columns to leave out.
    group : str, optional
        Column with the group of each row; it is not used as a feature.
    missing_label : {"drop", "error"}
        Rows without a label: leave them out, with a note that counts them, or stop.
    bins : int or sequence of float, optional
        Cut a numeric target into classes: at this many quantiles of rows set aside for this purpose, or at these
        points.
    output : path, optional
        Model file to write. It also contains the bound of logistic regression on the same rows, for comparison.
    background : bool
        Whether the model file keeps some training rows for explanations.
    command : str, optional
        The command line, to be stored in the model file.
    time : str, optional
        Column with the time of each row: dates, time stamps or numbers. The model is trained on the past and certified
        on the latest rows, and the time is not used as a feature. Of a table with more than `max_learn_rows` rows, the
        earliest rows train, at most this many, and all later rows certify.

    Returns
    -------
    classifier
        A fitted copy of `estimator`. If held-out rows were streamed, ``certificate_`` is computed from them, and
        ``bound_rows_`` and ``other_rows_`` are absent. With an output, ``table_`` is the `FittedTable` that `abnet fit`
        prints.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from abnet import CertifiedClassifier
    >>> def frames():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(20):
    ...         x = rng.normal(size=(100, 2)).round(3)
    ...         yield pl.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "y": x.sum(axis=1) > 0})
    >>> small = CertifiedClassifier((2,), max_iter=5, random_state=0)
    >>> clf = fit_table(frames(), "y", estimator=small, max_learn_rows=500)
    >>> clf.certificate_.facts.n_rows, clf.certificate_.vote_error_bound < 0.2
    (1500, True)
    """
    classifier = for_tables(estimator)
    check_positive("max_learn_rows", max_learn_rows, whole=True)
    with temporary_folder() as folder:
        source = TableSource(table, folder, lambda share: report_progress("Reading the table", share))
        rows, groups = read_rows(
            classifier,
            source,
            target,
            drop=drop,
            group=group,
            missing_label=missing_label,
            bins=bins,
            max_learn_rows=max_learn_rows,
            at_least=LEAST_ROWS,
            time=time,
        )
        fitted = classifier._fit(
            rows.X,
            rows.y,
            groups=groups,
            time=rows.times,
            emptied=True,
            written=True,
            held_out=rows.held_out,
            compare=output is not None,
        )
    rivals: tuple[Rival, ...] = ()
    if fitted.rival is not None:
        rivals = (fitted.rival,)
    card = msgspec.structs.replace(
        classifier.model_.card,
        target=target,
        group=group,
        time=time,
        cuts=rows.cuts,
        command=command,
        rivals=rivals,
        n_unlabelled_rows=rows.n_unlabelled or None,
    )
    if not background:
        card = msgspec.structs.replace(card, background=())
    classifier.model_ = replace(classifier.model_, card=card)
    warn_of(classifier.model_.preparation.notes, stacklevel=2)
    rows = replace(rows, notes=(*rows.notes, *fitted.notes))
    if output is not None:
        class_weight = getattr(classifier, "class_weight", None)
        classifier.table_ = _write(classifier.model_, rows, Path(output), class_weight)
        return classifier
    for note in rows.notes:
        warnings.warn(NoteWarning(note), stacklevel=2)
    return classifier


def _write(model: Model, rows: LoadedRows, output: Path, class_weight: Any) -> FittedTable:
    """Write the model file, and return what there is to print."""
    replaced = output.exists()
    save(model, output)
    return FittedTable(
        model=model,
        n_rows=rows.n_rows,
        notes=(*rows.notes, *model.preparation.notes),
        output=output,
        size=output.stat().st_size,
        replaced=replaced,
        class_weight=class_weight,
    )
