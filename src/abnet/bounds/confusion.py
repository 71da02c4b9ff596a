"""The confusion matrix, with limits on every rate in it that hold all at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.shares import share_of_a_limit, shares_of_classes
from abnet.bounds.wording import aligned, confidence, filled
from abnet.checks import count, level, tally

__all__ = ["ConfusionMatrix"]

OTHER = "(other answer)"


@dataclass(frozen=True)
class ConfusionMatrix:
    r"""How often each class is taken for which, on rows that had no part in learning, and within which limits.

    .. math:: \Pr(\hat y = j \mid y = i) \le \mathrm{CP}(k_{ij}, n_i, \delta_i / 2A)

    for A answers, and likewise from below. Given how many rows each class has, a cell counts independent trials
    (Clopper and Pearson). δ is shared out among the classes in proportion to 1/n_i, then evenly among the limits of a
    row, so that with probability at least 1-δ **all** limits hold at once. Two answers need half as many limits: each
    is the other's complement.

    Attributes
    ----------
    counts : tuple of tuples of int
        ``k_ij``: a row for each true class, a column for each answer.
    classes, answers : tuple of str
        Names of rows and columns.
    delta : float
        Probability with which any of the limits may be false.
    n_candidates : int
        Number of models among which one is chosen by means of these rows.

    Examples
    --------
    >>> truth, answers = ["a"] * 60 + ["b"] * 40, ["a"] * 57 + ["b"] * 43
    >>> matrix = ConfusionMatrix.from_labels(truth, answers, known=["a", "b"], others=False)
    >>> matrix.counts
    ((57, 3), (0, 40))
    >>> matrix.upper.round(3)
    array([[0.993, 0.158],
           [0.1  , 1.   ]])
    """

    counts: tuple[tuple[int, ...], ...]
    classes: tuple[str, ...]
    answers: tuple[str, ...]
    delta: float = 0.05
    n_candidates: int = 1

    def __post_init__(self) -> None:
        level("delta", self.delta)
        count("n_candidates", self.n_candidates)
        rows = [tuple(tally("counts", k) for k in row) for row in self.counts]
        if not rows or len(self.answers) < 2 or len(rows) != len(self.classes):
            raise ValueError(
                "a confusion matrix has a row for each class and a column for each of two answers or more."
            )
        if any(len(row) != len(self.answers) for row in rows):
            raise ValueError(f"every row of a confusion matrix must have {len(self.answers)} counts.")
        object.__setattr__(self, "counts", tuple(rows))

    @classmethod
    def from_labels(
        cls,
        truth: Sequence[Any],
        answers: Sequence[Any],
        *,
        known: Sequence[Any] = (),
        others: bool = True,
        delta: float = 0.05,
        n_candidates: int = 1,
    ) -> Self:
        """Count labels and answers.

        δ is shared among the answers, so that their number must not depend on what the model says. There is a column
        for each known label and each label that occurs (the limits hold given the labels), and one for all other
        answers, whether there are any or not.

        Parameters
        ----------
        truth : sequence (n,)
            Labels.
        answers : sequence (n,)
            What the model says; None where it says nothing.
        known : sequence
            Labels that the model knows, which come first, in this order.
        others : bool
            Whether the model may give other answers than these labels, or none. Without that column the limits are
            tighter, and such an answer is a ValueError.
        delta, n_candidates
            As in the class.
        """
        if len(truth) != len(answers) or not len(truth):
            raise ValueError(f"a confusion matrix needs a label for each answer; got {len(truth)} and {len(answers)}.")
        true, first = [str(label) for label in truth], list(dict.fromkeys(map(str, known)))
        rows = [*first, *sorted(set(true) - set(first))]
        columns = [*rows, OTHER] if others or len(rows) < 2 else rows
        places = {name: i for i, name in enumerate(rows)}
        said = [len(rows) if answer is None else places.get(str(answer), len(rows)) for answer in answers]
        if max(said) >= len(columns):
            strange = answers[int(np.argmax(said))]
            raise ValueError(f"the answer {strange!r} is not among the labels {', '.join(rows)}: use others=True.")
        table = np.zeros((len(rows), len(columns)), np.int64)
        np.add.at(table, ([places[name] for name in true], said), 1)
        return cls(tuple(map(tuple, table.tolist())), tuple(rows), tuple(columns), delta, n_candidates)

    @property
    def n_rows(self) -> tuple[int, ...]:
        """Examples of each class, n_i."""
        return tuple(map(sum, self.counts))

    @cached_property
    def upper(self) -> NDArray[np.float64]:
        """Upper limits of ``P(answer j | class i)``; 1 for a class without examples."""
        return self._limits(clopper_pearson_bound, 1.0)

    @cached_property
    def lower(self) -> NDArray[np.float64]:
        """Lower limits of ``P(answer j | class i)``; 0 for a class without examples."""
        return self._limits(clopper_pearson_lower, 0.0)

    def _limits(self, bound: Any, unknown: float) -> NDArray[np.float64]:
        found: dict[tuple[int, int, float], float] = {}
        limits = np.full((len(self.classes), len(self.answers)), unknown)
        for i, (row, share) in enumerate(zip(self.counts, shares_of_classes(self.delta, self.n_rows), strict=True)):
            n = sum(row)
            if not n:
                continue
            own = share_of_a_limit(share, len(self.answers))
            for j, k in enumerate(row):
                if (k, n, own) not in found:
                    found[k, n, own] = float(bound(k, n, own, n_candidates=self.n_candidates))
                limits[i, j] = found[k, n, own]
        return limits

    def describe(self) -> str:
        """The counts, the limits of every rate in percent, and what is promised."""
        table = [["true class", "rows", *(f"says {name}" for name in self.answers)]]
        for i, (name, n) in enumerate(zip(self.classes, self.n_rows, strict=True)):
            table.append([name, f"{n:,}", *(self._cell(i, j) for j in range(len(self.answers)))])
        promise = (
            f"With {confidence(self.delta)} confidence, all of these ranges, in percent, hold at once for new rows of "
            "their class. (The certificate of the error is a promise of its own, with its own confidence.)"
        )
        return f"{aligned(table, left=0)}\n\n{filled(promise)}"

    def _cell(self, i: int, j: int) -> str:
        low, high = math.floor(1000 * self.lower[i, j]) / 10, math.ceil(1000 * self.upper[i, j]) / 10
        return f"{self.counts[i][j]:,} ({low:g}-{high:g})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: the counts, and the limits that follow from them."""
        return {
            "classes": list(self.classes),
            "answers": list(self.answers),
            "counts": [list(row) for row in self.counts],
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "delta": self.delta,
            "n_candidates": self.n_candidates,
        }
