"""Which bounds a model gets, and at which share of δ: fixed by how it was made, before the bound examples are used.

Every rule takes the evidence of one group of examples, the errors of the deployed vote on them or None, and the terms.
"""

from collections.abc import Callable
from dataclasses import dataclass

from abnet.bounds.evidence import ExactRisk, SampledRisk
from abnet.bounds.fixed_paths import FIXED_PATHS_SHARE, fixed_paths_tandem_bound, fixed_paths_vote_bound
from abnet.bounds.holdout import test_set_bound

__all__ = [
    "Bounds",
    "Risk",
    "Rule",
    "Terms",
    "frozen",
    "frozen_any_vote",
    "rule_for",
    "trained",
    "trained_fixed",
    "trained_fresh",
    "trained_gibbs",
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
