"""Gibbs losses: the expected loss of a network drawn from a posterior on each row, exact or from fresh paths."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.model.predictors.paths import block_rows, path_outputs
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.networks import SampledPBGNet
from abnet.networks.bam import BAM
from abnet.networks.codebook import class_table
from abnet.networks.posterior import Posterior
from abnet.training.progress_bar import Report
from abnet.utils.class_scores import losses_of
from abnet.utils.coded_rows import dense
from abnet.utils.threads import one_blas_thread

__all__ = [
    "Losses",
    "fresh_path_count",
    "frozen_losses",
    "losses_of_draws",
    "mean_risks",
    "means_of_rows",
    "sampled_losses",
    "losses_on_test_set",
]


class Losses(NamedTuple):
    """Gibbs losses of each row.

    Attributes
    ----------
    losses : array (n,)
        Exact, or the mean over fresh paths.
    pairs : array (n,) or None
        Product of the losses of two independent draws; None if it is the square of `losses`.
    n_paths : int or None
        Number of fresh paths per row; None if the losses are exact.
    """

    losses: NDArray[np.float64]
    pairs: NDArray[np.float64] | None = None
    n_paths: int | None = None


LEAST_PATHS = 20
MOST_PATHS = 1000
LOSSES = 1_000_000
"""Total number of sampled losses, if the number of paths allows it."""


def fresh_path_count(n_examples: int) -> int:
    """Number of paths per example, which depends only on the number of examples; even, as the tandem risk needs pairs.

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
    """Losses of T fresh paths for each example, in float64; each path belongs to a randomly drawn member.

    Paths are independent. The examples are processed in blocks, so only the paths of a few are in memory.

    Parameters
    ----------
    networks : tuple of BAM
        Centres of the posterior's members, fixed before `rng` was used.
    X : array or sparse matrix in rows (n, d_0)
        Prepared rows.
    codes : array (n,)
        Classes, 0 to K - 1; K where the label is not known, and then every answer errs.
    n_classes : int
        Number K of classes.
    rng : numpy.random.Generator
        Independent of everything that the networks depend on.
    n_paths : int, optional
        Paths T of each example; by default `fresh_path_count`.
    report : callable, optional
        Called with the name of the stage, the number of examples done, their total number, and the mean loss of the
        last block.
    """
    if n_paths is None:
        n_paths = fresh_path_count(len(codes))
    table = class_table(n_classes, networks[0].sizes[-1])
    layers = [network.astype(np.float64).layers for network in networks]
    step = block_rows(layers[0], n_paths)
    means = np.empty(len(codes))
    pairs = np.empty(len(codes))
    for start in range(0, len(codes), step):
        block = slice(start, start + step)
        # Rounded to float32 like the rows in `Predictor.scores`, so that the deployed predictor is the certified one.
        rows = np.asarray(dense(X[block]), np.float32).astype(np.float64)
        losses = _fresh_losses(layers, rows, codes[block], n_paths, rng, table)
        means[block], pairs[block] = means_of_rows(losses)
        if report is not None:
            report("certificate", start + len(rows), len(codes), float(means[block].mean()))
    return Losses(means, pairs, n_paths)


def _fresh_losses(
    layers: list[tuple[Any, ...]],
    rows: NDArray[np.float64],
    truth: NDArray[np.intp],
    n_paths: int,
    rng: Any,
    table: Any,
) -> NDArray[np.float64]:
    """Losses (rows, T) of fresh paths; with several members, each path belongs to a randomly drawn one."""

    def outputs(V: tuple[Any, ...], rows: NDArray[np.float64], paths: int) -> NDArray[np.float64]:
        return path_outputs(V, rows, paths, lambda k, shape: rng.standard_normal(shape), table)

    if len(layers) == 1:
        out = outputs(layers[0], rows, n_paths)
        losses = losses_of(out.reshape(-1, *out.shape[2:]), np.repeat(truth, n_paths))
        return losses.reshape(len(rows), n_paths)
    losses = np.empty((len(rows), n_paths))
    drawn_members = rng.integers(len(layers), size=losses.shape)
    for member, V in enumerate(layers):
        row, path = np.nonzero(drawn_members == member)
        losses[row, path] = losses_of(outputs(V, rows[row], 1)[:, 0], truth[row])
    return losses


