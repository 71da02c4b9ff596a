"""`Certificate`: statements from the same evidence, and the facts that they depend on."""

import hashlib
import math
import os
from collections.abc import Iterable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from abnet.bounds.rounding import round_up
from abnet.certificates.certificate_file import read_record, write_record
from abnet.certificates.describe import describe
from abnet.certificates.facts import Facts
from abnet.certificates.statements.difference import DifferenceBound
from abnet.certificates.statements.error_rate import AnswerErrorRate, ErrorRate
from abnet.certificates.statements.gibbs_bound import GibbsBound
from abnet.certificates.statements.statement import Checked, Statement, statement_types
from abnet.utils.html_text import as_html

__all__ = ["Certificate", "ClassBounds", "NamedFile", "load_certificate"]

S = TypeVar("S", bound=Statement)

_ROUNDING = 1e-9
"""Shares of thirds do not add up to exactly 1."""

_MAIN = ("vote_error_bound", "gibbs_risk_bound", "balanced_error_bound")
"""Bounds that the JSON form of a certificate names."""


class ClassBounds(NamedTuple):
    """The bounds of a certificate for one class."""

    label: str
    n_examples: int
    vote_errors: int
    vote_error_bound: float | None
    gibbs_risk_bound: float | None
    delta: float | None


class NamedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, known by its content.

    Attributes
    ----------
    name : str
        Its name, without a folder.
    sha256 : str
        Hash of its bytes, in hexadecimal.
    """

    name: str
    sha256: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> "NamedFile":
        """The file at a path."""
        content = Path(path).read_bytes()
        return cls(Path(path).name, hashlib.sha256(content).hexdigest())


class Certificate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The guarantees about a model, and the counts from which they were computed.

    Each statement holds with its own confidence. Statements with the same value of `jointly` hold jointly, and so do
    those with a share of δ.

    Attributes
    ----------
    statements : tuple of Statement
        The most important first.
    facts : Facts
    model : str or None
        Digest of the model (`abnet.model.digest.model_digest`); None for a model of another library, and for one that
        cannot be saved.
    shares : dict of str to float
        The shares of δ of statements that hold jointly, by their `unit`; empty if each holds by itself.
    files : tuple of NamedFile
        For a model of another library: the files that hold it, the model's own first. Nothing reads them but to compare
        their hashes.
    """

    statements: tuple[Statement, ...]
    facts: Facts
    model: str | None = None
    shares: dict[str, float] = {}
    files: tuple[NamedFile, ...] = ()

    def find(self, kind: type[S], label: str | None = None) -> S | None:
        """The first statement of a kind.

        Parameters
        ----------
        kind : subclass of Statement
        label : str, optional
            The class that the statement is about; by default, it is about none.
        """
        for statement in self.each(kind):
            if getattr(statement, "label", None) == label:
                return statement
        return None

    def each(self, kind: type[S]) -> tuple[S, ...]:
        """All statements of a kind."""
        return tuple(statement for statement in self.statements if isinstance(statement, kind))

    def delta_of(self, unit: str) -> float:
        """The δ of a statement, or of a family of joint ones, by its name."""
        return self.facts.delta * self.shares.get(unit, 1.0)

    def _value(self, kind: type[Statement], label: str | None = None) -> float | None:
        found = self.find(kind, label)
        if found is None:
            return None
        return found.value

    @property
    def vote_error_bound(self) -> float | None:
        """Upper bound on the error rate of the vote on new data; None if no theorem covers it.

        The vote is what ``predict`` returns, unless another decision was certified.
        """
        return self._value(ErrorRate)

    @property
    def gibbs_risk_bound(self) -> float | None:
        """Upper bound on the mean error of a network drawn from the posterior."""
        return self._value(GibbsBound)

    @property
    def difference_bound(self) -> float | None:
        """Upper bound on the error rate of model A minus that of model B, if two models were compared."""
        return self._value(DifferenceBound)

    @property
    def per_class(self) -> tuple[ClassBounds, ...]:
        """The bounds for each class; a class without bound rows has the bound 1, which uses no share of δ."""
        if not self.has_error_bounds_by_class and not any(risk.label is not None for risk in self.each(GibbsBound)):
            return ()
        return tuple(self._class_bounds(label) for label in self.facts.classes)

    def _class_bounds(self, label: str) -> ClassBounds:
        n = self.facts.rows_of(label)
        errors = self.facts.errors_of(label)
        error = self.find(AnswerErrorRate, label)
        delta = None
        if error is not None:
            delta = error.delta
        if n == 0:
            return ClassBounds(label, n, errors, 1.0, 1.0, delta)
        return ClassBounds(label, n, errors, self._value(AnswerErrorRate, label), self._value(GibbsBound, label), delta)

    @property
    def has_error_bounds_by_class(self) -> bool:
        """Whether the error rate of each class is bounded."""
        return any(error.label is not None for error in self.each(AnswerErrorRate))

    @property
    def balanced_error_bound(self) -> float | None:
        """Upper bound on the mean of the classes' error rates."""
        bounds = [part.vote_error_bound for part in self.per_class]
        known = [bound for bound in bounds if bound is not None]
        if not known or len(known) < len(bounds):
            return None
        return min(1.0, round_up(sum(known) / len(known)))

    @property
    def counts_plain_vote(self) -> bool:
        """Whether the errors are those of the plain vote, because answers follow a decision chosen on these rows."""
        error = self.find(AnswerErrorRate)
        return error is not None and error.answers == "vote"

    @property
    def abstains(self) -> bool:
        """Whether rows without an answer count as errors of a model that abstains."""
        error = self.find(AnswerErrorRate)
        return error is not None and error.answers == "or none"

    @property
    def begins_with_gibbs_risk(self) -> bool:
        """Whether the Gibbs risk comes first: for a network trained through its bound, as in the paper."""
        return self.facts.trained and self.gibbs_risk_bound is not None

    def shows_gibbs_risk_by_class(self, *, details: bool) -> bool:
        """Whether the description has bounds on the Gibbs risk of each class."""
        if not details and not self.begins_with_gibbs_risk:
            return False
        return any(risk.label is not None for risk in self.each(GibbsBound))

    @property
    def majority_class_error(self) -> float:
        """Error rate, on the bound rows, of always predicting their most common class."""
        rows = self.facts.class_rows
        return 1.0 - max(rows) / sum(rows)

    @property
    def empirical_gibbs_risk(self) -> float | None:
        """Mean error, on the bound rows, of a network drawn from the posterior."""
        found = self.find(GibbsBound)
        if found is None:
            return None
        return found.risk

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
        found = {statement.about: statement.check() for statement in self.statements}
        self.check_agreement()
        return found

    def check_agreement(self) -> None:
        """Compare the statements with the facts and with each other, without recomputing them.

        What the facts do not determine is not checked: the Gibbs losses behind an empirical risk, a density ratio, the
        costs of rows, the target of a goal, where the model comes from, and whether a statement is missing. That is the
        arithmetic of a certificate, not its truth: files have a checksum against accidents, but are not signed.

        Examples
        --------
        >>> from abnet.certificates.evidence import observe
        >>> from abnet.certificates.from_evidence import certify
        >>> from abnet.certificates.terms import Terms
        >>> made = certify(observe([0] * 99 + [1], [0] * 100, ("no", "yes")), Terms(source="test set"))
        >>> others = msgspec.structs.replace(made.facts, n_rows=400, class_rows=(400, 0))
        >>> msgspec.structs.replace(made, facts=others).check_agreement()
        Traceback (most recent call last):
        ValueError: the error rate has n = 100, but by the facts it is 400.
        """
        self.facts.check()
        self._check_shares()
        subjects = set()
        rules: dict[Any, str] = {}
        for statement in self.statements:
            if statement.about in subjects:
                raise ValueError(f"the {statement.about} is stated twice.")
            subjects.add(statement.about)
            statement.check_against(self)
            rule = getattr(statement, "rule", None)
            if rule is not None:
                rules[rule] = statement.about
        if len(rules) > 1:
            (first, one), (second, other) = list(rules.items())[:2]
            raise ValueError(f"the {one} is about the decision {first}, but the {other} about {second}.")
        goals = [statement.about for statement in self.statements if statement.is_goal]
        if len(goals) > 1:
            raise ValueError(f"the {goals[0]} and the {goals[1]} are both what the decision is for: it has one goal.")

    def _check_shares(self) -> None:
        """Raise a ValueError unless the shares of δ are those of statements, and add up to at most 1."""
        units = {statement.unit for statement in self.statements}
        for name, share in self.shares.items():
            if name not in units or not share > 0.0:
                raise ValueError(f"{name!r} has the share {share} of δ, but there is no such statement or share.")
        total = math.fsum(self.shares.values())
        if total > 1.0 + _ROUNDING:
            raise ValueError(f"the shares of δ add up to {total}.")

    def describe(self, *, details: bool = False) -> str:
        """Describe in plain English what is guaranteed, and under which assumptions."""
        return describe(self, details=details)

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: the main bounds by name, then statements and facts."""
        record = msgspec.json.decode(msgspec.json.encode(self))
        for name in ("shares", "files"):
            if not record[name]:
                del record[name]
        return {**self._main(), **record}

    def _main(self) -> dict[str, float | None]:
        bounds = {name: getattr(self, name) for name in _MAIN}
        return {**bounds, "delta": self.facts.delta}

    @classmethod
    def from_dict(cls, record: Any) -> "Certificate":
        """Read the result of `to_dict` and check every statement; raises a ValueError if anything is wrong."""
        try:
            made = cls._unchecked(record)
            made.check()
        except (msgspec.ValidationError, ArithmeticError) as error:
            raise ValueError(f"not a certificate: {error}") from error
        for name, value in made._main().items():
            if record.get(name) != value:
                raise ValueError(f"not a certificate: {name} differs from its statement.")
        return made

    @classmethod
    def _unchecked(cls, record: Any) -> "Certificate":
        """The certificate in plain values, whether or not it is true."""
        if not isinstance(record, dict):
            raise ValueError("not a certificate: it is not a JSON object.")
        if set(record) - {*_MAIN, "delta", "statements", "facts", "model", "shares", "files"}:
            raise ValueError("not a certificate: it has unknown fields.")
        kinds = reduce(or_, statement_types())
        return cls(
            statements=msgspec.convert(record.get("statements"), tuple[kinds, ...]),  # type: ignore[valid-type]
            facts=msgspec.convert(record.get("facts"), Facts),
            model=msgspec.convert(record.get("model"), str | None),
            shares=msgspec.convert(record.get("shares", {}), dict[str, float]),
            files=msgspec.convert(record.get("files", ()), tuple[NamedFile, ...]),
        )

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
    return read_record(path, "certificate", Certificate.from_dict)
