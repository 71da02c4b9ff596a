"""What labelled rows say about a model: estimates for a report, never promises."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.certificates.decision import sureness
from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.measures import calibration_error, log_loss
from abnet.certificates.training_rows import filter_of, label_marks
from abnet.model.model import Model
from abnet.tables.labels import winners

__all__ = [
    "CalibrationBin",
    "GivenRows",
    "LOCATED",
    "RowMeasures",
    "calibration_bins",
    "interval",
    "measure_rows",
    "measure_scores",
    "risk_by_coverage",
]

BINS = 10
"""Bins of a reliability diagram, equally wide."""
POINTS = 40
"""Points of a risk-coverage curve, at the most."""
LOCATED = 5_000
"""Rows that a page is made with: regions and errors are counted on them."""


@dataclass(frozen=True)
class CalibrationBin:
    """Rows whose probability lies in one bin.

    Attributes
    ----------
    n_rows : int
    said : float
        Mean probability that the model gave.
    found : float
        Share of the rows for which it came true.
    low, high : float
        Limits of that share, with 95% confidence for this bin alone.
    """

    n_rows: int
    said: float
    found: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class RowMeasures:
    """A model's answers on labelled rows.

    Attributes
    ----------
    n_rows, n_answered, errors : int
        Rows with a label, those that the model's decision answers, and those that it answers wrongly; a label that the
        model does not know is an error.
    low, high : float
        Limits of the error among answered rows, with 95% confidence if the rows are new.
    confusion : int array (K or K + 1, K or K + 1)
        Rows of each true class, by answer; a last row for labels that the model does not know, a last column for rows
        without an answer.
    log_loss, calibration_error : float or None
        Of the probabilities, where there are any (`abnet.certificates.measures`); the first over rows with a known
        label.
    bins : tuple of CalibrationBin
        Of the second class's probability, or with several classes of the answer's.
    coverage, risk : tuples of float
        Share of rows answered, surest first, and the error among them.
    n_fitted : int or None
        Rows that the model seems to have been fitted on; None where the file does not tell.
    were_fitted : bool
        Whether these are more than chance explains.
    n_unlabelled : int
        Rows without a label, left out.
    """

    n_rows: int
    n_answered: int
    errors: int
    low: float
    high: float
    confusion: NDArray[np.int64]
    log_loss: float | None
    calibration_error: float | None
    bins: tuple[CalibrationBin, ...]
    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    n_fitted: int | None
    were_fitted: bool = False
    n_unlabelled: int = 0

    @property
    def error(self) -> float:
        """Share of the answered rows that are answered wrongly."""
        return self.errors / max(self.n_answered, 1)

    @property
    def base_rate(self) -> float:
        """Error of always giving the commonest label of these rows."""
        return 1.0 - float(self.confusion.sum(axis=1).max()) / self.n_rows


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Labelled rows of the caller: what they say, and some of them to explain the model on.

    Attributes
    ----------
    measures : RowMeasures
        Of all of them.
    prepared : array (n, inputs)
        Some, as the network reads them.
    codes : int array (n,)
        Their classes, -1 for a label that the model does not know.
    """

    measures: RowMeasures
    prepared: NDArray[Any]
    codes: NDArray[np.intp]


def measure_rows(model: Model, prepared: NDArray[Any], codes: NDArray[np.intp]) -> GivenRows:
    """Answers to prepared rows, measured.

    Parameters
    ----------
    model : Model
    prepared : array (n, inputs)
        As the network reads them.
    codes : int array (n,)
        True classes, 0 to K - 1; -1 for a label that the model does not know.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[4.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> found = measure_rows(model, np.array([[-1.0], [1.0], [2.0], [-3.0]]), np.array([0, 1, 1, 1])).measures
    >>> found.errors, found.confusion.tolist(), found.risk[-1]
    (1, [[1, 0], [1, 2]], 0.25)
    """
    scores = model.predictor.scores(prepared) if len(codes) else np.empty(0)
    seen = filter_of(model)
    if seen is not None:
        seen.add(prepared, label_marks(codes, model.n_classes))
    return GivenRows(measure_scores(model, scores, codes, seen=seen), prepared, codes)


