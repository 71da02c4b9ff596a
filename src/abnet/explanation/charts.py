"""Figures of explanations: the columns and regions of a row, and what matters to a model as a whole."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.explanation.direction import category_effects
from abnet.explanation.model_explanation import ColumnImportance, ModelExplanation
from abnet.explanation.regions import Region
from abnet.explanation.restored_cells import RestoredCells
from abnet.explanation.row_explanation import RowExplanation
from abnet.explanation.units import Unit, change_text, quantity_name, value_text
from abnet.utils.plots import LOWERS, OKABE_ITO, RAISES, drawable, label_panel, save_figure, styled
from abnet.utils.wording import number_of, percentage_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "beeswarm_figure",
    "contributions_figure",
    "dependence_figure",
    "importance_figure",
    "region_mass_figure",
    "row_regions_figure",
    "save_model_figures",
    "save_row_figures",
]

MOST_PANELS = 12
"""Maximum number of classes that a beeswarm has panels for."""
PANEL_COLUMNS = 5
"""Columns in each of several panels."""
WHOLE_COLUMNS = 12
"""Columns of a beeswarm with a single panel."""
DEPENDENCES = 3
"""`save_model_figures` draws this many columns, the most important ones, against their values."""
_BAR: dict[str, Any] = {"height": 0.62, "linewidth": 0}
_LINE = "#AAAAAA"


def _name_bars(axes: "Axes", names: Sequence[str]) -> None:
    """Write the names of the bars beside them, from the top down."""
    axes.set_yticks(range(len(names)), names)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _figure(n_bars: int, width: float = 6.4) -> "Figure":
    """An empty figure that is high enough for this many bars."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, 0.9 + 0.24 * n_bars), layout="constrained")


def _sign_colours(changes: Sequence[float]) -> list[str]:
    """The colours of bars that raise or lower a prediction."""
    colours = []
    for change in changes:
        if change >= 0:
            colours.append(RAISES)
        else:
            colours.append(LOWERS)
    return colours


def contributions_figure(row: RowExplanation, *, most: int = 12) -> "Figure":
    """What moved a row: a waterfall as in SHAP, from the background's average at the bottom to the row at the top.

    Parameters
    ----------
    row : RowExplanation
    most : int
        Number of columns to show, the largest contribution first; the other columns share one bar.

    Examples
    --------
    >>> from abnet.explanation import explain
    >>> from abnet.model import Model
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[2.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> figure = contributions_figure(explain(model, [[1.0, 1.0]], background=[[0.0, 1.0]])[0])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['x0 = 1', 'x1 = 1']
    """
    waterfall = row.waterfall
    ranked = row.ranked()
    listed = ranked[:most]
    others = ranked[most:]
    changes = [float(waterfall.contributions[j]) for j in listed]
    errors = [float(waterfall.standard_errors[j]) for j in listed]
    names = [f"{drawable(row.columns[j], 28)} = {drawable(row.cells[j], 14)}" for j in listed]
    if others:
        changes.append(float(waterfall.contributions[others].sum()))
        errors.append(0.0)
        names.append(number_of(len(others), "other column"))
    # The bars are stacked from the last one, which starts at the average, to the first one, which ends at the row.
    starts = waterfall.base + np.append(np.cumsum(changes[::-1])[::-1][1:], 0.0)
    with styled():
        figure = _figure(len(changes) + 2)
        axes = figure.subplots()
        for end in (waterfall.base, waterfall.value):
            axes.axvline(end, color="#999999", linewidth=0.8, linestyle=":")
        whiskers: dict[str, Any] = {}
        if not row.exact:
            whiskers = {"xerr": errors, "error_kw": {"elinewidth": 0.9, "ecolor": "black"}}
        axes.barh(range(len(changes)), changes, left=starts, color=_sign_colours(changes), **whiskers, **_BAR)
        for place in range(len(changes) - 1):
            axes.plot([starts[place]] * 2, [place - 0.31, place + 1.31], color="#888888", linewidth=0.6)
        _name_bars(axes, names)
        _write_changes(axes, starts, changes, row.unit)
        quantity = quantity_name(drawable(row.classes[row.code], 20), row.unit)
        average = f"average over the background: {value_text(waterfall.base, row.unit)}"
        axes.set_xlabel(f"{quantity}\n{average}", parse_math=False)
        if row.unit == "probability":
            axes.xaxis.set_major_formatter(_percentages())
        answer = "no answer"
        if row.label is not None:
            answer = drawable(row.classes[row.code], 20)
        value = value_text(waterfall.value, row.unit)
        axes.set_title(f"row {row.number}: {answer}, {quantity} = {value}", loc="left", parse_math=False)
    return figure


