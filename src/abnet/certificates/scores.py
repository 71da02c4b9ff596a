"""`certify_scores`: certify decisions from the scores of any model."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import Terms, facts_of
from abnet.certificates.goals import Costs, Goal, TargetError, TargetPrecision, TargetRecall, meet
from abnet.certificates.held import Held
from abnet.certificates.outside import judge_answers
from abnet.certificates.split import Split, drawn_seed, row_hashes
from abnet.utils.checks import level

__all__ = ["certify_scores"]


def certify_scores(
    scores: ArrayLike,
    y: ArrayLike,
    goal: Goal,
    *,
    answers: ArrayLike | None = None,
    positive: Any = None,
    delta: float = 0.05,
    n_candidates: int = 1,
    aside: float = 0.3,
    random_state: int | None = None,
) -> Certificate:
    """Certify a decision threshold from the scores of any model, on rows held out from its training.

    A random fraction of the rows is set aside to fix the candidate thresholds; the other rows certify one of them. The
    random choice depends on a hash of the scores, labels and answers, not on row positions
    (`abnet.certificates.split.Split`).

    Parameters
    ----------
    scores : array-like (n,)
        For `TargetError`, the model's confidence in its answer (not negative); otherwise the score of the positive
        class.
    y : array-like (n,)
        Labels.
    goal : TargetError, TargetRecall, TargetPrecision or Costs
        For recall and precision, every label but the positive one is negative. Costs name `positive` and one other
        label (or are an array with the negative class first); a row with any other label has the largest cost.
    answers : array-like (n,), optional
        The model's answers, for `TargetError`.
    positive : label, optional
        The class that the scores belong to, for `Costs`.
    delta : float
        Maximum probability that the promise fails.
    n_candidates : int
        Number of models among which you choose with these rows.
    aside : float
        Fraction of the rows that fixes the thresholds.
    random_state : int, optional
        Seed for choosing these rows; drawn anew by default. Fix it in advance, because trying several seeds is choosing
        among candidates.

    Returns
    -------
    Certificate
        Its statements record the threshold in ``rule``. Their value is None if nothing could be certified.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(2000) < 0.3
    >>> scores = rng.normal(size=2000) + 3 * ill
    >>> made = certify_scores(scores, np.where(ill, "ill", "well"), TargetRecall(0.9, positive="ill"))
    >>> made.find("recall", "class", "ill").value, made.facts.n_rows
    (0.9, 1400)
    """
    marks, labels = np.asarray(scores, np.float64), np.asarray(y)
    if marks.ndim != 1 or labels.shape != marks.shape or len(marks) < 2 or not np.isfinite(marks).all():
        raise ValueError(f"scores and y must be vectors of two or more rows; got {marks.shape} and {labels.shape}.")
    hashes = row_hashes({"score": marks, **({} if answers is None else {"answer": np.asarray(answers)})}, labels)
    split = Split.of(hashes, level("aside", aside), drawn_seed(random_state))
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    names, codes, said = _classes(marks, labels, goal, answers, positive)
    some = split.first[codes[split.first] < len(names)]  # what costs the same whatever is answered decides nothing
    if not len(some):
        raise ValueError(f"no row that was set aside is {' or '.join(names)}, so no threshold can be found.")
    scored, truth = marks[split.counted], codes[split.counted]
    shown = None if said is None else said[split.counted]
    held = Held(marks[some], codes[some], answers=None if said is None else said[some])
    keys = np.arange(len(truth))
    decision, made = meet(goal, held, scored, truth, names, terms, keys=keys, answers=shown)
    if shown is None:
        shown = np.full(len(truth), len(names)) if decision is None else decision(scored)
    return Certificate(statements=tuple(made), facts=facts_of(observe(shown, truth, names), terms))


def _classes(
    marks: NDArray[np.float64], labels: NDArray[Any], goal: Goal, answers: ArrayLike | None, positive: Any
) -> tuple[tuple[str, ...], NDArray[np.intp], NDArray[np.intp] | None]:
    """Names of the classes of a goal, the code of every row, and the codes of the answers if the goal needs them."""
    if not isinstance(goal, TargetError):
        named = goal.positive if isinstance(goal, TargetRecall | TargetPrecision) else positive
        return *_two_classes(labels, named, goal.costs if isinstance(goal, Costs) else None), None
    if answers is None:
        raise ValueError("TargetError needs the model's answers beside its scores.")
    if marks.min() < 0.0:
        raise ValueError("scores must not be negative for TargetError: they say how sure the model is.")
    judged = judge_answers(labels, answers)
    return judged.names, judged.truth, judged.answers


def _two_classes(labels: NDArray[Any], positive: Any, costs: Any) -> tuple[tuple[str, str], NDArray[np.intp]]:
    """Names, negative first, and codes; 2 for a label that the costs do not name."""
    if positive is None or not np.any(labels == positive):
        raise ValueError(f"positive must be one of the labels; got {positive!r}.")
    is_positive = np.asarray(labels == positive)
    if not isinstance(costs, Mapping):
        return (f"not {positive}", str(positive)), is_positive.astype(np.intp)
    named = {str(label) for pair in costs if isinstance(pair, tuple) for label in pair}
    others = sorted(named - {str(positive)})
    if str(positive) not in named or len(others) != 1:
        raise ValueError(f"costs must name two labels, {positive} and one other; they name {', '.join(sorted(named))}.")
    is_other = np.array([str(label) == others[0] for label in labels.tolist()], np.bool_)
    return (others[0], str(positive)), np.where(is_positive, 1, np.where(is_other, 0, 2))
