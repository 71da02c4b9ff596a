"""Readers of the paper's original files: UCI Internet Advertisements, UCI Adult (census income), MNIST's IDX files."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = [
    "ADS_FILES",
    "ADULT_COLUMNS",
    "ADULT_FILES",
    "MNIST_FILES",
    "Parsed",
    "encode_adult",
    "parse_ads",
    "parse_adult",
    "parse_mnist",
    "pixel_names",
    "read_idx",
]


class Parsed(NamedTuple):
    """Features (n, d), labels or digits (n,), and names of the features, in the smallest types that hold them."""

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray


ADS_FILES = ("ad.data",)

_ADS_LABELS = {b"ad.": -1, b"nonad.": 1}


def parse_ads(contents: Sequence[bytes]) -> Parsed:
    """Binary features (3279, 1554) and labels: ``ad.`` = -1, ``nonad.`` = +1.

    The first four columns, the only ones with missing values, are left out as in the paper.

    Examples
    --------
    >>> parsed = parse_ads([b" 125, 125,   1.0,1,0,1,ad.\\n  ?,  ?,?,?,1,1,nonad.\\n"])
    >>> parsed.X.tolist(), parsed.y.tolist()
    ([[0, 1], [1, 1]], [-1, 1])
    """
    rows = [line.split(b",", 4)[4].rsplit(b",", 1) for line in contents[0].split(b"\n") if line]
    bits = b"".join(bits.replace(b",", b"") for bits, _ in rows)  # one character per feature: far faster than splitting
    X = (np.frombuffer(bits, np.uint8) - ord("0")).reshape(len(rows), -1)
    y = np.array([_ADS_LABELS[label] for _, label in rows], np.int8)
    return Parsed(X, y, np.array([f"term_{i}" for i in range(4, 4 + X.shape[1])]))


ADULT_FILES = ("adult.data", "adult.test")

ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)

_ADULT_NUMERIC = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})


def parse_adult(contents: Sequence[bytes]) -> Parsed:
    """Features (48842, 108) of both files and labels: ``<=50K`` = -1, ``>50K`` = +1.

    ``?`` stays a category of its own, as in the public code of the paper; labels in the test file end in a dot.
    """
    text = b"".join(contents).decode("ascii")
    rows = [line.split(", ") for line in text.splitlines() if line and not line.startswith("|")]
    return encode_adult(list(zip(*rows, strict=True)))


def encode_adult(columns: Sequence[Sequence[str]]) -> Parsed:
    """Numbers as they are and one 0-1 feature per category (in alphabetical order); the last column holds the labels.

    Examples
    --------
    >>> row = ["39", "?", "7", "HS", "13", "Single", "Clerk", "None", "White", "Male", "0", "0", "40", "Peru", ">50K."]
    >>> parsed = encode_adult([[value] for value in row])
    >>> parsed.feature_names[:2].tolist(), parsed.X.shape, parsed.y.tolist()
    (['age', 'workclass=?'], (1, 14), [1])
    """
    parts = []
    names = []
    for name, column in zip(ADULT_COLUMNS, columns[:-1], strict=True):
        if name in _ADULT_NUMERIC:
            parts.append(np.array(column, np.float32)[:, None])
            names.append(name)
        else:
            categories, codes = np.unique(np.array(column), return_inverse=True)
            parts.append(np.eye(len(categories), dtype=np.float32)[codes])
            names += [f"{name}={category}" for category in categories]
    y = np.where(np.char.startswith(np.array(columns[-1]), ">50K"), 1, -1).astype(np.int8)
    return Parsed(np.hstack(parts), y, np.array(names))


MNIST_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def parse_mnist(contents: Sequence[bytes]) -> Parsed:
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
    n_axes = content[3]
    end_of_header = 4 + 4 * n_axes
    if len(content) < end_of_header:
        raise ValueError(f"truncated IDX file: {len(content)} bytes, too few for the sizes of {n_axes} axes.")
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", n_axes, 4))
    values = np.frombuffer(content, np.uint8, offset=end_of_header)
    if values.size != math.prod(shape):
        raise ValueError(f"truncated IDX file: {values.size} values for shape {shape}.")
    return values.reshape(shape)
