"""Named data sets, tables from files, and their preparation for a network.

`load` and `fingerprint` need NumPy alone; `abnet.data.tables` (pandas) and `abnet.data.preparation` load on first use.
"""

from importlib import import_module
from typing import Any

from abnet.data.dataset import Dataset
from abnet.data.fingerprint import fingerprint
from abnet.data.named import load, names

__all__ = ["Dataset", "fingerprint", "load", "names", "preparation", "tables"]


def __getattr__(name: str) -> Any:
    if name in ("preparation", "tables"):
        return import_module(f"abnet.data.{name}")
    raise AttributeError(f"module 'abnet.data' has no attribute {name!r}")
