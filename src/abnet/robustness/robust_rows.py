"""`robust_rows`: which labels cannot change while cells move within a tolerance."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.decision import ARGMAX
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.robustness.box import Boxes
from abnet.robustness.branch_and_bound import NODES, Decided, Verdict, decide_boxes
from abnet.robustness.exact_network import exact_network
from abnet.robustness.feature_boxes import FeatureBoxes, feature_boxes
from abnet.robustness.tolerance import Tolerance
from abnet.robustness.unsupported import unsupported
from abnet.utils.text_layout import paragraphs
from abnet.utils.wording import number_of, percent

__all__ = ["RobustRow", "RobustRows", "robust_rows"]

_WORST: dict[Verdict, int] = {"robust": 0, "open": 1, "flipped": 2}


@dataclass(frozen=True)
class RobustRow:
    """A row under a tolerance.

    Attributes
    ----------
    verdict : {"robust", "flipped", "open"}
        Whether the label cannot change, does change at some point, or neither could be shown.
    answer : label
        The model's answer to the row as it is.
    changed : dict or None
        For "flipped": the cells of a point within the tolerance that gets another answer, where they differ.
    """

    verdict: Verdict
    answer: Any
    changed: Mapping[str, float | str] | None = None


@dataclass(frozen=True)
class RobustRows:
    """Rows under a tolerance.

    Attributes
    ----------
    rows : tuple of RobustRow
    tolerance : Tolerance
    nodes : int
        Number of boxes that a row could be cut into.
    """

    rows: tuple[RobustRow, ...]
    tolerance: Tolerance
    nodes: int

    def count(self, verdict: Verdict) -> int:
        """Number of rows with this verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def fixed(self) -> NDArray[np.bool_]:
        """Whether each row's label provably cannot change."""
        return np.array([row.verdict == "robust" for row in self.rows])

    def describe(self) -> str:
        """The counts in words."""
        n = len(self.rows)
        robust, flipped, open_ = (self.count(verdict) for verdict in _WORST_ORDER)
        text = (
            f"If cells are off by up to the tolerance ({self.tolerance}), the answer to {percent(robust / n)} of "
            f"{number_of(n, 'row')} cannot change, and that to {percent(flipped / n)} can."
        )
        if open_:
            text += f" For {percent(open_ / n)} neither was shown with {number_of(self.nodes, 'box', 'boxes')} per row."
        return paragraphs(text)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "tolerance": {name: str(size) for name, size in self.tolerance.sizes.items()},
            "free": list(self.tolerance.free),
            "nodes": self.nodes,
            "robust": self.count("robust"),
            "flipped": self.count("flipped"),
            "open": self.count("open"),
            "rows": [
                {"verdict": row.verdict, "answer": str(row.answer), "changed": row.changed and dict(row.changed)}
                for row in self.rows
            ],
        }

    def to_csv(self) -> str:
        """A line for each row: number from 1, answer, verdict, and the cells of the point that flips it."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", "answer", "verdict", "changed"])
        for number, row in enumerate(self.rows, start=1):
            cells = [f"{name}={value}" for name, value in (row.changed or {}).items()]
            writer.writerow([number, row.answer, row.verdict, "; ".join(cells)])
        return text.getvalue()


_WORST_ORDER: tuple[Verdict, Verdict, Verdict] = ("robust", "flipped", "open")


def robust_rows(
    model: Model | FittedClassifier,
    X: Any,
    *,
    tolerance: str | float | Mapping[str, str | float] = "",
    free: Sequence[str] = (),
    nodes: int = NODES,
) -> RobustRows:
    """Decide for every row whether its label can change while cells move within a tolerance.

    Parameters
    ----------
    model : Model or fitted classifier
        Of two classes, with exact members, whose answer is the plain vote.
    X : table or array
    tolerance : str, float or mapping
        Sizes by column, such as ``{"glucose": 5, "*": "1%sd"}`` or ``"glucose=5,*=1%sd"``: a number in the column's own
        unit, ``10%`` of the value in the cell, or ``1%sd`` of the column's standard deviation in the training rows. "*"
        stands for all other columns of numbers. Missing cells stay missing.
    free : list of str
        Columns of categories that may have any value.
    nodes : int
        Number of boxes that a row may be cut into; more leave fewer rows open and take longer.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> found = robust_rows(model, np.array([[0.5], [-0.1]]), tolerance=0.2)
    >>> [row.verdict for row in found.rows], found.rows[1].changed
    (['robust', 'flipped'], {'x0': 0.1})
    """
    loaded = model_of(model)
    if loaded.decision != ARGMAX:
        raise unsupported(
            "a tolerance is about the plain vote, and this model answers by a threshold or by costs",
            "fit without a target and without costs",
        )
    wanted = Tolerance.parse(tolerance, tuple(free))
    network = exact_network(loaded)
    found = feature_boxes(loaded, X, wanted)
    finite = np.isfinite(found.features).all(axis=1)
    if not finite.all():
        first = int(np.flatnonzero(~finite)[0])
        raise ValueError(f"row {first} has a value that is not a finite number, so the model has no answer to it.")
    scores = network.scores(found.features)
    sides = np.where(scores >= 0, 1.0, -1.0)
    best: list[tuple[Decided, tuple[int, ...]]] = [(Decided("robust"), ())] * len(sides)
    for combination in found.combinations:
        going_on = np.array([k for k, (decided, _) in enumerate(best) if decided.verdict != "flipped"], np.intp)
        if not len(going_on):
            break
        boxes: Boxes = found.boxes(combination)[going_on]
        for k, decided in zip(going_on, decide_boxes(network, boxes, sides[going_on], nodes=nodes), strict=True):
            if _WORST[decided.verdict] > _WORST[best[k][0].verdict]:
                best[k] = (decided, combination)
    answers = loaded.labels.decode((sides > 0).astype(np.intp)).tolist()
    rows = tuple(_row(found, k, answers[k], *best[k]) for k in range(len(sides)))
    return RobustRows(rows=rows, tolerance=wanted, nodes=nodes)


def _row(found: FeatureBoxes, k: int, answer: Any, decided: Decided, combination: tuple[int, ...]) -> RobustRow:
    if decided.point is None:
        return RobustRow(decided.verdict, answer)
    return RobustRow(decided.verdict, answer, found.changed(k, decided.point, combination))
