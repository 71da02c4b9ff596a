"""`meet`: fix candidate decisions on validation rows, and certify one of them on held-out rows."""

import numpy as np
from numpy.typing import ArrayLike

from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.goals import Goal
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.thresholds import Candidates
from abnet.certificates.validation_scores import ValidationScores

__all__ = ["meet", "observe_candidates"]


def meet(
    goal: Goal,
    held: ValidationScores,
    scores: ArrayLike,
    truth: ArrayLike,
    classes: tuple[str, ...],
    terms: Terms,
    *,
    keys: ArrayLike,
    answers: ArrayLike | None = None,
    beside: Terms | None = None,
) -> tuple[Decision | None, list[Statement]]:
    """Fix the candidate decisions on validation rows, test them on the held-out rows, and certify one of them.

    Parameters
    ----------
    goal : Goal
    held : ValidationScores
    scores, truth : arrays (n,) or (n, K), and (n,)
        Scores and classes of the held-out rows; class K stands for a label that the model does not know, which has the
        largest cost.
    classes : tuple of str
    terms : Terms
    keys : uint64 array (n,)
        Positions of the rows in the order for betting bounds.
    answers : int array (n,), optional
        The model's answers; by default the class with the largest score.
    beside : Terms, optional
        Of the statements beside the goal's own, if their δ is another one.

    Returns
    -------
    decision : Decision or None
        None if nothing could be certified.
    statements : list of Statement

    Examples
    --------
    >>> from abnet import TargetPrecision
    >>> scores, truth = np.linspace(-1.0, 1.0, 400), (np.arange(400) >= 200).astype(int)
    >>> goal, held = TargetPrecision(0.9, positive="ill"), ValidationScores(scores, truth)
    >>> decision, (made, *beside) = meet(goal, held, scores, truth, ("well", "ill"), Terms(), keys=np.arange(400))
    >>> decision.kind, made.value
    ('cut', 0.9)
    >>> [s.about for s in beside]
    ['recall of ill', 'share of rows predicted as ill', 'error rate of the decision rule']
    """
    candidates = goal.candidates(held, classes, len(np.asarray(truth)), terms)
    evidence = observe_candidates(goal, candidates, scores, truth, classes, keys=keys, answers=answers)
    return goal.certify(evidence, candidates, terms, beside)


def observe_candidates(
    goal: Goal,
    candidates: Candidates,
    scores: ArrayLike,
    truth: ArrayLike,
    classes: tuple[str, ...],
    *,
    keys: ArrayLike,
    answers: ArrayLike | None = None,
) -> Evidence:
    """What held-out rows, or a block of them, show about the candidate decisions of a goal.

    Parameters
    ----------
    goal : Goal
    candidates : Candidates
        Fixed before these rows were seen.
    scores, truth, classes, keys, answers
        As for `meet`.
    """
    values = np.asarray(scores, np.float64)
    codes = np.asarray(truth)
    first = candidates.decisions[0]
    if answers is None:
        answers = ARGMAX(values)
    compared = None
    if candidates.thresholds:
        compared = first.score(values)
    return observe(
        answers,
        codes,
        classes,
        costs=goal.row_costs(first, values, codes, classes),
        keys=keys,
        scores=compared,
        thresholds=candidates.thresholds,
    )
