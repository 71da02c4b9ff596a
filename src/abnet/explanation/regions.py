"""Regions: the representations of the leading layer, what the network expects of each, and which rows fall in them.

``F(x) = mean_m Σ_s P_m(x)[s] H_m[s]``: a region s of member m holds the row with probability ``P_m(x)[s]``, says
``H_m[s]``, and so has the share ``P_m(x)[s] H_m[s] / M`` of the decision; all shares together are F.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import region_probabilities
from abnet.aggregation.uniform import log_transition
from abnet.cube import corners
from abnet.predictors.compact import CompactABNet, CompactMAP
from abnet.predictors.drawn_network import DrawnNetwork
from abnet.predictors.mixture import CompactMixture, PathMixture
from abnet.predictors.paths import CompactUniform, PathPredictor
from abnet.predictors.predictor import Predictor, leading_scores, weighted_sums

__all__ = ["Region", "RegionTable", "RowRegions", "region_table", "row_regions", "why_no_regions"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Region:
    """One region of one member, for one row or, with the mean probability, for many.

    Attributes
    ----------
    member : int
        From 0 on; 0 for a single network.
    signs : tuple of int
        The leading neurons' outputs, -1 or +1.
    probability : float
        That the row falls in it, given the member.
    output : tuple of float
        The expected output H, or the probability of each of several classes.
    share : tuple of float
        ``probability · output / M``.
    """

    member: int
    signs: tuple[int, ...]
    probability: float
    output: tuple[float, ...]
    share: tuple[float, ...]

    @property
    def word(self) -> str:
        """The signs as a word.

        Examples
        --------
        >>> Region(0, (-1, 1, 1), 0.5, (1.0,), (0.5,)).word
        '-++'
        """
        return "".join("+" if sign > 0 else "-" for sign in self.signs)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "member": self.member, "signs": list(self.signs), "probability": self.probability,
            "output": list(self.output), "share": list(self.share),
        }  # fmt: skip


@dataclass(frozen=True)
class RowRegions:
    """The most probable regions of a row, and what all others have together.

    Attributes
    ----------
    listed : tuple of Region
        Most probable first.
    others : int
        Number of regions that are not listed.
    other_probability : float
        Their probability, as a mean over the members.
    other_share : tuple of float
    """

    listed: tuple[Region, ...]
    others: int
    other_probability: float
    other_share: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "listed": [region.to_dict() for region in self.listed], "others": self.others,
            "other_probability": self.other_probability, "other_share": list(self.other_share),
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class RegionTable:
    """The regions of a predictor that has a table of them.

    Attributes
    ----------
    predictor : Predictor
    H : array (M, regions, C)
        What each region of each member says.
    signs : int8 array (regions, d)
    """

    predictor: Predictor
    H: Floats
    signs: NDArray[np.int8]

    @property
    def n_members(self) -> int:
        """Number of networks."""
        return len(self.H)

    def probabilities(self, X: Floats) -> Floats:
        """``P_m(x)[s]``, shape (rows, M, regions), for rows as the network reads them."""
        model: Any = self.predictor
        if isinstance(model, CompactUniform):
            z = leading_scores(np.column_stack([model.W, model.b]), X)
            logs = log_transition(z, self.signs.astype(np.float64)) + model.log_d
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            return np.asarray(weights / weights.sum(axis=1, keepdims=True))[:, None]
        if isinstance(model, CompactMAP):
            powers = 2 ** np.arange(len(model.b) - 1, -1, -1)
            certain = np.zeros((len(X), 1, len(self.signs)))
            certain[np.arange(len(X)), 0, (weighted_sums(model.W, model.b, X) >= 0) @ powers] = 1.0
            return certain
        W, b = (model.W, model.b) if isinstance(model, CompactMixture) else (model.W[None], model.b[None])
        return np.stack([region_probabilities(W[m], b[m], X) for m in range(len(W))], axis=1)

    def blocks(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        """Rows and their probabilities, some at a time."""
        step = max(2**21 // (self.H.shape[0] * self.H.shape[1]), 1)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            yield rows, self.probabilities(X[rows])

    def listed(self, P: Floats, most: int) -> RowRegions:
        """The most probable regions of a row with the probabilities P (M, regions), or of the mean of many rows."""
        M, shares = self.n_members, P[:, :, None] * self.H / self.n_members
        top = np.argsort(-P, axis=None, kind="stable")[:most]
        chosen = [
            Region(
                int(m), tuple(self.signs[s].tolist()), float(P[m, s]), tuple(self.H[m, s].tolist()),
                tuple(shares[m, s].tolist()),
            )
            for m, s in zip(*np.unravel_index(top, P.shape), strict=True)
        ]  # fmt: skip
        rest = np.ones(P.shape, bool)
        rest.reshape(-1)[top] = False
        return RowRegions(
            tuple(chosen), P.size - len(chosen), float(P[rest].sum() / M), tuple(shares[rest].sum(axis=0).tolist())
        )


def region_table(predictor: Predictor) -> RegionTable | None:
    """The table of a predictor's regions; None where it has none (`why_no_regions`)."""
    if isinstance(predictor, CompactMixture):
        H = predictor.H if predictor.H.ndim == 3 else predictor.H[:, :, None]
        return RegionTable(predictor, H, corners(predictor.b.shape[1], np.int8))
    if isinstance(predictor, CompactABNet):
        return RegionTable(predictor, predictor.H[None, :, None], corners(len(predictor.b), np.int8))
    if isinstance(predictor, CompactMAP):
        outputs = np.unpackbits(predictor.bits, count=2 ** len(predictor.b)).astype(np.float64) * 2 - 1
        return RegionTable(predictor, outputs[None, :, None], corners(len(predictor.b), np.int8))
    if isinstance(predictor, CompactUniform):
        return RegionTable(predictor, predictor.H[None, :, None], predictor.S)
    return None


