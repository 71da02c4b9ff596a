"""From losses on the bound rows to a `Certificate`: one function for each way a model was made, and a check of it.

Classes are given as codes 0 to K-1; two classes may also be given as signs, -1 for the first and +1 for the second
(`abnet.bounds.rules.class_codes`). `assemble` makes a certificate of what a rule gives for all rows and for those of
each class, and `verify_certificate` computes the bounds of a certificate again from its own record.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds import shares
from abnet.bounds.betting import bet_order, least_betting_bound, unit_interval
from abnet.bounds.certificate import Certificate, ClassCertificate, Expected, MonteCarlo
from abnet.bounds.rules import (
    Bounds,
    ExactRisk,
    Risk,
    SampledRisk,
    Terms,
    VoteErrors,
    enough_to_bet,
    observed,
    rule_for,
)
from abnet.checks import amount, count, level, one_of
from abnet.threads import mapped, threads_for

__all__ = [
    "assemble",
    "certify_frozen",
    "certify_frozen_sampled",
    "certify_test_set",
    "certify_trained",
    "certify_trained_sampled",
    "of_classifier",
    "verify_certificate",
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
        Figures of the first part, none of the bound rows: with them the bounds on all rows are Catoni's at a C that is
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
    order: ArrayLike | None = None,
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
        Where the posterior comes from. "split" says that the rows are in the order of the random split that left them,
        and 1,000 or more are bet on in this order.
    n_candidates : int
        Number of models judged on these rows.
    order : int array (n,), optional
        The order in which any other rows are bet on (`abnet.certificates.row_order`); by default one is drawn.

    Examples
    --------
    >>> wrong = [True] + [False] * 99
    >>> certificate = certify_frozen([0.02] * 100, [1, -1] * 50, wrong, delta=0.05, prior="split")
    >>> round(certificate.gibbs_risk_bound, 3), round(certificate.vote_error_bound, 3), certificate.vote_method
    (0.075, 0.047, 'test set')
    """
    if prior != "split":  # files are often sorted by label
        places = bet_order(order, len(np.asarray(risks)))
        risks, codes, wrong = (np.asarray(part)[places] for part in (risks, codes, wrong))
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
    order: ArrayLike | None = None,
) -> Certificate:
    """Certify a finished model on rows that had no part in learning: `certify_frozen` with the prior "test set"."""
    options: Any = {"delta": delta, "n_candidates": n_candidates, "n_classes": n_classes, "order": order}
    return certify_frozen(risks, codes, wrong, prior="test set", **options)


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


# Another machine's logarithm may differ in the last digits.
_TOLERANCE = 1e-12


def assemble(
    risk: Risk, errors: VoteErrors | None, terms: Terms, class_deltas: Sequence[float] | None = None
) -> Certificate:
    """Apply the rule that the terms ask for to all rows at δ, and to each class at its share.

    Parameters
    ----------
    risk : ExactRisk or SampledRisk
    errors : VoteErrors or None
    terms : Terms
    class_deltas : sequence of K float, optional
        The shares of the classes, where they were decided before; by default those of `abnet.bounds.shares`.
    """
    terms = _checked(terms)
    rule = rule_for(terms, sampled=isinstance(risk, SampledRisk))
    wrong = errors.total if errors else None
    deltas = _class_deltas(risk, errors, terms, class_deltas)
    by_class = errors.by_class if errors and deltas else (None,) * len(deltas)
    # The expected figures are those of all classes together.
    own = (replace(terms, expected=None, delta=delta) for delta in deltas)
    judged = [(risk, wrong, terms), *zip(risk.by_class, by_class, own, strict=True)]
    # A bound by betting goes over all losses some fifty times, those of the classes over as many.
    threads = threads_for(risk.n_examples)
    bounds, *found = mapped(lambda given: rule(*given) if given[0] else None, judged, threads)
    parts = tuple(
        _class_part(label, part, by_class[label], mine, bounds.vote_method, deltas[label])
        for label, (part, mine) in enumerate(zip(risk.by_class, found, strict=True))
    )
    names = tuple(map(str, range(len(parts)))) if len(parts) > 2 else ("negative", "positive")
    return Certificate(
        gibbs_risk_bound=bounds.gibbs,
        vote_error_bound=bounds.vote,
        vote_method=bounds.vote_method,
        empirical_gibbs_risk=risk.mean,
        kl=terms.kl,
        n_examples=risk.n_examples if terms.groups is None else sum(terms.groups.rows),
        delta=terms.delta,
        prior=terms.prior,
        n_candidates=terms.n_candidates,
        monte_carlo=_monte_carlo(risk, terms) if isinstance(risk, SampledRisk) else None,
        posterior=terms.posterior,
        twice_gibbs_bound=bounds.twice_gibbs,
        tandem_bound=bounds.tandem,
        test_set_bound=bounds.test_set,
        vote_errors=wrong,
        empirical_tandem_risk=risk.pair_mean,
        per_class=parts,
        class_names=names,
        expected=terms.expected,
        groups=terms.groups,
    )


