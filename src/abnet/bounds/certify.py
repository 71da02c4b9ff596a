"""From losses on the bound rows to a `Certificate`: one function for each way a model was made.

Classes are given as codes 0 to K-1; two classes may also be given as signs, -1 for the first and +1 for the second
(`abnet.bounds.evidence.class_codes`).
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.certificate import Certificate, Expected
from abnet.bounds.evidence import ExactRisk, SampledRisk, VoteErrors
from abnet.bounds.rules import Terms, assemble

__all__ = [
    "certify_frozen",
    "certify_frozen_sampled",
    "certify_test_set",
    "certify_trained",
    "certify_trained_sampled",
]


def certify_trained(
    risks: ArrayLike,
    codes: ArrayLike,
    kl: float,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
    wrong: ArrayLike | None = None,
    n_classes: int | None = None,
    expected: Expected | None = None,
) -> Certificate:
    """Certify a posterior that was trained on the bound rows, and its vote: sgn(F), or the likeliest class.

    Parameters
    ----------
    risks : array of shape (n,)
        Losses on the bound rows, in float64: the probability ``p_i`` that one draw from the posterior errs, which is
        ``(1 - y_i F(x_i)) / 2`` for two classes.
    codes : array of shape (n,)
        Their classes, 0 to K-1, or signs.
    kl : float
        Divergence of the posterior from the prior, in nats.
    delta : float
        Probability with which a bound may fail.
    prior : {"init", "split"}
        How the prior was made, before any of these rows were used.
    n_candidates : int
        Number of priors among which one was chosen by means of these rows.
    wrong : boolean array of shape (n,), optional
        The vote's errors, for the record only: they do not enter any bound.
    n_classes : int, optional
        Number K of classes; by default one more than the largest code, and at least 2.
    expected : Expected, optional
        Figures of the prior part, none of the bound rows: with them the bounds on all rows are Catoni's at a C that is
        chosen by these figures, which is tighter where they come about right. To be decided before looking.

    Examples
    --------
    >>> certificate = certify_trained([0.1, 0.2, 0.0, 0.1] * 100, [1, -1, 1, 1] * 100, 3.0, delta=0.05, prior="init")
    >>> round(certificate.gibbs_risk_bound, 3), round(certificate.vote_error_bound, 3), certificate.vote_method
    (0.176, 0.275, 'tandem')
    """
    errors = None if wrong is None else VoteErrors.from_values(wrong, codes, n_classes)
    terms = Terms(kl, delta, prior, n_candidates, "train", "expectation", expected=expected)
    return assemble(ExactRisk.from_values(risks, codes, n_classes), errors, terms)


def certify_frozen(
    risks: ArrayLike,
    codes: ArrayLike,
    wrong: ArrayLike,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
    n_classes: int | None = None,
) -> Certificate:
    """Certify a posterior that never learned from the bound rows, and the deployed vote by its errors on them.

    Parameters
    ----------
    risks, codes, n_classes
        As for `certify_trained`.
    wrong : boolean array of shape (n,)
        Where the deployed vote errs.
    delta : float
        Probability with which a bound may fail.
    prior : {"init", "split", "test set"}
        Where the posterior comes from.
    n_candidates : int
        Number of models judged on these rows.

    Examples
    --------
    >>> wrong = [True] + [False] * 99
    >>> certificate = certify_frozen([0.02] * 100, [1, -1] * 50, wrong, delta=0.05, prior="split")
    >>> round(certificate.gibbs_risk_bound, 3), round(certificate.vote_error_bound, 3), certificate.vote_method
    (0.075, 0.047, 'test set')
    """
    terms = Terms(0.0, delta, prior, n_candidates, "frozen", "expectation")
    return assemble(
        ExactRisk.from_values(risks, codes, n_classes), VoteErrors.from_values(wrong, codes, n_classes), terms
    )


def certify_test_set(
    risks: ArrayLike,
    codes: ArrayLike,
    wrong: ArrayLike,
    *,
    delta: float,
    n_candidates: int = 1,
    n_classes: int | None = None,
) -> Certificate:
    """Certify a finished model on rows that had no part in learning: `certify_frozen` with the prior "test set"."""
    options: Any = {"delta": delta, "n_candidates": n_candidates, "n_classes": n_classes}
    return certify_frozen(risks, codes, wrong, prior="test set", **options)


def certify_holdout(*args: Any, **options: Any) -> Certificate:
    """The former name of `certify_test_set`, for one more version."""
    warnings.warn(
        "certify_holdout is now called certify_test_set; the old name goes in version 0.3.",
        DeprecationWarning,
        stacklevel=2,
    )
    return certify_test_set(*args, **options)


def certify_trained_sampled(
    sampled: SampledRisk,
    kl: float,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
    vote: str | None = None,
    vote_paths: int | None = None,
    expected: Expected | None = None,
) -> Certificate:
    """Certify a posterior that was trained on the bound rows and whose risk on them is sampled.

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
        `vote_paths` paths drawn once, independently of all data, and kept (`abnet.bounds.sampled`).
    vote_paths : int, optional
        Number of kept paths.
    expected : Expected, optional
        As for `certify_trained`.

    Examples
    --------
    >>> sampled = SampledRisk(0.05, 0.01, n_examples=1000, n_paths=20)
    >>> certificate = certify_trained_sampled(sampled, 10.0, delta=0.05, prior="split")
    >>> round(certificate.gibbs_risk_bound, 3), certificate.vote_error_bound
    (0.107, None)
    """
    return assemble(sampled, None, Terms(kl, delta, prior, n_candidates, "train", vote, vote_paths, expected=expected))


def certify_frozen_sampled(
    sampled: SampledRisk,
    codes: ArrayLike | None = None,
    wrong: ArrayLike | None = None,
    *,
    delta: float,
    prior: str,
    n_candidates: int = 1,
) -> Certificate:
    """Certify a posterior that never learned from the bound rows and whose risk on them is sampled.

    Parameters
    ----------
    sampled : SampledRisk
        Losses of fresh independent paths, drawn after the posterior was fixed.
    codes, wrong : arrays of shape (n,), optional
        Classes of the rows, and where the deployed vote errs, whatever paths it uses; without them there is no
        certificate of the vote.
    delta, prior, n_candidates
        As for `certify_frozen`. Nothing is spent on the sampling: the mean loss of an example's own fresh paths is an
        independent draw in [0, 1], whose expectation is the Gibbs risk.

    Examples
    --------
    >>> sampled = SampledRisk(0.05, 0.01, n_examples=1000, n_paths=20)
    >>> round(certify_frozen_sampled(sampled, delta=0.05, prior="split").gibbs_risk_bound, 3)
    0.069
    """
    if (wrong is None) != (codes is None):
        raise ValueError("codes and wrong must be given both or not at all.")
    if wrong is not None and np.size(wrong) != sampled.n_examples:
        raise ValueError(f"wrong has {np.size(wrong)} rows, but {sampled.n_examples} examples were sampled.")
    n_classes = len(sampled.by_class) or None
    errors = None if wrong is None or codes is None else VoteErrors.from_values(wrong, codes, n_classes)
    return assemble(sampled, errors, Terms(0.0, delta, prior, n_candidates, "frozen", None))