def measure_scores(
    model: Model,
    scores: NDArray[np.float64],
    codes: NDArray[np.intp],
    *,
    seen: FittedRows | None,
    n_unlabelled: int = 0,
) -> RowMeasures:
    """`measure_rows` of rows whose scores are known, and that were looked for among those of the fit."""
    n, K = len(codes), model.n_classes
    if not n:
        raise ValueError("there is no row with a label: a report needs some, or no table at all.")
    answers, best, known = model.decision(scores), winners(scores), codes >= 0
    answered, wrong = answers < K, best != codes
    errors, n_answered = int((answered & (answers != codes)).sum()), int(answered.sum())
    confusion = np.zeros((K + int(not known.all()), K + int(model.decision.kind == "abstain")), np.int64)
    np.add.at(confusion, (np.where(known, codes, K), answers), 1)
    surprise, gap = None, None
    bins: tuple[CalibrationBin, ...] = ()
    if model.predictor.shares and known.any():
        probabilities = model.probabilities_from_scores(scores)
        surprise = log_loss(probabilities[known], np.arange(K), codes[known])
        gap = calibration_error(probabilities, ~wrong)
        said = probabilities[:, 1] if K == 2 else probabilities.max(axis=1)
        bins = calibration_bins(said, codes == 1 if K == 2 else ~wrong)
    low, high = interval(errors, n_answered) if n_answered else (0.0, 1.0)
    coverage, risk = risk_by_coverage(sureness(scores), wrong)
    return RowMeasures(
        n, n_answered, errors, low, high, confusion, surprise, gap, bins, coverage, risk,
        n_fitted=None if seen is None else seen.found, were_fitted=seen is not None and seen.reused,
        n_unlabelled=n_unlabelled,
    )  # fmt: skip


def interval(count: int, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Limits of a rate between which it lies with confidence 1 - δ, for n independent rows (Clopper and Pearson).

    Examples
    --------
    >>> [round(limit, 4) for limit in interval(1, 20)]
    [0.0013, 0.2487]
    """
    return clopper_pearson_lower(count, n, delta / 2), clopper_pearson_bound(count, n, delta / 2)


def calibration_bins(said: NDArray[np.float64], true: NDArray[np.bool_]) -> tuple[CalibrationBin, ...]:
    """Rows by the probability that was given to what is true or not, in ten bins; empty ones are left out.

    Examples
    --------
    >>> [(b.n_rows, b.found) for b in calibration_bins(np.array([0.05, 0.92, 0.95]), np.array([False, True, False]))]
    [(1, 0.0), (2, 0.5)]
    """
    places = np.clip((said * BINS).astype(np.intp), 0, BINS - 1)
    found = []
    for place in range(BINS):
        inside = places == place
        n = int(inside.sum())
        if n:
            count = int(true[inside].sum())
            found.append(CalibrationBin(n, float(said[inside].mean()), count / n, *interval(count, n)))
    return tuple(found)


def risk_by_coverage(
    sure: NDArray[np.float64], wrong: NDArray[np.bool_]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Shares of the rows, those of which the model is surest first, and the error among them; ties stay together.

    Examples
    --------
    >>> risk_by_coverage(np.array([0.9, 0.1, 0.5, 0.5]), np.array([False, True, False, True]))
    ((0.25, 0.75, 1.0), (0.0, 0.3333333333333333, 0.5))
    """
    order = np.argsort(-sure, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(sure[order]) != 0, True))
    errors = np.cumsum(wrong[order])[ends]
    some = np.unique(np.searchsorted(ends, np.linspace(0, len(sure) - 1, POINTS)))
    answered = ends[some] + 1
    return tuple((answered / len(sure)).tolist()), tuple((errors[some] / answered).tolist())
