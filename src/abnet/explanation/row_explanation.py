"""Rows explained: the columns that moved each of them, in the caller's own cells, and the regions it falls in."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.explanation.background import ExplanationPlan, network_inputs
from abnet.explanation.certified_region import CertifiedRegion, certified_regions
from abnet.explanation.regions import RowRegions, row_regions, why_no_regions
from abnet.explanation.row_cells import row_cells
from abnet.explanation.shapley import explained_outputs, shapley_values
from abnet.explanation.units import Unit, change_text, error_text, quantity_name, value_text
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.utils.class_scores import winners
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.wording import number_of, percent, printable

__all__ = ["Explanation", "RowExplanation", "Waterfall", "explain", "explain_inputs", "without_background"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Waterfall:
    """From the background's average to a row, column by column, for the predicted class: what texts and figures show.

    Attributes
    ----------
    quantity : str
        What moves: the probability of the predicted class, or its score.
    base, value : float
        Its average over the background, and its value for the row.
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
        The predicted label; None where the model's decision rule gives no answer.
    code : int
        Position of the predicted class among the classes; without an answer, of the class with the most votes.
    classes : tuple of str
    probabilities : tuple of float or None
        Of the classes, calibrated if the model is; None for models without probabilities.
    columns, cells : tuples of str
        The columns that the model uses, and the row's cells as they are written.
    scores : array (C,)
        The network's scores of the row: F, or the shares of the vote.
    values, base : arrays (C,)
        What is explained, for the row and averaged over the background rows: the probability of the second of two
        classes, or of each of several; the scores of a model without probabilities.
    contributions, standard_errors : arrays (columns, C)
        ``base + contributions.sum(axis=0) = values``. Errors are those of sampled orders, for this background; 0 where
        nothing was sampled.
    regions : RowRegions or None
    no_regions : str
        Why there are none.
    certified : CertifiedRegion or None
        The certified region that the row is in.
    n_background : int
        Number of background rows.
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
    certified: CertifiedRegion | None
    n_background: int

    @property
    def exact(self) -> bool:
        """Whether the contributions were computed from all coalitions."""
        return not self.standard_errors.any()

    @property
    def output(self) -> int:
        """The column of the arrays that explains the predicted class."""
        if len(self.values) == 1:
            return 0
        return self.code

    @property
    def unit(self) -> Unit:
        """Whether a probability or a score is explained."""
        if self.probabilities is None:
            return "score"
        return "probability"

    @property
    def waterfall(self) -> Waterfall:
        """What moved the probability of the predicted class, or its score.

        With two classes the arrays are about the second one. If the first is predicted, its probability is one minus
        that of the second, and its score has the opposite sign.
        """
        output = self.output
        base = float(self.base[output])
        value = float(self.values[output])
        contributions = self.contributions[:, output]
        if len(self.values) == 1 and self.code == 0:
            if self.unit == "probability":
                total = 1.0
            else:
                total = 0.0
            base = total - base
            value = total - value
            contributions = 0.0 - contributions  # unlike -contributions, this makes no -0.0
        return Waterfall(
            quantity=quantity_name(printable(self.classes[self.code]), self.unit),
            base=base,
            value=value,
            contributions=contributions,
            standard_errors=self.standard_errors[:, output],
        )

    def ranked(self) -> list[int]:
        """Positions of the columns, those that moved the prediction most first."""
        sizes = np.abs(self.contributions[:, self.output])
        return np.argsort(-sizes, kind="stable").tolist()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: single numbers for two classes, and a list with one for each of several."""
        probabilities = None
        if self.probabilities is not None:
            probabilities = list(self.probabilities)
        regions = None
        if self.regions is not None:
            regions = self.regions.to_dict()
        certified = None
        if self.certified is not None:
            certified = self.certified.to_dict()
        return {
            "row": self.number,
            "label": self.label,
            "score": _without_single_axis(self.scores).tolist(),
            "unit": self.unit,
            "value": _without_single_axis(self.values).tolist(),
            "probabilities": probabilities,
            "base": _without_single_axis(self.base).tolist(),
            "cells": list(self.cells),
            "contributions": _without_single_axis(self.contributions).tolist(),
            "standard_errors": _without_single_axis(self.standard_errors).tolist(),
            "exact": self.exact,
            "regions": regions,
            "certified_region": certified,
        }

    def describe(self, most: int = 10) -> str:
        """The explanation in plain text, with the `most` columns that moved the row most."""
        lines = [
            paragraphs(f"Row {self.number}: {self.prediction}."),
            paragraphs(f"What moved {self.waterfall.quantity} ({self._method()}):"),
            "",
            aligned(self._column_lines(most), left=2, breaks=False),
        ]
        if self.regions is not None:
            lines.append("")
            lines.append(paragraphs(f"{self._region_heading()}:"))
            lines.append("")
            lines.append(aligned(_region_lines(self.regions, self.output), left=2))
        if self.certified is not None:
            lines.append("")
            lines.append(paragraphs(f"Certified: {self.certified.sentence()}."))
        return "\n".join(lines)

    @property
    def prediction(self) -> str:
        """The predicted class and its probability, as part of a sentence."""
        voted = repr(printable(self.classes[self.code]))
        if self.probabilities is not None:
            voted += f" with probability {percent(self.probabilities[self.code])}"
        if self.label is None:
            return f"no answer; the vote is {voted}"
        return f"predicted {voted}"

    def _method(self) -> str:
        background = f"compared with {number_of(self.n_background, 'background row')}"
        if self.exact:
            return f"{background}, exact"
        return f"{background}, ± one standard error of sampling"

    def _column_lines(self, most: int) -> list[list[str]]:
        """The lines of the waterfall: name, cell, contribution, standard error."""
        waterfall = self.waterfall
        ranked = self.ranked()
        lines = [["average over the background", "", value_text(waterfall.base, self.unit), ""]]
        for j in ranked[:most]:
            change = change_text(waterfall.contributions[j], self.unit)
            error = ""
            if not self.exact:
                error = error_text(waterfall.standard_errors[j], self.unit)
            lines.append([printable(self.columns[j]), printable(self.cells[j], 24), change, error])
        others = ranked[most:]
        if others:
            change = change_text(waterfall.contributions[others].sum(), self.unit)
            lines.append([number_of(len(others), "other column"), "", change, ""])
        lines.append(["this row", "", value_text(waterfall.value, self.unit), ""])
        return lines

    def _region_heading(self) -> str:
        heading = "Regions the row falls in, with their share of the score F"
        if len(self.values) == 1:
            heading += f" (positive: {printable(self.classes[1])})"
        return heading

    def _repr_html_(self) -> str:
        """For notebooks: a waterfall of the columns."""
        from abnet.explanation.notebook import row_html

        return row_html(self)


def _region_lines(regions: RowRegions, output: int) -> list[list[str]]:
    """A table of a row's regions, about one output of the network."""
    lines = [["network", "neurons", "probability", "expected", "share"]]
    for region in regions.listed:
        network = str(region.member + 1)
        expected = f"{region.output[output]:+.3f}"
        share = f"{region.share[output]:+.3f}"
        lines.append([network, printable(region.word), percent(region.probability), expected, share])
    if regions.others:
        probability = f"{percent(regions.other_probability)} of all"
        share = f"{regions.other_share[output]:+.3f}"
        lines.append([f"{regions.others:,} others", "", probability, "", share])
    return lines


