"""A model explained as a whole, on rows: which columns matter, in which direction, and which regions hold the rows."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.explanation.background import ExplanationPlan, network_inputs
from abnet.explanation.certified_region import CertifiedRegions, certified_regions
from abnet.explanation.direction import CLEAR, CategoryEffect, category_effects, rank_correlation
from abnet.explanation.regions import Region, RegionTable, RowRegions, region_table, why_no_regions
from abnet.explanation.restored_cells import RestoredCells, restore_cells
from abnet.explanation.shapley import game_of, shapley_values
from abnet.explanation.units import Unit, error_text, explained_unit, quantity_name, value_text
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.utils.class_scores import winners
from abnet.utils.natural_order import natural_order
from abnet.utils.progress import ProgressCallback, part_of_progress
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.threads import one_blas_thread
from abnet.utils.wording import number_of, percent, percentage_points, printable

__all__ = ["ColumnImportance", "ModelExplanation", "explain_model", "explain_model_inputs"]

Floats = NDArray[np.float64]
EXPLAINED_ROWS = 100
"""Number of rows whose contributions are computed."""
SHUFFLED_ROWS = 2000
"""Maximum number of rows on which errors are counted with a column shuffled."""
LEAST_SHUFFLED_ROWS = 200
"""The same for tables with so many columns that `MOST_EVALUATIONS` would leave fewer rows."""
ROW_EVALUATIONS = 2000
"""About how many network evaluations explain one row. Importance is averaged over rows, so each needs only a few."""
REPEATS = 5
"""Number of shuffles of a column, if the table is small enough."""
MOST_EVALUATIONS = 60_000
"""About how many network evaluations the shuffles may take: wide tables get fewer shuffles of fewer rows."""
MOST_PROBABILITIES = 2**27
"""Maximum number of region probabilities that are averaged: wider networks get fewer rows."""
LEAST_LOCATED_ROWS = 50
"""Minimum number of rows that are located in regions."""


@dataclass(frozen=True)
class ColumnImportance:
    """How much a column matters, measured in two ways, each with its standard error over rows.

    Attributes
    ----------
    column : str
    contribution, contribution_error : float
        Mean of ``|contribution|`` to the probability of the second of two classes. With several classes, half the sum
        over the classes: how much probability is moved.
    direction : float or None
        Rank correlation of the column's value and its contribution, in [-1, 1]: positive if higher values raise the
        probability of the second class. None with several classes and for columns whose values have no order.
    error_growth, error_growth_error : float or None
        Growth of the error rate when the column is taken from other rows; None without labels.
    """

    column: str
    contribution: float
    contribution_error: float
    direction: float | None
    error_growth: float | None
    error_growth_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dict(vars(self))


class Direction(NamedTuple):
    """The classes whose probabilities rise and fall with a column's value; None if no class clearly does."""

    rising: str | None
    falling: str | None


