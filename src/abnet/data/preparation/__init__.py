"""Tables and arrays made ready for a network, by maps that are stored as plain numbers and text.

The stored forms transform with NumPy alone, whatever library a table comes in; scikit-learn loads with
`TablePreparation` only.
"""

from typing import TYPE_CHECKING

from abnet.data.preparation.coded import (
    StoredPreparation,
    preparation_from_dict,
    preparation_to_dict,
    stored_form,
)
from abnet.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.data.preparation.coded import ThermometerMap
    from abnet.data.preparation.scalers import MinMaxMap, StandardMap
    from abnet.data.preparation.table_map import TableMap
    from abnet.data.preparation.transformers import TablePreparation
    from abnet.data.preparation.unseen import Unseen, UnseenWarning

__all__ = [
    "MinMaxMap",
    "StandardMap",
    "StoredPreparation",
    "TableMap",
    "TablePreparation",
    "ThermometerMap",
    "Unseen",
    "UnseenWarning",
    "preparation_from_dict",
    "preparation_to_dict",
    "stored_form",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.data.preparation.scalers": ["MinMaxMap", "StandardMap"],
        "abnet.data.preparation.transformers": ["TablePreparation"],
        "abnet.data.preparation.table_map": ["TableMap"],
        "abnet.data.preparation.coded": ["ThermometerMap"],
        "abnet.data.preparation.unseen": ["Unseen", "UnseenWarning"],
    },
)
