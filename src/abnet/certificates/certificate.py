"""`Certificate`: statements from one body of evidence, and the facts that they rest on."""

import os
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from abnet.bounds.rounding import round_up
from abnet.certificates.record_file import read_record, write_record
from abnet.certificates.statement import Checked, Statement

__all__ = ["Certificate", "ClassBounds", "Facts", "Source", "load_certificate"]

Source = Literal["split", "init", "given", "test set"]


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
    source : {"split", "init", "given", "test set"}
        Where the model comes from: learned on other rows of the same table, the random initialisation as prior, a prior
        that was given, or finished elsewhere.
    trained : bool
        Whether the posterior was trained on the counted rows.
    kl : float
        Divergence of the posterior from the prior.
    n_paths : int or None
        Fresh paths of each row that the Gibbs risk was sampled with; None where it is exact.
    vote_paths : int or None
        Paths that vote in ``predict``, drawn once and kept.
    drawn : {"network", "tree"}
        What a draw from the posterior is.
    delta : float
        Maximum probability that a statement, or a family of joint statements, is false.
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
    drawn: Literal["network", "tree"] = "network"
    n_candidates: int = 1

    def __post_init__(self) -> None:
        rows, errors = self.class_rows, self.class_errors
        whole = len(self.classes) == len(rows) == len(errors) and sum(rows) == self.n_rows > 0
        if not whole or not all(0 <= k <= n for k, n in zip(errors, rows, strict=True)):
            raise ValueError("class_rows and class_errors contradict each other, or do not add up to n_rows.")
        if not 0.0 < self.delta < 1.0 or self.n_candidates < 1:
            raise ValueError("delta must lie in (0, 1), and n_candidates must be at least 1.")


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
        """Upper bound on the error rate of the vote on new data; None where no theorem covers it.

        The vote is what ``predict`` answers, unless a decision was certified for it.
        """
        found = (self._value("error", of) for of in ("drawn network", "predict", "vote"))
        return next((value for value in found if value is not None), None)

    @property
    def gibbs_risk_bound(self) -> float | None:
        """Upper bound on the mean error of a network drawn from the posterior."""
        return self._value("Gibbs risk", "draw")

    @property
    def difference_bound(self) -> float | None:
        """Upper bound on the error rate of one model less that of another, where two were compared."""
        return self._value("difference", "two models")

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
    def empirical_gibbs_risk(self) -> float | None:
        """Mean error, on the counted rows, of a network drawn from the posterior."""
        found = self.find("Gibbs risk", "draw")
        if found is None:
            return None
        seen = [found.counted[name] for name in ("risk", "mean", "empirical_risk") if name in found.counted]
        return seen[0] if seen and isinstance(seen[0], float) else None

    @property
    def empirical_error(self) -> float:
        """Share of the counted rows that ``predict`` gets wrong."""
        return sum(self.facts.class_errors) / self.facts.n_rows

    def adding(self, statements: Iterable[Statement]) -> "Certificate":
        """This certificate with further statements from the same rows."""
        return msgspec.structs.replace(self, statements=(*self.statements, *statements))

    def check(self) -> dict[str, Checked]:
        """Compute every statement again from what it records; ValueError names the first that does not follow.

        Returns
        -------
        dict
            From what each is about to "recomputed", or "attainable" where the single values were not kept.
        """
        return {s.about: s.check() for s in self.statements}

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
        return {**self._main(), **msgspec.json.decode(msgspec.json.encode(self))}

    def _main(self) -> dict[str, float | None]:
        names = ("vote_error_bound", "gibbs_risk_bound", "balanced_error_bound")
        return {**{name: getattr(self, name) for name in names}, "delta": self.facts.delta}

    @classmethod
    def from_dict(cls, record: Any) -> "Certificate":
        """Read what `to_dict` wrote, and check every statement; anything wrong is a ValueError."""
        if not isinstance(record, dict):
            raise ValueError("not a certificate: it is not a JSON object.")
        rest = dict(record)
        main = {name: rest.pop(name, None) for name in ("vote_error_bound", "gibbs_risk_bound", "balanced_error_bound")}
        main["delta"] = rest.pop("delta", None)
        try:
            made = msgspec.convert(rest, cls)
            made.check()
        except (msgspec.ValidationError, ArithmeticError) as error:
            raise ValueError(f"not a certificate: {error}") from error
        wrong = [name for name, value in made._main().items() if main[name] != value]
        if wrong:
            raise ValueError(f"not a certificate: {wrong[0]} differs from its statement.")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        write_record(path, "certificate", self.to_dict())


def load_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Read a certificate that ``save`` wrote; every bound is computed again from what was counted.

    Raises
    ------
    ValueError
        If the file holds no certificate, or one that does not follow from its own counts.
    """
    record = read_record(path, "certificate")
    try:
        return Certificate.from_dict(record)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
