"""The certificate of a fitted network: which theorem applies, losses of fresh paths, warnings of rows it has seen."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.bounds import (
    Certificate,
    SampledRisk,
    certify_frozen,
    certify_frozen_sampled,
    certify_trained,
    certify_trained_sampled,
)
from abnet.data.fingerprint import count_seen
from abnet.predictors.paths import block_rows, path_outputs
from abnet.predictors.predictor import Predictor

__all__ = [
    "certify_predictor",
    "fresh_path_count",
    "sampled_risk",
    "warn_of_fitted_rows",
    "warn_of_no_certificate",
]


def certify_predictor(
    predictor: Predictor,
    X: Any,
    y: NDArray[np.float64],
    kl: float,
    sampled: SampledRisk | None,
    n_paths: int,
    *,
    frozen: bool,
    **terms: Any,
) -> Certificate:
    """The certificate of a predictor on its bound rows.

    Parameters
    ----------
    predictor : Predictor
    X : array (n, d_0)
        Prepared bound rows.
    y : array (n,)
        Labels ±1.
    kl : float
        Divergence of the posterior from the prior.
    sampled : SampledRisk or None
        Losses of fresh paths, where the Gibbs risk is sampled; its predictor is a vote of other paths.
    n_paths : int
        How many paths vote, drawn once and kept.
    frozen : bool
        Whether the network never saw these rows.
    **terms
        ``delta``, ``prior`` and ``n_candidates``.
    """
    if sampled and not frozen:
        return certify_trained_sampled(sampled, kl, vote="fixed paths", vote_paths=n_paths, **terms)
    F = predictor.score_prepared(X)
    risks, wrong = (1 - y * F) / 2, (F >= 0) != (y > 0)
    if sampled:
        return certify_frozen_sampled(sampled, y, wrong, **terms)
    if frozen:
        return certify_frozen(risks, y, wrong, **terms)
    return certify_trained(risks, y, kl, wrong=wrong, **terms)


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
        Called with a stage's name, the number of examples done and of all, and the mean loss of the last block.
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
            report("certificate", start + len(labels), len(y), records[-1].mean)
    return SampledRisk.merge(records)


def warn_of_no_certificate() -> None:
    """Warn that the sampling of a certificate was interrupted: some of the rows alone would certify nothing."""
    warnings.warn(
        "Interrupted while the certificate was computed: the model is kept, without a certificate. `certify` makes one "
        "from rows that had no part in learning.",
        stacklevel=3,
    )


def _recurring(prepared: Any, y: NDArray[Any]) -> int:
    """How many rows are like one before them, label included."""
    rows = np.asarray(prepared.toarray() if hasattr(prepared, "toarray") else prepared, np.float32)
    return len(y) - len({row.tobytes() + label.tobytes() for row, label in zip(rows, np.asarray(y), strict=True)})


def warn_of_fitted_rows(text: str | None, prepared: Any, y: NDArray[Any]) -> int:
    """Warn if rows that a model is to be certified on are those that it was fitted on; how many they are.

    Parameters
    ----------
    text : str or None
        The model's filter (`abnet.data.fingerprint`); None where there is none, and nothing can be told.
    prepared : array (n, d)
        Rows as the network reads them.
    y : array (n,)
        Their labels, as they were put into the filter.

    Examples
    --------
    >>> warn_of_fitted_rows(None, np.eye(3), np.ones(3))
    0
    """
    seen = count_seen(text, prepared, y) if text else 0
    # A filter is mistaken about once in two thousand rows; where rows have few values, they recur by chance.
    if seen > max(1, len(y) // 500) and seen > 2 * _recurring(prepared, y):
        warnings.warn(
            f"{seen:,} of {len(y):,} rows have the values and the label of rows that the model was fitted on. A test "
            "set is rows that had no part in learning: if these are the same rows, the certificate is void. (Among few "
            "distinct rows some are equal by chance, which does no harm.)",
            stacklevel=3,
        )
    return seen
