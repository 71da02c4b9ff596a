"""`FittedTable`: the results that `abnet fit` prints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.certificates.statement import Estimate
from abnet.model.card import Card, Rival
from abnet.tables.notes import Note
from abnet.utils.wording import percent

__all__ = ["FittedTable"]


@dataclass(frozen=True)
class FittedTable:
    """The results that `abnet fit` prints.

    Attributes
    ----------
    target : str
    classes : tuple of str
    n_rows, n_columns : int
        Rows of the table, and columns that the model uses.
    certificate : Certificate or None
    bound_estimate : Estimate or None
        The bound if it is only an estimate.
    rivals : tuple of Rival
        Logistic regression on the same rows.
    notes : tuple of Note
        Notes about the table for the user.
    card : Card
        How the model was made.
    output : Path
    size : int
        Bytes of the model file.
    replaced : bool
        Whether it replaced an older one.
    """

    target: str
    classes: tuple[str, ...]
    n_rows: int
    n_columns: int
    certificate: Certificate | None
    bound_estimate: Estimate | None
    rivals: tuple[Rival, ...]
    notes: tuple[Note, ...]
    card: Card
    output: Path
    size: int
    replaced: bool

    @property
    def n_background(self) -> int:
        """Rows of the table that the model keeps for explanations."""
        return len(self.card.background)

    @property
    def vote_bound(self) -> float | None:
        """The certified bound on the error of `predict`, if there is one."""
        return None if self.certificate is None else self.certificate.vote_error_bound

    @property
    def headline(self) -> str:
        """A warning that the model is useless, if it is; otherwise empty."""
        c = self.certificate
        if c is None:
            return ""
        errors, n = sum(c.facts.class_errors), c.facts.n_rows
        parts = list(zip(c.facts.class_rows, c.facts.class_errors, strict=True))
        wrong, right = [k == n for n, k in parts], [k == 0 and n > 0 for n, k in parts]
        if sum(right) == 1 and all(a or b for a, b in zip(wrong, right, strict=True)):
            only = self.classes[right.index(True)]
            return f"This model is useless: it predicts {only} on all {n:,} held-out rows."
        known = c.facts.class_rows[: len(self.classes)]  # no answer is right for other labels
        base = 1 - max(known) / n
        if errors < base * n:
            return ""
        commonest = self.classes[known.index(max(known))]
        return (
            f"This model is useless: its error rate on the held-out rows is {percent(errors / n)}, and "
            f"always answering {commonest} has an error rate of {percent(base)}."
        )

    def promise(self, *, details: bool = False) -> str:
        """The certificate as text, or why there is none."""
        if self.certificate is None:
            return "There is no certificate: no theorem covers this model.\n"
        return self.certificate.describe(details=details)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        certificate = None if self.certificate is None else self.certificate.to_dict()
        return {
            **{name: getattr(self, name) for name in ("target", "classes", "n_rows", "n_columns")},
            "bound_estimate": None if self.bound_estimate is None else self.bound_estimate.value,
            "certificate": certificate,
            "test_set_bounds": [msgspec.structs.asdict(rival) for rival in self.rivals],
            "headline": self.headline,
            "card": self.card.to_dict(),
            "n_background": self.n_background,
            "model": {"path": str(self.output), "bytes": self.size, "replaced": self.replaced},
        }
