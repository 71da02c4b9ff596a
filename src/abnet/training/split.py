"""Random parts of a sample, decided before the sample is looked at."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["two_parts"]


def two_parts(n: int, fraction: float, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers of a first part of about ``fraction · n`` rows and of the rest, by a uniform random permutation.

    Never stratified (that would tie the label counts of the parts together) and never by position (files are often
    sorted): a certificate on one part needs it to be an independent sample given the other. Each part has at least one
    row.

    Examples
    --------
    >>> first, second = two_parts(10, 0.7, np.random.default_rng(0))
    >>> len(first), len(second)
    (7, 3)
    """
    if n < 2:
        raise ValueError(f"{n} rows cannot be split in two parts: at least 2 are needed.")
    order = rng.permutation(n)
    size = min(max(round(fraction * n), 1), n - 1)
    return order[:size], order[size:]
