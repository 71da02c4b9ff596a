"""The variants beside the paper's Table 1 and the reproduction's: two Markdown tables and a figure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abnet.paper.protocol import REPETITIONS
from abnet.paper.reproduction.table1_rows import Table1Row
from abnet.paper.reproduction.table_cells import markdown_table, number_cell, number_with_deviation
from abnet.paper.reproduction.variant_rows import BEYOND_THE_PAPER, VARIANT_MODELS, VariantRow
from abnet.utils.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["variant_figure", "variants_to_markdown"]

_DIGITS = 4

NOTE = (
    "Bounds are means over the splits of the Gibbs bound of Table 1. “paper” is the paper's figure, “protocol” our "
    "reproduction of it with the whole grid of 36 settings, the other columns the variants, each with the best of its "
    "settings (`table1_variants.csv` says which); an asterisk marks fewer than five splits. Below, the "
    "variant with the lowest bound of each row, with the test errors of the vote and of the MAP network. “linear” is a "
    "network without hidden layers."
)


def variants_to_markdown(
    rows: Sequence[VariantRow], reproduced: Sequence[Table1Row], paper: Sequence[Table1Row]
) -> str:
    """Return two Markdown tables: bounds by variant, then the best variant of each data set and model."""
    reproduced_by_cell = {row.cell: row for row in reproduced}
    paper_by_cell = {row.cell: row for row in paper}
    bounds = []
    best = []
    for dataset, model in dict.fromkeys((row.dataset, row.model) for row in rows):
        by_variant = {row.variant: row for row in rows if (row.dataset, row.model) == (dataset, model)}
        paper_row = paper_by_cell.get((dataset, "narrow", model))
        protocol_row = reproduced_by_cell.get((dataset, "narrow", model))
        bounds.append([dataset, model, *_bound_cells(by_variant, paper_row, protocol_row)])
        best.append([dataset, model, *_best_cells(_lowest(by_variant), paper_row, protocol_row)])
    bounds_header = ["data set", "model", "paper", "protocol", *BEYOND_THE_PAPER]
    bounds_table = markdown_table(bounds_header, bounds)
    best_header = ["data set", "model", "variant", "setting", "bound", "paper", "Δ"]
    best_header += ["test error", "paper", "protocol", "MAP", "paper", "splits"]
    best_table = markdown_table(best_header, best)
    return f"{bounds_table}\n\n{NOTE}\n\n{best_table}\n"


def _lowest(by_variant: dict[str, VariantRow]) -> VariantRow:
    return min(by_variant.values(), key=lambda row: row.bound)


def _bound_cells(by_variant: dict[str, VariantRow], paper: Table1Row | None, protocol: Table1Row | None) -> list[str]:
    """The bounds of the paper, the reproduction and the variants, with the lowest of the variants in bold."""
    lowest = _marked_bound(_lowest(by_variant))
    cells = [_cell(paper, "bound"), _cell(protocol, "bound")]
    for variant in BEYOND_THE_PAPER:
        bound = ""
        if variant in by_variant:
            bound = _marked_bound(by_variant[variant])
        if bound == lowest:
            bound = f"**{bound}**"
        cells.append(bound)
    return cells


def _best_cells(best: VariantRow, paper: Table1Row | None, protocol: Table1Row | None) -> list[str]:
    """The variant with the lowest bound, beside the paper's figures and the reproduction's."""
    difference = ""
    if paper is not None and paper.bound is not None:
        difference = f"{best.bound - paper.bound:+.4f}"
    return [
        best.variant,
        f"{_sizes(best)}, {best.learning_rate:g}",
        number_with_deviation(best.bound, best.bound_std, _DIGITS),
        _cell(paper, "bound"),
        difference,
        number_with_deviation(best.test_error, best.test_error_std, _DIGITS),
        _cell(paper, "test_error"),
        _cell(protocol, "test_error"),
        number_cell(best.map_test_error, _DIGITS),
        _cell(paper, "map_test_error"),
        str(best.repetitions),
    ]


def _sizes(row: VariantRow) -> str:
    if row.hidden_layers == 0:
        return "linear"
    return f"{row.hidden_layers}×{row.width}"


def _marked_bound(row: VariantRow) -> str:
    """The bound, with an asterisk where splits are missing."""
    bound = number_cell(row.bound, _DIGITS)
    if row.repetitions < REPETITIONS:
        return f"{bound}*"
    return bound


def _cell(row: Table1Row | None, figure: str) -> str:
    if row is None:
        return ""
    return number_cell(getattr(row, figure), _DIGITS)


# The figure

_STYLES = {
    "paper": ("black", "_"),
    "protocol": ("grey", "o"),
    "warm-up": ("orange", "^"),
    "deviations": ("sky", "s"),
    "both": ("green", "D"),
    "restarts": ("vermillion", "*"),
    "small": ("purple", "v"),
    "surround": ("blue", "P"),
}
_MARKER_SIZES = {"_": 9.0, "*": 8.0}


def variant_figure(rows: Sequence[VariantRow], reproduced: Sequence[Table1Row], paper: Sequence[Table1Row]) -> "Figure":
    """Draw the bounds of the variants beside the paper's and the reproduction's, a panel for each model."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, model, letter in zip(panels, VARIANT_MODELS, "ab", strict=True):
            _draw(axes, model, rows, paper, reproduced)
            label_panel(axes, letter, model)
        panels[0].set_ylim(bottom=0)  # once both are drawn, since the limits are shared
        panels[0].set_ylabel("Gibbs bound (estimate)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _draw(
    axes: "Axes",
    model: str,
    rows: Sequence[VariantRow],
    paper: Sequence[Table1Row],
    reproduced: Sequence[Table1Row],
) -> None:
    """One model: a tick for each data set, and beside each other the bounds of paper, reproduction and variants."""
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    series = {"paper": _bounds_by_dataset(paper, model), "protocol": _bounds_by_dataset(reproduced, model)}
    for variant in BEYOND_THE_PAPER:
        series[variant] = {row.dataset: row.bound for row in rows if (row.model, row.variant) == (model, variant)}
    for number, (label, bounds) in enumerate(series.items()):
        colour, marker = _STYLES[label]
        shift = 0.1 * (number - 3.5)
        shown = [dataset for dataset in datasets if dataset in bounds]
        axes.plot(
            [datasets.index(dataset) + shift for dataset in shown],
            [bounds[dataset] for dataset in shown],
            marker,
            color=OKABE_ITO[colour],
            label=label,
            ms=_MARKER_SIZES.get(marker, 5.0),
        )
    axes.set_xticks(range(len(datasets)), datasets)


def _bounds_by_dataset(table: Sequence[Table1Row], model: str) -> dict[str, float]:
    """The bounds of a model's narrow networks."""
    bounds = {}
    for row in table:
        if row.architecture == "narrow" and row.model == model and row.bound is not None:
            bounds[row.dataset] = row.bound
    return bounds
