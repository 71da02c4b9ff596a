"""Copies of images that are moved by a pixel."""

import numpy as np
import pytest

from images import shifted


def moved(image: np.ndarray, down: int, right: int) -> np.ndarray:
    """By loops: the pixel (r, c) comes from (r - down, c - right), or from outside, where there is no ink."""
    side = len(image)
    out = np.zeros_like(image)
    for r in range(side):
        for c in range(side):
            if 0 <= r - down < side and 0 <= c - right < side:
                out[r, c] = image[r - down, c - right]
    return out


@pytest.mark.parametrize("most", [0, 1, 2])
def test_every_copy_is_the_image_moved_one_of_the_ways_and_all_ways_are_taken(most: int) -> None:
    rng = np.random.default_rng(0)
    image = rng.random((4, 4)).astype(np.float32)
    copies = shifted(np.tile(image.ravel(), (2_000, 1)), rng, side=4, most=most).reshape(-1, 4, 4)
    ways = [moved(image, down, right) for down in range(-most, most + 1) for right in range(-most, most + 1)]
    taken = np.array([[np.array_equal(copy, way) for way in ways] for copy in copies])
    assert (taken.sum(axis=1) == 1).all()
    expected = len(copies) / len(ways)
    assert (np.abs(taken.sum(axis=0) - expected) <= 5 * np.sqrt(expected)).all()


def test_images_move_one_by_one_and_the_given_ones_stay() -> None:
    images = np.random.default_rng(1).random((50, 784)).astype(np.float32)
    before = images.copy()
    copies = shifted(images, np.random.default_rng(2))
    np.testing.assert_array_equal(images, before)
    assert copies.shape == images.shape
    again = shifted(images[:1], np.random.default_rng(2))
    ways = [moved(images[0].reshape(28, 28), down, right).ravel() for down in (-1, 0, 1) for right in (-1, 0, 1)]
    assert any(np.array_equal(copies[0], way) for way in ways)
    assert any(np.array_equal(again[0], way) for way in ways)