def _write_changes(axes: "Axes", starts: Any, changes: list[float], unit: Unit) -> None:
    """Write the number of each bar behind its end, and leave space for it."""
    ends = [*starts, *(starts + changes)]
    low = min(ends)
    high = max(ends)
    margin = 0.16 * ((high - low) or 1.0)
    axes.set_xlim(low - margin, high + margin)
    for place, (start, change) in enumerate(zip(starts, changes, strict=True)):
        if change >= 0:
            style: dict[str, Any] = {"xytext": (3, 0), "ha": "left", "color": RAISES}
        else:
            style = {"xytext": (-3, 0), "ha": "right", "color": LOWERS}
        axes.annotate(
            change_text(change, unit),
            (start + change, place),
            textcoords="offset points",
            va="center",
            fontsize=8,
            **style,
        )


def _percentages() -> Any:
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1.0)


def row_regions_figure(row: RowExplanation) -> "Figure":
    """The regions that a row falls in: probability and expected output (left), and share of the decision (right).

    Raises
    ------
    ValueError
        If the model has no regions.
    """
    if row.regions is None:
        raise ValueError(row.no_regions)
    output = row.output
    regions = row.regions
    names = [_region_name(region) for region in regions.listed]
    probabilities = [region.probability for region in regions.listed]
    expected = [region.output[output] for region in regions.listed]
    shares = [region.share[output] for region in regions.listed]
    if regions.others:
        names.append(f"{regions.others:,} others")
        probabilities.append(0.0)  # no bar: the axis is about single regions
        shares.append(regions.other_share[output])
    with styled():
        figure = _figure(len(names), 7.4)
        left, right = figure.subplots(1, 2)
        _region_bars(figure, left, names, probabilities, expected, len(row.scores))
        left.set_xlabel("probability of the region in its network")
        right.axvline(0, color=_LINE, linewidth=0.8)
        right.barh(range(len(names)), shares, color=_sign_colours(shares), **_BAR)
        _name_bars(right, [""] * len(names))
        right.locator_params(axis="x", nbins=5)
        right.set_xlabel(f"share of the score F (all: {row.scores[output]:+.3f})")
        label_panel(left, "a", "regions of the row")
        label_panel(right, "b", "probability × output / networks")
    return figure


def _region_name(region: Region) -> str:
    """The network and the signs of a region, with minus signs as wide as plus signs."""
    signs = region.word.replace("-", "−")
    return drawable(f"{region.member + 1}: {signs}", 30)


def _region_bars(
    figure: "Figure",
    axes: "Axes",
    names: list[str],
    masses: Sequence[float],
    outputs: Sequence[float],
    n_scores: int,
) -> None:
    """Bars as long as the masses, in the colours of the expected outputs, and a scale of the colours.

    Bars beyond the outputs are grey.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    colours = _lowers_to_raises()
    if n_scores == 1:
        label = "expected output H"
        scale = ScalarMappable(Normalize(-1, 1), colours)
    else:
        label = "share of the class"
        scale = ScalarMappable(Normalize(0, 1), _upper_half(colours))
    fills = [colours(0.5 + 0.5 * output) for output in outputs]
    fills += [OKABE_ITO["grey"]] * (len(names) - len(fills))
    axes.barh(range(len(names)), masses, color=fills, height=0.62, linewidth=0.5, edgecolor="#666666")
    _name_bars(axes, names)
    bar = figure.colorbar(scale, ax=axes, fraction=0.045, pad=0.02)
    bar.set_label(label)
    bar.outline.set_linewidth(0.6)


def _lowers_to_raises() -> Any:
    """A colour map from what lowers a prediction, through white, to what raises it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("lowers to raises", [LOWERS, "#FFFFFF", RAISES])


