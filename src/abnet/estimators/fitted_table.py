"""`FittedTable`: the results that `abnet fit` prints."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.certificates.estimate import Estimate
from abnet.certificates.facts import Facts
from abnet.model.card import Card, Rival
from abnet.tables.notes import Note
from abnet.utils.wording import number_of, percent

__all__ = ["FittedTable"]

_MEASURES = {"None": "error rate", "balanced": "balanced error rate"}
"""What a model is compared with constant answers by, for each class weight; else by the error rate so weighted."""

_ROUNDING = 1e-12
"""Rates that differ by less are equal."""


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
    class_weight : None, "balanced" or mapping
        What the errors of each class weigh, as the classifier was told.
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
    class_weight: Any = None

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
        parts = list(zip(c.facts.class_rows, c.facts.class_errors, strict=True))
        wrong, right = [k == n for n, k in parts], [k == 0 and n > 0 for n, k in parts]
        counted = c.facts.counted()
        if sum(right) == 1 and all(a or b for a, b in zip(wrong, right, strict=True)):
            only = self.classes[right.index(True)]
            return f"This model is useless: it predicts {only} on all {number_of(c.facts.n_rows, counted)}."
        weights = _weights_of(self.class_weight, c.facts)
        rows = [weight * n for weight, n in zip(weights, c.facts.class_rows, strict=True)]
        errors = sum(weight * k for weight, k in zip(weights, c.facts.class_errors, strict=True))
        known = rows[: len(self.classes)]  # no answer is right for other labels
        best = max(known)
        if sum(rows) - best - errors > _ROUNDING * sum(rows):
            return ""
        what = _MEASURES.get(str(self.class_weight), "error rate weighted by class")
        return (
            f"This model is useless: its {what} on the {counted}s is {percent(errors / sum(rows))}, and "
            f"that of always answering {self.classes[known.index(best)]} is {percent(1 - best / sum(rows))}."
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


def _weights_of(class_weight: Any, facts: Facts) -> list[float]:
    """What a row of each class weighs where the model is compared with constant answers.

    A model for rare classes makes more errors in all on purpose, so it is judged by the errors that it was made for.
    """
    if isinstance(class_weight, Mapping):
        weights = {str(label): float(weight) for label, weight in class_weight.items()}
        return [weights.get(name, 1.0) for name in facts.classes]
    return [1.0 / max(n, 1) if class_weight == "balanced" else 1.0 for n in facts.class_rows]
