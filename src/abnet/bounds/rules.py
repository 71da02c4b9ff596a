"""Which bounds a model gets, and at which share of δ: fixed by how it was made, before the bound examples are used.

Every rule takes the evidence of one group of examples, the errors of the deployed vote on them or None, and the terms;
`assemble` makes a certificate of what a rule gives for all examples and for those of either class, and
`verify_certificate` computes the bounds of a certificate again from its own record.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from abnet.bounds.certificate import Certificate, ClassCertificate, MonteCarlo
from abnet.bounds.checks import count, finite, level, one_of
from abnet.bounds.clopper_pearson import test_set_bound
from abnet.bounds.evidence import ExactRisk, SampledRisk, VoteErrors
from abnet.bounds.fixed_paths import FIXED_PATHS_SHARE, fixed_paths_tandem_bound, fixed_paths_vote_bound
from abnet.bounds.sampled import MONTE_CARLO_SHARE, sampled_risk_bound

__all__ = [
    "Bounds",
    "Risk",
    "Rule",
    "Terms",
    "assemble",
    "frozen",
    "frozen_any_vote",
    "rule_for",
    "trained",
    "trained_fixed",
    "trained_fresh",
    "trained_gibbs",
    "verify_certificate",
]


Risk = ExactRisk | SampledRisk


@dataclass(frozen=True)
class Bounds:
    """The bounds about one group of examples; the one for ``predict`` is named by ``vote_method``."""

    gibbs: float
    twice_gibbs: float | None = None
    tandem: float | None = None
    test_set: float | None = None
    vote_method: str | None = None

    @property
    def vote(self) -> float | None:
        """The bound that stands for ``predict``."""
        bounds = {"twice Gibbs": self.twice_gibbs, "tandem": self.tandem, "test set": self.test_set}
        return bounds[self.vote_method.removesuffix(", fixed paths")] if self.vote_method else None


@dataclass(frozen=True)
class Terms:
    """How a model was made and what is asked of it; fields as in `Certificate`, the last two as in `MonteCarlo`."""

    kl: float
    delta: float
    prior: str
    n_candidates: int
    posterior: str
    vote: str | None
    vote_paths: int | None = None


Rule = Callable[[Risk, int | None, Terms], Bounds]


def trained(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the examples, vote sgn(F): the smaller of twice Gibbs and tandem, at δ/2 each."""
    twice = min(1.0, 2.0 * risk.gibbs_bound(terms.kl, terms.delta / 2.0, terms.n_candidates))
    tandem = risk.tandem_bound(terms.kl, terms.delta / 2.0, terms.n_candidates)
    method = "twice Gibbs" if twice <= tandem else "tandem"
    return Bounds(risk.gibbs_bound(terms.kl, terms.delta, terms.n_candidates), twice, tandem, vote_method=method)