def _upper_half(colours: Any) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap(colours(np.linspace(0.5, 1, 128)))


def importance_figure(explanation: ModelExplanation, *, most: int = 15) -> "Figure":
    """How much each column moves the answers, and how much the error grows without it, with standard errors."""
    ranked = explanation.ranked()[:most]
    with styled():
        if explanation.error is None:
            figure = _figure(len(ranked), 5.6)
            _importance_panel(figure.subplots(), ranked, explanation)
        else:
            figure = _figure(len(ranked), 7.4)
            left, right = figure.subplots(1, 2)
            _importance_panel(left, ranked, explanation)
            _error_growth_panel(right, ranked, explanation)
            label_panel(left, "a", "moves the answer by")
            label_panel(right, "b", "shuffled, error grows by")
    return figure


def _importance_panel(axes: "Axes", ranked: list[ColumnImportance], explanation: ModelExplanation) -> None:
    sizes = [column.contribution for column in ranked]
    errors = [column.contribution_error for column in ranked]
    ends = [size + error for size, error in zip(sizes, errors, strict=True)]
    texts = [value_text(size, explanation.unit) for size in sizes]
    _whiskers(axes, sizes, errors)
    _name_bars(axes, [drawable(column.column, 30) for column in ranked])
    _write_behind(axes, ends, texts)
    axes.set_xlabel(f"mean |contribution| ({explanation.n_explained:,} rows)")
    axes.set_xlim(0, 1.18 * max([*ends, 1e-12]))
    if explanation.unit == "probability":
        axes.xaxis.set_major_formatter(_percentages())


def _error_growth_panel(axes: "Axes", ranked: list[ColumnImportance], explanation: ModelExplanation) -> None:
    growths = [100 * (column.error_growth or 0.0) for column in ranked]
    errors = [100 * (column.error_growth_error or 0.0) for column in ranked]
    ends = [max(growth, 0.0) + error for growth, error in zip(growths, errors, strict=True)]
    texts = [percentage_points(column.error_growth or 0.0) for column in ranked]
    axes.axvline(0, color=_LINE, linewidth=0.8)
    _whiskers(axes, growths, errors)
    _name_bars(axes, [""] * len(ranked))
    _write_behind(axes, ends, texts)
    axes.margins(x=0.18)
    axes.set_xlabel(f"percentage points ({explanation.n_shuffled:,} rows)")


def _whiskers(axes: "Axes", values: list[float], errors: list[float]) -> None:
    """Bars with their standard errors."""
    error_style = {"elinewidth": 0.9, "ecolor": "black", "capsize": 1.5}
    axes.barh(range(len(values)), values, xerr=errors, color=OKABE_ITO["sky"], error_kw=error_style, **_BAR)


