"""The figure by width: how long a forward pass takes with a table, with samples and with the series, to width 1,000."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.paper.figures.wide_passes import CERTIFIED, PATHS, SERIES, TABLE, UNIFORM, WidthTiming
from abnet.paper.reproduction.record_csv import read_records, records_to_csv
from abnet.paper.reproduction.reproduced import Reproduced, StrPath
from abnet.paper.reproduction.results_folder import add_note, write_file
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["fig_width", "width_figure"]

_STYLES: dict[str, tuple[str, str, str]] = {
    TABLE: (OKABE_ITO["blue"], "-", "o"),
    UNIFORM: (OKABE_ITO["sky"], "--", "^"),
    PATHS: (OKABE_ITO["orange"], "--", "s"),
    SERIES: (OKABE_ITO["vermillion"], "-", "D"),
    CERTIFIED: (OKABE_ITO["purple"], "-.", "v"),
}
"""Methods with colour, line and marker."""


def fig_width(
    *,
    widths: Sequence[int] | None = None,
    repetitions: int = 100,
    train: bool = True,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list[WidthTiming]]:
    """Measure the CPU time of a forward pass by width, from 2 to 1,000 units, on 32 examples of ads.

    An extension of Figure 2 to widths that a table cannot reach.

    Parameters
    ----------
    widths
        Hidden units in each layer.
    repetitions
        Passes timed, fewer where they take long.
    train
        Whether to measure; otherwise the times are read from `fig_width.csv` in the output folder.
    data_dir
        Folder of the original files.
    output_dir
        Folder for `fig_width.csv` and the figure; by default nothing is written.
    verbose
        Whether to print a line for each time.
    """
    from abnet.paper.figures.timed_passes import machine
    from abnet.utils.plots import save_figure

    if not train and output_dir is None:
        raise ParameterError(
            "{} needs {}, the folder with fig_width.csv.", Parameter("train", False), Parameter("output_dir")
        )
    if train:
        timings = _measured(widths, repetitions, data_dir, verbose=verbose)
    else:
        text = (Path(output_dir or ".") / "fig_width.csv").read_text(encoding="utf-8")
        timings = read_records(text, WidthTiming, texts=("model", "method"), whole_numbers=("width", "repetitions"))
    if output_dir is None:
        return Reproduced(timings)
    folder = Path(output_dir)
    files = [write_file(folder / "fig_width.csv", records_to_csv(timings, WidthTiming))]
    files += save_figure(width_figure(timings), folder / "fig_width")
    text = (
        "`fig_width.csv`, `fig_width.png`, `fig_width.svg`: forward passes on one batch of 32 examples of ads; median "
        "CPU time of 100 passes, fewer for slow ones (column `repetitions`); at each width the methods take turns"
    )
    if train:
        text += f"; {machine()}"
    add_note(folder, "width", {"widths": widths, "repetitions": repetitions}, f"{text}.")
    return Reproduced(timings, files)


def _measured(
    widths: Sequence[int] | None, repetitions: int, data_dir: StrPath | None, *, verbose: bool
) -> list[WidthTiming]:
    from abnet.paper.data.datasets import load
    from abnet.paper.figures import wide_passes

    batch = load("ads", data_dir=data_dir, standardise=True).X[:32]
    timings = []
    for timing in wide_passes.measure_by_width(widths or wide_passes.WIDTHS, batch, repetitions=repetitions):
        timings.append(timing)
        if verbose:
            shown = f"{timing.milliseconds:.3g} ms (median of {timing.repetitions})"
            print(f"{timing.model}, width {timing.width}, {timing.method}: {shown}", file=sys.stderr, flush=True)
    return timings


def width_figure(timings: Sequence[WidthTiming]) -> "Figure":
    """Draw the time of a forward pass by width, both on logarithmic axes, a panel for each model."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        label_panel(left, "a", "ABNet, one hidden layer")
        label_panel(right, "b", "PBGNet, two hidden layers")
        _draw(left, [timing for timing in timings if timing.model == "ABNet"])
        _draw(right, [timing for timing in timings if timing.model == "PBGNet"])
        left.set_ylabel("CPU time of a forward pass (ms)")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _draw(axes: "Axes", timings: Sequence[WidthTiming]) -> None:
    for method, (colour, line, marker) in _STYLES.items():
        curve = sorted((t.width, t.milliseconds) for t in timings if t.method == method)
        if curve:
            places, times = zip(*curve, strict=True)
            axes.plot(places, times, color=colour, linestyle=line, marker=marker, label=method)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("hidden units in each layer, $d$")
    axes.xaxis.set_major_formatter("{x:,.0f}")
