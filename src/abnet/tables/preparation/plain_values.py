"""Fitted transformers as preparations, and preparations as plain values: a model file never holds a pickle."""

from functools import reduce
from operator import or_
from typing import Any

import msgspec

from abnet.tables.preparation.preparation import Preparation, Unprepared

__all__ = ["SUPPORTED", "as_preparation", "preparation_from_dict", "preparation_to_dict"]

SUPPORTED = ("TablePreparation", "StandardScaler", "MinMaxScaler", "ThermometerCodes", "PlainNumbers")
"""Transformers that have a form of plain values."""


def as_preparation(transformer: Any, n_features: int = 0) -> Preparation:
    """A fitted transformer as a preparation: the same map of float64, without scikit-learn if its type is known.

    Parameters
    ----------
    transformer : fitted transformer, Preparation (returned as it is) or None
    n_features : int
        Number of features made of a row, if the transformer is None or of an unknown type.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> as_preparation(StandardScaler().fit([[0.0], [2.0]]))
    StandardMap(mean=(1.0,), scale=(1.0,))
    >>> as_preparation(None, 3)
    Unprepared(n_columns=3)
    """
    if isinstance(transformer, Preparation):
        return transformer
    if transformer is None:
        return Unprepared(n_features)
    # Not imported above: a preparation from a file needs no scikit-learn.
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.utils.validation import check_is_fitted

    from abnet.tables.preparation.foreign import Foreign
    from abnet.tables.preparation.plain_numbers import PlainNumbers
    from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
    from abnet.tables.preparation.table_preparation import TablePreparation
    from abnet.tables.preparation.thermometer_codes import ThermometerCodes
    from abnet.tables.preparation.thermometer_map import ThermometerMap

    conversions = {
        TablePreparation: lambda fitted: fitted.map_,
        PlainNumbers: lambda fitted: fitted.map_,
        StandardScaler: StandardMap.from_scaler,
        MinMaxScaler: MinMaxMap.from_scaler,
        ThermometerCodes: ThermometerMap.from_codes,
    }
    convert = conversions.get(type(transformer))  # not of a base class: a subclass may compute something else
    if convert is None:
        return Foreign(transformer, n_features, isinstance(transformer, TablePreparation))
    check_is_fitted(transformer)
    preparation: Preparation = convert(transformer)
    return preparation


def preparation_to_dict(transformer: Any) -> Any:
    """Plain values of a preparation or a fitted transformer, ready for JSON; None if rows are not prepared.

    Raises
    ------
    ValueError
        If it is of a type that cannot be stored.

    Examples
    --------
    >>> from abnet.tables.preparation import ThermometerMap
    >>> preparation_to_dict(ThermometerMap(((0.5,),)))
    {'kind': 'thermometer', 'thresholds': [[0.5]]}
    """
    preparation = as_preparation(transformer)
    if preparation.why_not_stored:
        raise ValueError(preparation.why_not_stored)
    if isinstance(preparation, Unprepared):
        return None
    return _lists(msgspec.to_builtins(preparation))


def _lists(value: Any) -> Any:
    """Values with lists in place of tuples, as in JSON."""
    if isinstance(value, dict):
        return {key: _lists(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_lists(part) for part in value]
    return value


def preparation_from_dict(record: Any) -> Preparation:
    """The preparation stored in a record by `preparation_to_dict`.

    Raises
    ------
    ValueError
        If the record is not exactly as it would have been written: unknown kind, missing or further keys, wrong types,
        numbers that are not finite.
    """
    try:
        preparation = _converted(record)
        if preparation_to_dict(preparation) != record:
            raise ValueError("keys are missing that a preparation is written with")
        return preparation
    except ValueError as error:  # errors of msgspec are ValueErrors, too
        raise ValueError(f"stored preparation: {error}.") from error


def _converted(record: Any) -> Preparation:
    from abnet.tables.columns import KINDS
    from abnet.tables.preparation.coded import CodedMap
    from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
    from abnet.tables.preparation.table_map import TableMap
    from abnet.tables.preparation.thermometer_map import ThermometerMap

    maps: dict[Any, Any] = {
        "table": TableMap,
        "standard": StandardMap,
        "minmax": MinMaxMap,
        "thermometer": ThermometerMap,
        "coded": CodedMap,
    }
    kind = None
    if isinstance(record, dict):
        kind = record.get("kind")
    if not isinstance(kind, str) or kind not in maps:
        raise ValueError(f"unknown kind {str(kind)[:60]!r}; this release reads {', '.join(maps)}")
    if kind == "coded" and "base" in record:
        record = {**record, "base": _converted(record["base"])}
    if kind == "table" and "columns" in record:
        kinds: Any = reduce(or_, KINDS.values())  # kinds of columns register themselves
        record = {**record, "columns": msgspec.convert(record["columns"], tuple[kinds, ...])}
    preparation: Preparation = msgspec.convert(record, maps[kind])
    return preparation
