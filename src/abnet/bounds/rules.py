"""Which bounds a model gets: fixed by how it was made, before the bound rows are used.

Every rule takes the evidence of one group of rows, the errors of the deployed vote on them or None, and the terms;
`assemble` makes a certificate of what a rule gives for all rows and for those of each class, and `verify_certificate`
computes the bounds of a certificate again from its own record. How δ is divided is said in `abnet.bounds.shares`.

The forms of the bounds have a number, which a certificate records, so that it is checked by the ones it was issued
with. Forms 1 are those of version 0.1. Forms 2 are tighter:

| model | Gibbs risk in forms 1 | in forms 2 |
| --- | --- | --- |
| frozen, exact, fewer than 1,000 rows | ``k⁺(r̂, ln(K/δ)/n)`` | the same |
| frozen, exact, 1,000 rows or more | ``k⁺(r̂, ln(K/δ)/n)`` | by betting |
| frozen, sampled | ``k⁺``, and δ/10 for the sampling | ``k⁺`` of the examples' means, at δ |
| trained, figures of the prior part given | ``k⁺`` with ξ(n) | Catoni's, C from those figures; all rows only |
| trained, otherwise | ``k⁺`` with ξ(n) | the same |

Besides, forms 2 divide by an exact threshold for paths that are kept, and share δ among classes by their counts. Which
form applies depends on how the model was made and on the number of rows, never on the losses.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from abnet.bounds import shares
from abnet.bounds.betting import betting_bound, least_betting_bound, unit_interval
from abnet.bounds.binomial import clopper_pearson_bound
from abnet.bounds.certificate import Certificate, ClassCertificate, Expected, MonteCarlo
from abnet.bounds.evidence import ExactRisk, SampledRisk, VoteErrors
from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
from abnet.bounds.in_advance import catoni_fixed_bound, choose_C
from abnet.bounds.kept_paths_exact import kept_paths_bounds
from abnet.bounds.sampled import fixed_paths_tandem_bound, fixed_paths_vote_bound, sampled_risk_bound
from abnet.bounds.vote import tandem_bound, tandem_bound_frozen
from abnet.records import amount, count, level, one_of

__all__ = ["BETTING_ROWS", "FORMS", "Bounds", "Risk", "Rule", "Terms", "assemble", "rule_for", "verify_certificate"]

FORMS = 2
"""The forms of the bounds that new certificates get."""

BETTING_ROWS = 1000
"""So many rows make betting the Gibbs bound of a frozen posterior. For losses of 0 and 1, its worst case, it is then
smaller than Chernoff's on average (by 2 %; with fewer it varies more); for losses that vary little, far smaller."""

Risk = ExactRisk | SampledRisk


@dataclass(frozen=True)
class Bounds:
    """The bounds about one group of rows; the one for ``predict`` is named by ``vote_method``."""

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
    """How a model was made and what is asked of it; fields as in `Certificate`, the votes as in `MonteCarlo`."""

    kl: float
    delta: float
    prior: str
    n_candidates: int
    posterior: str
    vote: str | None
    vote_paths: int | None = None
    forms: int = FORMS
    expected: Expected | None = None


Rule = Callable[[Risk, int | None, Terms], Bounds]


def _observed(risk: Risk, terms: Terms, delta: float) -> tuple[float, float, float]:
    """Empirical Gibbs risk, empirical tandem risk, and the δ that is left for a bound made of one of them.

    Means that were sampled are replaced by upper bounds on what would have been computed, at their share of δ.
    """
    if isinstance(risk, ExactRisk):
        return risk.mean, risk.pair_mean, delta
    if terms.posterior == "frozen" and terms.forms > 1:
        # The mean loss of one example's fresh paths is itself an independent draw in [0, 1].
        return risk.mean, 1.0 if risk.pair_mean is None else risk.pair_mean, delta
    spent, left = shares.for_sampling(delta)
    mean = sampled_risk_bound(risk.mean, risk.n_losses, spent, n_candidates=terms.n_candidates)
    if risk.pair_mean is None:  # one path for each example makes no pairs, and nothing is known of them
        return mean, 1.0, left
    return mean, sampled_risk_bound(risk.pair_mean, risk.n_pairs, spent, n_candidates=terms.n_candidates), left


def _gibbs(risk: Risk, terms: Terms, delta: float) -> float:
    mean, _, left = _observed(risk, terms, delta)
    if isinstance(risk, ExactRisk) and risk.losses is not None and _by_betting(risk, terms):
        return betting_bound(risk.losses, left, n_candidates=terms.n_candidates)
    return _by_mean(mean, risk.n_examples, terms, left)


def _by_betting(risk: Risk, terms: Terms) -> bool:
    """Whether the Gibbs bound needs the losses themselves."""
    return isinstance(risk, ExactRisk) and _enough_to_bet(risk.n_examples, terms)


def _enough_to_bet(n: int, terms: Terms) -> bool:
    return terms.posterior == "frozen" and terms.forms > 1 and n >= BETTING_ROWS


