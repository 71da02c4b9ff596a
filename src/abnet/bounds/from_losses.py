"""A bound on the expected loss of a predictor, from its losses on single rows."""

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.frozen_gibbs import gibbs_bound_frozen
from abnet.bounds.gibbs import gibbs_bound

__all__ = ["loss_bound"]


def loss_bound(losses: ArrayLike, kl: float | None = None, delta: float = 0.05, *, n_candidates: int = 1) -> float:
    """Bound on the expected loss of any predictor, from its losses on n independent rows.

    The predictor may come from any library: a fixed one, whose losses are its own, or a random one (a posterior Q over
    predictors), whose loss on a row is the mean loss of a draw.

    Parameters
    ----------
    losses : array (n,)
        Loss of each row, in [0, 1].
    kl : float, optional
        ``KL(Q‖P)`` of a posterior that was trained on these rows, for a prior P fixed before they were seen:
        `abnet.bounds.gibbs_bound`. By default the predictor itself was fixed before the rows were seen:
        `abnet.bounds.gibbs_bound_frozen`.
    delta : float
        Maximum probability that the bound fails.
    n_candidates : int
        Number of predictors, or priors, among which one was chosen with these rows.

    Returns
    -------
    float
        A number in [mean loss, 1], rounded up.

    Examples
    --------
    >>> round(loss_bound([0.0, 0.25, 0.5, 0.25] * 100), 4), round(loss_bound([0.0, 0.25, 0.5, 0.25] * 100, kl=5.0), 4)
    (0.2965, 0.3607)
    """
    values = np.asarray(losses, np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"losses must be a vector with one number for each row; got the shape {values.shape}.")
    outside = ~((values >= 0.0) & (values <= 1.0))  # true for NaN
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(f"losses must lie in [0, 1]; row {row} has {values[row]}.")
    risk = min(float(values.mean()) + 2.0**-52 * len(values), 1.0)
    if kl is None:
        return float(gibbs_bound_frozen(risk, len(values), delta, n_candidates=n_candidates))
    return float(gibbs_bound(risk, kl, len(values), delta, n_candidates=n_candidates))
