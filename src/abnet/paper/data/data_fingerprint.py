"""A fingerprint of a data set's bytes, which is part of the key of every published run."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["data_fingerprint"]


def data_fingerprint(X: NDArray[Any], y: NDArray[Any]) -> str:
    """SHA-256, in hexadecimal, of features and labels with their types and shapes, the same on every machine.

    Published runs contain it, so it must not change. Unlike `abnet.certificates.row_hashing.fingerprint`, it depends
    on the types of the arrays.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)

    Examples
    --------
    >>> X = np.zeros((2, 3), np.float32)
    >>> data_fingerprint(X, np.array([0, 1])) == data_fingerprint(X, np.array([0, 1]))
    True
    >>> data_fingerprint(X, np.array([0, 1])) == data_fingerprint(X.T, np.array([0, 1]))
    False
    """
    digest = hashlib.sha256(b"abnet data 1")
    for array in (X, y):
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        digest.update(f"{little.dtype.str} {little.shape}".encode())
        digest.update(little.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
