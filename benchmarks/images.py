"""Fixed maps for images of handwriting: deskewing and gradients. Nothing in them is fitted to data.

The file also makes shifted copies of training images.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["deskew", "oriented_gradients", "shifted"]

BATCH = 1000
"""Images at a time: the directions of all pixels of 70,000 images would take gigabytes."""


def deskew(X: Any, *, side: int = 28, blur: float = 0.7) -> NDArray[np.float32]:
    """Centre every image, shear it so that its strokes stand upright, and smooth it.

    The shear is the regression of columns on rows, weighted by ink: ``a = Σ ink (r - r̄)(c - c̄) / Σ ink (r - r̄)²``.
    Each image is processed independently, so this is a fixed map, which any certificate allows.

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
    if blur:
        upright = gaussian_filter(upright, (0, blur, blur))
    return np.asarray(upright, np.float32).reshape(len(images), side * side)


def oriented_gradients(X: Any, *, side: int = 28, cell: int = 4, bins: int = 8) -> NDArray[np.float32]:
    """Square roots of soft histograms of gradient directions, one histogram around each cell of an image.

    With central differences ``g = (∂ image/∂ row, ∂ image/∂ column)`` and direction ``a = bins · angle(g)/2π``, cell
    ``(i, j)`` and direction ``b`` hold

    ``sqrt(Σ_{r,c} Λ((r - r_i)/cell) Λ((c - c_j)/cell) Λ(a_rc - b) ‖g_rc‖)``, ``Λ(t) = max(0, 1 - |t|)``,

    where ``r_i = c_i = (i + 1/2) cell - 1/2`` is the middle of a cell and ``a - b`` is taken modulo `bins`. So a pixel
    is shared among its four nearest cells and two nearest directions (Dalal and Triggs 2005). The square root keeps
    single strong edges from dominating; blocks are not normalised, because a network scales each row to norm 1. Each
    image is processed independently, so this is a fixed map, which any certificate allows.

    Parameters
    ----------
    X : array (n, side²)
    side : int
        Height and width of an image, a multiple of `cell`.
    cell : int
        Height and width of a cell, in pixels.
    bins : int
        Number of directions; opposite ones differ.

    Returns
    -------
    array (n, (side/cell)² · bins), float32

    Examples
    --------
    >>> ramp = np.tile([0.0, 1.0, 2.0, 3.0], (4, 1))  # grows with the column: direction 0 everywhere
    >>> oriented_gradients(ramp.reshape(1, -1), side=4, bins=4)
    array([[3., 0., 0., 0.]], dtype=float32)

    References
    ----------
    N. Dalal and B. Triggs, "Histograms of oriented gradients for human detection", CVPR 2005.
    """
    pixels = np.asarray(X, np.float32)
    if pixels.ndim != 2 or pixels.shape[1] != side * side:
        raise ValueError(f"X must have {side * side} columns, the pixels of an image; got an array of {pixels.shape}.")
    images = pixels.reshape(-1, side, side)
    if side % cell:
        raise ValueError(f"cell must divide the side of an image: {side} pixels cannot be cut into cells of {cell}.")
    share = _shares(side, cell)
    if len(images) == 0:
        return np.empty((0, len(share) ** 2 * bins), np.float32)
    batches = [_histograms(images[first : first + BATCH], share, bins) for first in range(0, len(images), BATCH)]
    return np.sqrt(np.concatenate(batches))


def shifted(X: Any, rng: np.random.Generator, *, side: int = 28, most: int = 1) -> NDArray[np.float32]:
    """Shift every image by a random number of pixels, at most `most` in each direction; pixels that leave are lost.

    Use such copies only among training rows. As bound rows they would not be independent examples.

    Parameters
    ----------
    X : array (n, side²)
    rng : numpy.random.Generator
        Draws one of the (2 most + 1)² shifts, including none, for every image.
    side, most : int

    Returns
    -------
    array (n, side²), float32

    Examples
    --------
    >>> dots = np.tile(np.eye(9)[4], (100, 1))  # a dot in the middle of 3 × 3 pixels
    >>> moved = shifted(dots, np.random.default_rng(0), side=3)
    >>> bool((moved.sum(axis=1) == 1).all()), np.unique(moved.argmax(axis=1)).tolist()
    (True, [0, 1, 2, 3, 4, 5, 6, 7, 8])
    """
    images = np.asarray(X, np.float32).reshape(-1, side, side)
    wide = np.pad(images, ((0, 0), (most, most), (most, most)))
    down, right = rng.integers(0, 2 * most + 1, (2, len(images)))
    moved = np.empty_like(images)
    for r in range(2 * most + 1):
        for c in range(2 * most + 1):
            chosen = (down == r) & (right == c)
            moved[chosen] = wide[chosen, r : r + side, c : c + side]
    return moved.reshape(len(images), side * side)


def _shears(images: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrix and offset, for each image, from places in the upright image to places in the original."""
    side = images.shape[1]
    places = np.arange(side, dtype=np.float64)
    ink = images.astype(np.float64) / np.maximum(images.sum((1, 2), dtype=np.float64), 1e-9)[:, None, None]
    rows = ink.sum(2)
    columns = ink.sum(1)
    centre = np.stack([rows @ places, columns @ places], axis=1)
    from_row = places - centre[:, :1]
    spread = np.maximum((rows * from_row**2).sum(1), 1e-9)
    slant = np.einsum("nrc,nr,nc->n", ink, from_row, places - centre[:, 1:]) / spread
    matrix = np.tile(np.eye(2), (len(images), 1, 1))
    matrix[:, 1, 0] = slant
    return matrix, centre - np.einsum("nij,j->ni", matrix, np.full(2, (side - 1) / 2))


def _shares(side: int, cell: int) -> NDArray[np.float32]:
    """``Λ((r - r_i)/cell)``, shape (cells, side): the share of each row, or column, of pixels in each cell."""
    middles = np.arange(cell / 2 - 0.5, side, cell)
    return _tent((np.arange(side) - middles[:, None]) / cell).astype(np.float32)


def _histograms(images: NDArray[np.float32], share: NDArray[np.float32], bins: int) -> NDArray[np.float32]:
    along_rows, along_columns = np.gradient(images, axis=(1, 2))
    strength = np.hypot(along_rows, along_columns)
    direction = np.arctan2(along_rows, along_columns) * (bins / (2 * np.pi))
    cells = [share @ (strength * _tent(_round(direction - b, bins))) @ share.T for b in range(bins)]
    return np.stack(cells, axis=-1).reshape(len(images), len(share) ** 2 * bins)


def _round(difference: Any, bins: int) -> Any:
    """The difference of two directions on a circle of `bins` steps, in [-bins/2, bins/2)."""
    return (difference + bins / 2) % bins - bins / 2


def _tent(t: Any) -> Any:
    return np.maximum(0, 1 - np.abs(t))
