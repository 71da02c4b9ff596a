"""Regions: the representations of the leading layer, the expected output in each, and the rows that fall in them.

``F(x) = mean_m Σ_s P_m(x)[s] H_m[s]``: a row falls in the region s of member m with probability ``P_m(x)[s]``, and the
expected output there is ``H_m[s]``. So the region's share of the score is ``P_m(x)[s] H_m[s] / M``, and the shares of
all regions add up to F.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.leading import leading_scores, weighted_sums
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.model.predictors.uniform import UniformPredictor
from abnet.networks import region_probabilities
from abnet.networks.bam import BAM
from abnet.networks.cube import corners
from abnet.networks.uniform import log_transition

__all__ = ["Region", "RegionTable", "RowRegions", "region_table", "row_regions", "why_no_regions"]

Floats = NDArray[np.float64]

BLOCK_SIZE = 2**21
"""Maximum number of probabilities that are computed together."""


@dataclass(frozen=True)
class Region:
    """One region of one member, for one row, or for many rows with their mean probability.

    Attributes
    ----------
    member : int
        Number of the network, from 0.
    signs : tuple of int
        Outputs of the leading neurons, -1 or +1.
    probability : float
        Probability that the row falls in the region, given the member.
    output : tuple of float
        Expected output H, or the probability of each of several classes.
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
            "member": self.member,
            "signs": list(self.signs),
            "probability": self.probability,
            "output": list(self.output),
            "share": list(self.share),
        }


@dataclass(frozen=True)
class RowRegions:
    """The most probable regions of a row, and the totals of all others.

    Attributes
    ----------
    listed : tuple of Region
        Most probable first.
    others : int
        Number of regions that are not listed.
    other_probability : float
        Total probability of the regions that are not listed, averaged over the members.
    other_share : tuple of float
        Their total share.
    """

    listed: tuple[Region, ...]
    others: int
    other_probability: float
    other_share: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "listed": [region.to_dict() for region in self.listed],
            "others": self.others,
            "other_probability": self.other_probability,
            "other_share": list(self.other_share),
        }


@dataclass(frozen=True, eq=False)
class RegionTable:
    """The regions of a predictor whose regions can be listed.

    Attributes
    ----------
    H : array (M, regions, C)
        Expected output in each region of each member.
    signs : int8 array (regions, d)
    probabilities : callable
        Maps rows as the network reads them to ``P_m(x)[s]``, shape (rows, M, regions).
    whole : bool
        Whether these are all regions, and not a sample of them.
    """

    H: Floats
    signs: NDArray[np.int8]
    probabilities: Callable[[Floats], Floats]
    whole: bool

    @property
    def n_members(self) -> int:
        """Number of networks."""
        return len(self.H)

    def blocks(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        """Probabilities of the rows, in blocks that fit into memory: which rows, and their probabilities."""
        n_regions = self.n_members * len(self.signs)
        step = max(BLOCK_SIZE // n_regions, 1)
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            yield rows, self.probabilities(X[rows])

    def listed(self, P: Floats, most: int) -> RowRegions:
        """The most probable regions of a row with the probabilities P (M, regions), or of the mean of many rows."""
        M = self.n_members
        shares = P[:, :, None] * self.H / M
        top = np.argsort(-P, axis=None, kind="stable")[:most]
        chosen = [self._region(int(m), int(s), P, shares) for m, s in zip(*np.unravel_index(top, P.shape), strict=True)]
        unlisted = np.ones(P.shape, bool)
        unlisted.reshape(-1)[top] = False
        return RowRegions(
            listed=tuple(chosen),
            others=P.size - len(chosen),
            other_probability=float(P[unlisted].sum() / M),
            other_share=tuple(shares[unlisted].sum(axis=0).tolist()),
        )

    def _region(self, m: int, s: int, P: Floats, shares: Floats) -> Region:
        return Region(
            member=m,
            signs=tuple(self.signs[s].tolist()),
            probability=float(P[m, s]),
            output=tuple(self.H[m, s].tolist()),
            share=tuple(shares[m, s].tolist()),
        )


@singledispatch
def region_table(predictor: Predictor) -> RegionTable | None:
    """The table of a predictor's regions; None if it has none (`why_no_regions` says why)."""
    return None


@region_table.register
def _(predictor: Compact) -> RegionTable:
    H = predictor.H
    if H.ndim == 2:
        H = H[:, :, None]

    def probabilities(X: Floats) -> Floats:
        members = zip(predictor.W, predictor.b, strict=True)
        return np.stack([region_probabilities(W, b, X) for W, b in members], axis=1)

    signs = corners(predictor.b.shape[1], np.int8)
    return RegionTable(H=H, signs=signs, probabilities=probabilities, whole=True)


@region_table.register
def _(predictor: UniformPredictor) -> RegionTable:
    def probabilities(X: Floats) -> Floats:
        z = leading_scores(np.column_stack([predictor.W, predictor.b]), X)
        logs = log_transition(z, predictor.S.astype(np.float64)) + predictor.log_d
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))  # subtracting the maximum avoids overflow
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))[:, None]

    H = predictor.H[None, :, None]
    return RegionTable(H=H, signs=predictor.S, probabilities=probabilities, whole=False)


