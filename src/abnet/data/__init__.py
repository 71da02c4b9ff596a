"""Named data sets, tables from files, and their preparation for a network.

`load` and `fingerprint` need NumPy alone; `abnet.data.tables` (Polars, once a file is read) and
`abnet.data.preparation` load on first use.
"""

from abnet.data.fingerprint import fingerprint
from abnet.data.named import Dataset, load, names
from abnet.lazy import lazy_names

__all__ = ["Dataset", "fingerprint", "load", "names", "preparation", "tables"]


__getattr__, __dir__ = lazy_names(__name__, {"abnet.data.preparation": [], "abnet.data.tables": []})
