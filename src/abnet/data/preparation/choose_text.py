"""What becomes of a column of text: categories, words, hashed words and characters, or nothing.

Text with many different values is taken in if it helps to tell the labels, in rows kept aside among those that are
given: the first part of a table, never a bound row.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.data.preparation.columns import Features, Rules, TextColumn
from abnet.data.preparation.table_map import Column
from abnet.data.preparation.words import BUCKETS, HashedColumn, WordsColumn, common_words
from abnet.data.tables.cells import BLANK, listed, quoted, to_number, unit_of
from abnet.data.tables.date_shapes import read_dates
from abnet.data.tables.frames import Table
from abnet.data.tables.series import Cells

__all__ = ["Chosen", "MOSTLY", "ManyTexts", "choose_text", "gains", "settle_texts", "unexplained"]

MOSTLY = 0.9
"""Share of a column's values from which on the others are strays."""
_RARE_LISTED = 1000  # beyond, a model file would carry a whole column of names or addresses
_ROWS = 20_000  # more say no more about 64 features
_FOLDS = 5
_PENALTY = 10.0  # of ridge regression: as if ten rows said that a 0-1 feature means nothing
_ERRORS = 2.0  # a gain of less than so many standard errors may be chance
_LEAST = 0.005  # of the variance of the labels: what shrinking has left of another column is not worth 64 features
_NEARLY = 0.1
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Chosen:
    """A column kept (or None), why it was dropped if it was, and remarks."""

    column: Column | None
    dropped: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class ManyTexts:
    """Text with many values: the columns it may become, the one that the labels are not asked about, if it must be in.

    Attributes
    ----------
    name : str
    candidates : tuple of columns
    usual : Chosen
        What it is without labels.
    n_values : int
    wanted : bool
        Whether the user has asked for it.
    remarks : tuple of str
    """

    name: str
    candidates: tuple[Column, ...]
    usual: Chosen
    n_values: int
    wanted: bool
    remarks: tuple[str, ...] = ()


def choose_text(name: str, cells: Cells, rules: Rules) -> Chosen | ManyTexts:
    """A column of text, fitted, or what it may become if its values are many.

    A text that differs in every row and has no words that come again is an identifier: its characters might count the
    rows as a number does.
    """
    counts = {text: count for text, count in cells.counts().items() if text.lower() not in BLANK}
    total = sum(counts.values())
    blanks = len(cells) > total
    if len(counts) == 1 and not blanks:
        return Chosen(None, f"constant ({_plain(next(iter(counts)))})")
    ordered = sorted(counts, key=lambda category: (-counts[category], category))
    # The feature for the rare ones counts as a category, so that max_categories limits the width.
    kept = ordered if len(ordered) <= rules.max_categories else ordered[: rules.max_categories - 1]
    rare = ordered[len(kept) :]
    shared = tuple(sorted(rare)) if len(rare) <= _RARE_LISTED else None
    categories = TextColumn(name, tuple(sorted(kept)), shared, blanks)
    remarks = _nearly_something(counts, total)
    many = 2 * sum(counts[category] for category in kept) < total
    words, wanted = common_words(counts) if many else [], name in rules.use
    if rare and len(counts) == total and not words and not wanted:
        return Chosen(None, f"an identifier: all {total} values differ; use={name!r} takes it in", remarks)
    if not many:
        return Chosen(categories, remarks=remarks)
    worded = WordsColumn(name, tuple(words), blanks)
    usual = Chosen(worded, remarks=(_said(worded, len(counts)),)) if words else Chosen(categories, remarks=remarks)
    recurs = counts[kept[0]] >= max(5.0, total / 100)  # as of words: what comes once or twice may be a name of rows
    candidates = [worded] * bool(words) + [categories] * recurs + [HashedColumn(name, BUCKETS, blanks)]
    return ManyTexts(name, tuple(candidates), usual, len(counts), wanted, remarks)


def _plain(text: str) -> str:
    """A text for a message, without quotes where it is short."""
    shown = quoted(text)
    return shown if shown.endswith(")") else text


def _said(column: Column, n_values: int) -> str:
    if isinstance(column, WordsColumn):
        return f"has {n_values} different texts; its {len(column.words)} commonest words are the features"
    if isinstance(column, HashedColumn):
        return f"has {n_values} different texts; its words and characters are hashed into {column.buckets} features"
    return f"has {n_values} different texts; the commonest are the features"


