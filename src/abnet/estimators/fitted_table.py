"""`FittedTable`: the results that `abnet fit` prints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.estimators.useless_model import useless_message
from abnet.model.card import Card, Rival
from abnet.model.model import Model
from abnet.tables.notes import Note

__all__ = ["FittedTable"]


@dataclass(frozen=True)
class FittedTable:
    """The results that `abnet fit` prints.

    Attributes
    ----------
    model : Model
    n_rows : int
        Number of labelled rows of the table.
    notes : tuple of Note
        Notes about the table for the user.
    output : Path
    size : int
        Bytes of the model file.
    replaced : bool
        Whether it replaced an older one.
    class_weight : None, "balanced" or mapping
        What the errors of each class weigh, as the classifier was told.
    """

    model: Model
    n_rows: int
    notes: tuple[Note, ...]
    output: Path
    size: int
    replaced: bool
    class_weight: Any = None

    @property
    def target(self) -> str:
        """Column with the labels."""
        return str(self.card.target)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the model knows."""
        return self.model.labels.names

    @property
    def n_columns(self) -> int:
        """Number of columns that the model uses."""
        return self.model.preparation.n_features_in or self.model.n_inputs

    @property
    def certificate(self) -> Certificate | None:
        """The certificate, if there is one."""
        return self.model.certificate

    @property
    def card(self) -> Card:
        """How the model was made."""
        return self.model.card

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """Logistic regression on the same rows."""
        return self.card.rivals

    @property
    def n_background(self) -> int:
        """Rows of the table that the model keeps for explanations."""
        return len(self.card.background)

    @property
    def headline(self) -> str:
        """A warning that the model is useless, if it is; otherwise empty."""
        if self.certificate is None:
            return ""
        return useless_message(self.certificate.facts, self.classes, self.class_weight)

    def promise(self, *, details: bool = False) -> str:
        """The certificate as text, or why there is none."""
        if self.certificate is None:
            return "There is no certificate: no theorem covers this model.\n"
        return self.certificate.describe(details=details)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        certificate = None
        if self.certificate is not None:
            certificate = self.certificate.to_dict()
        return {
            "target": self.target,
            "classes": self.classes,
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "bound_estimate": self.card.bound_estimate,
            "certificate": certificate,
            "test_set_bounds": [msgspec.structs.asdict(rival) for rival in self.rivals],
            "headline": self.headline,
            "card": self.card.to_dict(),
            "n_background": self.n_background,
            "model": {"path": str(self.output), "bytes": self.size, "replaced": self.replaced},
        }
