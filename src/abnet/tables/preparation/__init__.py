"""Prepare tables and arrays for a network, with maps that are stored as plain numbers and text.

The stored maps need only NumPy, for tables of any library; scikit-learn is imported only with `TablePreparation`.
"""

from typing import TYPE_CHECKING

from abnet.tables.preparation.plain_values import as_preparation, preparation_from_dict, preparation_to_dict
from abnet.tables.preparation.preparation import Preparation
from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.tables.preparation.coded import CodedMap
    from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
    from abnet.tables.preparation.table_map import TableMap
    from abnet.tables.preparation.table_preparation import TablePreparation
    from abnet.tables.preparation.thermometer_map import ThermometerMap
    from abnet.tables.unseen import Unseen, UnseenWarning

__all__ = [
    "CodedMap",
    "MinMaxMap",
    "Preparation",
    "StandardMap",
    "TableMap",
    "TablePreparation",
    "ThermometerMap",
    "Unseen",
    "UnseenWarning",
    "as_preparation",
    "preparation_from_dict",
    "preparation_to_dict",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.tables.preparation.scalers": ["MinMaxMap", "StandardMap"],
        "abnet.tables.preparation.table_preparation": ["TablePreparation"],
        "abnet.tables.preparation.table_map": ["TableMap"],
        "abnet.tables.preparation.coded": ["CodedMap"],
        "abnet.tables.preparation.thermometer_map": ["ThermometerMap"],
        "abnet.tables.unseen": ["Unseen", "UnseenWarning"],
    },
)