@singledispatch
def why_no_regions(predictor: Predictor) -> str:
    """Why there is no table of regions, in a sentence; empty if there is one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> print(why_no_regions(Paths.from_networks([BAM.init(rng, (2, 100, 1))], rng, n_paths=5)))
    A model of sampled paths has no table of regions: its leading layer of 100 neurons has 2^100 representations. What
    it has are the contributions of the columns.
    """
    if region_table(predictor) is not None:
        return ""
    return (
        f"A predictor of kind {type(predictor).__name__} has no regions: its neurons do not read one common "
        "representation of the leading layer. What it has are the contributions of the columns."
    )


@why_no_regions.register
def _(predictor: Layers) -> str:
    return "A single network puts a row in one region, with certainty, and has no table of the others."


@why_no_regions.register
def _(predictor: Paths) -> str:
    return _too_many_regions("A model of sampled paths", predictor.biases[0].shape[-1])


@why_no_regions.register
def _(predictor: PBGNetPredictor) -> str:
    if len(predictor.biases) == 2:
        return _too_many_regions("A network with one wide layer", predictor.biases[0].shape[-1])
    return (
        "A PBGNet has no regions: its neurons do not read one common representation of the leading layer. What it has "
        "are the contributions of the columns."
    )


def _too_many_regions(model: str, width: int) -> str:
    return (
        f"{model} has no table of regions: its leading layer of {width} neurons has 2^{width} representations. What it "
        "has are the contributions of the columns."
    )


@singledispatch
def row_regions(predictor: Predictor, X: Floats, most: int = 6) -> list[RowRegions] | None:
    """The most probable regions of each row; None for predictors without regions.

    Parameters
    ----------
    predictor : Predictor
    X : array (rows, inputs)
        Rows as the network reads them.
    most : int
        Number of regions to list for a row.

    Examples
    --------
    >>> table = Compact(np.array([[[1.0], [0.0]]]), np.zeros((1, 2)), np.array([[-1.0, -0.5, 0.5, 1.0]]))
    >>> row = row_regions(table, np.array([[3.0]]), most=2)[0]
    >>> [(region.word, round(region.probability, 3), region.output) for region in row.listed]
    [('+-', 0.414, (0.5,)), ('++', 0.414, (1.0,))]
    """
    table = region_table(predictor)
    if table is None:
        return None
    return [table.listed(P, most) for _, block in table.blocks(X) for P in block]


@row_regions.register
def _(predictor: Layers, X: Floats, most: int = 6) -> list[RowRegions] | None:
    if predictor.network is None:
        return None
    return [_certain_region(predictor, predictor.network, x) for x in X]


def _certain_region(predictor: Layers, network: BAM, x: Floats) -> RowRegions:
    """The only region of a row in a deterministic network of signs."""
    z = weighted_sums(network.weights[0], network.biases[0], x[None])[0]
    signs = tuple(np.where(z >= 0, 1, -1).tolist())
    output = tuple(np.atleast_1d(predictor.score_rows(x[None])[0]).tolist())
    region = Region(member=0, signs=signs, probability=1.0, output=output, share=output)
    return RowRegions(listed=(region,), others=0, other_probability=0.0, other_share=(0.0,) * len(output))
