"""`certify`: make a certificate from evidence and terms.

The terms are fixed before the evidence is seen. They and the number of rows determine which bound applies; the losses
never do:

| model | Gibbs risk | error of ``predict`` |
| --- | --- | --- |
| fixed before the rows | `gibbs_bound_frozen`; exact losses, 1,000 rows or more: betting | Clopper-Pearson |
| the same, rows in groups | the same, with groups in place of rows | betting on the groups' error rates |
| trained on the rows | ``k⁺`` with ξ(n), or Catoni's at a C chosen in advance | twice Gibbs or tandem, δ/2 each |
"""

from collections.abc import Sequence

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import Evidence
from abnet.certificates.facts import Facts
from abnet.certificates.requests import Requests
from abnet.certificates.rows_part import LossMeans, RowsPart, parts_of
from abnet.certificates.statements.betting_gibbs_bound import FEWEST_ROWS, BettingGibbsBound
from abnet.certificates.statements.drawn_network_error import DrawnNetworkError
from abnet.certificates.statements.error_bound import ErrorBound
from abnet.certificates.statements.frozen_gibbs_bound import FrozenGibbsBound
from abnet.certificates.statements.gap_bound import GapBound
from abnet.certificates.statements.gibbs_bound import GibbsBound
from abnet.certificates.statements.group_error_bound import GroupErrorBound
from abnet.certificates.statements.mix_error import KnownMixError, UnknownMixError
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.statements.region_error import RegionError
from abnet.certificates.statements.statement import Answers, Statement
from abnet.certificates.statements.trained_error_bound import TrainedErrorBound
from abnet.certificates.statements.trained_gibbs_bound import TrainedGibbsBound
from abnet.certificates.terms import Terms

__all__ = ["certify", "certify_drawn", "counting", "for_candidates"]


_NOTHING_MORE = Requests()


def certify(evidence: Evidence, terms: Terms, requests: Requests = _NOTHING_MORE) -> Certificate:
    """Certify what the evidence proves under these terms.

    Parameters
    ----------
    evidence : Evidence
        From rows (or groups) that are independent draws from the same source as the new data.
    terms : Terms
    requests : Requests
        What to state besides error rates; for a model that was not trained on the rows.

    Examples
    --------
    >>> from abnet.certificates.evidence import observe
    >>> seen = observe([0] * 99 + [1], [0] * 100, ("no", "yes"))
    >>> made = certify(seen, Terms(source="test set"))
    >>> round(made.vote_error_bound, 3), made.gibbs_risk_bound
    (0.047, None)
    """
    if not evidence.n_rows:
        raise ValueError("there are no rows to certify on.")
    requests.check(grouped=evidence.groups is not None)
    statements: list[Statement] = []
    for part in parts_of(evidence, terms):
        if not terms.trained:
            statements.append(_error_of_fixed_model(part, evidence, terms))
        if part.losses is not None:
            statements += _from_losses(part, part.losses, terms)
    if not terms.trained and evidence.groups is None:
        statements += _of_populations(evidence, terms, requests)
        statements += RegionError.of_regions(evidence, terms)
        statements += _at_another_mix(evidence, terms, requests)
    if not statements:
        raise ValueError("nothing can be certified: there are no losses, and no bound covers how the model predicts.")
    return Certificate(statements=tuple(statements), facts=Facts.of(evidence, terms))


def _error_of_fixed_model(part: RowsPart, evidence: Evidence, terms: Terms) -> Statement:
    if evidence.groups is not None:
        return GroupErrorBound.of_groups(evidence.groups, terms)
    return ErrorBound.of_part(part, terms)


def _of_populations(evidence: Evidence, terms: Terms, requests: Requests) -> Sequence[Statement]:
    """Bounds for populations; if gaps are requested, limits on both sides take their place."""
    if requests.gaps is None:
        return PopulationError.of_populations(evidence, terms)
    return GapBound.of_groups(evidence, terms, requests.gaps)


def _at_another_mix(evidence: Evidence, terms: Terms, requests: Requests) -> list[Statement]:
    """The error rate at another class mix, if it is requested."""
    facts = Facts.of(evidence, terms)
    if requests.mix is not None:
        return [KnownMixError.of_mix(facts, requests.mix, terms)]
    if requests.new_answers is not None:
        return [UnknownMixError.of_answers(evidence, facts, requests.new_answers, terms, others=requests.others)]
    return []


def _from_losses(part: RowsPart, losses: LossMeans, terms: Terms) -> list[Statement]:
    """Bounds that follow from the losses of drawn networks."""
    if not terms.trained:
        return [_gibbs_of_fixed_posterior(part, losses, terms)]
    gibbs = TrainedGibbsBound.of_part(part, losses, terms)
    if terms.vote is None:
        return [gibbs]
    return [TrainedErrorBound.of_part(part, losses, terms), gibbs]


def _gibbs_of_fixed_posterior(part: RowsPart, losses: LossMeans, terms: Terms) -> GibbsBound:
    if losses.values is not None and losses.n_paths is None and part.n >= FEWEST_ROWS:
        return BettingGibbsBound.from_values(
            losses.values, risk=losses.risk, label=part.label, delta=part.delta, n_candidates=terms.n_candidates
        )
    return FrozenGibbsBound.from_counts(
        risk=losses.risk, n=part.n, label=part.label, delta=part.delta, n_candidates=terms.n_candidates
    )


def certify_drawn(evidence: Evidence, terms: Terms, log_density_ratio: float = 0.0) -> Certificate:
    r"""Certify one network that was drawn once from a posterior.

    If the posterior was trained on the bound rows, the bound is `abnet.bounds.drawn_network.drawn_network_bound`.
    Otherwise the network is independent of these rows, and the bound is Clopper-Pearson.

    Parameters
    ----------
    evidence : Evidence
        Errors of the drawn network.
    terms : Terms
    log_density_ratio : float
        ``ln dQ/dP`` at the drawn network, ``(‖w + ε - v‖² - ‖ε‖²)/2``; it may be negative.

    Examples
    --------
    >>> from abnet.certificates.evidence import observe
    >>> seen = observe([0] * 950 + [1] * 50, [0] * 1000, ("no", "yes"))
    >>> round(certify_drawn(seen, Terms(trained=True), 12.0).vote_error_bound, 4)
    0.101
    """
    ratio = None
    if terms.trained:
        ratio = log_density_ratio
    made = DrawnNetworkError.from_counts(
        errors=evidence.errors,
        n=evidence.n_rows,
        log_density_ratio=ratio,
        delta=terms.delta,
        n_candidates=terms.n_candidates,
    )
    return Certificate(statements=(made,), facts=Facts.of(evidence, terms))


def for_candidates(certificate: Certificate, n_candidates: int) -> Certificate:
    """The same certificate for a choice among `n_candidates`; only for bounds that do not need every single value."""
    made = tuple(statement.for_candidates(n_candidates) for statement in certificate.statements)
    facts = msgspec.structs.replace(certificate.facts, n_candidates=n_candidates)
    return msgspec.structs.replace(certificate, statements=made, facts=facts)


def counting(certificate: Certificate, answers: Answers) -> Certificate:
    """The certificate with error rates about these answers.

    A decision may have been chosen with the bound rows. Then the errors under it are not certified by these counts, and
    the error rates are those of the plain vote ("vote").
    """
    made = tuple(statement.counting(answers) for statement in certificate.statements)
    return msgspec.structs.replace(certificate, statements=made)