@dataclass(frozen=True, eq=False)
class ModelExplanation:
    """What matters to a model, on some rows.

    Attributes
    ----------
    importance : tuple of ColumnImportance
        In the order of the columns.
    n_explained, n_shuffled, n_located, n_rows : int
        Number of rows whose contributions were computed, on which errors were counted, that were located in regions,
        and that were given.
    error : float or None
        The model's error rate on the shuffled rows before shuffling; None without labels.
    regions : RowRegions or None
        The regions that hold most of the rows; probabilities are means over the located rows.
    no_regions : str
        Why there are none.
    certified : CertifiedRegions or None
        Regions with a certified error rate, from the model's certificate and not from these rows.
    classes : tuple of str
    contributions : array (rows, columns, C)
        Contributions in the explained rows to the probability of the second of two classes, or of each of several.
    cells : tuple of RestoredCells
        For each column, the cells of the explained rows, in the table's own units.
    unit : {"probability", "score"}
        What is explained: a score if the model has no probabilities.
    """

    importance: tuple[ColumnImportance, ...]
    n_explained: int
    n_shuffled: int
    n_located: int
    n_rows: int
    error: float | None
    regions: RowRegions | None
    no_regions: str
    certified: CertifiedRegions | None
    classes: tuple[str, ...]
    contributions: Floats
    cells: tuple[RestoredCells, ...]
    unit: Unit

    def ranked(self) -> list[ColumnImportance]:
        """The columns, the most important first."""
        return sorted(self.importance, key=lambda column: -column.contribution)

    @property
    def two_classes(self) -> bool:
        """Whether contributions have a single output: the second of two classes."""
        return self.contributions.shape[-1] == 1

    @property
    def quantity(self) -> str:
        """What is explained, in a few words."""
        if self.unit == "score":
            return "the score"
        if len(self.classes) == 2:
            return quantity_name(printable(self.classes[1]), self.unit)
        return "the probabilities"

    @property
    def sizes(self) -> Floats:
        """Mean size of the contributions of each column to each output, (columns, C)."""
        return np.asarray(np.abs(self.contributions).mean(axis=0))

    def ranked_for(self, output: int) -> list[int]:
        """Positions of the columns that move one output, those that move it most first."""
        sizes = self.sizes[:, output]
        ranked = np.argsort(-sizes, kind="stable").tolist()
        return [j for j in ranked if sizes[j] > 0]

    def outputs(self, most: int) -> list[int]:
        """The outputs in the natural order of their classes; if there are more than `most`, those that move most."""
        chosen = np.argsort(-self.sizes.sum(axis=0), kind="stable")[:most].tolist()
        order = natural_order([self.class_of(output) for output in chosen])
        return [chosen[place] for place in order]

    def most_moved(self, column: int) -> int:
        """The output that a column moves most: the one whose contributions are drawn."""
        return int(np.argmax(self.sizes[column]))

    def class_of(self, output: int) -> str:
        """The class that an output is about: the second of two classes, or its own of several."""
        if self.two_classes:
            return self.classes[1]
        return self.classes[output]

    def _repr_html_(self) -> str:
        from abnet.explanation.notebook import model_html

        return model_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        regions = None
        if self.regions is not None:
            regions = self.regions.to_dict()
        certified = None
        if self.certified is not None:
            certified = self.certified.to_dict()
        return {
            "importance": [column.to_dict() for column in self.importance],
            "n_explained": self.n_explained,
            "n_shuffled": self.n_shuffled,
            "n_located": self.n_located,
            "n_rows": self.n_rows,
            "error": self.error,
            "regions": regions,
            "no_regions": self.no_regions,
            "certified_regions": certified,
            "classes": list(self.classes),
        }

    def describe(self, most: int = 10) -> str:
        """The explanation in plain text, with the `most` important columns."""
        parts = [paragraphs(f"{self._importance_heading()}:"), self._importance_lines(most)]
        if self.regions is not None:
            parts.append(paragraphs(f"{self._region_heading()}:"))
            parts.append(self._region_lines(self.regions))
        if self.certified is not None:
            parts.append(self.certified.describe())
        return "\n\n".join(parts)

    def _importance_heading(self) -> str:
        n_explained = number_of(self.n_explained, "row")
        heading = f"Columns by how much they move {self.quantity} (mean of |contribution| over {n_explained})"
        if self.error is None:
            return heading
        n_shuffled = number_of(self.n_shuffled, "row")
        return (
            f"{heading}, and by how much the error of {percent(self.error)} grows when a column is shuffled "
            f"({n_shuffled}; ± one standard error)"
        )

    def _importance_lines(self, most: int) -> str:
        """A table of the most important columns; effect and growth of the error only if something is known of them."""
        listed = self.ranked()[:most]
        effects = [self.effect(column) for column in listed]
        header = ["column", "moves by", ""]
        if any(effects):
            header.append("effect")
        if self.error is not None:
            header += ["error grows by", ""]
        lines = [header]
        for column, effect in zip(listed, effects, strict=True):
            line = [
                printable(column.column),
                value_text(column.contribution, self.unit),
                error_text(column.contribution_error, self.unit),
            ]
            if any(effects):
                line.append(effect)
            if column.error_growth is not None and column.error_growth_error is not None:
                line.append(f"{percentage_points(column.error_growth)} points")
                line.append(error_text(column.error_growth_error, "probability"))
            lines.append(line)
        text = aligned(lines)
        n_others = len(self.importance) - most
        if n_others > 0:
            text += f"\n… and {n_others} more"
        return text

    def category_effects(self, column: ColumnImportance, output: int = 0) -> list[CategoryEffect]:
        """Categories of a column with their mean contributions, the highest first.

        Categories of a single row are left out, unless there are no others.
        """
        place = self.importance.index(column)
        effects = category_effects(self.cells[place], self.contributions[:, place, output])
        frequent = [effect for effect in effects if effect.n_rows > 1]
        return frequent or effects

    def direction_of(self, column: ColumnImportance) -> Direction:
        """The classes whose probabilities rise and fall with the values of a numeric column.

        With several classes, those that the column moves most among the classes with a clear direction.
        """
        if self.two_classes:
            correlation = column.direction or 0.0
            if correlation >= CLEAR:
                return Direction(rising=self.classes[1], falling=self.classes[0])
            if correlation <= -CLEAR:
                return Direction(rising=self.classes[0], falling=self.classes[1])
            return Direction(rising=None, falling=None)
        rising = None
        falling = None
        place = self.importance.index(column)
        for output in np.argsort(-self.sizes[place], kind="stable"):
            correlation = rank_correlation(self.cells[place], self.contributions[:, place, output]) or 0.0
            if correlation >= CLEAR and rising is None:
                rising = self.classes[output]
            if correlation <= -CLEAR and falling is None:
                falling = self.classes[output]
        return Direction(rising, falling)

    def effect(self, column: ColumnImportance) -> str:
        """The direction in which a column moves the answers, in a few words; "" if it is unknown.

        With two classes: how higher values, or categories, move the probability of the second. With several: the class
        whose probability rises with higher values, and the one whose probability falls.
        """
        if column.contribution == 0:
            return ""
        if not self.two_classes:
            direction = self.direction_of(column)
            parts = []
            if direction.rising:
                parts.append(f"{printable(direction.rising, 10)} up")
            if direction.falling:
                parts.append(f"{printable(direction.falling, 10)} down")
            return ", ".join(parts)
        if column.direction is not None:
            return _direction_word(column.direction)
        effects = self.category_effects(column)
        if len(effects) < 2:
            return ""
        return f"{printable(effects[0].name, 10)} up, {printable(effects[-1].name, 10)} down"

    def _region_heading(self) -> str:
        return f"Regions, with the share of {number_of(self.n_located, 'row')} that each network puts in them"

    def _region_lines(self, regions: RowRegions) -> str:
        lines = [["network", "neurons", "holds", "expected output"]]
        for region in regions.listed:
            output = _output_text(region, self.classes)
            lines.append([str(region.member + 1), printable(region.word), percent(region.probability), output])
        text = aligned(lines, left=2)
        if regions.others:
            text += f"\n{regions.others:,} others hold {percent(regions.other_probability)} of all."
        return text


