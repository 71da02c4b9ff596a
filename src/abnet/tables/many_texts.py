"""Text with many different values: categories, words, hashed words and characters, or nothing.

The form is chosen by how well it predicts the labels on validation rows of the first part; bound rows are never used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from abnet.tables.columns.column import Column
from abnet.tables.columns.encoded import Features
from abnet.tables.columns.hashed import BUCKETS, HashedColumn
from abnet.tables.columns.recognition import Chosen, Open
from abnet.tables.columns.words import WordsColumn, common_words
from abnet.tables.frames import Table
from abnet.tables.notes import Note

if TYPE_CHECKING:
    from abnet.tables.columns.text import TextColumn

__all__ = ["ManyTexts", "gains", "many_texts", "merged_notes", "settle_texts", "unexplained"]

_ROWS = 20_000  # more say no more about 64 features
_FOLDS = 5
_PENALTIES = (10.0, 100.0)  # of ridge regression: as if so many rows said that a 0-1 feature means nothing
_ERRORS = 2.0  # a gain of less than so many standard errors may be chance
_LEAST = 0.005  # of the variance of the labels: what shrinking has left of another column is not worth 64 features
_NEARLY = 0.1
_MOST_CLASSES = 100


@dataclass(frozen=True)
class ManyTexts(Open):
    """Text with many values, and the columns it may become, those that can be read first.

    Attributes
    ----------
    name : str
    candidates : tuple of columns
    usual : Chosen
        What it is without labels.
    counts : mapping
        Rows of every text.
    wanted : bool
        Whether the user has asked for it.
    notes : tuple of Note
    """

    name: str
    candidates: tuple[Column, ...]
    usual: Chosen
    counts: Mapping[str, int]
    wanted: bool
    notes: tuple[Note, ...] = ()


def many_texts(
    name: str,
    counts: Mapping[str, int],
    categories: "TextColumn",
    *,
    wanted: bool,
    notes: tuple[Note, ...] = (),
) -> ManyTexts:
    """What a text with many values may become.

    Parameters
    ----------
    name : str
    counts : mapping
        Rows of every text.
    categories : TextColumn
        Its commonest values.
    wanted : bool
    notes : tuple of Note
    """
    words, blanks, total = common_words(counts), categories.missing, sum(counts.values())
    worded = [WordsColumn(name, tuple(words), blanks)] if words else []
    first = worded[0] if worded else categories
    usual = Chosen(first, _said(first, counts))
    recurs = max(counts.values()) >= max(5.0, total / 100)  # as of words: what comes once or twice may name the rows
    candidates = [*worded, *[categories] * recurs, HashedColumn(name, BUCKETS, blanks)]
    return ManyTexts(name, tuple(candidates), usual, counts, wanted, notes)


def _said(column: Column, counts: Mapping[str, int]) -> tuple[Note, ...]:
    values = len(counts)
    if isinstance(column, WordsColumn):
        return (Note("words", (column.name,), facts={"values": values, "words": len(column.words)}),)
    if isinstance(column, HashedColumn):
        return (Note("hashed", (column.name,), facts={"values": values, "buckets": column.buckets}),)
    return merged_notes(cast("TextColumn", column), counts)


def merged_notes(column: "TextColumn", counts: Mapping[str, int]) -> tuple[Note, ...]:
    """A note on categories that share a feature, if there are any.

    Examples
    --------
    >>> from abnet.tables.columns import TextColumn
    >>> column = TextColumn("city", ("Oslo", "Rome"), ("Lima", "Pisa"), False)
    >>> print(*merged_notes(column, {"Oslo": 20, "Rome": 10, "Pisa": 2, "Lima": 1}))
    column 'city': the 2 rarest of 4 categories (3 training rows) were merged into one
    """
    merged = len(counts) - len(column.categories)
    rows = sum(counts.values()) - sum(counts[category] for category in column.categories)
    if not merged:
        return ()
    return (Note("merged categories", (column.name,), rows, facts={"merged": merged, "values": len(counts)}),)


def settle_texts(many: Sequence[ManyTexts], others: Sequence[Column], table: Table, y: Any = None) -> dict[str, Chosen]:
    """Choose the form of columns with many texts, one after the other, by what they add to the other columns.

    Parameters
    ----------
    many : sequence of ManyTexts
    others : sequence of columns
        Those that are decided.
    table : Table
    y : array (n,), optional
        Labels; without them each column is what it usually is.
    """
    if y is None:
        return {text.name: Chosen(text.usual.column, (*text.notes, *text.usual.notes)) for text in many}
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
            chosen[text.name] = Chosen(column, (*text.notes, *_said(column, text.counts)))
        else:
            useless = Note("text that does not help", (text.name,), facts={"values": len(text.counts)})
            chosen[text.name] = Chosen(None, (useless, *text.notes))
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
    return targets - _predicted(X, targets, _PENALTIES[0])


def gains(features: Features, left: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much smaller the squared error of every row is with these features, and what they leave.

    Hardly any single word says much: with a small penalty 150 words fit the noise of a thousand rows, while a category
    that says everything is shrunk by a large one. So the better of two penalties counts.

    Examples
    --------
    >>> x = np.arange(100)[:, None] % 2
    >>> gain, rest = gains(x.astype(np.float32), 2.0 * x - 1)
    >>> bool(gain.min() > 0), bool(np.abs(rest).max() < 0.5)
    (True, True)
    """
    rests = [left - _predicted(features, left, penalty) for penalty in _PENALTIES]
    rest = min(rests, key=lambda rest: float((rest**2).sum()))
    return (left**2 - rest**2).sum(axis=1), rest


def _predicted(X: NDArray[Any], targets: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
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
        slopes = np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T @ (targets[learn] - mean))
        out[fold] = mean + (X[fold] - centre) @ slopes
    return out
