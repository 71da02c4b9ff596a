"""Figures of explanations: the columns and regions of a row, and what matters to a model as a whole."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.explanation.direction import levels
from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.row_explanation import RowExplanation, amount, points
from abnet.utils.plots import LOWERS, OKABE_ITO, RAISES, drawable, label_panel, save, styled
from abnet.utils.wording import number_of

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

_UP, _DOWN = RAISES, LOWERS
MOST_PANELS, PANEL_COLUMNS = 12, 5
"""Classes that a beeswarm has panels for, and columns in each of them."""
DEPENDENCES = 3
"""Columns whose dependence is drawn by `save_model_figures`: the most important ones."""
_BAR: dict[str, Any] = {"height": 0.62, "linewidth": 0}


def _named(axes: "Axes", names: Sequence[str]) -> None:
    """Names of the bars, from the top down."""
    axes.set_yticks(range(len(names)), names)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _figure(bars: int, width: float = 6.4) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, 0.9 + 0.24 * bars), layout="constrained")


def contributions_figure(row: RowExplanation, *, most: int = 12) -> "Figure":
    """What moved a row: a waterfall as in SHAP, from the background's average below to the row above.

    Parameters
    ----------
    row : RowExplanation
    most : int
        Columns shown, the largest contribution first; the others are one bar.

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
    moved, ranked = row.moves, row.ranked()
    listed, rest = ranked[:most], ranked[most:]
    moves = [float(moved.contributions[j]) for j in listed]
    errors = [float(moved.standard_errors[j]) for j in listed]
    names = [f"{drawable(row.columns[j], 28)} = {drawable(row.cells[j], 14)}" for j in listed]
    if rest:
        moves.append(float(moved.contributions[rest].sum()))
        errors.append(0.0)
        names.append(number_of(len(rest), "other column"))
    base, value = moved.base, moved.value
    starts = base + np.append(np.cumsum(moves[::-1])[::-1][1:], 0.0)  # the last bar starts at the average
    with styled():
        figure = _figure(len(moves) + 2)
        axes = figure.subplots()
        for at in (base, value):
            axes.axvline(at, color="#999999", linewidth=0.8, linestyle=":")
        axes.barh(
            range(len(moves)), moves, left=starts, color=[RAISES if move >= 0 else LOWERS for move in moves],
            xerr=None if row.exact else errors, error_kw={"elinewidth": 0.9, "ecolor": "black"}, **_BAR,
        )  # fmt: skip
        for place in range(len(moves) - 1):
            axes.plot([starts[place]] * 2, [place - 0.31, place + 1.31], color="#888888", linewidth=0.6)
        _named(axes, names)
        _numbers(axes, row, starts, moves)
        average = f"average over the background: {amount(base, row.unit)}"
        axes.set_xlabel(f"{_quantity(row)}\n{average}", parse_math=False)
        if row.unit == "probability":
            axes.xaxis.set_major_formatter(_percentages())
        sure = f", {_quantity(row)} = {amount(value, row.unit)}"
        answer = "no answer" if row.label is None else drawable(row.classes[row.code], 20)
        axes.set_title(f"row {row.number}: {answer}{sure}", loc="left", parse_math=False)
    return figure


def _numbers(axes: "Axes", row: RowExplanation, starts: Any, moves: list[float]) -> None:
    """Each bar's number behind its end, with room for it."""
    low, high = min([*starts, *(starts + moves)]), max([*starts, *(starts + moves)])
    room = 0.16 * ((high - low) or 1.0)
    axes.set_xlim(low - room, high + room)
    for place, (start, move) in enumerate(zip(starts, moves, strict=True)):
        side = 1 if move >= 0 else -1
        axes.annotate(
            amount(move, row.unit, sign=True), (start + move, place), xytext=(3 * side, 0),
            textcoords="offset points", va="center", ha="left" if side > 0 else "right", fontsize=8,
            color=RAISES if side > 0 else LOWERS,
        )  # fmt: skip


def _percentages() -> Any:
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1.0)


def _quantity(row: RowExplanation) -> str:
    name = drawable(row.classes[row.code], 20)
    return f"P({name})" if row.unit == "probability" else f"score for {name}"


