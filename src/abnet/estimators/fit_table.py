"""`fit_table`: train a classifier on a table of any size, certify it, and write it to a model file."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.fitted_table import FittedTable
from abnet.estimators.large_tables import count_rows, learn_all, scores_are_expected, settle
from abnet.estimators.logistic_rival import counted_rival, held_out_rival, learned_logistic
from abnet.estimators.table_parts import for_tables, read_rows
from abnet.model.card import Rival
from abnet.model.file import save
from abnet.tables.notes import NoteWarning, warn_of
from abnet.tables.table_source import TableSource
from abnet.tables.training_part import TrainingPart
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
    estimator: CertificateMixin | None = None,
    max_learn_rows: int = 1_000_000,
    drop: Sequence[str] = (),
    group: str | None = None,
    missing_label: str = "drop",
    bins: int | Sequence[float] | None = None,
    output: str | os.PathLike[str] | None = None,
    background: bool = True,
    command: str | None = None,
) -> CertificateMixin:
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
        part, groups = read_rows(
            classifier, source, target, drop=drop, group=group, missing_label=missing_label, bins=bins,
            max_learn_rows=max_learn_rows, at_least=LEAST_ROWS,
        )  # fmt: skip
        learn = _learn_whole if part.learns is None else _learn_and_count
        rivals = learn(classifier, part, groups, target, compare=output is not None)
    told: dict[str, Any] = {
        "target": target, "rivals": rivals, "command": command, "group": group, "cuts": part.cuts,
        "n_unlabelled_rows": part.n_unlabelled or None,
    }  # fmt: skip
    card = msgspec.structs.replace(classifier.model_.card, **told, **({} if background else {"background": ()}))
    classifier.model_ = replace(classifier.model_, card=card)
    warn_of(classifier.model_.preparation.notes, stacklevel=2)
    if output is None:
        for note in part.notes:
            warnings.warn(NoteWarning(note), stacklevel=2)
        return classifier
    classifier.table_ = _written(classifier, part, Path(output))
    return classifier


def _learn_whole(
    classifier: CertificateMixin, part: TrainingPart, groups: NDArray[Any] | None, target: str, *, compare: bool
) -> tuple[Rival, ...]:
    """Fit a table in memory and free its frame if possible; also fit logistic regression for comparison."""
    fitted = classifier._fit(part.X, part.y, groups=groups, emptied=True, written=True)
    if not compare or not fitted.rows.n_first:
        return ()
    report_progress("Logistic regression, for comparison")
    return (held_out_rival(fitted),)


def _learn_and_count(
    classifier: CertificateMixin, part: TrainingPart, groups: NDArray[Any] | None, target: str, *, compare: bool
) -> tuple[Rival, ...]:
    """Train on the rows in memory and certify on all others; also do so for logistic regression, for comparison."""
    assert part.learns is not None
    assert part.frames is not None
    fitted = learn_all(classifier, part)
    others = {"logistic": learned_logistic(fitted).predict} if compare else {}
    found = count_rows(
        fitted.model, part.frames(), target, part.learns, losses=scores_are_expected(fitted), others=others,
        chosen=fitted.terms.n_candidates > 1,
    )  # fmt: skip
    settle(classifier, fitted, found)
    return tuple(counted_rival(fitted, errors, found.seen) for errors in found.other_errors.values())


def _written(classifier: CertificateMixin, part: TrainingPart, output: Path) -> FittedTable:
    """Write the model file and return the `FittedTable`."""
    model = classifier.model_
    replaced, preparation = output.exists(), model.preparation
    save(model, output)
    return FittedTable(
        str(model.card.target), model.labels.names, part.n_rows, preparation.n_features_in or model.n_inputs,
        classifier.certificate_, classifier.bound_estimate_, model.card.rivals, (*part.notes, *preparation.notes),
        model.card, output, output.stat().st_size, replaced, getattr(classifier, "class_weight", None),
    )  # fmt: skip
