"""Losses of fresh ancestral paths on the bound rows: the evidence for a certificate of a sampled network."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.bounds import SampledRisk
from abnet.predictors.paths import block_rows, path_outputs

__all__ = ["fresh_path_count", "sampled_risk"]

LEAST_PATHS, MOST_PATHS = 20, 1000
LOSSES = 1_000_000
"""Losses that are sampled in all, if so many paths are allowed: the sampling then costs .0006 at a risk of .03."""


def fresh_path_count(n_examples: int) -> int:
    """Paths of each example, from the number of examples alone: an even number, since the tandem risk needs pairs.

    Examples
    --------
    >>> [fresh_path_count(n) for n in (100, 10_000, 26_250, 1_000_000)]
    [1000, 100, 40, 20]
    """
    wanted = -(-LOSSES // n_examples)
    return min(max(wanted + wanted % 2, LEAST_PATHS), MOST_PATHS)


def sampled_risk(
    network: BAM, X: Any, y: NDArray[np.float64], rng: np.random.Generator, *, n_paths: int, report: Any = None
) -> SampledRisk:
    """Losses ``(1 - y m_L(s_{L-1}))/2`` of paths drawn anew for each example and repeat, all in float64.

    Streams over the examples, so that memory does not grow with their number.

    Parameters
    ----------
    network : BAM
        Centre of the posterior, fixed before `rng` was used.
    X : array or sparse matrix in rows (n, d_0)
        Prepared rows.
    y : array (n,)
        Labels ±1.
    rng : numpy.random.Generator
        Independent of everything that the network depends on.
    n_paths : int
        Paths T of each example.
    report : callable, optional
        Called with a stage's name, the number of examples done and the mean loss of the last block.
    """
    layers = network.astype(np.float64).layers
    step = block_rows(layers, n_paths)
    records = []
    for start in range(0, len(y), step):
        block, labels = X[start : start + step], y[start : start + step]
        # Rounded to float32 like the rows of `Predictor.score_prepared`: what is certified is what is deployed.
        rows = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float32).astype(np.float64)
        F = path_outputs(layers, rows, n_paths, lambda k, shape: rng.standard_normal(shape))
        records.append(SampledRisk.from_values((1 - labels[:, None] * F) / 2, labels))
        if report is not None:
            report("certificate", start + len(labels), records[-1].mean)
    return SampledRisk.merge(records)
