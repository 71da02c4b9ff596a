"""The state of a monitor in plain English."""

from typing import TYPE_CHECKING

from abnet.utils.text_layout import paragraphs
from abnet.utils.wording import confidence, number_of, percent, percent_down, percent_up, stated

if TYPE_CHECKING:
    from abnet.certificates.monitor import Monitor

__all__ = ["describe_monitor"]

RATE_NAMES = {"error": "error rate", "recall": "recall", "precision": "precision"}
MOST_CHARACTERS = 8
"""A promised rate that is longer than this comes from a certificate, and is rounded as certificates are."""


def describe_monitor(monitor: "Monitor") -> str:
    """The errors so far, a limit of the rate if it has not changed, and whether there is an alarm."""
    not_counted = ""
    if monitor.unlabelled:
        not_counted = f"; not counted: {number_of(monitor.unlabelled, 'row')} without a label"
    seen = (
        f"{_counts(monitor)} was promised{not_counted}. If the {RATE_NAMES[monitor.quantity]} has not changed, it is "
        f"{_limit(monitor)}, with {confidence(monitor.alpha)} confidence, however often you look."
    )
    return paragraphs(seen, _verdict(monitor))


def _counts(monitor: "Monitor") -> str:
    """What was counted, and the promised rate."""
    promised = _promised_rate(monitor)
    if monitor.quantity == "error":
        rows = number_of(monitor.n, "labelled row")
        rate = _observed_rate(monitor.errors, monitor.n)
        return f"{number_of(monitor.errors, 'error')} in {rows}{rate}, where at most {promised}"
    rows = number_of(monitor.n, "row")
    right = monitor.n - monitor.errors
    rate = _observed_rate(right, monitor.n)
    if monitor.quantity == "recall":
        return f"{right:,} of {rows} of class {monitor.label} found{rate}, where at least {promised}"
    return f"{right:,} of {rows} predicted as {monitor.label} correct{rate}, where at least {promised}"


def _observed_rate(part: int, n: int) -> str:
    if n == 0:
        return ""
    return f" ({percent(part / n)})"


def _promised_rate(monitor: "Monitor") -> str:
    """The promised rate as the user gave it, or, if it has many digits, rounded as in certificates."""
    if monitor.quantity == "error":
        rate = monitor.error
        rounded = percent_up(rate)
    else:
        rate = 1.0 - monitor.error
        rounded = percent_down(rate)
    given = stated(rate)
    if len(given) <= MOST_CHARACTERS:
        return given
    return rounded


def _limit(monitor: "Monitor") -> str:
    """The limit of a constant rate."""
    limit = monitor.upper_limit()
    if monitor.quantity == "error":
        return f"at most {percent_up(limit)}"
    return f"at least {percent_down(1.0 - limit)}"


def _verdict(monitor: "Monitor") -> str:
    if monitor.alarm:
        return (
            f"ALARM, raised at row {monitor.alarm_at:,}: these rows contradict the promise. If the promise held, the "
            f"probability of ever raising an alarm would be at most {stated(monitor.alpha)}, however often you look."
        )
    return (
        f"No alarm: the evidence is {monitor.evidence:.3g}, and an alarm needs {1.0 / monitor.alpha:.4g}. This is no "
        "proof that the promise holds; if it does, the probability of ever raising an alarm is at most "
        f"{stated(monitor.alpha)}."
    )