def trained_fresh(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the examples, vote of fresh sampled paths: twice Gibbs at δ; tandem does not cover it."""
    gibbs = risk.gibbs_bound(terms.kl, terms.delta, terms.n_candidates)
    return Bounds(gibbs, min(1.0, 2.0 * gibbs), vote_method="twice Gibbs")


def trained_fixed(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the examples, vote of kept paths: a tenth of δ for their draw, the rest as for sgn(F)."""
    spent, paths, chosen = FIXED_PATHS_SHARE * terms.delta, terms.vote_paths or 0, terms.n_candidates
    left = (terms.delta - spent) / 2.0
    # The tandem bound is four times a bound on the tandem risk, cut at 1; where it is cut, so is what follows.
    tandem_risk = risk.tandem_bound(terms.kl, left, chosen) / 4.0
    twice = fixed_paths_vote_bound(risk.gibbs_bound(terms.kl, left, chosen), paths, spent, n_candidates=chosen)
    tandem = fixed_paths_tandem_bound(tandem_risk, paths, spent, n_candidates=chosen)
    method = "twice Gibbs, fixed paths" if twice <= tandem else "tandem, fixed paths"
    return Bounds(risk.gibbs_bound(terms.kl, terms.delta, chosen), twice, tandem, vote_method=method)


def trained_gibbs(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the examples, a vote that no bound on the posterior covers."""
    return Bounds(risk.gibbs_bound(terms.kl, terms.delta, terms.n_candidates))


def frozen(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior that never saw the examples, vote sgn(F): the test-set bound at δ, the other two for the record."""
    twice = min(1.0, 2.0 * risk.gibbs_bound_frozen(terms.delta / 2.0, terms.n_candidates))
    tandem = risk.tandem_bound_frozen(terms.delta / 2.0, terms.n_candidates)
    counted = frozen_any_vote(risk, errors, terms)
    return Bounds(counted.gibbs, twice, tandem, counted.test_set, counted.vote_method)


def frozen_any_vote(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior that never saw the examples, any vote: the test-set bound at δ, if its errors were counted."""
    gibbs = risk.gibbs_bound_frozen(terms.delta, terms.n_candidates)
    if errors is None:
        return Bounds(gibbs)
    counted = test_set_bound(errors, risk.n_examples, terms.delta, n_candidates=terms.n_candidates)
    return Bounds(gibbs, test_set=counted, vote_method="test set")


def rule_for(terms: Terms, *, sampled: bool) -> Rule:
    """Return the rule for a way of making a model."""
    if terms.posterior == "frozen":
        return frozen_any_vote if sampled else frozen
    rules = {"expectation": trained, "fresh paths": trained_fresh, "fixed paths": trained_fixed, None: trained_gibbs}
    return rules[terms.vote]


# Another machine's logarithm may differ in the last digits.
_TOLERANCE = 1e-12


def assemble(risk: Risk, errors: VoteErrors | None, terms: Terms) -> Certificate:
    """Apply the rule that the terms ask for to all examples at δ, and to either class at δ/2."""
    terms = _checked(terms)
    rule = rule_for(terms, sampled=isinstance(risk, SampledRisk))
    wrong = errors.total if errors else None
    bounds = rule(risk, wrong, terms)
    return Certificate(
        gibbs_risk_bound=bounds.gibbs,
        vote_error_bound=bounds.vote,
        vote_method=bounds.vote_method,
        empirical_gibbs_risk=risk.mean,
        kl=terms.kl,
        n_examples=risk.n_examples,
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
        per_class=_per_class(risk, errors, rule, terms, bounds.vote_method),
    )


def verify_certificate(certificate: Certificate) -> None:
    """Compute every bound again from the recorded observations; a ValueError names those that were not earned.

    Examples
    --------
    >>> from abnet.bounds import certify_trained
    >>> certificate = certify_trained([0.1] * 50, [1] * 50, 3.0, delta=0.05, prior="init")
    >>> verify_certificate(certificate)
    >>> verify_certificate(replace(certificate, gibbs_risk_bound=0.11))
    Traceback (most recent call last):
    ValueError: the certificate does not follow from its own observations: gibbs_risk_bound
    """
    again = assemble(_risk(certificate), _errors(certificate), _terms(certificate))
    again = replace(again, class_names=certificate.class_names, drawn=certificate.drawn)
    ours, theirs = certificate.to_dict(), again.to_dict()
    unearned = [name for name in ours if not _agree(ours[name], theirs[name])]
    if unearned:
        raise ValueError(f"the certificate does not follow from its own observations: {', '.join(unearned)}")


def _checked(terms: Terms) -> Terms:
    one_of(None, "expectation", "fresh paths", "fixed paths")("vote", terms.vote)
    if (terms.vote == "fixed paths") != (terms.vote_paths is not None):
        raise ValueError(f"vote_paths must be given just for a vote of fixed paths, got {terms.vote_paths!r}")
    return replace(
        terms,
        kl=finite("kl", terms.kl),
        delta=level("delta", terms.delta),
        n_candidates=count("n_candidates", terms.n_candidates),
    )


def _monte_carlo(risk: SampledRisk, terms: Terms) -> MonteCarlo:
    spent = MONTE_CARLO_SHARE * terms.delta
    bound = sampled_risk_bound(risk.mean, risk.n_examples * risk.n_paths, spent, n_candidates=terms.n_candidates)
    return MonteCarlo(risk.n_paths, spent, bound, terms.vote, terms.vote_paths)


def _per_class(
    risk: Risk, errors: VoteErrors | None, rule: Rule, terms: Terms, method: str | None
) -> tuple[ClassCertificate, ...]:
    if risk.negative is None and risk.positive is None:
        return ()
    half = replace(terms, delta=terms.delta / 2.0)
    wrong = (errors.negative, errors.positive) if errors else (None, None)
    negative, positive = (
        _class_part(label, part, mistakes, rule, half) if part else _empty_class(label, mistakes, method)
        for label, part, mistakes in zip((-1, 1), (risk.negative, risk.positive), wrong, strict=True)
    )
    return negative, positive


def _class_part(label: int, part: Risk, wrong: int | None, rule: Rule, terms: Terms) -> ClassCertificate:
    bounds = rule(part, wrong, terms)
    return ClassCertificate(
        label, part.n_examples, part.mean, part.pair_mean, wrong, bounds.gibbs, bounds.vote, bounds.vote_method
    )


def _empty_class(label: int, wrong: int | None, method: str | None) -> ClassCertificate:
    return ClassCertificate(label, 0, None, None, wrong, 1.0, 1.0 if method else None, method)


def _terms(c: Certificate) -> Terms:
    vote = c.monte_carlo.vote if c.monte_carlo else "expectation"
    paths = c.monte_carlo.vote_paths if c.monte_carlo else None
    return Terms(c.kl, c.delta, c.prior, c.n_candidates, c.posterior, vote, paths)


def _errors(c: Certificate) -> VoteErrors | None:
    if c.vote_errors is None:
        return None
    negative, positive = (part.vote_errors or 0 for part in c.per_class) if c.per_class else (0, 0)
    return VoteErrors(c.vote_errors, positive, negative)


def _risk(c: Certificate) -> Risk:
    paths = c.monte_carlo.n_paths if c.monte_carlo else None
    negative, positive = (_group(part, paths, None, None) for part in c.per_class) if c.per_class else (None, None)
    whole = _group(c, paths, positive, negative)
    assert whole is not None  # a certificate has at least one example
    return whole


def _group(c: Certificate | ClassCertificate, paths: int | None, positive: Any, negative: Any) -> Risk | None:
    if c.empirical_gibbs_risk is None:
        return None
    if paths is not None:
        return SampledRisk(c.empirical_gibbs_risk, c.empirical_tandem_risk, c.n_examples, paths, positive, negative)
    return ExactRisk(c.empirical_gibbs_risk, c.empirical_tandem_risk or 0.0, c.n_examples, positive, negative)


def _agree(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=0.0, abs_tol=_TOLERANCE)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_agree(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_agree, one, other))
    return bool(one == other)
