"""What a fitted classifier is asked afterwards: its errors on a test set, and when it had better not answer.

Thresholds come from held rows of the first part, certificates from rows that had no part in learning.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import exact
from abnet.calibration import Calibration
from abnet.certificates.certify import Terms, certify
from abnet.certificates.evidence import observe
from abnet.certificates.goals import Goal, TargetError, TargetPrecision, TargetRecall, meet
from abnet.certificates.held import Held
from abnet.certificates.split import bet_keys, drawn_seed, row_hashes, row_order
from abnet.decisions.training_rows import estimate_error, filter_of, refuse_fitted
from abnet.errors import Parameter, ParameterError
from abnet.estimators.certification import Losses, one_thread, without_groups
from abnet.estimators.classifier import take_rows
from abnet.estimators.deployment import deploy
from abnet.labels import losses_of, winners, with_unknown

__all__ = [
    "certify_anew",
    "columns_of",
    "decide_after_fit",
    "expected_losses",
]


@one_thread
def certify_anew(
    classifier: Any,
    X: Any,
    y: Any,
    n_candidates: int,
    groups: Any,
    by: Any,
    allow_training_rows: bool,
    random_state: Any = None,
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
    codes, _ = with_unknown(classifier._labels.encode(y), K)
    seen = filter_of(model)
    if seen is not None:
        seen.add(prepared, classifier._marked(codes))
    if not allow_training_rows:
        refuse_fitted(seen)
    scores = model.predictor.scores(prepared)
    if allow_training_rows:
        return estimate_error(winners(scores) != codes, seen)
    losses = classifier._test_losses(prepared, scores, codes)
    found = observe(
        winners(scores), codes, classifier._labels.names, **losses._asdict(), groups=groups, populations=by,
        keys=bet_keys(row_order(row_hashes(rows, y), drawn_seed(random_state), groups)),
    )  # fmt: skip
    drawn = classifier._terms().drawn
    return certify(
        found, Terms(delta=classifier.delta, n_candidates=n_candidates, source="test set", drawn=drawn)
    )  # fmt: skip


def expected_losses(classifier: Any, prepared: Any, scores: NDArray[np.float64], codes: NDArray[np.intp]) -> Losses:
    """Linear losses of one network's expected output; 1, which bounds every other, where it is too wide for it."""
    if classifier.aggregation_ != "exact":
        if max(classifier.network_.sizes[1:-1]) > exact.MAX_WIDTH:
            return Losses(np.ones(len(codes)))
        exactly = classifier._by_name["exact"](1)
        scores = deploy(exactly, [classifier.network_], np.random.default_rng(0)).scores(prepared)
    return Losses(losses_of(scores, codes))


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
    """Set ``abstention_`` or ``decision_``, store it in the model, and add what is promised to the certificate.

    Thresholds are fixed by the held rows, and certified on the bound rows, which nothing learned from.
    """
    goal, K, bound = classifier.decision, len(classifier.classes_), classifier.bound_rows_
    codes, names = with_unknown(classifier._labels.encode(y), K)[0], classifier._labels.names
    _check_positive(goal, names)
    if len(np.unique(held.codes)) < 2:  # of few rows; then of all in the first part, however well they are known
        first = classifier.other_rows_
        held = Held(classifier.decision_function(take_rows(X, first)), codes[first])
    calibration = classifier.model_.calibration
    if calibration is not None and K == 2:
        held = replace(held, score_at=lambda p: 2 * _share_at(calibration, p) - 1)
    scores = classifier.decision_function(take_rows(X, bound))
    decision, made = meet(goal, held, scores, codes[bound], names, classifier._terms(), keys=np.arange(len(bound)))
    name = "abstention" if isinstance(goal, TargetError) else "decision"
    setattr(classifier, f"{name}_", decision)
    classifier.certificate_ = classifier.certificate_.adding(made)
    card = msgspec.structs.replace(classifier.model_.card, decisions={name: decision})
    classifier.model_ = replace(classifier.model_, certificate=classifier.certificate_, card=card)


def _check_positive(goal: Goal, names: Sequence[str]) -> None:
    """Refuse a recall or precision of a class that there is not."""
    if isinstance(goal, (TargetRecall, TargetPrecision)) and (len(names) != 2 or str(goal.positive) not in names):
        raise ParameterError(
            "{}: the positive class must be one of two classes; got {!r}, of {}.",
            Parameter("decision"), goal.positive, ", ".join(names),
        )  # fmt: skip


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
