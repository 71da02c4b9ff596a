"""`certify_scores`: certify decisions from the scores of any model."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.goals import Goal
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly
from abnet.certificates.meet_goal import meet
from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.certificates.statements.statement import Statement
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
    delta: float = 0.05,
    n_candidates: int = 1,
    aside: float = 0.3,
    joint: JointNames | None = None,
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
    goal : Goal
        `TargetError`, `TargetRecall`, `TargetSpecificity`, `TargetPrecision` or `Costs`. For recall, specificity and
        precision, every label but the positive one is negative. Costs name `positive` and one other label (or are an
        array with the negative class first); a row with any other label has the largest cost.
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
    joint : sequence of str or dict, optional
        Names of statements that are to hold jointly, as for `abnet.certify`, such as "recall of ill", "precision for
        ill" and "error rate of the decision rule". The target is then tested at its share of δ.
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
    if values.ndim != 1 or labels.shape != values.shape or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(f"scores and y must be vectors of two or more rows; got {values.shape} and {labels.shape}.")
    hashed = {"score": values}
    if answers is not None:
        hashed["answer"] = np.asarray(answers)
    split = Split.of(row_hashes(hashed, labels), level("aside", aside), drawn_seed(random_state))
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

    def met(chosen_at: float, delta: float) -> tuple[Decision | None, list[Statement]]:
        return meet(
            goal,
            held,
            counted_scores,
            counted_truth,
            names,
            replace(terms, delta=chosen_at),
            keys=np.arange(len(counted_truth)),
            answers=counted_answers,
            beside=replace(terms, delta=delta),
        )

    target = met(delta, delta)[1][0].unit

    def made(makes: Makes) -> Certificate:
        decision, statements = met(makes.choosing(target), makes.delta)
        answered = counted_answers
        if answered is None:
            answered = _answers_of(decision, counted_scores, len(names))
        evidence = observe(answered, counted_truth, names)
        return Certificate(statements=tuple(statements), facts=Facts.of(evidence, terms))

    return hold_jointly(made, delta, joint)


def _answers_of(decision: Decision | None, scores: NDArray[np.float64], n_classes: int) -> NDArray[np.intp]:
    """Answers by the certified decision; no answer, if nothing could be certified."""
    if decision is None:
        return np.full(len(scores), n_classes)
    return decision(scores)
