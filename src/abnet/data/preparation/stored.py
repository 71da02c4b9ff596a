"""Preparations to and from plain values, for model files."""

from typing import Any, Protocol

__all__ = ["StoredPreparation", "preparation_from_dict", "preparation_to_dict", "stored_form"]


class StoredPreparation(Protocol):
    """A fitted preparation of plain values: `TableMap`, `StandardMap` or `MinMaxMap`."""

    def transform(self, X: Any) -> Any:
        """Features of every row."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""


def stored_form(transformer: Any) -> StoredPreparation:
    """The plain form of a fitted transformer: the same map, bit for bit, without scikit-learn.

    Parameters
    ----------
    transformer : TablePreparation, StandardScaler, MinMaxScaler, or a stored form (returned as it is)

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

    from abnet.data.preparation.scaling import MinMaxMap, StandardMap
    from abnet.data.preparation.table import TablePreparation
    from abnet.data.preparation.table_map import TableMap

    if isinstance(transformer, (TableMap, StandardMap, MinMaxMap)):
        return transformer
    if type(transformer) not in (TablePreparation, StandardScaler, MinMaxScaler):  # a subclass may compute otherwise
        raise ValueError(
            f"a preprocessor of type {type(transformer).__name__} cannot be stored in a model file; "
            "supported are TablePreparation, StandardScaler and MinMaxScaler."
        )
    check_is_fitted(transformer)
    if isinstance(transformer, StandardScaler):
        return StandardMap.from_scaler(transformer)
    return MinMaxMap.from_scaler(transformer) if isinstance(transformer, MinMaxScaler) else transformer.map_


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
    from abnet.data.preparation.scaling import MinMaxMap, StandardMap

    if kind == "standard":
        return StandardMap.from_dict(record)
    if kind == "minmax":
        return MinMaxMap.from_dict(record)
    raise ValueError(
        f"stored preparation: unknown kind {str(kind)[:60]!r}; this release reads table, standard, minmax."
    )
