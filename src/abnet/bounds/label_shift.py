r"""Bounds on the error where the classes have other shares than on the held-out rows, but look the same.

Label shift: P(row | class) stays, P(class) changes. With known new shares ``π_j`` the error is a mean of the errors of
the classes. With unknown shares, unlabelled new rows tell how frequent each answer is, and the shares that could
explain these frequencies are the solutions of linear inequalities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from abnet.bounds.clopper_pearson import clopper_pearson_bound, clopper_pearson_lower
from abnet.bounds.rounding import round_up
from abnet.bounds.shares import share_of_a_limit, shares_by_count
from abnet.utils.checks import level, probability

__all__ = ["NotLabelShiftError", "known_mix_bound", "possible_shares", "unknown_mix_bound"]

Array = NDArray[np.float64]

# Share of δ for the frequencies of the answers on the unlabelled rows.
_ANSWERS = 0.2
# More than the rounding errors of a sum over the entries of a confusion matrix.
_MARGIN = 1e-12


class NotLabelShiftError(ValueError):
    """No shares of the classes explain the answers: with confidence 1-δ, more than the shares has changed."""


def known_mix_bound(
    rows: Sequence[int],
    errors: Sequence[int],
    shares: Sequence[float],
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
) -> float:
    r"""Bound on the error rate where class j has the share ``π_j``: ``Σ π_j u_j``, with limits that hold jointly.

    Parameters
    ----------
    rows, errors : sequence of int
        Held-out rows of each class, and errors on them. A class without rows counts as always wrong.
    shares : sequence of float
        Shares of the classes in the new data; they sum to 1.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number of models compared on the same rows.

    Examples
    --------
    >>> round(known_mix_bound([950, 50], [19, 10], [0.99, 0.01]), 4)
    0.0392
    """
    mix = np.array([probability("shares", share) for share in shares])
    if abs(mix.sum() - 1.0) > 1e-6:
        raise ValueError(f"shares must sum to 1; they sum to {mix.sum():g}.")
    limits = []
    for n, k, share in zip(rows, errors, shares_by_count(rows, delta), strict=True):
        if n == 0:
            limits.append(1.0)
        else:
            limits.append(clopper_pearson_bound(k, n, share, n_candidates=n_candidates))
    return min(1.0, round_up(float(mix @ np.array(limits)) / float(mix.sum())) + _MARGIN)


@dataclass(frozen=True)
class _Program:
    """Inequalities ``A z <= b`` for ``z_jk``, the probability of class j and answer k; z is on the simplex."""

    A: Array
    b: Array
    wrong: Array
    """1 for each entry of z where class and answer differ."""
    of_class: Array
    """(classes, entries): 1 where the entry is about the class."""

    def largest(self, weights: Array) -> float:
        """Bound on the maximum of ``weights · z``.

        For every ``y >= 0`` the maximum is at most ``b · y + max(weights - y A)``, because z sums to 1. The solver's
        multipliers make this an equality up to rounding, and errors of the solver cannot make it too small.
        """
        found = linprog(-weights, A_ub=self.A, b_ub=self.b, A_eq=np.ones((1, len(weights))), b_eq=[1.0], method="highs")
        if found.status == 2:
            raise NotLabelShiftError(
                "this is not label shift: at this confidence, no shares of the classes explain how often each answer "
                "was given on the new rows, so the rows within the classes have changed, too. Without labels nothing "
                "can be certified about the new rows: label some of them, and certify the model on those."
            )
        multipliers = np.zeros(len(self.b))
        if found.status == 0:
            multipliers = np.maximum(0.0, -np.asarray(found.ineqlin.marginals))
        total = float(self.b @ multipliers) + float((weights - multipliers @ self.A).max())
        scale = 1.0 + float(np.abs(self.b) @ multipliers)
        return total + _MARGIN * scale


def _program(confusion: Sequence[int], answers: Sequence[int], delta: float, n_candidates: int) -> _Program:
    """Limits at .8 δ on how often each class gets each answer, and at .2 δ on how frequent each answer is."""
    new = np.array([int(k) for k in answers])
    if len(new) < 2 or len(confusion) % len(new):
        raise ValueError(f"confusion must have {len(new)} counts for each class; got {len(confusion)} counts.")
    counts = np.array([int(k) for k in confusion]).reshape(-1, len(new))
    n_classes, n_answers = counts.shape
    if n_answers < n_classes:
        raise ValueError(f"there are {n_classes} classes, but only {n_answers} answers.")
    if new.sum() == 0:
        raise ValueError("answers must count at least one row.")
    delta = level("delta", delta) / n_candidates
    inequalities = []
    totals = []
    identity = np.eye(n_classes * n_answers).reshape(n_classes, n_answers, -1)

    of_classes = shares_by_count(counts.sum(axis=1).tolist(), (1.0 - _ANSWERS) * delta)
    for j in range(n_classes):
        n = int(counts[j].sum())
        if n == 0:
            continue
        share = share_of_a_limit(of_classes[j], n_answers)
        for k in range(n_answers):
            low = clopper_pearson_lower(int(counts[j, k]), n, share)
            high = clopper_pearson_bound(int(counts[j, k]), n, share)
            inequalities += [
                low * identity[j].sum(axis=0) - identity[j, k],
                identity[j, k] - high * identity[j].sum(axis=0),
            ]
            totals += [0.0, 0.0]

    share = share_of_a_limit(_ANSWERS * delta, n_answers)
    for k in range(n_answers):
        answered = identity[:, k].sum(axis=0)
        inequalities += [answered, -answered]
        totals.append(clopper_pearson_bound(int(new[k]), int(new.sum()), share))
        totals.append(-clopper_pearson_lower(int(new[k]), int(new.sum()), share))

    right = identity[np.arange(n_classes), np.arange(n_classes)].sum(axis=0)
    return _Program(np.array(inequalities), np.array(totals), 1.0 - right, identity.sum(axis=1))


def unknown_mix_bound(
    confusion: Sequence[int], answers: Sequence[int], delta: float = 0.05, *, n_candidates: int = 1
) -> float:
    r"""Bound on the error rate on new rows under label shift with unknown shares of the classes.

    .. math:: \max \sum_{j \ne k} z_{jk} \quad\text{with}\quad
              L_{jk} \sum_l z_{jl} \le z_{jk} \le U_{jk} \sum_l z_{jl}, \quad
              l_k \le \sum_j z_{jk} \le u_k, \quad \sum z = 1

    All limits hold jointly with probability at least 1-δ. Valid only if the rows of each class look as before, which
    the unlabelled rows can refute but not prove.

    Parameters
    ----------
    confusion : sequence of int
        Counts of held-out labelled rows by class and answer, class after class; answer k is class k, and further
        answers are wrong for every class.
    answers : sequence of int
        How often each answer was given on the new rows.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number of models compared on the same rows.

    Raises
    ------
    NotLabelShiftError
        If no shares explain the answers.

    Examples
    --------
    >>> round(unknown_mix_bound([900, 50, 10, 40], [700, 300]), 3)
    0.199
    """
    program = _program(confusion, answers, delta, n_candidates)
    return min(1.0, max(0.0, program.largest(program.wrong)))


def possible_shares(
    confusion: Sequence[int], answers: Sequence[int], delta: float = 0.05, *, n_candidates: int = 1
) -> list[tuple[float, float]]:
    """Limits of the share of each class among the new rows, on the event of `unknown_mix_bound`.

    Examples
    --------
    >>> [(round(low, 2), round(high, 2)) for low, high in possible_shares([900, 50, 10, 40], [700, 300])]
    [(0.51, 0.78), (0.22, 0.49)]
    """
    program = _program(confusion, answers, delta, n_candidates)
    limits = []
    for weights in program.of_class:
        low = max(0.0, -program.largest(-weights))
        high = min(1.0, program.largest(weights))
        limits.append((low, high))
    return limits
