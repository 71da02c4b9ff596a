"""Variants of Table 1 that the theory allows: a warm-up, learned deviations, and restarts (counted in the bound).

Variants of the narrow PBGNet and ABNet. They are kept apart from the paper's protocol: `table1.csv` and `runs.csv` have
none of their runs. They use a part of the paper's grid: the sizes and rates that do best in `runs.csv`.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import TYPE_CHECKING, Any

from abnet.paper.protocol import REPETITIONS
from abnet.paper.run_result import Result
from abnet.paper.run_setting import VARIANTS, Setting
from abnet.paper.selection import by_cell, choose, deviation, mean
from abnet.paper.table_one import TABLE_DATASETS, Row
from abnet.utils.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SIZES", "VariantRow", "read_variants", "variant_figure", "variant_grid", "variant_rows", "variants_to_csv",
           "variants_to_markdown"]  # fmt: skip

SIZES: dict[str, tuple[int, ...]] = {
    "ads": (2, 2), "adult": (2,), "mnist17": (2,), "mnist49": (2,), "mnist56": (2,), "mnistLH": (4,),
}  # fmt: skip
"""Hidden layers of each data set: those with the lowest mean bound in `runs.csv`, of PBGNet on mnistLH."""
DEEPER = Setting("mnistLH", "ABNet", (4, 4, 4), 0.01, 0)
"""The paper's own setting of ABNet on mnistLH, for ABNet alone."""

RATES: dict[str, tuple[float, ...]] = {"mnistLH": (0.01,)}
"""Learning rates that won there; elsewhere those of `USUAL_RATES`."""
USUAL_RATES = (0.1, 0.01)
VARIANT_MODELS = ("PBGNet", "ABNet")


def variant_grid(
    *,
    variants: Sequence[str] = tuple(VARIANTS),
    datasets: Sequence[str] = TABLE_DATASETS,
    repetitions: int = REPETITIONS,
) -> list[Setting]:
    """Return the runs behind the table of variants.

    Examples
    --------
    >>> len(variant_grid()), len(variant_grid(variants=["both"], datasets=["ads"], repetitions=1))
    (460, 4)
    """
    cells = [(dataset, model, SIZES.get(dataset, (2,))) for dataset, model in product(datasets, VARIANT_MODELS)]
    cells += [(DEEPER.dataset, DEEPER.model, DEEPER.hidden_layer_sizes)] * (DEEPER.dataset in datasets)
    return [
        Setting(dataset, model, sizes, rate, repetition, variant=variant)
        for variant, (dataset, model, sizes) in product(variants, cells)
        for rate, repetition in product(RATES.get(dataset, USUAL_RATES), range(repetitions))
    ]


@dataclass(frozen=True)
class VariantRow:
    """A row of `table1_variants.csv`: the setting with the best mean bound, as in Table 1.

    The bound is an estimate, as there: it accounts for the choice among restarts, but not for that among settings.
    """

    dataset: str
    model: str
    variant: str
    hidden_layers: int
    width: int
    learning_rate: float
    bound: float
    bound_std: float | None
    train_error: float
    test_error: float
    test_error_std: float | None
    map_test_error: float
    repetitions: int
    runs: int


def variant_rows(results: Iterable[Result]) -> list[VariantRow]:
    """Select a setting for each data set, model and variant that has runs; trials and the paper's runs are left out."""
    own = (r for r in results if r.setting.variant is not None)
    cells = by_cell(own, lambda s: (s.dataset, s.model, s.variant or ""))
    rows = [_row(choice.setting, choice.results, choice.runs) for choice in map(choose, cells.values()) if choice]
    names = list(VARIANTS)
    return sorted(
        rows, key=lambda row: (_place(row.dataset), VARIANT_MODELS.index(row.model), names.index(row.variant))
    )


def _row(setting: Setting, results: Sequence[Result], runs: int) -> VariantRow:
    figures = {name: mean(results, name) for name in ("bound", "train_error", "test_error", "map_test_error")}
    missing = [name for name, value in figures.items() if value is None]
    if missing or setting.learning_rate is None or setting.variant is None:
        raise ValueError(f"a run of {setting} was stored without {', '.join(missing) or 'its rate'}")
    return VariantRow(
        setting.dataset, setting.model, setting.variant, setting.hidden_layers, setting.width, setting.learning_rate,
        bound_std=deviation(results, "bound"), test_error_std=deviation(results, "test_error"),
        repetitions=len(results), runs=runs, **figures,  # type: ignore[arg-type]
    )  # fmt: skip


def _place(dataset: str) -> tuple[int, str]:
    return (TABLE_DATASETS.index(dataset) if dataset in TABLE_DATASETS else len(TABLE_DATASETS)), dataset


