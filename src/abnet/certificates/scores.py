"""`certify_scores`: certify decisions from the scores of any model."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.decision import Decision
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.goals import Goal
from abnet.certificates.goals.goal import RateGoal
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.meet_by_rank import meet_by_rank
from abnet.certificates.meet_goal import meet
from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.scored_labels import labels_of_columns
from abnet.certificates.split import Split
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.certificates.validation_scores import ValidationScores
from abnet.utils.checks import level
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["certify_scores"]

ASIDE = 0.3
"""Fraction of the rows that fixes a threshold for costs, by default."""


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
    aside: float | None = None,
    joint: JointNames | None = None,
    random_state: int | None = None,
) -> Certificate:
    """Certify a decision threshold from the scores of any model, on rows held out from its training.

    For a target rate, all rows test the thresholds, which lie between their own scores, in an order that is fixed in
    advance (`abnet.certificates.thresholds.rank_tests`). For `Costs`, a random fraction of the rows is set aside to fix
    the threshold, and the others certify it. Random choices depend on a hash of the scores, labels and answers, not on
    row positions (`abnet.certificates.keyed_order`).

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
    aside : float, optional
        For `Costs`: fraction of the rows that fixes the threshold; by default 0.3.
    joint : sequence of str or dict, optional
        Names of statements that are to hold jointly, as for `abnet.certify`, such as "recall of ill", "precision for
        ill" and "error rate of the decision rule". The target is then tested at its share of δ.
    random_state : int, optional
        Seed for choosing these rows, and for the order in which rows with equal scores are tested; drawn anew by
        default. Fix it in advance, because trying several seeds is choosing among candidates.

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
    (0.9, 2000)
    """
    values = np.asarray(scores, np.float64)
    labels = np.asarray(y)
    n_dimensions = 1
    if goal.takes_probabilities and values.ndim == 2:
        n_dimensions = 2
    same_rows = values.ndim == n_dimensions and labels.shape == values.shape[:1]
    if same_rows and len(values) < 2:
        raise ValueError(f"a target and costs need two or more labelled rows with scores; got {len(values)}.")
    if not same_rows:
        raise ValueError(f"scores and y must be vectors of the same rows; got {values.shape} and {labels.shape}.")
    unknown = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if len(unknown):
        raise ValueError(f"scores must be finite numbers, but not that of row {unknown[0]}: leave such rows out.")
    hashed = {f"score {place}": column for place, column in enumerate(np.atleast_2d(values.T))}
    if answers is not None:
        hashed["answer"] = np.asarray(answers)
    hashes = row_hashes(hashed, labels)
    seed = drawn_seed(random_state)
    if values.ndim == 2:
        names, truth, codes = labels_of_columns(labels, values.shape[1], classes)
    else:
        names, truth, codes = goal.code_labels(labels, values, answers, positive)
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    rows = _Rows(values, truth, codes)
    if isinstance(goal, RateGoal):
        if aside is not None:
            raise ParameterError("{} is for costs: a target tests all rows.", Parameter("aside"))
        keys = bet_keys(row_order(hashes, seed))
        test = partial(meet_by_rank, goal, rows.scores, rows.truth, names, keys=keys, answers=rows.answers)
    else:
        share = ASIDE
        if aside is not None:
            share = level("aside", aside)
        held, rows = _set_aside(rows, Split.of(hashes, share, seed), names)
        keys = np.arange(len(rows.truth), dtype=np.uint64)
        test = partial(meet, goal, held, rows.scores, rows.truth, names, keys=keys, answers=rows.answers)

    def met(chosen_at: float, delta: float) -> tuple[Decision | None, list[Statement]]:
        return test(replace(terms, delta=chosen_at), beside=replace(terms, delta=delta))

    # Only joint statements have shares of δ, which are found by name.
    target = ""
    if joint is not None:
        target = met(delta, delta)[1][0].unit

    def made(makes: Makes) -> Certificate:
        decision, statements = met(makes.choosing(target), makes.delta)
        answered = rows.answers
        if answered is None:
            answered = _answers_of(decision, rows.scores, len(names))
        evidence = observe(answered, rows.truth, names)
        return Certificate(statements=tuple(statements), facts=Facts.of(evidence, terms))

    return hold_jointly(made, delta, joint)


class _Rows(NamedTuple):
    """Rows with scores, their classes, and the model's answers if the goal is about them."""

    scores: NDArray[np.float64]
    truth: NDArray[np.intp]
    answers: NDArray[np.intp] | None

    def at(self, places: NDArray[np.intp]) -> "_Rows":
        """Some of the rows."""
        answers = None
        if self.answers is not None:
            answers = self.answers[places]
        return _Rows(self.scores[places], self.truth[places], answers)


def _set_aside(rows: _Rows, split: Split, names: tuple[str, ...]) -> tuple[ValidationScores, _Rows]:
    """The rows that fix the threshold, and the rows that are counted."""
    # A row with a label that the goal does not name costs the same whatever is answered, so it decides no threshold.
    first = rows.at(split.first[rows.truth[split.first] < len(names)])
    if not len(first.truth):
        raise ValueError(f"no row that was set aside is {' or '.join(names)}, so no threshold can be found.")
    return ValidationScores(first.scores, first.truth, answers=first.answers), rows.at(split.counted)


def _answers_of(decision: Decision | None, scores: NDArray[np.float64], n_classes: int) -> NDArray[np.intp]:
    """Answers by the certified decision; no answer, if nothing could be certified."""
    if decision is None:
        return np.full(len(scores), n_classes)
    return decision(scores)
