"""`Monitor`: watch a deployed model for evidence that its error rate, recall or precision is not the promised one."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.anytime import anytime_upper_limit, log_evidence
from abnet.certificates.sentences import as_html
from abnet.utils.atomic import atomic_path
from abnet.utils.checks import count, level, list_of, nonnegative, text
from abnet.utils.errors import Parameter, RepeatedRowsError
from abnet.utils.parameters import check_choice
from abnet.utils.text_layout import paragraphs
from abnet.utils.wording import confidence, number_of, percent, percent_down, percent_up, stated

__all__ = ["Monitor", "Quantity", "promise"]

Quantity = Literal["error", "recall", "precision"]
"""What a monitor watches."""

_FORMAT = "abnet monitor, version 2"
_FIELDS = (
    "format", "error", "alpha", "quantity", "label", "n", "errors", "unlabelled", "alarm_at", "watched", "batches",
    "log_sums",
)  # fmt: skip

# More rows than anybody has: floats still count them exactly.
_MOST_ROWS = 2**53
# Number of error rates for the Shiryaev-Roberts statistic, and of rows processed at a time.
_ALTERNATIVES = 20
_BLOCK = 4096
Array = NDArray[np.float64]


class Monitor:
    r"""Watch a deployed model for evidence that its error rate exceeds ``error``.

    .. math:: E_t = \int_{ε_0}^1 \Big(\frac{q}{ε_0}\Big)^k \Big(\frac{1-q}{1-ε_0}\Big)^{t-k} dπ(q), \qquad
              \text{alarm when } E_t \ge \frac1α

    If every row is misclassified with probability at most ε₀ given the rows before it, the probability of *ever*
    raising an alarm is at most α, no matter how often you look; the rows need not be independent. An alarm is never
    withdrawn. The absence of an alarm proves nothing. If ε₀ comes from a certificate, its δ adds to α. Rows must not be
    selected by the model's answers (for instance, labels only for flagged rows). A new model needs a new monitor, and
    restarting after an alarm uses another α.

    A recall is one minus the error rate among the rows of a class, so pass these rows only, True where the model missed
    the class. A precision is one minus the error rate among the rows predicted as a class; these rows are all that need
    labels.

    Parameters
    ----------
    error : float
        The promised error ε₀ in (0, 1); for a recall or a precision, one minus the promised rate.
    alpha : float
        Maximum probability of ever raising a false alarm.
    watched : str, optional
        A name of the watched model, such as the digest of its file.
    quantity : {"error", "recall", "precision"}
        The rate that `describe` is about.
    label : str, optional
        The class that the recall or precision is about.

    Examples
    --------
    >>> monitor = Monitor(0.05, alpha=0.01)
    >>> monitor.update([False] * 19 + [True])
    False
    >>> monitor.update([True, True, False, True, True, True, True])
    True
    >>> monitor.alarm_at, monitor.errors, monitor.n, round(monitor.evidence, 1)
    (27, 7, 27, 274.2)

    References
    ----------
    A. Podkopaev, A. Ramdas (2021), Tracking the risk of a deployed model and detecting harmful distribution shifts;
    I. Timans et al. (2025), On continuous monitoring of risk violations under unknown shift.
    """

    def __init__(
        self, error: float, alpha: float = 0.01, *, watched: str | None = None, quantity: Quantity = "error",
        label: str | None = None,
    ) -> None:  # fmt: skip
        check_choice("quantity", quantity, get_args(Quantity))
        if (label is None) != (quantity == "error"):
            raise ValueError("label must be the class that a recall or precision is about; an error rate has none.")
        self._quantity: Quantity = quantity
        self._label = None if label is None else text("label", label)
        self._watched = None if watched is None else text("watched", watched)
        self._error, self._alpha = level("error", error), level("alpha", alpha)
        self._n = self._errors = self._unlabelled = 0
        self._alarm_at: int | None = None
        self._batches: tuple[str, ...] = ()
        # ln(1 + SR) for each alternative: 0 at the start, and finite.
        self._log_sums: Array = np.zeros(_ALTERNATIVES)

    @property
    def error(self) -> float:
        """The promised error ε₀."""
        return self._error

    @property
    def alpha(self) -> float:
        """Maximum probability of ever raising a false alarm."""
        return self._alpha

    @property
    def watched(self) -> str | None:
        """The name of the watched model, if given."""
        return self._watched

    @property
    def quantity(self) -> Quantity:
        """What is watched."""
        return self._quantity

    @property
    def label(self) -> str | None:
        """The class that a recall or precision is about."""
        return self._label

    @property
    def n(self) -> int:
        """Number of labelled rows seen."""
        return self._n

    @property
    def errors(self) -> int:
        """Number of errors among them."""
        return self._errors

    @property
    def unlabelled(self) -> int:
        """Number of rows without a label, which are not used."""
        return self._unlabelled

    @property
    def alarm_at(self) -> int | None:
        """The row, counted from 1, that raised the alarm; None if there is no alarm."""
        return self._alarm_at

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/α."""
        return self._alarm_at is not None

    @property
    def log_evidence(self) -> float:
        """Logarithm of the current evidence ``E_t``, rounded down; earlier values may have been larger."""
        return float(log_evidence(self._errors, self._n, self._error))

    @property
    def evidence(self) -> float:
        """The current evidence ``E_t``, rounded down; infinite if it exceeds the largest float."""
        return _exp(self.log_evidence)

    @property
    def log_shiryaev_roberts(self) -> float:
        """Logarithm of `shiryaev_roberts`; minus infinity before the first row."""
        if self._n == 0:
            return -math.inf
        # ln(e^u - 1), the inverse of u = ln(1 + SR).
        logs = self._log_sums + np.log(-np.expm1(-np.maximum(self._log_sums, 1e-300)))
        return float(np.logaddexp.reduce(logs) - math.log(_ALTERNATIVES))

    @property
    def shiryaev_roberts(self) -> float:
        r"""Statistic for a change at an unknown time, :math:`SR_t = (SR_{t-1} + 1) L_t`, averaged over alternatives.

        ``L_t`` is the likelihood ratio of row t between an error rate q and ε₀; q runs over twenty quantiles of
        Beta(1, 5) truncated to [ε₀, 1]. After a long time without change it reacts to a change sooner than the
        evidence. If ``SR >= A`` is used as an alarm, the mean time between false alarms is at least A rows. The
        probability of a false alarm is not small: it tends to 1 over time.
        """
        return _exp(self.log_shiryaev_roberts)

    def update(
        self, wrong: ArrayLike, *, unlabelled: int = 0, digest: str | None = None, allow_repeat: bool = False
    ) -> bool:
        """Add labelled rows in order; splitting them into several calls does not change the state.

        Parameters
        ----------
        wrong : bool or array-like of bool
            Whether the model erred on each row.
        unlabelled : int
            Number of rows left out because they have no label; they are only counted.
        digest : str, optional
            A unique name of these rows, such as a hash of their file. It is stored: rows that are counted twice cause
            false alarms, so a second batch with the same name raises a ValueError.
        allow_repeat : bool
            Accept a batch with the same name.

        Returns
        -------
        bool
            `alarm`.
        """
        missing = count("unlabelled", unlabelled, least=0)
        rows = np.atleast_1d(np.asarray(wrong))
        if rows.ndim != 1 or (rows.size and rows.dtype != np.bool_):
            raise ValueError("wrong must be a bool or a vector of bools, True where the model erred")
        rows = rows.astype(np.bool_)
        if digest is not None and text("digest", digest) in self._batches and not allow_repeat:
            raise RepeatedRowsError(
                "these rows were given before, and counting rows twice causes false alarms: give each row once, or add "
                "{} if they are different rows that happen to be equal.",
                Parameter("allow_repeat", True),
            )
        self._raise_alarm(rows)
        for start in range(0, len(rows), _BLOCK):
            self._log_sums = _advance(self._log_sums, rows[start : start + _BLOCK], self._error)
        self._n, self._errors = self._n + len(rows), self._errors + int(rows.sum())
        self._unlabelled += missing
        self._batches += () if digest is None or digest in self._batches else (digest,)
        return self.alarm

    def _raise_alarm(self, rows: NDArray[np.bool_]) -> None:
        # A correct row lowers the evidence, so it suffices to test for an alarm after each error.
        at = np.flatnonzero(rows)
        if self.alarm or not len(at):
            return
        n = self._n + at + 1
        logs = log_evidence(self._errors + np.arange(1, len(at) + 1), n, self._error)
        reached = np.flatnonzero(logs >= -math.log(self._alpha))
        self._alarm_at = int(n[reached[0]]) if len(reached) else None

    def upper_limit(self, alpha: float | None = None) -> float:
        """Anytime-valid upper limit of a constant error rate; see `abnet.bounds.anytime`.

        Parameters
        ----------
        alpha : float, optional
            Maximum probability that it ever fails; by default the monitor's.

        Examples
        --------
        >>> monitor = Monitor(0.05)
        >>> _ = monitor.update(np.arange(285) % 30 == 0)
        >>> round(monitor.upper_limit(0.05), 4)
        0.0754
        """
        return anytime_upper_limit(self._errors, self._n, self._alpha if alpha is None else alpha)

    def describe(self) -> str:
        """Describe in plain English the errors so far and what they show."""
        return paragraphs(_seen(self), _verdict(self))

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        return as_html(self)

    def __repr__(self) -> str:
        return f"Monitor(error={self.error}, alpha={self.alpha}, n={self.n}, errors={self.errors}, alarm={self.alarm})"

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a dictionary of plain numbers, strings and lists, fit for JSON."""
        values = (
            self._error, self._alpha, self._quantity, self._label, self._n, self._errors, self._unlabelled,
            self._alarm_at, self._watched,
        )  # fmt: skip
        return dict(zip(_FIELDS, (_FORMAT, *values, list(self._batches), self._log_sums.tolist()), strict=True))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read the result of `to_dict`; raises a ValueError for missing, unknown, invalid or contradictory fields."""
        if not isinstance(record, Mapping) or set(record) != set(_FIELDS) or record["format"] != _FORMAT:
            raise ValueError(f"not the state of a monitor: it must have the fields {', '.join(_FIELDS)}")
        monitor = cls(
            record["error"], record["alpha"], watched=record["watched"], quantity=record["quantity"],
            label=record["label"],
        )  # fmt: skip
        monitor._n, monitor._errors = count("n", record["n"], least=0), count("errors", record["errors"], least=0)
        if monitor._n > _MOST_ROWS:
            raise ValueError(f"not the state of a monitor: n = {monitor._n} is more than can be counted")
        monitor._unlabelled = count("unlabelled", record["unlabelled"], least=0)
        monitor._alarm_at = None if record["alarm_at"] is None else count("alarm_at", record["alarm_at"])
        monitor._batches = list_of(text)("batches", record["batches"])
        monitor._log_sums = _checked_sums(record["log_sums"])
        for ok, complaint in _contradictions(monitor):
            if not ok:
                raise ValueError(f"not the state of a monitor: {complaint}")
        return monitor

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file atomically: a killed job leaves either the old state or the new one."""
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(self.to_dict(), allow_nan=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file written by `save`.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "state.json"
        >>> monitor = Monitor(0.05)
        >>> _ = monitor.update([False, True])
        >>> monitor.save(file)
        >>> Monitor.load(file)
        Monitor(error=0.05, alpha=0.01, n=2, errors=1, alarm=False)
        """
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: {error}") from error


