import math

import numpy as np
import pytest

from images import BATCH, oriented_gradients


def slow(image: np.ndarray, cell: int, bins: int) -> np.ndarray:
    """Pixel by pixel: each hands its strength to its nearest cells and directions by linear interpolation."""
    side = len(image)
    cells = side // cell
    found = np.zeros((cells, cells, bins))
    for r in range(1, side - 1):
        for c in range(1, side - 1):
            down = (image[r + 1, c] - image[r - 1, c]) / 2
            right = (image[r, c + 1] - image[r, c - 1]) / 2
            lower, part = divmod(math.atan2(down, right) % (2 * math.pi) / (2 * math.pi) * bins, 1)
            row, row_part = divmod((r + 0.5) / cell - 0.5, 1)
            column, column_part = divmod((c + 0.5) / cell - 0.5, 1)
            for i, share_i in ((row, 1 - row_part), (row + 1, row_part)):
                for j, share_j in ((column, 1 - column_part), (column + 1, column_part)):
                    for b, share_b in ((lower, 1 - part), (lower + 1, part)):
                        if 0 <= i < cells and 0 <= j < cells:
                            strength = math.hypot(down, right)
                            found[int(i), int(j), int(b) % bins] += share_i * share_j * share_b * strength
    return np.sqrt(found)


@pytest.mark.parametrize(("side", "cell", "bins"), [(28, 4, 8), (12, 3, 5)])
def test_agrees_with_a_loop_over_pixels(side: int, cell: int, bins: int, rng: np.random.Generator) -> None:
    images = np.zeros((3, side, side))
    images[:, 2:-2, 2:-2] = rng.random((3, side - 4, side - 4))  # an empty rim: differences at the border are 0
    fast = oriented_gradients(images.reshape(3, -1), side=side, cell=cell, bins=bins)
    wanted = np.stack([slow(image, cell, bins).ravel() for image in images])
    np.testing.assert_allclose(fast**2, wanted**2, atol=1e-5)
    assert fast.dtype == np.float32


def test_turning_an_image_turns_cells_and_directions(rng: np.random.Generator) -> None:
    image = rng.random((28, 28))
    upright, turned = (oriented_gradients(x.reshape(1, -1)).reshape(7, 7, 8) for x in (image, np.rot90(image)))
    # A quarter turn to the left moves "right" (0) to "up", which is direction 6 where rows count downwards.
    np.testing.assert_allclose(turned, np.roll(np.rot90(upright), 6, axis=2), atol=1e-3)


def test_an_image_is_treated_alone_across_batches(rng: np.random.Generator) -> None:
    X = rng.random((BATCH + 2, 64))
    together = oriented_gradients(X, side=8)
    apart = oriented_gradients(X[[0, BATCH - 1, BATCH, BATCH + 1]], side=8)
    np.testing.assert_allclose(together[[0, BATCH - 1, BATCH, BATCH + 1]], apart, rtol=1e-6)
    assert together.shape == (BATCH + 2, 32)


def test_no_images_and_empty_images() -> None:
    assert oriented_gradients(np.empty((0, 784))).shape == (0, 392)
    assert not oriented_gradients(np.full((1, 784), 0.5)).any()


def test_cells_must_tile_the_image() -> None:
    with pytest.raises(ValueError, match=r"28\b.*\b5"):
        oriented_gradients(np.zeros((1, 784)), cell=5)


@pytest.mark.parametrize("shape", [(784, 4), (3, 1568), (784,)])
def test_rows_that_are_no_images_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"X.*784"):
        oriented_gradients(np.zeros(shape))
