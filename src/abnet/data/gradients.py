"""A fixed map for images: how much edge of each direction there is around each place. Nothing is fitted to data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["oriented_gradients"]

BATCH = 1000
"""Images at a time: the directions of all pixels of 70,000 images would take gigabytes."""


def oriented_gradients(X: Any, *, side: int = 28, cell: int = 4, bins: int = 8) -> NDArray[np.float32]:
    """Square roots of soft histograms of gradient directions, one histogram around each cell of an image.

    With central differences ``g = (∂ image/∂ row, ∂ image/∂ column)`` and direction ``a = bins · angle(g)/2π``, cell
    ``(i, j)`` and direction ``b`` hold

    ``sqrt(Σ_{r,c} Λ((r - r_i)/cell) Λ((c - c_j)/cell) Λ(a_rc - b) ‖g_rc‖)``, ``Λ(t) = max(0, 1 - |t|)``,

    where ``r_i = c_i = (i + 1/2) cell - 1/2`` is the middle of a cell and ``a - b`` is taken round the circle. A pixel
    is so shared among its four nearest cells and two nearest directions (Dalal and Triggs 2005). The root keeps single
    strong edges from ruling; blocks are not normalised, since a network scales each row to norm 1. Each image is
    treated alone, so that this is a fixed map: it may stand before any certificate.

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
    batches = [_histograms(images[first : first + BATCH], share, bins) for first in range(0, len(images), BATCH)]
    return np.sqrt(np.concatenate(batches)) if batches else np.empty((0, len(share) ** 2 * bins), np.float32)


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
