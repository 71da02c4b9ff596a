"""Why a model says what it says of a table: the job of `abnet explain`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abnet.atomic import atomic_path
from abnet.certificates.fingerprint import BACKGROUND_ROWS
from abnet.cli.console import UsageError
from abnet.cli.jobs.inputs import cell_texts, label_text
from abnet.cli.jobs.predict_table import numeric_rows, prepared
from abnet.explanation.background import ExplanationPlan, column_layout
from abnet.explanation.model_explanation import ModelExplanation, explain_model_inputs
from abnet.explanation.row_explanation import Explanation, explain_inputs, row_cells
from abnet.model.file import load
from abnet.model.model import Model
from abnet.preparation.unseen import Unseen
from abnet.tables import read_table
from abnet.tables.frames import as_table
from abnet.words import number_of

if TYPE_CHECKING:
    import polars

__all__ = ["ExplainOutcome", "chosen_rows", "explain_table"]

MODEL_ROWS = 20_000
"""Rows that a model as a whole is explained on, at the most."""
MOST_DRAWN = 50
"""Rows that are drawn, at the most."""
STEP = 10
"""Rows explained at a time, for the bar."""


@dataclass
class ExplainOutcome:
    """What came out: rows explained, or the model as a whole."""

    rows: Explanation | None
    whole: ModelExplanation | None
    notices: list[str] = field(default_factory=list)
    output: str | None = None
    figures: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "explained": None if self.rows is None else self.rows.to_dict(),
            "model": None if self.whole is None else self.whole.to_dict(),
            "output": self.output, "figures": self.figures,
        }  # fmt: skip


def chosen_rows(row: Sequence[int], rows: str | None, n: int) -> list[int] | None:
    """Numbers of rows from the two options, from 1 on; None where neither was given.

    Examples
    --------
    >>> chosen_rows([3], None, 10), chosen_rows([], "1-3,7", 10), chosen_rows([], "all", 2), chosen_rows([], None, 10)
    ([3], [1, 2, 3, 7], [1, 2], None)
    """
    if rows is None and not row:
        return None
    found = list(row)
    for part in [] if rows in (None, "all") else str(rows).split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UsageError(f"--rows takes numbers and spans, such as 1-5,9, or 'all'; got {rows!r}.")
        if int(last or first) < int(first):
            raise UsageError(f"--rows: {part.strip()} counts backwards; write {last}-{first}.")
        found += range(int(first), min(int(last or first), n + 1) + 1)
    if rows == "all":
        found += range(1, n + 1)
    outside = [number for number in found if not 1 <= number <= n]
    if outside:
        raise UsageError(
            f"no row {outside[0]} in the table: it has {number_of(n, 'row')}, counted from 1 without the header."
        )
    return found


def explain_table(
    model: Path,
    table: Path,
    *,
    row: Sequence[int] = (),
    rows: str | None = None,
    background: Path | None = None,
    output: Path | None = None,
    plots: Path | None = None,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> ExplainOutcome:
    """Explain rows of a table, or the model on all of them; write contributions and figures where asked.

    Parameters
    ----------
    model, table : path
    row, rows
        Which rows, as in `chosen_rows`; none: the model as a whole.
    background : path, optional
        A table of usual rows to compare with.
    output : path, optional
        CSV file for the contributions of the chosen rows, or of all.
    plots : path, optional
        Folder for figures.
    seed : int
    progress : callable, optional
        Takes the share that is done.
    """
    loaded, frame = load(model), read_table(table)
    chosen = chosen_rows(row, rows, frame.height)
    if plots is not None and chosen is not None and len(chosen) > MOST_DRAWN:
        raise UsageError(f"--plots draws each row by itself, {MOST_DRAWN} at the most; {len(chosen):,} were named.")
    outcome = ExplainOutcome(None, None)
    usual = _usual(loaded, frame, background, seed, outcome)
    if chosen is None:
        plan = _plan(loaded, usual, seed, pairs=2)
        outcome.whole = _whole(loaded, frame, plan, seed, outcome)
    if chosen is not None or output is not None:
        numbers = list(range(1, frame.height + 1)) if chosen is None else chosen
        outcome.rows = _rows(loaded, frame, numbers, _plan(loaded, usual, seed), outcome, progress)
    if output is not None and outcome.rows is not None:
        with atomic_path(output) as temporary:
            temporary.write_text(outcome.rows.to_csv(), encoding="utf-8", newline="")
        outcome.output = str(output)
    if plots is not None:
        outcome.figures = _draw(loaded, frame, outcome, plots, chosen is not None)
    outcome.notices = list(dict.fromkeys(outcome.notices))
    return outcome


def _usual(
    loaded: Model, frame: "polars.DataFrame", background: Path | None, seed: int, outcome: ExplainOutcome
) -> Any:
    """Rows to compare with as inputs of the network; None for those that the model keeps."""
    if background is None and loaded.card.background:
        return None
    if background is None:
        outcome.notices.append(
            f"the model keeps no rows to compare with: rows of the table itself are taken ({BACKGROUND_ROWS} at the "
            "most); --background TABLE names others"
        )
    source = frame if background is None else read_table(background)
    return _inputs(loaded, _some(source, BACKGROUND_ROWS, seed), outcome)


def _plan(loaded: Model, usual: Any, seed: int, pairs: int | None = None) -> ExplanationPlan:
    if usual is None:
        return ExplanationPlan.of(loaded, seed=seed, pairs=pairs)
    layout = column_layout(loaded)
    return ExplanationPlan.drawn(layout, np.asarray(usual)[:, : layout.n_features], seed=seed, pairs=pairs)


def _some(frame: "polars.DataFrame", most: int, seed: int) -> "polars.DataFrame":
    if frame.height <= most:
        return frame
    return frame[np.sort(np.random.default_rng(seed).choice(frame.height, most, replace=False))]


def _inputs(loaded: Model, frame: "polars.DataFrame", outcome: ExplainOutcome) -> Any:
    inputs, unseen = prepared(loaded, as_table(frame))
    reports: list[Unseen] = unseen
    outcome.notices += map(str, reports)
    return inputs


def _whole(
    loaded: Model, frame: "polars.DataFrame", plan: ExplanationPlan, seed: int, outcome: ExplainOutcome
) -> ModelExplanation:
    some = _some(frame, MODEL_ROWS, seed)
    codes = _codes(loaded, some)
    if codes is not None and (codes == -2).any():
        outcome.notices.append(f"left out: {number_of(int((codes == -2).sum()), 'row')} without a label")
        some, codes = some.filter(codes > -2), codes[codes > -2]
    return explain_model_inputs(loaded, _inputs(loaded, some, outcome), codes, plan, seed=seed)


def _codes(loaded: Model, frame: "polars.DataFrame") -> NDArray[np.intp] | None:
    """The places of the labels among the classes, -1 for others and -2 for none; None where the table has no labels."""
    target = loaded.card.target
    if not isinstance(target, str) or target not in frame.columns:
        return None
    known: dict[Any, int] = {label_text(name): code for code, name in enumerate(loaded.labels.names)}
    return np.array([-2 if text is None else known.get(text, -1) for text in cell_texts(as_table(frame), target)])


def _rows(
    loaded: Model,
    frame: "polars.DataFrame",
    numbers: list[int],
    plan: ExplanationPlan,
    outcome: ExplainOutcome,
    progress: Callable[[float], None] | None,
) -> Explanation:
    found: list[Any] = []
    for start in range(0, len(numbers), STEP):
        part = numbers[start : start + STEP]
        rows = frame[[number - 1 for number in part]]
        inputs = _inputs(loaded, rows, outcome)
        cells = row_cells(loaded, plan.columns, as_table(rows))
        found += explain_inputs(loaded, inputs, cells, plan, numbers=part).rows
        if progress is not None:
            progress((start + len(part)) / len(numbers))
    return Explanation(tuple(found), plan)


def _draw(loaded: Model, frame: "polars.DataFrame", outcome: ExplainOutcome, folder: Path, of_rows: bool) -> list[str]:
    """Figures of the rows, or of the model; of one with two columns of numbers, the plane too."""
    from abnet.explanation.charts import save_model_figures, save_row_figures
    from abnet.explanation.plane import plane_figure
    from abnet.plots import save

    if of_rows and outcome.rows is not None:
        return [str(path) for row in outcome.rows for path in save_row_figures(row, folder)]
    assert outcome.whole is not None
    paths = save_model_figures(outcome.whole, folder)
    layout = column_layout(loaded)
    if len(layout.names) == 2 and layout.original:
        named = hasattr(loaded.preparation, "transform_reporting")
        try:
            rows = frame if named else numeric_rows(loaded, as_table(frame))
            figure = plane_figure(loaded, rows, _known_labels(loaded, frame))
        except ValueError as error:
            outcome.notices.append(f"no figure of the plane: {error}")
        else:
            paths += save(figure, folder / "plane")
    return list(map(str, paths))


def _known_labels(loaded: Model, frame: "polars.DataFrame") -> NDArray[Any] | None:
    codes = _codes(loaded, frame)
    return None if codes is None or codes.min() < 0 else loaded.labels.decode(codes)
