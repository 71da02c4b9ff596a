"""`RateAtLeast` and `RateAtMost`: limits on how often the rows of a class get an answer; all hold jointly."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.shares import share_of_a_limit
from abnet.certificates.evidence import Evidence
from abnet.certificates.facts import Facts, unlike
from abnet.certificates.statements.statement import Side, Statement
from abnet.certificates.terms import Terms
from abnet.utils.natural_order import natural_order
from abnet.utils.wording import confidence, percent_down, percent_up, shortened

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["ConfusionRate", "RateAtLeast", "RateAtMost", "confusion_rates"]

NO_ANSWER = "other or none"
"""Column name of answers that are not one of the classes."""


class ConfusionRate(Statement, frozen=True, kw_only=True):
    """A limit on the share of the rows of a class that get an answer, by Clopper-Pearson.

    Attributes
    ----------
    label, answer : str
    count, n : int
        Rows of the class that get the answer, of all its rows.
    """

    label: str
    answer: str
    count: int
    n: int

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"share of class {self.label} with the answer {self.answer} ({self.side})"

    @property
    def jointly(self) -> str:
        """All limits of a confusion matrix hold jointly."""
        return "confusion"

    def delta_share(self, certificate: "Certificate") -> float:
        """The share of the class, divided evenly among the limits of its possible answers."""
        answers = {part.answer for part in certificate.each(ConfusionRate) if part.label == self.label}
        return share_of_a_limit(certificate.facts.delta_of(self.label), len(answers))

    def check_counts(self, certificate: "Certificate") -> None:
        """The counts of a class add up to its rows, and right answers are those of the facts."""
        facts = certificate.facts
        n = facts.rows_of(self.label)
        self.expect("trained", False, facts.trained)
        self.expect("n", self.n, n)
        of_class = [part for part in certificate.each(ConfusionRate) if part.label == self.label]
        same_side = {part.answer: part.count for part in of_class if part.side == self.side}
        other_side = {part.answer: part.count for part in of_class if part.side != self.side}
        self.expect("count", self.count, other_side.get(self.answer))
        self.expect("count over all answers", sum(same_side.values()), n)
        right = n - facts.errors_of(self.label)
        self.expect(f"count of the answer {self.label}", same_side.get(self.label, 0), right)

    def clause(self, facts: Facts) -> str:
        """The main clause."""
        return f"the share of new rows of class {self.label} that get the answer {self.answer} is {self.value_text}"

    @classmethod
    def joint_sentence(cls, family: Sequence[Statement], certificate: "Certificate", *, details: bool) -> str:
        """What the table of all limits shows."""
        sure = confidence(certificate.delta_of("confusion"))
        return (
            "The table counts the rows of each class by answer. The ranges in brackets bound their share among new "
            f"rows; they hold jointly with {sure} confidence."
        )

    @classmethod
    def joint_table(cls, family: "Sequence[ConfusionRate]") -> list[list[str]]:
        """Confusion matrix, true class by answer: number of rows, and the limits of their share."""
        labels = _in_natural_order([part.label for part in family])
        answers = _in_natural_order([part.answer for part in family])
        answers.sort(key=NO_ANSWER.__eq__)
        limits = {(part.label, part.answer, part.side): part for part in family}
        lines = [["class", *answers]]
        for label in labels:
            cells = []
            for answer in answers:
                low = limits[label, answer, "at least"]
                high = limits[label, answer, "at most"]
                share = f"{percent_down(low.value or 0.0)} to {percent_up(high.value or 0.0)}"
                cells.append(f"{high.count:,} ({share})")
            lines.append([shortened(" ".join(label.split()), 40), *cells])
        return lines


class RateAtLeast(ConfusionRate, frozen=True, tag="confusion, at least"):
    """A lower limit."""

    side: ClassVar[Side] = "at least"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_lower(self.count, self.n, self.delta, n_candidates=self.n_candidates)


class RateAtMost(ConfusionRate, frozen=True, tag="confusion, at most"):
    """An upper limit."""

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.count, self.n, self.delta, n_candidates=self.n_candidates)


def confusion_rates(evidence: Evidence, terms: Terms, *, others: bool = True) -> list[Statement]:
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
    >>> made = confusion_rates(observe([0] * 90 + [1] * 10, [0] * 100, ("no", "yes")), Terms(), others=False)
    >>> [(s.label, s.answer, s.side, round(s.value, 3)) for s in made[:2]]
    [('no', 'no', 'at least', 0.824), ('no', 'no', 'at most', 0.951)]
    """
    if terms.trained:
        raise ValueError("the posterior was trained on these rows, so they cannot bound its error rates on new rows.")
    facts = Facts.of(evidence, terms)
    table = evidence.counts.sum(axis=2)
    answers = list(evidence.classes)
    if others or len(answers) < 2:
        answers.append(unlike(evidence.classes, NO_ANSWER))
    elif table[:, -1].any():
        raise ValueError("some answers are not among the classes: use others=True.")
    made: list[Statement] = []
    for truth, (label, n) in enumerate(zip(facts.classes, facts.class_rows, strict=True)):
        if not n:
            continue
        counts: dict[str, Any] = {
            "label": label,
            "n": n,
            "delta": share_of_a_limit(facts.delta_of(label), len(answers)),
            "n_candidates": terms.n_candidates,
        }
        for answer, count in zip(answers, table[truth, : len(answers)].tolist(), strict=True):
            made.append(RateAtLeast.from_counts(answer=answer, count=count, **counts))
            made.append(RateAtMost.from_counts(answer=answer, count=count, **counts))
    return made


def _in_natural_order(names: Sequence[str]) -> list[str]:
    """The distinct names."""
    distinct = list(dict.fromkeys(names))
    return [distinct[place] for place in natural_order(distinct)]
