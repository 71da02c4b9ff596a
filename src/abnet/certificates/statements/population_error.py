"""`PopulationError`: the error rate on new rows of a declared population."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.shares import shares_by_count
from abnet.certificates.evidence import Evidence
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.statement import Answers, Statement
from abnet.certificates.terms import Terms
from abnet.utils.wording import confidence, number_of, percent_up

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["PopulationError"]


class PopulationError(Statement, frozen=True, kw_only=True, tag="error, population"):
    """Error rate on new rows of a population, by Clopper-Pearson; the bounds for all populations hold jointly.

    Attributes
    ----------
    population : str
    errors, n : int
        Wrong answers among n rows.
    answers : {"predict", "vote", "or none"}
        Which answers count as errors.
    """

    population: str
    errors: int
    n: int
    answers: Answers = "predict"

    @classmethod
    def of_populations(cls, evidence: Evidence, terms: Terms) -> "list[PopulationError]":
        """One statement for each population; δ is divided among them by their numbers of rows."""
        counts = sorted(evidence.populations.items(), key=lambda item: item[0])
        shares = shares_by_count([rows.n for _, rows in counts], terms.delta)
        return [
            cls.from_counts(population=name, errors=rows.errors, n=rows.n, delta=delta, n_candidates=terms.n_candidates)
            for (name, rows), delta in zip(counts, shares, strict=True)
        ]

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"error rate of population {self.population}"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.errors, self.n, self.delta, n_candidates=self.n_candidates)

    @property
    def jointly(self) -> str:
        """The bounds for all populations hold jointly."""
        return "populations"

    def delta_share(self, certificate: "Certificate") -> float:
        """The share of the population, by the numbers of rows of all populations."""
        family = certificate.each(PopulationError)
        shares = shares_by_count([part.n for part in family], certificate.facts.delta)
        return shares[family.index(self)]

    def counting(self, answers: Answers) -> Self:
        """The statement about these answers."""
        return msgspec.structs.replace(self, answers=answers)

    def check_counts(self, certificate: "Certificate") -> None:
        """The populations add up to the rows and errors of the facts."""
        facts = certificate.facts
        family = certificate.each(PopulationError)
        self.expect("trained", False, facts.trained)
        self.expect("rows of all populations", sum(part.n for part in family), facts.n_rows)
        self.expect("errors of all populations", sum(part.errors for part in family), facts.errors_of(None))
        overall = certificate.find(AnswerErrorRate)
        if overall is not None:
            self.expect("answers", self.answers, overall.answers)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the {_what_is_counted(self.answers)} on new rows with {self.population} is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        rows = number_of(self.n, facts.counted())
        if self.answers == "or none":
            return f" ({self.errors:,} of {rows})"
        return f" ({number_of(self.errors, 'error')} on {rows})"

    @classmethod
    def joint_sentence(cls, family: Sequence[Self], certificate: "Certificate", *, details: bool) -> str:
        """All populations in one sentence."""
        facts = certificate.facts
        bounds = [f"{part.population} {percent_up(part.value or 0.0)}{part.seen(facts)}" for part in family]
        sure = confidence(certificate.delta_of("populations"))
        return (
            f"These upper bounds on the {_what_is_counted(family[0].answers)} on new rows hold jointly with "
            f"{sure} confidence, as a statement of their own: {'; '.join(bounds)}."
        )


def _what_is_counted(answers: Answers) -> str:
    if answers == "or none":
        return "share of wrong answers and rows without an answer"
    return "error rate"
