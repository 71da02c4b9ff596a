r"""Lower bounds on ``σ F(x)`` over boxes of features, for a sign σ of each box: sound, and fast enough for every row.

1. **Range of a neuron.** For any c, ``z = A/√N ≥ c + D/√N*`` with ``D = min(A - c√N)``, where N* is the least N if
   D < 0 and the largest N otherwise. √N is replaced by a linear function: from below by its tangent plane (it is
   convex), from above by ``√N ≤ S + (N - S²)/(2S)`` with the chords ``f² ≤ (low + high) f - low·high``. Both have the
   same slopes. D is then a sum of minima over one feature each, which are exact (`Pieces`).
2. **Box of means.** F is multilinear in the neurons' mean outputs, so over the box of their ranges it is smallest at a
   vertex.
3. **Linear bound.** Members and neurons share x. The part of F of first order in the means is bounded by a line in each
   z, and the lines of all neurons are added before the minimum over x is taken as in 1. The part of higher order is
   multilinear, so its minimum is at a vertex.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from abnet.robustness.box import Boxes, Pieces
from abnet.robustness.exact_network import ExactNetwork

__all__ = ["Bounded", "GUARD", "lower_bounds"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

GUARD = 1e-9
"""Margin for rounding: a label counts as fixed if the bound is above it."""
_WIDENED = 1e-12
"""Ranges of z are widened by this much for rounding."""
_NARROWEST = 1e-9
"""Ranges of means narrower than this are bounded without a line."""


class Bounded(NamedTuple):
    """Lower bounds, and what the search needs to improve them.

    Attributes
    ----------
    bound : array (n,)
        At most ``σ F`` of every row in the box.
    point : float32 array (n, features)
        Where the linear bound is smallest: a row to try.
    influence : array (n, features)
        How much each feature moves the linear bound.
    """

    bound: Floats
    point: Singles
    influence: Floats


@dataclass(frozen=True, eq=False)
class _Norms:
    """N over boxes: its least and largest value, and linear bounds of √N around the centre."""

    least: Floats
    largest: Floats
    at_centre: Floats
    slopes: Floats
    below: Floats
    above: Floats

    @staticmethod
    def of(network: ExactNetwork, boxes: Boxes, centre: Singles) -> "_Norms":
        low = boxes.low.astype(np.float64)
        high = boxes.high.astype(np.float64)
        middle = centre.astype(np.float64)
        crossing = (low < 0) & (high > 0)
        least = np.where(crossing, 0.0, np.minimum(low**2, high**2)).sum(axis=1)
        largest = np.maximum(low**2, high**2).sum(axis=1)
        root = np.sqrt(network.squares(centre))
        slopes = middle / root[:, None]
        tangent = root - np.vecdot(slopes, middle)
        # (N - S²)/(2S) with f² ≤ (low + high) f - low·high; the slope (low + high)/2 is replaced by the centre's, and
        # what that changes at the worse end of the interval is added.
        shifted = np.abs((low + high) / 2.0 - middle) * np.maximum(np.abs(low), np.abs(high))
        chord = root - (np.vecdot(middle, middle) + np.vecdot(low, high) - 2.0 * shifted.sum(axis=1)) / (2.0 * root)
        return _Norms(
            least=network.constant + least,
            largest=network.constant + largest,
            at_centre=root,
            slopes=slopes,
            below=tangent,
            above=chord,
        )

    def least_quotients(self, c: Floats, least: Floats) -> Floats:
        """A lower bound on ``A/√N`` of q sums each, from c and the least values of ``A - c Σ slope_j f_j``, (n, q)."""
        constant = np.where(c >= 0, self.above[:, None], self.below[:, None])
        D = least - c * constant
        N = np.where(D < 0, self.least[:, None], self.largest[:, None])
        return np.asarray(c + D / np.sqrt(N))


def lower_bounds(network: ExactNetwork, boxes: Boxes, sides: Floats) -> Bounded:
    """Lower bounds on ``σ F`` over the boxes.

    Parameters
    ----------
    network : ExactNetwork
    boxes : Boxes
        n boxes.
    sides : array (n,)
        The sign σ of each box.
    """
    centre = boxes.centre
    norms = _Norms.of(network, boxes, centre)
    pieces = {j: Pieces.of(network, j, boxes) for j in boxes.moving}
    z_low, z_high = _ranges(network, boxes, centre, norms, pieces)
    vertices = sides[:, None, None] * _vertex_values(network, erf(z_low / 2**0.5), erf(z_high / 2**0.5))
    by_vertices = vertices.min(axis=2).mean(axis=1)
    constant, slopes = _lines(network, vertices, z_low, z_high)
    by_lines, point, influence = _least_line(network, centre, norms, pieces, slopes)
    return Bounded(np.maximum(by_vertices, constant + by_lines), point, influence)


def _ranges(
    network: ExactNetwork, boxes: Boxes, centre: Singles, norms: _Norms, pieces: dict[int, Pieces]
) -> tuple[Floats, Floats]:
    """The range of every neuron's z, two arrays (n, M · d)."""
    at_centre = network.sums(centre)
    c = at_centre / norms.at_centre[:, None]
    ends = []
    for side in (1.0, -1.0):
        # Start from the sum at the centre; only moving features change it.
        least = side * (at_centre - c * np.vecdot(norms.slopes, centre.astype(np.float64))[:, None])
        for j, points in pieces.items():
            w = side * (network.weights[:, j] - c * norms.slopes[:, j, None])
            values = points.values(w, side * network.steps[j])
            middle = centre[:, j, None]
            here = w * middle + side * network.steps[j][:, network.reached(j, centre[:, j])].T
            least += values.min(axis=2) - here
        ends.append(side * norms.least_quotients(side * c, least))
    return ends[0] - _WIDENED, ends[1] + _WIDENED


