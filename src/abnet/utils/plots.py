"""Shared settings of all figures: a colour-blind safe palette, fonts, text, reproducible files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.utils.atomic import atomic_path
from abnet.utils.wording import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

__all__ = ["LOWERS", "OKABE_ITO", "RAISES", "diverging", "drawable", "label_panel", "save_figure", "styled"]

OKABE_ITO = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#7F7F7F",
}
"""The palette of Okabe and Ito, and a grey for what is secondary."""

RAISES = "#FF0051"
"""SHAP's colour for contributions that raise a prediction."""

LOWERS = "#008BFB"
"""SHAP's colour for contributions that lower a prediction."""

_SETTINGS: dict[str, object] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that all machines draw the same
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "abnet",  # otherwise the identifiers inside an SVG file are random
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw the figures of a block with the settings of this module; the user's own are restored afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
        yield


def save_figure(figure: "Figure", stem: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write `stem`.png and `stem`.svg, without date or version inside, and return their paths.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from matplotlib.figure import Figure
    >>> [path.name for path in save_figure(Figure(), Path(mkdtemp()) / "fig1")]
    ['fig1.png', 'fig1.svg']
    """
    stem = Path(stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    png = stem.with_name(f"{stem.name}.png")
    svg = stem.with_name(f"{stem.name}.svg")
    with styled(), atomic_path(png) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})
    with styled(), atomic_path(svg) as temporary:
        figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
    return png, svg


def drawable(text: str, most: int = 40) -> str:
    """User text for a figure: shortened, with a replacement mark for characters that the font does not have.

    Draw it with ``parse_math=False``, so that dollar signs do not start a formula.

    Examples
    --------
    >>> drawable("größe"), drawable("n" * 300, 10), drawable("a\\n\u6f22")
    ('größe', 'nnnnnnnnn…', 'a��')
    """
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = FontProperties(family=str(_SETTINGS["font.family"]))
    known = get_font(findfont(font)).get_charmap()
    characters = []
    for character in shortened(text, most):
        if character.isprintable() and ord(character) in known:
            characters.append(character)
        else:
            characters.append("\N{REPLACEMENT CHARACTER}")
    return "".join(characters)


def label_panel(axes: "Axes", letter: str, title: str) -> None:
    """Set the title "(a) title", flush left."""
    axes.set_title(f"({letter}) {title}", loc="left")


def diverging() -> "LinearSegmentedColormap":
    """Return the colour map from vermillion (-1) through white (0) to blue (+1)."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("abnet", [OKABE_ITO["vermillion"], "#FFFFFF", OKABE_ITO["blue"]])
