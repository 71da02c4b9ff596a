"""A toy aggregation, made by the recipe of docs/architecture.md."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from abnet.networks import Aggregation, exact
from abnet.networks.gaussian_kl import gaussian_kl


@dataclass(frozen=True)
class Halved(Aggregation):
    """A sixth aggregation: half of the exact output, and twice the divergence."""

    def output(self, layers: tuple[Any, ...], lifted: Any, key: Any = None, table: Any = None) -> Any:
        return 0.5 * exact.output(layers, lifted, table)

    def kl(self, layers: tuple[Any, ...], prior: tuple[Any, ...], log_sigma: Sequence[Any]) -> Any:
        return gaussian_kl(layers, prior, log_sigma, [2] * len(layers))
