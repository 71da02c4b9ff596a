"""`CounterfactualShare`: how many new rows get another answer if one column is changed."""

from typing import TYPE_CHECKING

from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import first_few, number_of

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["CounterfactualShare"]


class CounterfactualShare(Statement, frozen=True, kw_only=True, tag="counterfactual share"):
    """Share of new rows whose answer changes for another value of one column, by Clopper-Pearson.

    Attributes
    ----------
    column : str
    values : tuple of str
        The values that were tried, fixed before the rows were seen.
    changed, n : int
        Rows with another answer for one of the values, among n rows.
    """

    column: str
    values: tuple[str, ...]
    changed: int
    n: int

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return f"share of answers that depend on {self.column}"

    def bound(self) -> float:
        """Clopper-Pearson."""
        return clopper_pearson_bound(self.changed, self.n, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """All rows are counted."""
        self.expect("trained", False, certificate.facts.trained)
        self.expect("n", self.n, certificate.facts.n_rows)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        values = first_few(self.values)
        return f"{self.value_text} of new rows get another answer if only {self.column} is changed to any of: {values}"

    def seen(self, facts: "Facts") -> str:
        """Rows with another answer."""
        return f" ({self.changed:,} of {number_of(self.n, facts.counted())})"

    @property
    def assumption(self) -> str:
        """What the share does not say."""
        return (
            f"Only the cell in {self.column} is changed: other columns may tell the same thing, so a small share does "
            "not show that the answers are independent of it. The values were fixed before these rows were seen; no "
            "labels were used."
        )
