"""`GapBound`: limits on a rate in every group of a declared column, and its largest gap between two groups."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from abnet.bounds.gaps import joint_limits, largest_gap
from abnet.certificates.evidence import Evidence
from abnet.certificates.planning import rows_for_gap
from abnet.certificates.population_rows import PopulationRows
from abnet.certificates.requests import Gaps
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.statement import Answers, Checked, Statement
from abnet.certificates.terms import Terms
from abnet.utils.wording import confidence, first_few, number_of, percent, percent_down, percent_up, shortened

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["GapBound", "GroupRate", "Rate", "group_limits", "group_seen"]

Rate = Literal["error", "true-positive", "false-positive", "selection"]
"""Wrong answers among all rows; positive answers among the rows of the positive class, among the rows of all other
classes, and among all rows."""

PLANNED_GAP = 0.1
"""The gap for which the message about a group without rows names the rows that are needed."""


class GroupRate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rate in one group.

    Attributes
    ----------
    group : str
    count, n : int
        Rows that the rate counts, of `n` rows of the group.
    low, high : float
        Limits of the rate among new rows of the group.
    """

    group: str
    count: int
    n: int
    low: float = 0.0
    high: float = 1.0


class GapBound(Statement, frozen=True, kw_only=True, tag="gap"):
    """Limits on a rate in every group, by Clopper-Pearson, and the largest gap between two groups.

    The limits of all groups hold jointly, and the gap follows from them. The limits of another rate are another
    statement. A group is a population of its own: its rate among new rows is fixed before the rows are seen, and given
    the groups and the labels of all rows the counts are binomial. So it chooses nothing that only groups with held-out
    rows are listed; other groups have no limits.

    Attributes
    ----------
    rate : {"error", "true-positive", "false-positive", "selection"}
    groups : tuple of GroupRate
    column : str
        Name of the column; empty if unknown.
    positive : str or None
        The class that the rate is about; None for the error rate.
    joint_over : {"groups"}
        What the limits hold jointly over: all groups, for this rate.
    answers : {"predict", "vote", "or none"}
        Which answers count as errors.
    """

    rate: Rate
    groups: tuple[GroupRate, ...]
    column: str = ""
    positive: str | None = None
    joint_over: Literal["groups"] = "groups"
    answers: Answers = "predict"

    @classmethod
    def from_counts(cls, **counts: Any) -> Self:
        """State what the counts of all groups prove; their limits are computed."""
        return cls(value=None, **counts)._proven()

    def _proven(self) -> Self:
        """The statement with the limits that follow from the counts, and the gap that follows from the limits."""
        limited = msgspec.structs.replace(self, groups=self._with_limits())
        return msgspec.structs.replace(limited, value=limited._gap())

    @classmethod
    def of_groups(cls, evidence: Evidence, terms: Terms, gaps: Gaps) -> "list[GapBound]":
        """The error rate; for a positive class also the true-positive, false-positive and selection rate."""
        populations = sorted(evidence.populations.items(), key=lambda item: item[0])
        if len(populations) < 2:
            only = ", ".join(name for name, _ in populations)
            raise ValueError(f"gaps need at least two groups, but all rows are in the group {only!r}.")
        tables = {"error": [_counted(name, rows.errors, rows.n) for name, rows in populations]}
        positive = None
        if gaps.positive is not None:
            positive = str(gaps.positive)
            if positive not in evidence.classes:
                raise ValueError(
                    f"positive must be one of the classes ({first_few(evidence.classes)}); got {positive!r}."
                )
            tables |= _positive_rates(populations, evidence.classes.index(positive))
        made = []
        for rate, groups in tables.items():
            about = positive
            if rate == "error":
                about = None
            made.append(
                cls.from_counts(
                    rate=rate,
                    groups=tuple(groups),
                    column=gaps.column,
                    positive=about,
                    delta=terms.delta,
                    n_candidates=terms.n_candidates,
                )
            )
        return made

    def for_candidates(self, n_candidates: int) -> Self:
        """The same statement for a choice among so many models."""
        return msgspec.structs.replace(self, n_candidates=n_candidates)._proven()

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"largest gap in {self.rate} rate"

    @property
    def _counts(self) -> list[int]:
        return [part.count for part in self.groups]

    @property
    def _rows(self) -> list[int]:
        return [part.n for part in self.groups]

    @property
    def _empty(self) -> list[str]:
        """Groups without rows that the rate could count."""
        return [part.group for part in self.groups if part.n == 0]

    def bound(self) -> float | None:
        """`abnet.bounds.gaps.gap_bound`: by the limits of all groups; None if a group has no rows."""
        return msgspec.structs.replace(self, groups=self._with_limits())._gap()

    def _gap(self) -> float | None:
        """The largest gap that the stated limits allow."""
        if self._empty:
            return None
        return largest_gap([(part.low, part.high) for part in self.groups])

    def _with_limits(self) -> tuple[GroupRate, ...]:
        """The groups with the limits that follow from the counts."""
        limits = joint_limits(self._counts, self._rows, self.delta, n_candidates=self.n_candidates)
        return tuple(
            msgspec.structs.replace(part, low=low, high=high)
            for part, (low, high) in zip(self.groups, limits, strict=True)
        )

    def check(self) -> Checked:
        """Recompute the gap and the limits of every group."""
        known = self._proven()
        self.expect_numbers("limits", self._numbers(), known._numbers())
        return self._recomputed(known.value)

    def _numbers(self) -> list[float]:
        return list(chain.from_iterable((part.low, part.high) for part in self.groups))

    @property
    def jointly(self) -> str:
        """The limits of all groups hold jointly, for one rate."""
        return f"gaps in {self.rate} rate"

    def counting(self, answers: Answers) -> Self:
        """The statement about these answers."""
        return msgspec.structs.replace(self, answers=answers)

    # The facts

    def check_counts(self, certificate: "Certificate") -> None:
        """The groups add up to the rows and errors of the facts, and the rates agree with each other."""
        facts = certificate.facts
        self.expect("trained", False, facts.trained)
        overall = certificate.find(AnswerErrorRate)
        if overall is not None:
            self.expect("answers", self.answers, overall.answers)
        if len(self.groups) < 2 or len({part.group for part in self.groups}) < len(self.groups):
            raise ValueError(f"the {self.about} needs two different groups or more.")
        for part in self.groups:
            self.expect_at_most(f"count of group {part.group}", part.count, part.n)
        by_rate = {part.rate: part for part in certificate.each(GapBound)}
        if "error" not in by_rate or len(by_rate) not in (1, 4):
            raise ValueError(
                f"the {self.about} needs the error rates of the groups, and all rates of a positive class."
            )
        if self.rate == "error":
            self.expect("positive", self.positive, None)
            self.expect("rows of all groups", sum(self._rows), facts.n_rows)
            self.expect("errors of all groups", sum(self._counts), facts.errors_of(None))
        else:
            self._check_positive(by_rate, facts)

    def _check_positive(self, by_rate: "dict[Rate, GapBound]", facts: "Facts") -> None:
        """The rates of the positive class fit together, group by group."""
        errors = by_rate["error"]
        found = by_rate["true-positive"]
        alarms = by_rate["false-positive"]
        selected = by_rate["selection"]
        self.expect("groups", [part.group for part in self.groups], [part.group for part in errors.groups])
        self.expect("column", self.column, errors.column)
        self.expect("positive", self.positive, found.positive)
        if self.positive is None:
            raise ValueError(f"the {self.about} does not name the positive class.")
        positives = facts.rows_of(self.positive)
        self.expect("rows of the positive class", sum(found._rows), positives)
        self.expect("right answers", sum(found._counts), positives - facts.errors_of(self.positive))
        self.expect("rows of all groups", selected._rows, errors._rows)
        both = [one + other for one, other in zip(found._rows, alarms._rows, strict=True)]
        self.expect("rows of the groups", both, errors._rows)
        answered = [one + other for one, other in zip(found._counts, alarms._counts, strict=True)]
        self.expect("positive answers of the groups", selected._counts, answered)
        for part, hits, others in zip(errors.groups, found.groups, alarms.groups, strict=True):
            self.expect_at_most(f"errors of group {part.group}", hits.n - hits.count + others.count, part.count)

    # Words

    @property
    def name(self) -> str:
        """The rate in words."""
        if self.rate == "error" and self.answers == "or none":
            return "share of wrong answers and rows without an answer"
        return f"{self.rate} rate"

    def _defined(self) -> str:
        """Which rows and answers a rate of a positive class counts, in brackets."""
        if self.rate == "error":
            return ""
        rows = {
            "true-positive": f"of rows of class {self.positive}",
            "false-positive": "of rows of all other classes",
            "selection": "of all rows",
        }
        return f" (the share {rows[self.rate]} with the answer {self.positive})"

    @property
    def _any_two(self) -> str:
        if self.column:
            return f"any two groups by {self.column}"
        return "any two groups"

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        largest = percent_up(self.value or 0.0).removesuffix("%")
        return (
            f"the {self.name}{self._defined()} of {self._any_two} differs by at most {largest} percentage points on "
            "new rows"
        )

    def not_shown(self, facts: "Facts") -> str:
        """Which groups have no rows, and how many would be needed."""
        seen = sum(self._counts) / max(1, sum(self._rows))
        n = rows_for_gap(seen, len(self.groups), PLANNED_GAP, self.delta / self.n_candidates)
        which = "rows"
        if self.rate == "true-positive":
            which = f"rows of class {self.positive}"
        elif self.rate == "false-positive":
            which = f"rows that are not of class {self.positive}"
        return (
            f"The {self.about} could not be certified with {confidence(self.delta)} confidence: there are no held-out "
            f"{which} in group {first_few(self._empty)}. If all groups have the rate that was seen in the others, "
            f"about {n:,} such rows in each group certify a gap of at most {percent(PLANNED_GAP).removesuffix('%')} "
            "percentage points."
        )

    @property
    def assumption(self) -> str:
        """What holds jointly, and for which groups."""
        return (
            "The limits of one rate hold jointly for all groups, together with its largest gap; different rates do not "
            "hold jointly (divide delta among those that you rely on). Groups without held-out rows are not covered."
        )

    @classmethod
    def joint_sentence(cls, family: Sequence[Self], certificate: "Certificate", *, details: bool) -> str:
        """The largest gap."""
        return " ".join(part.sentence(certificate.facts) for part in family)

    @classmethod
    def joint_table(cls, family: Sequence[Self]) -> list[list[str]]:
        """The limits of every group."""
        lines = []
        for part in family:
            lines.append([part.name, "seen", "limits"])
            lines += [[_cell(group.group), group_seen(group), group_limits(group)] for group in part.groups]
        return lines


def group_seen(part: GroupRate) -> str:
    """The observed rate of a group, with its counts."""
    if part.n == 0:
        return "no rows"
    return f"{percent(part.count / part.n)} ({part.count:,} of {number_of(part.n, 'row')})"


def group_limits(part: GroupRate) -> str:
    """The limits of a group's rate."""
    return f"{percent_down(part.low)} to {percent_up(part.high)}"


def _cell(name: str) -> str:
    return shortened(" ".join(name.split()), 40)


def _counted(name: str, count: int, n: int) -> GroupRate:
    return GroupRate(group=name, count=count, n=n)


def _positive_rates(populations: Sequence[tuple[str, PopulationRows]], code: int) -> dict[str, list[GroupRate]]:
    """The rates of a positive class in every group."""
    tables: dict[str, list[GroupRate]] = {"true-positive": [], "false-positive": [], "selection": []}
    for name, rows in populations:
        positives = rows.of_class(code)
        selected = rows.answered(code)
        right = rows.right(code)
        tables["true-positive"].append(_counted(name, right, positives))
        tables["false-positive"].append(_counted(name, selected - right, rows.n - positives))
        tables["selection"].append(_counted(name, selected, rows.n))
    return tables
