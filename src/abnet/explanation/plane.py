"""The paper's Figure 3: regions, expected output and decision of a network over the plane; of the paper's, and of any
model of two columns of numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.aggregation import region_probabilities
from abnet.coded_rows import dense
from abnet.explanation.background import column_layout
from abnet.explanation.regions import region_table
from abnet.explanation.row_explanation import as_read
from abnet.labels import winners
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.plots import OKABE_ITO, diverging, drawable, label_panel, styled
from abnet.preparation.columns import NumericColumn
from abnet.tables.frames import as_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec, SubplotSpec
    from matplotlib.image import AxesImage

__all__ = ["plane_figure", "regions_figure"]

Floats: TypeAlias = NDArray[np.float64]
Extent: TypeAlias = tuple[float, float, float, float]

_MARGINS = {"left": 0.008, "right": 0.952, "bottom": 0.02, "top": 0.9, "wspace": 0.06}
_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
_DARK = {-1: "#7A3600", 1: "#003E61"}  # darker than the map's vermillion and blue, to stand out on them
_MARKERS = "sovD^Pp*X<>h"
MOST_POINTS = 200
"""Rows drawn, at the most: more would hide the regions."""
MOST_CLASSES = 5
"""Classes with a panel of their own."""


@dataclass(frozen=True, eq=False)
class Plane:
    """What is drawn: maps over a grid, rows running upwards.

    Attributes
    ----------
    x, y : arrays (nx,), (ny,)
        The grid's sides.
    parts : list of (name, map)
        Regions with their shares of the output, four at the most.
    panels : list of (title, map)
        Maps with values in [-1, 1].
    points : array (n, 2)
    signs : array (n,)
        -1 or +1 for each point.
    names : (str, str) or None
        Columns on the axes; without them there are no axes.
    classes : (str, str) or None
        What the signs stand for.
    """

    x: Floats
    y: Floats
    parts: Sequence[tuple[str, Floats]]
    panels: Sequence[tuple[str, Floats]]
    points: Floats
    signs: NDArray[Any]
    names: tuple[str, str] | None = None
    classes: tuple[str, str] | None = None

    @property
    def extent(self) -> Extent:
        """The corners of the maps."""
        return float(self.x[0]), float(self.x[-1]), float(self.y[0]), float(self.y[-1])

    def draw(self) -> "Figure":
        """The figure, a panel beside the other."""
        from matplotlib.figure import Figure

        with styled():
            figure, grid = self._page(Figure)
            letters, first = iter("abcdefgh"), bool(self.parts) * (1 if self.names is None else 2)
            if self.parts:
                self._draw_parts(figure, grid[0], next(letters))
            for place, (title, values) in enumerate(self.panels, start=first):
                axes = figure.add_subplot(grid[place])
                label_panel(axes, next(letters), title)
                image = self._map(axes, values)
                if values.min() < 0 < values.max():
                    axes.contour(self.x, self.y, values, levels=[0.0], colors="black", linewidths=0.8)
                self._scatter(axes)
                if self.names is not None:
                    self._name_axes(axes, first=place == first)
            bar = figure.colorbar(
                image, cax=figure.add_subplot(grid[first + len(self.panels)]), ticks=(-1, -0.5, 0, 0.5, 1)
            )
            bar.outline.set_linewidth(0.6)
            if self.classes is not None:
                legend = figure.legend(*axes.get_legend_handles_labels(), loc="lower left", ncols=2, handletextpad=0.1)
                for text in legend.get_texts():
                    text.set_parse_math(False)
        return figure

    def _page(self, make: Any) -> tuple["Figure", "GridSpec"]:
        """An empty figure and the places of its panels; axes with numbers need a space of their own."""
        parts, panels = bool(self.parts), (1,) * len(self.panels)
        if self.names is None:
            figure = make(figsize=(9.6, 2.43))
            return figure, figure.add_gridspec(
                1, len(panels) + parts + 1, width_ratios=(*(1,) * parts, *panels, 0.05), **_MARGINS
            )
        width = 0.6 + 2.4 * (len(panels) + parts) + 0.45 * parts
        margins = {"left": 0.08 / width if parts else 0.6 / width, "right": 0.955, "bottom": 0.23, "top": 0.92}
        figure = make(figsize=(width, 2.95))
        return figure, figure.add_gridspec(
            1, len(panels) + 2 * parts + 1, width_ratios=(*(1, 0.16) * parts, *panels, 0.05), wspace=0.08, **margins
        )

    def _draw_parts(self, figure: "Figure", place: "SubplotSpec", letter: str) -> None:
        title = figure.add_subplot(place)  # an empty square, for a title at the height of the other panels'
        title.set_axis_off()
        title.set_box_aspect(1)
        label_panel(title, letter, "$P_1(x)[s] \\cdot H[s]$")
        inner = place.subgridspec(2, 2, wspace=0.04, hspace=0.04)
        for index, (label, values) in enumerate(self.parts):
            axes = figure.add_subplot(inner[divmod(index, 2)])
            self._map(axes, values)
            axes.text(0.05, 0.05, label, transform=axes.transAxes, fontsize=7, bbox=_PAPER, va="bottom")

    def _map(self, axes: "Axes", values: Floats) -> "AxesImage":
        # The paper's plane has no units; columns have their own, and the panel is a square all the same.
        aspect = {} if self.names is None else {"aspect": "auto"}
        image = axes.imshow(
            values,
            extent=self.extent,
            origin="lower",
            cmap=diverging(),
            vmin=-1,
            vmax=1,
            **aspect,  # type: ignore[arg-type]
        )
        if self.names is not None:
            axes.set_box_aspect(1)
        axes.set(xticks=[], yticks=[])
        axes.grid(visible=False)
        for spine in axes.spines.values():
            spine.set_visible(True)
        return image

    def _scatter(self, axes: "Axes") -> None:
        for label, marker in ((-1, "s"), (1, "o")):
            x_1, x_2 = self.points[self.signs == label].T
            named: dict[str, Any] = {} if self.classes is None else {"label": drawable(self.classes[label > 0], 24)}
            axes.scatter(x_1, x_2, s=11, marker=marker, color=_DARK[label], edgecolors="white", linewidths=0.5, **named)

    def _name_axes(self, axes: "Axes", *, first: bool) -> None:
        from matplotlib.ticker import MaxNLocator

        assert self.names is not None
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.set_xlabel(drawable(self.names[0], 28), parse_math=False)
        if first:
            axes.yaxis.set_major_locator(MaxNLocator(5))
            axes.set_ylabel(drawable(self.names[1], 28), parse_math=False)


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
    X, y, H = np.asarray(X, np.float64), np.asarray(y), np.asarray(H, np.float64)
    reach = 1.15 * np.abs(X).max()
    side = np.linspace(-reach, reach, resolution)
    plane = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    W, b = np.asarray(W_1, np.float64), np.asarray(b_1, np.float64)
    parts = (region_probabilities(W, b, plane) * H).T.reshape(len(H), resolution, resolution)
    F = parts.sum(0)
    decision = np.asarray(predict(plane), np.float64).reshape(F.shape)
    named = [(f"$s$ = ({s[0]}, {s[1]})", part) for part, s in zip(parts, product("−+", repeat=2), strict=True)]
    panels = [(_EXPECTED, F), (_VOTE, np.where(F >= 0, 1.0, -1.0)), ("MAP network", decision)]
    return Plane(side, side, named, panels, X, y).draw()


_EXPECTED, _VOTE = "expected output $F_A$", r"vote $\mathrm{sgn}\,F_A$"


def plane_figure(model: Model | FittedClassifier, X: Any, y: Any = None, *, resolution: int = 150) -> "Figure":
    """Draw what a model of two columns of numbers says over the plane, in the columns' own units.

    Two classes: (a) the regions that hold the most of the plane, each with its share of the output; (b) F; (c) the
    vote; (d) the expected output of the most probable regions. Models without regions have (b) and (c). Several
    classes: each class's share of the vote.

    Parameters
    ----------
    model : Model or fitted classifier
    X : table or array
        Rows that say which part of the plane is drawn, and that are drawn in it (200 of them at the most).
    y : array, optional
        Their labels; by default those that the model predicts.
    resolution : int
        Points on each side of the grid.

    Raises
    ------
    ValueError
        If the model has other than two columns, or one that does not hold numbers.
    """
    model = model_of(model)
    names, numbers = _two_columns(model, X)
    kept = np.isfinite(numbers).all(axis=1)
    if not kept.any():
        raise ValueError("no row has a number in both columns: nothing says which part of the plane to draw.")
    values = numbers[kept]
    codes = model.labels.encode(y if y is not None else model.predict(X))[kept]
    low, high = values.min(axis=0), values.max(axis=0)
    margin = np.where(high > low, 0.08 * (high - low), 1.0)
    x, y_side = (np.linspace(low[i] - margin[i], high[i] + margin[i], resolution) for i in range(2))
    grid = np.stack(np.meshgrid(x, y_side), -1).reshape(-1, 2)
    inputs = as_read(model.prepare(_as_rows(model, names, grid)), model.n_inputs)
    scores = model.predictor.scores(inputs)
    some = np.sort(np.random.default_rng(0).permutation(len(values))[:MOST_POINTS])
    shape = (resolution, resolution)
    if scores.ndim == 2:
        return _classes_figure(model, x, y_side, scores, values[some], codes[some], names)
    F = scores.reshape(shape)
    parts, probable = _region_maps(model, inputs, shape)
    panels = [(_EXPECTED, F), (_VOTE, np.where(F >= 0, 1.0, -1.0)), *probable]
    signs = np.where(codes[some] > 0, 1, -1)
    first, second = model.labels.names
    return Plane(x, y_side, parts, panels, values[some], signs, (names[0], names[1]), (first, second)).draw()


def _two_columns(model: Model, X: Any) -> tuple[tuple[str, ...], Floats]:
    """Names of the two columns, and their numbers in X."""
    layout, columns = column_layout(model), model.preparation.columns
    if len(layout.names) != 2 or not layout.original:
        raise ValueError(f"only a model of two columns is drawn over the plane; this one has {len(layout.names)}.")
    if columns:
        table, numeric = as_table(X), [column for column in columns if isinstance(column, NumericColumn)]
        if len(numeric) < 2:
            raise ValueError("only columns of numbers are drawn over the plane; this model has another kind.")
        return layout.names, np.column_stack([column.raw(table) + column.form.offset for column in numeric])
    matrix = dense(model.in_order(X)).astype(np.float64)
    if matrix.shape[1] != 2:
        raise ValueError(f"the rows have {matrix.shape[1]} columns, of which the model uses two; give these alone.")
    return layout.names, matrix


def _as_rows(model: Model, names: tuple[str, ...], points: Floats) -> Any:
    """Points of the plane as rows that the model takes."""
    return dict(zip(names, points.T, strict=True)) if model.preparation.by_name else points


def _region_maps(
    model: Model, inputs: Floats, shape: tuple[int, int]
) -> tuple[list[tuple[str, Floats]], list[tuple[str, Floats]]]:
    """The four regions that hold the most of the plane, and what the most probable regions say."""
    table = region_table(model.predictor)
    if table is None or len(inputs) * table.H[..., 0].size > 2**26:
        return [], []
    P = np.concatenate([block for _, block in table.blocks(inputs)])
    mass = P.mean(axis=0)
    top = np.argsort(-mass, axis=None, kind="stable")[:4]
    parts = []
    for m, s in sorted(zip(*np.unravel_index(top, mass.shape), strict=True)):
        word = "".join("+" if sign > 0 else "−" for sign in table.signs[s])
        member = "" if table.n_members == 1 else f"{m + 1}: "
        parts.append((f"{member}{word}", (P[:, m, s] * table.H[m, s, 0]).reshape(shape)))
    best = P.argmax(axis=2)
    said = np.mean([table.H[m, best[:, m], 0] for m in range(table.n_members)], axis=0)
    return parts, [("most probable regions", said.reshape(shape))]


def _classes_figure(
    model: Model, x: Floats, y: Floats, scores: Floats, points: Floats, codes: NDArray[np.intp],
    names: tuple[str, ...],
) -> "Figure":  # fmt: skip
    """A panel for each of the first classes with its share of the vote, and one with the vote."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
    from matplotlib.figure import Figure

    colours = [OKABE_ITO[name] for name in ("vermillion", "blue", "green", "orange", "purple", "sky", "grey", "yellow")]
    K, classes, shape = scores.shape[1], model.labels.names, (len(y), len(x))
    extent, count = (float(x[0]), float(x[-1]), float(y[0]), float(y[-1])), min(K, MOST_CLASSES)
    with styled():
        figure = Figure(figsize=(0.4 + 2.3 * (count + 1), 2.75), layout="constrained")
        panels = figure.subplots(1, count + 1, sharey=True)
        for c, axes in enumerate(panels[:count]):
            colour = LinearSegmentedColormap.from_list("share", ["#FFFFFF", colours[c % len(colours)]])
            axes.imshow(scores[:, c].reshape(shape), extent=extent, origin="lower", cmap=colour, vmin=0, vmax=1,
                        aspect="auto")  # fmt: skip
            axes.set_title(drawable(f"share of {classes[c]}", 24), loc="left", parse_math=False)
        vote = winners(scores).reshape(shape) % len(colours)
        panels[-1].imshow(vote, extent=extent, origin="lower", cmap=ListedColormap(colours), vmin=-0.5,
                          vmax=len(colours) - 0.5, aspect="auto", alpha=0.55, interpolation="nearest")  # fmt: skip
        panels[-1].set_title("vote", loc="left")
        for axes in panels:
            axes.grid(visible=False)
            axes.set_box_aspect(1)
            for c in range(K):
                at = points[codes == c]
                axes.scatter(*at.T, s=11, marker=_MARKERS[c % len(_MARKERS)], color=colours[c % len(colours)],
                             edgecolors="black", linewidths=0.5)  # fmt: skip
            axes.set_xlabel(drawable(names[0], 28), parse_math=False)
        panels[0].set_ylabel(drawable(names[1], 28), parse_math=False)
    return figure
