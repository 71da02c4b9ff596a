"""What a fitted classifier is asked afterwards: its errors on a test set, and when it had better not answer.

Thresholds come from held rows of the first part, certificates from rows that had no part in learning.
"""

import warnings
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import exact
from abnet.calibration import Calibration
from abnet.certificates.split import row_hashes, row_order
from abnet.decisions.answers import Decision, abstention_records, meet_costs, meet_target
from abnet.decisions.costs import bayes_cut, certify_costs, cost_table
from abnet.decisions.groups import errors_by
from abnet.decisions.training_rows import estimate_error, filter_of, refuse_fitted
from abnet.errors import Parameter, ParameterError
from abnet.estimators.certification import (
    certify_posterior,
    one_thread,
    without_groups,
)
from abnet.estimators.classifier import take_rows
from abnet.estimators.deployment import deploy
from abnet.estimators.held import Held
from abnet.estimators.recipe import DECISIONS
from abnet.labels import losses_of, winners, with_unknown

__all__ = [
    "certify_anew",
    "columns_of",
    "decide_after_fit",
    "expected_losses",
]


@one_thread
def certify_anew(
    classifier: Any, X: Any, y: Any, n_candidates: int, groups: Any, by: Any, allow_training_rows: bool
) -> Any:
    """The certificate of a fitted classifier from a test set; arguments as in `ABNetClassifier.certify`.

    The test-set bound for the vote, ``k⁺(r̂, ln(1/δ)/n)`` for the Gibbs risk (sampled along fresh paths where it cannot
    be computed, which the bound allows for).
    """
    X, groups, by = columns_of(classifier, X, groups, by)
    if allow_training_rows and (groups is not None or by is not None):
        raise ValueError("an estimate is made of all rows alike: leave out groups and by.")
    model, K = classifier.model_, len(classifier.classes_)
    if groups is None and model.card.n_training_groups is not None:
        warnings.warn(
            "The classifier was fitted on groups of rows, and this certificate counts rows: it holds only if no two of "
            "them belong together. With groups= it is about a new group, as that of the fit.",
            stacklevel=4,
        )
    rows = classifier._check_rows(X)
    prepared = model.prepare(rows)
    codes, n_codes = with_unknown(classifier._labels.encode(y), K)
    seen = filter_of(model)
    if seen is not None:
        seen.add(prepared, classifier._marked(codes))
    if not allow_training_rows:
        refuse_fitted(seen)
    scores = model.predictor.scores(prepared)
    wrong = winners(scores) != codes
    if allow_training_rows:
        return estimate_error(wrong, seen)
    if by is not None:
        return errors_by(wrong, by, classifier.delta, n_candidates=n_candidates)
    order = row_order(row_hashes(rows, y), groups=groups)
    losses = classifier._test_losses(prepared, scores, codes, n_codes, groups)
    certificate = certify_posterior(
        losses, codes, n_codes, wrong, frozen=True, groups=groups, delta=classifier.delta, prior="test set",
        n_candidates=n_candidates, order=order,
    )  # fmt: skip
    return classifier._named(certificate, n_codes)