def _without_single_axis(values: Floats) -> Floats:
    """The values without their last axis, if that has one entry: numbers about one of two classes."""
    if values.shape[-1] == 1:
        return np.asarray(values[..., 0])
    return values


@dataclass(frozen=True, eq=False)
class Explanation:
    """Explanations of several rows: ``explanation[0].describe()``.

    Attributes
    ----------
    rows : tuple of RowExplanation
    plan : ExplanationPlan
        Background and orders: with the same plan, the numbers can be computed again.
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
        """Contributions of the columns, of shape (rows, columns), or (rows, columns, K) for several classes."""
        return self._stacked([row.contributions for row in self.rows])

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the contributions, in the same shape."""
        return self._stacked([row.standard_errors for row in self.rows])

    def _stacked(self, arrays: list[Floats]) -> Floats:
        if not arrays:
            return np.empty((0, len(self.columns)))
        return _without_single_axis(np.stack(arrays))

    @property
    def base(self) -> Floats:
        """Average of what is explained over the background rows, (C,)."""
        if not self.rows:
            return np.empty(0)
        return self.rows[0].base

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of the model; empty if no row was explained."""
        if not self.rows:
            return ()
        return self.rows[0].classes

    def to_shap(self) -> Any:
        """The same numbers as a `shap.Explanation`, for SHAP's plots; needs the package shap.

        With two classes the values are those of the second class, shape (rows, columns); with several, (rows, columns,
        K).
        """
        try:
            shap = import_module("shap")
        except ImportError as error:
            raise ImportError("to_shap() needs the package shap: pip install shap") from error
        contributions = self.contributions
        base_values = np.array([row.base for row in self.rows])
        output_names = None
        if contributions.ndim == 3:
            output_names = list(self.classes)
        else:
            base_values = base_values[:, 0]
        return shap.Explanation(
            contributions,
            base_values=base_values,
            data=np.array([[_as_number(cell) for cell in row.cells] for row in self.rows], object),
            feature_names=list(self.columns),
            output_names=output_names,
        )

    def _repr_html_(self) -> str:
        from abnet.explanation.notebook import rows_html

        return rows_html(self)

    def describe(self, most: int = 10) -> str:
        """All rows in plain text."""
        return "\n\n".join(row.describe(most) for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        no_regions = ""
        if self.rows:
            no_regions = self.rows[0].no_regions
        return {
            "columns": list(self.columns),
            "classes": list(self.classes),
            "no_regions": no_regions,
            "n_background": len(self.plan.background),
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_csv(self) -> str:
        """A CSV table with a line for each row and column, and for each class if there are several.

        A line has the cell, its contribution and the standard error. The first line of each row (and class) holds the
        average over the background.
        """
        several = self.contributions.ndim == 3
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        header = ["row", "prediction"]
        if several:
            header.append("class")
        writer.writerow([*header, "column", "cell", "contribution", "standard_error"])
        for row in self.rows:
            for output in range(len(row.values)):
                start: list[Any] = [row.number, row.classes[row.code]]
                if several:
                    start.append(row.classes[output])
                writer.writerow([*start, "(average)", "", repr(float(row.base[output])), "0.0"])
                for j, (column, cell) in enumerate(zip(row.columns, row.cells, strict=True)):
                    contribution = repr(float(row.contributions[j, output]))
                    error = repr(float(row.standard_errors[j, output]))
                    writer.writerow([*start, column, cell, contribution, error])
        return text.getvalue()


def _as_number(cell: str) -> float | str:
    """A cell as a number, if it is one."""
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
    """Explain the model's answer for each row: the columns that moved it, and the regions that the row falls in.

    Contributions are Shapley values. Take some columns from the row and the others from a background row: the model
    gives each class a probability. A column's contribution is how much that probability changes when the column is
    taken from the row, averaged over all orders of the columns and over the background rows. Contributions add up:
    ``base + Σ contributions = P(class)``. A row takes a few tenths of a second.

    Parameters
    ----------
    model : Model or fitted classifier
        ``abnet.load(path)``, or what `fit` returned.
    X : table or array
        Rows in the caller's units, as for `predict`.
    background : table or array, optional
        Typical rows to compare with, of which at most 25 are drawn. By default training rows that the model keeps; a
        model that keeps none needs a background.
    plan : ExplanationPlan, optional
        Background and orders as a value, instead of `background` and `seed`.
    seed : int
        Seed of the orders and of the background rows that are drawn.
    regions : int
        Number of regions to list for each row.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> explanation = explain(model, [[1.0, 1.0]], background=[[0.0, 1.0], [-1.0, 1.0]])
    >>> print(explanation[0].describe())
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
    if plan is None:
        plan = ExplanationPlan.of(model, background, seed=seed)
    inputs = model.prepare(X)
    return explain_inputs(model, inputs, row_cells(model, plan.columns, X), plan, regions=regions)


