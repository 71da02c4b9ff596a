"""ABNet and PBGNet as the papers write them: full transition matrices, forwards, one example at a time.

Slow and independent of the package: the oracle of the tests. `xp` is numpy or jax.numpy.
"""

from itertools import product
from typing import Any

import numpy as np


def all_signs(d: int) -> np.ndarray:
    return np.array(list(product((-1.0, 1.0), repeat=d)))


def neuron_means(W: Any, b: Any, s: Any, erf: Any) -> Any:
    return erf((W @ s + b) / np.sqrt(2 * (s @ s + 1)))


def product_of_coins(m: Any, signs: Any, xp: Any) -> Any:
    """Π_i (1/2 + s_i/2 m_i) for every row s of signs."""
    return xp.prod(0.5 + 0.5 * signs * m[None, :], axis=1)


def abnet_output(weights: Any, biases: Any, x: Any, xp: Any, erf: Any) -> Any:
    """F_A(x) = P_L[+1] - P_L[-1], with P_k = Ψ_k P_{k-1} and Ψ_k stored in full."""
    below: Any = None
    P: Any = None
    for k, (W, b) in enumerate(zip(weights, biases, strict=True)):
        signs = xp.asarray(all_signs(W.shape[0]), dtype=W.dtype)
        if k == 0:
            P = product_of_coins(neuron_means(W, b, x, erf), signs, xp)
        else:
            columns = [product_of_coins(neuron_means(W, b, s, erf), signs, xp) for s in below]
            P = xp.stack(columns, axis=1) @ P
        below = signs
    return P[1] - P[0]


def pbgnet_output(weights: Any, biases: Any, x: Any, xp: Any, erf: Any) -> Any:
    """F^k_j = Σ_s̄ m_k(s̄)_j Π_i (1/2 + s̄_i/2 F^{k-1}_i)."""
    F: Any = neuron_means(weights[0], biases[0], x, erf)
    for W, b in zip(weights[1:], biases[1:], strict=True):
        signs = xp.asarray(all_signs(W.shape[1]), dtype=W.dtype)
        P = product_of_coins(F, signs, xp)
        F = sum(p * neuron_means(W, b, s, erf) for p, s in zip(P, signs, strict=True))
    return F[0]