def _write_behind(axes: "Axes", ends: list[float], texts: list[str]) -> None:
    """Write a text behind the end of each bar."""
    for place, (end, text) in enumerate(zip(ends, texts, strict=True)):
        axes.annotate(text, (end, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)


def beeswarm_figure(explanation: ModelExplanation, *, output: int | None = None, most: int | None = None) -> "Figure":
    """Each explained row's contribution of each column, coloured by the column's value, as in SHAP.

    Parameters
    ----------
    explanation : ModelExplanation
    output : int, optional
        The class to draw, if there are several. By default there is a panel for each class, on one scale; if there are
        more than 12 classes, for the 12 that are moved most.
    most : int, optional
        Number of columns to show, those that move the class most first. By default 12, or 5 in each of several panels.
    """
    if output is None:
        outputs = explanation.outputs(MOST_PANELS)
    else:
        outputs = [output]
    with styled():
        if len(outputs) == 1:
            return _single_beeswarm(explanation, outputs[0], most or WHOLE_COLUMNS)
        return _beeswarm_panels(explanation, outputs, most or PANEL_COLUMNS)


def _single_beeswarm(explanation: ModelExplanation, output: int, most: int) -> "Figure":
    columns = explanation.ranked_for(output)[:most]
    figure = _figure(len(columns) + 1)
    axes = figure.subplots()
    _beeswarm(axes, explanation, output, columns, size=9, name_length=30)
    _label_contributions(axes.xaxis, explanation, output)
    _value_bar(figure, [axes])
    return figure


def _beeswarm_panels(explanation: ModelExplanation, outputs: list[int], most: int) -> "Figure":
    """A small beeswarm for each class, on one scale."""
    from matplotlib.figure import Figure

    n_across = 3
    if len(outputs) <= 4:
        n_across = 2
    n_down = -(-len(outputs) // n_across)
    columns_of = [explanation.ranked_for(output)[:most] for output in outputs]
    n_lines = max(map(len, columns_of))
    size = (3.0 * n_across + 0.6, 0.5 + n_down * (0.62 + 0.2 * n_lines))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(n_down, n_across, sharex=True, squeeze=False).ravel().tolist()
    for axes, output, columns in zip(panels, outputs, columns_of, strict=False):
        _beeswarm(axes, explanation, output, columns, size=5, name_length=16)
        axes.set_title(drawable(explanation.class_of(output), 24), loc="left", parse_math=False)
        axes.xaxis.set_tick_params(labelbottom=True)
    for axes in panels[len(outputs) :]:
        axes.set_axis_off()
    quantity = "score"
    if explanation.unit == "probability":
        quantity = "probability"
        panels[0].xaxis.set_major_formatter(_percentages())
    figure.supxlabel(f"contribution to the {quantity} of each class", fontsize=9)
    _value_bar(figure, panels)
    return figure


def _beeswarm(
    axes: "Axes", explanation: ModelExplanation, output: int, columns: list[int], *, size: float, name_length: int
) -> None:
    """A line of points for each column, with one point for each explained row."""
    axes.axvline(0, color=_LINE, linewidth=0.8)
    for place, j in enumerate(columns):
        x = explanation.contributions[:, j, output]
        axes.scatter(x, place + _swarm(x), s=size, linewidths=0, **_value_colours(explanation.cells[j].numbers))
    _name_bars(axes, [drawable(explanation.importance[j].column, name_length) for j in columns])


def _swarm(x: Any, height: float = 0.34, bins: int = 60) -> Any:
    """Vertical offsets that keep points with nearly the same x apart: the more points in a bin, the wider."""
    span = float(np.ptp(x)) or 1.0
    bin_of = np.minimum(((x - x.min()) / span * bins).astype(int), bins - 1)
    offsets = np.zeros(len(x))
    for number in np.unique(bin_of):
        inside = np.flatnonzero(bin_of == number)
        ranks = np.arange(len(inside))
        offsets[inside] = ((ranks + 1) // 2) * np.where(ranks % 2, 1.0, -1.0)  # 0, 1, -1, 2, -2, ...
    return offsets * height / max(float(np.abs(offsets).max()), 6.0)


def _value_colours(values: Any) -> dict[str, Any]:
    """Colours of points by their values; grey if values have no order or are missing."""
    if values is None or np.isnan(values).all():
        return {"color": OKABE_ITO["grey"]}
    low, high = np.nanquantile(values, [0.05, 0.95])
    if high <= low:
        high = low + 1.0
    shades = np.clip((values - low) / (high - low), 0.0, 1.0)
    return {"c": np.ma.masked_invalid(shades), "cmap": _low_to_high(), "vmin": 0.0, "vmax": 1.0, "plotnonfinite": True}


def _low_to_high() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("low to high", [LOWERS, "#8E44AD", RAISES])
    return colours.with_extremes(bad=OKABE_ITO["grey"])


def _value_bar(figure: "Figure", axes: "list[Axes]") -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), _low_to_high()), ax=axes, fraction=0.03, pad=0.02)
    bar.set_ticks([0, 1], labels=["low", "high"])
    bar.set_label("value of the column")
    bar.outline.set_visible(False)


def _label_contributions(axis: Any, explanation: ModelExplanation, output: int) -> None:
    """Label an axis of contributions to one class."""
    quantity = quantity_name(drawable(explanation.class_of(output), 16), explanation.unit)
    if explanation.unit == "probability":
        axis.set_label_text(f"contribution to {quantity}", parse_math=False)
        axis.set_major_formatter(_percentages())
    else:
        axis.set_label_text(f"contribution to the {quantity}", parse_math=False)


