"""Preparations to and from plain values, for model files."""

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["StoredPreparation", "preparation_from_dict", "preparation_to_dict", "stored_form"]


class StoredPreparation(Protocol):
    """A fitted preparation of plain values: a map of a table, a scaling, codes, or both side by side."""

    @property
    def n_features_in(self) -> int:
        """Number of columns taken."""

    @property
    def n_features_out(self) -> int:
        """Number of features made of a row."""

    def transform(self, X: Any) -> Any:
        """Features of every row."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""


def stored_form(transformer: Any) -> StoredPreparation:
    """The plain form of a fitted transformer: the same map, bit for bit, without scikit-learn.

    Parameters
    ----------
    transformer : TablePreparation, StandardScaler, MinMaxScaler, ThermometerCodes, or a stored form (returned as it is)

    Raises
    ------
    ValueError
        For any other type, since only plain numbers and text go into a model file, never a pickle.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> stored_form(StandardScaler().fit([[0.0], [2.0]]))
    StandardMap(mean=(1.0,), scale=(1.0,))
    """
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.utils.validation import check_is_fitted

    from abnet.data.preparation.coded import CodedMap
    from abnet.data.preparation.scaling import MinMaxMap, StandardMap
    from abnet.data.preparation.table import TablePreparation
    from abnet.data.preparation.table_map import TableMap
    from abnet.data.preparation.thermometer import ThermometerCodes
    from abnet.data.preparation.thermometer_map import ThermometerMap

    if isinstance(transformer, (TableMap, StandardMap, MinMaxMap, ThermometerMap, CodedMap)):
        return transformer
    plain: dict[type, Callable[[Any], StoredPreparation]] = {
        TablePreparation: lambda fitted: fitted.map_,
        StandardScaler: StandardMap.from_scaler,
        MinMaxScaler: MinMaxMap.from_scaler,
        ThermometerCodes: ThermometerMap.from_codes,
    }
    if type(transformer) not in plain:  # a subclass may compute otherwise
        raise ValueError(
            f"a preprocessor of type {type(transformer).__name__} cannot be stored in a model file; "
            f"supported are {', '.join(kind.__name__ for kind in plain)}."
        )
    check_is_fitted(transformer)
    return plain[type(transformer)](transformer)


def preparation_to_dict(transformer: Any) -> dict[str, Any]:
    """Plain values of a fitted transformer, ready for JSON; raises as `stored_form` does."""
    return stored_form(transformer).to_dict()


def preparation_from_dict(record: Any) -> StoredPreparation:
    """The preparation stored in a record by `preparation_to_dict`.

    Raises
    ------
    ValueError
        If the record is not exactly as it would have been written: unknown kind, missing or further keys, wrong types,
        numbers that are not finite.
    """
    kind = record.get("kind") if isinstance(record, dict) else None
    if kind == "table":
        from abnet.data.preparation.table_map import TableMap

        return TableMap.from_dict(record)
    from abnet.data.preparation.coded import CodedMap
    from abnet.data.preparation.scaling import MinMaxMap, StandardMap
    from abnet.data.preparation.thermometer_map import ThermometerMap

    maps: dict[Any, Any] = {
        "standard": StandardMap, "minmax": MinMaxMap, "thermometer": ThermometerMap, "coded": CodedMap,
    }  # fmt: skip
    if not isinstance(kind, str) or kind not in maps:
        raise ValueError(
            f"stored preparation: unknown kind {str(kind)[:60]!r}; this release reads table, {', '.join(maps)}."
        )
    found: StoredPreparation = maps[kind].from_dict(record)
    return found
