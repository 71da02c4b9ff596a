"""The KL divergence of two Gaussians over the weights of a network."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from abnet.networks.cube import namespace
from abnet.networks.shapes import Float

__all__ = ["gaussian_kl"]


def gaussian_kl(
    layers: Sequence[Float[Any, "_ _"]],
    prior: Sequence[Float[Any, "_ _"]],
    log_sigma: Sequence[Any] | None = None,
    counts: Sequence[int] | None = None,
) -> Float[Any, ""]:
    """``KL(N(w, σ² I) ‖ N(v, I)) = Σ_k c_k/2 [D_k (σ_k² - 1 - ln σ_k²) + ‖w_k - v_k‖²]``.

    Parameters
    ----------
    layers, prior : tuples of arrays (d_k, d_{k-1} + 1)
        ``w_k`` and ``v_k``; ``D_k`` is the number of their entries.
    log_sigma : sequence of float, optional
        ``ln σ_k``; 0 by default, the paper's posterior.
    counts : sequence of int, optional
        ``c_k``, how often each layer counts; once by default.

    Examples
    --------
    >>> gaussian_kl([np.array([[1.0, 2.0]])], [np.zeros((1, 2))], [0.0])
    np.float64(2.5)
    """
    if log_sigma is None:
        log_sigma = (0.0,) * len(layers)
    if counts is None:
        counts = (1,) * len(layers)
    if not 0 < len(layers) == len(prior) == len(log_sigma) == len(counts):
        raise ValueError(
            f"the posterior has {len(layers)} layers, the prior {len(prior)}; there are {len(log_sigma)} deviations "
            f"and {len(counts)} counts."
        )
    terms = []
    for k, (w, v, t, c) in enumerate(zip(layers, prior, log_sigma, counts, strict=True), start=1):
        if w.shape != v.shape or np.ndim(t):
            raise ValueError(
                f"layer {k} of the posterior has the shape {w.shape}, that of the prior {v.shape}, and its deviation "
                f"{np.shape(t)}, which must be a number."
            )
        # D (σ² - 1 - ln σ²); `expm1` keeps its digits near σ = 1.
        spread = w.size * (_namespace(t).expm1(2 * t) - 2 * t)
        terms.append(c * (spread + ((w - v) ** 2).sum()))
    return sum(terms) * 0.5


def _namespace(t: Any) -> Any:
    """`namespace`, for a plain number too."""
    if isinstance(t, (int, float)):
        return np
    return namespace(t)