def _direction_word(correlation: float) -> str:
    if abs(correlation) < CLEAR:
        return "varies"
    if correlation > 0:
        return "rising"
    return "falling"


def _output_text(region: Region, classes: tuple[str, ...]) -> str:
    """The expected output of a region: H, or the most probable of several classes."""
    if len(region.output) == 1:
        return f"{region.output[0]:+.3f}"
    best = int(np.argmax(region.output))
    return f"{printable(classes[best], 20)!r} {percent(region.output[best])}"


def explain_model(
    model: Model | FittedClassifier,
    X: Any,
    y: ArrayLike | None = None,
    *,
    background: Any = None,
    plan: ExplanationPlan | None = None,
    seed: int = 0,
    rows: int = EXPLAINED_ROWS,
    regions: int = 10,
) -> ModelExplanation:
    """Explain a model as a whole, on rows that it was not trained on.

    Pass the bound rows, ``X[clf.bound_rows_], y[clf.bound_rows_]``, or new rows. A model file holds no bound rows.

    Parameters
    ----------
    model : Model or fitted classifier
    X : table or array
        Rows in the caller's units.
    y : array, optional
        Labels of the rows; without them, no errors are counted.
    background : table or array, optional
        As for `abnet.explain`.
    plan : ExplanationPlan, optional
        Background and orders as a value, instead of `background`.
    seed : int
        Seed of all draws.
    rows : int
        Number of rows, drawn from X, whose contributions are computed.
    regions : int
        Number of regions to list.

    Returns
    -------
    ModelExplanation

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> explanation = explain_model(model, X, np.where(X[:, 0] > 0, 1, -1), background=X[:10])
    >>> explanation.ranked()[0].column, explanation.importance[1].error_growth, explanation.error
    ('x0', 0.0, 0.0)
    """
    model = model_of(model)
    if plan is None:
        plan = ExplanationPlan.of(model, background, seed=seed, pairs=2)
    codes = None
    if y is not None:
        codes = model.labels.encode(np.asarray(y))
    return explain_model_inputs(model, model.prepare(X), codes, plan, seed=seed, rows=rows, regions=regions)


