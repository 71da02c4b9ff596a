"""The certificate of a fitted network: which theorem applies, losses of fresh paths, warnings of rows it has seen."""

import warnings
from dataclasses import replace
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
from abnet.bounds.certificate import Expected
from abnet.bounds.rules import ExactRisk
from abnet.data.fingerprint import count_seen
from abnet.decisions.groups import certify_groups, grouped_risk, grouped_sample
from abnet.predictors.mixture import class_table
from abnet.predictors.paths import block_rows, path_outputs
from abnet.predictors.predictor import Predictor

__all__ = [
    "certify_posterior_on_groups",
    "certify_predictor",
    "expected_figures",
    "fresh_path_count",
    "frozen_risk",
    "losses_of",
    "mean_risks",
    "means_of_rows",
    "mixture_risk",
    "sample_of_groups",
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
    groups: NDArray[Any] | None = None,
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
    groups : array (n,), optional
        The rows' groups; `sampled` is then by groups as well.
    **terms
        ``delta``, ``prior`` and ``n_candidates``, and ``expected`` for a network that was trained on.
    """
    if groups is not None:
        F = predictor.score_prepared(X)
        risk = sampled or grouped_risk((1 - y * F) / 2, groups)
        wrong = (F >= 0) != (y > 0)
        return certify_posterior_on_groups(risk, groups, wrong, kl, n_paths if sampled else None, frozen, **terms)
    if sampled and not frozen:
        return certify_trained_sampled(sampled, kl, vote="fixed paths", vote_paths=n_paths, **terms)
    F = predictor.score_prepared(X)
    risks, wrong = (1 - y * F) / 2, (F >= 0) != (y > 0)
    if sampled:
        return certify_frozen_sampled(sampled, y, wrong, **terms)
    if frozen:
        return certify_frozen(risks, y, wrong, **terms)
    return certify_trained(risks, y, kl, wrong=wrong, **terms)


def expected_figures(prior: Predictor, X: Any, codes: NDArray[Any]) -> Expected:
    """What validation rows of the first part let one expect of a posterior that starts at the prior.

    Parameters
    ----------
    prior : Predictor
        Of the prior, as it is before any bound row was looked at.
    X : array (m, d_0)
        Prepared rows of the first part.
    codes : array (m,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    """
    return Expected.from_losses(losses_of(prior.score_prepared(X), np.maximum(codes, 0).astype(np.intp)))


def losses_of(scores: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """``1 - P(true class)`` of each row; 1 for a label that the model does not know.

    Examples
    --------
    >>> losses_of(np.array([0.5, 0.5]), np.array([1, 0])), losses_of(np.array([[0.2, 0.8, 0.0]]), np.array([1]))
    (array([0.25, 0.75]), array([0.2]))
    """
    if scores.ndim == 1:
        return np.where(codes > 1, 1.0, (1 - (2.0 * codes - 1) * scores) / 2)
    known = codes < scores.shape[1]
    return np.where(known, 1 - scores[np.arange(len(codes)), np.where(known, codes, 0)], 1.0)


def certify_posterior_on_groups(
    risk: ExactRisk | SampledRisk,
    groups: NDArray[Any],
    wrong: NDArray[np.bool_],
    kl: float,
    n_paths: int | None,
    frozen: bool,
    **terms: Any,
) -> Certificate:
    """The certificate on rows that come in groups; `n_paths` of a vote of kept paths."""
    if frozen:
        terms.pop("expected", None)
        return certify_groups(risk, groups, wrong, **terms)
    if n_paths is None:
        return certify_groups(risk, groups, wrong, posterior="train", kl=kl, **terms)
    return certify_groups(
        risk, groups, None, posterior="train", kl=kl, vote="fixed paths", vote_paths=n_paths, **terms
    )  # fmt: skip


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
    network: BAM,
    X: Any,
    y: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    n_paths: int,
    report: Any = None,
    groups: NDArray[Any] | None = None,
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
    groups : array (n,), optional
        The rows' groups: means of the groups' means.
    """
    layers = network.astype(np.float64).layers
    step = block_rows(layers, n_paths)
    records, rows_of_paths = [], []
    for start in range(0, len(y), step):
        block, labels = X[start : start + step], y[start : start + step]
        # Rounded to float32 like the rows of `Predictor.score_prepared`: what is certified is what is deployed.
        rows = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float32).astype(np.float64)
        F = path_outputs(layers, rows, n_paths, lambda k, shape: rng.standard_normal(shape))
        losses = (1 - labels[:, None] * F) / 2
        rows_of_paths.append(means_of_rows(losses))
        records.append(SampledRisk.from_values(losses, labels))
        if report is not None:
            report("certificate", start + len(labels), len(y), records[-1].mean)
    return SampledRisk.merge(records) if groups is None else sample_of_groups(rows_of_paths, n_paths, groups)


def means_of_rows(losses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean loss of each row's paths (n, T), and mean product of the losses of two different ones; no path twice.

    Examples
    --------
    >>> means_of_rows(np.array([[0.0, 1.0, 1.0, 1.0]]))
    (array([0.75]), array([0.5]))
    """
    half = losses.shape[1] // 2
    return losses.mean(axis=1), (losses[:, :half] * losses[:, half : 2 * half]).mean(axis=1)


def sample_of_groups(
    blocks: list[tuple[NDArray[np.float64], NDArray[np.float64]]], n_paths: int, groups: NDArray[Any]
) -> SampledRisk:
    """The record of blocks that `means_of_rows` made, by groups."""
    means, pairs = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return grouped_sample(means, pairs, n_paths, groups)


PATHS_OF_MEMBER = 25
"""Fresh paths of each member and example, where only their mean is needed."""


def mean_risks(
    networks: tuple[BAM, ...], X: Any, codes: NDArray[np.intp], n_classes: int, rng: Any, report: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean loss of fresh paths of all members on each example, and the product of the means of either half of them.

    The first is unbiased for the mixture's Gibbs risk there, in [0, 1]; the second for its square, since the halves are
    independent.
    """
    table, totals = class_table(n_classes, networks[0].sizes[-1]), np.zeros((2, len(codes)))
    half = PATHS_OF_MEMBER // 2
    for m, network in enumerate(networks):
        layers = network.astype(np.float64).layers
        step = block_rows(layers, PATHS_OF_MEMBER)
        for start in range(0, len(codes), step):
            rows, truth = np.asarray(X[start : start + step], np.float64), codes[start : start + step]
            out = path_outputs(layers, rows, PATHS_OF_MEMBER, lambda k, shape: rng.standard_normal(shape), table)
            for part, paths in enumerate((out[:, :half], out[:, half:])):
                totals[part, start : start + step] += losses_of(paths.mean(axis=1), truth)
            if report is not None:
                done = m * len(codes) + start + len(rows)
                report("certificate", done, len(networks) * len(codes), totals.mean())
    first, second = np.clip(totals / len(networks), 0, 1)
    return (half * first + (PATHS_OF_MEMBER - half) * second) / PATHS_OF_MEMBER, first * second


def frozen_risk(
    networks: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    n_codes: int,
    rng: np.random.Generator,
    report: Any = None,
    groups: NDArray[Any] | None = None,
) -> SampledRisk:
    """The sampled risk of a mixture that never saw these rows: every member has its share of each example's paths.

    An example's mean is an independent draw in [0, 1], which is all that the bound of a frozen posterior needs.
    """
    means, pairs = mean_risks(networks, X, codes, n_classes, rng, report)
    paths = PATHS_OF_MEMBER * len(networks)
    if groups is not None:
        return grouped_sample(means, pairs, paths, groups)
    masks = (codes == code for code in range(n_codes))
    whole, *parts = (_sample(means[mine], pairs[mine], paths) for mine in (codes >= 0, *masks))
    assert whole is not None  # there are bound rows
    return replace(whole, by_class=tuple(parts))


def _sample(means: NDArray[np.float64], pairs: NDArray[np.float64], paths: int) -> SampledRisk | None:
    return SampledRisk(float(means.mean()), float(pairs.mean()), len(means), paths) if len(means) else None


def mixture_risk(
    networks: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    n_codes: int,
    rng: np.random.Generator,
    report: Any = None,
    groups: NDArray[Any] | None = None,
) -> SampledRisk:
    """Losses of fresh paths, each of a member drawn for it, on every example: pairs of them are independent."""
    n_paths = fresh_path_count(len(codes))
    table = class_table(n_classes, networks[0].sizes[-1])
    layers = [network.astype(np.float64).layers for network in networks]
    step, records, by_row = block_rows(layers[0], n_paths), [], []
    for start in range(0, len(codes), step):
        rows, truth = np.asarray(X[start : start + step], np.float64), codes[start : start + step]
        losses = np.empty((len(rows), n_paths))
        drawn = rng.integers(len(networks), size=losses.shape)
        for m, V in enumerate(layers):
            at, path = np.nonzero(drawn == m)
            out = path_outputs(V, rows[at], 1, lambda k, shape: rng.standard_normal(shape), table)[:, 0]
            losses[at, path] = losses_of(out, truth[at])
        records.append(SampledRisk.from_values(losses, truth, n_codes))
        by_row.append(means_of_rows(losses))
        if report is not None:
            report("certificate", start + len(rows), len(codes), records[-1].mean)
    return SampledRisk.merge(records) if groups is None else sample_of_groups(by_row, n_paths, groups)


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
