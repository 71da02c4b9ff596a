"""The Walsh spectrum of H: which leading neurons act alone, which only together, and how much of H each order makes.

``H(s) = Σ_A Ĥ(A) Π_{i∈A} s_i`` over the sets A of leading neurons, so that ``F(x) = Σ_A Ĥ(A) Π_{i∈A} m_i(x)`` with the
neurons' mean outputs ``m_i(x)``: a set of one neuron acts alone, a larger one is an interaction. With all regions
alike, the variance of H is the sum of all ``Ĥ(A)²`` but that of the empty set (Parseval).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.cube import walsh

__all__ = ["NeuronSet", "WalshSpectrum", "spectra"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NeuronSet:
    """A set of leading neurons, from 0 on, and its coefficient."""

    neurons: tuple[int, ...]
    coefficient: float


@dataclass(frozen=True, eq=False)
class WalshSpectrum:
    """The spectrum of one member's table, for one score.

    Attributes
    ----------
    member : int
    output : int
        The score: 0, or the class.
    coefficients : array (2**d,)
        The place of a set is the binary number with digit 1 for its neurons, the first neuron's digit first.

    Examples
    --------
    >>> xor = WalshSpectrum.of(np.array([-1.0, 1.0, 1.0, -1.0]))
    >>> xor.variance_by_order.tolist(), xor.strongest(1)
    ([0.0, 0.0, 1.0], [NeuronSet(neurons=(0, 1), coefficient=-1.0)])
    """

    member: int
    output: int
    coefficients: Floats

    @staticmethod
    def of(H: Floats, member: int = 0, output: int = 0) -> "WalshSpectrum":
        """The spectrum of a table (2**d,)."""
        return WalshSpectrum(member, output, walsh(H))

    @property
    def n_neurons(self) -> int:
        """d, the number of leading neurons."""
        return len(self.coefficients).bit_length() - 1

    @property
    def orders(self) -> NDArray[np.intp]:
        """The number of neurons in each set."""
        places = np.arange(len(self.coefficients))
        return sum(((places >> i) & 1 for i in range(self.n_neurons)), np.zeros(len(places), np.intp))

    @property
    def variance_by_order(self) -> Floats:
        """``Σ_{|A|=k} Ĥ(A)²`` for k = 0 … d; the first is the squared mean, the others add up to the variance."""
        return np.asarray(np.bincount(self.orders, self.coefficients**2, self.n_neurons + 1), np.float64)

    @property
    def variance(self) -> float:
        """The variance of H over all regions."""
        return float(self.variance_by_order[1:].sum())

    def strongest(self, most: int) -> list[NeuronSet]:
        """The sets with the largest coefficients, the empty one left out."""
        order = 1 + np.argsort(-np.abs(self.coefficients[1:]), kind="stable")[:most]
        return [NeuronSet(self.neurons(int(place)), float(self.coefficients[place])) for place in order]

    def neurons(self, place: int) -> tuple[int, ...]:
        """The neurons of the set at a place."""
        d = self.n_neurons
        return tuple(i for i in range(d) if place >> (d - 1 - i) & 1)

    def shares(self) -> Floats:
        """For each neuron the share of the variance that it has alone, and that of the sets in which it takes part."""
        squares, places = self.coefficients**2, np.arange(len(self.coefficients))
        d, total = self.n_neurons, max(self.variance, np.finfo(float).tiny)
        bits = [1 << (d - 1 - i) for i in range(d)]
        return np.array([[squares[bit], squares[(places & bit) > 0].sum()] for bit in bits]) / total

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Plain values: variance by order, shares of the neurons, the strongest sets."""
        return {
            "member": self.member, "output": self.output, "mean": float(self.coefficients[0]),
            "variance": self.variance, "variance_by_order": self.variance_by_order.tolist(),
            "alone": self.shares()[:, 0].tolist(), "in_all": self.shares()[:, 1].tolist(),
            "strongest": [
                {"neurons": list(one.neurons), "coefficient": one.coefficient} for one in self.strongest(most)
            ],
        }  # fmt: skip


def spectra(H: Floats) -> tuple[WalshSpectrum, ...]:
    """The spectra of tables (M, 2**d, C), for each member and score."""
    members, _, outputs = H.shape
    return tuple(WalshSpectrum.of(H[m, :, c], m, c) for m in range(members) for c in range(outputs))