@one_blas_thread()
def explain_model_inputs(
    model: Model,
    inputs: Any,
    codes: NDArray[np.intp] | None,
    plan: ExplanationPlan,
    *,
    seed: int = 0,
    rows: int = EXPLAINED_ROWS,
    regions: int = 10,
    progress: ProgressCallback | None = None,
) -> ModelExplanation:
    """`explain_model` for rows that are already prepared; codes are positions of classes, -1 for unknown labels."""
    plan.check_fits(model)
    matrix = network_inputs(inputs, model.n_inputs)
    if not len(matrix) or (codes is not None and len(codes) != len(matrix)):
        raise ValueError(f"a model is explained on rows, one label each; got {len(matrix)} rows.")
    rng = np.random.default_rng(seed)
    # The rows are drawn in this order whether or not they are used, so that a seed draws the same rows in all cases.
    shuffled = _drawn(rng, len(matrix), _n_shuffled_rows(len(plan.columns.names)))
    explained = _drawn(rng, len(matrix), rows)
    share = 1.0
    if codes is not None:
        share = 0.5
    moved = shapley_values(
        model, matrix[explained], plan.thinned(ROW_EVALUATIONS), part_of_progress(progress, 0.0, share)
    )
    contributions = np.stack([one.contributions for one in moved])
    growth = None
    error = None
    n_shuffled = 0
    if codes is not None:
        n_shuffled = len(shuffled)
        rest = part_of_progress(progress, share, 1.0 - share)
        growth, error = _error_growth(model, matrix[shuffled], codes[shuffled], plan, rng, rest)
    n_located = 0
    row_regions = None
    table = region_table(model.predictor)
    if table is not None:
        located = _drawn(rng, len(matrix), _n_located_rows(table))
        n_located = len(located)
        row_regions = table.listed(_mean_probabilities(table, matrix[located]), regions)
    cells = restore_cells(model, matrix[explained][:, : plan.columns.n_features])
    return ModelExplanation(
        importance=_importance(plan.columns.names, contributions, cells, growth),
        n_explained=len(explained),
        n_shuffled=n_shuffled,
        n_located=n_located,
        n_rows=len(matrix),
        error=error,
        regions=row_regions,
        no_regions=why_no_regions(model.predictor),
        certified=certified_regions(model.certificate),
        classes=model.labels.names,
        contributions=contributions,
        cells=cells,
        unit=explained_unit(model),
    )


def _n_shuffled_rows(n_columns: int) -> int:
    return max(min(SHUFFLED_ROWS, MOST_EVALUATIONS // n_columns), LEAST_SHUFFLED_ROWS)


def _n_located_rows(table: RegionTable) -> int:
    n_regions = table.n_members * len(table.signs)
    return max(MOST_PROBABILITIES // n_regions, LEAST_LOCATED_ROWS)


def _mean_probabilities(table: RegionTable, rows: Floats) -> Floats:
    """Probabilities of the regions of each member, averaged over the rows, (M, regions)."""
    sums = [P.sum(axis=0) for _, P in table.blocks(rows)]
    return np.asarray(np.sum(sums, axis=0) / len(rows))


def _drawn(rng: np.random.Generator, n: int, most: int) -> NDArray[np.intp]:
    """Positions of at most `most` of n rows, drawn at random, in ascending order."""
    if n <= most:
        return np.arange(n)
    return np.sort(rng.choice(n, most, replace=False))


def _error_growth(
    model: Model,
    rows: Floats,
    codes: NDArray[np.intp],
    plan: ExplanationPlan,
    rng: np.random.Generator,
    progress: ProgressCallback | None,
) -> tuple[Floats, float]:
    """The growth of each row's error with each column from other rows, (columns, rows), and the error rate itself."""
    J = len(plan.columns.names)
    n = len(rows)
    wrong = (winners(model.predictor.scores(rows)) != codes).astype(np.float64)
    repeats = min(max(MOST_EVALUATIONS // (n * J), 1), REPEATS)
    orders = np.empty((J, repeats, n), np.intp)
    for sources in orders.reshape(-1, n):
        order = rng.permutation(n)
        sources[order] = np.roll(order, 1)  # a cycle, so that no row keeps its own cell
    growth = np.zeros((J, n))
    game = game_of(model.predictor, plan.columns.input_owners)
    for j, shuffled_scores in enumerate(game.exchanged(rows, orders)):
        growth[j] = np.mean([winners(scores) != codes for scores in shuffled_scores], axis=0) - wrong
        if progress is not None:
            progress((j + 1) / J)
    return growth, float(wrong.mean())


def _importance(
    names: tuple[str, ...], contributions: Floats, cells: tuple[RestoredCells, ...], growth: Floats | None
) -> tuple[ColumnImportance, ...]:
    """Importance of the columns, from contributions (rows, columns, C) and growths of the error (columns, rows)."""
    sizes = np.abs(contributions)
    two_classes = contributions.shape[-1] == 1
    if two_classes:
        moved = sizes[..., 0]
    else:
        moved = sizes.sum(axis=-1) / 2  # what one class gains, others lose
    importance = []
    for j, name in enumerate(names):
        direction = None
        if two_classes:
            direction = rank_correlation(cells[j], contributions[:, j, 0])
        error_growth = None
        error_growth_error = None
        if growth is not None:
            error_growth = float(growth[j].mean())
            error_growth_error = _standard_error(growth[j])
        importance.append(
            ColumnImportance(
                column=name,
                contribution=float(moved[:, j].mean()),
                contribution_error=_standard_error(moved[:, j]),
                direction=direction,
                error_growth=error_growth,
                error_growth_error=error_growth_error,
            )
        )
    return tuple(importance)


def _standard_error(values: Floats) -> float:
    """Standard error of the mean of the values; 0 for a single one."""
    if len(values) == 1:
        return 0.0
    return float(values.std(ddof=1) / np.sqrt(len(values)))
