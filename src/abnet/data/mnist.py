"""MNIST from its original IDX files (LeCun, Cortes and Burges)."""

import math
from collections.abc import Sequence

import numpy as np

from abnet.data.parsed import Parsed

__all__ = ["FILES", "parse", "read_idx"]

FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def parse(contents: Sequence[bytes]) -> Parsed:
    """Images (70000, 784) as bytes and digits (70000,), training file first."""
    train_images, train_digits, test_images, test_digits = map(read_idx, contents)
    X = np.concatenate([train_images, test_images]).reshape(-1, 784)
    return Parsed(X, np.concatenate([train_digits, test_digits]), pixel_names())


def pixel_names() -> np.ndarray:
    """``pixel_0_0 … pixel_27_27``: row, then column."""
    return np.array([f"pixel_{i // 28}_{i % 28}" for i in range(784)])


def read_idx(content: bytes) -> np.ndarray:
    """The array of bytes in an IDX file: two zeros, type 8, number of axes, big-endian sizes, then the values.

    Examples
    --------
    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    array([7, 8, 9], dtype=uint8)
    """
    if content[:3] != b"\x00\x00\x08" or len(content) < 4:
        raise ValueError(f"not an IDX file of bytes: it starts with {content[:4].hex()}, not 000008.")
    axes = content[3]
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", axes, 4)) if len(content) >= 4 + 4 * axes else ()
    values = np.frombuffer(content, np.uint8, offset=min(4 + 4 * axes, len(content)))
    if len(shape) != axes or values.size != math.prod(shape):
        raise ValueError(f"truncated IDX file: {values.size} values for shape {shape} of {axes} axes.")
    return values.reshape(shape)