def expected_losses(
    classifier: Any, prepared: Any, scores: NDArray[np.float64], codes: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Linear losses of one network's expected output; 1, which bounds every other, where it is too wide for it."""
    if classifier.aggregation_ != "exact":
        if max(classifier.network_.sizes[1:-1]) > exact.MAX_WIDTH:
            return np.ones(len(codes))
        exactly = classifier._by_name["exact"](1)
        scores = deploy(exactly, (classifier.network_,), np.random.default_rng(0)).scores(prepared)
    return losses_of(scores, codes)


def columns_of(classifier: Any, X: Any, groups: Any, by: Any) -> tuple[Any, NDArray[Any] | None, NDArray[Any] | None]:
    """Rows as the classifier takes them, groups and populations, either of which may be a column of the frame."""
    if groups is not None and by is not None:
        raise ValueError("give groups or by, not both: no bound for populations of groups is offered.")
    rest, groups = without_groups(X, groups)
    if isinstance(by, str):
        without, column = without_groups(rest, by)
        # A population may be a feature as well.
        rest, by = (rest if by in getattr(classifier, "feature_names_in_", ()) else without), column
    return rest, groups, None if by is None else np.asarray(by)


def decide_after_fit(classifier: Any, X: Any, y: NDArray[Any], held: Held) -> None:
    """Set ``abstention_``, ``risk_coverage_`` and ``decision_``, and store them in the predictor.

    Thresholds are fixed by the held rows, and certified on the bound rows, which nothing learned from.
    """
    bound = classifier.bound_rows_
    codes, stored = classifier._labels.encode(y), dict[str, Any]()
    if len(np.unique(held.codes)) < 2:  # of few rows; then of all in the first part, however well they are known
        first = classifier.other_rows_
        held = Held(classifier.decision_function(take_rows(X, first)), codes[first])
    G = classifier.decision_function(take_rows(X, bound))
    terms: Any = {"delta": classifier.delta, "n_candidates": classifier.n_candidates}
    if classifier.target_error is not None:
        wrong = winners(G) != codes[bound]
        records = abstention_records(held.scores, G, wrong, classifier.target_error, **terms)
        classifier.abstention_, classifier.risk_coverage_ = records
        stored["abstention"] = classifier.abstention_.to_dict()
    if any(getattr(classifier, name) is not None for name in DECISIONS[1:]):
        positive, decision = _decision(classifier, (held.scores, held.codes), (G, codes[bound]), terms)
        classifier.decision_ = decision
        stored["decision"] = {"positive": positive, "record": decision.to_dict()}
    model = classifier.model_
    classifier.model_ = replace(model, card=msgspec.structs.replace(model.card, **stored))


Scored = tuple[NDArray[np.float64], NDArray[np.intp]]


def _decision(classifier: Any, known: Scored, bound: Scored, terms: Any) -> tuple[int, Decision]:
    """The place of the positive class, and what is certified of the target or the costs."""
    names, several = classifier._labels.names, len(classifier.classes_) > 2
    if classifier.costs is not None and several:
        table = cost_table(classifier.costs, names)
        # A label that the model does not know costs as much as anything can.
        each = np.where(bound[1] < 0, table.max(), table[np.maximum(bound[1], 0), winners(bound[0])])
        return 1, certify_costs(each, float(table.max()), order=np.arange(len(each)), **terms)  # that of the split
    if several:
        raise ParameterError("{} and {} are for two classes.", *map(Parameter, DECISIONS[1:3]))
    label = classifier.positive_class
    if label is not None and str(label) not in names:
        raise ParameterError("{} must be one of {}; got {!r}.", Parameter("positive_class"), ", ".join(names), label)
    positive = 1 if label is None else names.index(str(label))
    terms = {**terms, "positive_class": names[positive]}
    sign = 2.0 * positive - 1.0
    first, second = ((sign * scores, np.asarray(codes == positive)) for scores, codes in (known, bound))
    if classifier.costs is None:
        wanted = {"recall": classifier.target_recall, "precision": classifier.target_precision}
        return positive, meet_target(first, second, **wanted, **terms)
    table = cost_table(classifier.costs, names)
    table = table if positive else table[::-1, ::-1]
    calibration = classifier.model_.calibration
    usual = None if calibration is None else 2 * _share_at(calibration, bayes_cut(table)) - 1
    places = np.arange(len(bound[1]))  # in the order of the split
    return positive, meet_costs(first, second, table, usual=usual, unknown=bound[1] < 0, order=places, **terms)


def _share_at(calibration: Calibration, probability: float) -> float:
    """The share of the vote at which one of two classes has this probability; the nearest share if none has.

    Examples
    --------
    >>> round(_share_at(Calibration(2.0, 0.0), 0.9), 6), _share_at(Calibration(2.0, 0.1), 0.9999)
    (0.75, 1.0)
    """
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    odds = (inside / (1 - inside)) ** (1 / calibration.power)
    return min(max((odds * (1 + calibration.floor) - calibration.floor) / (1 + odds), 0.0), 1.0)
