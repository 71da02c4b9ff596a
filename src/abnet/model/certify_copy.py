"""`certify_copy`: the error rate of another program that is meant to give the same answers as a certified model."""

from typing import Any

import msgspec
import numpy as np

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import ARGMAX
from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.statements.copied_error import CopiedErrorBound
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.model.model import Model
from abnet.model.predict_table import predict_table
from abnet.model.table_rows import ModelOrPath, as_model, frames_of, prepared
from abnet.tables.named_columns import cell_texts, check_named, label_text
from abnet.tables.table import as_table
from abnet.utils.checks import count, level
from abnet.utils.coded_rows import dense
from abnet.utils.errors import TrainingRowsError
from abnet.utils.label_values import label_values

__all__ = ["certify_copy"]


def certify_copy(
    model: ModelOrPath, table: Any, *, prediction: str, delta: float = 0.05, n_candidates: int = 1
) -> Certificate:
    """Certify a copy of a model, such as a quantised or exported one, from its answers to unlabelled rows.

    The copy errs at most as often as the model, plus how often their answers differ. Both limits hold jointly.

    Parameters
    ----------
    model : path, Model or fitted classifier
        With a certificate of its error rate.
    table : path, frame, or iterable of frames
        The model's columns, and the copy's answers. The rows must be independent draws from the source of the new data,
        and neither the model nor the copy may have been made, trained or changed with them.
    prediction : str
        Column with the copy's answers; a missing answer differs.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of copies among which one is chosen with these rows, such as quantisations to different numbers of bits.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains. Whether the *copy* was made with
        them, as by calibrating a quantisation, cannot be recognised.

    Returns
    -------
    Certificate
        With one statement, `abnet.certificates.statements.copied_error.CopiedErrorBound`.
    """
    loaded = as_model(model)
    certified = loaded.certificate
    error = None
    if certified is not None:
        error = certified.find(ErrorBound)
    if certified is None or error is None or error.answers == "or none":
        raise ValueError(
            "the model has no certificate of its error rate by counted errors: certify it on labelled rows first."
        )
    if loaded.decision != ARGMAX and error.answers == "vote":
        raise ValueError(
            "the model answers by a threshold or by costs, and its certificate counts the errors of the plain vote, "
            "which are other answers: certify the copy by its answers to labelled rows, as any other model "
            "(`abnet.certify_predictions`)."
        )
    seen = _filter_of_cells(loaded)
    compared = 0
    differing = 0
    for batch in frames_of(table):
        check_named("prediction", [prediction], batch.columns)
        rows = batch.drop(prediction)
        answers = predict_table(loaded, rows).frame
        assert answers is not None
        if seen is not None:
            n_classes = len(loaded.labels.names)
            inputs = dense(prepared(loaded, as_table(rows)).inputs)
            seen.add_unlabelled(inputs, label_values(np.arange(n_classes), n_classes).tolist())
        copied = cell_texts(as_table(batch), prediction)
        for own, other in zip(answers["prediction"].to_list(), copied, strict=True):
            compared += 1
            differing += own is None or other is None or label_text(str(own)) != label_text(other)
    if compared == 0:
        raise ValueError("the table has no rows to compare the answers on.")
    if seen is not None and seen.reused:
        raise TrainingRowsError(
            "{} of {} rows have the values of rows that the model was fitted on (by chance there would be at most {}): "
            "compare the answers on rows that took no part in training.",
            f"{seen.found:,}",
            f"{seen.n_rows:,}",
            f"{seen.allowed:,}",
        )
    candidates = certified.facts.n_candidates * count("n_candidates", n_candidates)
    facts = msgspec.structs.replace(certified.facts, delta=level("delta", delta), n_candidates=candidates)
    made = CopiedErrorBound.from_counts(
        errors=error.errors,
        n=error.n,
        differing=differing,
        compared=compared,
        delta=delta,
        n_candidates=candidates,
    )
    return Certificate(statements=(made,), facts=facts, model=certified.model)


def _filter_of_cells(model: Model) -> FittedRows | None:
    """The filter of the model's training rows, for rows without labels; None if it stores none."""
    stored = model.card.row_filter
    if stored is None:
        return None
    return FittedRows(stored, n_classes=len(model.labels.names))
