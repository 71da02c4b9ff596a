"""A fixed map for images of handwriting: strokes upright, edges soft. Nothing in it is fitted to data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["deskew"]


def deskew(X: Any, *, side: int = 28, blur: float = 0.7) -> NDArray[np.float32]:
    """Centre every image, shear it so that its strokes stand upright, and smooth it.

    The shear is the regression of columns on rows, weighted by ink: ``a = Σ ink (r - r̄)(c - c̄) / Σ ink (r - r̄)²``. Each
    image is treated alone, so that this is a fixed map: it may stand before any certificate.

    Parameters
    ----------
    X : array (n, side²)
        Ink, at least 0.
    side : int
        Height and width of an image.
    blur : float
        Standard deviation of the Gaussian smoothing, in pixels; 0 for none.

    Returns
    -------
    array (n, side²), float32

    Examples
    --------
    >>> slanted = np.zeros((1, 9)); slanted[0, [2, 4, 6]] = 1
    >>> deskew(slanted, side=3, blur=0).reshape(3, 3)
    array([[0., 1., 0.],
           [0., 1., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    from scipy.ndimage import affine_transform, gaussian_filter

    images = np.asarray(X, np.float32).reshape(-1, side, side)
    upright = np.empty_like(images)
    for i, (matrix, offset) in enumerate(zip(*_shears(images), strict=True)):
        affine_transform(images[i], matrix, offset=offset, order=1, output=upright[i])
    smooth = gaussian_filter(upright, (0, blur, blur)) if blur else upright
    return np.asarray(smooth, np.float32).reshape(len(images), side * side)


def _shears(images: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrix and offset, for each image, from places in the upright image to places in the original."""
    side = images.shape[1]
    places = np.arange(side, dtype=np.float64)
    ink = images.astype(np.float64) / np.maximum(images.sum((1, 2), dtype=np.float64), 1e-9)[:, None, None]
    rows, columns = ink.sum(2), ink.sum(1)
    centre = np.stack([rows @ places, columns @ places], axis=1)
    from_row = places - centre[:, :1]
    spread = np.maximum((rows * from_row**2).sum(1), 1e-9)
    slant = np.einsum("nrc,nr,nc->n", ink, from_row, places - centre[:, 1:]) / spread
    matrix = np.tile(np.eye(2), (len(images), 1, 1))
    matrix[:, 1, 0] = slant
    return matrix, centre - np.einsum("nij,j->ni", matrix, np.full(2, (side - 1) / 2))
