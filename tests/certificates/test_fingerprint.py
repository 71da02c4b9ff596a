import hashlib
import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from abnet.certificates.fingerprint import fingerprint

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([0, 1])


def test_the_bytes_hashed_are_the_documented_ones() -> None:
    head = b"abnet data 1"
    expected = hashlib.sha256(head + b"<f4 (2, 3)" + X.tobytes() + b"<i8 (2,)" + Y.astype("<i8").tobytes())
    assert fingerprint(X, Y) == expected.hexdigest()


def test_memory_layout_and_byte_order_do_not_matter() -> None:
    assert fingerprint(X, Y) == fingerprint(np.asfortranarray(X), Y) == fingerprint(X.astype(">f4"), Y.astype(">i8"))


def test_every_change_of_content_type_or_shape_changes_it() -> None:
    other = X.copy()
    other[1, 2] += 1
    frame = pd.DataFrame(X, columns=list("abc"))
    variants = [
        (X, Y),
        (other, Y),
        (X, 1 - Y),
        (X.astype(np.float64), Y),
        (X.reshape(3, 2), Y),
        (X, Y.astype(np.int32)),
        (X, np.array(["0", "1"])),
        (X, np.array(["no", "yes"])),
        (X, np.array(["noy", "es"])),
        (frame, Y),
        (frame.rename(columns={"a": "d"}), Y),
        (frame[["b", "a", "c"]], Y),
        (frame.astype(str), Y),
        (scipy.sparse.csr_array(X), Y),
    ]
    prints = [fingerprint(*pair) for pair in variants]
    assert all(a != b for a, b in itertools.combinations(prints, 2))


def test_text_labels_hash_by_content_not_by_storage() -> None:
    labels = ["ja", "nein"]
    assert fingerprint(X, np.array(labels)) == fingerprint(X, np.array(labels, object)) == fingerprint(X, labels)
    assert fingerprint(X, np.array(labels, "U30")) == fingerprint(X, labels)


def test_equal_sparse_arrays_agree_whatever_the_order_of_their_entries() -> None:
    coo = scipy.sparse.coo_array(([2.0, 1.0], ([1, 0], [0, 2])), shape=(2, 3))
    assert fingerprint(coo, Y) == fingerprint(scipy.sparse.csc_array(coo), Y)


@pytest.mark.parametrize("value", [np.nan, -0.0])
def test_special_numbers_hash_stably(value: float) -> None:
    assert fingerprint(np.array([[value]]), [1]) == fingerprint(np.array([[value]]), [1])
    assert fingerprint(np.array([[value]]), [1]) != fingerprint(np.array([[0.0]]), [1])
