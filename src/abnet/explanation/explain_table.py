"""`explain_table`: why a model says what it says of the rows of a table, or of the table as a whole."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.fingerprint import BACKGROUND_ROWS
from abnet.explanation.background import ExplanationPlan, column_layout
from abnet.explanation.model_explanation import ModelExplanation, explain_model_inputs
from abnet.explanation.row_explanation import Explanation, explain_inputs, row_cells
from abnet.model.model import Model
from abnet.model.table_rows import InputWatch, ModelOrPath, as_model, prepared, whole_table
from abnet.tables.frames import as_table
from abnet.tables.named_columns import label_text
from abnet.tables.preparation.input_check import refuse_shift, shift_notes
from abnet.tables.target import true_labels
from abnet.utils.atomic import atomic_path
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.progress import tell
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["ExplainedTable", "chosen_rows", "explain_table"]

MODEL_ROWS = 20_000
"""Maximum number of rows that a model as a whole is explained on."""
MOST_DRAWN = 50
"""Maximum number of rows that are drawn one by one."""
STEP = 10
"""Rows explained at a time, for the progress bar."""


@dataclass(frozen=True)
class ExplainedTable:
    """Rows explained, or the model as a whole.

    Attributes
    ----------
    rows : Explanation or None
    whole : ModelExplanation or None
    notes : tuple of str
    output : str or None
        The CSV file that was written.
    figures : tuple of str
        The figures that were drawn.
    """

    rows: Explanation | None
    whole: ModelExplanation | None
    notes: tuple[str, ...] = ()
    output: str | None = None
    figures: tuple[str, ...] = ()

    def describe(self) -> str:
        """The explanation in plain text: of the model as a whole if there is one, otherwise of the rows."""
        if self.whole is not None:
            return self.whole.describe()
        return "" if self.rows is None else self.rows.describe()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "explained": None if self.rows is None else self.rows.to_dict(),
            "model": None if self.whole is None else self.whole.to_dict(),
            "output": self.output, "figures": list(self.figures),
        }  # fmt: skip


def chosen_rows(rows: str | Iterable[int] | None, n: int) -> list[int] | None:
    """Row numbers, from 1 on; None where no rows are chosen.

    Examples
    --------
    >>> chosen_rows([3], 10), chosen_rows("1-3,7", 10), chosen_rows("all", 2), chosen_rows(None, 10)
    ([3], [1, 2, 3, 7], [1, 2], None)
    """
    if rows is None:
        return None
    found: list[int] = [] if isinstance(rows, str) else list(rows)
    for part in rows.split(",") if isinstance(rows, str) and rows != "all" else []:
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ParameterError(
                "{} takes numbers and ranges, such as 1-5,9, or 'all'; got {!r}.", Parameter("rows"), rows
            )
        if int(last or first) < int(first):
            raise ParameterError("{}: {} counts backwards; write {}-{}.", Parameter("rows"), part.strip(), last, first)
        found += range(int(first), min(int(last or first), n + 1) + 1)
    if rows == "all":
        found += range(1, n + 1)
    outside = [number for number in found if not 1 <= number <= n]
    if outside:
        raise ParameterError(
            "no row {} in the table: it has {}; rows count from 1, without the header.", outside[0], number_of(n, "row")
        )
    return found


def explain_table(
    model: ModelOrPath,
    table: Any,
    *,
    rows: str | Iterable[int] | None = None,
    background: Any = None,
    output: str | os.PathLike[str] | None = None,
    plots: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ExplainedTable:
    """Explain rows of a table, or the model on all of them; write contributions and figures where asked.

    Parameters
    ----------
    model : path, Model or fitted classifier
    table : path, frame, or iterable of frames
        Rows that the model was not trained on.
    rows : str or iterable of int, optional
        Rows to explain, from 1 on: ``[3, 8]``, ``"1-5,9"`` or ``"all"``. None explains the model as a whole.
    background : path or frame, optional
        Typical rows to compare with; by default training rows that the model keeps.
    output : path, optional
        CSV file for the contributions of the chosen rows, or of all rows.
    plots : path, optional
        Folder for figures; created if missing.
    seed : int
        Seed of the orders and rows that are drawn.
    progress : callable, optional
        Takes the share that is done, between 0 and 1.
    """
    tell("Reading the table")
    loaded, frame = as_model(model), whole_table(table)
    chosen, notes = chosen_rows(rows, frame.height), list[str]()
    if plots is not None and chosen is not None and len(chosen) > MOST_DRAWN:
        raise ParameterError(
            "{} draws each row by itself, at most {}; you named {:,}.", Parameter("plots"), MOST_DRAWN, len(chosen)
        )
    notes += _shifts(loaded, _some(frame, MODEL_ROWS, seed))
    usual = _usual(loaded, frame, background, seed, notes)
    whole, explained = None, None
    if chosen is None:
        tell("What moves the answers")
        plan, share = _plan(loaded, usual, seed, pairs=2), 1.0 if output is None else 0.5
        part = None if progress is None else lambda done: progress(share * done)
        whole = _whole(loaded, frame, plan, seed, notes, part)
    if chosen is not None or output is not None:
        tell("Rows")
        begun = 0.0 if whole is None else 0.5
        rest = None if progress is None else lambda done: progress(begun + (1.0 - begun) * done)
        numbers = list(range(1, frame.height + 1)) if chosen is None else chosen
        explained = _rows(loaded, frame, numbers, _plan(loaded, usual, seed), notes, rest)
    if plots is not None:
        tell("Figures")
    if output is not None and explained is not None:
        with atomic_path(output) as temporary:
            temporary.write_text(explained.to_csv(), encoding="utf-8", newline="")
    figures: list[str] = []
    if plots is not None and chosen is not None and explained is not None:
        from abnet.explanation.charts import save_row_figures

        figures = [str(path) for row in explained for path in save_row_figures(row, Path(plots))]
    elif plots is not None and whole is not None:
        figures = _draw(loaded, frame, whole, Path(plots), notes)
    if progress is not None:
        progress(1.0)
    named = None if output is None else os.fspath(output)
    return ExplainedTable(explained, whole, tuple(dict.fromkeys(notes)), named, tuple(figures))


def _usual(loaded: Model, frame: "polars.DataFrame", background: Any, seed: int, notes: list[str]) -> Any:
    """Rows to compare with as inputs of the network; None for those that the model keeps."""
    if background is None and loaded.card.background:
        return None
    if background is None:
        notes.append(
            f"the model keeps no training rows to compare with, so at most {BACKGROUND_ROWS} rows of this table are "
            "used; name other rows with --background TABLE"
        )
    source = frame if background is None else whole_table(background)
    return _inputs(loaded, _some(source, BACKGROUND_ROWS, seed), notes)


def _plan(loaded: Model, usual: Any, seed: int, pairs: int | None = None) -> ExplanationPlan:
    if usual is None:
        return ExplanationPlan.of(loaded, seed=seed, pairs=pairs)
    layout = column_layout(loaded)
    return ExplanationPlan.drawn(layout, np.asarray(usual)[:, : layout.n_features], seed=seed, pairs=pairs)


def _some(frame: "polars.DataFrame", most: int, seed: int) -> "polars.DataFrame":
    if frame.height <= most:
        return frame
    return frame[np.sort(np.random.default_rng(seed).choice(frame.height, most, replace=False))]


def _inputs(loaded: Model, frame: "polars.DataFrame", notes: list[str]) -> Any:
    read = prepared(loaded, as_table(frame))
    notes += map(str, read.unseen)
    return read.inputs


def _shifts(loaded: Model, frame: "polars.DataFrame") -> list[str]:
    """Notes on columns that differ from the training rows; an error for one that cannot be read."""
    read, watch = prepared(loaded, as_table(frame)), InputWatch(loaded)
    watch.add(read)
    checks = watch.check(read.unseen)
    refuse_shift(checks, allow_shift=True)
    return list(map(str, shift_notes(checks)))


def _whole(
    loaded: Model,
    frame: "polars.DataFrame",
    plan: ExplanationPlan,
    seed: int,
    notes: list[str],
    progress: Callable[[float], None] | None,
) -> ModelExplanation:
    some = _some(frame, MODEL_ROWS, seed)
    codes = _codes(loaded, some)
    if codes is not None and (codes == -2).any():
        notes.append(f"{number_of(int((codes == -2).sum()), 'row')} without a label left out")
        some, codes = some.filter(codes > -2), codes[codes > -2]
    return explain_model_inputs(loaded, _inputs(loaded, some, notes), codes, plan, seed=seed, progress=progress)


def _codes(loaded: Model, frame: "polars.DataFrame") -> NDArray[np.intp] | None:
    """The places of the labels among the classes, -1 for others and -2 for none; None where the table has no labels."""
    target = loaded.card.target
    if not isinstance(target, str) or target not in frame.columns:
        return None
    known: dict[Any, int] = {label_text(name): code for code, name in enumerate(loaded.labels.names)}
    texts = true_labels(as_table(frame), target, loaded.card.cuts)
    return np.array([-2 if text is None else known.get(text, -1) for text in texts])


def _rows(
    loaded: Model,
    frame: "polars.DataFrame",
    numbers: list[int],
    plan: ExplanationPlan,
    notes: list[str],
    progress: Callable[[float], None] | None,
) -> Explanation:
    found: list[Any] = []
    for start in range(0, len(numbers), STEP):
        part = numbers[start : start + STEP]
        rows = frame[[number - 1 for number in part]]
        inputs = _inputs(loaded, rows, notes)
        cells = row_cells(loaded, plan.columns, as_table(rows))
        found += explain_inputs(loaded, inputs, cells, plan, numbers=part).rows
        if progress is not None:
            progress((start + len(part)) / len(numbers))
    return Explanation(tuple(found), plan)


def _draw(
    loaded: Model, frame: "polars.DataFrame", whole: ModelExplanation, folder: Path, notes: list[str]
) -> list[str]:
    """Draw the figures of the model."""
    from abnet.explanation.charts import save_model_figures

    return list(map(str, save_model_figures(whole, folder)))


def _known_labels(loaded: Model, frame: "polars.DataFrame") -> NDArray[Any] | None:
    codes = _codes(loaded, frame)
    return None if codes is None or codes.min() < 0 else loaded.labels.decode(codes)
