"""Rows explained: the columns that moved each of them, in the caller's own cells, and the regions it falls in."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import ColumnLayout, ExplanationPlan
from abnet.explanation.regions import RowRegions, row_regions, why_no_regions
from abnet.explanation.shapley import explained, shapley_values
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.model.predictors.predictor import as_matrix
from abnet.tables.cells import to_text
from abnet.tables.csv_files import UNNAMED
from abnet.tables.frames import Table, as_table
from abnet.tables.labels import winners
from abnet.utils.coded_rows import dense
from abnet.utils.wording import aligned, number_of, paragraphs, percent

__all__ = [
    "Explanation",
    "Moves",
    "RowExplanation",
    "Unit",
    "amount",
    "as_read",
    "bare",
    "explain",
    "explain_inputs",
    "points",
    "row_cells",
    "shown",
    "unit_of",
    "without_background",
]


Floats = NDArray[np.float64]
Unit = Literal["probability", "score"]


def unit_of(model: Model) -> Unit:
    """What is explained of a model's answers."""
    return "probability" if model.predictor.shares else "score"


def bare(value: float, unit: Unit) -> str:
    """A number without its unit: probabilities in percent, scores with three decimals."""
    return f"{100 * value:.1f}" if unit == "probability" else f"{value:.3f}"


def amount(value: float, unit: Unit, *, sign: bool = False) -> str:
    """A value of what is explained, or with a sign a part of it: probabilities in percent.

    Examples
    --------
    >>> amount(0.978, "probability"), amount(-0.0312, "probability", sign=True), amount(0.5, "score", sign=True)
    ('97.8%', '-3.1%', '+0.500')
    """
    if unit == "probability":
        return f"{points(value)}%" if sign else f"{100 * value:.1f}%"
    return f"{round(value, 3) + 0.0:{'+' * sign}.3f}"


def points(value: float) -> str:
    """A change of a rate in percentage points, with its sign; nearly nothing is +0.0.

    Examples
    --------
    >>> points(0.0271), points(-0.0001)
    ('+2.7', '+0.0')
    """
    return f"{round(100 * value, 1) + 0.0:+.1f}"


def shown(text: str, most: int = 40) -> str:
    """A text from a table as it may stand in a line of output: nothing that is no letter, and not too long.

    Examples
    --------
    >>> shown("a\\nb\\x1b[2J"), shown("gr\\u202eoß"), shown("n" * 300, 10)
    ('a\\\\nb\\\\x1b[2J', 'gr\\\\u202eoß', 'nnnnnnnnn…')
    """
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: 4 * most])
    return plain if len(plain) <= most else plain[: most - 1] + "…"


@dataclass(frozen=True, eq=False)
class Moves:
    """From the average over the background to a row, column by column: what texts and figures show.

    Attributes
    ----------
    quantity : str
        What moves: the probability of the predicted class, or its score.
    base, value : float
        Its average over the background, and what it is for the row.
    contributions, standard_errors : arrays (columns,)
        ``base + contributions.sum() = value``.
    """

    quantity: str
    base: float
    value: float
    contributions: Floats
    standard_errors: Floats


