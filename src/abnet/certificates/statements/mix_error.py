"""`KnownMixError` and `UnknownMixError`: the error rate on new data with other shares of the classes."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import msgspec
import numpy as np

from abnet.bounds.label_shift import known_mix_bound, possible_shares, unknown_mix_bound
from abnet.certificates.evidence import Evidence
from abnet.certificates.facts import Facts
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.statement import Answers, Checked, Statement
from abnet.certificates.terms import Terms
from abnet.utils.natural_order import natural_order
from abnet.utils.wording import first_few, number_of, percent_down, percent_up, stated

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["KnownMixError", "MixError", "UnknownMixError", "shares_of_mix"]

# Solvers of linear programs agree up to this much.
_SOLVER = 1e-9
# Shares given by the user may be rounded by this much.
_ROUNDED = 1e-6


class MixError(Statement, frozen=True, kw_only=True):
    """An upper bound on the error rate where the classes have other shares, but the rows of each class look the same.

    Attributes
    ----------
    classes : tuple of str
    answers : {"predict", "vote", "or none"}
        Which answers count as errors.
    """

    classes: tuple[str, ...]
    answers: Answers = "predict"

    def counting(self, answers: Answers) -> Self:
        """The statement about these answers."""
        return msgspec.structs.replace(self, answers=answers)

    def check_counts(self, certificate: "Certificate") -> None:
        """The classes are those of the facts."""
        facts = certificate.facts
        self.expect("trained", False, facts.trained)
        self.expect("classes", self.classes, facts.classes)
        overall = certificate.find(AnswerErrorRate)
        if overall is not None:
            self.expect("answers", self.answers, overall.answers)

    @property
    def _rate(self) -> str:
        if self.answers == "or none":
            return "share of wrong answers and rows without an answer"
        return "error rate"

    @property
    def assumption(self) -> str:
        """That only the shares of the classes change."""
        return (
            "For the bound at another class mix, the shares of the classes in the new data may differ from those of "
            "the held-out rows, but the rows within each class must look as before (label shift). It is void if they "
            "do not, and no bound holds for an arbitrary change."
        )

    def _in_natural_order(self) -> list[int]:
        return natural_order(self.classes)


class KnownMixError(MixError, frozen=True, kw_only=True, tag="error, known mix"):
    """Error rate where class j has the declared share: the mean of limits of the classes that hold jointly.

    Attributes
    ----------
    shares : tuple of float
        Share of each class in the new data.
    rows, errors : tuple of int
        Held-out rows of each class, and wrong answers among them.
    """

    shares: tuple[float, ...]
    rows: tuple[int, ...]
    errors: tuple[int, ...]

    @classmethod
    def of_mix(cls, facts: Facts, mix: Mapping[Any, float], terms: Terms) -> Self:
        """The error rate at this mix."""
        return cls.from_counts(
            classes=facts.classes,
            shares=shares_of_mix(mix, facts.classes),
            rows=facts.class_rows,
            errors=facts.class_errors,
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate at the given class mix"

    def bound(self) -> float:
        """`abnet.bounds.label_shift.known_mix_bound`; a class without a share needs no limit, and takes no δ."""
        has_share = np.array(self.shares) > 0.0
        rows = np.where(has_share, self.rows, 0).tolist()
        errors = np.where(has_share, self.errors, 0).tolist()
        return known_mix_bound(rows, errors, self.shares, self.delta, n_candidates=self.n_candidates)

    def check_counts(self, certificate: "Certificate") -> None:
        """Rows and errors are those of the facts, and the shares sum to 1."""
        super().check_counts(certificate)
        self.expect("rows", self.rows, certificate.facts.class_rows)
        self.expect("errors", self.errors, certificate.facts.class_errors)
        self.expect("number of shares", len(self.shares), len(self.classes))
        if not math.isclose(math.fsum(self.shares), 1.0, abs_tol=1e-9):
            raise ValueError(f"the {self.about} has shares that sum to {math.fsum(self.shares)}, not 1.")

    def clause(self, facts: Facts) -> str:
        """The main clause."""
        used = [place for place in self._in_natural_order() if self.shares[place] > 0.0]
        mix = first_few([f"{stated(round(self.shares[place], 9))} {self.classes[place]}" for place in used])
        return f"the {self._rate} on new data with the class mix {mix} is {self.value_text}"

    def seen(self, facts: Facts) -> str:
        """Errors and rows of each class."""
        counted = []
        for place in self._in_natural_order():
            if self.shares[place] > 0.0:
                errors = number_of(self.errors[place], "error")
                counted.append(f"{errors} on {number_of(self.rows[place], 'row')} of class {self.classes[place]}")
        return f" ({first_few(counted)})"


class UnknownMixError(MixError, frozen=True, kw_only=True, tag="error, unknown mix"):
    """Error rate on data from which unlabelled rows were answered, and the shares of the classes there.

    Attributes
    ----------
    confusion : tuple of tuple of int
        Held-out rows by class and answer: the classes in their order, and then, unless the model gives only these
        answers, other answers and none.
    new_answers : tuple of int
        How often each answer was given on the unlabelled rows.
    shares : tuple of (float, float)
        Lower and upper limit of the share of each class in the new data; they hold jointly with the bound.
    """

    confusion: tuple[tuple[int, ...], ...]
    new_answers: tuple[int, ...]
    shares: tuple[tuple[float, float], ...] = ()

    @classmethod
    def from_counts(cls, **counts: Any) -> Self:
        """State what the counts prove; the shares are computed."""
        made = super().from_counts(**counts)
        return msgspec.structs.replace(made, shares=made._possible_shares())

    @classmethod
    def of_answers(
        cls, evidence: Evidence, facts: Facts, new_answers: Sequence[int], terms: Terms, *, others: bool
    ) -> Self:
        """The error rate on the data that the unlabelled rows come from."""
        classes = evidence.classes
        if facts.classes != classes:
            raise ValueError(
                "some held-out rows have a label that the model does not know: leave them out to bound the error rate "
                "at an unknown class mix."
            )
        width = len(classes)
        if others:
            width += 1
        table = evidence.counts.sum(axis=2)[: len(classes)]
        if table[:, width:].any() or sum(new_answers[width:]):
            raise ValueError("some answers are not among the classes: use others=True.")
        return cls.from_counts(
            classes=classes,
            confusion=tuple(tuple(row) for row in table[:, :width].tolist()),
            new_answers=tuple(new_answers[:width]),
            delta=terms.delta,
            n_candidates=terms.n_candidates,
        )

    def for_candidates(self, n_candidates: int) -> Self:
        """The same statement for a choice among so many models."""
        made = super().for_candidates(n_candidates)
        return msgspec.structs.replace(made, shares=made._possible_shares())

    @property
    def about(self) -> str:
        """The subject in a few words."""
        return "error rate at the class mix of unlabelled rows"

    @property
    def _flat(self) -> list[int]:
        return list(chain.from_iterable(self.confusion))

    def bound(self) -> float:
        """`abnet.bounds.label_shift.unknown_mix_bound`."""
        return unknown_mix_bound(self._flat, self.new_answers, self.delta, n_candidates=self.n_candidates)

    def _possible_shares(self) -> tuple[tuple[float, float], ...]:
        return tuple(possible_shares(self._flat, self.new_answers, self.delta, n_candidates=self.n_candidates))

    def check(self) -> Checked:
        """Solve the linear programs again; solvers differ in the last digits."""
        shares = list(chain.from_iterable(self.shares))
        self.expect_numbers("shares", shares, list(chain.from_iterable(self._possible_shares())), _SOLVER)
        self.expect_numbers("values", [self.value], [self.bound()], _SOLVER)
        return "recomputed"

    def check_counts(self, certificate: "Certificate") -> None:
        """The confusion matrix has the rows and errors of the facts."""
        facts = certificate.facts
        super().check_counts(certificate)
        self.expect("classes of the confusion matrix", len(self.confusion), len(self.classes))
        if len(self.new_answers) not in (len(self.classes), len(self.classes) + 1):
            raise ValueError(f"the {self.about} counts {len(self.new_answers)} answers of {len(self.classes)} classes.")
        for place, row in enumerate(self.confusion):
            self.expect("answers", len(row), len(self.new_answers))
            self.expect("rows", sum(row), facts.class_rows[place])
            self.expect("errors", sum(row) - row[place], facts.class_errors[place])

    def clause(self, facts: Facts) -> str:
        """The main clause."""
        limits = []
        for place in self._in_natural_order():
            low, high = self.shares[place]
            limits.append(f"{self.classes[place]} {percent_down(low)} to {percent_up(high)}")
        return (
            f"the {self._rate} on data like the {number_of(sum(self.new_answers), 'unlabelled row')} is "
            f"{self.value_text}, and the shares of the classes there are {'; '.join(limits)}"
        )

    def seen(self, facts: Facts) -> str:
        """Labelled rows and errors."""
        errors = int(np.sum(facts.class_errors))
        return f" ({number_of(errors, 'error')} on {number_of(facts.n_rows, facts.counted())} with the old class mix)"

    @property
    def assumption(self) -> str:
        """Label shift, and where the unlabelled rows come from."""
        return (
            f"{super().assumption} The unlabelled rows are independent draws from the new data and took no part in "
            "making the model; they can refute label shift, but not prove it."
        )


def shares_of_mix(mix: Mapping[Any, float], classes: Sequence[str]) -> tuple[float, ...]:
    """The share of each class, in the order of the classes; one class that is not named gets the rest.

    Examples
    --------
    >>> shares_of_mix({"fraud": 0.25}, ("fraud", "ok"))
    (0.25, 0.75)
    >>> shares_of_mix({"frad": 0.25}, ("fraud", "ok"))
    Traceback (most recent call last):
    ValueError: the mix names 'frad', which is not a class; the classes are fraud, ok.
    """
    given = {str(label): float(share) for label, share in mix.items()}
    for label, share in given.items():
        if label not in classes:
            raise ValueError(f"the mix names {label!r}, which is not a class; the classes are {first_few(classes)}.")
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"the share of class {label!r} must lie between 0 and 1; got {share}.")
    others = [label for label in classes if label not in given]
    total = math.fsum(given.values())
    if len(others) == 1 and total <= 1.0:
        given[others[0]] = 1.0 - total
        total = 1.0
    if abs(total - 1.0) > _ROUNDED:
        left = ""
        if others:
            left = f"; name the shares of all classes but one ({first_few(others)} have none)"
        raise ValueError(f"the shares of the mix sum to {total:g}, not 1{left}.")
    return tuple(given.get(label, 0.0) / total for label in classes)
