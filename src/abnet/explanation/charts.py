"""Figures of explanations: the columns and regions of a row, and what matters to a model as a whole."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.row_explanation import RowExplanation
from abnet.plots import OKABE_ITO, diverging, drawable, label_panel, save, styled
from abnet.words import number_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "contributions_figure",
    "importance_figure",
    "region_mass_figure",
    "row_regions_figure",
    "save_model_figures",
    "save_row_figures",
    "spectrum_figure",
]

_UP, _DOWN = OKABE_ITO["blue"], OKABE_ITO["vermillion"]
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
    """What moved a row, column after column, from the mean of the background to its score.

    Parameters
    ----------
    row : RowExplanation
    most : int
        Columns shown; the others are one bar.

    Examples
    --------
    >>> from abnet.explanation import explain
    >>> from abnet.model import Model
    >>> from abnet.predictors.table import Table
    >>> model = Model(Table(np.array([[[2.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> figure = contributions_figure(explain(model, [[1.0, 1.0]], background=[[0.0, 1.0]])[0])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['in the mean', 'x0 = 1', 'x1 = 1', 'this row']
    """
    c, ranked = row.output, row.ranked()
    listed, rest = ranked[:most], ranked[most:]
    moves = [float(row.contributions[j, c]) for j in listed]
    errors = [float(row.standard_errors[j, c]) for j in listed]
    names = [f"{drawable(row.columns[j], 28)} = {drawable(row.cells[j], 14)}" for j in listed]
    if rest:
        moves.append(float(row.contributions[rest, c].sum()))
        errors.append(0.0)
        names.append(number_of(len(rest), "other column"))
    ends = float(row.base[c]) + np.cumsum(moves)
    starts = np.concatenate([[row.base[c]], ends[:-1]])
    with styled():
        figure = _figure(len(moves) + 2)
        axes = figure.subplots()
        axes.axvline(0, color="#AAAAAA", linewidth=0.8)
        axes.barh(0, row.base[c], color=OKABE_ITO["grey"], **_BAR)
        axes.barh(
            range(1, len(moves) + 1), moves, left=starts, color=[_UP if move >= 0 else _DOWN for move in moves],
            xerr=None if row.exact else errors, error_kw={"elinewidth": 0.9, "ecolor": "black"}, **_BAR,
        )  # fmt: skip
        axes.barh(len(moves) + 1, row.scores[c], color="black", **_BAR)
        for place, end in enumerate(np.concatenate([[row.base[c]], ends])):
            axes.plot([end, end], [place - 0.31, place + 1.31], color="#888888", linewidth=0.6)
        axes.use_sticky_edges = False  # no bar grows out of the axis
        _named(axes, ["in the mean", *names, "this row"])
        axes.set_xlabel(_quantity(row), parse_math=False)
        sure = "" if row.probabilities is None else f", probability {100 * row.probabilities[row.code]:.1f}%"
        title = f"row {row.number}: {drawable(row.classes[row.code], 30)}{sure}"
        axes.set_title(title, loc="left", parse_math=False)
    return figure


def _quantity(row: RowExplanation) -> str:
    if len(row.scores) == 1:
        return f"F (right: {drawable(row.classes[1], 24)}, left: {drawable(row.classes[0], 24)})"
    return f"share of the vote for {drawable(row.classes[row.code], 30)}"


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
        right.set_xlabel(f"share of the decision (all: {row.scores[c]:+.3f})")
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
    colours = diverging()
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
        panels[0].set_xlabel(f"mean |contribution| ({found.n_explained:,} rows)")
        panels[0].set_xlim(left=0)
        if judged:
            grown = [100 * (one.error_growth or 0.0) for one in ranked]
            panels[1].axvline(0, color="#AAAAAA", linewidth=0.8)
            _whiskers(panels[1], grown, [100 * (one.error_growth_error or 0.0) for one in ranked])
            _named(panels[1], [""] * len(ranked))
            panels[1].set_xlabel(f"percentage points ({found.n_shuffled:,} rows)")
            label_panel(panels[0], "a", "moves the score by")
            label_panel(panels[1], "b", "shuffled, error grows by")
    return figure


def _whiskers(axes: "Axes", values: list[float], errors: list[float]) -> None:
    axes.barh(
        range(len(values)), values, xerr=errors, color=OKABE_ITO["sky"],
        error_kw={"elinewidth": 0.9, "ecolor": "black", "capsize": 1.5}, **_BAR,
    )  # fmt: skip


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


def spectrum_figure(found: ModelExplanation, *, most: int = 12) -> "Figure":
    """The Walsh spectrum of H: variance by the number of neurons that act together, and the strongest sets of them.

    Raises
    ------
    ValueError
        If the model has no table of all its regions.
    """
    if not found.spectra:
        raise ValueError(found.no_regions or "the table of this model is a draw of regions, and has no spectrum.")
    shares = 100 * found.variance_by_order()
    several = len(found.spectra) > 1
    sets = [(one, s) for one in found.spectra for s in one.strongest(most)]
    sets = sorted(sets, key=lambda pair: -abs(pair[1].coefficient))[:most]
    outputs = max(one.output for one in found.spectra) > 0
    with styled():
        figure = _figure(max(len(sets), 7), 7.4)
        left, right = figure.subplots(1, 2)
        left.bar(range(1, len(shares) + 1), shares, color=OKABE_ITO["sky"], width=0.7)
        left.set_xticks(range(1, len(shares) + 1))
        left.grid(visible=False, axis="x")
        left.set(xlabel="neurons that act together", ylabel="share of the variance of H, %", ylim=(0, None))
        label_panel(left, "a", "by order")
        names = []
        for one, chosen in sets:
            label = f"{one.member + 1}: " if several else ""
            label += " · ".join(str(i + 1) for i in chosen.neurons)
            names.append(label + (f" ({drawable(found.classes[one.output], 12)})" if outputs else ""))
        values = [chosen.coefficient for _, chosen in sets]
        right.axvline(0, color="#AAAAAA", linewidth=0.8)
        right.barh(range(len(values)), values, color=[_UP if value >= 0 else _DOWN for value in values], **_BAR)
        _named(right, names)
        right.set_xlabel("Walsh coefficient of H")
        label_panel(right, "b", "strongest sets" + (" (network: neurons)" if several else " of neurons"))
    return figure


def save_row_figures(row: RowExplanation, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the figures of a row into a folder, as PNG and SVG; their paths."""
    stem = Path(folder) / f"row-{row.number}"
    paths = list(save(contributions_figure(row), f"{stem}-columns"))
    return paths if row.regions is None else [*paths, *save(row_regions_figure(row), f"{stem}-regions")]


def save_model_figures(found: ModelExplanation, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the figures of a model into a folder, as PNG and SVG; their paths."""
    paths = list(save(importance_figure(found), Path(folder) / "importance"))
    if found.regions is not None:
        paths += save(region_mass_figure(found), Path(folder) / "regions")
    return [*paths, *save(spectrum_figure(found), Path(folder) / "spectrum")] if found.spectra else paths
