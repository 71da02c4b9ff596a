"""Labels as numbers, in the form that hashes, fingerprints and preprocessors take."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_values"]


def label_values(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Labels as numbers: -1 and 1 for two classes, the codes for several.

    Parameters
    ----------
    codes : int array (n,)
        Classes, 0 to K - 1; K or a negative number for an unknown label.
    n_classes : int

    Examples
    --------
    >>> label_values(np.array([0, 1, -1]), 2), label_values(np.array([0, 2, -1]), 3)
    (array([-1.,  1.,  3.]), array([0., 2., 3.]))
    """
    values = np.where(codes < 0, n_classes, codes).astype(np.float64)
    if n_classes == 2:
        return 2.0 * values - 1.0
    return values
