"""What a user meets and might not see: a transformer that cannot be saved, unscaled inputs, training cut short."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from abnet.errors import Parameter, ParameterError

__all__ = ["check_preprocessor", "hint_at_scales", "warn_of_unfinished", "warn_of_unsaved"]

ACCEPTED = "None, 'standardise', or an unfitted transformer with fit and transform, such as a StandardScaler for "
ACCEPTED += "numbers or an abnet.data.preparation.TablePreparation for mixed frames"

APART = 1000.0
"""Ratio of deviations from which on columns count as unscaled."""

STILL = 0.02
"""Share of the monitored value by which the last tenth of the epochs improves it, if more epochs are worth trying."""


def check_preprocessor(preprocessor: Any) -> None:
    """Refuse what cannot prepare rows, with a list of what can.

    Examples
    --------
    >>> check_preprocessor("standardise")
    >>> check_preprocessor("minmax")
    Traceback (most recent call last):
    abnet.errors.ParameterError: preprocessor must be None, 'standardise', or ...; got 'minmax'.
    """
    if isinstance(preprocessor, str):
        fits = preprocessor == "standardise"
    else:
        whole = not isinstance(preprocessor, type)
        fits = whole and all(callable(getattr(preprocessor, name, None)) for name in ("fit", "transform"))
    if not fits:
        raise ParameterError("{} must be {}; got {!r}.", Parameter("preprocessor"), ACCEPTED, preprocessor)


def warn_of_unsaved(reason: Exception) -> None:
    """Warn, when a model is fitted, that it cannot be saved."""
    warnings.warn(f"{reason} Predictions work, but `save` will refuse this model.", stacklevel=6)


def hint_at_scales(X: NDArray[Any]) -> None:
    """Warn if columns have scales that are far apart: a network reads all inputs through the norm of the row.

    The ratio of the ninth tenth to the first of the columns' deviations counts, those of constant columns aside.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hint_at_scales(rng.normal(size=(50, 4)))
    """
    some = np.asarray(X[:: max(len(X) // 2000, 1)], np.float64)
    deviations = some.std(axis=0)
    deviations = deviations[deviations > 0]
    if len(deviations) < 2:
        return
    low, high = np.quantile(deviations, (0.1, 0.9))
    if high > APART * low:
        warnings.warn(
            f"The inputs have scales that are far apart (deviations from {low:.2g} to {high:.2g}), and the largest "
            "will drown the others: scale them, for instance with preprocessor='standardise'.",
            stacklevel=6,
        )


def warn_of_unfinished(curves: Mapping[str, Sequence[float]], max_iter: int) -> None:
    """Warn if a stage of training ended at its last epoch while what it monitored still improved.

    Parameters
    ----------
    curves : mapping
        From the names of the stages to the monitored value at the start and after every epoch; smaller is better.
    max_iter : int
        Epochs of a stage, at the most; the two halves of the prior's have half of them each.

    Examples
    --------
    >>> warn_of_unfinished({"bound": [0.5, 0.2, 0.2, 0.2]}, 3)
    """
    for name, curve in curves.items():
        most = max(max_iter // 2, 1) if name.startswith("prior") else max_iter
        if len(curve) - 1 < most or len(curve) < 2:
            continue
        late = max(most // 10, 1)
        before, after = min(curve[:-late]), min(curve)
        if before - after > STILL * abs(before):
            warnings.warn(
                f"Training ({name}) ended at its last epoch, while it still improved ({before:.3g} to {after:.3g} in "
                f"the last {late}): a larger max_iter than {max_iter} may give a better model.",
                ConvergenceWarning,
                stacklevel=6,
            )
            return
