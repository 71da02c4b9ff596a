"""Scores and Shapley values by their definitions: loops over regions, coalitions and orders; no code of the library."""

import math
from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

Score = Callable[[list[float]], list[float]]


def table_score(W: Any, b: Any, H: Any) -> Score:
    """``mean_m Σ_s H_m[s] Π_i (1 + s_i erf(t_i))/2`` of one row; W (M, d, n), b (M, d), H (M, 2^d, C)."""

    def score(x: list[float]) -> list[float]:
        total = [0.0] * len(H[0][0])
        norm = math.sqrt(2 * (sum(value * value for value in x) + 1))
        for member in range(len(W)):
            d = len(b[member])
            m = [
                math.erf((sum(w * v for w, v in zip(W[member][i], x, strict=True)) + b[member][i]) / norm)
                for i in range(d)
            ]
            for place, signs in enumerate(product((-1, 1), repeat=d)):
                probability = math.prod((1 + s * mean) / 2 for s, mean in zip(signs, m, strict=True))
                for c, value in enumerate(H[member][place]):
                    total[c] += probability * value / len(W)
        return total

    return score


def shapley_by_coalitions(score: Score, x: Any, background: Any, owners: Any, C: int = 1) -> np.ndarray:
    """``φ_j = Σ_S |S|! (J-|S|-1)!/J! (v(S ∪ j) - v(S))`` with ``v(S) = mean_z F(x_S, z_{-S})``."""
    J = max(owners) + 1

    def v(S: tuple[int, ...]) -> np.ndarray:
        mixed = [[x[i] if owner in S else z[i] for i, owner in enumerate(owners)] for z in background]
        return np.mean([score(row) for row in mixed], axis=0)

    values = {S: v(S) for size in range(J + 1) for S in combinations(range(J), size)}
    contributions = np.zeros((J, C))
    for j in range(J):
        for S in values:
            if j not in S:
                weight = math.factorial(len(S)) * math.factorial(J - len(S) - 1) / math.factorial(J)
                contributions[j] += weight * (values[tuple(sorted((*S, j)))] - values[S])
    return contributions


def shapley_by_orders(v: Callable[[frozenset[int]], float], J: int) -> list[float]:
    """The mean of what each player adds over all J! orders."""
    contributions = [0.0] * J
    for order in permutations(range(J)):
        there: frozenset[int] = frozenset()
        for j in order:
            contributions[j] += v(there | {j}) - v(there)
            there |= {j}
    return [value / math.factorial(J) for value in contributions]