def row_regions_figure(row: RowExplanation) -> "Figure":
    """The regions that a row falls in: probability and expected output on the left, share of the decision on the right.

    Raises
    ------
    ValueError
        If the model has no regions.
    """
    if row.regions is None:
        raise ValueError(row.no_regions)
    c, listed = row.output, row.regions.listed
    names = [_region_name(region) for region in listed]
    probabilities = [region.probability for region in listed]
    outputs, shares = [region.output[c] for region in listed], [region.share[c] for region in listed]
    if row.regions.others:
        names.append(f"{row.regions.others:,} others")
        shares.append(row.regions.other_share[c])
    with styled():
        figure = _figure(len(names), 7.4)
        left, right = figure.subplots(1, 2)
        _mass_bars(figure, left, names, [*probabilities, *[0.0] * (len(names) - len(listed))], outputs, len(row.scores))
        left.set_xlabel("probability of the region in its network")
        right.axvline(0, color="#AAAAAA", linewidth=0.8)
        right.barh(range(len(names)), shares, color=[_UP if share >= 0 else _DOWN for share in shares], **_BAR)
        _named(right, [""] * len(names))
        right.locator_params(axis="x", nbins=5)
        right.set_xlabel(f"share of the score F (all: {row.scores[c]:+.3f})")
        label_panel(left, "a", "regions of the row")
        label_panel(right, "b", "probability × output / networks")
    return figure


def _region_name(region: Any) -> str:
    return drawable(f"{region.member + 1}: {region.word.replace('-', '−')}", 30)


def _mass_bars(
    figure: "Figure", axes: "Axes", names: list[str], masses: Sequence[float], outputs: Sequence[float], scores: int
) -> None:
    """Bars as long as the masses, with the colours of what the regions say, and a scale of the colours."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = Normalize(-1 if scores == 1 else 0, 1)
    colours = _lowers_to_raises()
    fills = [colours(0.5 + 0.5 * value) for value in outputs]
    axes.barh(
        range(len(names)), masses, color=[*fills, *[OKABE_ITO["grey"]] * (len(names) - len(fills))],
        height=0.62, linewidth=0.5, edgecolor="#666666",
    )  # fmt: skip
    _named(axes, names)
    shown = colours if scores == 1 else _upper_half(colours)
    bar = figure.colorbar(ScalarMappable(scale, shown), ax=axes, fraction=0.045, pad=0.02)
    bar.set_label("expected output H" if scores == 1 else "share of the class")
    bar.outline.set_linewidth(0.6)


def _lowers_to_raises() -> Any:
    """The colours of what lowers and raises a prediction, through white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("lowers to raises", [LOWERS, "#FFFFFF", RAISES])


def _upper_half(colours: Any) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap(colours(np.linspace(0.5, 1, 128)))


