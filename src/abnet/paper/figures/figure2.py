"""Figure 2: the time of a forward pass by width and by depth."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, cast

from abnet.paper.figures.timed_passes import WIDEST_IN_PAPER, Panel, Timing
from abnet.paper.reproduction.reproduced import Reproduced, StrPath
from abnet.paper.reproduction.results_folder import add_note, write_file
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["METHODS", "fig2", "read_timings", "timing_figure", "timings_to_csv"]

METHODS: dict[str, tuple[str, str, str]] = {
    "formula as written": (OKABE_ITO["grey"], "-", "x"),
    "PBGNet": (OKABE_ITO["orange"], "--", "s"),
    "ABNet": (OKABE_ITO["blue"], "-", "o"),
    "stochastic ABNet": (OKABE_ITO["sky"], "-", "^"),
    "compact ABNet": (OKABE_ITO["vermillion"], "-.", "D"),
    "compact stochastic ABNet": (OKABE_ITO["purple"], "-.", "v"),
}
"""Methods of the figure, with colour, line and marker."""


def fig2(
    *,
    widths: Sequence[int] | None = None,
    depths: Sequence[int] | None = None,
    repetitions: int = 100,
    train: bool = True,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list[Timing]]:
    """Measure Figure 2, the time of a forward pass by width and by depth, on 32 examples of ads.

    Parameters
    ----------
    widths, depths
        Of panel (a) and of panel (b).
    repetitions
        Passes timed, fewer where they take long.
    train
        Whether to measure; otherwise the times are read from `fig2.csv` in the output folder.
    data_dir
        Folder of the original files.
    output_dir
        Folder for `fig2.csv` and the figure; by default nothing is written.
    verbose
        Whether to print a line for each point.
    """
    from abnet.paper.data.datasets import load
    from abnet.paper.figures import timed_passes
    from abnet.utils.plots import save_figure

    if not train and output_dir is None:
        raise ParameterError(
            "{} needs {}, the folder with fig2.csv.", Parameter("train", False), Parameter("output_dir")
        )
    if train:
        batch = load("ads", data_dir=data_dir, standardise=True).X[:32]
        points = timed_passes.points_of(METHODS, widths or timed_passes.WIDTHS, depths or timed_passes.DEPTHS)
        timings = list(timed_passes.measure(points, batch, repetitions=repetitions, verbose=verbose))
    else:
        timings = read_timings((Path(output_dir or ".") / "fig2.csv").read_text(encoding="utf-8"))
    if output_dir is None:
        return Reproduced(timings)
    folder = Path(output_dir)
    files = [write_file(folder / "fig2.csv", timings_to_csv(timings))]
    files += save_figure(timing_figure(timings), folder / "fig2")
    text = (
        "`fig2.csv`, `fig2.png`, `fig2.svg`: forward passes on one batch of 32 examples of ads; mean of 100 "
        "passes, fewer for slow ones (column `repetitions`); 100 samples for the stochastic methods"
    )
    if train:
        text += f"; {timed_passes.machine()}"
    options = {"widths": widths, "depths": depths, "repetitions": repetitions}
    add_note(folder, "fig2", options, f"{text}.")
    return Reproduced(timings, files)


def timings_to_csv(timings: Iterable[Timing]) -> str:
    """Return timings as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(Timing)], lineterminator="\n")
    writer.writeheader()
    for timing in timings:
        cells = asdict(timing)
        cells["milliseconds"] = f"{timing.milliseconds:.6g}"
        cells["milliseconds_std"] = f"{timing.milliseconds_std:.3g}"
        writer.writerow(cells)
    return out.getvalue()


def read_timings(text: str) -> list[Timing]:
    """Read timings from CSV.

    Examples
    --------
    >>> timing = Timing("width", "ABNet", 12, 6, 12.5, 0.25)
    >>> read_timings(timings_to_csv([timing])) == [timing]
    True
    """
    return [
        Timing(
            panel=cast("Panel", record["panel"]),
            method=record["method"],
            width=int(record["width"]),
            depth=int(record["depth"]),
            milliseconds=float(record["milliseconds"]),
            milliseconds_std=float(record["milliseconds_std"]),
            repetitions=int(record["repetitions"]),
        )
        for record in csv.DictReader(text.splitlines())
    ]


def timing_figure(timings: Sequence[Timing]) -> "Figure":
    """Draw the time of a forward pass by width and by depth, on a logarithmic axis.

    Raises
    ------
    ValueError
        If a method has no place in the figure.
    """
    from matplotlib.figure import Figure

    unknown = {t.method for t in timings} - set(METHODS)
    if unknown:
        raise ValueError(f"no method {', '.join(sorted(unknown))} in the figure; there are {', '.join(METHODS)}")
    with styled():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        _draw(left, "width", timings)
        _draw(right, "depth", timings)
        left.set_ylabel("time of a forward pass (ms)")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _draw(axes: "Axes", panel: Panel, timings: Sequence[Timing]) -> None:
    from matplotlib.ticker import MaxNLocator

    own = [t for t in timings if t.panel == panel]
    for method, (colour, line, marker) in METHODS.items():
        curve = sorted((t for t in own if t.method == method), key=lambda t: (t.width, t.depth))
        if curve:
            places = [getattr(t, panel) for t in curve]
            times = [t.milliseconds for t in curve]
            axes.plot(places, times, color=colour, linestyle=line, marker=marker, label=method)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel == "width":
        _label(axes, "a", "by width", "hidden units in each layer, $d$", "L", {t.depth for t in own})
        axes.axvline(WIDEST_IN_PAPER, color=OKABE_ITO["grey"], linestyle=":", linewidth=1.0)
        axes.annotate(
            "paper's limit",
            (WIDEST_IN_PAPER, 0.03),
            xycoords=axes.get_xaxis_transform(),
            xytext=(3, 0),
            textcoords="offset points",
            color="#555555",
            fontsize=7,
        )
    else:
        _label(axes, "b", "by depth", "weight layers, $L$", "d", {t.width for t in own})


def _label(axes: "Axes", letter: str, title: str, label: str, symbol: str, fixed: set[int]) -> None:
    if len(fixed) == 1:
        title += f" (${symbol} = {fixed.pop()}$)"
    label_panel(axes, letter, title)
    axes.set_xlabel(label)
