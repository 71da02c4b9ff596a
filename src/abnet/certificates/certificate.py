"""`Certificate`: statements from the same evidence, and the facts that they depend on."""

import os
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from abnet.bounds.rounding import round_up
from abnet.certificates.agreement import check_agreement
from abnet.certificates.record_file import read_record, write_record
from abnet.certificates.statement import Checked, Statement

__all__ = ["Certificate", "ClassBounds", "Facts", "Source", "load_certificate"]

Source = Literal["split", "init", "given", "test set"]


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the model was made and what was counted on the bound rows; `describe` derives the assumptions from it.

    Attributes
    ----------
    n_rows : int
        Number of bound rows: the rows on which the model is certified.
    n_groups : int or None
        Number of groups of these rows; None if every row is an independent draw.
    classes : tuple of str
        Names of the classes, in order; the last one stands for labels that the model does not know, if there were any.
    class_rows, class_errors : tuple of int
        Bound rows of each class, and wrong answers among them.
    source : {"split", "init", "given", "test set"}
        Where the model comes from: trained on other rows of the same table, the random initialisation as prior, a prior
        given by the user, or a model fitted elsewhere.
    trained : bool
        Whether the posterior was trained on the bound rows.
    kl : float
        Divergence of the posterior from the prior.
    n_paths : int or None
        Number of fresh paths per row with which the Gibbs risk was sampled; None if it is exact.
    vote_paths : int or None
        Number of paths that vote in ``predict``, drawn once and kept.
    drawn : {"network", "tree"}
        What a draw from the posterior is.
    delta : float
        Maximum probability that a statement, or a family of joint statements, is false.
    n_candidates : int
        Number of models among which one is chosen with the bound rows.
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
    """The bounds of a certificate for one class."""

    label: str
    n_examples: int
    vote_errors: int
    vote_error_bound: float | None
    gibbs_risk_bound: float | None
    delta: float | None


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The guarantees about a model, and the counts from which they were computed.

    Each statement holds with its own confidence. Statements with the same value of `jointly` hold jointly.

    Attributes
    ----------
    statements : tuple of Statement
        The most important first.
    facts : Facts
    model : str or None
        Digest of the model (`abnet.model.digest.model_digest`); None for a model of another library, and for one that
        cannot be saved.
    """

    statements: tuple[Statement, ...]
    facts: Facts
    model: str | None = None

    def find(self, quantity: str, of: str, name: str | None = None) -> Statement | None:
        """The first statement with this quantity, object and name; None if there is none."""
        for statement in self.statements:
            if (statement.quantity, statement.of, statement.name) == (quantity, of, name):
                return statement
        return None

    def _value(self, quantity: str, of: str, name: str | None = None) -> float | None:
        found = self.find(quantity, of, name)
        return None if found is None else found.value

    @property
    def vote_error_bound(self) -> float | None:
        """Upper bound on the error rate of the vote on new data; None if no theorem covers it.

        The vote is what ``predict`` returns, unless another decision was certified.
        """
        found = (self._value("error", of) for of in ("drawn network", "predict", "vote"))
        return next((value for value in found if value is not None), None)

    @property
    def gibbs_risk_bound(self) -> float | None:
        """Upper bound on the mean error of a network drawn from the posterior."""
        return self._value("Gibbs risk", "draw")

    @property
    def difference_bound(self) -> float | None:
        """Upper bound on the error rate of model A minus that of model B, if two models were compared."""
        return self._value("difference", "two models")

    @property
    def per_class(self) -> tuple[ClassBounds, ...]:
        """The bounds for each class; a class without bound rows has the bound 1, which uses no share of δ."""
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
        """Error rate, on the bound rows, of always predicting their most common class."""
        rows = self.facts.class_rows
        return 1.0 - max(rows) / sum(rows) if sum(rows) else None

    @property
    def empirical_gibbs_risk(self) -> float | None:
        """Mean error, on the bound rows, of a network drawn from the posterior."""
        found = self.find("Gibbs risk", "draw")
        if found is None:
            return None
        seen = [found.counted[name] for name in ("risk", "mean", "empirical_risk") if name in found.counted]
        return seen[0] if seen and isinstance(seen[0], float) else None

    @property
    def empirical_error(self) -> float:
        """Error rate of ``predict`` on the bound rows."""
        return sum(self.facts.class_errors) / self.facts.n_rows

    def adding(self, statements: Iterable[Statement]) -> "Certificate":
        """This certificate with further statements from the same rows."""
        return msgspec.structs.replace(self, statements=(*self.statements, *statements))

    def check(self) -> dict[str, Checked]:
        """Recompute every statement from its counts, and compare it with the facts and with the other statements.

        A ValueError names the first statement that does not match, and the numbers.

        Returns
        -------
        dict
            Maps the subject of each statement to "recomputed", or to "attainable" if the single values were not stored.
        """
        found = {s.about: s.check() for s in self.statements}
        check_agreement(self)
        return found

    def describe(self, *, details: bool = False) -> str:
        """Describe in plain English what is guaranteed, and under which assumptions."""
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
        """Read the result of `to_dict` and check every statement; raises a ValueError if anything is wrong."""
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
    """Read a certificate written by ``save`` and recompute every bound from its counts.

    Raises
    ------
    ValueError
        If the file does not contain a certificate, or its bounds do not match its counts.
    """
    record = read_record(path, "certificate")
    try:
        return Certificate.from_dict(record)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
