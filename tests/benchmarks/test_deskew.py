import numpy as np

from images import deskew


def slanted(slope: float, side: int = 28) -> np.ndarray:
    image = np.zeros((side, side))
    for row in range(6, 22):
        column, share = divmod(10 + slope * (row - 14), 1)
        image[row, int(column) : int(column) + 2] = 1 - share, share
    return image.ravel()


def test_slanted_strokes_come_out_upright_and_centred() -> None:
    images = deskew(np.array([slanted(s) for s in (-0.5, 0.0, 0.4)]), blur=0).reshape(3, 28, 28)
    columns = images.sum(1) @ np.arange(28) / images.sum((1, 2))
    np.testing.assert_allclose(columns, 13.5, atol=0.3)
    for image in images:
        inked = image[8:20]
        centres = inked @ np.arange(28) / inked.sum(1)
        assert np.ptp(centres) < 0.1


def test_an_image_is_treated_alone_and_an_empty_one_stays_empty(rng: np.random.Generator) -> None:
    X = rng.random((5, 784)) * (rng.random((5, 784)) < 0.2)
    X[2] = 0
    together = deskew(X)
    np.testing.assert_array_equal(together, np.concatenate([deskew(x[None, :]) for x in X]))
    assert not together[2].any()


def test_an_upright_image_in_the_middle_is_only_smoothed() -> None:
    image = np.zeros((28, 28))
    image[8:20, 13:15] = 1
    np.testing.assert_allclose(deskew(image.reshape(1, -1), blur=0).reshape(28, 28), image, atol=1e-5)
