"""The certificate of a fitted predictor: which theorem applies, what the rows allow, fresh paths, a drawn network."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
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
from abnet.bounds.vote import DrawnCertificate
from abnet.data.fingerprint import count_seen
from abnet.decisions.row_by_row import check_row_by_row, fits_anew
from abnet.labels import Labels
from abnet.predictors.drawn_network import DrawnNetwork
from abnet.predictors.paths import block_rows, path_outputs
from abnet.predictors.predictor import ModelInfo, Predictor

__all__ = [
    "Posterior",
    "allows_certificate",
    "certify_predictor",
    "copies",
    "draw_network",
    "fresh_path_count",
    "sampled_risk",
    "warn_of_copies",
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


FEWEST_DISTINCT = 10
"""Fewer distinct rows say nothing: a table of two yes-or-no columns has four, and each of them often."""
REGULAR = 0.9
"""Share of the rows that occur equally often from which on this is no accident."""


def row_marks(X: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for every row: the same for equal rows, and hardly ever for others.

    The bits of each entry are multiplied by an odd number of its own and added, modulo 2^64, then mixed.

    Examples
    --------
    >>> marks = row_marks(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> marks[0] == marks[2], marks[0] == marks[1]
    (np.True_, np.False_)
    """
    rows = np.ascontiguousarray(X)
    bits = rows.view(np.uint32 if rows.dtype.itemsize == 4 else np.uint64).reshape(len(rows), -1)
    factors = np.random.default_rng(0).integers(0, 2**64, bits.shape[1], np.uint64, endpoint=False) | np.uint64(1)
    marks = np.zeros(len(rows), np.uint64)
    for column, factor in zip(bits.T, factors, strict=True):
        # Mixed before they are added: in a sum of plain multiples, differences of two entries could cancel.
        mixed = (column.astype(np.uint64) + factor) * factor
        marks += (mixed ^ (mixed >> np.uint64(29))) * factor
    return marks


def copies(X: NDArray[Any]) -> int:
    """How often nearly every row of X occurs, if that is more than once; 1 otherwise.

    An i.i.d. sample may hold any number of repeated rows, but then some occur once, others twice and others thrice. A
    regular multiplicity is the mark of oversampling, augmentation or repeated measurement.

    Examples
    --------
    >>> rows = np.arange(60.0).reshape(20, 3)
    >>> copies(rows), copies(np.repeat(rows, 4, axis=0))
    (1, 4)
    """
    often = np.unique(row_marks(X), return_counts=True)[1]
    if len(often) < FEWEST_DISTINCT:
        return 1
    rows_by_count = np.bincount(often, weights=often)
    usual = int(np.argmax(rows_by_count))
    return usual if rows_by_count[usual] >= REGULAR * len(X) else 1


def warn_of_copies(X: NDArray[Any], codes: NDArray[Any], classes: NDArray[Any]) -> None:
    """Warn if nearly every row of a class occurs equally often, more than once.

    Parameters
    ----------
    X : array (n, d)
        Prepared rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    classes : array of K labels
        The user's, for the message.
    """
    for code, name in enumerate(classes):
        often = copies(X[np.maximum(codes, 0) == code])
        if often > 1:
            warnings.warn(
                f"Nearly every row of class {name} occurs {often} times: these look like oversampled, augmented or "
                "grouped rows. The certificate takes every row for an independent draw, and does not hold for copies: "
                "fit on the original rows (in Python, sample_weight can emphasise some).",
                stacklevel=2,
            )
            return


def allows_certificate(preprocessor: Any, transform: Callable[[Any], Any], X: Any) -> bool:
    """Whether a preprocessor leaves a certificate; a warning says why it does not.

    It must be fitted anew on the first part of the rows, and map each row by itself. Otherwise what was certified is
    not what `predict` does, and there is an estimate instead of a certificate.

    Parameters
    ----------
    preprocessor : transformer, str or None
        As it was given.
    transform : callable
        The fitted map from raw rows to inputs of the network.
    X : array, sparse matrix or frame
        Raw rows.

    Examples
    --------
    >>> allows_certificate(None, np.asarray, np.eye(3))
    True
    """
    if preprocessor is None or isinstance(preprocessor, str):  # a map of our own
        return True
    reason = fits_anew(preprocessor) or check_row_by_row(transform, X)
    if reason:
        warnings.warn(
            f"There is no certificate, only an estimate: the preprocessor does not allow one, because {reason}. It has "
            "to be fitted anew on the first part of the rows, and to map each row by itself.",
            stacklevel=3,
        )
    return reason is None


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


@dataclass(frozen=True)
class Posterior:
    """N(centre, I) with its prior N(prior, I), and the terms of a certificate (see `DrawnCertificate`).

    Attributes
    ----------
    centre, prior : BAM
    terms : dict
        ``delta``, ``prior``, ``posterior`` and ``n_candidates``.
    """

    centre: BAM
    prior: BAM
    terms: dict[str, Any]

    def draw(self, rng: np.random.Generator) -> tuple[BAM, float]:
        """A network ``h = w + ε`` and ``ln dQ/dP(h) = ‖w - v‖²/2 + (w - v)·ε``, in float64.

        The sum of squares of `DrawnCertificate.log_density_ratio` expanded: nothing large cancels.
        """
        w, v = self.centre.astype(np.float64), self.prior.astype(np.float64)
        noise = [rng.standard_normal(leaf.shape) for leaf in (*w.weights, *w.biases)]
        moved = [a - b for a, b in zip((*w.weights, *w.biases), (*v.weights, *v.biases), strict=True)]
        ratio = sum(float(np.sum(d * (d / 2 + e))) for d, e in zip(moved, noise, strict=True))
        drawn = [leaf + e for leaf, e in zip((*w.weights, *w.biases), noise, strict=True)]
        return BAM(tuple(drawn[: len(w.weights)]), tuple(drawn[len(w.weights) :])), ratio


def draw_network(
    posterior: Posterior,
    X: NDArray[np.float32],
    codes: NDArray[Any],
    rng: np.random.Generator,
    labels: Labels | None = None,
) -> tuple[DrawnNetwork, DrawnCertificate]:
    """Draw once, count the errors on the prepared bound rows, certify.

    Parameters
    ----------
    posterior : Posterior
        Fixed before `rng` was used.
    X : array (n, d_0)
        Prepared bound rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    rng : numpy.random.Generator
        Independent of everything that the posterior depends on.
    labels : Labels, optional
        Of several classes.

    Examples
    --------
    >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
    >>> terms = {"delta": 0.05, "prior": "init", "posterior": "train"}
    >>> X, y = np.float32([[-3], [-2], [2], [3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> network, certificate = draw_network(Posterior(one, one, terms), X, y, np.random.default_rng(0))
    >>> certificate.log_density_ratio, certificate.n_examples
    (0.0, 4)
    """
    drawn, ratio = posterior.draw(rng)
    network = DrawnNetwork(drawn, info=ModelInfo() if labels is None else ModelInfo(labels))
    errors = int(np.sum(network.votes(X) != np.maximum(codes, 0)))
    return network, DrawnCertificate(errors, len(codes), ratio, **posterior.terms)
