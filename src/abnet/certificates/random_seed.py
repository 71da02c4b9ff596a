"""The seed of a split or an order: given, drawn from a generator, or drawn freshly."""

import numbers
import secrets

import numpy as np

from abnet.utils.errors import Parameter, ParameterError

__all__ = ["RandomState", "drawn_seed"]

RandomState = int | np.integer | np.random.Generator | np.random.RandomState | None
"""A seed as in scikit-learn; None draws one."""


def drawn_seed(random_state: RandomState) -> int:
    """The given integer, one drawn from a generator, or a fresh one for None.

    A model stores its seed. Passing it as `random_state` reproduces the order of the rows.

    Examples
    --------
    >>> drawn_seed(7), 0 <= drawn_seed(None) < 2**32
    (7, True)
    """
    if random_state is None:
        return secrets.randbits(32)  # the largest seed that scikit-learn accepts has 32 bits
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            name = Parameter("random_state")
            raise ParameterError("{} must be a whole number of at least 0; got {}.", name, random_state)
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31))
