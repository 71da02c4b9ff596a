"""`Statement`: one guarantee with everything needed to recompute it."""

import math
import sys
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import msgspec

from abnet.utils.lazy import import_folder
from abnet.utils.wording import confidence, percent_down, percent_up

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["Answers", "Checked", "Side", "Statement", "TableLine", "statement_types"]

Side = Literal["at most", "at least"]
Checked = Literal["recomputed", "attainable"]

Answers = Literal["predict", "vote", "or none"]
"""Which answers count as errors: wrong ones of ``predict``; wrong ones of the plain vote, if ``predict`` follows
another decision; wrong and missing ones of a ``predict`` that abstains."""

# The logarithm of another machine may differ in the last digits.
_TOLERANCE = 1e-12

S = TypeVar("S", bound="Statement")


class TableLine(NamedTuple):
    """A line in the table of a decision rule: what is bounded, the bound in words, and the count of how many rows."""

    what: str
    bound: str
    number: int
    n: int


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One guarantee: with probability at least 1-δ over the bound rows, a quantity is at most (or at least) a value.

    A subclass adds what was counted as fields, and says how the bound follows from it (`bound`), what the facts of a
    certificate say about the counts (`check_counts`), and how it reads (`clause`, `seen`). Its ``tag`` names it in
    JSON; a class without a tag is abstract. Statements are made with `from_counts`.

    Attributes
    ----------
    value : float or None
        None if nothing could be certified.
    delta : float
        Maximum probability that this statement is false.
    n_candidates : int
        Number of models (and thresholds) compared on the same rows; the bound accounts for it.

    Examples
    --------
    >>> from abnet.certificates.statements.error_bound import ErrorBound
    >>> made = ErrorBound.from_counts(errors=6, n=228, delta=0.05)
    >>> round(made.value, 3), made.check()
    (0.051, 'recomputed')
    """

    value: float | None
    delta: float
    n_candidates: int = 1

    side: ClassVar[Side] = "at most"
    counts_groups: ClassVar[bool] = False
    """Whether the statement may count groups; all others count rows."""
    about_decision: ClassVar[bool] = False
    """Whether the statement is about the model's decision, where that is not the most likely class."""
    chose_decision: ClassVar[bool] = False
    """Whether the decision was chosen with the rows that the statement counts."""
    is_detail: ClassVar[bool] = False
    """Whether the statement is only shown with ``details``, if there is a bound on the error rate of the answers."""
    premises: ClassVar[tuple[str, ...]] = ()
    """What is assumed of models that were trained elsewhere, in place of the usual premise."""

    def __post_init__(self) -> None:
        if self.__struct_config__.tag is None:
            name = type(self).__name__
            raise TypeError(f"{name} is abstract: a statement needs a tag, as in class {name}(Statement, tag='...').")
        if not 0.0 < self.delta < 1.0 or self.n_candidates < 1:
            raise ValueError("delta must lie in (0, 1), and n_candidates must be at least 1.")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"the value of a statement must be a finite number; got {self.value}.")

    @classmethod
    def from_counts(cls, **counts: Any) -> Self:
        """State what the counts prove.

        Parameters
        ----------
        **counts
            The fields of the class, except for `value`.
        """
        unproven = cls(value=None, **counts)
        return msgspec.structs.replace(unproven, value=unproven.bound())

    def for_candidates(self, n_candidates: int) -> Self:
        """The same statement for a choice among so many models."""
        changed = msgspec.structs.replace(self, n_candidates=n_candidates)
        return msgspec.structs.replace(changed, value=changed.bound())

    # The bound

    @property
    @abstractmethod
    def about(self) -> str:
        """The subject in a few words; it is unique within a certificate."""

    @abstractmethod
    def bound(self) -> float | None:
        """The value that follows from the counts; None if they prove nothing."""

    def check(self) -> Checked:
        """Recompute the value; raises a ValueError if it does not follow from the counts.

        Returns
        -------
        {"recomputed", "attainable"}
            "attainable" if single values would be needed, and some values with the stored mean give this bound.
        """
        return self._recomputed(self.bound())

    def expect_numbers(
        self, what: str, stated: Sequence[float | None], known: Sequence[float | None], tolerance: float = _TOLERANCE
    ) -> None:
        """Raise a ValueError if numbers differ from those that follow from the counts."""
        pairs = zip(stated, known, strict=False)
        if len(stated) != len(known) or not all(_same_bound(one, other, tolerance) for one, other in pairs):
            raise ValueError(
                f"the {what} of the {self.about} do not follow from what was counted: they are {list(stated)}, "
                f"recomputed {list(known)}."
            )

    def _recomputed(self, bound: float | None) -> Checked:
        if not _same_bound(self.value, bound):
            raise ValueError(
                f"the {self.about} does not follow from what was counted: it says {self.value}, recomputed {bound}."
            )
        return "recomputed"

    # The facts

    @property
    def jointly(self) -> str | None:
        """Statements of one certificate with the same value hold jointly, with the sum of their δ."""
        return None

    @property
    def unit(self) -> str:
        """The name by which `joint` refers to it: that of its family, or its subject."""
        return self.jointly or self.about

    @property
    def is_goal(self) -> bool:
        """Whether the model's decision was made to keep this promise."""
        return False

    @property
    def n_choices(self) -> int:
        """Number of decisions among which one was chosen with the same rows, for each candidate."""
        return 1

    def delta_share(self, certificate: "Certificate") -> float:
        """The δ that this statement may use if it holds by itself; those of a family add up to that of the facts."""
        return certificate.facts.delta

    @abstractmethod
    def check_counts(self, certificate: "Certificate") -> None:
        """Raise a ValueError if the counts contradict the facts or another statement."""

    def check_against(self, certificate: "Certificate") -> None:
        """Raise a ValueError if the statement contradicts the certificate; it names both numbers."""
        facts = certificate.facts
        self.expect("n_candidates", self.n_candidates, facts.n_candidates * self.n_choices)
        if not self.counts_groups:
            self.expect("n_groups", None, facts.n_groups)
        share = self.delta_share(certificate) * certificate.shares.get(self.unit, 1.0)
        if not math.isclose(self.delta, share, rel_tol=_TOLERANCE):
            raise ValueError(f"the {self.about} has delta = {self.delta}, but by the facts it is {share}.")
        self.check_counts(certificate)

    def expect(self, what: str, stated: Any, known: Any) -> None:
        """Raise a ValueError if two values differ."""
        if stated != known:
            raise ValueError(f"the {self.about} has {what} = {stated}, but by the facts it is {known}.")

    def expect_at_most(self, what: str, stated: float, known: float) -> None:
        """Raise a ValueError if a number is larger than the other one."""
        if stated > known:
            raise ValueError(f"the {self.about} has {what} = {stated}, but by the facts it is at most {known}.")

    def cut_counts(self) -> dict[str, int]:
        """What the statement counts of a cut, by the names of `abnet.certificates.statements.cut_check.check_cut`."""
        return {}

    def counting(self, answers: Answers) -> "Statement":
        """The statement about these answers, if it counts wrong answers."""
        return self

    # Words

    @abstractmethod
    def clause(self, facts: "Facts") -> str:
        """The main clause, such as "the error rate on new data is at most 5%"."""

    def seen(self, facts: "Facts") -> str:
        """The counts in brackets, after a space; empty by default."""
        return ""

    def not_shown(self, facts: "Facts") -> str:
        """The sentence if there is no value."""
        return f"The {self.about} could not be certified with {confidence(self.delta)} confidence."

    def sentence(self, facts: "Facts") -> str:
        """The statement as a sentence.

        Examples
        --------
        >>> from abnet.certificates.evidence import observe
        >>> from abnet.certificates.from_evidence import certify
        >>> from abnet.certificates.terms import Terms
        >>> made = certify(observe([0] * 99 + [1], [0] * 100, ("no", "yes")), Terms(source="test set"))
        >>> print(made.statements[0].sentence(made.facts))
        With 95% confidence, the error rate on new data is at most 4.7% (1 error on 100 held-out rows).
        """
        if self.value is None:
            return self.not_shown(facts)
        return f"With {confidence(self.delta)} confidence, {facts.condition}{self.clause(facts)}{self.seen(facts)}."

    @property
    def value_text(self) -> str:
        """The value as it is printed: upper bounds are rounded up, lower bounds down."""
        assert self.value is not None
        if self.side == "at most":
            return f"at most {percent_up(self.value)}"
        return f"at least {percent_down(self.value)}"

    def table_line(self) -> TableLine | None:
        """The line in the table of the decision rule; None if it is not in the table."""
        return None

    @property
    def only_in_table(self) -> bool:
        """Whether the table of the decision rule replaces the sentence."""
        return False

    @property
    def headline_note(self) -> str | None:
        """A sentence after the headline about the goal; None if there is none."""
        return None

    @property
    def warning(self) -> str | None:
        """A sentence about a decision that treats nearly all rows in the same way; None if it does not."""
        return None

    @property
    def assumption(self) -> str | None:
        """A sentence about what the statement assumes, beyond what all of them do."""
        return None

    @classmethod
    def joint_sentence(cls: type[S], family: Sequence[S], certificate: "Certificate", *, details: bool) -> str | None:
        """One sentence about statements that hold jointly; None if it is not shown."""
        return None

    @classmethod
    def joint_table(cls: type[S], family: Sequence[S]) -> list[list[str]]:
        """The cells of a table of statements that hold jointly; empty if there is none."""
        return []


def _same_bound(stated: float | None, bound: float | None, tolerance: float = _TOLERANCE) -> bool:
    if stated is None or bound is None:
        return stated is None and bound is None
    return math.isclose(stated, bound, rel_tol=tolerance, abs_tol=tolerance)


def statement_types() -> tuple[type[Statement], ...]:
    """All kinds of statements: those of this folder, and those that modules of other packages define."""
    _import_this_folder()
    kinds: dict[object, type[Statement]] = {}
    for kind in _descendants(Statement):
        tag = kind.__struct_config__.tag
        if tag is None:
            continue
        if tag in kinds:
            raise TypeError(f"{kinds[tag].__name__} and {kind.__name__} have the same tag {tag!r}; choose another one.")
        kinds[tag] = kind
    return tuple(kinds.values())


@cache
def _import_this_folder() -> None:
    import_folder(sys.modules[__name__.rpartition(".")[0]])


def _descendants(kind: type[Statement]) -> Iterator[type[Statement]]:
    for child in kind.__subclasses__():
        yield child
        yield from _descendants(child)