def _vertex_values(network: ExactNetwork, low: Floats, high: Floats) -> Floats:
    """Each member's output at the vertices of its box of means, (n, M, 2^d), in the order of the cube's corners."""
    n = len(low)
    M = network.n_members
    d = network.width
    low = low.reshape(n, M, d)
    high = high.reshape(n, M, d)
    values = np.broadcast_to(network.H, (n, *network.H.shape)).reshape(n, M, *(2,) * d)
    for i in range(d):
        axis = values.ndim - d + i
        minus, plus = np.split(values, 2, axis=axis)
        shape = (n, M) + (1,) * d
        half_low = (0.5 + 0.5 * low[:, :, i]).reshape(shape)
        half_high = (0.5 + 0.5 * high[:, :, i]).reshape(shape)
        at_low = minus + half_low * (plus - minus)
        at_high = minus + half_high * (plus - minus)
        values = np.concatenate([at_low, at_high], axis=axis)
    return values.reshape(n, M, 2**d)


def _lines(network: ExactNetwork, vertices: Floats, z_low: Floats, z_high: Floats) -> tuple[Floats, Floats]:
    """A lower bound ``constant + Σ slope · z``, with slopes (n, M · d)."""
    n = len(vertices)
    M = network.n_members
    d = network.width
    signs = _signs(d)
    mean = vertices.mean(axis=2)
    first = vertices @ signs / 2**d  # the coefficients of first order, (n, M, d)
    rest = (vertices - mean[:, :, None] - first @ signs.T).min(axis=2)
    constant = (mean + rest).mean(axis=1)
    coefficients = first.reshape(n, M * d) / M
    m_low = erf(z_low / 2**0.5)
    m_high = erf(z_high / 2**0.5)
    radius = (m_high - m_low) / 2.0
    narrow = radius < _NARROWEST
    constant -= np.where(narrow, np.abs(coefficients), 0.0).sum(axis=1)
    kappa = np.where(narrow, 0.0, coefficients / np.where(narrow, 1.0, radius))
    chord = np.where(narrow, 0.0, (m_high - m_low) / np.maximum(z_high - z_low, np.finfo(np.float64).tiny))
    offset = _offset(chord, z_low, z_high, lower=kappa > 0)
    constant += (kappa * (offset - (m_low + m_high) / 2.0)).sum(axis=1)
    return constant, kappa * chord


def _signs(d: int) -> Floats:
    """The corners of the cube, (2^d, d)."""
    from abnet.networks.cube import corners

    return np.asarray(corners(d, np.float64))


def _offset(slope: Floats, low: Floats, high: Floats, *, lower: NDArray[np.bool_]) -> Floats:
    """The least (or largest) ``erf(z/√2) - slope · z`` on an interval: at an end, or where the slopes agree."""
    with np.errstate(divide="ignore", invalid="ignore"):
        where = np.sqrt(np.maximum(-2.0 * np.log(slope * (np.pi / 2.0) ** 0.5), 0.0))
    where = np.where(np.isfinite(where), where, 0.0)
    points = np.stack([low, high, np.clip(where, low, high), np.clip(-where, low, high)])
    values = erf(points / 2**0.5) - slope * points
    return np.where(lower, values.min(axis=0), values.max(axis=0))


def _least_line(
    network: ExactNetwork, centre: Singles, norms: _Norms, pieces: dict[int, Pieces], slopes: Floats
) -> tuple[Floats, Singles, Floats]:
    """The least ``Σ slope_i z_i`` over the boxes, the point where it is reached, and each feature's influence on it."""
    # The sum of the lines is one neuron, with these weights (n, features).
    weights = slopes @ network.weights
    at_centre = np.vecdot(slopes, network.sums(centre))
    c = at_centre / norms.at_centre
    exact = centre.astype(np.float64)
    least = at_centre - c * np.vecdot(norms.slopes, exact)
    point = centre.copy()
    influence = np.zeros(centre.shape)
    rows = np.arange(len(centre))
    for j, points in pieces.items():
        w = weights[:, j] - c * norms.slopes[:, j]
        steps = slopes @ network.steps[j]
        values = points.values(w[:, None], steps[:, None, :])[:, 0]
        best = values.argmin(axis=1)
        here = w * exact[:, j] + steps[rows, network.reached(j, centre[:, j])]
        least += values[rows, best] - here
        point[:, j] = points.points[rows, best]
        influence[:, j] = np.ptp(values, axis=1)
    return norms.least_quotients(c[:, None], least[:, None])[:, 0], point, influence
