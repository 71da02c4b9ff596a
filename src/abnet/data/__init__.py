"""Tables from files, their preparation for a network, and fingerprints of rows.

`fingerprint` needs NumPy alone; `abnet.data.tables` (Polars, once a file is read) and `abnet.data.preparation` load on
first use. `load`, `names` and `Dataset` are those of `abnet.paper`.
"""

from typing import TYPE_CHECKING

from abnet.data.fingerprint import fingerprint
from abnet.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.paper.datasets import Dataset, load, names

__all__ = ["Dataset", "fingerprint", "load", "names", "preparation", "tables"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.data.preparation": [],
        "abnet.data.tables": [],
        "abnet.paper.datasets": ["Dataset", "load", "names"],
    },
)
