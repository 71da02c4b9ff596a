"""A goal within a fit: candidate thresholds from held rows, and a decision certified on the bound rows."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.goals import Goal, TargetRecall
from abnet.certificates.held import Held
from abnet.certificates.meet_goal import meet
from abnet.certificates.rates_of_cut import first_warning
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.model.calibration import Calibration
from abnet.utils.class_scores import winners
from abnet.utils.errors import Parameter, ParameterWarning
from abnet.utils.wording import number_of, percent

__all__ = ["decide", "hint_at_recall", "with_probabilities"]

RARE, FEWEST = 0.2, 10
"""Share of the training rows up to which a class is rare, and held rows of it that are needed to judge its recall."""


def hint_at_recall(held: Held, codes: NDArray[np.intp], names: Sequence[str]) -> None:
    """Warn about a rare class that the plain vote predicts less than half as often as it occurs.

    Parameters
    ----------
    held : Held
        Rows of the first part, with scores of models that were fitted without them.
    codes : array (n,)
        Classes of the first part.
    names : sequence of str

    Examples
    --------
    >>> import warnings
    >>> held = Held(np.full(100, -0.8), np.repeat([0, 1], [90, 10]))
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     hint_at_recall(held, held.codes, ("well", "ill"))
    >>> len(seen), "0 of 10" in str(seen[0].message)
    (1, True)
    """
    rows = np.bincount(codes, minlength=2)
    rare = int(np.argmin(rows))
    share = rows[rare] / len(codes)
    if len(names) != 2 or share > RARE:
        return
    predicted, there = winners(held.scores) == rare, held.codes == rare
    if np.sum(there) < FEWEST or 2 * np.sum(predicted) >= np.sum(there):
        return
    warnings.warn(
        ParameterWarning(
            "class {!r} is rare ({} of the training rows), and the model hardly ever predicts it: in a test on "
            "training rows, it found {:,} of {}. {} would certify a threshold that finds more, with more false alarms.",
            names[rare], percent(share), int(np.sum(predicted & there)), number_of(int(np.sum(there)), "row"),
            Parameter("decision", TargetRecall(0.9, positive=names[rare])),
        ),
        stacklevel=5,
    )  # fmt: skip


def with_probabilities(held: Held, calibration: Calibration | None) -> Held:
    """Held rows with `score_at` set, if there are two classes with calibrated probabilities."""
    if calibration is None or held.scores.ndim > 1:
        return held
    return replace(held, score_at=lambda p: 2 * share_at(calibration, p) - 1)


def decide(
    goal: Goal,
    held: Held,
    scores: NDArray[np.float64],
    codes: NDArray[np.intp],
    names: tuple[str, ...],
    terms: Terms,
) -> tuple[Decision, list[Statement]]:
    """The decision certified by the bound rows, and the statements about it; the plain vote if none is certified."""
    decision, made = meet(goal, held, scores, codes, names, terms, keys=np.arange(len(codes)))
    # Both warnings come from the held-out rows, so another target on them is a choice that the bound has to cover.
    another = Parameter("n_candidates", 2 * terms.n_candidates)
    if decision is None:
        warnings.warn(
            ParameterWarning(
                "{} could not be certified and is not promised. Predictions are the most likely class instead (the "
                "plain vote). The certificate says what was counted, and how many held-out rows would be needed. "
                "To try another target on the same rows, add {}: it is then a choice among two.",
                goal, another,
            ),
            stacklevel=5,
        )  # fmt: skip
        return ARGMAX, made
    warning = first_warning(made)
    if warning is not None:
        warnings.warn(
            ParameterWarning(
                "{} is certified, but at a price. {} The table of thresholds, which is estimated on training rows, "
                "shows what other targets would cost. To certify another one on the same rows, add {}: it is then a "
                "choice among two.",
                goal, warning, another,
            ),
            stacklevel=5,
        )  # fmt: skip
    return decision, made


def share_at(calibration: Calibration, probability: float) -> float:
    """The share of the vote at which one of two classes has this calibrated probability, or the nearest share.

    Examples
    --------
    >>> round(share_at(Calibration(2.0, 0.0), 0.9), 6), share_at(Calibration(2.0, 0.1), 0.9999)
    (0.75, 1.0)
    """
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    odds = (inside / (1 - inside)) ** (1 / calibration.power)
    return min(max((odds * (1 + calibration.floor) - calibration.floor) / (1 + odds), 0.0), 1.0)