def verify_certificate(certificate: Certificate, losses: ArrayLike | None = None) -> dict[str, str]:
    """Compute every bound again from the recorded observations; a ValueError names those that were not earned.

    A Gibbs bound by betting (frozen, 1,000 rows or more) depends on the losses one by one, which a certificate does
    not hold. Without them it is checked only that it is not below the mean loss, nor below what betting could reach if
    there were no losses at all; every other bound, that of ``predict`` among them, is computed again.

    Parameters
    ----------
    certificate : Certificate
    losses : array-like (n,), optional
        The losses of the bound rows in the order in which they were bet on (with groups, the groups' mean losses),
        with which the Gibbs bound of all rows by betting is computed too.

    Returns
    -------
    dict
        From the name of each bound to "recomputed", or to "attainable" where it was only checked to be large enough;
        the bounds of a class have its number in front.

    Examples
    --------
    >>> from abnet.bounds import certify_trained
    >>> certificate = certify_trained([0.1] * 50, [1] * 50, 3.0, delta=0.05, prior="init")
    >>> verify_certificate(certificate)["vote_error_bound"]
    'recomputed'
    >>> verify_certificate(replace(certificate, gibbs_risk_bound=0.11))
    Traceback (most recent call last):
    ValueError: the certificate does not follow from its own observations: gibbs_risk_bound
    """
    deltas, terms = [part.delta for part in certificate.per_class], _terms(certificate)
    again = assemble(_risk(certificate, losses), _errors(certificate), terms, deltas)
    if certificate.drawn == "classifier":
        again = of_classifier(again)
    again = replace(again, class_names=certificate.class_names, drawn=certificate.drawn)
    ours, theirs = certificate.to_dict(), again.to_dict()
    outcome: dict[str, str] = {}
    exact = certificate.monte_carlo is not None or certificate.drawn == "classifier"
    parts = [("", ours, theirs)]
    parts += [
        (f"class {one['label']}: ", one, two) for one, two in zip(ours["per_class"], theirs["per_class"], strict=True)
    ]
    for name, recorded, other in parts:
        outcome |= {name + bound: "recomputed" for bound in recorded if bound.endswith("_bound") and recorded[bound]}
        known = exact or (losses is not None and recorded is ours)
        if _attainable(recorded, terms, known=known):
            other["gibbs_risk_bound"] = recorded["gibbs_risk_bound"]
            outcome[f"{name}gibbs_risk_bound"] = "attainable"
    unearned = [name for name in ours if not _agree(ours[name], theirs[name])]
    if unearned:
        raise ValueError(f"the certificate does not follow from its own observations: {', '.join(unearned)}")
    return outcome


def of_classifier(certificate: Certificate) -> Certificate:
    """The certificate of a classifier that draws nothing: its Gibbs risk is its error, bounded as that is.

    This is known before any row is looked at, and such a bound follows from the number of errors, which is recorded.
    """
    parts = tuple(
        part if part.vote_error_bound is None else replace(part, gibbs_risk_bound=part.vote_error_bound)
        for part in certificate.per_class
    )
    bound = certificate.test_set_bound
    assert bound is not None  # a finished classifier is certified by its errors
    return replace(certificate, drawn="classifier", gibbs_risk_bound=bound, per_class=parts)


