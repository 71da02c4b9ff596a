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
    """A fitted transformer as a preparation: the same map of float64, and without scikit-learn where we know it.

    Parameters
    ----------
    transformer : fitted transformer, Preparation (returned as it is) or None
    n_features : int
        Number of features made of a row, where the transformer is None or of a type that we do not know.

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
    # After that: what a file holds is exported without scikit-learn.
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.utils.validation import check_is_fitted

    from abnet.tables.preparation.foreign import Foreign
    from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
    from abnet.tables.preparation.thermometer import ThermometerMap
    from abnet.tables.preparation.transformers import PlainNumbers, TablePreparation, ThermometerCodes

    made = {
        TablePreparation: lambda fitted: fitted.map_,
        PlainNumbers: lambda fitted: fitted.map_,
        StandardScaler: StandardMap.from_scaler,
        MinMaxScaler: MinMaxMap.from_scaler,
        ThermometerCodes: ThermometerMap.from_codes,
    }.get(type(transformer))  # a subclass may compute otherwise
    if made is None:
        return Foreign(transformer, n_features, isinstance(transformer, TablePreparation))
    check_is_fitted(transformer)
    found: Preparation = made(transformer)
    return found


def preparation_to_dict(transformer: Any) -> Any:
    """Plain values of a preparation or a fitted transformer, ready for JSON; None where rows stay as they are.

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
    return None if isinstance(preparation, Unprepared) else _lists(msgspec.to_builtins(preparation))


def _lists(value: Any) -> Any:
    """Tuples as the lists that JSON has."""
    if isinstance(value, dict):
        return {key: _lists(part) for key, part in value.items()}
    return [_lists(part) for part in value] if isinstance(value, list | tuple) else value


def preparation_from_dict(record: Any) -> Preparation:
    """The preparation stored in a record by `preparation_to_dict`.

    Raises
    ------
    ValueError
        If the record is not exactly as it would have been written: unknown kind, missing or further keys, wrong types,
        numbers that are not finite.
    """
    try:
        found = _opened(record)
        if preparation_to_dict(found) != record:
            raise ValueError("keys are missing that a preparation is written with")
        return found
    except ValueError as error:  # as msgspec's are
        raise ValueError(f"stored preparation: {error}.") from error


def _opened(record: Any) -> Preparation:
    from abnet.tables.columns import KINDS
    from abnet.tables.preparation.coded import CodedMap
    from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
    from abnet.tables.preparation.table_map import TableMap
    from abnet.tables.preparation.thermometer import ThermometerMap

    maps: dict[Any, Any] = {
        "table": TableMap, "standard": StandardMap, "minmax": MinMaxMap, "thermometer": ThermometerMap,
        "coded": CodedMap,
    }  # fmt: skip
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in maps:
        raise ValueError(f"unknown kind {str(kind)[:60]!r}; this release reads {', '.join(maps)}")
    if kind == "coded" and "base" in record:
        record = {**record, "base": _opened(record["base"])}
    if kind == "table" and "columns" in record:
        kinds: Any = reduce(or_, KINDS.values())  # they are registered: no type lists them all
        record = {**record, "columns": msgspec.convert(record["columns"], tuple[kinds, ...])}
    found: Preparation = msgspec.convert(record, maps[kind])
    return found