def _advance(log_sums: Array, rows: NDArray[np.bool_], error: float) -> Array:
    """Update ``ln(1 + SR)`` of each alternative for a block of rows.

    With ``S_t`` the sums of ``ln L``, ``SR_t = e^{S_t} (e^{u_0} + Σ_{0<s<t} e^{-S_s})``.
    """
    quantiles = (np.arange(_ALTERNATIVES) + 0.5) / _ALTERNATIVES
    right = (1.0 - quantiles) ** 0.2  # (1-q)/(1-ε₀) at the quantiles of Beta(1, 5) cut to [ε₀, 1]
    q = 1.0 - (1.0 - error) * right
    steps = np.where(rows, np.log(q / error)[:, None], np.log(right)[:, None])
    sums = np.cumsum(steps, axis=1)
    before = np.concatenate([log_sums[:, None], -sums[:, :-1]], axis=1)
    peaks = before.max(axis=1)  # a sum of exponentials by hand: NumPy's logaddexp.reduce takes ten times as long
    totals = peaks + np.log(np.exp(before - peaks[:, None]).sum(axis=1))
    return np.asarray(np.logaddexp(0.0, sums[:, -1] + totals))


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < 709.0 else math.inf


def _checked_sums(values: Any) -> Array:
    if not isinstance(values, list) or len(values) != _ALTERNATIVES:
        raise ValueError(f"log_sums must be a list of {_ALTERNATIVES} numbers")
    sums = np.array([nonnegative("log_sums", value) for value in values])
    if not np.all(np.isfinite(sums)):
        raise ValueError("log_sums must be finite")
    return sums