@dataclass(frozen=True, eq=False)
class RowExplanation:
    """One row explained; C is 1 for two classes, whose second is explained, else their number.

    Attributes
    ----------
    number : int
        The row's number in the table, from 1 on.
    label : object
        What is predicted; None where the model's decision rule gives no answer.
    code : int
        The predicted class's place among the classes; without an answer, that of the class with the most votes.
    classes : tuple of str
    probabilities : tuple of float or None
        Of the classes, calibrated where the model knows how; None for models without.
    columns, cells : tuples of str
        The columns that the model uses, and the row's cells as they are written.
    scores : array (C,)
        What the network says of the row: F, or the shares of the vote.
    values, base : arrays (C,)
        What is explained, of the row and averaged over the background rows: the probability of the second class, or of
        each of several; the scores of a model without probabilities.
    contributions, standard_errors : arrays (columns, C)
        ``base + contributions.sum(axis=0) = values``. Errors are those of sampled orders, for this background; 0 where
        nothing was sampled.
    regions : RowRegions or None
    no_regions : str
        Why there are none.
    n_background : int
        Rows compared with.
    """

    number: int
    label: Any
    code: int
    classes: tuple[str, ...]
    probabilities: tuple[float, ...] | None
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    scores: Floats
    values: Floats
    base: Floats
    contributions: Floats
    standard_errors: Floats
    regions: RowRegions | None
    no_regions: str
    n_background: int

    @property
    def exact(self) -> bool:
        """Whether the contributions were computed from all coalitions."""
        return not self.standard_errors.any()

    @property
    def output(self) -> int:
        """The column of the arrays that holds the predicted class: the only one, or its own."""
        return 0 if len(self.values) == 1 else self.code

    @property
    def unit(self) -> Unit:
        """What is explained."""
        return "score" if self.probabilities is None else "probability"

    @property
    def moves(self) -> Moves:
        """What moved the probability of the predicted class, or its score.

        Of two classes the arrays hold the second; if the first is predicted, its probability is 1 less that, and its
        score the opposite one.
        """
        c, name = self.output, shown(self.classes[self.code])
        quantity = f"P({name})" if self.unit == "probability" else f"score for {name}"
        base, value, contributions = float(self.base[c]), float(self.values[c]), self.contributions[:, c]
        if len(self.values) == 1 and self.code == 0:
            whole = 1.0 if self.unit == "probability" else 0.0
            base, value, contributions = whole - base, whole - value, 0.0 - contributions
        return Moves(quantity, base, value, contributions, self.standard_errors[:, c])

    def ranked(self) -> list[int]:
        """Places of the columns, those that moved the prediction most first."""
        return np.argsort(-np.abs(self.contributions[:, self.output]), kind="stable").tolist()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; of two classes single numbers, of several a list with one for each class."""
        return {
            "row": self.number, "label": self.label, "score": _plain(self.scores), "unit": self.unit,
            "value": _plain(self.values),
            "probabilities": None if self.probabilities is None else list(self.probabilities),
            "base": _plain(self.base), "cells": list(self.cells), "contributions": _plain(self.contributions),
            "standard_errors": _plain(self.standard_errors), "exact": self.exact,
            "regions": None if self.regions is None else self.regions.to_dict(),
        }  # fmt: skip

    def describe(self, most: int = 10) -> str:
        """The explanation in plain text, with the `most` columns that moved the row most."""
        moves = self.moves
        lines = [
            paragraphs(f"Row {self.number}: {self.prediction}."),
            paragraphs(f"What moved {moves.quantity} ({self._method()}):") + "\n",
            aligned(self._column_lines(most, moves), left=2, breaks=False),
        ]
        if self.regions is None:
            return "\n".join(lines)
        positive = f" (positive: {shown(self.classes[1])})" if len(self.values) == 1 else ""
        head = paragraphs(f"Regions the row falls in, with their share of the score F{positive}:")
        lines += ["", f"{head}\n"]
        return "\n".join([*lines, aligned(_region_lines(self.regions, self.output), left=2)])

    @property
    def prediction(self) -> str:
        """What is predicted and how probable it is, as part of a sentence."""
        name = repr(shown(self.classes[self.code]))
        sure = "" if self.probabilities is None else f" with probability {percent(self.probabilities[self.code])}"
        if self.label is None:
            return f"no answer; the vote is {name}{sure}"
        return f"predicted {name}{sure}"

    def _method(self) -> str:
        against = f"compared with {number_of(self.n_background, 'background row')}"
        return f"{against}, exact" if self.exact else f"{against}, ± one standard error of sampling"

    def _column_lines(self, most: int, moves: Moves) -> list[list[str]]:
        ranked, unit = self.ranked(), self.unit
        listed, rest = ranked[:most], ranked[most:]
        lines = [["average over the background", "", amount(moves.base, unit), ""]]
        for j in listed:
            error = "" if self.exact else f"± {bare(moves.standard_errors[j], unit)}"
            moved = amount(moves.contributions[j], unit, sign=True)
            lines.append([shown(self.columns[j]), shown(self.cells[j], 24), moved, error])
        if rest:
            moved = amount(moves.contributions[rest].sum(), unit, sign=True)
            lines.append([number_of(len(rest), "other column"), "", moved, ""])
        return [*lines, ["this row", "", amount(moves.value, unit), ""]]

    def _repr_html_(self) -> str:
        """For notebooks: a waterfall of the columns."""
        from abnet.explanation.notebook import row_html

        return row_html(self)


def _region_lines(regions: RowRegions, c: int) -> list[list[str]]:
    lines = [["network", "neurons", "probability", "expected", "share"]]
    for region in regions.listed:
        lines.append([
            str(region.member + 1), shown(region.word), percent(region.probability), f"{region.output[c]:+.3f}",
            f"{region.share[c]:+.3f}",
        ])  # fmt: skip
    if regions.others:
        probability = percent(regions.other_probability)
        lines.append([f"{regions.others:,} others", "", f"{probability} of all", "", f"{regions.other_share[c]:+.3f}"])
    return lines


def _plain(values: Floats) -> Any:
    """A list, without the last axis where that has one entry."""
    return (values[..., 0] if values.shape[-1] == 1 else values).tolist()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Rows explained, one after the other: ``explanation[0].describe()``.

    Attributes
    ----------
    rows : tuple of RowExplanation
    plan : ExplanationPlan
        Background and orders, with which the same numbers come out again.
    """

    rows: tuple[RowExplanation, ...]
    plan: ExplanationPlan

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> RowExplanation:
        return self.rows[place]

    def __iter__(self) -> Iterator[RowExplanation]:
        return iter(self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the model uses."""
        return self.plan.columns.names

    @property
    def contributions(self) -> Floats:
        """Shape (rows, columns), or (rows, columns, K) for several classes."""
        return self._stacked("contributions")

    @property
    def standard_errors(self) -> Floats:
        """Of the contributions, in their shape."""
        return self._stacked("standard_errors")

    def _stacked(self, name: str) -> Floats:
        if not self.rows:
            return np.empty((0, len(self.columns)))
        found = np.stack([getattr(row, name) for row in self.rows])
        return found[..., 0] if found.shape[-1] == 1 else found

    @property
    def base(self) -> Floats:
        """Average of what is explained over the background rows, (C,)."""
        return self.rows[0].base if self.rows else np.empty(0)

    def to_shap(self) -> Any:
        """The same numbers as a `shap.Explanation`, for SHAP's plots; needs the package shap.

        Of two classes the values are those of the second class, shape (rows, columns); of several, (rows, columns, K).
        """
        try:
            shap = import_module("shap")
        except ImportError as error:
            raise ImportError("to_shap() needs the package shap: pip install shap") from error
        cells = np.array([[_number(cell) for cell in row.cells] for row in self.rows], object)
        base = np.array([row.base for row in self.rows])
        several = self.contributions.ndim == 3
        return shap.Explanation(
            self.contributions, base_values=base if several else base[:, 0], data=cells,
            feature_names=list(self.columns),
            output_names=list(self.rows[0].classes) if several and self.rows else None,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        from abnet.explanation.notebook import rows_html

        return rows_html(self)

    def describe(self, most: int = 10) -> str:
        """All rows in plain text."""
        return "\n\n".join(row.describe(most) for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        first = self.rows[0] if self.rows else None
        return {
            "columns": list(self.columns), "classes": list(first.classes) if first else [],
            "no_regions": first.no_regions if first else "", "n_background": len(self.plan.background),
            "rows": [row.to_dict() for row in self.rows],
        }  # fmt: skip

    def to_csv(self) -> str:
        """A line for each row and column (and class, of several): the cell, its contribution and the standard error."""
        out = io.StringIO()
        writer, several = csv.writer(out, lineterminator="\n"), self.contributions.ndim == 3
        writer.writerow(["row", "prediction", *["class"] * several, "column", "cell", "contribution", "standard_error"])
        for row in self.rows:
            for c, name in enumerate(row.classes if several else [None]):
                head = [row.number, row.classes[row.code], *([] if name is None else [name])]
                writer.writerow([*head, "(average)", "", repr(float(row.base[c])), "0.0"])
                for j, (column, cell) in enumerate(zip(row.columns, row.cells, strict=True)):
                    value, error = float(row.contributions[j, c]), float(row.standard_errors[j, c])
                    writer.writerow([*head, column, cell, repr(value), repr(error)])
        return out.getvalue()


def _number(cell: str) -> float | str:
    """A cell as a number, where it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def explain(
    model: Model | FittedClassifier,
    X: Any,
    *,
    background: Any = None,
    plan: ExplanationPlan | None = None,
    seed: int = 0,
    regions: int = 6,
) -> Explanation:
    """Explain what a model says of rows: the columns that moved it, and the regions that they fall in.

    Contributions are Shapley values: with some columns as in the row and the others as in a background row, the model
    gives a class some probability; a column's contribution is how much it changes that, averaged over all orders in
    which columns may be taken over, and over the background rows. They add up: ``base + Σ contributions = P(class)``.
    A row takes some tenths of a second.

    Parameters
    ----------
    model : Model or fitted classifier
        ``abnet.load(path)``, or what `fit` returned.
    X : table or array
        Rows in the caller's units, as for `predict`.
    background : table or array, optional
        Usual rows to compare with, at most 25 of which are drawn. By default some rows of the first part of the
        training table, which the model keeps; a model without any needs them.
    plan : ExplanationPlan, optional
        Background and orders as a value; `background` and `seed` are then not used.
    seed : int
        Of the draws.
    regions : int
        Regions listed for each row.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> found = explain(model, [[1.0, 1.0]], background=[[0.0, 1.0], [-1.0, 1.0]])
    >>> print(found[0].describe())
    Row 1: predicted '1' with probability 87.6%.
    What moved P(1) (compared with 2 background rows, exact):
    <BLANKLINE>
    average over the background      31.2%
    x0                           1  +56.4%
    x1                           1   +0.0%
    this row                         87.6%
    <BLANKLINE>
    Regions the row falls in, with their share of the score F (positive: 1):
    <BLANKLINE>
    network  neurons  probability  expected   share
    1        +              87.6%    +1.000  +0.876
    1        -              12.4%    -1.000  -0.124
    """
    model = model_of(model)
    chosen = ExplanationPlan.of(model, background, seed=seed) if plan is None else plan
    inputs = model.prepare(X)
    return explain_inputs(model, inputs, row_cells(model, chosen.columns, X), chosen, regions=regions)


def explain_inputs(
    model: Model,
    inputs: Any,
    cells: Sequence[tuple[str, ...]],
    plan: ExplanationPlan,
    *,
    regions: int = 6,
    numbers: Sequence[int] | None = None,
) -> Explanation:
    """`explain` for rows that are prepared already, with their cells as text and their numbers in the table."""
    plan.check_fits(model)
    scores = model.predictor.scores(inputs)
    rows = as_read(inputs, model.n_inputs)
    values, votes, answers, said = (
        shapley_values(model, rows, plan), winners(scores), model.decision(scores), explained(model, scores),
    )  # fmt: skip
    codes = np.where(answers < model.n_classes, answers, votes)
    found = row_regions(model.predictor, rows, regions)
    probabilities = model.probabilities_from_scores(scores) if model.predictor.shares else None
    classes, labels = model.labels.names, model.labels.decode(codes).tolist()
    labels = [label if answer < model.n_classes else None for label, answer in zip(labels, answers, strict=True)]
    why = why_no_regions(model.predictor) if found is None else ""
    return Explanation(
        tuple(
            RowExplanation(
                i + 1 if numbers is None else numbers[i], labels[i], int(codes[i]), classes,
                None if probabilities is None else tuple(probabilities[i].tolist()), plan.columns.names, cells[i],
                np.atleast_1d(scores[i]), said[i], values[i].base, values[i].contributions, values[i].standard_errors,
                None if found is None else found[i], why, len(plan.background),
            )
            for i in range(len(rows))
        ),
        plan,
    )  # fmt: skip


def as_read(inputs: Any, n_inputs: int) -> Floats:
    """Prepared rows as the network reads them: rounded to float32."""
    return dense(as_matrix(inputs, n_inputs)).astype(np.float32).astype(np.float64)


def row_cells(model: Model, layout: ColumnLayout, X: Any) -> list[tuple[str, ...]]:
    """The cells of the used columns of every row, as text."""
    preparation = model.preparation
    if preparation.columns:
        table = as_table(X)
        known = {name.removesuffix(f" {UNNAMED}"): name for name in table.columns} | {n: n for n in table.columns}
        columns = [table.cells(known[name]) for name in layout.names]
        return [tuple(to_text(column.cell(row)) for column in columns) for row in range(table.n_rows)]
    used = list(range(len(layout.names))) if preparation.owners is None else sorted(set(preparation.owners))
    if isinstance(X, Table):
        names = model.feature_names or tuple(X.columns)
        columns = [X.cells(names[place]) for place in used]
        return [tuple(to_text(column.cell(row)) for column in columns) for row in range(X.n_rows)]
    rows = model.in_order(X) if layout.original else model.prepare(X)
    return [tuple(map(to_text, row)) for row in dense(rows)[:, used]]


def without_background(model: Model) -> Model:
    """The model without the rows that it keeps for explanations.

    Examples
    --------
    >>> from abnet.model.card import Card
    >>> from abnet.model.predictors.compact import Compact
    >>> table = Compact(np.ones((1, 1, 1)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> without_background(Model(table, card=Card(background=((1.0,),), seed=3))).card.to_dict()
    {'seed': 3}
    """
    return replace(model, card=msgspec.structs.replace(model.card, background=()))
