"""`plan`: how many labelled rows a promise will probably need.

All rates are estimates, so this is planning and no guarantee. `rows_needed` is the same calculation for a goal that was
not met, from the rates that were observed.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrin, ndtri

from abnet.bounds.gaps import gap_bound
from abnet.bounds.prediction_sets import set_rank
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.parameters import check_fraction, check_positive
from abnet.utils.text_layout import paragraphs
from abnet.utils.wording import confidence, given_percent, number_of

__all__ = ["LIKELY", "Plan", "plan", "rows_for_gap", "rows_needed", "trials_for_limit"]

LIKELY = 0.8
"""Probability with which the rows that `rows_needed` names certify the limit, if the rates are as observed."""

MOST_TRIALS = 10**9
"""More trials than this are never suggested."""

# Numbers of failures that are looked at around the last one that does not suffice.
_AROUND = 100


def trials_for_limit(rate: float, limit: float, delta: float = 0.05, power: float = 0.9) -> int | None:
    r"""Smallest n from which on n trials certify a limit of the failure rate with some probability.

    .. math:: \Pr(\mathrm{CP}(\mathrm{Bin}(n, p), n, δ) \le ε) \ge \text{power}

    The number of allowed failures is an integer, so this probability is a sawtooth in n: it falls until one more
    failure is allowed. The result is the smallest n for which no larger number falls below the power.

    Parameters
    ----------
    rate : float
        The true rate p of failures, to be expected.
    limit : float
        The rate ε to certify.
    delta : float
        Maximum probability that the certificate fails.
    power : float
        Probability with which the limit is certified, if p is true.

    Returns
    -------
    int or None
        None if p is not below ε, or more than `MOST_TRIALS` would be needed.

    Examples
    --------
    >>> [trials_for_limit(rate, 0.05) for rate in (0.02, 0.03, 0.04)]
    [361, 900, 3871]
    """
    if rate >= limit:
        return None
    spread = -ndtri(delta) * math.sqrt(limit * (1.0 - limit)) + ndtri(power) * math.sqrt(rate * (1.0 - rate))
    about = (spread / (limit - rate)) ** 2
    if about > MOST_TRIALS:
        return None
    # Far above the number that is needed nothing fails, so a failure at the end of the window moves it up.
    first = 0
    last = int(about * limit) + _AROUND
    if last > 10 * _AROUND:
        first = last - 2 * _AROUND
    while True:
        failing = _last_failing(first, last, rate, limit, delta, power)
        if failing is not None and failing > last - _AROUND // 4:
            first = last
            last += 2 * _AROUND
        elif failing is None and first > 0:
            first = max(0, first - 2 * _AROUND)
        else:
            break
    enough = 0
    if failing is not None:
        enough = failing + 1
    return _fewest(enough, limit, delta)


def _last_failing(first: int, last: int, rate: float, limit: float, delta: float, power: float) -> int | None:
    """The last number of allowed failures, in this range, whose largest number of trials has too little power."""
    failures = np.arange(first, last + 1)
    # One trial less than what allows one more failure.
    most_trials = _fewest_trials(failures + 1, limit, delta) - 1
    too_weak = np.flatnonzero(bdtr(failures, most_trials, rate) < power)
    if len(too_weak) == 0:
        return None
    return int(failures[too_weak[-1]])


def _fewest_trials(failures: NDArray[np.int64], limit: float, delta: float) -> NDArray[np.int64]:
    """Smallest numbers of trials with which so many failures certify the limit."""
    n = np.maximum(failures, np.floor(bdtrin(failures, delta, limit)).astype(np.int64) - 1)
    while True:
        too_few = bdtr(failures, n, limit) > delta
        if not too_few.any():
            return n
        n += too_few


def _fewest(failures: int, limit: float, delta: float) -> int:
    return int(_fewest_trials(np.array([failures]), limit, delta)[0])


def rows_needed(failures: int, trials: int, n_rows: int, limit: float, delta: float) -> int | None:
    """Estimate of the number of rows that would probably certify a limit; None if no number would.

    At the observed rates, `LIKELY` samples of this size pass the test, and of any larger size. For planning only.

    Parameters
    ----------
    failures, trials : int
        What was counted among `n_rows` rows.
    n_rows : int
    limit : float
        Largest rate of failures that the goal allows.
    delta : float
        Maximum probability that the test passes although the rate is larger.

    Examples
    --------
    >>> rows_needed(0, 30, 100, 0.05, 0.05), rows_needed(6, 60, 100, 0.05, 0.05)
    (197, None)
    """
    n = trials_for_limit(failures / max(trials, 1), limit, delta, LIKELY)
    if n is None:
        return None
    return math.ceil(n * n_rows / max(trials, 1))


def rows_for_gap(rate: float, n_groups: int, gap: float, delta: float = 0.05) -> int:
    """Estimate of the rows of each group that certify a largest gap, if all groups have the same observed rate.

    Parameters
    ----------
    rate : float
        The rate that every group is expected to show.
    n_groups : int
        At least 2.
    gap : float
        The gap to certify.
    delta : float
        Maximum probability that the bound fails.

    Examples
    --------
    >>> rows_for_gap(0.2, 2, 0.1)
    340
    """

    def suffices(n: int) -> bool:
        return gap_bound([round(rate * n)] * n_groups, [n] * n_groups, delta) <= gap

    most = 1
    while not suffices(most):
        most *= 2
    few = most // 2
    while most - few > 1:
        middle = (few + most) // 2
        if suffices(middle):
            most = middle
        else:
            few = middle
    return most


@dataclass(frozen=True)
class Plan:
    """How many labelled rows a promise will probably need; an estimate.

    Attributes
    ----------
    promise : {"error", "recall", "precision"}
    target, expected : float
        The rate to certify, and the rate that the model is expected to have.
    rows : int
        Labelled rows to collect.
    counted : int
        Rows that have to be among them: all rows for an error rate, rows of the positive class for a recall, rows that
        are predicted as positive for a precision.
    failures : int
        Failures that are allowed among `counted` rows.
    share : float
        Expected share of the rows that count.
    power : float
        Probability with which the target is certified, if the expected rates are true.
    delta : float
    n_candidates : int
    """

    promise: str
    target: float
    expected: float
    rows: int
    counted: int
    failures: int
    share: float
    power: float
    delta: float
    n_candidates: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return self.describe()

    def describe(self) -> str:
        """The plan in words."""
        promise = _PROMISES[self.promise]
        target = promise.words.format(given_percent(self.target))
        needed = number_of(self.rows, "labelled row")
        if self.share < 1.0:
            needed += f", of which {self.counted:,} {promise.counted}"
        allowed = number_of(self.failures, promise.failure)
        text = (
            f"To certify {target} with {confidence(self.delta)} confidence, collect {needed}. If the true "
            f"{promise.rate} is {given_percent(self.expected)}, this succeeds with a probability of at least "
            f"{given_percent(self.power)}; it allows {allowed}."
        )
        return paragraphs(text, _CAVEAT)


_CAVEAT = (
    "This is an estimate, not a certificate: it depends on the rates that are expected. The rows must be independent "
    "draws from the source of the new data, and held out from training."
)


@dataclass(frozen=True)
class _Promise:
    """The words about a promise, and whether its rate is one of failures."""

    words: str
    rate: str
    counted: str
    failure: str
    is_rate_of_failures: bool = False


_PROMISES = {
    "error": _Promise("an error rate of at most {}", "error rate", "are answered", "error", is_rate_of_failures=True),
    "recall": _Promise("a recall of at least {}", "recall", "are of the positive class", "missed row"),
    "precision": _Promise("a precision of at least {}", "precision", "are predicted as positive", "false alarm"),
}


def plan(
    *,
    target_error: float | None = None,
    expected_error: float | None = None,
    target_recall: float | None = None,
    expected_recall: float | None = None,
    target_precision: float | None = None,
    expected_precision: float | None = None,
    share: float = 1.0,
    power: float = 0.9,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> Plan:
    """Estimate how many labelled rows are needed to certify a target.

    Parameters
    ----------
    target_error, target_recall, target_precision : float, optional
        The rate to certify; exactly one of them.
    expected_error, expected_recall, expected_precision : float, optional
        The rate that the model is expected to have, for instance on validation rows.
    share : float
        Share of the rows that count: of answered rows if the model abstains, of the positive class for a recall, of
        rows predicted as positive for a precision.
    power : float
        Probability with which the target is certified, if the expected rates are true.
    delta : float
        Maximum probability that the certificate fails.
    n_candidates : int
        Number of models compared on the same rows.

    Returns
    -------
    Plan

    Examples
    --------
    >>> made = plan(target_error=0.05, expected_error=0.03)
    >>> made.rows, made.failures
    (900, 34)
    >>> plan(target_recall=0.9, expected_recall=0.95, share=0.1).rows
    3495
    """
    targets = {"error": target_error, "recall": target_recall, "precision": target_precision}
    expectations = {"error": expected_error, "recall": expected_recall, "precision": expected_precision}
    given = [promise for promise, target in targets.items() if target is not None]
    if len(given) != 1:
        options = [Parameter(f"target_{promise}") for promise in targets]
        raise ParameterError("give exactly one of {}, {} and {}.", *options)
    promise = given[0]
    names = (Parameter(f"target_{promise}"), Parameter(f"expected_{promise}"))
    others = [other for other, value in expectations.items() if value is not None and other != promise]
    if others:
        raise ParameterError("{} belongs to {}.", Parameter(f"expected_{others[0]}"), Parameter(f"target_{others[0]}"))
    target = targets[promise]
    expected = expectations[promise]
    if target is None or expected is None:
        raise ParameterError("{} also needs {}: the rate that the model probably has.", *names)
    if not 0.0 < target < 1.0:
        raise ParameterError("{} must lie strictly between 0 and 1, not {:g}.", names[0], target)
    if not 0.0 <= expected <= 1.0:
        raise ParameterError("{} must lie between 0 and 1, not {:g}.", names[1], expected)
    if not 0.0 < share <= 1.0:
        raise ParameterError("{} must be above 0 and at most 1, not {:g}.", Parameter("share"), share)
    power = check_fraction("power", power)
    check_positive("n_candidates", n_candidates, whole=True)
    one_sided = check_fraction("delta", delta) / n_candidates

    limit = target
    rate = expected
    if not _PROMISES[promise].is_rate_of_failures:
        limit = 1.0 - target
        rate = 1.0 - expected
    if rate >= limit:
        raise ParameterError(
            "{} is not better than {}: no number of rows would certify the target.", names[1], names[0]
        )
    power_of_test = power
    if share < 1.0:
        # Too few rows may count, or the test may fail: half of what may go wrong for each.
        power_of_test = 1.0 - (1.0 - power) / 2.0
    counted = trials_for_limit(rate, limit, one_sided, power_of_test)
    if counted is None:
        raise ParameterError("{} is too close to {}: more than a billion rows would be needed.", names[1], names[0])
    allowed = set_rank(counted, limit, one_sided)
    assert allowed is not None
    return Plan(
        promise=promise,
        target=target,
        expected=expected,
        rows=_rows_with(counted, share, power_of_test),
        counted=counted,
        failures=allowed,
        share=share,
        power=power,
        delta=delta,
        n_candidates=n_candidates,
    )


def _rows_with(counted: int, share: float, power: float) -> int:
    """Smallest number of rows of which so many count, with this probability."""
    if share == 1.0:
        return counted
    return _fewest(counted - 1, share, 1.0 - power)