def _contradictions(m: Monitor) -> list[tuple[bool, str]]:
    return [
        (m.errors <= m.n, "errors exceeds n"),
        (m.alarm_at is None or m.alarm_at <= m.n, "alarm_at exceeds n"),
        (m.alarm or m.errors > m.n or m.log_evidence < -math.log(m.alpha), "the evidence calls for an alarm"),
        (bool(np.all(m._log_sums == 0.0)) == (m.n == 0), "log_sums does not go with n"),
    ]


def promise(error: float, quantity: Quantity = "error") -> str:
    """The promised rate as text: as the user gave it, or, if it has many digits, rounded as in certificates.

    Examples
    --------
    >>> promise(0.05), promise(0.0661234567), promise(1 - 0.9, "recall"), promise(0.0661234567, "precision")
    ('5%', '6.7%', '90%', '93.3%')
    """
    rate = error if quantity == "error" else 1.0 - error
    asked = stated(rate)
    if len(asked) <= 8:
        return asked
    return percent_up(rate) if quantity == "error" else percent_down(rate)


def _seen(m: Monitor) -> str:
    unlabelled = f"; not counted: {number_of(m.unlabelled, 'row')} without a label" if m.unlabelled else ""
    return (
        f"{_counted(m)} was promised{unlabelled}. If the {_RATES[m.quantity]} has not changed, it is {_limit(m)}, with "
        f"{confidence(m.alpha)} confidence, however often you look."
    )