def why_no_regions(predictor: Predictor) -> str:
    """Why there is no table of regions, in a sentence; empty where there is one.

    Examples
    --------
    >>> from abnet.bam import BAM
    >>> rng = np.random.default_rng(0)
    >>> print(why_no_regions(PathPredictor.from_network(BAM.init(rng, (2, 100, 1)), rng, n_paths=5)))
    A model of sampled paths has no table of regions: its leading layer of 100 neurons has 2^100 representations. What
    it has are the contributions of the columns.
    """
    if region_table(predictor) is not None:
        return ""
    if isinstance(predictor, DrawnNetwork):
        return "A single network puts a row in one region, with certainty, and has no table of the others."
    end = "What it has are the contributions of the columns."
    if isinstance(predictor, (PathPredictor, PathMixture)):
        width = predictor.biases[0].shape[-1]
        return (
            f"A model of sampled paths has no table of regions: its leading layer of {width} neurons has 2^{width} "
            f"representations. {end}"
        )
    return (
        f"A {type(predictor).__name__} has no regions: its neurons do not read one common representation of the "
        f"leading layer. {end}"
    )


def row_regions(predictor: Predictor, X: Floats, most: int = 6) -> list[RowRegions] | None:
    """The most probable regions of every row; None for predictors without regions.

    Parameters
    ----------
    predictor : Predictor
    X : array (rows, inputs)
        As the network reads them.
    most : int
        Regions to list for a row.

    Examples
    --------
    >>> model = CompactABNet(np.array([[1.0], [0.0]]), np.zeros(2), np.array([-1.0, -0.5, 0.5, 1.0]))
    >>> row = row_regions(model, np.array([[3.0]]), most=2)[0]
    >>> [(region.word, round(region.probability, 3), region.output) for region in row.listed]
    [('+-', 0.414, (0.5,)), ('++', 0.414, (1.0,))]
    """
    if isinstance(predictor, DrawnNetwork):
        return [_certain(predictor, x) for x in X]
    table = region_table(predictor)
    if table is None:
        return None
    return [table.listed(P, most) for _, block in table.blocks(X) for P in block]


def _certain(predictor: DrawnNetwork, x: Floats) -> RowRegions:
    """The one region of a drawn network."""
    z = weighted_sums(predictor.network.weights[0], predictor.network.biases[0], x[None])[0]
    output = tuple(np.atleast_1d(predictor.score_rows(x[None])[0]).tolist())
    region = Region(0, tuple(np.where(z >= 0, 1, -1).tolist()), 1.0, output, output)
    return RowRegions((region,), 0, 0.0, (0.0,) * len(output))
