"""From losses on the bound examples to a `Certificate`: one function for each way a model was made."""

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.certificate import Certificate
from abnet.bounds.evidence import ExactRisk, SampledRisk, VoteErrors
from abnet.bounds.rules import Terms, assemble

__all__ = [
    "certify_frozen",
    "certify_frozen_sampled",
    "certify_holdout",
    "certify_trained",
    "certify_trained_sampled",
]


def certify_trained(
    risks: ArrayLike,
    labels: ArrayLike,
    kl: float,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
    wrong: ArrayLike | None = None,
) -> Certificate:
    """Certify a posterior that was trained on the bound examples, and its vote sgn(F).

    Parameters
    ----------
    risks : array of shape (n,)
        Losses ``p_i = (1 - y_i F(x_i)) / 2`` on the bound examples, in float64.
    labels : array of shape (n,)
        Their labels, -1 or +1.
    kl : float
        Divergence of the posterior from the prior, in nats.
    delta : float
        Probability with which a bound may fail.
    prior : {"init", "split"}
        How the prior was made, before any of these examples were used.
    n_candidates : int
        Number of priors among which one was chosen by means of these examples.
    wrong : boolean array of shape (n,), optional
        The vote's errors, for the record only: they do not enter any bound.

    Examples
    --------
    >>> certificate = certify_trained([0.1, 0.2, 0.0, 0.1] * 100, [1, -1, 1, 1] * 100, 3.0, delta=0.05, prior="init")
    >>> round(certificate.gibbs_risk_bound, 3), round(certificate.vote_error_bound, 3), certificate.vote_method
    (0.176, 0.275, 'tandem')
    """
    errors = None if wrong is None else VoteErrors.from_values(wrong, labels)
    terms = Terms(kl, delta, prior, n_candidates, "train", "expectation")
    return assemble(ExactRisk.from_values(risks, labels), errors, terms)


def certify_frozen(
    risks: ArrayLike, labels: ArrayLike, wrong: ArrayLike, *, delta: float, prior: str, n_candidates: int = 1
) -> Certificate:
    """Certify a posterior that had no part of the bound examples, and the deployed vote by its errors on them.

    Parameters
    ----------
    risks, labels
        As for `certify_trained`.
    wrong : boolean array of shape (n,)
        Where the deployed vote errs.
    delta : float
        Probability with which a bound may fail.
    prior : {"init", "split", "hold-out"}
        Where the posterior comes from.
    n_candidates : int
        Number of models judged on these examples.

    Examples
    --------
    >>> wrong = [True] + [False] * 99
    >>> certificate = certify_frozen([0.02] * 100, [1, -1] * 50, wrong, delta=0.05, prior="split")
    >>> round(certificate.gibbs_risk_bound, 3), round(certificate.vote_error_bound, 3), certificate.vote_method
    (0.075, 0.047, 'test set')
    """
    terms = Terms(0.0, delta, prior, n_candidates, "frozen", "expectation")
    return assemble(ExactRisk.from_values(risks, labels), VoteErrors.from_values(wrong, labels), terms)


def certify_holdout(
    risks: ArrayLike, labels: ArrayLike, wrong: ArrayLike, *, delta: float, n_candidates: int = 1
) -> Certificate:
    """Certify a finished model on examples that it never saw: `certify_frozen` with the prior "hold-out"."""
    return certify_frozen(risks, labels, wrong, delta=delta, prior="hold-out", n_candidates=n_candidates)


def certify_trained_sampled(
    sampled: SampledRisk,
    kl: float,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
    vote: str | None = None,
    vote_paths: int | None = None,
) -> Certificate:
    """Certify a posterior that was trained on the bound examples and whose risk on them is sampled.

    Parameters
    ----------
    sampled : SampledRisk
        Losses of fresh independent paths, drawn after the posterior was fixed.
    kl, delta, prior, n_candidates
        As for `certify_trained`; a tenth of δ is spent on the sampling.
    vote : {None, "expectation", "fresh paths", "fixed paths"}
        What ``predict`` does. None, anything not covered by a bound on the posterior: there is no vote certificate.
        "expectation": the sign of the expected output itself. "fresh paths": a vote of paths drawn anew for each
        prediction, whose error, in expectation over the paths too, is at most twice Gibbs. "fixed paths": a vote of
        `vote_paths` paths drawn once, independently of all data, and kept (`abnet.bounds.fixed_paths`).
    vote_paths : int, optional
        Number of kept paths.

    Examples
    --------
    >>> sampled = SampledRisk(0.05, 0.01, n_examples=1000, n_paths=20)
    >>> certificate = certify_trained_sampled(sampled, 10.0, delta=0.05, prior="split")
    >>> round(certificate.gibbs_risk_bound, 3), certificate.vote_error_bound
    (0.107, None)
    """
    return assemble(sampled, None, Terms(kl, delta, prior, n_candidates, "train", vote, vote_paths))


def certify_frozen_sampled(
    sampled: SampledRisk,
    labels: ArrayLike | None = None,
    wrong: ArrayLike | None = None,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
) -> Certificate:
    """Certify a posterior that had no part of the bound examples and whose risk on them is sampled.

    Parameters
    ----------
    sampled : SampledRisk
        Losses of fresh independent paths, drawn after the posterior was fixed.
    labels, wrong : arrays of shape (n,), optional
        Labels of -1 and +1, and where the deployed vote errs, whatever paths it uses; without them there is no
        certificate of the vote.
    delta, prior, n_candidates
        As for `certify_frozen`; a tenth of δ is spent on the sampling, in the bound on the Gibbs risk only.

    Examples
    --------
    >>> sampled = SampledRisk(0.05, 0.01, n_examples=1000, n_paths=20)
    >>> round(certify_frozen_sampled(sampled, delta=0.05, prior="split").gibbs_risk_bound, 3)
    0.075
    """
    if (wrong is None) != (labels is None):
        raise ValueError("labels and wrong must be given both or not at all")
    errors = None if wrong is None or labels is None else VoteErrors.from_values(wrong, labels)
    if wrong is not None and np.size(wrong) != sampled.n_examples:
        raise ValueError(f"wrong has {np.size(wrong)} rows, but {sampled.n_examples} examples were sampled")
    return assemble(sampled, errors, Terms(0.0, delta, prior, n_candidates, "frozen", None))
