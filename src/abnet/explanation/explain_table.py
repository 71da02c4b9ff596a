"""`explain_table`: explain rows of a table, or the model as a whole on a table."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan, column_layout
from abnet.explanation.background_rows import BACKGROUND_ROWS
from abnet.explanation.model_explanation import ModelExplanation, explain_model_inputs
from abnet.explanation.row_cells import row_cells
from abnet.explanation.row_explanation import Explanation, RowExplanation, explain_inputs
from abnet.model.model import Model
from abnet.model.table_rows import InputWatch, ModelOrPath, as_model, prepared, whole_table
from abnet.tables.model_labels import true_labels
from abnet.tables.named_columns import label_text
from abnet.tables.preparation.input_shift import refuse_shift, shift_notes
from abnet.tables.table import as_table
from abnet.utils.atomic import atomic_path
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.progress import ProgressCallback, part_of_progress, report_progress
from abnet.utils.wording import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["ExplainedTable", "chosen_rows", "explain_table"]

MODEL_ROWS = 20_000
"""Maximum number of rows that a model as a whole is explained on."""
MOST_DRAWN = 50
"""Maximum number of rows that get figures of their own."""
STEP = 10
"""Number of rows that are explained at a time, so that the progress bar moves."""
UNKNOWN_LABEL = -1
"""Code of a label that the model does not know."""
NO_LABEL = -2
"""Code of a row without a label."""


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
        if self.rows is not None:
            return self.rows.describe()
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        rows = None
        if self.rows is not None:
            rows = self.rows.to_dict()
        whole = None
        if self.whole is not None:
            whole = self.whole.to_dict()
        return {"explained": rows, "model": whole, "output": self.output, "figures": list(self.figures)}


def chosen_rows(rows: str | Iterable[int] | None, n: int) -> list[int] | None:
    """Row numbers, from 1 on; None if no rows are chosen.

    Examples
    --------
    >>> chosen_rows([3], 10), chosen_rows("1-3,7", 10), chosen_rows("all", 2), chosen_rows(None, 10)
    ([3], [1, 2, 3, 7], [1, 2], None)
    """
    if rows is None:
        return None
    if rows == "all":
        return list(range(1, n + 1))
    numbers: list[int] = []
    if isinstance(rows, str):
        for part in rows.split(","):
            numbers += _numbers_in_range(part.strip(), rows, n)
    else:
        numbers += rows
    outside = [number for number in numbers if not 1 <= number <= n]
    if outside:
        raise ParameterError(
            "no row {} in the table: it has {}; rows count from 1, without the header.", outside[0], number_of(n, "row")
        )
    return numbers


def _numbers_in_range(part: str, rows: str, n: int) -> range:
    """The numbers in one part of a list, such as ``7`` or ``1-3``; at most one number is beyond n."""
    first, dash, last = part.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise ParameterError("{} takes numbers and ranges, such as 1-5,9, or 'all'; got {!r}.", Parameter("rows"), rows)
    if not dash:
        last = first
    if int(last) < int(first):
        raise ParameterError("{}: {} counts backwards; write {}-{}.", Parameter("rows"), part, last, first)
    return range(int(first), min(int(last), n + 1) + 1)


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
    """Explain rows of a table, or the model as a whole on the table; write contributions and figures if asked to.

    Parameters
    ----------
    model : path, Model or fitted classifier
    table : path, frame, or iterable of frames
        Rows that the model was not trained on.
    rows : str or iterable of int, optional
        Rows to explain, counted from 1: ``[3, 8]``, ``"1-5,9"`` or ``"all"``. None explains the model as a whole.
    background : path or frame, optional
        Typical rows to compare with; by default training rows that the model keeps.
    output : path, optional
        CSV file for the contributions of the chosen rows, or of all rows.
    plots : path, optional
        Folder for figures; created if missing.
    seed : int
        Seed of the orders and rows that are drawn.
    progress : callable, optional
        Called with the share that is done, between 0 and 1.
    """
    report_progress("Reading the table")
    loaded = as_model(model)
    frame = whole_table(table)
    chosen = chosen_rows(rows, frame.height)
    if plots is not None and chosen is not None and len(chosen) > MOST_DRAWN:
        raise ParameterError(
            "{} draws each row by itself, at most {}; you named {:,}.", Parameter("plots"), MOST_DRAWN, len(chosen)
        )
    notes = _shift_notes(loaded, _drawn(frame, MODEL_ROWS, seed))
    background_rows = _background(loaded, frame, background, seed, notes)
    # Without chosen rows the model is explained as a whole, and all rows only for the sake of the output file.
    whole_share = 0.0
    if chosen is None:
        whole_share = 1.0
        if output is not None:
            whole_share = 0.5
    whole = None
    if chosen is None:
        report_progress("What moves the answers")
        plan = _plan(loaded, background_rows, seed, pairs=2)
        whole = _explain_model(loaded, frame, plan, seed, notes, part_of_progress(progress, 0.0, whole_share))
        if output is not None:
            chosen = list(range(1, frame.height + 1))
    explained = None
    if chosen is not None:
        report_progress("Rows")
        plan = _plan(loaded, background_rows, seed)
        explained = _explain_rows(
            loaded, frame, chosen, plan, notes, part_of_progress(progress, whole_share, 1.0 - whole_share)
        )
    if output is not None and explained is not None:
        with atomic_path(output) as temporary:
            temporary.write_text(explained.to_csv(), encoding="utf-8", newline="")
    figures: list[str] = []
    if plots is not None:
        report_progress("Figures")
        figures = _save_figures(whole, explained, Path(plots))
    if progress is not None:
        progress(1.0)
    output_name = None
    if output is not None:
        output_name = os.fspath(output)
    return ExplainedTable(
        rows=explained,
        whole=whole,
        notes=tuple(dict.fromkeys(notes)),
        output=output_name,
        figures=tuple(figures),
    )


def _background(loaded: Model, frame: "polars.DataFrame", background: Any, seed: int, notes: list[str]) -> Any:
    """Rows to compare with, as inputs of the network; None for the rows that the model keeps."""
    if background is not None:
        source = whole_table(background)
    elif loaded.card.background:
        return None
    else:
        source = frame
        notes.append(
            f"the model keeps no training rows to compare with, so at most {BACKGROUND_ROWS} rows of this table are "
            "used; name other rows with --background TABLE"
        )
    return _inputs(loaded, _drawn(source, BACKGROUND_ROWS, seed), notes)


def _plan(loaded: Model, background_rows: Any, seed: int, pairs: int | None = None) -> ExplanationPlan:
    if background_rows is None:
        return ExplanationPlan.of(loaded, seed=seed, pairs=pairs)
    layout = column_layout(loaded)
    features = np.asarray(background_rows)[:, : layout.n_features]
    return ExplanationPlan.drawn(layout, features, seed=seed, pairs=pairs)


def _drawn(frame: "polars.DataFrame", most: int, seed: int) -> "polars.DataFrame":
    """At most `most` rows, drawn at random, in the order of the table."""
    if frame.height <= most:
        return frame
    places = np.random.default_rng(seed).choice(frame.height, most, replace=False)
    return frame[np.sort(places)]


def _inputs(loaded: Model, frame: "polars.DataFrame", notes: list[str]) -> Any:
    """Inputs of the network, with notes on unseen values."""
    rows = prepared(loaded, as_table(frame))
    notes += map(str, rows.unseen)
    return rows.inputs


def _shift_notes(loaded: Model, frame: "polars.DataFrame") -> list[str]:
    """Notes on columns that differ from the training rows; an error for a column that cannot be read."""
    rows = prepared(loaded, as_table(frame))
    watch = InputWatch(loaded)
    watch.add(rows)
    checks = watch.check(rows.unseen)
    refuse_shift(checks, allow_shift=True)
    return list(map(str, shift_notes(checks)))


def _explain_model(
    loaded: Model,
    frame: "polars.DataFrame",
    plan: ExplanationPlan,
    seed: int,
    notes: list[str],
    progress: ProgressCallback | None,
) -> ModelExplanation:
    rows = _drawn(frame, MODEL_ROWS, seed)
    codes = _label_codes(loaded, rows)
    if codes is not None:
        labelled = codes != NO_LABEL
        if not labelled.all():
            notes.append(f"{number_of(int((~labelled).sum()), 'row')} without a label left out")
            rows = rows.filter(labelled)
            codes = codes[labelled]
    return explain_model_inputs(loaded, _inputs(loaded, rows, notes), codes, plan, seed=seed, progress=progress)


def _label_codes(loaded: Model, frame: "polars.DataFrame") -> NDArray[np.intp] | None:
    """Positions of the labels among the classes, `UNKNOWN_LABEL` or `NO_LABEL`; None if the table has no labels."""
    target = loaded.card.target
    if not isinstance(target, str) or target not in frame.columns:
        return None
    code_of: dict[Any, int] = {label_text(name): code for code, name in enumerate(loaded.labels.names)}
    code_of[None] = NO_LABEL
    texts = true_labels(as_table(frame), target, loaded.card.cuts)
    return np.array([code_of.get(text, UNKNOWN_LABEL) for text in texts])


def _explain_rows(
    loaded: Model,
    frame: "polars.DataFrame",
    numbers: list[int],
    plan: ExplanationPlan,
    notes: list[str],
    progress: ProgressCallback | None,
) -> Explanation:
    explained: list[RowExplanation] = []
    for start in range(0, len(numbers), STEP):
        part = numbers[start : start + STEP]
        rows = frame[[number - 1 for number in part]]
        inputs = _inputs(loaded, rows, notes)
        cells = row_cells(loaded, plan.columns, as_table(rows))
        explained += explain_inputs(loaded, inputs, cells, plan, numbers=part).rows
        if progress is not None:
            progress(len(explained) / len(numbers))
    return Explanation(tuple(explained), plan)


def _save_figures(whole: ModelExplanation | None, explained: Explanation | None, folder: Path) -> list[str]:
    """Figures of the model as a whole if it is explained, otherwise of each row."""
    from abnet.explanation.charts import save_model_figures, save_row_figures

    if whole is not None:
        paths = save_model_figures(whole, folder)
    else:
        paths = []
        for row in explained or ():
            paths += save_row_figures(row, folder)
    return [str(path) for path in paths]
