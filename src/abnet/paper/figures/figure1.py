"""Figure 1: a binary activated network, its aggregation as a graph of representations, and its compact form."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from abnet.utils.plots import OKABE_ITO, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["architecture_figure"]

Point: TypeAlias = tuple[float, float]

_INPUT = "#EEEEEE"
_UNIT = "#CFE6F5"
_STATE = "#FBE3C0"
_OUTPUT = "#CDEBDF"
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
_STATES = tuple(f"{a}{b}" for a, b in product("−+", repeat=2))


def architecture_figure() -> "Figure":
    """Draw the schematic of a 3-2-2-1 network: (a) the network, (b) its ABNet, (c) the compact ABNet."""
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(9.2, 2.7), layout="constrained")
        panels = figure.subplots(1, 3, width_ratios=(3, 3, 2))
        for axes in panels:
            axes.set_axis_off()
            axes.set_ylim(-2.5, 1.65)
        label_panel(panels[0], "a", "binary activated network")
        _network(panels[0])
        label_panel(panels[1], "b", "ABNet: all representations")
        _aggregation(panels[1])
        label_panel(panels[2], "c", "compact ABNet")
        _compact(panels[2])
    return figure


def _network(axes: "Axes") -> None:
    axes.set_xlim(-0.45, 3.45)
    inputs = _column(0, 3)
    first = _column(1, 2)
    second = _column(2, 2)
    output = _column(3, 1)
    _join(axes, inputs, first)
    _join(axes, first, second)
    _join(axes, second, output)
    _circles(axes, inputs, ("$x_1$", "$x_2$", "$x_3$"), _INPUT)
    _circles(axes, [*first, *second], ["sgn"] * 4, _UNIT)
    _circles(axes, output, ("sgn",), _OUTPUT)
    for place, text in ((0.5, "$W_1, b_1$"), (1.5, "$W_2, b_2$"), (2.5, "$W_3, b_3$")):
        axes.text(place, -1.85, text, ha="center", fontsize=8)
    axes.text(3, -0.62, "$F_B(x)$", ha="center", va="center")


def _aggregation(axes: "Axes") -> None:
    axes.set_xlim(-0.45, 3.45)
    inputs = _column(0, 3)
    first = _column(1, 4)
    second = _column(2, 4)
    output = _column(3, 1)
    _leading(axes, inputs, first)
    _join(axes, first, second)
    _join(axes, second, output)
    _boxes(axes, second, _STATES)
    _boxes(axes, first, _STATES)
    _circles(axes, output, ("$\\Sigma$",), _OUTPUT)
    axes.text(1.5, -1.85, r"$\Psi_2$", ha="center", fontsize=9)
    axes.text(2.5, -1.85, r"$\Psi_3$", ha="center", fontsize=9)
    axes.text(1, -2.35, "$P_1(x)$ on $R_1$", ha="center", fontsize=8)
    axes.text(2, -2.35, "$P_2(x)$ on $R_2$", ha="center", fontsize=8)
    axes.text(3, -0.62, "$F_A(x)$", ha="center", va="center")


def _compact(axes: "Axes") -> None:
    axes.set_xlim(-0.45, 2.45)
    inputs = _column(0, 3)
    first = _column(1, 4)
    output = _column(2, 1)
    _leading(axes, inputs, first)
    for index, state in enumerate(first):
        _join(axes, [state], output, colour=OKABE_ITO["vermillion"])
        middle = (0.5 * (state[0] + output[0][0]) - 0.08, 0.5 * (state[1] + output[0][1]))
        axes.text(*middle, f"$H_{index + 1}$", fontsize=7.5, ha="center", va="center", bbox=_PAPER)
    _boxes(axes, first, _STATES)
    _circles(axes, output, ("$\\Sigma$",), _OUTPUT)
    axes.text(1, -2.35, "$P_1(x)$ on $R_1$", ha="center", fontsize=8)
    axes.text(2, -0.62, "$F_A(x)$", ha="center", va="center")


def _leading(axes: "Axes", inputs: Sequence[Point], first: Sequence[Point]) -> None:
    """Inputs and the leading layer, the same in the full and in the compact form."""
    _join(axes, inputs, first)
    _circles(axes, inputs, ("$x_1$", "$x_2$", "$x_3$"), _INPUT)
    axes.text(0.5, -1.85, "$W_1, b_1$", ha="center", fontsize=8)


def _column(x: float, count: int) -> list[Point]:
    gap = 1.1
    if count == 4:
        gap = 0.85
    return [(x, gap * ((count - 1) / 2 - index)) for index in range(count)]


def _join(axes: "Axes", left: Sequence[Point], right: Sequence[Point], *, colour: str = "#9A9A9A") -> None:
    for (x0, y0), (x1, y1) in product(left, right):
        axes.plot((x0, x1), (y0, y1), color=colour, linewidth=0.8, zorder=1)


def _circles(axes: "Axes", places: Sequence[Point], texts: Sequence[str], fill: str) -> None:
    for (x, y), text in zip(places, texts, strict=True):
        axes.plot(
            x, y, "o", markersize=22, markerfacecolor=fill, markeredgecolor="black", markeredgewidth=0.8, zorder=2
        )
        axes.text(x, y, text, ha="center", va="center", fontsize=8, zorder=3)


def _boxes(axes: "Axes", places: Sequence[Point], texts: Sequence[str]) -> None:
    frame = {"boxstyle": "round,pad=0.35", "facecolor": _STATE, "edgecolor": "black", "linewidth": 0.8}
    for (x, y), text in zip(places, texts, strict=True):
        axes.text(x, y, text, ha="center", va="center", fontsize=9, zorder=3, bbox=frame)
