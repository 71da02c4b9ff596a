"""`Statement`: one guarantee with everything needed to recompute it; `Estimate`: a number without a guarantee."""

import math
import os
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from abnet import bounds
from abnet.bounds.methods import METHODS, Method
from abnet.certificates.record_file import read_record, write_record
from abnet.utils.lazy import import_folder
from abnet.utils.text_layout import paragraphs
from abnet.utils.wording import percent

__all__ = ["Checked", "Counted", "Estimate", "Side", "Statement", "state"]

Side = Literal["at most", "at least"]
Checked = Literal["recomputed", "attainable"]
Counted = int | float | str | None | list[int | float]

import_folder(bounds)  # every bound that statements may name

# The logarithm of another machine may differ in the last digits.
_TOLERANCE = 1e-12


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One guarantee: with probability at least 1-δ over the bound rows, a quantity is at most (or at least) a value.

    Attributes
    ----------
    quantity : str
        What is bounded: "error", "Gibbs risk", "cost", "recall", "coverage", ... (`abnet.certificates.sentences`).
    of : str
        Of what: "predict", "class", "population", "answered rows", "drawn network", ...
    name : str or None
        Which class or population.
    side : {"at most", "at least"}
    value : float or None
        None if nothing could be certified.
    delta : float
        Maximum probability that this statement is false.
    method : str
        Name of the bound, a key of `abnet.bounds.methods.METHODS`.
    counted : dict
        The bound's arguments, such as counts of rows and errors.
    n_candidates : int
        Number of models compared on the same rows; the bound accounts for it.
    jointly : str or None
        Statements of one certificate with the same value hold jointly, with the sum of their δ.
    rule : dict
        The decision that the statement is about, for instance the threshold above which rows are called positive.
    rows_needed : int or None
        If nothing could be certified: an estimate of the number of rows that would suffice.

    Examples
    --------
    >>> made = state("error", "predict", "clopper_pearson_bound", {"errors": 6, "n": 228}, delta=0.05)
    >>> round(made.value, 3), made.check()
    (0.051, 'recomputed')
    """

    quantity: str
    of: str
    side: Side
    value: float | None
    delta: float
    method: str
    counted: dict[str, Counted]
    name: str | None = None
    n_candidates: int = 1
    jointly: str | None = None
    rule: dict[str, float | str] = {}
    rows_needed: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0 or self.n_candidates < 1:
            raise ValueError("delta must lie in (0, 1), and n_candidates must be at least 1.")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"the value of a statement must be a finite number; got {self.value}.")

    @property
    def about(self) -> str:
        """The subject in a few words; it is unique within a certificate."""
        rule = [f"{self.side} {self.rule['answer']}"] if "answer" in self.rule else []
        return " ".join(filter(None, (self.quantity, "of", self.of, self.name, *rule)))

    def check(self, values: ArrayLike | None = None) -> Checked:
        """Recompute the value; raises a ValueError if it does not match the counts.

        Parameters
        ----------
        values : array-like, optional
            The values in order, for a bound that needs every single value (betting). They are not stored. Without them,
            `check` only tests whether any values with the stored number and mean could give this bound.

        Returns
        -------
        {"recomputed", "attainable"}
        """
        what = self.about
        method = METHODS.get(self.method)
        if method is None:
            raise ValueError(f"the {what} uses the bound {self.method!r}, which this version does not have.")
        terms: dict[str, Any] = {"delta": self.delta, "n_candidates": self.n_candidates}
        try:
            if method.values is not None and values is None:
                return self._check_range(method, what)
            again = _bound(method, self.counted, terms, values)
        except TypeError as error:
            raise ValueError(f"the {what}: the recorded counts do not fit {self.method}: {error}") from error
        same = (again is None) == (self.value is None) and (
            again is None or math.isclose(again, self.value or 0.0, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
        )
        if not same:
            raise ValueError(
                f"the {what} does not follow from what was counted: it says {self.value}, recomputed {again}."
            )
        return "recomputed"

    def _check_range(self, method: Method, what: str) -> Checked:
        if method.attainable is None or self.value is None:
            raise ValueError(f"the {what} cannot be checked without its values.")
        low, high = method.attainable(**self.counted, delta=self.delta, n_candidates=self.n_candidates)
        if not low - _TOLERANCE <= self.value <= high + _TOLERANCE:
            raise ValueError(f"the {what} cannot be {self.value}: with these figures it lies in [{low}, {high}].")
        return "attainable"


def state(
    quantity: str,
    of: str,
    method: str,
    counted: Mapping[str, Counted],
    *,
    delta: float,
    side: Side = "at most",
    values: ArrayLike | None = None,
    n_candidates: int = 1,
    name: str | None = None,
    jointly: str | None = None,
    rule: Mapping[str, float | str] | None = None,
    rows_needed: int | None = None,
) -> Statement:
    """Make a statement; its value is computed in the same way as `Statement.check` recomputes it.

    Parameters
    ----------
    quantity, of, method, counted, delta, side, n_candidates, name, jointly, rule, rows_needed
        As in `Statement`.
    values : array-like, optional
        The values in order, for a bound that needs them; they are not stored.
    """
    known = METHODS.get(method)
    if known is None:
        raise ValueError(f"no bound is called {method!r}; there are {', '.join(sorted(METHODS))}.")
    value = _bound(known, counted, {"delta": delta, "n_candidates": n_candidates}, values)
    return Statement(
        quantity=quantity, of=of, side=side, value=value, delta=delta, method=method, counted=dict(counted), name=name,
        n_candidates=n_candidates, jointly=jointly, rule=dict(rule or {}), rows_needed=rows_needed,
    )  # fmt: skip


def _bound(method: Method, counted: Mapping[str, Counted], terms: Mapping[str, Any], values: Any) -> float | None:
    arguments: dict[str, Any] = dict(counted)
    if method.values is not None:
        # Only the number and mean of the values are stored; `check` uses them to test whether the bound is attainable.
        n, mean = arguments.pop("n"), arguments.pop("mean")
        sequence = np.asarray(values, np.float64)
        if len(sequence) != n or not math.isclose(float(sequence.mean()), mean, abs_tol=1e-9):
            raise ValueError(f"these are not the values that were counted, which are {n} values with the mean {mean}.")
        arguments[method.values] = sequence
    found = method.bound(**arguments, **terms)
    return None if found is None else float(found)


class Estimate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number without a guarantee, and the reason.

    Attributes
    ----------
    quantity, of : str
        As in `Statement`.
    value : float
    why : str
        Why there is no guarantee, in a sentence or two.
    counted : dict
        The counts from which it was computed.
    """

    quantity: str
    of: str
    value: float
    why: str
    counted: dict[str, Counted] = {}

    def describe(self) -> str:
        """Describe the estimate, and why it is not a certificate."""
        known = {("error", "predict"): "error rate", ("Gibbs risk", "draw"): "bound on the Gibbs risk"}
        what = known.get((self.quantity, self.of), f"{self.quantity} of {self.of}")
        return paragraphs(f"Estimated {what}: {percent(self.value)}. {self.why}")

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        from abnet.certificates.sentences import as_html

        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `load_certificate` rejects it, `abnet inspect` shows it."""
        write_record(path, "estimate", self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Estimate":
        """Read a file written by `save`."""
        try:
            return msgspec.convert(read_record(path, "estimate"), cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"{path} does not contain an estimate: {error}") from error
