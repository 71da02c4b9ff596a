"""The figures, drawn from stored runs and CSV files, as PNG and SVG."""

from abnet.experiments.figures.architecture import architecture_figure
from abnet.experiments.figures.depth import DepthPoint, depth_figure, depth_points
from abnet.experiments.figures.regions import regions_figure
from abnet.experiments.figures.style import save
from abnet.experiments.figures.timing import Timing, timing_figure

__all__ = [
    "DepthPoint",
    "Timing",
    "architecture_figure",
    "depth_figure",
    "depth_points",
    "regions_figure",
    "save",
    "timing_figure",
]