_RATES = {"error": "error rate", "recall": "recall", "precision": "precision"}


def _counted(m: Monitor) -> str:
    """What was counted, and the promised rate."""
    right = m.n - m.errors
    promised = promise(m.error, m.quantity)
    if m.quantity == "error":
        rate = f" ({percent(m.errors / m.n)})" if m.n else ""
        return f"{number_of(m.errors, 'error')} in {number_of(m.n, 'labelled row')}{rate}, where at most {promised}"
    rate = f" ({percent(right / m.n)})" if m.n else ""
    if m.quantity == "recall":
        return f"{right:,} of {number_of(m.n, 'row')} of class {m.label} found{rate}, where at least {promised}"
    return f"{right:,} of {number_of(m.n, 'row')} predicted as {m.label} correct{rate}, where at least {promised}"


def _limit(m: Monitor) -> str:
    """The limit of a constant rate."""
    limit = m.upper_limit()
    return f"at most {percent_up(limit)}" if m.quantity == "error" else f"at least {percent_down(1.0 - limit)}"


def _verdict(m: Monitor) -> str:
    if m.alarm:
        return (
            f"ALARM, raised at row {m.alarm_at:,}: these rows contradict the promise. If the promise held, the "
            f"probability of ever raising an alarm would be at most {stated(m.alpha)}, however often you look."
        )
    return (
        f"No alarm: the evidence is {m.evidence:.3g}, and an alarm needs {1.0 / m.alpha:.4g}. This is no proof that "
        f"the promise holds; if it does, the probability of ever raising an alarm is at most {stated(m.alpha)}."
    )
