"""Figure 3: the regions of a 2-2-…-1 network over the plane."""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from abnet.plots import diverging, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from matplotlib.image import AxesImage

__all__ = ["region_probabilities", "regions_figure"]

Floats: TypeAlias = NDArray[np.float64]

_MARGINS = {"left": 0.008, "right": 0.952, "bottom": 0.02, "top": 0.9, "wspace": 0.06}
_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
_DARK = {-1: "#7A3600", 1: "#003E61"}  # darker than the map's vermillion and blue, to stand out on them


def region_probabilities(W_1: ArrayLike, b_1: ArrayLike, X: ArrayLike) -> Floats:
    """Return P_1(x)[s], the probability that x falls in region s of the leading layer, shape (n, 2**d_1).

    `P_1(x)[s] = Π_i (1/2 + s_i/2 erf((W_1 x + b_1)_i / sqrt(2(‖x‖² + 1))))`, regions in lexicographic order, -1 first.

    Examples
    --------
    >>> region_probabilities([[0.0, 0.0]], [0.0], [[1.0, 2.0]])
    array([[0.5, 0.5]])
    """
    X = np.asarray(X, np.float64)
    scale = np.sqrt(2 * ((X**2).sum(1, keepdims=True) + 1))
    m = erf((X @ np.asarray(W_1, np.float64).T + np.asarray(b_1, np.float64)) / scale)
    corners = np.array(list(product((-1, 1), repeat=m.shape[1])))
    return (0.5 + 0.5 * corners[None] * m[:, None]).prod(-1)


def regions_figure(
    W_1: ArrayLike,
    b_1: ArrayLike,
    H: ArrayLike,
    predict: Callable[[Floats], ArrayLike],
    X: ArrayLike,
    y: ArrayLike,
    *,
    resolution: int = 300,
) -> "Figure":
    """Draw what a network with two inputs and two leading units computes over the plane.

    (a) for each of the 4 representations s its probability times its expected output, `P_1(x)[s] H[s]`; (b) their sum
    F_A; (c) the vote sgn F_A; (d) the decision of the MAP network.

    Parameters
    ----------
    W_1, b_1, H
        The compact network: leading weights (2, 2), biases (2,), region values (4,).
    predict
        From points (n, 2) to the labels, -1 or +1, of the MAP network.
    X, y
        The data, (n, 2) and labels -1 or +1.
    resolution
        Points on each side of the grid.
    """
    from matplotlib.figure import Figure

    X, y, H = np.asarray(X, np.float64), np.asarray(y), np.asarray(H, np.float64)
    reach = 1.15 * np.abs(X).max()
    side = np.linspace(-reach, reach, resolution)
    plane = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    parts = (region_probabilities(W_1, b_1, plane) * H).T.reshape(len(H), resolution, resolution)
    F = parts.sum(0)
    vote = np.where(F >= 0, 1.0, -1.0)
    decision = np.asarray(predict(plane), np.float64).reshape(F.shape)
    with styled():
        figure = Figure(figsize=(9.6, 2.43))
        grid = figure.add_gridspec(1, 5, width_ratios=(1, 1, 1, 1, 0.05), **_MARGINS)
        _draw_parts(figure, grid[0], parts, reach)
        titles = ("expected output $F_A$", r"vote $\mathrm{sgn}\,F_A$", "MAP network")
        for place, letter, title, values in zip((1, 2, 3), "bcd", titles, (F, vote, decision), strict=True):
            axes = figure.add_subplot(grid[place])
            label_panel(axes, letter, title)
            image = _map(axes, values, reach)
            axes.contour(side, side, values, levels=[0.0], colors="black", linewidths=0.8)
            _scatter(axes, X, y)
        bar = figure.colorbar(image, cax=figure.add_subplot(grid[4]), ticks=(-1, -0.5, 0, 0.5, 1))
        bar.outline.set_linewidth(0.6)
    return figure


def _draw_parts(figure: "Figure", place: "SubplotSpec", parts: Floats, reach: float) -> None:
    title = figure.add_subplot(place)  # an empty square, for a title at the height of the other panels'
    title.set_axis_off()
    title.set_box_aspect(1)
    label_panel(title, "a", "$P_1(x)[s] \\cdot H[s]$")
    inner = place.subgridspec(2, 2, wspace=0.04, hspace=0.04)
    for index, (values, s) in enumerate(zip(parts, product("−+", repeat=2), strict=True)):
        axes = figure.add_subplot(inner[divmod(index, 2)])
        _map(axes, values, reach)
        label = f"$s$ = ({s[0]}, {s[1]})"
        axes.text(0.05, 0.05, label, transform=axes.transAxes, fontsize=7, bbox=_PAPER, va="bottom")


def _map(axes: "Axes", values: Floats, reach: float) -> "AxesImage":
    extent = (-reach, reach, -reach, reach)
    image = axes.imshow(values, extent=extent, origin="lower", cmap=diverging(), vmin=-1, vmax=1)
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
    return image


def _scatter(axes: "Axes", X: Floats, y: NDArray[np.generic]) -> None:
    for label, marker in ((-1, "s"), (1, "o")):
        x_1, x_2 = X[y == label].T
        axes.scatter(x_1, x_2, s=11, marker=marker, color=_DARK[label], edgecolors="white", linewidths=0.5)
