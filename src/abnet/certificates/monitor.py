"""`Monitor`: watch a deployed model for evidence that its error rate, recall or precision is not the promised one.

`abnet.certificates.monitor_text` puts its state into words.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.bounds.anytime import anytime_upper_limit, log_evidence
from abnet.certificates.monitor_text import describe_monitor
from abnet.utils.atomic import atomic_path
from abnet.utils.checks import count, level, list_of, text
from abnet.utils.errors import Parameter, RepeatedRowsError
from abnet.utils.html_text import as_html
from abnet.utils.parameters import check_choice

__all__ = ["Monitor", "Quantity"]

Quantity = Literal["error", "recall", "precision"]
"""What a monitor watches."""

_FORMAT = "abnet monitor, version 3"
_FIELDS = (
    "format",
    "error",
    "alpha",
    "quantity",
    "label",
    "n",
    "errors",
    "unlabelled",
    "alarm_at",
    "watched",
    "batches",
)

# Up to this number, floats count exactly.
_MOST_ROWS = 2**53
# The exponential of a larger number is not a float.
_LARGEST_LOG = 709.0


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
        self,
        error: float,
        alpha: float = 0.01,
        *,
        watched: str | None = None,
        quantity: Quantity = "error",
        label: str | None = None,
    ) -> None:
        check_choice("quantity", quantity, get_args(Quantity))
        if (label is None) != (quantity == "error"):
            raise ValueError("label must be the class that a recall or precision is about; an error rate has none.")
        if label is not None:
            label = text("label", label)
        if watched is not None:
            watched = text("watched", watched)
        self._error = level("error", error)
        self._alpha = level("alpha", alpha)
        self._quantity: Quantity = quantity
        self._label = label
        self._watched = watched
        self._n = 0
        self._errors = 0
        self._unlabelled = 0
        self._alarm_at: int | None = None
        self._batches: tuple[str, ...] = ()

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
        if self.log_evidence >= _LARGEST_LOG:
            return math.inf
        return math.exp(self.log_evidence)

    def update(
        self, wrong: ArrayLike, *, unlabelled: int = 0, digest: str | None = None, allow_repeat: bool = False
    ) -> bool:
        """Add labelled rows in order; splitting them into several calls does not change the state.

        Parameters
        ----------
        wrong : bool or array-like of bool
            Whether the model erred on each row.
        unlabelled : int
            Number of rows without a label: they are counted, and not used.
        digest : str, optional
            A unique name of these rows, such as a hash of their file. The monitor stores it, and raises a ValueError
            for a second batch with the same name, because rows that are counted twice cause false alarms.
        allow_repeat : bool
            Accept a batch with the same name.

        Returns
        -------
        bool
            `alarm`.
        """
        n_unlabelled = count("unlabelled", unlabelled, least=0)
        errors = np.atleast_1d(np.asarray(wrong))
        if errors.ndim != 1 or (errors.size and errors.dtype != np.bool_):
            raise ValueError("wrong must be a bool or a vector of bools, True where the model erred")
        if digest is not None and text("digest", digest) in self._batches and not allow_repeat:
            raise RepeatedRowsError(
                "these rows were given before, and counting rows twice causes false alarms: give each row once, or add "
                "{} if they are different rows that happen to be equal.",
                Parameter("allow_repeat", True),
            )
        if self._alarm_at is None:
            self._alarm_at = self._first_alarm(np.flatnonzero(errors))
        self._n += len(errors)
        self._errors += int(np.count_nonzero(errors))
        self._unlabelled += n_unlabelled
        if digest is not None and digest not in self._batches:
            self._batches = (*self._batches, digest)
        return self.alarm

    def _first_alarm(self, places: NDArray[np.intp]) -> int | None:
        """The row at which the evidence reaches 1/α, given the places of the errors among the new rows."""
        # A correct row lowers the evidence, so only an error can raise the alarm.
        n = self._n + places + 1
        errors = self._errors + np.arange(1, len(places) + 1)
        reached = np.flatnonzero(log_evidence(errors, n, self._error) >= -math.log(self._alpha))
        if not len(reached):
            return None
        return int(n[reached[0]])

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
        if alpha is None:
            alpha = self._alpha
        return anytime_upper_limit(self._errors, self._n, alpha)

    def describe(self) -> str:
        """Describe in plain English the errors so far and what they show."""
        return describe_monitor(self)

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        return as_html(self)

    def __repr__(self) -> str:
        return f"Monitor(error={self.error}, alpha={self.alpha}, n={self.n}, errors={self.errors}, alarm={self.alarm})"

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a dictionary of numbers, strings and lists, ready for JSON."""
        return {
            "format": _FORMAT,
            "error": self._error,
            "alpha": self._alpha,
            "quantity": self._quantity,
            "label": self._label,
            "n": self._n,
            "errors": self._errors,
            "unlabelled": self._unlabelled,
            "alarm_at": self._alarm_at,
            "watched": self._watched,
            "batches": list(self._batches),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read the result of `to_dict`; raises a ValueError for missing, unknown, invalid or contradictory fields."""
        if not isinstance(record, Mapping) or set(record) != set(_FIELDS) or record["format"] != _FORMAT:
            raise ValueError(f"not the state of a monitor ({_FORMAT}): it must have the fields {', '.join(_FIELDS)}")
        monitor = cls(
            record["error"],
            record["alpha"],
            watched=record["watched"],
            quantity=record["quantity"],
            label=record["label"],
        )
        monitor._n = count("n", record["n"], least=0)
        monitor._errors = count("errors", record["errors"], least=0)
        monitor._unlabelled = count("unlabelled", record["unlabelled"], least=0)
        monitor._batches = list_of(text)("batches", record["batches"])
        if record["alarm_at"] is not None:
            monitor._alarm_at = count("alarm_at", record["alarm_at"])
        monitor._check_state()
        return monitor

    def _check_state(self) -> None:
        """Raise a ValueError if the counts of a state contradict each other."""
        refused = "not the state of a monitor: "
        if self.n > _MOST_ROWS:
            raise ValueError(f"{refused}n = {self.n} is more than can be counted")
        if self.errors > self.n:
            raise ValueError(f"{refused}errors exceeds n")
        if self._alarm_at is not None and self._alarm_at > self.n:
            raise ValueError(f"{refused}alarm_at exceeds n")
        if not self.alarm and self.log_evidence >= -math.log(self.alpha):
            raise ValueError(f"{refused}the evidence calls for an alarm")

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
