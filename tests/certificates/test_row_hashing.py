"""Equal cells have equal hashes in every container; rows that differ have others; and the hash never changes."""

import struct
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from abnet.certificates import row_hashes
from abnet.certificates.row_hashing import fingerprint, hash_sum

N = 60
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 4)).astype(np.float32)
Y = np.array(["no", "yes"])[RNG.integers(0, 2, N)]


# The definition, one cell at a time in whole numbers of Python. Splits of published tables depend on it.

STEP = 0x9E3779B97F4A7C15
MASK = 2**64 - 1


def mixed(x: int) -> int:
    """The last steps of splitmix64."""
    x &= MASK
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def bits(cell: float | str) -> int:
    """Those of a number, or a chain over words of eight bytes of a text that is no number."""
    if isinstance(cell, float):
        return int.from_bytes(struct.pack("<d", cell), "little")
    content = cell.encode()
    found = mixed(len(content) + STEP)
    for start in range(0, len(content), 8):
        found = mixed(found ^ int.from_bytes(content[start : start + 8], "little"))
    return found


def defined_hash(cells: list[float | str], label: float | str) -> int:
    total = sum(mixed(bits(cell) + mixed(place * STEP)) for place, cell in enumerate(cells, 1))
    return mixed(total + mixed(bits(label) + (~STEP & MASK)))


def test_the_hash_of_a_row_is_the_documented_one() -> None:
    rows: list[list[float | str]] = [[1.5, "Zürich", -7.0], [0.1, "a longer text of some words", 3.0], [0.0, "x", 2.5]]
    labels: list[float | str] = ["no", "yes", "no"]
    expected = [defined_hash(row, label) for row, label in zip(rows, labels, strict=True)]
    assert row_hashes(rows, labels).tolist() == expected
    assert row_hashes(X[:3], [1.0, -1.0, 1.0]).tolist() == [
        defined_hash(row, label) for row, label in zip(X[:3].astype(float).tolist(), [1.0, -1.0, 1.0], strict=True)
    ]


# Equal and unequal rows


def mixed_columns() -> dict[str, list[Any]]:
    words = ["", "a", "Zürich", "a longer text of some words", "x" * 1000, None]
    return {
        "number": [*X[:40, 0].astype(float).tolist(), *[None] * 20],
        "whole": list(range(N)),
        "text": [words[i % 6] for i in range(N)],
        "flag": [i % 3 == 0 for i in range(N)],
    }


@pytest.mark.parametrize(
    "form",
    [
        lambda c: pl.DataFrame(c),
        lambda c: pd.DataFrame(c),
        lambda c: pd.DataFrame(c).astype({"number": "Float64", "text": "string"}),
        lambda c: pl.DataFrame(c).with_columns(pl.col("text").cast(pl.Categorical)),
        lambda c: np.array(list(zip(*c.values(), strict=True)), dtype=object),
        lambda c: list(zip(*c.values(), strict=True)),
        lambda c: c,
    ],
)
def test_equal_cells_have_equal_hashes_in_every_container(form: Callable[[Any], Any]) -> None:
    columns = mixed_columns()
    expected = row_hashes(pl.DataFrame(columns), Y)
    assert np.array_equal(row_hashes(form(columns), Y), expected)
    assert np.array_equal(row_hashes(form(columns), Y.tolist()), expected)
    assert len(np.unique(expected)) == N


@pytest.mark.parametrize(
    "form",
    [np.float64, np.asfortranarray, sp.csr_matrix, sp.coo_array, pd.DataFrame, pl.DataFrame, np.ndarray.tolist],
)  # fmt: skip
def test_numbers_have_one_hash_whatever_holds_them(form: Callable[[Any], Any]) -> None:
    rows = np.where(np.abs(X) < 0.5, np.float32(0), X)
    assert np.array_equal(row_hashes(form(rows), Y), row_hashes(rows, Y))


