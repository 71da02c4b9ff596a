"""A goal within a fit: candidate decisions from validation rows, one of which the bound rows certify."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.evidence import Evidence
from abnet.certificates.goals import Goal, TargetRecall
from abnet.certificates.rates_of_cut import first_warning
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.thresholds import Candidates
from abnet.certificates.validation_scores import ValidationScores
from abnet.model.calibration import Calibration
from abnet.utils.class_scores import winners
from abnet.utils.errors import Parameter, ParameterWarning
from abnet.utils.wording import number_of, percent

__all__ = ["FixedGoal", "decide", "fix_goal", "hint_at_recall", "share_at", "warn_of_goal"]

RARE = 0.2
"""Share of the training rows up to which a class is rare."""
FEWEST = 10
"""Minimum number of validation rows of a rare class to judge its recall."""


@dataclass(frozen=True, eq=False)
class FixedGoal:
    """A goal with its candidate decisions, fixed before the bound rows are seen."""

    goal: Goal
    candidates: Candidates


def hint_at_recall(held: ValidationScores, codes: NDArray[np.intp], names: Sequence[str]) -> None:
    """Warn about a rare class that the plain vote predicts less than half as often as it occurs.

    Parameters
    ----------
    held : ValidationScores
        Rows of the first part, with scores of models that were fitted without them.
    codes : array (n,)
        Classes of the first part.
    names : sequence of str

    Examples
    --------
    >>> import warnings
    >>> held = ValidationScores(np.full(100, -0.8), np.repeat([0, 1], [90, 10]))
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     hint_at_recall(held, held.codes, ("well", "ill"))
    >>> len(seen), "0 of 10" in str(seen[0].message)
    (1, True)
    """
    rows_of_class = np.bincount(codes, minlength=2)
    rare = int(np.argmin(rows_of_class))
    share = rows_of_class[rare] / len(codes)
    if len(names) != 2 or share > RARE:
        return
    is_rare = held.codes == rare
    is_predicted = winners(held.scores) == rare
    n_rare = int(np.sum(is_rare))
    if n_rare < FEWEST or 2 * np.sum(is_predicted) >= n_rare:
        return
    warnings.warn(
        ParameterWarning(
            "class {!r} is rare ({} of the training rows), and the model hardly ever predicts it: in a test on "
            "training rows, it found {:,} of {}. {} would certify a threshold that finds more, with more false alarms.",
            names[rare],
            percent(share),
            int(np.sum(is_predicted & is_rare)),
            number_of(n_rare, "row"),
            Parameter("decision", TargetRecall(0.9, positive=names[rare])),
        ),
        stacklevel=5,
    )


def fix_goal(
    goal: Goal,
    held: ValidationScores,
    calibration: Calibration | None,
    names: tuple[str, ...],
    n_rows: int,
    terms: Terms,
) -> FixedGoal:
    """The goal with its candidate decisions.

    Parameters
    ----------
    goal : Goal
    held : ValidationScores
        Rows of the first part.
    calibration : Calibration or None
        Of probabilities; thresholds may be given as such.
    names : tuple of str
    n_rows : int
        Number of bound rows.
    terms : Terms
    """
    if calibration is not None and held.scores.ndim == 1:
        held = replace(held, score_at=lambda probability: 2 * share_at(calibration, probability) - 1)
    elif calibration is not None:
        held = replace(held, power=calibration.power, floor=calibration.floor)
    return FixedGoal(goal, goal.candidates(held, names, n_rows, terms))


def decide(
    fixed: FixedGoal, evidence: Evidence, terms: Terms, beside: Terms | None = None
) -> tuple[Decision, list[Statement]]:
    """The decision certified by the bound rows, and the statements about it; the plain vote if none is certified."""
    decision, statements = fixed.goal.certify(evidence, fixed.candidates, terms, beside)
    if decision is None:
        return ARGMAX, statements
    return decision, statements


def warn_of_goal(goal: Goal, statements: list[Statement], terms: Terms) -> None:
    """Warn that the goal could not be certified, or that its decision treats nearly all rows in the same way."""
    # Both warnings come from the held-out rows, so another target on them is a choice that the bound has to cover.
    another = Parameter("n_candidates", 2 * terms.n_candidates)
    if statements[0].value is None:
        warnings.warn(
            ParameterWarning(
                "{} could not be certified and is not promised. Predictions are the most likely class instead (the "
                "plain vote). The certificate says what was counted, and whether more held-out rows would help. "
                "To try another target on the same rows, add {}: it is then a choice among two.",
                goal,
                another,
            ),
            stacklevel=5,
        )
        return
    price = first_warning(statements)
    if price is not None:
        warnings.warn(
            ParameterWarning(
                "{} is certified, but at a price. {} The table of thresholds, which is estimated on training rows, "
                "shows what other targets would cost. To certify another one on the same rows, add {}: it is then a "
                "choice among two.",
                goal,
                price,
                another,
            ),
            stacklevel=5,
        )


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
