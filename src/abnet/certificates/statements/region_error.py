"""`RegionError`: the error rate on new rows in a region of a narrow network."""

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

__all__ = ["LEAST_ROWS", "RegionError"]

LEAST_ROWS = 30
"""Minimum number of held-out rows of a region with a statement. Which regions have one must depend on these numbers
only, never on errors: given the regions of all rows, the errors in each are binomial. Smaller regions have no
statement, not even together: a union that is chosen by these numbers holds the regions that are under-represented in
the sample, so its rate on new rows is another mixture of the regions' rates."""


class RegionError(Statement, frozen=True, kw_only=True, tag="error, region"):
    """Error rate on new rows in a region, by Clopper-Pearson; the bounds for all regions hold jointly.

    Attributes
    ----------
    signs : str
        The most probable output of each leading neuron, such as ``-++``.
    words : str
        The region in the columns of the table, as a summary; empty if unknown.
    errors, n : int
        Wrong answers among n rows.
    answers_given : tuple of int
        Rows by answer, in the order of the classes that the model knows; the last entry is for rows without an answer.
    answers : {"predict", "vote", "or none"}
        Which answers count as errors.
    """

    signs: str
    errors: int
    n: int
    answers_given: tuple[int, ...]
    words: str = ""
    answers: Answers = "predict"

    @classmethod
    def of_regions(cls, evidence: Evidence, terms: Terms) -> "list[RegionError]":
        """A statement for every region with enough rows, the largest first; δ is divided by their numbers of rows."""
        if evidence.regions is None:
            return []
        regions = sorted(evidence.regions.table.items(), key=lambda item: (-item[1].n, item[0]))
        listed = [(signs, rows) for signs, rows in regions if rows.n >= LEAST_ROWS]
        shares = shares_by_count([rows.n for _, rows in listed], terms.delta)
        return [
            cls.from_counts(
                signs=signs,
                words=rows.words,
                errors=rows.errors,
                n=rows.n,
                answers_given=rows.answers,
                delta=delta,
                n_candidates=terms.n_candidates,
            )
            for (signs, rows), delta in zip(listed, shares, strict=True)
        ]

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"error rate in region {self.signs}"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.errors, self.n, self.delta, n_candidates=self.n_candidates)

    @property
    def jointly(self) -> str:
        """The bounds for all regions hold jointly."""
        return "regions"

    def delta_share(self, certificate: "Certificate") -> float:
        """The share of the region, by the numbers of rows of all regions."""
        family = certificate.each(RegionError)
        shares = shares_by_count([part.n for part in family], certificate.facts.delta)
        return shares[family.index(self)]

    def counting(self, answers: Answers) -> Self:
        """The statement about these answers."""
        return msgspec.structs.replace(self, answers=answers)

    def check_counts(self, certificate: "Certificate") -> None:
        """Every row is in one region at most, and the regions have enough rows."""
        facts = certificate.facts
        family = certificate.each(RegionError)
        self.expect("trained", False, facts.trained)
        self.expect("rows by answer", sum(self.answers_given), self.n)
        if self.n < LEAST_ROWS:
            raise ValueError(f"the {self.about} counts {self.n} rows, but a region needs {LEAST_ROWS}.")
        total = sum(part.n for part in family)
        errors = sum(part.errors for part in family)
        self.expect_at_most("rows of all regions", total, facts.n_rows)
        self.expect_at_most("errors of all regions", errors, facts.errors_of(None))
        self.expect_at_most("right answers of all regions", total - errors, facts.n_rows - facts.errors_of(None))
        overall = certificate.find(AnswerErrorRate)
        if overall is not None:
            self.expect("answers", self.answers, overall.answers)

    # Words

    @property
    def name(self) -> str:
        """The region in words, or else by its signs."""
        if not self.words:
            return f"region {self.signs}"
        return f"region {self.signs} ({self.words})"

    def usual_answer(self, facts: "Facts") -> tuple[str, float]:
        """The most frequent answer in the region, and its share of the region's rows."""
        place = max(range(len(self.answers_given)), key=lambda code: self.answers_given[code])
        label = "no answer"
        if place < len(self.answers_given) - 1:
            label = facts.classes[place]
        return label, self.answers_given[place] / self.n

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        return f"the {_what_is_counted(self.answers)} on new rows in {self.name} is {self.value_text}"

    def seen(self, facts: "Facts") -> str:
        """Errors and rows."""
        return f" ({number_of(self.errors, 'error')} on {number_of(self.n, facts.counted())})"

    @classmethod
    def joint_sentence(cls, family: Sequence[Self], certificate: "Certificate", *, details: bool) -> str | None:
        """All regions in one sentence, if there is room for details."""
        if not details:
            return None
        facts = certificate.facts
        bounds = [f"{part.name} {percent_up(part.value or 0.0)}{part.seen(facts)}" for part in family]
        sure = confidence(certificate.delta_of("regions"))
        return (
            f"These upper bounds on the {_what_is_counted(family[0].answers)} in regions of the network hold jointly "
            f"with {sure} confidence, as a statement of their own: {'; '.join(bounds)}."
        )


def _what_is_counted(answers: Answers) -> str:
    if answers == "or none":
        return "share of wrong answers and rows without an answer"
    if answers == "vote":
        return "error rate of the plain vote"
    return "error rate"
