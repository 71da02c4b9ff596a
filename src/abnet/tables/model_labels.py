"""Labels of a table for a model that exists already: as codes of its classes, or as text."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.tables.cells import is_blank, to_text
from abnet.tables.label_types import is_number
from abnet.tables.named_columns import cell_texts
from abnet.tables.number_forms import PLAIN
from abnet.tables.table import Table
from abnet.tables.target import check_target
from abnet.tables.target_bins import bin_codes, bin_names

__all__ = ["label_codes", "label_places", "true_labels"]


def label_codes(table: Table, column: str, classes: Sequence[Any]) -> NDArray[np.intp]:
    """The code of every row's label among K known classes; K for any other label, -1 for a missing one.

    Parameters
    ----------
    table : Table
    column : str
    classes : sequence
        As `split_target` found them in some rows of the table.

    Examples
    --------
    >>> from abnet.tables.table import as_table
    >>> label_codes(as_table({"rich": ["1", "0", "1.0", "very"]}), "rich", [0, 1]).tolist()
    [1, 0, 1, 2]
    """
    check_target(table, column)
    distinct = table.cells(column).distinct()
    return label_places(distinct.values, classes)[distinct.codes]


def label_places(labels: Iterable[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    """The place of each label among K classes, as text or as a number; K for any other label, -1 for a missing one.

    Examples
    --------
    >>> label_places(["1", "0", "1.0", "very", ""], [0, 1]).tolist()
    [1, 0, 1, 2, -1]
    """
    names = [to_text(label) for label in classes]
    place_of_name = {name: place for place, name in enumerate(names)}
    place_of_number = {float(name): place for place, name in enumerate(names) if is_number(name)}
    places = []
    for label in labels:
        text = to_text(label)
        if is_blank(label):
            places.append(-1)
        elif text in place_of_name:
            places.append(place_of_name[text])
        elif is_number(text):
            places.append(place_of_number.get(float(text), len(names)))
        else:
            places.append(len(names))
    return np.array(places, np.intp)


def true_labels(table: Table, column: str, cuts: Sequence[float] = ()) -> list[str | None]:
    """Labels of a table as text, None for missing ones.

    Parameters
    ----------
    table : Table
    column : str
    cuts : sequence of float
        Points at which the model's target was cut into classes; numbers then become the labels of these classes. The
        table may also hold these labels themselves.

    Examples
    --------
    >>> from abnet.tables.table import as_table
    >>> true_labels(as_table({"price": ["9.5", "10", "", "below 10"]}), "price", [10.0])
    ['below 10', '10 or above', None, 'below 10']
    """
    texts = cell_texts(table, column)
    if not cuts:
        return texts
    x, _ = table.cells(column).numbers(PLAIN)
    x = np.where(np.isfinite(x), x, np.nan)
    labels: list[str | None] = [*bin_names(cuts)]
    n_classes = len(labels)
    found = []
    for code, text in zip(bin_codes(x, cuts).tolist(), texts, strict=True):
        if code < n_classes:
            found.append(labels[code])
        else:
            found.append(text)
    return found
