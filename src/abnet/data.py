"""An alias for the data sets of `abnet.paper`: ``abnet.data.load("mnist17")``."""

from abnet.paper.datasets import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
