"""The rows of a fit in the order of use, and the certificate of what was learned: which theorem applies, losses of
fresh paths.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.bam import BAM
from abnet.bounds import (
    Certificate,
    SampledRisk,
    certify_frozen,
    certify_frozen_sampled,
    certify_trained,
    certify_trained_sampled,
)
from abnet.bounds.rules import ExactRisk
from abnet.certificates.fingerprint import fingerprint
from abnet.codebook import class_table
from abnet.decisions.groups import certify_groups, grouped_risk, grouped_sample
from abnet.errors import Parameter, ParameterError
from abnet.labels import losses_of, signs_of, winners, with_unknown
from abnet.predictors.paths import block_rows, path_outputs
from abnet.predictors.predictor import Predictor

__all__ = [
    "Streams",
    "TrainingRows",
    "certify_posterior",
    "check_rows_of_fit",
    "fresh_path_count",
    "frozen_risk",
    "losses_and_errors",
    "mean_risks",
    "means_of_rows",
    "one_thread",
    "sample_of_groups",
    "sampled_risk",
    "warn_of_no_certificate",
    "without_groups",
]


class Streams(NamedTuple):
    """Generators of a fit: start, training, the predictor's draws, the certificates'. None tells of another."""

    start: np.random.Generator
    train: np.random.Generator
    deploy: np.random.Generator
    paths: np.random.Generator
    certify: np.random.Generator
    single: np.random.Generator


class TrainingRows(NamedTuple):
    """Prepared rows in the order of use: `n_other` rows that are kept from the bound, then those of the bound."""

    X: NDArray[np.float32]
    codes: NDArray[np.intp]
    """Classes, 0 and 1; 2 where a bound row's label is neither, and every answer to it an error."""
    weights: NDArray[np.float64] | None
    n_other: int
    preparation: Any
    untouched: bool
    """Whether nothing before the network was fitted on the bound rows."""
    groups: NDArray[Any] | None = None
    """Groups of the bound rows, if they come in groups."""

    @property
    def signs(self) -> NDArray[np.float64]:
        """Targets of training; what is learned of a label that is not known does not matter."""
        return signs_of(np.minimum(self.codes, 1))

    @property
    def n_draws(self) -> int:
        """Independent draws among the bound rows: rows, or groups of rows."""
        return len(self.codes) - self.n_other if self.groups is None else len(np.unique(self.groups))

    def of_bound(self) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Rows and classes of the bound."""
        return self.X[self.n_other :], self.codes[self.n_other :]


# Rows are scored in blocks that stay in the cache: to wake a second thread for each takes longer than its product, on a
# machine that is busy twenty times as long.
one_thread = threadpool_limits.wrap(limits=1, user_api="blas")


def certify_posterior(
    losses: NDArray[np.float64] | SampledRisk,
    codes: NDArray[np.intp],
    n_codes: int,
    wrong: NDArray[np.bool_] | None,
    *,
    frozen: bool,
    kl: float = 0.0,
    vote_paths: int | None = None,
    groups: NDArray[Any] | None = None,
    order: NDArray[np.intp] | None = None,
    **terms: Any,
) -> Certificate:
    """The certificate of a posterior on its bound rows: which theorem applies follows from how it was made.

    Parameters
    ----------
    losses : array (n,) or SampledRisk
        The probability that one draw errs on each row, or what fresh paths showed of it (by groups, if there are any).
    codes : array (n,)
        Classes, 0 to K - 1; K where the label was not known when the classes were fixed, and then every answer errs.
    n_codes : int
        K, or K + 1 with unknown labels.
    wrong : array (n,) or None
        Where the deployed vote errs; None where no bound asks for it: trained on, sampled, and without groups.
    frozen : bool
        Whether the posterior never saw these rows.
    kl : float
        Its divergence from the prior.
    vote_paths : int, optional
        How many paths vote, drawn once and kept, where the losses are sampled.
    groups : array (n,), optional
        The rows' groups: the certificate is then about a new group.
    order : array (n,), optional
        The order in which new rows are bet on; those of a split are in theirs.
    **terms
        ``delta``, ``prior`` ("test set" for new rows) and ``n_candidates``, and ``expected`` for a posterior that was
        trained on.
    """
    sampled = isinstance(losses, SampledRisk)
    if groups is not None:
        risk = losses if isinstance(losses, SampledRisk) else grouped_risk(losses, groups)
        return _certify_on_groups(
            risk, groups, wrong, kl, vote_paths if sampled else None, frozen, order=order, **terms
        )
    if isinstance(losses, SampledRisk):
        if frozen:
            return certify_frozen_sampled(losses, codes, wrong, **terms)
        return certify_trained_sampled(losses, kl, vote="fixed paths", vote_paths=vote_paths, **terms)
    assert wrong is not None  # whoever has computed losses has the votes too
    if frozen:
        return certify_frozen(losses, codes, wrong, n_classes=n_codes, order=order, **terms)
    return certify_trained(losses, codes, kl, wrong=wrong, n_classes=n_codes, **terms)


def losses_and_errors(
    scorer: Predictor, X: Any, codes: NDArray[np.intp], sampled: SampledRisk | None, *, votes: bool = True
) -> tuple[NDArray[np.float64] | SampledRisk, NDArray[np.bool_] | None]:
    """What `certify_posterior` is told of prepared rows: losses, sampled or computed, and where the vote errs.

    Without `votes`, sampled losses are enough, and the rows are not scored.
    """
    if sampled is not None and not votes:
        return sampled, None
    scores = scorer.scores(X)
    return losses_of(scores, codes) if sampled is None else sampled, winners(scores) != codes


def _certify_on_groups(
    risk: ExactRisk | SampledRisk,
    groups: NDArray[Any],
    wrong: NDArray[np.bool_] | None,
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
    networks: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    n_codes: int,
    rng: np.random.Generator,
    *,
    n_paths: int | None = None,
    report: Any = None,
    groups: NDArray[Any] | None = None,
) -> SampledRisk:
    """Losses of paths drawn anew for each example and repeat, each of a member drawn for it, all in float64.

    Pairs of paths are independent. Streams over the examples, so that memory does not grow with their number.

    Parameters
    ----------
    networks : tuple of BAM
        Centres of the posterior's members, fixed before `rng` was used.
    X : array or sparse matrix in rows (n, d_0)
        Prepared rows.
    codes, n_codes
        As for `certify_posterior`.
    n_classes : int
        Number K of classes that the networks tell apart.
    rng : numpy.random.Generator
        Independent of everything that the networks depend on.
    n_paths : int, optional
        Paths T of each example; by default `fresh_path_count`.
    report : callable, optional
        Called with a stage's name, the number of examples done and of all, and the mean loss of the last block.
    groups : array (n,), optional
        The rows' groups: means of the groups' means.
    """
    T = fresh_path_count(len(codes)) if n_paths is None else n_paths
    table = class_table(n_classes, networks[0].sizes[-1])
    layers = [network.astype(np.float64).layers for network in networks]
    step, records, by_row = block_rows(layers[0], T), [], []
    for start in range(0, len(codes), step):
        block, truth = X[start : start + step], codes[start : start + step]
        # Rounded to float32 like the rows of `Predictor.scores`: what is certified is what is deployed.
        rows = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float32).astype(np.float64)
        losses = _fresh_losses(layers, rows, truth, T, rng, table)
        records.append(SampledRisk.from_values(losses, truth, n_codes))
        by_row.append(means_of_rows(losses))
        if report is not None:
            report("certificate", start + len(rows), len(codes), records[-1].mean)
    return SampledRisk.merge(records) if groups is None else sample_of_groups(by_row, T, groups)


def _fresh_losses(
    layers: list[tuple[Any, ...]],
    rows: NDArray[np.float64],
    truth: NDArray[np.intp],
    n_paths: int,
    rng: Any,
    table: Any,
) -> NDArray[np.float64]:
    """Losses (rows, T) of fresh paths; with several members, each path is that of one drawn for it."""

    def outputs(V: tuple[Any, ...], rows: NDArray[np.float64], paths: int) -> NDArray[np.float64]:
        return path_outputs(V, rows, paths, lambda k, shape: rng.standard_normal(shape), table)

    if len(layers) == 1:
        out = outputs(layers[0], rows, n_paths)
        return losses_of(out.reshape(-1, *out.shape[2:]), np.repeat(truth, n_paths)).reshape(len(rows), n_paths)
    losses = np.empty((len(rows), n_paths))
    drawn = rng.integers(len(layers), size=losses.shape)
    for m, V in enumerate(layers):
        at, path = np.nonzero(drawn == m)
        losses[at, path] = losses_of(outputs(V, rows[at], 1)[:, 0], truth[at])
    return losses


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
        step = block_rows(layers, PATHS_OF_MEMBER, n_classes)
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


def warn_of_no_certificate() -> None:
    """Warn that the sampling of a certificate was interrupted: some of the rows alone would certify nothing."""
    warnings.warn(
        "Interrupted while the certificate was computed: the model is kept, without a certificate. `certify` makes one "
        "from rows that had no part in learning.",
        stacklevel=3,
    )


def check_rows_of_fit(classifier: Any, X: Any, y: NDArray[Any]) -> None:
    """ValueError if these are not the rows given to `fit`, in their order."""
    rows, model = classifier._check_rows(X), classifier.model_
    base = getattr(model.preparation, "base", model.preparation)  # before codes
    prepared = np.asarray(rows if base is None else base.transform(rows), np.float32)
    order = np.concatenate([classifier.other_rows_, classifier.bound_rows_])
    codes = with_unknown(classifier._labels.encode(y), len(classifier.classes_))[0][order]
    names = [fingerprint(prepared[order], marks) for marks in (codes.astype(np.float64), signs_of(codes))]
    if model.card.data_fingerprint not in names:
        raise ValueError("fitted=True asks for the rows given to fit, in their order; X or y differ from them.")


def without_groups(X: Any, groups: Any) -> tuple[Any, NDArray[Any] | None]:
    """Rows without the column that names their groups, and that column; or rows and groups as they were given.

    Parameters
    ----------
    X : array, sparse matrix or frame (n, d)
    groups : None, array (n,) or str
        A name is that of a column of the frame, which is no feature then.

    Examples
    --------
    >>> import polars as pl
    >>> rows, groups = without_groups(pl.DataFrame({"age": [40, 50], "patient": ["a", "b"]}), "patient")
    >>> rows.columns, groups.tolist()
    (['age'], ['a', 'b'])
    """
    if groups is None or not isinstance(groups, str):
        return X, None if groups is None else np.asarray(groups)
    names = list(X) if isinstance(X, Mapping) else list(getattr(X, "columns", ()))
    if groups not in names:
        raise ParameterError("{}: no column {!r} in X.", Parameter("groups"), groups)
    kept = [name for name in names if name != groups]
    rest = {name: X[name] for name in kept} if isinstance(X, Mapping) else X[kept]
    return rest, np.asarray(X[groups])
