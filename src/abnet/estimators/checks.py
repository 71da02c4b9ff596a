"""What a classifier was given: parameters, rows and labels that are refused, in words that say what to do; hints."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from abnet.errors import Parameter, ParameterError

__all__ = [
    "DECISIONS",
    "as_frame",
    "check_choice",
    "check_decisions",
    "check_fraction",
    "check_hidden",
    "check_labelled",
    "check_positive",
    "check_preprocessor",
    "check_size",
    "check_tolerance",
    "hint_at_scales",
    "warn_of_unfinished",
    "warn_of_unsaved",
    "with_advice",
]


def check_hidden(sizes: Any) -> tuple[int, ...]:
    """`hidden_layer_sizes` as a tuple of at least one width of at least one."""
    name = Parameter("hidden_layer_sizes")
    widths = (sizes,) if isinstance(sizes, (int, np.integer)) else sizes
    if not isinstance(widths, Iterable) or isinstance(widths, str):
        raise ParameterError("{} must be a whole number or a tuple of them; got {!r}.", name, sizes)
    widths = tuple(widths)
    if not widths or not all(_is_positive(d, whole=True) for d in widths):
        raise ParameterError("{} must hold at least one width, each of 1 or more; got {!r}.", name, sizes)
    return tuple(int(d) for d in widths)


def check_fraction(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if not _is_positive(value) or not value < 1:
        raise ParameterError("{} must lie strictly between 0 and 1; got {!r}.", Parameter(name), value)
    return float(value)


def check_positive(name: str, value: Any, *, whole: bool = False) -> None:
    """A positive number, whole if asked."""
    if not _is_positive(value, whole=whole):
        kind = "whole number" if whole else "number"
        raise ParameterError("{} must be a positive {}; got {!r}.", Parameter(name), kind, value)


def _is_positive(value: Any, *, whole: bool = False) -> bool:
    try:
        return bool(value > 0 and math.isfinite(value) and (not whole or int(value) == value))
    except (TypeError, ValueError, OverflowError):
        return False


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ParameterError("{} must be one of {}; got {!r}.", Parameter(name), listed, value)


def check_tolerance(value: Any) -> None:
    """A number that is not negative."""
    if not (isinstance(value, (int, float, np.number)) and 0 <= value < np.inf):
        raise ParameterError("{} must be a number of at least 0; got {!r}.", Parameter("tol"), value)


def as_frame(X: Any) -> Any:
    """Columns by name in a plain mapping as a frame; anything else as it is.

    Examples
    --------
    >>> as_frame({"age": [40, 50]}).columns
    ['age']
    """
    if not isinstance(X, Mapping) or hasattr(X, "columns") or hasattr(X, "tocsr"):
        return X
    import polars

    return polars.DataFrame(dict(X))


LARGEST = 1e150
"""Larger numbers have no finite square, and cannot be scaled."""


def check_size(X: NDArray[Any]) -> NDArray[Any]:
    """The rows, if none of their numbers is too large to be scaled.

    Examples
    --------
    >>> check_size(np.array([[1.0, 1e200]]))
    Traceback (most recent call last):
    ValueError: column 1 holds 1e+200, and numbers of 1e+150 and above cannot be scaled: divide the column by ...
    """
    most = np.maximum(X.max(axis=0), -X.min(axis=0))  # without a copy of the rows
    if X.dtype == np.float64 and (most >= LARGEST).any():
        column = int(np.argmax(most))
        raise ValueError(
            f"column {column} holds {most[column]:.3g}, and numbers of {LARGEST:g} and above cannot be scaled: divide "
            "the column by a constant, or correct its cells."
        )
    return X


def check_labelled(y: Any) -> None:
    """Refuse rows whose label is missing.

    Examples
    --------
    >>> check_labelled(["yes", "no"])
    >>> check_labelled(["yes", None])
    Traceback (most recent call last):
    ValueError: y holds missing labels (None or NaN): remove those rows, or give them a label.
    """
    labels = np.asarray(y)
    if labels.ndim and labels.dtype.kind == "O" and any(map(_is_missing, labels.flat)):
        raise ValueError("y holds missing labels (None or NaN): remove those rows, or give them a label.")


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or bool(isinstance(label, float) and label != label)


def with_advice(error: ValueError, preprocessor: Any) -> ValueError:
    """An error about an array, with what to do about cells that a frame may have, if it is prepared, and an array not.

    Examples
    --------
    >>> print(with_advice(ValueError("Input X contains NaN."), "auto"))
    Input X contains NaN. Give X as a frame (pandas or Polars): text and missing cells are then prepared.
    """
    text = str(error)
    if not (isinstance(preprocessor, str) and preprocessor == "auto"):
        return error
    if ("Input X" in text and "NaN" in text) or "could not convert string" in text:
        first = text.splitlines()[0].rstrip(".")
        return ValueError(f"{first}. Give X as a frame (pandas or Polars): text and missing cells are then prepared.")
    return error


ACCEPTED = "None, 'standardise', or an unfitted transformer with fit and transform, such as a StandardScaler for "
ACCEPTED += "numbers or an abnet.data.preparation.TablePreparation for mixed frames (ABNetClassifier also takes 'auto' "
ACCEPTED += "and 'table')"
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


DECISIONS = ("target_error", "target_recall", "target_precision", "costs")
"""Parameters that ask for a threshold; the last three exclude each other."""


def check_decisions(classifier: Any) -> None:
    """Refuse targets that make no sense, alone or together with other parameters."""
    asked = [name for name in DECISIONS if getattr(classifier, name) is not None]
    for name in asked:
        value = getattr(classifier, name)
        if name != "costs" and not (isinstance(value, (int, float)) and 0 < value < 1):
            raise ParameterError("{} must lie strictly between 0 and 1; got {!r}.", Parameter(name), value)
    if asked and not classifier._is_frozen():
        frozen = Parameter("posterior", "frozen")
        raise ParameterError("{} needs rows that nothing learned from: use {}.", Parameter(asked[0]), frozen)
    alike = [name for name in asked if name != "target_error"]
    if len(alike) > 1:
        raise ParameterError("{} and {} ask for a threshold each: give one.", *map(Parameter, alike[:2]))
    if alike and alike[0] != "costs" and classifier.positive_class is None:
        raise ParameterError("{} needs {}: name the class.", Parameter(alike[0]), Parameter("positive_class"))
