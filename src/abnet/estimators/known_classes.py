"""Which classes a model knows: those declared, or those of the first part."""

import warnings

import numpy as np
from numpy.typing import NDArray

from abnet.tables.labels import Labels, with_unknown
from abnet.training.labelled_rows import LabelledRows
from abnet.training.settings import Settings
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.wording import number_of

__all__ = ["known_classes", "warn_of_unknown"]


def known_classes(rows: LabelledRows, first: NDArray[np.intp], settings: Settings) -> tuple[Labels, NDArray[np.intp]]:
    """The classes of the model, and the code of each row; K for any other label.

    The classes are the declared ones, or those of the first part: a label that occurs only in bound rows must not
    change their number. If there are two labels in all, both are classes, even if the first part has only one of them.
    """
    known = rows.labels
    if not settings.several:
        known.check_two()
    if settings.classes is not None:
        declared = Labels.of(settings.classes)
        order = dict.fromkeys(declared.encode(settings.classes).tolist())  # as they were given
        known = Labels(declared.classes[list(order)])
    elif known.n_classes > 2 and settings.split:
        present = np.unique(rows.codes[first])
        if len(present) < 2:
            raise ValueError("all training rows have the same label; more rows are needed.")
        known = Labels(known.classes[present])
    codes = with_unknown(known.encode(rows.labels.classes), known.n_classes)[0][rows.codes]
    unknown = codes == known.n_classes
    if unknown[first].any():
        raise ParameterError("y has labels that are not among {}: {}.", Parameter("classes"), ", ".join(known.names))
    warn_of_unknown(int(np.sum(unknown)), "held-out row" if settings.frozen else "bound row")
    return known, codes


def warn_of_unknown(count: int, row: str = "held-out row") -> None:
    """Warn that bound rows have labels that do not occur in the first part."""
    if count:
        have = "has a label" if count == 1 else "have labels"
        warnings.warn(
            f"{number_of(count, row)} {have} that no training row has; any prediction for "
            f"{'it' if count == 1 else 'them'} counts as an error. More rows of rare classes would help.",
            stacklevel=4,
        )