def test_decimals_as_text_have_the_hashes_of_numbers() -> None:
    numbers = np.round(RNG.normal(size=2000) * 10.0 ** RNG.integers(-3, 9, 2000), 6)
    texts = [f"{number:.6f}" for number in numbers.tolist()]
    assert np.array_equal(row_hashes(pl.DataFrame({"x": texts})), row_hashes(numbers[:, None]))


def test_numbers_written_as_text_are_numbers() -> None:
    texts = [["1.50", "-7", "no"], ["0.1", "12345", ""]]
    assert np.array_equal(row_hashes(texts), row_hashes([[1.5, -7, "no"], [0.1, 12345, ""]]))


def test_dates_are_the_same_in_pandas_and_polars() -> None:
    days = np.datetime64("2020-01-31") + np.arange(5).astype("timedelta64[D]")
    frames = pd.DataFrame({"d": days}), pl.DataFrame({"d": days}), pl.DataFrame({"d": pl.Series(days).cast(pl.Date)})
    first, *others = (row_hashes(frame) for frame in frames)
    assert all(np.array_equal(first, other) for other in others)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([[1.0, 2.0]], [[2.0, 1.0]]),
        ([[0.0, 0.0]], [[0.0, np.nan]]),
        ([[2.0**24]], [[2.0**24 + 1]]),
        (np.array([[2**53]]), np.array([[2**53 + 1]])),
        ([["ab", "c"]], [["a", "bc"]]),
        ([["12345678"]], [["12345678\0"]]),
        ([["1"]], [["1x"]]),
        ([[""]], [[" "]]),
    ],
)
def test_rows_that_differ_have_other_hashes(one: Any, other: Any) -> None:
    assert row_hashes(one)[0] != row_hashes(other)[0]


def test_the_label_counts() -> None:
    assert not np.any(row_hashes(X, Y) == row_hashes(X, np.where(Y == "no", "yes", "no")))
    assert not np.any(row_hashes(X, Y) == row_hashes(X))


def test_zeros_of_either_sign_are_one() -> None:
    assert row_hashes(np.array([[0.0]]))[0] == row_hashes(np.array([[-0.0]]))[0]


def test_another_process_has_the_same_hashes() -> None:
    code = "from abnet.certificates import row_hashes; print(row_hashes([['a', 1.5, None]], ['yes'])[0])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(found) == int(row_hashes([["a", 1.5, None]], ["yes"])[0])


def test_bits_of_hashes_look_like_coins() -> None:
    """Also of rows that differ in one small whole number."""
    hashes = row_hashes(np.arange(20_000)[:, None])
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(20_000)
    assert len(np.unique(hashes)) == 20_000


# What is made of the hashes of all rows


def test_the_sum_of_hashes_knows_rows_but_not_their_order() -> None:
    hashes = row_hashes(X, Y)
    shuffled = RNG.permutation(N)
    assert hash_sum(hashes[shuffled]) == hash_sum(hashes)
    assert hash_sum(hashes[:20]) + hash_sum(hashes[20:]) - hash_sum(hashes) in (0, 2**64)
    assert len({hash_sum(np.delete(hashes, row)) for row in range(N)}) == N
    doubled = np.append(hashes[1:], hashes[1])
    assert hash_sum(doubled) != hash_sum(hashes)


@pytest.mark.parametrize(
    "change",
    [
        lambda X, Y: (np.where(np.arange(4) == 2, X + 1e-6, X), Y),
        lambda X, Y: (X, np.roll(Y, 1)),
        lambda X, Y: (X[::-1], Y[::-1]),
        lambda X, Y: (X[1:], Y[1:]),
        lambda X, Y: (X[:, ::-1], Y),
        lambda X, Y: (np.delete(X, 3, axis=1), Y),
    ],
    ids=["cells", "labels", "order", "rows", "columns", "a column less"],
)
def test_every_change_changes_the_fingerprint(change: Callable[..., Any]) -> None:
    expected = fingerprint(X, Y)
    assert fingerprint(X.astype(float), Y.tolist()) == expected
    assert fingerprint(*change(X, Y)) != expected
