"""Branch and bound over boxes of features: is the label of a box fixed, does it change somewhere, or is that open?

A box whose bound does not decide it is cut in two at its most influential feature, at a threshold or in the middle. The
effort is limited by a number of boxes, never by time, so the same rows always give the same result.
"""

import heapq
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.robustness.box import Boxes
from abnet.robustness.exact_network import ExactNetwork
from abnet.robustness.lower_bound import GUARD, lower_bounds

__all__ = ["NODES", "Decided", "Verdict", "decide_boxes"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Verdict = Literal["robust", "flipped", "open"]

LARGEST = 1e15
"""Features beyond this leave a box open: sums of squares may overflow."""
NODES = 100
"""Number of boxes that a row may be cut into, by default."""
TOGETHER = 256
"""Boxes that are bounded at a time."""
CUTS = 4
"""Boxes of a row that are cut in a round."""


class Decided(NamedTuple):
    """What is known about a box.

    Attributes
    ----------
    verdict : {"robust", "flipped", "open"}
    point : float32 array (features,) or None
        For "flipped": a point of the box with another label.
    """

    verdict: Verdict
    point: Singles | None = None


class _Node(NamedTuple):
    """A part of a box that is not decided; those with the least bound come first."""

    bound: float
    number: int
    low: Singles
    high: Singles
    influence: Floats


@dataclass
class _Row:
    """The search in one box."""

    side: float
    nodes: list[_Node] = field(default_factory=list)
    used: int = 0
    stuck: bool = False
    flipped: Singles | None = None

    @property
    def going_on(self) -> bool:
        return self.flipped is None and not self.stuck and bool(self.nodes)

    def decided(self) -> Decided:
        if self.flipped is not None:
            return Decided("flipped", self.flipped)
        if self.nodes or self.stuck:
            return Decided("open")
        return Decided("robust")


def decide_boxes(network: ExactNetwork, boxes: Boxes, sides: Floats, *, nodes: int = NODES) -> list[Decided]:
    """Decide every box.

    Parameters
    ----------
    network : ExactNetwork
    boxes : Boxes
        n boxes.
    sides : array (n,)
        The sign of the score whose label must not change in the box: +1 for the second class, -1 for the first.
    nodes : int
        Number of boxes that each may be cut into.
    """
    rows = [_Row(float(side)) for side in sides]
    in_range = (np.abs(boxes.low) <= LARGEST).all(axis=1) & (np.abs(boxes.high) <= LARGEST).all(axis=1)
    for out_of_range in np.flatnonzero(~in_range):
        rows[out_of_range].stuck = True
    computable = np.flatnonzero(in_range)
    _bound(network, boxes[computable], computable, rows)
    while True:
        parts: list[tuple[Singles, Singles]] = []
        owners: list[int] = []
        for owner, row in enumerate(rows):
            for _ in range(CUTS):
                if not row.going_on or row.used >= nodes:
                    break
                halves = _cut(network, heapq.heappop(row.nodes))
                if halves is None:
                    row.stuck = True
                    break
                row.used += 2
                parts += halves
                owners += [owner] * 2
        if not parts:
            return [row.decided() for row in rows]
        low = np.stack([part[0] for part in parts])
        high = np.stack([part[1] for part in parts])
        _bound(network, Boxes(low, high), np.array(owners), rows)


def _bound(network: ExactNetwork, boxes: Boxes, owners: NDArray[np.intp], rows: list[_Row]) -> None:
    """Bound boxes, keep those that are not decided, and try the worst point of each."""
    sides = np.array([rows[owner].side for owner in owners])
    for start in range(0, len(boxes), TOGETHER):
        chunk = slice(start, start + TOGETHER)
        found = lower_bounds(network, boxes[chunk], sides[chunk])
        open_ = np.flatnonzero(~(found.bound > GUARD))  # a bound that is not a number proves nothing
        tried = np.concatenate([found.point[open_], boxes[chunk].centre[open_]])
        scores = np.tile(sides[chunk][open_], 2) * network.scores(tried)
        for place, k in enumerate(open_):
            row = rows[owners[chunk][k]]
            for attack in (place, place + len(open_)):
                if scores[attack] < -GUARD and row.flipped is None:
                    row.flipped = tried[attack]
            low = boxes.low[chunk][k]
            high = boxes.high[chunk][k]
            node = _Node(float(found.bound[k]), row.used * 1000 + place, low, high, found.influence[k])
            heapq.heappush(row.nodes, node)


def _cut(network: ExactNetwork, node: _Node) -> list[tuple[Singles, Singles]] | None:
    """Two halves of a box; None if it is a single point."""
    movable = node.low < node.high
    if not movable.any():
        return None
    j = int(np.argmax(np.where(movable, node.influence, -1.0)))
    low = node.low[j]
    high = node.high[j]
    middle = np.float32((float(low) + float(high)) / 2.0)
    inside = network.thresholds[j][(network.thresholds[j] > low) & (network.thresholds[j] <= high)]
    if len(inside):
        upper = inside[np.argmin(np.abs(inside - middle))]
        lower = np.nextafter(upper, np.float32(-np.inf))
    else:
        lower = min(max(middle, low), np.nextafter(high, np.float32(-np.inf)))
        upper = np.nextafter(lower, np.float32(np.inf))
    first_high = node.high.copy()
    first_high[j] = lower
    second_low = node.low.copy()
    second_low[j] = upper
    return [(node.low, first_high), (second_low, node.high)]
