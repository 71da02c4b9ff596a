"""Which classes a model knows: those declared, or those of the first part."""

import warnings

import numpy as np
from numpy.typing import NDArray

from abnet.tables.label_types import typed_labels
from abnet.tables.labels import Labels, with_unknown
from abnet.tables.model_labels import label_places
from abnet.training.labelled_rows import LabelledRows
from abnet.training.settings import Settings
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

__all__ = ["known_classes", "warn_of_unknown"]


def known_classes(rows: LabelledRows, first: NDArray[np.intp], settings: Settings) -> tuple[Labels, NDArray[np.intp]]:
    """The classes of the model, and the code of each row; K for any other label.

    The classes are the declared ones, or those of the first part: a label that occurs only in bound rows must change
    neither their number, nor their order, nor the type that they have in a table. Without a first part, with
    ``prior="init"``, they are those of all rows.
    """
    if settings.classes is not None:
        known = _declared(settings.classes)
    else:
        training_codes = rows.codes
        if settings.split:
            training_codes = rows.codes[first]
        known = _occurring(rows.labels.classes[np.unique(training_codes)], rows.written)
    if not settings.several:
        known.check_two()
    codes = _codes(rows.labels, known, rows.written)[rows.codes]
    is_unknown = codes == known.n_classes
    if is_unknown[first].any():
        raise ParameterError("y has labels that are not among {}: {}.", Parameter("classes"), ", ".join(known.names))
    row = "bound row"
    if settings.frozen:
        row = "held-out row"
    warn_of_unknown(int(is_unknown.sum()), row)
    return known, codes


def _declared(classes: NDArray[np.generic]) -> Labels:
    """The declared classes, in their order."""
    declared = Labels.of(classes)
    order = dict.fromkeys(declared.encode(classes).tolist())
    return Labels(declared.classes[list(order)])


def _occurring(labels: NDArray[np.generic], written: bool) -> Labels:
    """The classes of rows with these labels, sorted."""
    if written:
        labels, _ = typed_labels(labels)
    found = np.unique(labels)
    if len(found) < 2:
        raise ValueError(
            f"all training rows have the label {found[0]}: at least two classes are needed, and held-out rows, which "
            "have another label, must not decide on the classes. Add rows of the rarer class, or, in Python, declare "
            "the classes (`classes=`)."
        )
    return Labels(found)


def _codes(labels: Labels, known: Labels, written: bool) -> NDArray[np.intp]:
    """The code of each label among the known classes; K for any other label."""
    if written:
        return label_places(labels.classes.tolist(), known.classes.tolist())
    return with_unknown(known.encode(labels.classes), known.n_classes)[0]


def warn_of_unknown(count: int, row: str = "held-out row") -> None:
    """Warn that bound rows have labels that do not occur in the first part."""
    if not count:
        return
    which = "have labels that no training row has; any prediction for them"
    if count == 1:
        which = "has a label that no training row has; any prediction for it"
    warnings.warn(
        f"{number_of(count, row)} {which} counts as an error. More rows of rare classes would help.",
        stacklevel=4,
    )
