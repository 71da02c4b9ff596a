"""`GroupErrorBound`: the error rate on a new group, averaged over its rows."""

from typing import TYPE_CHECKING

from abnet.bounds.counted import group_error_bound
from abnet.certificates.evidence import Groups
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.terms import Terms
from abnet.utils.wording import number_of, percent

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["GroupErrorBound"]


class GroupErrorBound(AnswerErrorRate, frozen=True, kw_only=True, tag="error, new group"):
    """Error rate on a new group: betting on the groups' error rates.

    Attributes
    ----------
    rows, errors : tuple of int
        Rows and wrong answers of each group, in the order of the groups' keys.
    """

    rows: tuple[int, ...]
    errors: tuple[int, ...]

    @classmethod
    def of_groups(cls, groups: Groups, terms: Terms) -> "GroupErrorBound":
        """The error rate on a new group."""
        rows, errors, _, _ = groups.in_order()
        return cls.from_counts(
            rows=tuple(rows.tolist()),
            errors=tuple(errors.tolist()),
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def bound(self) -> float:
        """Betting, or Clopper-Pearson if every group has one row."""
        return group_error_bound(self.rows, self.errors, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """The groups add up to the rows and errors of the facts."""
        facts = certificate.facts
        super().check_counts(certificate)
        self.expect("label", self.label, None)
        self.expect("trained", False, facts.trained)
        self.expect("number of groups", len(self.rows), facts.n_groups)
        self.expect("number of groups", len(self.errors), facts.n_groups)
        self.expect("rows", sum(self.rows), facts.n_rows)
        self.expect("errors", sum(self.errors), facts.errors_of(None))
        if any(not 0 <= k <= n for k, n in zip(self.errors, self.rows, strict=True)):
            raise ValueError(f"the {self.about}: a group has more errors than rows.")

    def seen(self, facts: "Facts") -> str:
        """The mean of the groups' error rates, and the number of groups."""
        rates = [k / n for k, n in zip(self.errors, self.rows, strict=True)]
        mean = sum(rates) / len(rates)
        return f" ({percent(mean)} on {number_of(len(rates), facts.counted('group'))})"
