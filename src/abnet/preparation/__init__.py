"""Prepare tables and arrays for a network, with maps that are stored as plain numbers and text.

The stored maps need only NumPy, for tables of any library; scikit-learn is imported only with `TablePreparation`.
"""

from typing import TYPE_CHECKING

from abnet.lazy import lazy_names
from abnet.preparation.plain_values import as_preparation, preparation_from_dict, preparation_to_dict
from abnet.preparation.preparation import Preparation

if TYPE_CHECKING:
    from abnet.preparation.coded import CodedMap
    from abnet.preparation.scalers import MinMaxMap, StandardMap
    from abnet.preparation.table_map import TableMap
    from abnet.preparation.thermometer import ThermometerMap
    from abnet.preparation.transformers import TablePreparation
    from abnet.preparation.unseen import Unseen, UnseenWarning

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
        "abnet.preparation.scalers": ["MinMaxMap", "StandardMap"],
        "abnet.preparation.transformers": ["TablePreparation"],
        "abnet.preparation.table_map": ["TableMap"],
        "abnet.preparation.coded": ["CodedMap"],
        "abnet.preparation.thermometer": ["ThermometerMap"],
        "abnet.preparation.unseen": ["Unseen", "UnseenWarning"],
    },
)
