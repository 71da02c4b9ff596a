"""Figure 3 of the paper: what a network with two inputs and two leading neurons computes over the plane."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.networks import region_probabilities
from abnet.paper.reproduction.reproduced import Reproduced, StrPath
from abnet.paper.reproduction.results_folder import add_note
from abnet.utils.plots import diverging, label_panel, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from matplotlib.image import AxesImage

__all__ = ["fig3", "regions_figure"]

Floats: TypeAlias = NDArray[np.float64]

_MARGINS = {"left": 0.008, "right": 0.952, "bottom": 0.02, "top": 0.9, "wspace": 0.06}
_LABEL_BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
_POINT_COLORS = {-1: "#7A3600", 1: "#003E61"}
"""Darker than the colours of the map, so that the points stand out."""
_POINT_MARKERS = {-1: "s", 1: "o"}


def fig3(*, random_state: int = 0, output_dir: StrPath = "results", verbose: bool = False) -> Reproduced[float]:
    """Train a 2-2-2-1 network on two circles and draw Figure 3, its regions over the plane.

    Parameters
    ----------
    random_state
        Seed of the training.
    output_dir
        Folder for the figure.
    verbose
        Whether to show the progress of training on a terminal.

    Returns
    -------
    Reproduced
        Its data is the training error of the vote.
    """
    from abnet.estimators.abnet import ABNetClassifier
    from abnet.networks import region_values
    from abnet.paper.data.datasets import load
    from abnet.utils.plots import save_figure

    circles = load("circles")
    clf = ABNetClassifier(
        (2, 2),
        prior="init",
        init="glorot_normal",
        learning_rate_init=0.1,
        max_iter=200,
        random_state=random_state,
        verbose=int(verbose),
    )
    clf.fit(circles.X, circles.y)
    error = float(np.mean(clf.predict(circles.X) != circles.y))
    network = clf.network_.astype(np.float64)
    figure = regions_figure(
        network.weights[0],
        network.biases[0],
        region_values(network),
        network.predict,
        circles.X[::5],  # all points would hide the regions
        circles.y[::5],
    )
    folder = Path(output_dir)
    files = list(save_figure(figure, folder / "fig3"))
    text = (
        f"`fig3.png`, `fig3.svg`: 2-2-2-1 on `circles`, trained through the bound from a random prior (rate 0.1, up to "
        f"200 epochs, seed {random_state}); training error of the vote {error:.3f}. A fifth of the points is drawn."
    )
    add_note(folder, "fig3", {"random_state": random_state}, text)
    return Reproduced(error, files)


@dataclass(frozen=True, eq=False)
class _Plane:
    """A square part of the plane, and the data points in it.

    Attributes
    ----------
    side : array (n,)
        Coordinates of the grid, the same on both axes.
    points : array (m, 2)
    labels : array (m,)
        -1 or +1 for each point.
    """

    side: Floats
    points: Floats
    labels: NDArray[np.int_]

    @property
    def grid(self) -> Floats:
        """All points of the grid, (n², 2)."""
        return np.stack(np.meshgrid(self.side, self.side), axis=-1).reshape(-1, 2)

    def draw_map(self, axes: "Axes", values: Floats) -> "AxesImage":
        """Draw values in [-1, 1] over the grid, as colours."""
        first = float(self.side[0])
        last = float(self.side[-1])
        image = axes.imshow(
            values, extent=(first, last, first, last), origin="lower", cmap=diverging(), vmin=-1, vmax=1
        )
        axes.set(xticks=[], yticks=[])
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(True)
        return image

    def draw_points(self, axes: "Axes") -> None:
        """Draw the data points."""
        for label, marker in _POINT_MARKERS.items():
            chosen = self.points[self.labels == label]
            axes.scatter(
                chosen[:, 0],
                chosen[:, 1],
                s=11,
                marker=marker,
                color=_POINT_COLORS[label],
                edgecolors="white",
                linewidths=0.5,
            )


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
    """Draw the four regions of the leading layer, and what the network makes of them.

    (a) For each of the 4 representations s its probability times its expected output, `P_1(x)[s] H[s]`; (b) their sum
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

    points = np.asarray(X, np.float64)
    region_values = np.asarray(H, np.float64)
    reach = 1.15 * np.abs(points).max()
    plane = _Plane(np.linspace(-reach, reach, resolution), points, np.asarray(y))
    shape = (resolution, resolution)

    probabilities = region_probabilities(np.asarray(W_1, np.float64), np.asarray(b_1, np.float64), plane.grid)
    parts = (probabilities * region_values).T.reshape(len(region_values), *shape)
    expected_output = parts.sum(axis=0)
    vote = np.where(expected_output >= 0, 1.0, -1.0)
    decision = np.asarray(predict(plane.grid), np.float64).reshape(shape)
    panels = [
        ("b", "expected output $F_A$", expected_output),
        ("c", r"vote $\mathrm{sgn}\,F_A$", vote),
        ("d", "MAP network", decision),
    ]

    with styled():
        figure = Figure(figsize=(9.6, 2.43))
        places = figure.add_gridspec(1, 5, width_ratios=(1, 1, 1, 1, 0.05), **_MARGINS)
        _draw_parts(figure, places[0], plane, parts)
        for place, (letter, title, values) in enumerate(panels, start=1):
            axes = figure.add_subplot(places[place])
            label_panel(axes, letter, title)
            image = plane.draw_map(axes, values)
            if values.min() < 0 < values.max():
                axes.contour(plane.side, plane.side, values, levels=[0.0], colors="black", linewidths=0.8)
            plane.draw_points(axes)
        bar = figure.colorbar(image, cax=figure.add_subplot(places[4]), ticks=(-1, -0.5, 0, 0.5, 1))
        bar.outline.set_linewidth(0.6)
    return figure


def _draw_parts(figure: "Figure", place: "SubplotSpec", plane: _Plane, parts: Floats) -> None:
    """Panel (a): a small map for each representation."""
    # An empty square holds the title, so that it stands as high as those of the other panels.
    title = figure.add_subplot(place)
    title.set_axis_off()
    title.set_box_aspect(1)
    label_panel(title, "a", "$P_1(x)[s] \\cdot H[s]$")
    inner = place.subgridspec(2, 2, wspace=0.04, hspace=0.04)
    for index, (signs, values) in enumerate(zip(product("−+", repeat=2), parts, strict=True)):
        axes = figure.add_subplot(inner[divmod(index, 2)])
        plane.draw_map(axes, values)
        label = f"$s$ = ({signs[0]}, {signs[1]})"
        axes.text(0.05, 0.05, label, transform=axes.transAxes, fontsize=7, bbox=_LABEL_BOX, va="bottom")