def explain_inputs(
    model: Model,
    inputs: Any,
    cells: Sequence[tuple[str, ...]],
    plan: ExplanationPlan,
    *,
    regions: int = 6,
    numbers: Sequence[int] | None = None,
) -> Explanation:
    """`explain` for rows that are already prepared.

    Parameters
    ----------
    model : Model
    inputs : array or CodedRows (rows, inputs)
    cells : sequence of tuples of str
        The rows' cells as text.
    plan : ExplanationPlan
    regions : int
        Number of regions to list for each row.
    numbers : sequence of int, optional
        The rows' numbers in the table; by default 1, 2, ...
    """
    plan.check_fits(model)
    rows = network_inputs(inputs, model.n_inputs)
    if numbers is None:
        numbers = range(1, len(rows) + 1)
    scores = model.predictor.scores(inputs)
    answers = _answers(model, scores)
    outputs = explained_outputs(model, scores)
    regions_of_rows: Sequence[RowRegions | None] | None = row_regions(model.predictor, rows, regions)
    no_regions = ""
    if regions_of_rows is None:
        regions_of_rows = [None] * len(rows)
        no_regions = why_no_regions(model.predictor)
    certified = _certified_regions_of(model, inputs)
    explanations = []
    for i, moved in enumerate(shapley_values(model, rows, plan)):
        explanations.append(
            RowExplanation(
                number=numbers[i],
                label=answers.labels[i],
                code=int(answers.codes[i]),
                classes=model.labels.names,
                probabilities=answers.probabilities[i],
                columns=plan.columns.names,
                cells=cells[i],
                scores=np.atleast_1d(scores[i]),
                values=outputs[i],
                base=moved.base,
                contributions=moved.contributions,
                standard_errors=moved.standard_errors,
                regions=regions_of_rows[i],
                no_regions=no_regions,
                certified=certified[i],
                n_background=len(plan.background),
            )
        )
    return Explanation(tuple(explanations), plan)


