"""The type of labels in text: whole numbers, booleans, numbers that are written in several ways, or text."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import to_text

__all__ = ["is_number", "sorted_as_typed", "typed_labels"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?")
"""A number without an exponent or leading zeros, which would make it a code."""

_MOST_DIGITS = 18
"""Digits of whole numbers that fit into 64 bits."""


def typed_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Labels with their common type, and a description of numbers that are written in several ways.

    Text becomes integers or booleans if these are written back as the same text (``1``, ``True``, but neither ``01``
    nor ``true``), and numbers if one number is written in several ways (``1`` and ``1.0``).

    Examples
    --------
    >>> typed_labels(np.array(["9", "10"])), typed_labels(np.array(["9", "10", "zz"]))
    ((array([ 9, 10]), ''), (array(['9', '10', 'zz'], dtype='<U2'), ''))
    >>> typed_labels(np.array(["1", "1.0", "0"]))
    (array([1, 1, 0]), "'1' and '1.0'")
    """
    if labels.dtype.kind != "U":
        return labels, ""
    texts = labels.tolist()
    if set(texts) <= {"True", "False"}:
        return labels == "True", ""
    if all(_is_plain_integer(text) for text in texts):
        return np.array([int(text) for text in texts], np.int64), ""
    one_number = _texts_of_one_number(texts)
    if not one_number:
        return labels, ""
    if all(is_number(text) for text in texts):
        return _as_numbers(texts), one_number
    return np.array([_number_text(text) for text in texts]), one_number


def sorted_as_typed(labels: NDArray[Any]) -> NDArray[np.intp]:
    """The order of different labels by the values that their text stands for.

    Examples
    --------
    >>> sorted_as_typed(np.array(["10", "9"]))
    array([1, 0])
    """
    return np.argsort(typed_labels(labels)[0], kind="stable")


def is_number(text: str) -> bool:
    """Whether a label is a number that may be written in several ways.

    Examples
    --------
    >>> [is_number(text) for text in ("1", "1.50", "-2.", "01", "1e3", "one")]
    [True, True, True, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None


def _as_numbers(texts: list[str]) -> NDArray[Any]:
    """Integers if all numbers are whole and exact as floats, otherwise floats."""
    numbers = np.array([float(text) for text in texts])
    is_whole = (numbers == np.trunc(numbers)) & (np.abs(numbers) < 2**53)
    if is_whole.all():
        return numbers.astype(np.int64)
    return numbers


def _number_text(text: str) -> str:
    """One text for every way to write a number; any other text as it is."""
    if is_number(text):
        return to_text(float(text))
    return text


def _texts_of_one_number(texts: list[str]) -> str:
    """Different texts of one number, in words; empty if there are none."""
    numbers = sorted({text for text in texts if is_number(text)}, key=lambda text: (len(text), text))
    texts_of_number: dict[float, list[str]] = {}
    for text in numbers:
        texts_of_number.setdefault(float(text), []).append(text)
    for same in texts_of_number.values():
        if len(same) > 1:
            return " and ".join(map(repr, same))
    return ""


def _is_plain_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS and str(int(text)) == text
