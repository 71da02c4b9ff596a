"""A warning about a model that is no better than a constant answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from abnet.certificates.facts import Facts
from abnet.utils.wording import number_of, percent

__all__ = ["useless_message"]

_MEASURES = {"None": "error rate", "balanced": "balanced error rate"}
"""What is compared, for each class weight; for weights by class it is the error rate so weighted."""

_ROUNDING = 1e-12
"""Rates that differ by less are equal."""


def useless_message(facts: Facts, classes: Sequence[str], class_weight: Any = None) -> str:
    """A warning that a model is useless, if it is; otherwise empty.

    Parameters
    ----------
    facts : Facts
        What its certificate counts.
    classes : sequence of str
        The classes that the model knows.
    class_weight : None, "balanced" or mapping
        What the errors of each class weigh, as the classifier was told.

    Examples
    --------
    >>> counts = {"n_rows": 10, "classes": ("no", "yes"), "class_rows": (6, 4), "class_errors": (0, 4)}
    >>> useless_message(Facts(**counts, source="split", delta=0.05), ("no", "yes"))
    'This model is useless: it predicts no on all 10 held-out rows.'
    """
    row = facts.counted()
    constant = _constant_answer(facts, classes)
    if constant is not None:
        return f"This model is useless: it predicts {constant} on all {number_of(facts.n_rows, row)}."
    weights = _class_weights(class_weight, facts)
    weighted_rows = [weight * n for weight, n in zip(weights, facts.class_rows, strict=True)]
    weighted_errors = sum(weight * n for weight, n in zip(weights, facts.class_errors, strict=True))
    total = sum(weighted_rows)
    # No constant answer is right about labels that the model does not know.
    most_common = max(range(len(classes)), key=lambda code: weighted_rows[code])
    constant_errors = total - weighted_rows[most_common]
    if constant_errors - weighted_errors > _ROUNDING * total:
        return ""
    measure = _MEASURES.get(str(class_weight), "error rate weighted by class")
    return (
        f"This model is useless: its {measure} on the {row}s is {percent(weighted_errors / total)}, and that of always "
        f"answering {classes[most_common]} is {percent(1 - weighted_rows[most_common] / total)}."
    )


def _constant_answer(facts: Facts, classes: Sequence[str]) -> str | None:
    """The class that the model predicts on all rows; None if it predicts several."""
    right = []
    for code, (rows, errors) in enumerate(zip(facts.class_rows, facts.class_errors, strict=True)):
        if 0 < errors < rows:
            return None
        if errors < rows:
            right.append(code)
    if len(right) != 1:
        return None
    return classes[right[0]]


def _class_weights(class_weight: Any, facts: Facts) -> list[float]:
    """What a row of each class weighs where the model is compared with constant answers.

    A model for rare classes makes more errors in all on purpose, so it is judged by the errors that it was made for.
    """
    if isinstance(class_weight, Mapping):
        weights = {str(label): float(weight) for label, weight in class_weight.items()}
        return [weights.get(name, 1.0) for name in facts.classes]
    if class_weight == "balanced":
        return [1.0 / max(n, 1) for n in facts.class_rows]
    return [1.0] * len(facts.class_rows)