def _checked(terms: Terms) -> Terms:
    one_of(None, "expectation", "fresh paths", "fixed paths")("vote", terms.vote)
    if (terms.vote == "fixed paths") != (terms.vote_paths is not None):
        raise ValueError(f"vote_paths must be given only for a vote of fixed paths; got {terms.vote_paths!r}.")
    return replace(
        terms,
        kl=amount("kl", terms.kl),
        delta=level("delta", terms.delta),
        n_candidates=count("n_candidates", terms.n_candidates),
    )


def _attainable(record: dict[str, Any], terms: Terms, *, known: bool) -> bool:
    """Whether a Gibbs bound may come from betting on losses that are not known."""
    n, delta, bound = record["n_examples"], record["delta"], record["gibbs_risk_bound"]
    n = len(terms.groups.rows) if terms.groups else n
    if known or not enough_to_bet(n, terms):
        return False
    return bool(bound >= max(record["empirical_gibbs_risk"] or 0.0, least_betting_bound(n, delta, terms.n_candidates)))


def _monte_carlo(risk: SampledRisk, terms: Terms) -> MonteCarlo:
    bound, _, left = observed(risk, terms, terms.delta)
    spent = 0.0 if left == terms.delta else shares.share_for_sampling(terms.delta)[0]
    return MonteCarlo(risk.n_paths, spent, bound, terms.vote, terms.vote_paths)


def _class_deltas(
    risk: Risk, errors: VoteErrors | None, terms: Terms, deltas: Sequence[float] | None
) -> Sequence[float]:
    classes = len(risk.by_class)
    if classes and errors and len(errors.by_class) != classes:
        raise ValueError(f"the losses are of {classes} classes, but the errors of {len(errors.by_class)}.")
    return deltas or shares.shares_of_classes(terms.delta, [part.n_examples if part else 0 for part in risk.by_class])


def _class_part(
    label: int, part: Risk | None, wrong: int | None, bounds: Bounds | None, method: str | None, delta: float
) -> ClassCertificate:
    """The certificate of a class; of one without rows nothing is known."""
    if part is None or bounds is None:
        return ClassCertificate(label, 0, None, None, wrong, 1.0, 1.0 if method else None, method, delta)
    seen = (part.n_examples, part.mean, part.pair_mean, wrong)
    return ClassCertificate(label, *seen, bounds.gibbs, bounds.vote, bounds.vote_method, delta)


def _terms(c: Certificate) -> Terms:
    vote = c.monte_carlo.vote if c.monte_carlo else "expectation"
    paths = c.monte_carlo.vote_paths if c.monte_carlo else None
    return Terms(c.kl, c.delta, c.prior, c.n_candidates, c.posterior, vote, paths, c.expected, c.groups)


def _errors(c: Certificate) -> VoteErrors | None:
    if c.vote_errors is None:
        return None
    return VoteErrors(c.vote_errors, tuple(part.vote_errors or 0 for part in c.per_class))


def _risk(c: Certificate, losses: ArrayLike | None) -> Risk:
    paths = c.monte_carlo.n_paths if c.monte_carlo else None
    whole = _group(c, paths, tuple(_group(part, paths, ()) for part in c.per_class))
    assert whole is not None  # a certificate has at least one bound row
    whole = replace(whole, n_examples=c.n_groups or c.n_examples)
    if losses is not None and isinstance(whole, ExactRisk):
        return replace(whole, losses=unit_interval("losses", losses))
    return whole


def _group(c: Certificate | ClassCertificate, paths: int | None, by_class: tuple[Any, ...]) -> Risk | None:
    if c.empirical_gibbs_risk is None:
        return None
    if paths is not None:
        return SampledRisk(c.empirical_gibbs_risk, c.empirical_tandem_risk, c.n_examples, paths, by_class)
    return ExactRisk(c.empirical_gibbs_risk, c.empirical_tandem_risk or 0.0, c.n_examples, by_class)


def _agree(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.0, abs_tol=_TOLERANCE)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_agree(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_agree, one, other))
    return bool(one == other)
