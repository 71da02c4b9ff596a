"""`Statement`: one promise, with all that is needed to compute it again; `Estimate`: a number that is no promise."""

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
from abnet.lazy import import_folder
from abnet.words import paragraphs

__all__ = ["Checked", "Counted", "Estimate", "Side", "Statement", "state"]

Side = Literal["at most", "at least"]
Checked = Literal["recomputed", "attainable"]
Counted = int | float | str | None | list[int | float]

import_folder(bounds)  # every bound that statements may name

# Another machine's logarithm may differ in the last digits.
_TOLERANCE = 1e-12


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One promise: with probability at least 1-δ over the counted rows, a quantity is at most (or least) a value.

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
        The bound it rests on, a key of `abnet.bounds.methods.METHODS`.
    counted : dict
        The bound's arguments: what was counted.
    n_candidates : int
        Number of models judged on the same rows; the bound accounts for them.
    jointly : str or None
        Statements of one certificate with the same word here hold all at once, at the sum of their δ.
    rule : dict
        The decision that it is about, for instance the threshold above which rows are called positive.
    rows_needed : int or None
        Where nothing could be certified: an estimate of the rows that would do.

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
        """What it is about, in a few words; no two statements of a certificate are about the same."""
        rule = [f"{self.side} {self.rule['answer']}"] if "answer" in self.rule else []
        return " ".join(filter(None, (self.quantity, "of", self.of, self.name, *rule)))

    def check(self, values: ArrayLike | None = None) -> Checked:
        """Compute the value again; ValueError if it does not follow from what was counted.

        Parameters
        ----------
        values : array-like, optional
            The values in their order, for a bound that needs them all (betting). They are not stored: without them it
            is only checked that some values with the stored figures could give this bound.

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
    """Make a statement: the value is computed by the very record that `Statement.check` uses later.

    Parameters
    ----------
    quantity, of, method, counted, delta, side, n_candidates, name, jointly, rule, rows_needed
        As in `Statement`.
    values : array-like, optional
        The values in their order, for a bound that needs them; not stored.
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
        # Of the values their number and mean are stored, to see later whether a bound is attainable.
        n, mean = arguments.pop("n"), arguments.pop("mean")
        sequence = np.asarray(values, np.float64)
        if len(sequence) != n or not math.isclose(float(sequence.mean()), mean, abs_tol=1e-9):
            raise ValueError(f"these are not the values that were counted, which are {n} values with the mean {mean}.")
        arguments[method.values] = sequence
    found = method.bound(**arguments, **terms)
    return None if found is None else float(found)


class Estimate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number that no theorem promises, and why.

    Attributes
    ----------
    quantity, of : str
        As in `Statement`.
    value : float
    why : str
        Why it is no promise, in a sentence or two.
    counted : dict
        What it was computed from.
    """

    quantity: str
    of: str
    value: float
    why: str
    counted: dict[str, Counted] = {}

    def describe(self) -> str:
        """Say what was seen, and that it is no promise."""
        return paragraphs(f"Estimated {self.quantity} of {self.of}: {self.value:.4g}. {self.why}")

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        from abnet.certificates.sentences import as_html

        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file: `load_certificate` refuses it, `abnet inspect` shows it."""
        write_record(path, "estimate", self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Estimate":
        """Read what `save` wrote."""
        try:
            return msgspec.convert(read_record(path, "estimate"), cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"{path} holds no estimate: {error}") from error
