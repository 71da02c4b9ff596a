"""The fingerprints in published runs are those of the data's bytes."""

import hashlib
import itertools

import numpy as np
import pytest

from abnet.paper.data.data_fingerprint import data_fingerprint

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([0, 1])


def test_the_bytes_hashed_are_those_of_published_runs() -> None:
    head = b"abnet data 1"
    expected = hashlib.sha256(head + b"<f4 (2, 3)" + X.tobytes() + b"<i8 (2,)" + Y.astype("<i8").tobytes())
    assert data_fingerprint(X, Y) == expected.hexdigest()


def test_memory_layout_and_byte_order_do_not_matter() -> None:
    expected = data_fingerprint(X, Y)
    assert data_fingerprint(np.asfortranarray(X), Y) == expected
    assert data_fingerprint(X.astype(">f4"), Y.astype(">i8")) == expected


def test_every_change_of_content_type_or_shape_changes_it() -> None:
    other = X.copy()
    other[1, 2] += 1
    variants: list[tuple[np.ndarray, np.ndarray]] = [
        (X, Y),
        (other, Y),
        (X, 1 - Y),
        (X.astype(np.float64), Y),
        (X.reshape(3, 2), Y),
        (X, Y.astype(np.int32)),
    ]
    prints = [data_fingerprint(features, labels) for features, labels in variants]
    assert all(a != b for a, b in itertools.combinations(prints, 2))


@pytest.mark.parametrize("value", [np.nan, -0.0])
def test_special_numbers_hash_stably(value: float) -> None:
    special = np.array([[value]])
    label = np.array([1])
    assert data_fingerprint(special, label) == data_fingerprint(special.copy(), label)
    assert data_fingerprint(special, label) != data_fingerprint(np.zeros((1, 1)), label)
