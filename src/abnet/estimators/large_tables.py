"""Tables larger than memory: some rows train the model, all others are streamed through it and certify it."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.certificates.copied_rows import CopiesInStream
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.fitted_rows import RowFilter, kept_rows, row_filter
from abnet.certificates.from_evidence import certify
from abnet.estimators.certificate_mixin import CertificateMixin
from abnet.estimators.fit import Fitted
from abnet.estimators.known_classes import warn_of_unknown
from abnet.estimators.refit import fitting_anew
from abnet.model.model import Model
from abnet.tables.model_labels import label_codes
from abnet.tables.preparation import Unseen
from abnet.tables.table import as_table
from abnet.tables.training_part import TrainingPart
from abnet.tables.unseen import UnseenWarning, merge
from abnet.training.features import is_our_own
from abnet.training.labelled_rows import marks_of
from abnet.training.recipe import share_in_words
from abnet.training.settings import Settings
from abnet.utils.class_scores import losses_of, winners
from abnet.utils.coded_rows import CodedRows
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.progress import report_progress
from abnet.utils.threads import cores

if TYPE_CHECKING:
    import polars

__all__ = [
    "CountedRows", "check_streamable", "count_rows", "learn_all", "scores_are_expected", "settle"
]  # fmt: skip

ALL_LEARN = 0.999
"""Training fraction of a fit that is certified on other rows: nearly all of its rows are training rows."""


@dataclass
class CountedRows:
    """Errors and losses on the held-out rows, summed batch by batch.

    Attributes
    ----------
    seen : Evidence
    other_errors : dict of str to int
        Errors of other models on the same rows.
    unseen : list of Unseen
        Values that do not occur in the training rows.
    copies : str
        Warning about rows that occur several times; usually empty.
    row_filter : RowFilter or None
        Of the whole table, if the held-out rows are used to choose among models.
    """

    seen: Evidence
    other_errors: dict[str, int] = field(default_factory=dict)
    unseen: list[Unseen] = field(default_factory=list)
    copies: str = ""
    row_filter: RowFilter | None = None


def count_rows(
    model: Model,
    frames: "Iterable[polars.DataFrame]",
    target: str,
    learns: NDArray[np.bool_],
    *,
    losses: bool = True,
    others: Mapping[str, Callable[[NDArray[Any]], NDArray[np.intp]]] | None = None,
    chosen: bool = False,
) -> CountedRows:
    """Stream the held-out rows through a fitted model, and count its errors.

    Parameters
    ----------
    model : Model
        With a `TableMap` as preparation.
    frames : iterable of polars.DataFrame
        The whole table, in its original order.
    target : str
    learns : array of bool (n,)
        Whether each row is a training row, from `choose_training_part`.
    losses : bool
        Whether the scores are the expected output; if not, the Gibbs risk is not certified.
    others : mapping, optional
        Further models, as functions from prepared rows to class codes.
    chosen : bool
        Whether one of several models is chosen by these rows: then they cannot certify it again, and the filter holds
        rows of the whole table.
    """
    used: list[tuple[NDArray[np.float32], NDArray[np.intp]]] = []
    sampled = np.zeros(len(learns), np.bool_)
    sampled[kept_rows(len(learns))] = chosen
    classes, names = model.classes_.tolist(), model.labels.names
    nothing = np.zeros(0, np.intp)
    found, stream, start = (
        CountedRows(observe(nothing, nothing, names, losses=np.zeros(0) if losses else None)),
        CopiesInStream(),
        0,
    )
    for frame in frames:
        report_progress("Certificate", start / len(learns))
        counted, some = ~learns[start : start + frame.height], sampled[start : start + frame.height]
        table = as_table(frame, before=start)
        start += frame.height
        labels = label_codes(table, target, classes)
        # Codes are not written out: the network looks them up, and other models use only the features.
        prepared, reports, _ = model.preparation.read(table, model.feature_names)
        stream.add(prepared.features if isinstance(prepared, CodedRows) else prepared, labels)
        rows, codes = prepared[counted], labels[counted]
        found.unseen = merge([*found.unseen, *reports])
        if some.any():
            used.append((np.asarray(prepared[some]), labels[some]))
        if not len(codes):
            continue
        scores = model.predictor.scores(rows, threads=cores())
        found.seen += observe(winners(scores), codes, names, losses=losses_of(scores, codes) if losses else None)
        for name, other in (others or {}).items():
            answers = other(rows.features if isinstance(rows, CodedRows) else rows)
            found.other_errors[name] = found.other_errors.get(name, 0) + int(np.count_nonzero(answers != codes))
    found.copies = stream.warning(classes)
    if used:
        X, codes = (np.concatenate(parts) for parts in zip(*used, strict=True))
        found.row_filter = row_filter(X, marks_of(codes, model.n_classes))
    return found


def check_streamable(settings: Settings) -> None:
    """Raise an error for settings that need the bound rows in memory, or for which streaming proves nothing."""
    if not is_our_own(settings.preprocessor):
        raise ParameterError(
            "{} must be 'auto', 'table' or a TablePreparation for a table with more than {} rows: another preprocessor "
            "may depend on the batch, and held-out rows are streamed in batches.",
            Parameter("preprocessor"), Parameter("max_learn_rows"),
        )  # fmt: skip
    wrong = {
        ("objective", "loss", "bound"): settings.objective == "loss",
        ("prior", "init", "split"): not settings.split,
        ("posterior", "train", "frozen"): not settings.frozen,
    }
    for (name, value, instead), given in wrong.items():
        if given:
            raise ParameterError(
                "{} needs all rows in memory, and the table has more rows than {} allows: use {}, or raise that limit.",
                Parameter(name, value), Parameter("max_learn_rows"), Parameter(name, instead),
            )  # fmt: skip
    if settings.goal is not None:
        raise ParameterError(
            "{} needs all rows in memory, and the table has more rows than {} allows: raise that limit, or "
            "certify the threshold afterwards on rows of its own (`abnet certify`).",
            Parameter("decision"), Parameter("max_learn_rows"),
        )  # fmt: skip


def learn_all(classifier: CertificateMixin, part: TrainingPart) -> Fitted:
    """Fit a classifier to the training rows (all but one in a thousand), and free their frame."""
    settings = classifier.settings()
    check_streamable(settings)
    return classifier._fit(part.X, part.y, settings=replace(settings, share=ALL_LEARN), emptied=True)


def scores_are_expected(fitted: Fitted) -> bool:
    """Whether the scores are the expected output of the posterior."""
    aggregation = fitted.learned.posterior.aggregation
    return aggregation.certified and not aggregation.sampled


def settle(classifier: CertificateMixin, fitted: Fitted, found: CountedRows) -> None:
    """Replace the certificate from the few rows that the fit held out by that of all streamed rows."""
    for report in found.unseen:
        warnings.warn(UnseenWarning(report.note), stacklevel=3)
    if found.copies:
        warnings.warn(found.copies, stacklevel=3)
    warn_of_unknown(int(found.seen.class_rows[-1]))
    with fitting_anew(classifier, keep=("n_features_in_", "feature_names_in_")):
        classifier._keep(counted(fitted, found.seen, found.row_filter))


def counted(fitted: Fitted, seen: Evidence, used: RowFilter | None = None) -> Fitted:
    """The fit with the certificate from other rows, and with the training fraction of the whole table."""
    model = fitted.model
    card = msgspec.structs.replace(model.card, n_counted_rows=seen.n_rows, row_filter=used or model.card.row_filter)
    if card.parameters is not None and card.recipe is not None:
        share = len(fitted.rows.codes) / (len(fitted.rows.codes) + seen.n_rows)
        whole, _, _ = card.recipe.rpartition("; ")
        card = msgspec.structs.replace(
            card, parameters={**card.parameters, "learn_fraction": share}, recipe=f"{whole}; {share_in_words(share)}"
        )
    made = replace(model, certificate=certify(seen, fitted.terms), card=card)
    return replace(fitted, model=made, split=None)
