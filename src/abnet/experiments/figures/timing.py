"""Figure 2: time of a forward pass by width and by depth."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from abnet.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["METHODS", "Panel", "Timing", "WIDEST_IN_PAPER", "read_timings", "timing_figure", "timings_to_csv"]

Panel: TypeAlias = Literal["width", "depth"]

METHODS: dict[str, tuple[str, str, str]] = {
    "formula as written": (OKABE_ITO["grey"], "-", "x"),
    "PBGNet": (OKABE_ITO["orange"], "--", "s"),
    "ABNet": (OKABE_ITO["blue"], "-", "o"),
    "stochastic ABNet": (OKABE_ITO["sky"], "-", "^"),
    "compact ABNet": (OKABE_ITO["vermillion"], "-.", "D"),
    "compact stochastic ABNet": (OKABE_ITO["purple"], "-.", "v"),
}
"""Methods of the figure, with colour, line and marker."""

WIDEST_IN_PAPER = 13
"""Where the paper ends: one transition matrix of width 14 takes 1 GB."""


@dataclass(frozen=True)
class Timing:
    """A row of `fig2.csv`: a method's time on one batch, at one width and depth (number of weight layers L).

    `panel` says which curve it belongs to: "width" (L fixed) or "depth" (width fixed); `repetitions` how many passes
    the mean is of.
    """

    panel: Panel
    method: str
    width: int
    depth: int
    milliseconds: float
    milliseconds_std: float
    repetitions: int = 100


def timings_to_csv(timings: Iterable[Timing]) -> str:
    """Return timings as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(Timing)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {**asdict(t), "milliseconds": f"{t.milliseconds:.6g}", "milliseconds_std": f"{t.milliseconds_std:.3g}"}
        for t in timings
    )
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
            panel="width" if record["panel"] == "width" else "depth",
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
            places = [t.width if panel == "width" else t.depth for t in curve]
            times = [t.milliseconds for t in curve]
            axes.plot(places, times, color=colour, linestyle=line, marker=marker, label=method)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if panel == "width":
        _name(axes, "a", "by width", "hidden units in each layer, $d$", "L", {t.depth for t in own})
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
        _name(axes, "b", "by depth", "weight layers, $L$", "d", {t.width for t in own})


def _name(axes: "Axes", letter: str, title: str, label: str, symbol: str, fixed: set[int]) -> None:
    shown = f" (${symbol} = {fixed.pop()}$)" if len(fixed) == 1 else ""
    label_panel(axes, letter, title + shown)
    axes.set_xlabel(label)
