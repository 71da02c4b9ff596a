"""`certify_scores`: certify decisions from the scores of any model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.goals import Goal
from abnet.certificates.meet_goal import meet
from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.scored_labels import labels_of_columns
from abnet.certificates.split import Split
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from abnet.utils.checks import level

__all__ = ["certify_scores"]


def certify_scores(
    scores: ArrayLike,
    y: ArrayLike,
    goal: Goal,
    *,
    answers: ArrayLike | None = None,
    positive: Any = None,
    classes: Sequence[Any] | None = None,
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
    scores : array-like (n,) or (n, K)
        For `TargetError`, the model's confidence in its answer (not negative); otherwise the score of the positive
        class. For `Costs` of three classes or more, probabilities with one column per class.
    y : array-like (n,)
        Labels.
    goal : Goal
        `TargetError`, `TargetRecall`, `TargetSpecificity`, `TargetPrecision` or `Costs`. For recall, specificity and
        precision, every label but the positive one is negative. Costs name `positive` and one other label (or are an
        array with the negative class first); a row with any other label has the largest cost.
    answers : array-like (n,), optional
        The model's answers, for `TargetError`.
    positive : label, optional
        The class that the scores belong to, for `Costs` of two classes.
    classes : sequence of K labels, optional
        The classes of the columns, for `Costs` of several classes.
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
    >>> from abnet import TargetRecall
    >>> made = certify_scores(scores, np.where(ill, "ill", "well"), TargetRecall(0.9, positive="ill"))
    >>> made.statements[0].value, made.facts.n_rows
    (0.9, 1400)
    """
    values = np.asarray(scores, np.float64)
    labels = np.asarray(y)
    n_dimensions = 1
    if goal.takes_probabilities and values.ndim == 2:
        n_dimensions = 2
    same_rows = values.ndim == n_dimensions and labels.shape == values.shape[:1]
    if not same_rows or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(f"scores and y must be vectors of two or more rows; got {values.shape} and {labels.shape}.")
    hashed = {f"score {place}": column for place, column in enumerate(np.atleast_2d(values.T))}
    if answers is not None:
        hashed["answer"] = np.asarray(answers)
    split = Split.of(row_hashes(hashed, labels), level("aside", aside), drawn_seed(random_state))
    if values.ndim == 2:
        names, truth, codes = labels_of_columns(labels, values.shape[1], classes)
    else:
        names, truth, codes = goal.code_labels(labels, values, answers, positive)
    # A row with a label that the goal does not name costs the same whatever is answered, so it decides no threshold.
    first = split.first[truth[split.first] < len(names)]
    if not len(first):
        raise ValueError(f"no row that was set aside is {' or '.join(names)}, so no threshold can be found.")
    held = ValidationScores(values[first], truth[first])
    counted_scores = values[split.counted]
    counted_truth = truth[split.counted]
    counted_answers = None
    if codes is not None:
        held = replace(held, answers=codes[first])
        counted_answers = codes[split.counted]
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    decision, statements = meet(
        goal,
        held,
        counted_scores,
        counted_truth,
        names,
        terms,
        keys=np.arange(len(counted_truth)),
        answers=counted_answers,
    )
    if counted_answers is None:
        counted_answers = _answers_of(decision, counted_scores, len(names))
    evidence = observe(counted_answers, counted_truth, names)
    return Certificate(statements=tuple(statements), facts=Facts.of(evidence, terms))


def _answers_of(decision: Decision | None, scores: NDArray[np.float64], n_classes: int) -> NDArray[np.intp]:
    """Answers by the certified decision; no answer, if nothing could be certified."""
    if decision is None:
        return np.full(len(scores), n_classes)
    return decision(scores)
