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
from abnet.tables.columns.rule_registry import Chosen, Open
from abnet.tables.columns.words import WordsColumn, common_words
from abnet.tables.notes import Note
from abnet.tables.table import Table

if TYPE_CHECKING:
    from abnet.tables.columns.text import TextColumn

__all__ = ["ManyTexts", "gains", "choose_text_forms", "many_texts", "merged_notes", "unexplained"]

_MOST_ROWS = 20_000
"""Rows that are enough to judge 64 features."""
_FOLDS = 5
_PENALTIES = (10.0, 100.0)
"""Penalties of ridge regression: as if this many rows had a 0-1 feature and an average label."""
_STANDARD_ERRORS = 2.0
"""A smaller gain may be by chance."""
_LEAST_GAIN = 0.005
"""Share of the variance of the labels that 64 features have to explain. Other columns, whose slopes are shrunk, leave
some of their own effect unexplained; this is not worth it."""
_NEARLY = 0.1
"""A readable form is chosen if its gain is less by at most this share."""
_MOST_CLASSES = 100


@dataclass(frozen=True)
class ManyTexts(Open):
    """Text with many values, and the columns it may become, readable ones first.

    Attributes
    ----------
    name : str
    candidates : tuple of columns
    usual : Chosen
        What it becomes without labels.
    counts : mapping
        Number of rows of every text.
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
        Number of rows of every text.
    categories : TextColumn
        Its most common values.
    wanted : bool
        Whether the user has asked for the column.
    notes : tuple of Note
    """
    usual: Column = categories
    candidates: list[Column] = []
    words = common_words(counts)
    if words:
        usual = WordsColumn(name, tuple(words), categories.missing)
        candidates.append(usual)
    # A value that occurs once or twice may name the rows, so categories need one that recurs, as words do.
    n_rows = sum(counts.values())
    if max(counts.values()) >= max(5.0, n_rows / 100):
        candidates.append(categories)
    candidates.append(HashedColumn(name, BUCKETS, categories.missing))
    return ManyTexts(name, tuple(candidates), Chosen(usual, _form_notes(usual, counts)), counts, wanted, notes)


def _form_notes(column: Column, counts: Mapping[str, int]) -> tuple[Note, ...]:
    """A note on the form that a text with many values has."""
    n_values = len(counts)
    if isinstance(column, WordsColumn):
        return (Note("words", (column.name,), facts={"values": n_values, "words": len(column.words)}),)
    if isinstance(column, HashedColumn):
        return (Note("hashed", (column.name,), facts={"values": n_values, "buckets": column.buckets}),)
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
    n_merged = len(counts) - len(column.categories)
    if not n_merged:
        return ()
    n_rows = sum(counts.values()) - sum(counts[category] for category in column.categories)
    return (Note("merged categories", (column.name,), n_rows, facts={"merged": n_merged, "values": len(counts)}),)


def choose_text_forms(
    many: Sequence[ManyTexts], others: Sequence[Column], table: Table, y: Any = None
) -> dict[str, Chosen]:
    """Choose the form of columns with many texts, in turn, by what they add to the other columns.

    Parameters
    ----------
    many : sequence of ManyTexts
    others : sequence of columns
        All other columns of the table.
    table : Table
    y : array (n,), optional
        Labels; without them each column gets its usual form.
    """
    if y is None:
        return {text.name: Chosen(text.usual.column, (*text.notes, *text.usual.notes)) for text in many}
    rows = np.random.default_rng(0).permutation(table.n_rows)[:_MOST_ROWS]
    part = table.take(rows)
    targets = _targets(y)[rows]
    residuals = unexplained([column.encode(part)[0] for column in others], targets)
    least_gain = _LEAST_GAIN * targets.var(0).sum()
    chosen: dict[str, Chosen] = {}
    for text in many:
        tried = [gains(column.encode(part)[0], residuals) for column in text.candidates]
        best = _first_nearly_best([float(gain.mean()) for gain, _ in tried])
        gain, residuals_left = tried[best]
        standard_error = gain.std() / np.sqrt(len(gain))
        helps = gain.mean() > max(_STANDARD_ERRORS * standard_error, least_gain)
        if helps or text.wanted:
            column = text.candidates[best]
            residuals = residuals_left
            chosen[text.name] = Chosen(column, (*text.notes, *_form_notes(column, text.counts)))
        else:
            note = Note("text that does not help", (text.name,), facts={"values": len(text.counts)})
            chosen[text.name] = Chosen(None, (note, *text.notes))
    return chosen


def _first_nearly_best(means: list[float]) -> int:
    """The first form that gains nearly as much as the best: words can be read, hashed words cannot."""
    enough = max(means) - _NEARLY * abs(max(means))
    return next(place for place, mean in enumerate(means) if mean >= enough)


def _targets(y: Any) -> NDArray[np.float64]:
    """Labels as columns: one per class, or the number itself if there are too many classes."""
    values, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(values) <= _MOST_CLASSES or values.dtype.kind not in "iuf":
        return np.eye(len(values))[codes.ravel()]
    numbers = np.asarray(y, np.float64).reshape(len(codes), 1)
    return (numbers - numbers.mean()) / numbers.std()


def unexplained(features: Sequence[Features], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """The residuals of the targets after a linear regression on the features, predicted from the other folds."""
    none = np.zeros((len(targets), 0), np.float32)
    X = np.hstack([none, *features])
    return targets - _cross_predicted(X, targets, _PENALTIES[0])


def gains(features: Features, residuals: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much these features reduce the squared error of every row, and the residuals that they leave.

    The better of two penalties counts. Few single words are informative: with a small penalty, 150 words fit the noise
    of a thousand rows, while a large one shrinks the effect of a category that explains everything.

    Examples
    --------
    >>> x = np.arange(100)[:, None] % 2
    >>> gain, left = gains(x.astype(np.float32), 2.0 * x - 1)
    >>> bool(gain.min() > 0), bool(np.abs(left).max() < 0.5)
    (True, True)
    """
    tried = [residuals - _cross_predicted(features, residuals, penalty) for penalty in _PENALTIES]
    left = min(tried, key=lambda left: float((left**2).sum()))
    return (residuals**2 - left**2).sum(axis=1), left


def _cross_predicted(X: NDArray[Any], targets: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    """Ridge regression ``(Z'Z + λ I)^-1 Z'T`` on centred features, each fold predicted from the others."""
    predicted = np.empty_like(targets)
    for fold in np.array_split(np.arange(len(targets)), _FOLDS):
        others = np.ones(len(targets), bool)
        others[fold] = False
        if not others.any() or not len(fold):
            predicted[fold] = 0
            continue
        centre = X[others].mean(axis=0, dtype=np.float64)
        mean = targets[others].mean(axis=0)
        Z = X[others] - centre
        slopes = np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T @ (targets[others] - mean))
        predicted[fold] = mean + (X[fold] - centre) @ slopes
    return predicted
