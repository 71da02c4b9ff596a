"""`Decision`: how scores become answers; models, exporters, partitions and reports share it."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.expected_costs import ExpectedCosts

__all__ = ["ARGMAX", "Decision", "cut_below", "cuts_between", "room_of", "confidence"]

Floats = NDArray[np.float64]


class Decision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, repr_omit_defaults=True):
    """How a row is answered.

    Attributes
    ----------
    kind : {"argmax", "cut", "abstain", "costs"}
        "argmax": the class with the largest score. "cut" (two classes): the positive class if its score exceeds the
        threshold, otherwise the other class. "abstain": the class with the largest score if the model's confidence
        exceeds the threshold, otherwise no answer. "costs" (several classes): the class with the least expected cost.
    threshold : float or None
        Its printed form reads back as exactly this number.
    positive : int or None
        Code of the positive class, for a cut.
    costs : ExpectedCosts or None

    Examples
    --------
    >>> scores = np.array([-0.5, 0.1, 0.9])
    >>> ARGMAX(scores), Decision(kind="cut", threshold=0.3, positive=1)(scores)
    (array([0, 1, 1]), array([0, 0, 1]))
    >>> Decision(kind="abstain", threshold=0.3)(scores)  # 2 stands for no answer
    array([0, 2, 1])
    """

    kind: Literal["argmax", "cut", "abstain", "costs"] = "argmax"
    threshold: float | None = None
    positive: int | None = None
    costs: ExpectedCosts | None = None

    def __post_init__(self) -> None:
        if (self.threshold is not None) != (self.kind in ("cut", "abstain")):
            raise ValueError("a cut and abstaining have a threshold, and no other decision has one.")
        if (self.positive is not None) != (self.kind == "cut"):
            raise ValueError("a cut has a positive class, and no other decision has one.")
        if (self.costs is not None) != (self.kind == "costs"):
            raise ValueError("a decision by costs has a table of costs, and no other decision has one.")
        if self.threshold is not None and not np.isfinite(self.threshold):
            raise ValueError(f"the threshold must be a finite number; got {self.threshold}.")

    def score(self, scores: ArrayLike) -> Floats:
        """The values compared with the threshold: the score of the positive class, or the model's confidence."""
        values = np.asarray(scores, np.float64)
        if self.kind != "cut":
            return confidence(values)
        if values.ndim != 1:
            raise ValueError("a cut is for two classes.")
        if self.positive == 1:
            return values
        return -values

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; costs only if there are any."""
        record: dict[str, Any] = msgspec.to_builtins(self)
        if self.costs is None:
            del record["costs"]
        return record

    def sentence(self, names: Sequence[str]) -> str:
        """The rule for users of exported models.

        Examples
        --------
        >>> Decision(kind="cut", threshold=0.3, positive=0).sentence(("ill", "well"))
        'Rows whose score for ill is above 0.3 are answered ill, all others well.'
        """
        if self.kind == "cut":
            positive = int(self.positive or 0)
            name = names[positive]
            other = names[1 - positive]
            return f"Rows whose score for {name} is above {self.threshold!r} are answered {name}, all others {other}."
        if self.costs is not None:
            return self.costs.sentence(names)
        if self.threshold is None or self.threshold < 0.0:  # the confidence is never below 0
            return "Every row is answered with the most likely class."
        score = "the largest score"
        if len(names) == 2:
            score = "the absolute value of the score"
        condition = f"{score} is above {self.threshold!r}"
        return f"A row is answered with the most likely class if {condition}; other rows get no answer."

    def __call__(self, scores: ArrayLike) -> NDArray[np.intp]:
        """Codes of the answers for rows with these scores, (n,) or (n, K); the number of classes for no answer."""
        values = np.asarray(scores, np.float64)
        if self.costs is not None:
            return self.costs.answers(values)
        if values.ndim == 1:
            n_classes = 2
            best = (values >= 0).astype(np.intp)
        else:
            n_classes = values.shape[1]
            best = np.argmax(values, axis=1)
        if self.kind == "argmax" or self.threshold is None:
            return np.asarray(best, np.intp)
        above = self.score(values) > self.threshold
        if self.kind == "abstain":
            return np.where(above, best, n_classes)
        positive = int(self.positive or 0)
        return np.where(above, positive, 1 - positive)


ARGMAX = Decision()
"""The plain vote."""


def confidence(scores: ArrayLike) -> Floats:
    """The model's confidence for each row: ``|F(x)|`` for two classes, the largest share of the vote for several.

    Examples
    --------
    >>> confidence([-0.5, 0.2]), confidence([[0.2, 0.7, 0.1]])
    (array([0.5, 0.2]), array([0.7]))
    """
    values = np.asarray(scores, np.float64)
    if values.ndim == 1:
        return np.abs(values)
    return np.asarray(values.max(axis=1))


ROOM = 1e-9
"""Scores whose difference is below this fraction of the largest are treated as equal: rounding may explain it."""


def cuts_between(scores: ArrayLike) -> Floats:
    """All useful thresholds between distinct scores, in increasing order: one more than there are distinct scores.

    A threshold lies well between two neighbouring scores of these rows, so rounding cannot decide on which side of it
    one of them falls: the last bit of a score may depend on the batch. Among the numbers there it has the fewest
    decimals, so the printed threshold is exactly the certified one.

    Examples
    --------
    >>> cuts_between([0.5, 0.1234, 0.5 + 1e-16]).tolist()
    [0.122, 0.3, 0.502]
    """
    values = np.unique(np.asarray(scores, np.float64))
    room = room_of(values)
    apart = np.flatnonzero(np.diff(values) > room)
    beyond = max(values[-1] / 100 - values[0] / 100, 2 * room)
    low = np.concatenate([[values[0] - beyond], values[apart], [values[-1]]])
    high = np.concatenate([[values[0]], values[apart + 1], [values[-1] + beyond]])
    return _shortest(low, high)


def cut_below(scores: ArrayLike, values: ArrayLike) -> Floats:
    """For each of the given scores, the nearest threshold below it, in increasing order and without duplicates.

    Examples
    --------
    >>> cut_below([0.1, 0.5, 0.9], [0.9, 0.5, 0.9]).tolist()
    [0.3, 0.7]
    """
    cuts = cuts_between(scores)
    return np.asarray(cuts[np.unique(np.searchsorted(cuts, values) - 1)])


def room_of(scores: Floats) -> float:
    """Smallest difference of two scores that rounding cannot explain."""
    return float(ROOM * np.abs(scores).max() or ROOM)


def _shortest(low: Floats, high: Floats) -> Floats:
    """The numbers with the fewest decimals in the middle halves of gaps; powers of ten up to 22 are exact.

    Examples
    --------
    >>> _shortest(np.array([0.123456, -0.2]), np.array([0.123556, 0.3])).tolist()
    [0.1235, 0.0]
    """
    middle = low / 2 + high / 2
    quarter = high / 4 - low / 4
    found = middle.copy()
    open_ = np.ones(len(middle), np.bool_)
    with np.errstate(over="ignore", invalid="ignore"):
        for digits in range(23):
            rounded = np.round(middle, digits)
            here = open_ & (np.abs(rounded - middle) <= quarter)
            found[here] = rounded[here]
            open_ &= ~here
    return found + 0.0  # no -0.0