def settle_texts(many: Sequence[ManyTexts], others: Sequence[Column], table: Table, y: Any = None) -> dict[str, Chosen]:
    """Decide about columns of many texts by what they add to the others, one after the other.

    Parameters
    ----------
    many : sequence of ManyTexts
    others : sequence of columns
        Those that are decided.
    table : Table
    y : array (n,), optional
        Labels; without them each column is what it usually is.
    """
    if not many or y is None:
        return {text.name: text.usual for text in many}
    rows = np.random.default_rng(0).permutation(table.n_rows)[:_ROWS]  # in the order of their folds
    part = table.take(rows)
    targets = _targets(y)[rows]
    left, least = unexplained([column.encode(part)[0] for column in others], targets), _LEAST * targets.var(0).sum()
    chosen: dict[str, Chosen] = {}
    for text in many:
        judged = [gains(column.encode(part)[0], left) for column in text.candidates]
        means = [float(gain.mean()) for gain, _ in judged]
        # Words can be read, buckets cannot: the first that gains nearly as much as any.
        best = next(place for place, mean in enumerate(means) if mean >= max(means) - _NEARLY * abs(max(means)))
        gain, rest = judged[best]
        helps = gain.mean() > max(_ERRORS * gain.std() / np.sqrt(len(gain)), least)
        if helps or text.wanted:
            column, left = text.candidates[best], rest
            remark = _said(column, text.n_values) + ", which help on rows kept aside" * bool(helps)
            chosen[text.name] = Chosen(column, remarks=(*text.remarks, remark))
        else:
            reason = f"text with {text.n_values} different values, which do not help to tell the labels of rows kept "
            chosen[text.name] = Chosen(None, f"{reason}aside; use={text.name!r} takes it in", text.remarks)
    return chosen


def _targets(y: Any) -> NDArray[np.float64]:
    """Labels as columns: one per class, or the number itself where there are too many."""
    values, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(values) <= _MOST_CLASSES or values.dtype.kind not in "iuf":
        return np.eye(len(values))[codes.ravel()]
    numbers = np.asarray(y, np.float64).reshape(len(codes), 1)
    return (numbers - numbers.mean()) / numbers.std()


def unexplained(features: Sequence[Features], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a linear function of the features, learned from the other folds, leaves of the targets of every row."""
    blocks = [block for block in features if block.shape[1]]
    X = np.hstack(blocks) if blocks else np.zeros((len(targets), 0), np.float32)
    return targets - _predicted(X, targets)


def gains(features: Features, left: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much smaller the squared error of every row is with these features, and what they leave.

    Examples
    --------
    >>> x = np.arange(100)[:, None] % 2
    >>> gain, rest = gains(x.astype(np.float32), 2.0 * x - 1)
    >>> bool(gain.min() > 0), bool(np.abs(rest).max() < 0.5)
    (True, True)
    """
    rest = left - _predicted(features, left)
    return (left**2 - rest**2).sum(axis=1), rest


def _predicted(X: NDArray[Any], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ridge regression ``(Z'Z + λ I)^-1 Z'T`` on centred features, each fold predicted from the others."""
    out = np.empty_like(targets)
    for fold in np.array_split(np.arange(len(targets)), _FOLDS):
        learn = np.ones(len(targets), bool)
        learn[fold] = False
        if not learn.any() or not len(fold):
            out[fold] = 0
            continue
        centre, mean = X[learn].mean(axis=0, dtype=np.float64), targets[learn].mean(axis=0)
        Z = X[learn] - centre
        slopes = np.linalg.solve(Z.T @ Z + _PENALTY * np.eye(Z.shape[1]), Z.T @ (targets[learn] - mean))
        out[fold] = mean + (X[fold] - centre) @ slopes
    return out


def _nearly_something(counts: Mapping[str, int], total: int) -> tuple[str, ...]:
    """A remark on a column of text that was perhaps meant to be numbers or dates."""
    for told in (_nearly_numbers, _many_units, _short_dates, _nearly_dates):
        if words := told(counts, total):
            return (f"is treated as text, since {words}",)
    return ()


def _nearly_numbers(counts: Mapping[str, int], total: int) -> str:
    units = Counter(unit for text in counts if (unit := unit_of(text)))
    commonest = max(units, key=lambda unit: (units[unit], unit), default="")
    words = {
        text: count
        for text, count in counts.items()
        if to_number(text) is None and not (commonest and unit_of(text) == commonest)
    }
    if not words or 2 * sum(words.values()) > total:
        return ""
    example = max(words, key=lambda text: words[text])
    return (
        f"{sum(words.values())} of its {total} values are not numbers (such as {quoted(example)}); if it should be "
        "numeric, correct these cells or leave them empty"
    )


def _many_units(counts: Mapping[str, int], total: int) -> str:
    found = {text: unit_of(text) for text in counts}
    units = sorted({unit for unit in found.values() if unit})
    if not 2 <= len(units) <= 5 or sum(counts[text] for text, unit in found.items() if unit) < MOSTLY * total:
        return ""
    return f"its numbers have several units ({listed(units)}); if it should be numeric, write all with one unit"


def _short_dates(counts: Mapping[str, int], total: int) -> str:
    short = [text for text in counts if re.fullmatch(r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{1,2}", text)]
    if sum(counts[text] for text in short) < MOSTLY * total:
        return ""
    return f"dates such as {short[0]!r} do not tell where the year stands; if they are dates, write all its digits"


def _nearly_dates(counts: Mapping[str, int], total: int) -> str:
    texts = list(counts)
    odd = {text: counts[text] for text, form in zip(texts, read_dates(texts).form, strict=True) if form < 0}
    if not odd or 2 * sum(odd.values()) > total:
        return ""
    example = max(odd, key=lambda text: odd[text])
    return (
        f"{sum(odd.values())} of its {total} values are not dates (such as {quoted(example)}); if it should be a date, "
        "correct these cells or leave them empty"
    )
