"""`Certificate`: statements from one body of evidence, and the facts that they rest on."""

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from abnet.bounds.rounding import round_up
from abnet.certificates.statement import Checked, Statement

__all__ = ["Certificate", "ClassBounds", "Facts", "Source", "load_certificate"]

Source = Literal["split", "init", "test set"]

_FORMAT = "abnet certificate, version 2"
_MOST_BYTES = 2**26


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the model was made and what was counted; the assumptions in words follow from it.

    Attributes
    ----------
    n_rows : int
        Counted rows.
    n_groups : int or None
        Groups that they come in; None where every row is a draw of its own.
    classes : tuple of str
        Names of the classes, in order; a last one for labels that the model does not know, if there were any.
    class_rows, class_errors : tuple of int
        Counted rows of each class, and wrong answers among them.
    source : {"split", "init", "test set"}
        Where the model comes from: learned on other rows of the same table, the random initialisation as prior, or
        finished elsewhere.
    trained : bool
        Whether the posterior was trained on the counted rows.
    kl : float
        Divergence of the posterior from the prior.
    n_paths : int or None
        Fresh paths of each row that the Gibbs risk was sampled with; None where it is exact.
    vote_paths : int or None
        Paths that vote in ``predict``, drawn once and kept.
    drawn : {"network", "mean field"}
        What a draw from the posterior is.
    delta : float
        Probability with which each statement, or each family of joint statements, may be false.
    n_candidates : int
        Models among which one is chosen by means of the counted rows.
    """

    n_rows: int
    classes: tuple[str, ...]
    class_rows: tuple[int, ...]
    class_errors: tuple[int, ...]
    source: Source
    delta: float
    n_groups: int | None = None
    trained: bool = False
    kl: float = 0.0
    n_paths: int | None = None
    vote_paths: int | None = None
    drawn: Literal["network", "mean field"] = "network"
    n_candidates: int = 1


class ClassBounds(NamedTuple):
    """What a certificate says of one class."""

    label: str
    n_examples: int
    vote_errors: int
    vote_error_bound: float | None
    gibbs_risk_bound: float | None
    delta: float | None


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that is promised about a model, and what it was computed from.

    Each statement holds with its own confidence. Those that carry the same word in `jointly` hold all at once.

    Attributes
    ----------
    statements : tuple of Statement
        The most important first.
    facts : Facts
    """

    statements: tuple[Statement, ...]
    facts: Facts

    def find(self, quantity: str, of: str, name: str | None = None) -> Statement | None:
        """The first statement about this, or None."""
        for statement in self.statements:
            if (statement.quantity, statement.of, statement.name) == (quantity, of, name):
                return statement
        return None

    def _value(self, quantity: str, of: str, name: str | None = None) -> float | None:
        found = self.find(quantity, of, name)
        return None if found is None else found.value

    @property
    def vote_error_bound(self) -> float | None:
        """Upper bound on the error rate of ``predict`` on new data; None where no theorem covers it."""
        return self._value("error", "predict")

    @property
    def gibbs_risk_bound(self) -> float | None:
        """Upper bound on the mean error of a network drawn from the posterior."""
        return self._value("Gibbs risk", "draw")

    @property
    def per_class(self) -> tuple[ClassBounds, ...]:
        """What is said of each class; a class without counted rows has the bound 1, which costs nothing."""
        if not any(s.of == "class" for s in self.statements):
            return ()
        views = []
        for name, n, k in zip(self.facts.classes, self.facts.class_rows, self.facts.class_errors, strict=True):
            error, gibbs = self.find("error", "class", name), self.find("Gibbs risk", "class", name)
            bound, risk = (1.0 if n == 0 else None if s is None else s.value for s in (error, gibbs))
            views.append(ClassBounds(name, n, k, bound, risk, None if error is None else error.delta))
        return tuple(views)

    @property
    def balanced_error_bound(self) -> float | None:
        """Upper bound on the mean of the classes' error rates."""
        bounds = [part.vote_error_bound for part in self.per_class]
        known = [bound for bound in bounds if bound is not None]
        return min(1.0, round_up(sum(known) / len(known))) if known and len(known) == len(bounds) else None

    @property
    def majority_class_error(self) -> float | None:
        """Share of the counted rows on which always answering their commonest class errs."""
        rows = self.facts.class_rows
        return 1.0 - max(rows) / sum(rows) if sum(rows) else None

    @property
    def empirical_error(self) -> float:
        """Share of the counted rows that ``predict`` gets wrong."""
        return sum(self.facts.class_errors) / self.facts.n_rows

    def check(self) -> dict[str, Checked]:
        """Compute every statement again from what it records; ValueError names the first that does not follow.

        Returns
        -------
        dict
            From "quantity of what" to "recomputed", or "attainable" where the single values were not kept.
        """
        return {" ".join(filter(None, (s.quantity, "of", s.of, s.name))): s.check() for s in self.statements}

    def describe(self, *, details: bool = False) -> str:
        """Say in plain English what is promised and what it assumes."""
        from abnet.certificates.sentences import describe

        return describe(self, details=details)

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        from abnet.certificates.sentences import as_html

        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the main bounds by name, then statements and facts."""
        main = {name: getattr(self, name) for name in ("vote_error_bound", "gibbs_risk_bound", "balanced_error_bound")}
        return {**main, "delta": self.facts.delta, **msgspec.to_builtins(self)}

    @classmethod
    def from_dict(cls, record: Any) -> "Certificate":
        """Read what `to_dict` wrote, and check every statement; anything wrong is a ValueError."""
        try:
            parts = {name: record[name] for name in ("statements", "facts")}
            made = msgspec.convert(parts, cls)
        except (msgspec.ValidationError, KeyError, TypeError) as error:
            raise ValueError(f"not a certificate: {error}") from error
        made.check()
        for name in ("vote_error_bound", "gibbs_risk_bound", "balanced_error_bound"):
            if name in record and record[name] != getattr(made, name):
                raise ValueError(f"not a certificate: {name} differs from its statement.")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        from abnet.atomic import atomic_path

        text = msgspec.json.format(msgspec.json.encode({"format": _FORMAT, "certificate": self.to_dict()}))
        with atomic_path(path) as temporary:
            temporary.write_bytes(text + b"\n")


def load_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate that ``save`` wrote; every bound is computed again from what was counted.

    Raises
    ------
    ValueError
        If the file holds no certificate, or one that does not follow from its own counts.
    """
    file = Path(path)
    if file.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path} is too large for a certificate.")
    try:
        content = msgspec.json.decode(file.read_bytes())
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} is not a certificate: it is not JSON.") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{path} is not a certificate that abnet wrote.")
    try:
        return Certificate.from_dict(content.get("certificate"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
