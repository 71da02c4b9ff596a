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
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.shares import share_of_a_limit, shares_by_count
from abnet.certificates.certificate import Certificate, Facts, Source
from abnet.certificates.evidence import Evidence
from abnet.certificates.statement import Statement, state

__all__ = [
    "BETTING_ROWS",
    "Expected",
    "NO_ANSWER",
    "Terms",
    "about_the_vote",
    "certify",
    "certify_drawn",
    "facts_of",
    "for_candidates",
    "rates",
]

BETTING_ROWS = 1000
"""From this many rows on, the Gibbs risk of a fixed model is bounded by betting. For losses that vary little the bound
is then far smaller than `gibbs_bound_frozen`. For losses of 0 and 1, the worst case of betting, it is about equal, but
larger for rare errors, and with fewer rows it varies more."""

UNKNOWN = "another label"
"""Class name of rows whose label the model does not know."""


@dataclass(frozen=True)
class Expected:
    """Expected risk and divergence of a posterior on the bound rows, computed from the first part only.

    Attributes
    ----------
    risk, kl : float
        Gibbs risk, and divergence from the prior in nats.
    tandem : float or None
        Probability that two draws both err.
    """

    risk: float
    kl: float = 2.0
    tandem: float | None = None

    @classmethod
    def from_losses(cls, losses: ArrayLike, kl: float = 2.0) -> "Expected":
        r"""Expected risk from the Gibbs losses on m validation rows of the first part, ``(1/2 + Σ p_i)/(m + 1)``.

        The added 1/2 and 1 avoid an expected risk of 0 on a few rows. In ten fits the divergence was .3 to 2.6 nats;
        with the guess of 2 the bound was .001 (median) above that at the best C.

        Examples
        --------
        >>> Expected.from_losses([0.0, 0.25, 0.5]).risk
        0.3125
        """
        values = np.clip(np.asarray(losses, np.float64), 0.0, 1.0)
        m = len(values) + 1
        return cls((0.5 + float(values.sum())) / m, float(kl), (0.25 + float((values**2).sum())) / m)


@dataclass(frozen=True)
class Terms:
    """How the model was made and what to certify, fixed before the bound rows are seen.

    Attributes
    ----------
    delta, n_candidates, source, trained, kl, vote_paths, drawn
        As in `Facts`.
    vote : {"expectation", "fresh paths", "kept paths"} or None
        How ``predict`` decides, for a posterior trained on the bound rows: by the sign of the expected output, by a
        vote of paths drawn for each prediction, or of paths drawn once. None: no bound on the posterior covers
        ``predict``.
    expected : Expected or None
        Expected values from the first part, from which Catoni's C is chosen.
    """

    delta: float = 0.05
    n_candidates: int = 1
    source: Source = "split"
    trained: bool = False
    kl: float = 0.0
    vote: Literal["expectation", "fresh paths", "kept paths"] | None = "expectation"
    vote_paths: int | None = None
    expected: Expected | None = None
    drawn: Literal["network", "tree"] = "network"

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise ValueError(f"delta must lie in (0, 1); got {self.delta}.")
        if self.n_candidates < 1:
            raise ValueError(f"n_candidates must be at least 1; got {self.n_candidates}.")
        if (self.vote == "kept paths") != (self.vote_paths is not None):
            raise ValueError("vote_paths must be given for a vote of kept paths, and for no other vote.")
        if not self.trained and self.kl:
            raise ValueError("kl must be 0 for a model that was not trained on the bound rows.")
        if self.expected is not None and (not self.trained or self.source != "split"):
            raise ValueError("expected needs a first part (source='split') and a posterior trained on the other rows.")
        if self.trained and self.source == "test set":
            raise ValueError("the posterior was trained on these rows, so they cannot be a test set.")


