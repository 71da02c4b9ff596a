"""The figures, drawn from stored runs and CSV files, as PNG and SVG."""

from abnet.experiments.figures.architecture import architecture_figure
from abnet.experiments.figures.depth import DepthPoint, depth_figure, depth_points
from abnet.experiments.figures.timing import Timing, timing_figure
from abnet.explanation.plane import regions_figure
from abnet.plots import save

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
