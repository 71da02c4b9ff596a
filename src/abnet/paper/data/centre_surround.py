"""Centre-surround images: a fixed map that a variant of the protocol trains on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["centre_surround"]


def centre_surround(X: Any, *, side: int = 28, surround: float = 0.7, blur: float = 4.0) -> NDArray[np.float32]:
    """Subtract from every pixel a share of its blurred surroundings: ``x - surround · blur(x)``.

    The strokes stay, and the amount of ink around them loses most of its weight. Each image is processed independently,
    so this is a fixed map, which any certificate allows.

    Parameters
    ----------
    X : array (n, side²)
    side : int
        Height and width of an image.
    surround : float
        Share of the surroundings.
    blur : float
        Standard deviation of the Gaussian that averages the surroundings, in pixels.

    Returns
    -------
    array (n, side²), float32

    Examples
    --------
    >>> centre_surround(np.full((1, 9), 2.0), side=3, surround=0.5).reshape(3, 3)
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    from scipy.ndimage import gaussian_filter

    images = np.asarray(X, np.float32).reshape(-1, side, side)
    surroundings = gaussian_filter(images, (0, blur, blur))
    return (images - np.float32(surround) * surroundings).reshape(len(images), side * side)
