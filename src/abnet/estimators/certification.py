"""The rows of a fit in the order of use, and what a draw of the posterior loses on them, by fresh paths if need be."""

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.bam import BAM
from abnet.bounds import gibbs_bound
from abnet.certificates.certify import Terms
from abnet.certificates.evidence import Evidence
from abnet.certificates.fingerprint import fingerprint
from abnet.certificates.statement import Estimate
from abnet.codebook import class_table
from abnet.errors import Parameter, ParameterError
from abnet.labels import losses_of, signs_of, with_unknown
from abnet.predictors.paths import block_rows, path_outputs

__all__ = [
    "Losses",
    "Streams",
    "TrainingRows",
    "check_rows_of_fit",
    "estimated_bound",
    "fresh_path_count",
    "frozen_losses",
    "mean_risks",
    "means_of_rows",
    "one_thread",
    "sampled_losses",
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


class Losses(NamedTuple):
    """What one draw of a posterior loses on each row.

    Attributes
    ----------
    losses : array (n,)
        Computed, or the mean over fresh paths.
    pairs : array (n,) or None
        The loss of two independent draws; None where that is the square.
    n_paths : int or None
        Fresh paths of each row; None where the losses are computed.
    """

    losses: NDArray[np.float64]
    pairs: NDArray[np.float64] | None = None
    n_paths: int | None = None


def estimated_bound(seen: Evidence, terms: Terms) -> Estimate:
    """The Gibbs bound where no theorem covers what was done."""
    assert seen.losses is not None
    n = seen.n_rows if seen.groups is None else len(seen.groups.table)
    risk = seen.losses.mean() or 0.0
    return Estimate(
        quantity="Gibbs risk", of="draw", counted={"risk": risk, "n": n, "kl": terms.kl},
        value=gibbs_bound(risk, terms.kl, n, terms.delta, n_candidates=terms.n_candidates),
        why="No theorem covers the way this model was trained, so nothing is promised about new data.",
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


def sampled_losses(
    networks: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
    *,
    n_paths: int | None = None,
    report: Any = None,
) -> Losses:
    """Losses of paths drawn anew for each example and repeat, each of a member drawn for it, all in float64.

    Pairs of paths are independent. Streams over the examples, so that the paths of a few are in memory at a time.

    Parameters
    ----------
    networks : tuple of BAM
        Centres of the posterior's members, fixed before `rng` was used.
    X : array or sparse matrix in rows (n, d_0)
        Prepared rows.
    codes : array (n,)
        Classes, 0 to K - 1; K where the label is not known, and then every answer errs.
    n_classes : int
        Number K of classes that the networks tell apart.
    rng : numpy.random.Generator
        Independent of everything that the networks depend on.
    n_paths : int, optional
        Paths T of each example; by default `fresh_path_count`.
    report : callable, optional
        Called with a stage's name, the number of examples done and of all, and the mean loss of the last block.
    """
    T = fresh_path_count(len(codes)) if n_paths is None else n_paths
    table = class_table(n_classes, networks[0].sizes[-1])
    layers = [network.astype(np.float64).layers for network in networks]
    step, by_row = block_rows(layers[0], T), []
    for start in range(0, len(codes), step):
        block, truth = X[start : start + step], codes[start : start + step]
        # Rounded to float32 like the rows of `Predictor.scores`: what is certified is what is deployed.
        rows = np.asarray(block.toarray() if hasattr(block, "toarray") else block, np.float32).astype(np.float64)
        by_row.append(means_of_rows(_fresh_losses(layers, rows, truth, T, rng, table)))
        if report is not None:
            report("certificate", start + len(rows), len(codes), float(by_row[-1][0].mean()))
    means, pairs = (np.concatenate(parts) for parts in zip(*by_row, strict=True))
    return Losses(means, pairs, T)


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


def frozen_losses(
    networks: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
    report: Any = None,
) -> Losses:
    """The sampled losses of a mixture that never saw these rows: every member has its share of each example's paths.

    An example's mean is an independent draw in [0, 1], which is all that the bound of a frozen posterior needs.
    """
    means, pairs = mean_risks(networks, X, codes, n_classes, rng, report)
    return Losses(means, pairs, PATHS_OF_MEMBER * len(networks))


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
