"""`GroupCertificate`: the error of a model on new groups of rows, such as patients."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.betting import betting_bound
from abnet.bounds.certificate_file import write_record
from abnet.bounds.wording import InNotebooks
from abnet.decisions.groups import group_totals
from abnet.decisions.monitor import (
    confidence,
    paragraphs,
    percent,
    percent_up,
)
from abnet.records import count, exactly, level, list_of, tally

__all__ = ["GroupCertificate"]


@dataclass(frozen=True)
class GroupCertificate(InNotebooks):
    """A bound on the error of a finished model on a new group, averaged over its rows.

    Everything is computed from the recorded counts. The bound is by betting on the groups' error rates, in the order in
    which the groups appear.

    Attributes
    ----------
    errors, rows : tuple of int
        Errors and rows of each group.
    delta : float
        Probability, over the groups, with which the bound may fail.
    n_candidates : int
        Models judged on the same groups.

    Examples
    --------
    >>> certificate = GroupCertificate.from_rows([True] + [False] * 239, np.repeat(np.arange(60), 4), delta=0.05)
    >>> certificate.n_groups, round(certificate.vote_error_bound, 3)
    (60, 0.057)
    """

    errors: tuple[int, ...]
    rows: tuple[int, ...]
    delta: float
    n_candidates: int = 1

    def __post_init__(self) -> None:
        level("delta", self.delta), count("n_candidates", self.n_candidates)
        if not self.rows or len(self.rows) != len(self.errors):
            raise ValueError("not a certificate: errors and rows must hold one number for each of at least one group")
        if any(k > n for k, n in zip(self.errors, self.rows, strict=True)):
            raise ValueError("not a certificate: a group has more errors than rows")

    @classmethod
    def from_rows(cls, wrong: ArrayLike, groups: ArrayLike, *, delta: float, n_candidates: int = 1) -> Self:
        """Count the errors of each group."""
        sums, sizes = group_totals(np.asarray(wrong, dtype=np.float64), groups)
        return cls(tuple(map(int, sums)), tuple(map(int, sizes)), delta, n_candidates)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.rows)

    @property
    def n_examples(self) -> int:
        """Number of rows."""
        return sum(self.rows)

    @property
    def empirical_error(self) -> float:
        """Mean of the groups' error rates."""
        return float(np.mean(np.divide(self.errors, self.rows)))

    @property
    def vote_error_bound(self) -> float:
        """Bound on the error of ``predict`` on a new group, averaged over its rows; rounded up."""
        rates = np.divide(self.errors, self.rows)
        return betting_bound(rates, self.delta, n_candidates=self.n_candidates)

    def describe(self) -> str:
        """Say in plain English what is promised."""
        chosen = f" The choice among {self.n_candidates:,} models is accounted for." if self.n_candidates > 1 else ""
        return paragraphs(
            f"With {confidence(self.delta)} confidence, the error of `predict` on a new group from the same source, "
            f"averaged over its rows, is at most {percent_up(self.vote_error_bound)} (it was "
            f"{percent(self.empirical_error)} on {self.n_groups:,} groups with {self.n_examples:,} rows; every group "
            "counts the same).",
            "This assumes that the groups are independent draws from one source, and that the model was finished, and "
            "chosen, without looking at any row of them. It says nothing about new rows of groups that the model has "
            f"learned from.{chosen}",
        )

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, and the bound, as plain numbers and lists, fit for JSON."""
        record = {**asdict(self), "errors": list(self.errors), "rows": list(self.rows)}
        return {**record, "vote_error_bound": self.vote_error_bound}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; a bound that does not follow from the counts is a ValueError."""
        values = exactly(cls.__name__, record, [*cls.__dataclass_fields__, "vote_error_bound"])
        claimed = values.pop("vote_error_bound")
        for name, check in (("errors", tally), ("rows", count)):
            values[name] = tuple(list_of(check)(name, values[name]))
        made = cls(**values)
        if not isinstance(claimed, float) or abs(claimed - made.vote_error_bound) > 1e-12:
            raise ValueError("the certificate does not follow from its own observations: vote_error_bound")
        return made

    def save(self, path: Any) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        write_record(path, "groups", self.to_dict())
