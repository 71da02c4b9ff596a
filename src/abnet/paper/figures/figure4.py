"""Figure 4: bound and test error by depth."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.paper.protocol import REPETITIONS, TABLE1_VARIANTS
from abnet.paper.reproduction.grids import fig4_grid, select, without_variant
from abnet.paper.reproduction.record_csv import records_to_csv
from abnet.paper.reproduction.reproduced import Reproduced, StrPath, train_missing_runs
from abnet.paper.reproduction.results_folder import add_note, write_file
from abnet.paper.reproduction.selection import Selected, by_cell, choose, deviation, mean
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting
from abnet.utils.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from distributed import Client
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DepthPoint", "depth_figure", "depth_points", "depth_to_csv", "fig4"]

_COLOURS = {2: OKABE_ITO["orange"], 4: OKABE_ITO["blue"], 8: OKABE_ITO["green"]}
_MARKERS = {2: "s", 4: "o", 8: "^"}
_LINES = {"PBGNet": "--", "ABNet": "-"}
_MARKER_FACES = {"PBGNet": "white", "ABNet": None}
_SHIFTS = {2: -0.09, 4: 0.0, 8: 0.09}  # sideways, so that error bars do not hide one another


@dataclass(frozen=True)
class DepthPoint:
    """A row of `fig4.csv`: means and sample deviations at the learning rate with the best bound.

    `variant` is empty for the protocol without changes.
    """

    model: str
    width: int
    hidden_layers: int
    learning_rate: float
    bound: float
    bound_std: float | None
    test_error: float
    test_error_std: float | None
    repetitions: int
    runs: int
    variant: str = ""


def fig4(
    store: StrPath = "runs.sqlite",
    *,
    models: Sequence[str] | None = None,
    widths: Sequence[int] | None = None,
    repetitions: int = REPETITIONS,
    train: bool = True,
    jobs: int = -1,
    client: "Client | None" = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list[DepthPoint]]:
    """Train the missing runs of Figure 4, bound and test error by depth on mnistLH; parameters as for `table1`."""
    from abnet.utils.plots import save_figure

    settings = select(fig4_grid(), models=models, widths=widths, repetitions=repetitions)
    results, failures = train_missing_runs(
        store,
        settings,
        shown=[*settings, *without_variant(settings)],
        train=train,
        jobs=jobs,
        client=client,
        data_dir=data_dir,
        verbose=verbose,
    )
    points = depth_points(results)
    if output_dir is None:
        return Reproduced(points, failures=failures)
    folder = Path(output_dir)
    files = [write_file(folder / "fig4.csv", depth_to_csv(points))]
    files += save_figure(depth_figure(points), folder / "fig4")
    n_runs = sum(point.runs for point in points)
    text = f"`fig4.csv`, `fig4.png`, `fig4.svg`: {len(points)} points from {n_runs:,} runs."
    add_note(folder, "fig4", {"models": models, "widths": widths, "repetitions": repetitions}, text)
    return Reproduced(points, files, failures)


def depth_points(results: Iterable[Result]) -> list[DepthPoint]:
    """Choose, for each model, width and depth on mnistLH, the learning rate with the best mean bound.

    There are points of the protocol without changes, and of the variant that Table 1 uses.
    """
    in_figure = [result for result in results if _in_figure(result.setting)]
    cells = by_cell(in_figure, lambda s: (s.variant or "", s.model, s.width, s.hidden_layers))
    points = []
    for cell in sorted(cells):
        selected = choose(cells[cell])
        if selected is not None:
            points.append(_point(selected))
    return points


def depth_to_csv(points: Iterable[DepthPoint]) -> str:
    """Return points as CSV."""
    return records_to_csv(points, DepthPoint)


def depth_figure(points: Sequence[DepthPoint]) -> "Figure":
    """Draw bound and test error by depth: PBGNet dashed, ABNet solid, one colour a width, one row a variant."""
    from matplotlib.figure import Figure

    by_variant: dict[str, list[DepthPoint]] = {}
    for point in points:
        by_variant.setdefault(point.variant, []).append(point)
    n_rows = len(by_variant)
    with styled():
        figure = Figure(figsize=(7.2, 0.7 + 2.8 * n_rows), layout="constrained")
        panels = figure.subplots(n_rows, 2, squeeze=False)
        letters = iter("abcdefgh")
        for (variant, shown), (left, right) in zip(sorted(by_variant.items()), panels, strict=True):
            _draw(left, shown, "bound")
            _draw(right, shown, "test_error")
            suffix = ""
            if variant:
                suffix = f", {variant}"
            label_panel(left, next(letters), f"bound (estimate){suffix}")
            label_panel(right, next(letters), f"test error{suffix}")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _draw(axes: "Axes", points: Sequence[DepthPoint], name: str) -> None:
    for (model, width), curve in _curves(points).items():
        axes.errorbar(
            [p.hidden_layers + _SHIFTS.get(width, 0.0) for p in curve],
            [getattr(p, name) for p in curve],
            yerr=[getattr(p, f"{name}_std") or 0.0 for p in curve],
            color=_COLOURS.get(width, OKABE_ITO["black"]),
            linestyle=_LINES[model],
            marker=_MARKERS.get(width, "d"),
            markerfacecolor=_MARKER_FACES[model],
            capsize=2,
            elinewidth=0.9,
            label=f"{model}, width {width}",
        )
    axes.set_xlabel("hidden layers")
    axes.set_ylim(bottom=0)
    axes.set_xticks(sorted({p.hidden_layers for p in points}))


def _curves(points: Sequence[DepthPoint]) -> dict[tuple[str, int], list[DepthPoint]]:
    """Points by model and width; width by width, so that each column of the legend is one width."""
    curves: dict[tuple[str, int], list[DepthPoint]] = {}
    for point in sorted(points, key=lambda p: (p.width, p.model != "PBGNet", p.model, p.hidden_layers)):
        curves.setdefault((point.model, point.width), []).append(point)
    return curves


def _in_figure(setting: Setting) -> bool:
    one_width = len(set(setting.hidden_layer_sizes)) == 1
    variant_of_table = TABLE1_VARIANTS.get((setting.model, setting.architecture))
    if setting.variant not in (None, variant_of_table):
        return False
    return one_width and setting.dataset == "mnistLH" and setting.model in _LINES and setting.width in _COLOURS


def _point(selected: Selected) -> DepthPoint:
    setting = selected.setting
    results = selected.results
    bound = mean(results, "bound")
    test_error = mean(results, "test_error")
    if setting.learning_rate is None or bound is None or test_error is None:
        raise ValueError(
            f"a run of {setting.model} on {setting.dataset} was stored without bound, test error or learning rate"
        )
    return DepthPoint(
        model=setting.model,
        width=setting.width,
        hidden_layers=setting.hidden_layers,
        learning_rate=setting.learning_rate,
        bound=bound,
        bound_std=deviation(results, "bound"),
        test_error=test_error,
        test_error_std=deviation(results, "test_error"),
        repetitions=len(results),
        runs=selected.runs,
        variant=setting.variant or "",
    )
