"""Two models on the same rows: how much more the one may err than the other, and whether it is surely better."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.clopper_pearson import binomial_tail, clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.wording import InNotebooks
from abnet.checks import Check, apply, count, exactly, level
from abnet.decisions.monitor import (
    confidence,
    paragraphs,
    percent_down,
    percent_up,
)
from abnet.words import number_of

__all__ = ["ErrorComparison", "compare_wrong"]


@dataclass(frozen=True)
class ErrorComparison(InNotebooks):
    r"""The errors of two models A and B on the same rows; everything else follows from the four counts.

    Attributes
    ----------
    n_rows : int
        Bound rows.
    only_a, only_b : int
        Rows where A alone errs, and where B alone does.
    both : int
        Rows where both err.
    delta : float
        Probability with which each statement may fail.
    n_candidates : int
        Number K of pairs judged on the same rows.

    Examples
    --------
    >>> result = ErrorComparison(1000, only_a=10, only_b=40, both=20, delta=0.05)
    >>> round(result.difference_bound, 4), round(result.p_value, 6), result.a_is_better
    (-0.0104, 1.2e-05, True)
    """

    n_rows: int
    only_a: int
    only_b: int
    both: int
    delta: float
    n_candidates: int = 1

    def __post_init__(self) -> None:
        apply(_CHECKS, self)
        if self.only_a + self.only_b + self.both > self.n_rows:
            raise ValueError("not a comparison: only_a + only_b + both exceeds n_rows")

    @property
    def difference_bound(self) -> float:
        r"""Upper limit of ``R_A - R_B``; negative where A is certified to err less often.

        .. math:: R_A - R_B = π_{10} - π_{01} \le \mathrm{CP}(n_{10}, n, δ/2K) - \mathrm{CP_{low}}(n_{01}, n, δ/2K)
        """
        n, pairs = self.n_rows, 2 * self.n_candidates
        most = clopper_pearson_bound(self.only_a, n, self.delta, n_candidates=pairs)
        least = clopper_pearson_lower(self.only_b, n, self.delta, n_candidates=pairs)
        return float(np.nextafter(most - least, 2.0))

    @property
    def p_value(self) -> float:
        r"""Exact one-sided sign test of "A errs at least as often as B", rounded up.

        .. math:: \Pr(\mathrm{Bin}(n_{10} + n_{01}, 1/2) \le n_{10})

        Given how many rows only one of the two gets wrong, those of A are binomial, with a rate of at least 1/2 under
        the hypothesis. No such rows give 1.
        """
        return binomial_tail(self.only_a, self.only_a + self.only_b, 0.5)

    @property
    def a_is_better(self) -> bool:
        """Whether the sign test shows, at δ/K, that A errs less often than B."""
        return self.p_value <= self.delta / self.n_candidates

    def describe(self, *, a: str = "A", b: str = "B") -> str:
        """Say in plain English what is shown; ``a`` and ``b`` are the models' names."""
        return paragraphs(_counts(self, a, b), _difference(self, a, b), _sign_test(self, a, b), _premises(self))

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as a dictionary of plain numbers, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything missing, unknown, of a wrong type or out of range is a ValueError."""
        return cls(**exactly(cls.__name__, record, cls.__dataclass_fields__))


def compare_wrong(
    wrong_a: ArrayLike, wrong_b: ArrayLike, delta: float = 0.05, *, n_candidates: int = 1
) -> ErrorComparison:
    """Compare two models by where each errs on the same independent rows, of which neither saw any.

    Parameters
    ----------
    wrong_a, wrong_b : array-like of bool (n,)
        Whether each model errs on each row; a missing answer or an unknown label is an error.
    delta : float
        Probability with which the bound on the difference, or the verdict, may be false; each by itself.
    n_candidates : int
        Number K of pairs judged on the same rows; the direction of the question counts too: asking "is A better?" and,
        after looking, "is B better?" is two.

    Examples
    --------
    >>> result = compare_wrong([False, True, False, False] * 50, [True, True, False, False] * 50)
    >>> result.only_a, result.only_b, result.both, result.a_is_better
    (0, 50, 50, True)

    References
    ----------
    Q. McNemar (1947), Note on the sampling error of the difference between correlated proportions.
    """
    a, b = _bools("wrong_a", wrong_a), _bools("wrong_b", wrong_b)
    if a.shape != b.shape:
        raise ValueError(f"wrong_a has {len(a)} rows and wrong_b {len(b)}")
    return ErrorComparison(
        len(a), int(np.sum(a & ~b)), int(np.sum(b & ~a)), int(np.sum(a & b)), delta, n_candidates=n_candidates
    )


def _bools(name: str, wrong: ArrayLike) -> NDArray[np.bool_]:
    bad = np.asarray(wrong)
    if bad.dtype != np.bool_ or bad.ndim != 1 or len(bad) == 0:
        raise ValueError(f"{name} must be a vector of at least one bool")
    return bad


def _counts(c: ErrorComparison, a: str, b: str) -> str:
    return (
        f"On {number_of(c.n_rows, 'bound row')}, {a} made {number_of(c.only_a + c.both, 'error')} and {b} "
        f"{c.only_b + c.both:,}: "
        f"{c.only_a:,} by {a} alone, {c.only_b:,} by {b} alone, {c.both:,} by both."
    )


def _difference(c: ErrorComparison, a: str, b: str) -> str:
    bound = c.difference_bound
    if bound < 0.0:
        least = f"is smaller than that of {b} by at least {percent_down(-bound)} of all rows"
    else:
        least = f"exceeds that of {b} by at most {percent_up(bound)} of all rows"
    return f"With {confidence(c.delta)} confidence, the error of {a} on new data from the same source {least}."


def _sign_test(c: ErrorComparison, a: str, b: str) -> str:
    if c.a_is_better:
        verdict = f"{a} errs less often than {b} on new data"
        return f"With {confidence(c.delta)} confidence, {verdict} (exact sign test, p = {c.p_value:.3g})."
    return f"That {a} errs less often than {b} is not shown (exact sign test, p = {c.p_value:.3g})."


def _premises(c: ErrorComparison) -> str:
    chosen = "" if c.n_candidates == 1 else f" The choice among {c.n_candidates:,} candidates is accounted for."
    return (
        f"This assumes that the {number_of(c.n_rows, 'bound row')} and the new data are independent draws from one "
        "source, and that both models, and which of them is to be the better one, were fixed without looking at them. "
        f"Each statement holds by itself, not all at once.{chosen}"
    )


def _number(name: str, value: Any) -> int:
    return count(name, value, least=0)


_CHECKS: dict[str, Check] = {
    "n_rows": count,
    "only_a": _number,
    "only_b": _number,
    "both": _number,
    "delta": level,
    "n_candidates": count,
}