def certify(evidence: Evidence, terms: Terms) -> Certificate:
    """Certify what the evidence proves under these terms.

    Parameters
    ----------
    evidence : Evidence
        From rows (or groups) that are independent draws from the same source as the new data.
    terms : Terms

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
    facts = facts_of(evidence, terms)
    if evidence.groups is not None:
        statements = [*_of_groups(evidence, terms)]
    else:
        statements = [
            *_of_rows(evidence, terms),
            *_of_classes(evidence, terms, facts),
            *_of_populations(evidence, terms),
        ]
    if not statements:
        raise ValueError("nothing can be certified: there are no losses, and no bound covers how the model predicts.")
    return Certificate(statements=tuple(statements), facts=facts)


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
    counted: dict[str, Any] = {"errors": evidence.errors, "n": evidence.n_rows}
    method = "clopper_pearson_bound"
    if terms.trained:
        method, counted = "drawn_network_bound", {**counted, "log_density_ratio": log_density_ratio}
    options: dict[str, Any] = {"delta": terms.delta, "n_candidates": terms.n_candidates}
    made = state("error", "drawn network", method, counted, **options)
    return Certificate(statements=(made,), facts=facts_of(evidence, terms))


def for_candidates(certificate: Certificate, n_candidates: int) -> Certificate:
    """The same certificate for a choice among `n_candidates`; only for bounds that do not need every single value."""
    made = tuple(
        state(
            s.quantity, s.of, s.method, s.counted, delta=s.delta, side=s.side, n_candidates=n_candidates, name=s.name,
            jointly=s.jointly, rule=s.rule, rows_needed=s.rows_needed,
        )
        for s in certificate.statements
    )  # fmt: skip
    facts = msgspec.structs.replace(certificate.facts, n_candidates=n_candidates)
    return Certificate(statements=made, facts=facts, model=certificate.model)


def about_the_vote(certificate: Certificate) -> Certificate:
    """Mark error rates as those of the plain vote, for a model whose answers follow another decision.

    The decision may have been chosen with the bound rows, so the errors under it are not certified by these counts.
    """
    made = [
        msgspec.structs.replace(s, of="vote") if (s.quantity, s.of) == ("error", "predict")
        else msgspec.structs.replace(s, rule={**s.rule, "answers": "vote"}) if (s.quantity, s.of) == ("error", "class")
        else s
        for s in certificate.statements
    ]  # fmt: skip
    return msgspec.structs.replace(certificate, statements=tuple(made))


NO_ANSWER = "other or none"
"""Column name, in a confusion matrix, of answers that are not one of the classes."""


def rates(evidence: Evidence, terms: Terms, *, others: bool = True) -> list[Statement]:
    """Limits on how often the rows of each class get each answer; all hold jointly.

    δ is divided among the classes by their counts, and then evenly among the possible answers. The number of possible
    answers must not depend on the answers of the model.

    Parameters
    ----------
    evidence : Evidence
    terms : Terms
    others : bool
        Whether the model may give answers that are not among the classes, or no answer. If not, the limits are tighter.

    Examples
    --------
    >>> from abnet.certificates.evidence import observe
    >>> made = rates(observe([0] * 90 + [1] * 10, [0] * 100, ("no", "yes")), Terms(), others=False)
    >>> [(s.name, s.rule["answer"], s.side, round(s.value, 3)) for s in made[:2]]
    [('no', 'no', 'at least', 0.824), ('no', 'no', 'at most', 0.951)]
    """
    if terms.trained:
        raise ValueError("the posterior was trained on these rows, so they cannot bound its error rates on new rows.")
    facts, table = facts_of(evidence, terms), evidence.counts.sum(axis=2)
    none = _unlike(evidence.classes, NO_ANSWER)
    answers = [*evidence.classes, *([none] if others or len(evidence.classes) < 2 else [])]
    if len(answers) == len(evidence.classes) and table[:, -1].any():
        raise ValueError("some answers are not among the classes: use others=True.")
    made = []
    shares = shares_by_count(facts.class_rows, terms.delta)
    for truth, (name, n, share) in enumerate(zip(facts.classes, facts.class_rows, shares, strict=True)):
        if not n:
            continue
        delta = share_of_a_limit(share, len(answers))
        for answer, count in zip(answers, table[truth, : len(answers)].tolist(), strict=True):
            common: dict[str, Any] = {
                "delta": delta, "n_candidates": terms.n_candidates, "name": name, "jointly": "confusion",
                "rule": {"answer": answer},
            }  # fmt: skip
            made += [
                state(
                    "rate", "class", "clopper_pearson_lower", {"successes": count, "n": n}, side="at least", **common
                ),
                state("rate", "class", "clopper_pearson_bound", {"errors": count, "n": n}, **common),
            ]
    return made


def facts_of(evidence: Evidence, terms: Terms) -> Facts:
    """What was counted, and how the model was made."""
    rows, errors = evidence.class_rows.tolist(), evidence.class_errors.tolist()
    names = [*evidence.classes, _unlike(evidence.classes, UNKNOWN)] if rows[-1] else list(evidence.classes)
    return Facts(
        n_rows=evidence.n_rows, classes=tuple(names), class_rows=tuple(rows[: len(names)]),
        class_errors=tuple(errors[: len(names)]), source=terms.source, delta=terms.delta,
        n_groups=None if evidence.groups is None else len(evidence.groups.table), trained=terms.trained,
        kl=terms.kl, n_paths=None if evidence.losses is None else evidence.losses.n_paths,
        vote_paths=terms.vote_paths, drawn=terms.drawn, n_candidates=terms.n_candidates,
    )  # fmt: skip


def _unlike(classes: Sequence[str], name: str) -> str:
    """The name, lengthened if it is that of a class: a statement is known by the names in it."""
    return name if name not in classes else _unlike(classes, f"{name} (no class)")


def _of_rows(evidence: Evidence, terms: Terms) -> list[Statement]:
    """Statements about all rows."""
    options: dict[str, Any] = {"delta": terms.delta, "n_candidates": terms.n_candidates}
    made = []
    if not terms.trained:
        counted = {"errors": evidence.errors, "n": evidence.n_rows}
        made.append(state("error", "predict", "clopper_pearson_bound", counted, **options))
    losses = evidence.losses
    if losses is None:
        return made
    if terms.trained and terms.vote is not None:
        made.append(_vote(losses.mean(), losses.pair_mean(), evidence.n_rows, losses.n_paths, terms, terms.expected))
    values = None if evidence.values is None else evidence.values.values
    made.append(_gibbs("draw", None, losses.mean(), evidence.n_rows, losses.n_paths, terms, terms.expected, values))
    return made


def _of_classes(evidence: Evidence, terms: Terms, facts: Facts) -> list[Statement]:
    """Statements about each class with rows; those of one quantity hold jointly, given the class counts."""
    made: list[Statement] = []
    shares = shares_by_count(facts.class_rows, terms.delta)
    losses, kept = evidence.losses, evidence.values
    for code, (name, n, errors, delta) in enumerate(
        zip(facts.classes, facts.class_rows, facts.class_errors, shares, strict=True)
    ):
        code = code if code < len(evidence.classes) else -1
        if not n:
            continue
        own = replace(terms, delta=delta)
        if not terms.trained:
            made.append(state(
                "error", "class", "clopper_pearson_bound", {"errors": errors, "n": n}, delta=delta, name=name,
                n_candidates=terms.n_candidates, jointly="classes",
            ))  # fmt: skip
        if losses is None:
            continue
        mean, pairs = losses.mean(code), losses.pair_mean(code)
        # The expected values are about all classes together, so they are not used for one class.
        if terms.trained and terms.vote is not None:
            made.append(_vote(mean, pairs, n, losses.n_paths, own, None, name))
        values = None if kept is None else kept.values[kept.codes == (code if code >= 0 else len(evidence.classes))]
        made.append(_gibbs("class", name, mean, n, losses.n_paths, own, None, values))
    return made


def _of_populations(evidence: Evidence, terms: Terms) -> list[Statement]:
    """Statements about each declared population; all hold jointly."""
    if not evidence.populations or terms.trained:
        return []
    counts = sorted(evidence.populations.items())
    shares = shares_by_count([n for _, (n, _) in counts], terms.delta)
    return [
        state(
            "error", "population", "clopper_pearson_bound", {"errors": k, "n": n}, delta=delta, name=name,
            n_candidates=terms.n_candidates, jointly="populations",
        )
        for (name, (n, k)), delta in zip(counts, shares, strict=True)
    ]  # fmt: skip


def _of_groups(evidence: Evidence, terms: Terms) -> list[Statement]:
    """Statements about a new group, averaged over its rows; every group has the same weight, whatever its size."""
    assert evidence.groups is not None
    rows, errors, means, pairs = evidence.groups.in_order()
    options: dict[str, Any] = {"delta": terms.delta, "n_candidates": terms.n_candidates}
    made = []
    if not terms.trained:
        counted = {"rows": rows.tolist(), "errors": errors.tolist()}
        made.append(state("error", "predict", "group_error_bound", counted, **options))
    if evidence.losses is not None:
        n, paths = len(rows), evidence.losses.n_paths
        mean, pair = float(means.mean()), float(pairs.mean())
        if terms.trained and terms.vote is not None:
            made.append(_vote(mean, pair, n, paths, terms, terms.expected))
        made.append(_gibbs("draw", None, mean, n, paths, terms, terms.expected, means))
    return made


def _vote(
    mean: float | None,
    pairs: float | None,
    n: int,
    n_paths: int | None,
    terms: Terms,
    expected: Expected | None,
    name: str | None = None,
) -> Statement:
    counted = {
        "risk": mean, "tandem": None if terms.vote == "fresh paths" else pairs, "n": n, "kl": terms.kl,
        **_expected(expected), **({} if n_paths is None else {"n_paths": n_paths}),
        **({} if terms.vote_paths is None else {"kept_paths": terms.vote_paths}),
        **({} if expected is None or expected.tandem is None else {"expected_tandem": expected.tandem}),
    }  # fmt: skip
    return state(
        "error", "predict" if name is None else "class", "trained_vote_bound", counted, delta=terms.delta, name=name,
        n_candidates=terms.n_candidates, jointly=None if name is None else "classes",
    )  # fmt: skip


def _gibbs(
    of: str,
    name: str | None,
    mean: float | None,
    n: int,
    n_paths: int | None,
    terms: Terms,
    expected: Expected | None,
    values: Any,
) -> Statement:
    options: dict[str, Any] = {
        "delta": terms.delta, "n_candidates": terms.n_candidates, "name": name,
        "jointly": None if name is None else "classes, Gibbs risk",
    }  # fmt: skip
    if terms.trained:
        counted = {"risk": mean, "n": n, "kl": terms.kl, **_expected(expected)}
        counted |= {} if n_paths is None else {"n_paths": n_paths}
        return state("Gibbs risk", of, "trained_gibbs_bound", counted, **options)
    if values is not None and n_paths is None and n >= BETTING_ROWS:
        return state("Gibbs risk", of, "mean_by_betting", {"n": n, "mean": mean}, values=values, **options)
    return state("Gibbs risk", of, "gibbs_bound_frozen", {"empirical_risk": mean, "n": n}, **options)


def _expected(expected: Expected | None) -> dict[str, float]:
    return {} if expected is None else {"expected_risk": expected.risk, "expected_kl": expected.kl}