def dependence_figure(explanation: ModelExplanation, column: int, *, output: int | None = None) -> "Figure":
    """A column's contribution against its value in the table's own units, over the explained rows.

    Categories stand side by side, those with the highest contribution first.

    Parameters
    ----------
    explanation : ModelExplanation
    column : int
        Position of the column.
    output : int, optional
        The class, if there are several; by default the one that the column moves most.

    Raises
    ------
    ValueError
        If the column is free text, which has neither numbers nor categories.
    """
    if output is None:
        output = explanation.most_moved(column)
    cells = explanation.cells[column]
    name = explanation.importance[column].column
    contributions = explanation.contributions[:, column, output]
    if not _has_values(cells):
        raise ValueError(f"the column {name!r} is free text: it has no values to draw its contributions by.")
    with styled():
        figure = _figure(12, 4.8)
        axes = figure.subplots()
        axes.axhline(0, color=_LINE, linewidth=0.8)
        if cells.numbers is not None:
            axes.scatter(cells.numbers, contributions, s=12, color=LOWERS, linewidths=0)
            if cells.dates:
                axes.xaxis_date()
        else:
            _scatter_categories(axes, cells, contributions)
        label = drawable(name, 40)
        if cells.unit:
            label += f" ({drawable(cells.unit, 12)})"
        axes.set_xlabel(label, parse_math=False)
        _label_contributions(axes.yaxis, explanation, output)
    return figure


def _has_values(cells: RestoredCells) -> bool:
    return cells.numbers is not None or cells.categories is not None


def _scatter_categories(axes: "Axes", cells: RestoredCells, contributions: Any) -> None:
    ranked = [effect.name for effect in category_effects(cells, contributions)]
    places = np.array([ranked.index(category) for category in cells.categories or ()])
    axes.scatter(places, contributions, s=12, color=LOWERS, linewidths=0)
    names = [drawable(category, 18) for category in ranked]
    axes.set_xticks(range(len(names)), names)
    crowded = sum(map(len, names)) > 40  # side by side, the names would overlap
    for label in axes.get_xticklabels():
        label.set_parse_math(False)
        if crowded:
            label.set(rotation=40, ha="right")


def region_mass_figure(explanation: ModelExplanation) -> "Figure":
    """The regions by how many of the rows they hold, in the colours of their expected outputs.

    Raises
    ------
    ValueError
        If the model has no regions.
    """
    if explanation.regions is None:
        raise ValueError(explanation.no_regions)
    names = []
    outputs = []
    masses = []
    for region in explanation.regions.listed:
        name = _region_name(region)
        output = region.output[0]
        if len(region.output) > 1:
            best = int(np.argmax(region.output))
            name += f" {drawable(explanation.classes[best], 12)}"
            output = region.output[best]
        names.append(name)
        outputs.append(output)
        masses.append(100 * region.probability)
    n_scores = len(explanation.regions.listed[0].output)
    with styled():
        figure = _figure(len(names), 5.6)
        axes = figure.subplots()
        _region_bars(figure, axes, names, masses, outputs, n_scores)
        axes.set_xlabel(f"rows in the region of its network, % ({explanation.n_located:,} rows)")
    return figure


def save_row_figures(row: RowExplanation, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the figures of a row to a folder, as PNG and SVG, and return their paths."""
    stem = Path(folder) / f"row-{row.number}"
    paths = list(save_figure(contributions_figure(row), f"{stem}-columns"))
    if row.regions is not None:
        paths += save_figure(row_regions_figure(row), f"{stem}-regions")
    return paths


def save_model_figures(explanation: ModelExplanation, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the figures of a model to a folder, as PNG and SVG, and return their paths."""
    folder = Path(folder)
    paths = list(save_figure(importance_figure(explanation), folder / "importance"))
    paths += save_figure(beeswarm_figure(explanation), folder / "beeswarm")
    ranked = [explanation.importance.index(column) for column in explanation.ranked()]
    drawn = [j for j in ranked if _has_values(explanation.cells[j])]
    for number, j in enumerate(drawn[:DEPENDENCES], start=1):
        paths += save_figure(dependence_figure(explanation, j), folder / f"dependence-{number}")
    if explanation.regions is not None:
        paths += save_figure(region_mass_figure(explanation), folder / "regions")
    return paths