def means_of_rows(losses: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean loss over the paths of each row (n, T), and mean product over disjoint pairs of paths.

    Examples
    --------
    >>> means_of_rows(np.array([[0.0, 1.0, 1.0, 1.0]]))
    (array([0.75]), array([0.5]))
    """
    half = losses.shape[1] // 2
    return losses.mean(axis=1), (losses[:, :half] * losses[:, half : 2 * half]).mean(axis=1)


PATHS_OF_MEMBER = 25
"""Number of fresh paths per member and example, if only their mean is needed."""


def mean_risks(
    networks: tuple[BAM, ...], X: Any, codes: NDArray[np.intp], n_classes: int, rng: Any, report: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean loss over fresh paths of all members on each example, and the product of the means of two halves of them.

    The first is an unbiased estimate of the mixture's Gibbs loss, in [0, 1]; the second of its square, because the
    halves are independent.
    """
    table = class_table(n_classes, networks[0].sizes[-1])
    n_rows = len(codes)
    n_first = PATHS_OF_MEMBER // 2
    n_second = PATHS_OF_MEMBER - n_first
    first = np.zeros(n_rows)
    second = np.zeros(n_rows)
    for member, network in enumerate(networks):
        layers = network.astype(np.float64).layers
        step = block_rows(layers, PATHS_OF_MEMBER, n_classes)
        for start in range(0, n_rows, step):
            block = slice(start, start + step)
            rows = np.asarray(X[block], np.float64)
            out = path_outputs(layers, rows, PATHS_OF_MEMBER, lambda k, shape: rng.standard_normal(shape), table)
            first[block] += losses_of(out[:, :n_first].mean(axis=1), codes[block])
            second[block] += losses_of(out[:, n_first:].mean(axis=1), codes[block])
            if report is not None:
                done = member * n_rows + start + len(rows)
                report("certificate", done, len(networks) * n_rows, (first.mean() + second.mean()) / 2)
    first = np.clip(first / len(networks), 0, 1)
    second = np.clip(second / len(networks), 0, 1)
    return (n_first * first + n_second * second) / PATHS_OF_MEMBER, first * second


def frozen_losses(
    networks: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
    report: Any = None,
) -> Losses:
    """Sampled losses of a mixture on rows held out from training; the paths of an example are split among the members.

    The mean of each example is an independent draw in [0, 1], which is all that the bound of a frozen posterior needs.
    """
    means, pairs = mean_risks(networks, X, codes, n_classes, rng, report)
    return Losses(means, pairs, PATHS_OF_MEMBER * len(networks))


@one_blas_thread()
def losses_of_draws(
    posterior: Posterior,
    predictor: Predictor,
    X: Any,
    scores: NDArray[np.float64],
    codes: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    frozen: bool,
    n_rows: int | None = None,
    report: Report | None = None,
) -> Losses | None:
    """Gibbs losses on the bound rows; None if the predictor is a closed form, which has no Gibbs loss.

    Parameters
    ----------
    posterior : Posterior
    predictor : Predictor
        The deployed predictor of the posterior.
    X : array or CodedRows (n, d)
        Inputs of the networks.
    scores : array (n,) or (n, K)
        The predictor's.
    codes : array (n,)
        Classes, 0 to K - 1; K for a label that is not known, and then every answer errs.
    rng : numpy.random.Generator
        Of fresh paths.
    frozen : bool
        Whether these rows were held out from training.
    n_rows : int, optional
        Number of bound rows, if these are a block of them: the number of fresh paths of each row depends on it.
    report : Report, optional
    """
    aggregation = posterior.aggregation
    if predictor.vote == "expectation" or not (aggregation.certified and aggregation.sampled):
        return Losses(predictor.expected_losses(scores, codes))
    if predictor.vote is None:  # a closed form: only its own answers are certified
        return None
    networks = posterior.members
    n_classes = predictor.n_classes
    if frozen and (n_classes > 2 or len(networks) > 1):
        return frozen_losses(networks, X, codes, n_classes, rng, report)
    if n_rows is None:
        n_rows = len(codes)
    return sampled_losses(networks, X, codes, n_classes, rng, n_paths=fresh_path_count(n_rows), report=report)


@one_blas_thread()
def losses_on_test_set(
    posterior: Posterior,
    predictor: Predictor,
    X: Any,
    scores: NDArray[np.float64],
    codes: NDArray[np.intp],
    rng: np.random.Generator,
    report: Report | None = None,
) -> Losses | None:
    """`losses_of_draws` on a test set, also for aggregations whose bound on training rows is an estimate.

    Stochastic PBGNet uses the losses of PBGNet.
    """
    aggregation = posterior.aggregation
    if aggregation.sampled and not aggregation.certified:
        return sampled_losses(posterior.members, X, codes, predictor.n_classes, rng, report=report)
    if isinstance(aggregation, SampledPBGNet):
        expectation = PBGNetPredictor.from_networks(posterior.members)
        return Losses(expectation.expected_losses(expectation.scores(X), codes))
    return losses_of_draws(posterior, predictor, X, scores, codes, rng, frozen=True, report=report)