def _by_mean(mean: float, n: int, terms: Terms, delta: float) -> float:
    """The Gibbs bound that needs the mean loss alone."""
    chosen, expected = terms.n_candidates, terms.expected
    if terms.posterior == "frozen":
        return gibbs_bound_frozen(mean, n, delta, n_candidates=chosen)
    if expected is None:
        return gibbs_bound(mean, terms.kl, n, delta, n_candidates=chosen)
    C = choose_C(expected.risk, expected.kl, n, delta, n_candidates=chosen)
    return catoni_fixed_bound(mean, terms.kl, n, C, delta, n_candidates=chosen)


def _twice_gibbs(risk: Risk, terms: Terms, delta: float) -> float:
    mean, _, left = _observed(risk, terms, delta)
    return min(1.0, 2.0 * _by_mean(mean, risk.n_examples, terms, left))


def _tandem(risk: Risk, terms: Terms, delta: float) -> float:
    _, pairs, left = _observed(risk, terms, delta)
    if terms.posterior == "frozen":
        return tandem_bound_frozen(pairs, risk.n_examples, left, n_candidates=terms.n_candidates)
    if terms.expected is not None and terms.expected.tandem is not None:
        n, chosen, twice = risk.n_examples, terms.n_candidates, 2.0 * terms.expected.kl
        C = choose_C(terms.expected.tandem, twice, n, left, n_candidates=chosen)
        return min(1.0, 4.0 * catoni_fixed_bound(pairs, 2.0 * terms.kl, n, C, left, n_candidates=chosen))
    return tandem_bound(pairs, terms.kl, risk.n_examples, left, n_candidates=terms.n_candidates)


