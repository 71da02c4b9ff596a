"""UCI Adult (census income): does a person earn more than 50,000 dollars a year?"""

from collections.abc import Sequence

import numpy as np

from abnet.data.parsed import Parsed

__all__ = ["COLUMNS", "FILES", "encode", "parse"]

FILES = ("adult.data", "adult.test")
COLUMNS = (
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
_NUMERIC = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})


def parse(contents: Sequence[bytes]) -> Parsed:
    """Features (48842, 108) of both files and labels: ``<=50K`` = -1, ``>50K`` = +1.

    ``?`` stays a category of its own, as in the public code of the paper; labels in the test file end in a dot.
    """
    text = b"".join(contents).decode("ascii")
    rows = [line.split(", ") for line in text.splitlines() if line and not line.startswith("|")]
    return encode(list(zip(*rows, strict=True)))


def encode(columns: Sequence[Sequence[str]]) -> Parsed:
    """Numbers as they are and one 0-1 feature per category (in alphabetical order); the last column holds the labels.

    Examples
    --------
    >>> row = ["39", "?", "7", "HS", "13", "Single", "Clerk", "None", "White", "Male", "0", "0", "40", "Peru", ">50K."]
    >>> parsed = encode([[value] for value in row])
    >>> parsed.feature_names[:2].tolist(), parsed.X.shape, parsed.y.tolist()
    (['age', 'workclass=?'], (1, 14), [1])
    """
    parts, names = [], []
    for name, column in zip(COLUMNS, columns[:-1], strict=True):
        if name in _NUMERIC:
            parts.append(np.array(column, np.float32)[:, None])
            names.append(name)
        else:
            categories, codes = np.unique(np.array(column), return_inverse=True)
            parts.append(np.eye(len(categories), dtype=np.float32)[codes])
            names += [f"{name}={category}" for category in categories]
    y = np.where(np.char.startswith(np.array(columns[-1]), ">50K"), 1, -1).astype(np.int8)
    return Parsed(np.hstack(parts), y, np.array(names))
