"""Tables and arrays made ready for a network, by maps that are stored as plain numbers and text.

The stored forms transform with NumPy (and pandas, for tables) alone; scikit-learn loads with `TablePreparation` only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from abnet.data.preparation.stored import (
    StoredPreparation,
    preparation_from_dict,
    preparation_to_dict,
    stored_form,
)

if TYPE_CHECKING:
    from abnet.data.preparation.scaling import MinMaxMap, StandardMap
    from abnet.data.preparation.table import TablePreparation
    from abnet.data.preparation.table_map import TableMap
    from abnet.data.preparation.thermometer_map import ThermometerMap
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

_HOMES = {
    "MinMaxMap": "scaling",
    "StandardMap": "scaling",
    "TableMap": "table_map",
    "TablePreparation": "table",
    "ThermometerMap": "thermometer_map",
    "Unseen": "unseen",
    "UnseenWarning": "unseen",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"abnet.data.preparation.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'abnet.data.preparation' has no attribute {name!r}")