def _certified_regions_of(model: Model, inputs: Any) -> list[CertifiedRegion | None]:
    """The certified region that each row is in."""
    regions = certified_regions(model.certificate)
    located = model.located_inputs(inputs)
    if regions is None or located is None:
        return [None] * len(inputs)
    return [regions.of(str(signs)) for signs in located.signs]


@dataclass(frozen=True, eq=False)
class _Answers:
    """What a model answers for some rows; fields as in `RowExplanation`."""

    labels: list[Any]
    codes: NDArray[np.intp]
    probabilities: list[tuple[float, ...] | None]


def _answers(model: Model, scores: Floats) -> _Answers:
    decided = model.decision(scores)
    answered = decided < model.n_classes  # the code of no answer is the number of classes
    codes = np.where(answered, decided, winners(scores))
    labels = model.labels.decode(codes).tolist()
    for place in np.flatnonzero(~answered):
        labels[place] = None
    probabilities: list[tuple[float, ...] | None] = [None] * len(scores)
    if model.predictor.shares:
        probabilities = [tuple(row) for row in model.probabilities_from_scores(scores).tolist()]
    return _Answers(labels, codes, probabilities)


def without_background(model: Model) -> Model:
    """The model without the training rows that it keeps for explanations.

    Examples
    --------
    >>> from abnet.model.card import Card
    >>> from abnet.model.predictors.compact import Compact
    >>> table = Compact(np.ones((1, 1, 1)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> without_background(Model(table, card=Card(background=((1.0,),), seed=3))).card.to_dict()
    {'seed': 3}
    """
    return replace(model, card=msgspec.structs.replace(model.card, background=()))
