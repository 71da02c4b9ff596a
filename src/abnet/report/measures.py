"""Measures of a model on labelled rows: estimates for a report, never certified."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.decision import confidence
from abnet.certificates.fitted_rows import FittedRows
from abnet.certificates.training_rows import filter_of
from abnet.model.model import Model
from abnet.model.performance_measures import calibration_error, interval, log_loss
from abnet.report.roc_curves import Ranking, measure_ranking
from abnet.utils.class_scores import winners
from abnet.utils.label_values import label_values

__all__ = [
    "CalibrationBin",
    "GivenRows",
    "LOCATED",
    "RowMeasures",
    "calibration_bins",
    "measure_rows",
    "measure_scores",
    "risk_by_coverage",
]

BINS = 10
"""Number of bins of a reliability diagram, all of the same width."""
POINTS = 40
"""Maximum number of points of a risk-coverage curve."""
LOCATED = 5_000
"""Maximum number of rows that a page explains the model on: regions and errors are counted on them."""

NO_LABELLED_ROW = "there is no row with a label: a report needs some, or no table at all."


@dataclass(frozen=True)
class CalibrationBin:
    """Rows whose predicted probability lies in one bin.

    Attributes
    ----------
    n_rows : int
    predicted : float
        Mean predicted probability.
    observed : float
        Share of the rows for which the prediction came true.
    low, high : float
        Limits of that share, with 95% confidence for this bin alone.
    """

    n_rows: int
    predicted: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class RowMeasures:
    """A model's answers on labelled rows.

    Attributes
    ----------
    n_rows, n_answered, errors : int
        Number of rows with a label, of rows that the model's decision answers, and of rows that it answers wrongly. A
        label that the model does not know is an error.
    low, high : float
        Limits of the error among answered rows, with 95% confidence if the rows are new.
    confusion : int array (K or K + 1, K or K + 1)
        Number of rows of each true class, by answer. There may be a last row for labels that the model does not know,
        and a last column for rows without an answer.
    log_loss, calibration_error : float or None
        Measures of the probabilities (`abnet.model.performance_measures`); None for a model without probabilities. The
        log loss is over rows with a known label.
    bins : tuple of CalibrationBin
        Calibration of the second class's probability, or with several classes of the answer's.
    coverage, risk : tuples of float
        Share of rows answered, most certain first, and the error among them.
    ranking : Ranking or None
        ROC and precision-recall curves; None with several classes, or if all rows are of one class.
    n_fitted : int or None
        Number of rows that the model seems to have been trained on; None if the file does not say.
    were_fitted : bool
        Whether there are more of them than chance explains.
    n_unlabelled : int
        Number of rows without a label, which were left out.
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
    ranking: Ranking | None
    n_fitted: int | None
    were_fitted: bool = False
    n_unlabelled: int = 0

    @property
    def error(self) -> float:
        """Share of the answered rows that are answered wrongly."""
        return self.errors / max(self.n_answered, 1)

    @property
    def base_rate(self) -> float:
        """Majority-class error: that of always answering the most common label of these rows."""
        return 1.0 - float(self.confusion.sum(axis=1).max()) / self.n_rows


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Labelled rows of the caller: measures of all rows, and some rows to explain the model on.

    Attributes
    ----------
    measures : RowMeasures
        Measures of all rows.
    prepared : array (n, inputs)
        Some rows as the network reads them.
    codes : int array (n,)
        Classes of these rows, -1 for a label that the model does not know.
    """

    measures: RowMeasures
    prepared: NDArray[Any]
    codes: NDArray[np.intp]


def measure_rows(model: Model, prepared: NDArray[Any], codes: NDArray[np.intp]) -> GivenRows:
    """Measure a model's answers to prepared rows.

    Parameters
    ----------
    model : Model
    prepared : array (n, inputs)
        Rows as the network reads them.
    codes : int array (n,)
        True classes, 0 to K - 1; -1 for a label that the model does not know.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[4.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> measures = measure_rows(model, np.array([[-1.0], [1.0], [2.0], [-3.0]]), np.array([0, 1, 1, 1])).measures
    >>> measures.errors, measures.confusion.tolist(), measures.risk[-1]
    (1, [[1, 0], [1, 2]], 0.25)
    """
    if not len(codes):
        raise ValueError(NO_LABELLED_ROW)
    fitted_rows = filter_of(model)
    if fitted_rows is not None:
        fitted_rows.add(prepared, label_values(codes, model.n_classes))
    measures = measure_scores(model, model.predictor.scores(prepared), codes, seen=fitted_rows)
    return GivenRows(measures=measures, prepared=prepared, codes=codes)


def measure_scores(
    model: Model,
    scores: NDArray[np.float64],
    codes: NDArray[np.intp],
    *,
    seen: FittedRows | None,
    n_unlabelled: int = 0,
) -> RowMeasures:
    """`measure_rows` for rows whose scores are known and that were looked up among the training rows (`seen`)."""
    if not len(codes):
        raise ValueError(NO_LABELLED_ROW)
    wrong = winners(scores) != codes
    answers = model.decision(scores)
    answered = answers < model.n_classes  # the code of no answer is the number of classes
    errors = int((answered & (answers != codes)).sum())
    n_answered = int(answered.sum())
    low = 0.0
    high = 1.0
    if n_answered:
        low, high = interval(errors, n_answered)
    probabilities = _measure_probabilities(model, scores, codes)
    coverage, risk = risk_by_coverage(confidence(scores), wrong)
    n_fitted = None
    were_fitted = False
    if seen is not None:
        n_fitted = seen.found
        were_fitted = seen.reused
    return RowMeasures(
        n_rows=len(codes),
        n_answered=n_answered,
        errors=errors,
        low=low,
        high=high,
        confusion=_confusion(model, answers, codes),
        log_loss=probabilities.log_loss,
        calibration_error=probabilities.calibration_error,
        bins=probabilities.bins,
        coverage=coverage,
        risk=risk,
        ranking=_measure_ranking(model, scores, answers, codes),
        n_fitted=n_fitted,
        were_fitted=were_fitted,
        n_unlabelled=n_unlabelled,
    )


def _measure_ranking(
    model: Model, scores: NDArray[np.float64], answers: NDArray[np.intp], codes: NDArray[np.intp]
) -> Ranking | None:
    """Curves of the class that the decision rule looks for, or of the second class, over rows with a known label."""
    if model.n_classes != 2:
        return None
    positive = 1
    if model.decision.positive is not None:
        positive = model.decision.positive
    known = codes >= 0
    toward_positive = scores
    if positive == 0:
        toward_positive = -scores
    return measure_ranking(
        toward_positive[known], codes[known] == positive, answers[known] == positive, positive=positive
    )


def _confusion(model: Model, answers: NDArray[np.intp], codes: NDArray[np.intp]) -> NDArray[np.int64]:
    """Number of rows of each true class, by answer."""
    n_true = model.n_classes
    n_answers = model.n_classes
    known = codes >= 0
    if not known.all():
        n_true += 1
    if model.decision.kind == "abstain":
        n_answers += 1
    confusion = np.zeros((n_true, n_answers), np.int64)
    np.add.at(confusion, (np.where(known, codes, model.n_classes), answers), 1)
    return confusion


@dataclass(frozen=True)
class _ProbabilityMeasures:
    """Measures of the probabilities; fields as in `RowMeasures`."""

    log_loss: float | None = None
    calibration_error: float | None = None
    bins: tuple[CalibrationBin, ...] = ()


def _measure_probabilities(model: Model, scores: NDArray[np.float64], codes: NDArray[np.intp]) -> _ProbabilityMeasures:
    known = codes >= 0
    if not model.predictor.shares or not known.any():
        return _ProbabilityMeasures()
    probabilities = model.probabilities_from_scores(scores)
    right = winners(scores) == codes
    if model.n_classes == 2:
        bins = calibration_bins(probabilities[:, 1], codes == 1)
    else:
        bins = calibration_bins(probabilities.max(axis=1), right)
    return _ProbabilityMeasures(
        log_loss=log_loss(probabilities[known], np.arange(model.n_classes), codes[known]),
        calibration_error=calibration_error(probabilities, right),
        bins=bins,
    )


def calibration_bins(predicted: NDArray[np.float64], true: NDArray[np.bool_]) -> tuple[CalibrationBin, ...]:
    """Rows in ten bins by their predicted probability, with how often it came true; empty bins are left out.

    Examples
    --------
    >>> bins = calibration_bins(np.array([0.05, 0.92, 0.95]), np.array([False, True, False]))
    >>> [(part.n_rows, part.observed) for part in bins]
    [(1, 0.0), (2, 0.5)]
    """
    bin_of = np.clip((predicted * BINS).astype(np.intp), 0, BINS - 1)
    bins = []
    for number in np.unique(bin_of):
        inside = bin_of == number
        n = int(inside.sum())
        count = int(true[inside].sum())
        low, high = interval(count, n)
        mean = float(predicted[inside].mean())
        bins.append(CalibrationBin(n_rows=n, predicted=mean, observed=count / n, low=low, high=high))
    return tuple(bins)


def risk_by_coverage(
    sure: NDArray[np.float64], wrong: NDArray[np.bool_]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Shares of the rows, most certain first, and the error among them; rows with the same score stay together.

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
