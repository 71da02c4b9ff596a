"""Abstaining: answer only where the score is high enough, with a certified error among the answered rows."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.certificate_file import write_record
from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.wording import InNotebooks
from abnet.checks import Check, apply, count, exactly, level, optional, probability, real
from abnet.decisions.fixed_sequence import error_free_rows, fixed_sequence, rows_needed
from abnet.decisions.monitor import (
    confidence,
    paragraphs,
    percent,
    percent_down,
    stated,
)
from abnet.decisions.thresholds import cuts_below
from abnet.words import number_of

__all__ = [
    "ANSWER_ALL",
    "Abstention",
    "RiskCoverage",
    "abstention",
    "risk_coverage",
    "score_thresholds",
]

#: A threshold below every score: all rows are answered.
ANSWER_ALL = -1.0
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Abstention(InNotebooks):
    """A threshold above which rows are answered, the error certified among them, and how many of them there are.

    The error bound holds with probability at least 1-δ over the bound rows, the coverage bound with probability at
    least 1 - ``coverage_delta``; not both at once. `threshold` is None where nothing could be certified.

    Attributes
    ----------
    threshold : float or None
        Rows with a larger score are answered.
    error_bound : float or None
        Bound on the error *among answered rows*, the target; None where nothing could be certified.
    coverage_bound : float or None
        Lower limit of the share of new rows that are answered.
    target : float
        The error that was asked for.
    delta, coverage_delta : float
        Probabilities with which either bound may fail.
    n_rows, n_answered, n_errors : int
        Bound rows, those above the threshold, and the errors among these; those of the first threshold where nothing
        could be certified.
    n_thresholds, n_passed : int
        Thresholds that were fixed in advance, and how many of them passed in their order.
    n_candidates : int
        Models judged on the same rows.
    rows_needed : int or None
        Where nothing could be certified: an estimate of the bound rows that would do; None if no number would.

    Examples
    --------
    >>> scores, wrong = np.linspace(1.0, 0.0, 400), np.arange(400) > 380
    >>> abstention(scores, wrong, [0.5, 0.25, ANSWER_ALL], target=0.05).threshold
    0.25
    """

    threshold: float | None
    error_bound: float | None
    coverage_bound: float | None
    target: float
    delta: float
    coverage_delta: float
    n_rows: int
    n_answered: int
    n_errors: int
    n_thresholds: int
    n_passed: int
    n_candidates: int
    rows_needed: int | None

    def __post_init__(self) -> None:
        apply(_CHECKS, self)
        for ok, complaint in _contradictions(self):
            if not ok:
                raise ValueError(f"not a certificate: {complaint}")

    def describe(self) -> str:
        """Say in plain English what is promised."""
        return paragraphs(*(_not_certified(self) if self.threshold is None else _certified(self)))

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers, fit for JSON."""
        return asdict(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        write_record(path, "abstention", self.to_dict())

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything missing, unknown, of a wrong type or contradictory is a ValueError."""
        return cls(**exactly(cls.__name__, record, cls.__dataclass_fields__))


@dataclass(frozen=True)
class RiskCoverage:
    """Error among answered rows against the share answered, with limits that hold at all thresholds at once.

    Attributes
    ----------
    thresholds : tuple of float
        Falling; fixed before the bound rows were seen.
    answered, errors : tuple of int
        Bound rows above each threshold, and the errors among them.
    n_rows : int
        Number of bound rows.
    delta : float
        Probability with which any error bound may fail; and, apart from that, any coverage bound.
    error_bounds, coverage_bounds : tuple of float
        Upper limits of the errors among answered rows and lower limits of the shares answered, δ/G each.
    n_candidates : int
        Models judged on the same rows.

    Examples
    --------
    >>> curve = risk_coverage(np.linspace(1.0, 0.0, 400), np.arange(400) > 380, [0.5, ANSWER_ALL])
    >>> [round(bound, 3) for bound in curve.error_bounds], [round(bound, 3) for bound in curve.coverage_bounds]
    ([0.018, 0.073], [0.45, 0.991])
    """

    thresholds: tuple[float, ...]
    answered: tuple[int, ...]
    errors: tuple[int, ...]
    n_rows: int
    delta: float
    error_bounds: tuple[float, ...]
    coverage_bounds: tuple[float, ...]
    n_candidates: int = 1

    def picture(self, path: str | os.PathLike[str], *, target: float | None = None) -> None:
        """Draw the errors seen and their certified band over the share of rows answered (PNG, SVG or PDF)."""
        from abnet.decisions.pictures import risk_coverage_figure, save_picture

        save_picture(risk_coverage_figure(self, target=target), path)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers and lists, fit for JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def score_thresholds(
    validation_scores: ArrayLike, n_rows: int, target: float, delta: float = 0.05, *, n_thresholds: int = 20
) -> tuple[float, ...]:
    r"""Thresholds from validation rows of the first part, to be tested on bound rows from the first to the last.

    The first leaves the share :math:`2 \lceil \ln δ/\ln(1-ε) \rceil / n` of the validation rows: on the n bound rows
    about twice the rows that certify the target without an error, room for an error or two. The shares then grow evenly
    to 1, where every row is answered. Rows that are tied with the last of them are answered too: a model that is
    equally sure of many rows would otherwise begin with none. A threshold lies halfway
    between two scores (`abnet.decisions.thresholds`), so that a row of the same score as another is answered like it,
    whatever its last bit.

    Parameters
    ----------
    validation_scores : array-like
        Scores ``|F(x)|``, or largest probabilities, of rows that are *not* bound rows; not negative.
    n_rows : int
        Number of bound rows.
    target, delta : float
        The error to be certified among answered rows, and the probability with which that may fail.
    n_thresholds : int
        How many; fewer are returned where scores are tied.

    Returns
    -------
    tuple of float
        Falling.

    Examples
    --------
    >>> [round(t, 3) for t in score_thresholds(np.linspace(0.0, 1.0, 101), n_rows=300, target=0.05, n_thresholds=4)]
    [0.595, 0.395, 0.195, -1.0]
    """
    scores = _scores("validation_scores", validation_scores)
    first = min(1.0, 2.0 * error_free_rows(target, delta) / count("n_rows", n_rows))
    shares = np.linspace(first, 1.0, count("n_thresholds", n_thresholds))
    partial = shares[shares < 1.0]
    quantiles = np.quantile(scores, 1.0 - partial, method="lower")
    return (*(float(t) for t in cuts_below(scores, quantiles)[::-1]), ANSWER_ALL)


def abstention(
    scores: ArrayLike,
    wrong: ArrayLike,
    thresholds: ArrayLike,
    target: float,
    delta: float = 0.05,
    *,
    coverage_delta: float | None = None,
    n_candidates: int = 1,
) -> Abstention:
    r"""Certify the lowest threshold whose answered rows have at most the target error, by the fixed sequence.

    .. math:: R(t_j) = \Pr(\text{wrong} \mid s > t_j) \le ε \text{ for all } j \le J,\quad
              J = \max\{J : \Pr(\mathrm{Bin}(m_j, ε) \le k_j) \le δ/K \;\forall j \le J\}

    With probability at least 1-δ over n independent rows, for a model, scores and thresholds that were fixed before
    they were seen. Given ``m_j``, the errors among the answered rows are binomial. The coverage bound pays for
    the choice of the threshold: it is the Clopper-Pearson lower limit at ``coverage_delta / G``, because which of the G
    thresholds is reported depends on the same rows.

    Parameters
    ----------
    scores : array-like (n,)
        How sure the model is of each bound row; not negative.
    wrong : array-like of bool (n,)
        Whether it errs there; a missing answer or an unknown label is an error.
    thresholds : array-like (G,)
        Falling, from :func:`score_thresholds` for instance; never from the bound rows.
    target : float
        The error ε to be certified among answered rows.
    delta, coverage_delta : float
        Probabilities with which the error bound and the coverage bound may fail; the same one by default.
    n_candidates : int
        Number K of models judged on the same rows.

    Returns
    -------
    Abstention
        Its `threshold` is None if not even the first threshold passed.

    Examples
    --------
    >>> scores, wrong = np.linspace(1.0, 0.0, 400), np.arange(400) > 380
    >>> result = abstention(scores, wrong, [0.5, 0.25, ANSWER_ALL], target=0.05)
    >>> result.threshold, result.n_answered, result.n_errors, round(result.coverage_bound, 3)
    (0.25, 300, 0, 0.701)

    References
    ----------
    Y. Geifman, R. El-Yaniv (2017), Selective classification for deep neural networks; A. N. Angelopoulos et al. (2021),
    Learn then Test.
    """
    n, m, k, t = _counts(scores, wrong, thresholds)
    passed = fixed_sequence(k, m, target, delta, n_candidates=n_candidates)
    at = max(passed - 1, 0)
    limit = level("coverage_delta", delta if coverage_delta is None else coverage_delta)
    return Abstention(
        threshold=t[at] if passed else None,
        error_bound=target if passed else None,
        coverage_bound=_coverage(m[at], n, limit, len(t), n_candidates) if passed else None,
        target=target,
        delta=delta,
        coverage_delta=limit,
        n_rows=n,
        n_answered=m[at],
        n_errors=k[at],
        n_thresholds=len(t),
        n_passed=passed,
        n_candidates=n_candidates,
        rows_needed=None if passed else rows_needed(k[0], m[0], n, target, delta / n_candidates),
    )


def risk_coverage(
    scores: ArrayLike, wrong: ArrayLike, thresholds: ArrayLike, delta: float = 0.05, *, n_candidates: int = 1
) -> RiskCoverage:
    r"""Risk-coverage curve with limits at all G thresholds at once.

    .. math:: R(t_j) \le \mathrm{CP}(k_j, m_j, δ/(KG)), \qquad \Pr(s > t_j) \ge \mathrm{CP_{low}}(m_j, n, δ/(KG))

    All error bounds hold together with probability at least 1-δ, and so do all coverage bounds; the one promise does
    not include the other. A threshold above which there is no row has the bound 1.

    Parameters
    ----------
    scores, wrong, thresholds, n_candidates
        As for :func:`abstention`.
    delta : float
        Probability with which any of the error bounds may fail.

    Examples
    --------
    >>> [round(bound, 4) for bound in risk_coverage([0.9, 0.8, 0.2], [False, False, True], [0.95, 0.5]).error_bounds]
    [1.0, 0.8419]

    References
    ----------
    Y. Geifman, R. El-Yaniv (2017), Selective classification for deep neural networks.
    """
    n, m, k, t = _counts(scores, wrong, thresholds)
    tests = len(t) * count("n_candidates", n_candidates)
    errors = [clopper_pearson_bound(a, b, delta, n_candidates=tests) if b else 1.0 for a, b in zip(k, m, strict=True)]
    shares = [_coverage(b, n, delta, len(t), n_candidates) for b in m]
    return RiskCoverage(t, m, k, n, level("delta", delta), tuple(errors), tuple(shares), n_candidates)


def _coverage(answered: int, n: int, delta: float, n_thresholds: int, n_candidates: int) -> float:
    return clopper_pearson_lower(answered, n, delta, n_candidates=n_thresholds * n_candidates)


def _counts(
    scores: ArrayLike, wrong: ArrayLike, thresholds: ArrayLike
) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[float, ...]]:
    """Rows, answered rows and errors among them at each threshold, and the thresholds."""
    s, t = _scores("scores", scores), np.asarray(thresholds, dtype=np.float64)
    bad = np.asarray(wrong)
    if bad.dtype != np.bool_ or bad.shape != s.shape:
        raise ValueError(f"wrong must hold one bool for each of the {len(s)} scores")
    if t.ndim != 1 or len(t) == 0 or not np.all(np.isfinite(t)) or not np.all(np.diff(t) < 0.0):
        raise ValueError("thresholds must be finite and fall, and there must be at least one")
    m = len(s) - np.searchsorted(np.sort(s), t, side="right")
    k = int(bad.sum()) - np.searchsorted(np.sort(s[bad]), t, side="right")
    return len(s), tuple(int(x) for x in m), tuple(int(x) for x in k), tuple(float(x) for x in t)


def _scores(name: str, scores: ArrayLike) -> Array:
    s = np.asarray(scores, dtype=np.float64)
    if s.ndim != 1 or len(s) == 0 or not np.all(np.isfinite(s)) or s.min() < 0.0:
        raise ValueError(f"{name} must be a vector of at least one number, finite and not negative")
    return s


def _certified(a: Abstention) -> tuple[str, ...]:
    return (
        f"With {confidence(a.delta)} confidence, at most {stated(a.target)} of the answers are wrong on new data "
        f"from the same source, if only rows with a score above {a.threshold!r} are answered "
        f"({number_of(a.n_errors, 'error')} among {a.n_answered:,} answered of {number_of(a.n_rows, 'bound row')}).",
        f"With {confidence(a.coverage_delta)} confidence, at least {percent_down(a.coverage_bound or 0.0)} of new rows "
        f"are answered ({percent(a.n_answered / a.n_rows)} of the bound rows were). Each of the two statements holds "
        "by itself, not both at once, and the first says nothing about rows that are not answered.",
        _premises(a),
    )


def _not_certified(a: Abstention) -> tuple[str, ...]:
    if a.rows_needed is None:
        needed = "The model errs too often there: no number of rows would certify it at this rate."
    else:
        needed = f"At this rate, about {number_of(a.rows_needed, 'bound row')} would do."
    return (
        f"An error of at most {stated(a.target)} among answered rows could not be certified with "
        f"{confidence(a.delta)} confidence: the rows of which the model is surest had "
        f"{number_of(a.n_errors, 'error')} among {a.n_answered:,}, of {number_of(a.n_rows, 'bound row')}. {needed}",
        _premises(a),
    )


def _premises(a: Abstention) -> str:
    chosen = "" if a.n_candidates == 1 else f" The choice among {a.n_candidates:,} candidates is accounted for."
    return (
        f"This assumes that the {number_of(a.n_rows, 'bound row')} and the new data are independent draws from one "
        f"source, and that the model and the {number_of(a.n_thresholds, 'threshold')} were fixed without looking at "
        f"them.{chosen}"
    )


def _contradictions(a: Abstention) -> list[tuple[bool, str]]:
    none = a.threshold is None
    bounds = (a.error_bound, a.coverage_bound)
    honest = none or a.coverage_bound == _coverage(
        a.n_answered, a.n_rows, a.coverage_delta, a.n_thresholds, a.n_candidates
    )
    passes = fixed_sequence([a.n_errors], [a.n_answered], a.target, a.delta, n_candidates=a.n_candidates) == 1
    return [
        (a.n_errors <= a.n_answered <= a.n_rows, "n_errors <= n_answered <= n_rows does not hold"),
        (a.n_passed <= a.n_thresholds and (a.n_passed == 0) == none, "n_passed does not go with the threshold"),
        (all((bound is None) == none for bound in bounds), "threshold and bounds go together"),
        (none or a.error_bound == a.target, "error_bound is not the target"),
        (honest, "coverage_bound does not follow from the counts"),
        (a.n_errors > a.n_answered or passes != none, "the counts do not pass the test, or pass without a threshold"),
        (none or a.rows_needed is None, "rows_needed is for what could not be certified"),
    ]


def _number(name: str, value: Any) -> int:
    return count(name, value, least=0)


_CHECKS: dict[str, Check] = {
    "threshold": optional(real),
    "error_bound": optional(probability),
    "coverage_bound": optional(probability),
    "target": level,
    "delta": level,
    "coverage_delta": level,
    "n_rows": count,
    "n_answered": _number,
    "n_errors": _number,
    "n_thresholds": count,
    "n_passed": _number,
    "n_candidates": count,
    "rows_needed": optional(count),
}