def _trained(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, vote sgn(F): the smaller of twice Gibbs and tandem."""
    share = shares.of_an_order(terms.delta)
    twice, tandem = _twice_gibbs(risk, terms, share), _tandem(risk, terms, share)
    method = "twice Gibbs" if twice <= tandem else "tandem"
    return Bounds(_gibbs(risk, terms, terms.delta), twice, tandem, vote_method=method)


def _trained_fresh(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, vote of fresh sampled paths: twice Gibbs; tandem does not cover it."""
    twice = _twice_gibbs(risk, terms, terms.delta)
    return Bounds(_gibbs(risk, terms, terms.delta), twice, vote_method="twice Gibbs")


def _trained_fixed(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, vote of kept paths: as for sgn(F), with what their draw leaves of δ."""
    spent, left = shares.for_fixed_paths(terms.delta)
    share, paths, chosen = shares.of_an_order(left), terms.vote_paths or 0, terms.n_candidates
    gibbs = _gibbs(risk, terms, share)
    # The tandem bound is four times a bound on the tandem risk, cut at 1; where it is cut, so is what follows.
    pairs = _tandem(risk, terms, share) / 4.0
    if terms.forms > 1:
        twice, tandem = kept_paths_bounds(gibbs, pairs, paths, spent, n_candidates=chosen)
    else:
        twice = fixed_paths_vote_bound(gibbs, paths, spent, n_candidates=chosen)
        tandem = fixed_paths_tandem_bound(pairs, paths, spent, n_candidates=chosen)
    method = "twice Gibbs, fixed paths" if twice <= tandem else "tandem, fixed paths"
    return Bounds(_gibbs(risk, terms, terms.delta), twice, tandem, vote_method=method)


def _trained_gibbs(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Posterior trained on the bound rows, a vote that no bound on the posterior covers."""
    return Bounds(_gibbs(risk, terms, terms.delta))


def _frozen(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Frozen posterior, vote sgn(F): the test-set bound, the other two for the record."""
    share = shares.of_an_order(terms.delta)
    counted = _frozen_any_vote(risk, errors, terms)
    return replace(counted, twice_gibbs=_twice_gibbs(risk, terms, share), tandem=_tandem(risk, terms, share))


def _frozen_any_vote(risk: Risk, errors: int | None, terms: Terms) -> Bounds:
    """Frozen posterior, any vote: the test-set bound, if its errors were counted."""
    gibbs = _gibbs(risk, terms, terms.delta)
    if errors is None:
        return Bounds(gibbs)
    counted = clopper_pearson_bound(errors, risk.n_examples, terms.delta, n_candidates=terms.n_candidates)
    return Bounds(gibbs, test_set=counted, vote_method="test set")


def rule_for(terms: Terms, *, sampled: bool) -> Rule:
    """Return the rule for a way of making a model."""
    if terms.posterior == "frozen":
        return _frozen_any_vote if sampled else _frozen
    rules = {
        "expectation": _trained, "fresh paths": _trained_fresh, "fixed paths": _trained_fixed, None: _trained_gibbs,
    }  # fmt: skip
    return rules[terms.vote]


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
    bounds = rule(risk, wrong, terms)
    parts = _per_class(risk, errors, rule, terms, bounds.vote_method, class_deltas)
    names = tuple(map(str, range(len(parts)))) if len(parts) > 2 else ("negative", "positive")
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
        per_class=parts,
        class_names=names,
        forms=terms.forms,
        expected=terms.expected,
    )


def verify_certificate(certificate: Certificate, losses: ArrayLike | None = None) -> None:
    """Compute every bound again from the recorded observations; a ValueError names those that were not earned.

    A Gibbs bound by betting (frozen, 1,000 rows or more) depends on the losses one by one, which a certificate does
    not hold. Without them it is checked only that it is not below the mean loss, nor below what betting could reach if
    there were no losses at all; every other bound, that of ``predict`` among them, is computed again.

    Parameters
    ----------
    certificate : Certificate
    losses : array-like (n,), optional
        The losses of the bound rows in their order, with which the Gibbs bound of all rows by betting is computed too.

    Examples
    --------
    >>> from abnet.bounds import certify_trained
    >>> certificate = certify_trained([0.1] * 50, [1] * 50, 3.0, delta=0.05, prior="init")
    >>> verify_certificate(certificate)
    >>> verify_certificate(replace(certificate, gibbs_risk_bound=0.11))
    Traceback (most recent call last):
    ValueError: the certificate does not follow from its own observations: gibbs_risk_bound
    """
    deltas, terms = [part.delta for part in certificate.per_class], _terms(certificate)
    again = assemble(_risk(certificate, losses), _errors(certificate), terms, deltas)
    again = replace(again, class_names=certificate.class_names, drawn=certificate.drawn)
    ours, theirs = certificate.to_dict(), again.to_dict()
    for recorded, other in [(ours, theirs), *zip(ours["per_class"], theirs["per_class"], strict=True)]:
        known = losses is not None and recorded is ours
        if _attainable(recorded, terms, sampled=certificate.monte_carlo is not None, known=known):
            other["gibbs_risk_bound"] = recorded["gibbs_risk_bound"]
    unearned = [name for name in ours if not _agree(ours[name], theirs[name])]
    if unearned:
        raise ValueError(f"the certificate does not follow from its own observations: {', '.join(unearned)}")


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


def _attainable(record: dict[str, Any], terms: Terms, *, sampled: bool, known: bool) -> bool:
    """Whether a Gibbs bound may come from betting on losses that are not known."""
    n, delta, bound = record["n_examples"], record["delta"], record["gibbs_risk_bound"]
    if known or sampled or not _enough_to_bet(n, terms):
        return False
    return bool(bound >= max(record["empirical_gibbs_risk"] or 0.0, least_betting_bound(n, delta, terms.n_candidates)))


def _monte_carlo(risk: SampledRisk, terms: Terms) -> MonteCarlo:
    bound, _, left = _observed(risk, terms, terms.delta)
    spent = 0.0 if left == terms.delta else shares.for_sampling(terms.delta)[0]
    return MonteCarlo(risk.n_paths, spent, bound, terms.vote, terms.vote_paths)


def _per_class(
    risk: Risk,
    errors: VoteErrors | None,
    rule: Rule,
    terms: Terms,
    method: str | None,
    deltas: Sequence[float] | None,
) -> tuple[ClassCertificate, ...]:
    classes = len(risk.by_class)
    wrong = errors.by_class if errors else (None,) * classes
    if classes and len(wrong) != classes:
        raise ValueError(f"the losses are of {classes} classes, but the errors of {len(wrong)}.")
    deltas = deltas or shares.of_classes(terms.delta, [part.n_examples if part else 0 for part in risk.by_class])
    # The expected figures are those of all classes together.
    terms = replace(terms, expected=None)
    return tuple(
        _class_part(label, part, wrong[label], rule, replace(terms, delta=deltas[label]))
        if part
        else ClassCertificate(label, 0, None, None, wrong[label], 1.0, 1.0 if method else None, method, deltas[label])
        for label, part in enumerate(risk.by_class)
    )


def _class_part(label: int, part: Risk, wrong: int | None, rule: Rule, terms: Terms) -> ClassCertificate:
    bounds, n = rule(part, wrong, terms), part.n_examples
    seen = (part.mean, part.pair_mean, wrong)
    return ClassCertificate(label, n, *seen, bounds.gibbs, bounds.vote, bounds.vote_method, terms.delta)


def _terms(c: Certificate) -> Terms:
    vote = c.monte_carlo.vote if c.monte_carlo else "expectation"
    paths = c.monte_carlo.vote_paths if c.monte_carlo else None
    return Terms(c.kl, c.delta, c.prior, c.n_candidates, c.posterior, vote, paths, c.forms, c.expected)


def _errors(c: Certificate) -> VoteErrors | None:
    if c.vote_errors is None:
        return None
    return VoteErrors(c.vote_errors, tuple(part.vote_errors or 0 for part in c.per_class))


def _risk(c: Certificate, losses: ArrayLike | None) -> Risk:
    paths = c.monte_carlo.n_paths if c.monte_carlo else None
    whole = _group(c, paths, tuple(_group(part, paths, ()) for part in c.per_class))
    assert whole is not None  # a certificate has at least one bound row
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