def variants_to_csv(rows: Iterable[VariantRow]) -> str:
    """Return rows as CSV."""
    names = [field.name for field in fields(VariantRow)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        values = [getattr(row, name) for name in names]
        writer.writerow(["" if v is None else f"{v:.6g}" if isinstance(v, float) else v for v in values])
    return out.getvalue()


def read_variants(text: str) -> list[VariantRow]:
    """Read rows from CSV."""
    return [
        VariantRow(**{name: _parsed(name, cell) for name, cell in r.items()}) for r in csv.DictReader(io.StringIO(text))
    ]


def _parsed(name: str, cell: str) -> Any:
    if name in ("dataset", "model", "variant"):
        return cell
    if name in ("hidden_layers", "width", "repetitions", "runs"):
        return int(cell)
    return float(cell) if cell else None


# Beside the paper's and the reproduction's

Cells = Mapping[tuple[str, str, str], Row]

NOTE = (
    "Bounds are means over the splits of the Gibbs bound of Table 1. “paper” is the paper's figure, “protocol” our "
    "reproduction of it with the whole grid of 36 settings, the other columns the variants, each with the best of its "
    "settings (`table1_variants.csv` says which); an asterisk marks fewer than five splits. Below, the "
    "variant with the lowest bound of each row, with the test errors of the vote and of the MAP network."
)


def variants_to_markdown(rows: Sequence[VariantRow], reproduced: Sequence[Row], paper: Sequence[Row]) -> str:
    """Return two Markdown tables: bounds by variant, then the best variant of each data set and model."""
    ours, theirs = ({row.cell: row for row in some} for some in (reproduced, paper))
    cells = list(dict.fromkeys((row.dataset, row.model) for row in rows))
    header = ["data set", "model", "paper", "protocol", *VARIANTS]
    bounds, best = [], []
    for dataset, model in cells:
        own = {row.variant: row for row in rows if (row.dataset, row.model) == (dataset, model)}
        lowest = min(own.values(), key=lambda row: row.bound)
        known = [some.get((dataset, "narrow", model)) for some in (theirs, ours)]
        figures = [_of(row, "bound") for row in known]
        shown = [_marked(own.get(name)) for name in VARIANTS]
        bounds.append([dataset, model, *figures, *(f"**{s}**" if s == _marked(lowest) else s for s in shown)])
        best.append([dataset, model, *_best_cells(lowest, *known)])
    figures_of_best = ["bound", "paper", "Δ", "test error", "paper", "protocol", "MAP", "paper", "splits"]
    second = ["data set", "model", "variant", "setting", *figures_of_best]
    return f"{_table(header, bounds)}\n\n{NOTE}\n\n{_table(second, best)}\n"


def _best_cells(row: VariantRow, paper: Row | None, ours: Row | None) -> list[str]:
    bound, test_errors = (None if paper is None else paper.bound), [_of(some, "test_error") for some in (paper, ours)]
    difference = "" if bound is None else f"{row.bound - bound:+.4f}"
    setting = f"{row.hidden_layers}×{row.width}, {row.learning_rate:g}"
    return [
        row.variant, setting, _with(row.bound, row.bound_std), _figure(bound), difference,
        _with(row.test_error, row.test_error_std), *test_errors,
        _figure(row.map_test_error), _of(paper, "map_test_error"), str(row.repetitions),
    ]  # fmt: skip


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _marked(row: VariantRow | None) -> str:
    """The bound, with an asterisk where splits are missing."""
    return "" if row is None else _figure(row.bound) + "*" * (row.repetitions < REPETITIONS)


def _of(row: Row | None, name: str) -> str:
    return "" if row is None else _figure(getattr(row, name))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _with(value: float, std: float | None) -> str:
    return _figure(value) + ("" if std is None else f" ± {std:.4f}")


_STYLES = {
    "paper": ("black", "_"),
    "protocol": ("grey", "o"),
    "warm-up": ("orange", "^"),
    "deviations": ("sky", "s"),
    "both": ("green", "D"),
    "restarts": ("vermillion", "*"),
}


def variant_figure(rows: Sequence[VariantRow], reproduced: Sequence[Row], paper: Sequence[Row]) -> "Figure":
    """Draw the bounds of the variants beside the paper's and the reproduction's, a panel for each model."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, model, letter in zip(panels, VARIANT_MODELS, "ab", strict=True):
            _draw(axes, model, rows, {"paper": paper, "protocol": reproduced})
            label_panel(axes, letter, model)
        panels[0].set_ylim(bottom=0)  # once both are drawn, since the limits are shared
        panels[0].set_ylabel("Gibbs bound (estimate)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def _draw(axes: "Axes", model: str, rows: Sequence[VariantRow], tables: Mapping[str, Sequence[Row]]) -> None:
    names = list(dict.fromkeys(row.dataset for row in rows))
    series: dict[str, dict[str, float]] = {
        name: {row.dataset: row.bound for row in of if row.cell[1:] == ("narrow", model) and row.bound is not None}
        for name, of in tables.items()
    }
    series |= {v: {row.dataset: row.bound for row in rows if (row.model, row.variant) == (model, v)} for v in VARIANTS}
    for number, (label, values) in enumerate(series.items()):
        colour, marker = _STYLES[label]
        shown = [name for name in names if name in values]
        places = [names.index(name) + 0.13 * (number - 2.5) for name in shown]
        size = {"_": 9.0, "*": 8.0}.get(marker, 5.0)
        axes.plot(places, [values[name] for name in shown], marker, color=OKABE_ITO[colour], label=label, ms=size)
    axes.set_xticks(range(len(names)), names)
