"""UCI Internet Advertisements: is an image on a web page an advertisement?"""

from collections.abc import Sequence

import numpy as np

from abnet.data.parsed import Parsed

__all__ = ["FILES", "parse"]

FILES = ("ad.data",)
_LABELS = {b"ad.": -1, b"nonad.": 1}


def parse(contents: Sequence[bytes]) -> Parsed:
    """Binary features (3279, 1554) and labels: ``ad.`` = -1, ``nonad.`` = +1.

    The first four columns, the only ones with missing values, are left out as in the paper.

    Examples
    --------
    >>> parsed = parse([b" 125, 125,   1.0,1,0,1,ad.\\n  ?,  ?,?,?,1,1,nonad.\\n"])
    >>> parsed.X.tolist(), parsed.y.tolist()
    ([[0, 1], [1, 1]], [-1, 1])
    """
    rows = [line.split(b",", 4)[4].rsplit(b",", 1) for line in contents[0].split(b"\n") if line]
    bits = b"".join(bits.replace(b",", b"") for bits, _ in rows)  # one character per feature: far faster than splitting
    X = (np.frombuffer(bits, np.uint8) - ord("0")).reshape(len(rows), -1)
    y = np.array([_LABELS[label] for _, label in rows], np.int8)
    return Parsed(X, y, np.array([f"term_{i}" for i in range(4, 4 + X.shape[1])]))
