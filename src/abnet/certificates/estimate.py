"""`Estimate`: a number without a guarantee, and the reason."""

import os
from typing import Any, Literal

import msgspec

from abnet.certificates.certificate_file import read_record, write_record
from abnet.utils.html_text import as_html
from abnet.utils.text_layout import paragraphs
from abnet.utils.wording import percent

__all__ = ["Estimate"]


class Estimate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number without a guarantee, and the reason.

    Attributes
    ----------
    quantity : {"error rate", "bound on the Gibbs risk"}
    value : float
    why : str
        Why there is no guarantee, in a sentence or two.
    counted : dict
        The counts from which it was computed.
    """

    quantity: Literal["error rate", "bound on the Gibbs risk"]
    value: float
    why: str
    counted: dict[str, int | float | None] = {}

    def describe(self) -> str:
        """Describe the estimate, and why it is not a certificate."""
        return paragraphs(f"Estimated {self.quantity}: {percent(self.value)}. {self.why}")

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `load_certificate` rejects it, `abnet inspect` shows it."""
        write_record(path, "estimate", self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Estimate":
        """Read a file written by `save`."""
        try:
            return read_record(path, "estimate", lambda record: msgspec.convert(record, cls))
        except msgspec.ValidationError as error:
            raise ValueError(f"{path} does not contain an estimate: {error}") from error
