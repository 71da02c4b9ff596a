"""`certify`: from evidence and terms to a certificate.

The terms are fixed before the evidence is seen. Which bound applies follows from them and from the number of rows,
never from the losses:

| model | Gibbs risk | error of ``predict`` |
| --- | --- | --- |
| finished before the rows | ``k⁺(r̂, ln(K/δ)/n)``; exact losses, 1,000 rows or more: betting | Clopper-Pearson |
| the same, rows in groups | the same, with groups in the place of rows | betting on the groups' error rates |
| trained on the rows | ``k⁺`` with ξ(n), or Catoni's at a C chosen in advance | twice Gibbs or tandem, δ/2 each |
"""

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
    "Terms",
    "about_the_vote",
    "certify",
    "certify_drawn",
    "facts_of",
    "for_candidates",
    "rates",
]

BETTING_ROWS = 1000
"""From so many rows on, betting bounds the Gibbs risk of a finished model. For losses of 0 and 1, its worst case, it is
then smaller than Chernoff's on average (by 2%; with fewer it varies more); for losses that vary little, far smaller."""

UNKNOWN = "another label"
"""The name of the rows whose label the model does not know."""


@dataclass(frozen=True)
class Expected:
    """What the first part lets one expect of a posterior on the counted rows; never computed from these.

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
        r"""The figures of Gibbs losses on m held rows of the first part, ``(1/2 + Σ p_i)/(m + 1)``.

        So few rows without a loss do not promise a risk of 0. On ten fits the divergence was .3 to 2.6 nats, and at a
        guess of 2 the bound was above the best C's by .001 in the median.

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
    """How the model was made and what is asked of it, fixed before the counted rows are seen.

    Attributes
    ----------
    delta, n_candidates, source, trained, kl, vote_paths, drawn
        As in `Facts`.
    vote : {"expectation", "fresh paths", "kept paths"} or None
        What ``predict`` does, for a posterior trained on the counted rows: the sign of the expected output, a vote of
        paths drawn anew, or of paths drawn once. None: no bound on the posterior covers it.
    expected : Expected or None
        Figures of the first part from which Catoni's C is chosen.
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
            raise ValueError("kl must be 0 for a model that was not trained on the counted rows.")
        if self.expected is not None and (not self.trained or self.source != "split"):
            raise ValueError("expected needs a first part (source='split') and a posterior trained on the other rows.")
        if self.trained and self.source == "test set":
            raise ValueError("the posterior was trained on the counted rows, so they cannot be a test set.")


def certify(evidence: Evidence, terms: Terms) -> Certificate:
    """State what the evidence proves under these terms.

    Parameters
    ----------
    evidence : Evidence
        Of rows that are independent draws from the source of the new data (with groups: of groups that are).
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
        raise ValueError("nothing can be certified: there are no losses, and no bound covers the way the model votes.")
    return Certificate(statements=tuple(statements), facts=facts)


def certify_drawn(evidence: Evidence, terms: Terms, log_density_ratio: float = 0.0) -> Certificate:
    r"""State what the evidence proves of one network that was drawn once from a posterior.

    If the posterior was trained on the counted rows, by `abnet.bounds.drawn_network.drawn_network_bound`; otherwise the
    network never saw them, and its errors are binomial.

    Parameters
    ----------
    evidence : Evidence
        Of the drawn network.
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
    """The certificate if it had been chosen among so many; only for bounds that need no single values."""
    made = tuple(
        state(
            s.quantity, s.of, s.method, s.counted, delta=s.delta, side=s.side, n_candidates=n_candidates, name=s.name,
            jointly=s.jointly, rule=s.rule, rows_needed=s.rows_needed,
        )
        for s in certificate.statements
    )  # fmt: skip
    facts = msgspec.structs.replace(certificate.facts, n_candidates=n_candidates)
    return Certificate(statements=made, facts=facts)


def about_the_vote(certificate: Certificate) -> Certificate:
    """The certificate of a model whose answers follow another decision: its error rates are the plain vote's.

    Which decision is taken may depend on the counted rows, so that their errors under it promise nothing by themselves.
    """
    made = [
        msgspec.structs.replace(s, of="vote") if (s.quantity, s.of) == ("error", "predict")
        else msgspec.structs.replace(s, rule={**s.rule, "answers": "vote"}) if (s.quantity, s.of) == ("error", "class")
        else s
        for s in certificate.statements
    ]  # fmt: skip
    return msgspec.structs.replace(certificate, statements=tuple(made))


NO_ANSWER = "other or none"
"""The name of answers that are no class, in a confusion matrix."""


def rates(evidence: Evidence, terms: Terms, *, others: bool = True) -> list[Statement]:
    """Limits on how often each class gets each answer; all hold jointly.

    δ is shared among the classes by their counts, and then among the answers, whose number must not depend on what the
    model says.

    Parameters
    ----------
    evidence : Evidence
    terms : Terms
    others : bool
        Whether the model may give other answers than the classes, or none. Otherwise the limits are tighter.

    Examples
    --------
    >>> from abnet.certificates.evidence import observe
    >>> made = rates(observe([0] * 90 + [1] * 10, [0] * 100, ("no", "yes")), Terms(), others=False)
    >>> [(s.name, s.rule["answer"], s.side, round(s.value, 3)) for s in made[:2]]
    [('no', 'no', 'at least', 0.824), ('no', 'no', 'at most', 0.951)]
    """
    if terms.trained:
        raise ValueError("the posterior was trained on these rows, so they cannot tell how often it errs on new ones.")
    facts, table = facts_of(evidence, terms), evidence.counts.sum(axis=2)
    answers = [*evidence.classes, *([NO_ANSWER] if others or len(evidence.classes) < 2 else [])]
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
    names = [*evidence.classes, UNKNOWN] if rows[-1] else list(evidence.classes)
    return Facts(
        n_rows=evidence.n_rows, classes=tuple(names), class_rows=tuple(rows[: len(names)]),
        class_errors=tuple(errors[: len(names)]), source=terms.source, delta=terms.delta,
        n_groups=None if evidence.groups is None else len(evidence.groups.table), trained=terms.trained,
        kl=terms.kl, n_paths=None if evidence.losses is None else evidence.losses.n_paths,
        vote_paths=terms.vote_paths, drawn=terms.drawn, n_candidates=terms.n_candidates,
    )  # fmt: skip


def _of_rows(evidence: Evidence, terms: Terms) -> list[Statement]:
    """About all rows."""
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
    """About each class that has rows; all of one quantity hold jointly, since the argument conditions on the counts."""
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
        # The expected figures are those of all classes together.
        if terms.trained and terms.vote is not None:
            made.append(_vote(mean, pairs, n, losses.n_paths, own, None, name))
        values = None if kept is None else kept.values[kept.codes == (code if code >= 0 else len(evidence.classes))]
        made.append(_gibbs("class", name, mean, n, losses.n_paths, own, None, values))
    return made


def _of_populations(evidence: Evidence, terms: Terms) -> list[Statement]:
    """About each declared population; all hold jointly."""
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
    """About a new group, averaged over its rows; every group counts the same, whatever its size."""
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