def importance_figure(found: ModelExplanation, *, most: int = 15) -> "Figure":
    """How much the columns move the score, and how much the error grows without them, with standard errors."""
    ranked = found.ranked()[:most]
    judged = found.error is not None
    with styled():
        figure = _figure(len(ranked), 7.4 if judged else 5.6)
        panels = figure.subplots(1, 2 if judged else 1, squeeze=False)[0]
        _whiskers(panels[0], [one.contribution for one in ranked], [one.contribution_error for one in ranked])
        _named(panels[0], [drawable(one.column, 30) for one in ranked])
        for place, one in enumerate(ranked):
            axes, end = panels[0], one.contribution + one.contribution_error
            text = amount(one.contribution, found.unit)
            axes.annotate(text, (end, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
        panels[0].set_xlabel(f"mean |contribution| ({found.n_explained:,} rows)")
        panels[0].set_xlim(0, 1.18 * max([one.contribution + one.contribution_error for one in ranked] + [1e-12]))
        if found.unit == "probability":
            panels[0].xaxis.set_major_formatter(_percentages())
        if judged:
            grown = [100 * (one.error_growth or 0.0) for one in ranked]
            panels[1].axvline(0, color="#AAAAAA", linewidth=0.8)
            _whiskers(panels[1], grown, [100 * (one.error_growth_error or 0.0) for one in ranked])
            _named(panels[1], [""] * len(ranked))
            for place, one in enumerate(ranked):
                growth, spread = one.error_growth or 0.0, one.error_growth_error or 0.0
                at = (100 * (max(growth, 0.0) + spread), place)
                panels[1].annotate(
                    points(growth), at, xytext=(3, 0), textcoords="offset points", va="center", fontsize=8
                )
            panels[1].margins(x=0.18)
            panels[1].set_xlabel(f"percentage points ({found.n_shuffled:,} rows)")
            label_panel(panels[0], "a", "moves the answer by")
            label_panel(panels[1], "b", "shuffled, error grows by")
    return figure


def _whiskers(axes: "Axes", values: list[float], errors: list[float]) -> None:
    axes.barh(
        range(len(values)), values, xerr=errors, color=OKABE_ITO["sky"],
        error_kw={"elinewidth": 0.9, "ecolor": "black", "capsize": 1.5}, **_BAR,
    )  # fmt: skip


def beeswarm_figure(found: ModelExplanation, *, output: int | None = None, most: int | None = None) -> "Figure":
    """Each explained row's contribution of each column, coloured by the column's value, as in SHAP.

    Parameters
    ----------
    found : ModelExplanation
    output : int, optional
        The class, where there are several. By default a panel for each class, on one scale; of more than 12 classes,
        those that are moved most.
    most : int, optional
        Columns shown, those that move the class most first; by default 12, and 5 in each of several panels.
    """
    shown = found.outputs(MOST_PANELS) if output is None else [output]
    lines = most or (12 if len(shown) == 1 else PANEL_COLUMNS)
    ranked = [found.ranked_for(c)[:lines] for c in shown]
    across = 1 if len(shown) == 1 else 2 if len(shown) <= 4 else 3
    down = -(-len(shown) // across)
    with styled():
        from matplotlib.figure import Figure

        bars = max(map(len, ranked))
        height = 0.9 + 0.24 * (bars + 1) if across == 1 else 0.5 + down * (0.62 + 0.2 * bars)
        figure = Figure(figsize=(6.4 if across == 1 else 3.0 * across + 0.6, height), layout="constrained")
        panels = figure.subplots(down, across, sharex=True, squeeze=False).ravel()
        for axes, c, places in zip(panels, shown, ranked, strict=False):
            axes.axvline(0, color="#AAAAAA", linewidth=0.8)
            for place, j in enumerate(places):
                x = found.contributions[:, j, c]
                shades = _coloured(found.cells[j].numbers)
                axes.scatter(x, place + _swarm(x), s=9 if across == 1 else 5, linewidths=0, **shades)
            _named(axes, [drawable(found.importance[j].column, 30 if across == 1 else 16) for j in places])
            if across > 1:
                axes.set_title(drawable(found.class_of(c), 24), loc="left", parse_math=False)
                axes.xaxis.set_tick_params(labelbottom=True)
        for axes in panels[len(shown) :]:
            axes.set_axis_off()
        _contribution_axis(panels[0].xaxis, found, shown[0])
        if across > 1:
            what = "the probability" if found.unit == "probability" else "the score"
            panels[0].xaxis.set_label_text("")
            figure.supxlabel(f"contribution to {what} of each class", fontsize=9)
        _value_bar(figure, panels.tolist())
    return figure


def _swarm(x: Any, height: float = 0.34, bins: int = 60) -> Any:
    """Offsets that spread points of nearly the same place, the densest the farthest."""
    span = float(np.ptp(x)) or 1.0
    places = np.minimum(((x - x.min()) / span * bins).astype(int), bins - 1)
    offsets = np.zeros(len(x))
    for place in np.unique(places):
        inside = np.flatnonzero(places == place)
        ranks = np.arange(len(inside))
        offsets[inside] = ((ranks + 1) // 2) * np.where(ranks % 2, 1.0, -1.0)
    return offsets * height / max(float(np.abs(offsets).max()), 6.0)


def _coloured(values: Any) -> dict[str, Any]:
    """Colours of points by their values; grey where values have no order, and where they are missing."""
    if values is None or np.isnan(values).all():
        return {"color": OKABE_ITO["grey"]}
    low, high = np.nanquantile(values, [0.05, 0.95])
    high = high if high > low else low + 1.0
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


def _contribution_axis(axis: Any, found: ModelExplanation, c: int) -> None:
    name = drawable(found.class_of(c), 16)
    what = f"P({name})" if found.unit == "probability" else f"the score for {name}"
    axis.set_label_text(f"contribution to {what}", parse_math=False)
    if found.unit == "probability":
        axis.set_major_formatter(_percentages())


def dependence_figure(found: ModelExplanation, column: int, *, output: int | None = None) -> "Figure":
    """A column's contribution against its value in the table's own units, over the explained rows.

    Categories stand side by side, those with the highest contribution first.

    Parameters
    ----------
    found : ModelExplanation
    column : int
        Its place among the columns.
    output : int, optional
        The class, where there are several; by default the one that the column moves most.

    Raises
    ------
    ValueError
        If the column is free text, which has neither numbers nor categories.
    """
    c = found.most_moved(column) if output is None else output
    cells, name = found.cells[column], found.importance[column].column
    y = found.contributions[:, column, c]
    if cells.numbers is None and cells.categories is None:
        raise ValueError(f"the column {name!r} is free text: it has no values to draw its contributions by.")
    with styled():
        figure = _figure(12, 4.8)
        axes = figure.subplots()
        axes.axhline(0, color="#AAAAAA", linewidth=0.8)
        if cells.numbers is not None:
            axes.scatter(cells.numbers, y, s=12, color=LOWERS, linewidths=0)
            if cells.dates:
                axes.xaxis_date()
        else:
            ranked = [level.name for level in levels(cells, y)]
            places = np.array([ranked.index(category) for category in cells.categories or ()])
            axes.scatter(places, y, s=12, color=LOWERS, linewidths=0)
            names = [drawable(category, 18) for category in ranked]
            axes.set_xticks(range(len(names)), names)
            crowded = sum(map(len, names)) > 40  # side by side they would run into each other
            for label in axes.get_xticklabels():
                label.set(parse_math=False, **({"rotation": 40, "ha": "right"} if crowded else {}))
        unit = f" ({drawable(cells.unit, 12)})" if cells.unit else ""
        axes.set_xlabel(f"{drawable(name, 40)}{unit}", parse_math=False)
        _contribution_axis(axes.yaxis, found, c)
    return figure


def region_mass_figure(found: ModelExplanation) -> "Figure":
    """The regions by how much of the rows they hold, in the colours of their expected outputs.

    Raises
    ------
    ValueError
        If the model has no regions.
    """
    if found.regions is None:
        raise ValueError(found.no_regions)
    listed = found.regions.listed
    several = len(listed[0].output) > 1
    names = [_region_name(region) for region in listed]
    outputs = [max(region.output) if several else region.output[0] for region in listed]
    if several:
        likeliest = [found.classes[int(np.argmax(region.output))] for region in listed]
        names = [f"{name} {drawable(label, 12)}" for name, label in zip(names, likeliest, strict=True)]
    with styled():
        figure = _figure(len(names), 5.6)
        axes = figure.subplots()
        masses = [100 * region.probability for region in listed]
        _mass_bars(figure, axes, names, masses, outputs, len(listed[0].output))
        axes.set_xlabel(f"rows in the region of its network, % ({found.n_located:,} rows)")
    return figure


def save_row_figures(row: RowExplanation, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the figures of a row into a folder, as PNG and SVG; their paths."""
    stem = Path(folder) / f"row-{row.number}"
    paths = list(save(contributions_figure(row), f"{stem}-columns"))
    return paths if row.regions is None else [*paths, *save(row_regions_figure(row), f"{stem}-regions")]


def save_model_figures(found: ModelExplanation, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the figures of a model into a folder, as PNG and SVG; their paths."""
    paths = list(save(importance_figure(found), Path(folder) / "importance"))
    paths += save(beeswarm_figure(found), Path(folder) / "beeswarm")
    drawn = [found.importance.index(one) for one in found.ranked()]
    known = [j for j in drawn if found.cells[j].numbers is not None or found.cells[j].categories is not None]
    for place, j in enumerate(known[:DEPENDENCES], start=1):
        paths += save(dependence_figure(found, j), Path(folder) / f"dependence-{place}")
    if found.regions is not None:
        paths += save(region_mass_figure(found), Path(folder) / "regions")
    return paths
