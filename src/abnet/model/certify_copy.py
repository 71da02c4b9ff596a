"""`certify_copy`: the error rate of another program that is meant to give the same answers as a certified model."""

from typing import Any

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.copied_error import CopiedErrorBound
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.model.predict_table import predict_table
from abnet.model.table_rows import ModelOrPath, as_model, frames_of
from abnet.tables.named_columns import cell_texts, check_named, label_text
from abnet.tables.table import as_table
from abnet.utils.checks import count, level

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
    vote = error.answers == "vote"
    compared = 0
    differing = 0
    for batch in frames_of(table):
        check_named("prediction", [prediction], batch.columns)
        answers = predict_table(loaded, batch.drop(prediction), vote=vote).frame
        assert answers is not None
        copied = cell_texts(as_table(batch), prediction)
        for own, other in zip(answers["prediction"].to_list(), copied, strict=True):
            compared += 1
            differing += own is None or other is None or label_text(str(own)) != label_text(other)
    if compared == 0:
        raise ValueError("the table has no rows to compare the answers on.")
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
