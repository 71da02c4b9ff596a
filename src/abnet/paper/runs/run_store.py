"""The run store: one SQLite file with one table and one row per finished run, used by one process at a time."""

import json
import math
import os
import sqlite3
from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any, Self

from abnet.paper.runs.run_key import definition, key
from abnet.paper.runs.run_result import METRICS, Result
from abnet.paper.runs.run_setting import Setting

__all__ = ["RunStore", "StoreError"]

_COLUMNS = ("key", "settings", *METRICS, "curve")


class StoreError(ValueError):
    """A file that cannot be used as a run store: another kind of file, damaged, or in use by another process."""


class RunStore:
    """Finished runs in a SQLite file, locked for this process until it is closed.

    A run is stored under its key (`abnet.paper.runs.run_key.key`) with everything that the key is made of.

    Parameters
    ----------
    path
        The file.
    create
        Whether to make the file if it does not exist.

    Raises
    ------
    StoreError
        If the file is missing (and not to be made), in use by another process, or not a run store.

    Examples
    --------
    >>> setting = Setting("ads", "EBP", (2,), None, 0)
    >>> result = Result(setting, 0.01, 0.04, 0.05, epochs=30, best_epoch=10, seconds=2.0, fingerprint="f")
    >>> with RunStore(":memory:") as store:
    ...     store.add([result]), store.add([result]), store.results() == [result]
    (1, 0, True)
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"there is no run store at {path}")
        try:
            self._connection = sqlite3.connect(path, timeout=0.5, isolation_level=None)
        except sqlite3.OperationalError as error:
            raise StoreError(f"{path} cannot be opened: {error}") from error
        try:
            self._open()
        except sqlite3.Error as error:
            self._connection.close()
            if "locked" in str(error):
                raise StoreError(
                    f"{path} is in use by another process; wait until that one ends, or name another store"
                ) from error
            raise StoreError(f"{path} cannot be used as a run store: {error}") from error

    def _open(self) -> None:
        """Lock the file for as long as the connection is open, and make the table or check it."""
        connection = self._connection
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if not tables:
            columns = ", ".join(("key TEXT PRIMARY KEY", *_COLUMNS[1:]))
            connection.execute(f"CREATE TABLE runs ({columns})")
        elif tuple(row[1] for row in connection.execute("PRAGMA table_info(runs)")) != _COLUMNS:
            raise sqlite3.DatabaseError(f"its tables ({', '.join(tables)}) are not those of this version of abnet")
        connection.execute("COMMIT")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and give up its lock."""
        self._connection.close()

    def keys(self) -> set[str]:
        """Return the keys of all runs in the store."""
        return {row[0] for row in self._connection.execute("SELECT key FROM runs")}

    def results(self) -> list[Result]:
        """Return the runs of the current protocol and numerics, oldest first.

        Where runs on several versions of a data set are stored, those on the version of the newest run count.
        """
        query = f"SELECT {', '.join(_COLUMNS)} FROM runs ORDER BY rowid"
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in self._connection.execute(query)]
        current = []
        for row in rows:
            result = _result(row)
            if result.fingerprint is not None and key(result.setting, result.fingerprint) == row["key"]:
                current.append(result)
        newest = {result.setting.dataset: result.fingerprint for result in current}
        return [result for result in current if result.fingerprint == newest[result.setting.dataset]]

    def add(self, results: Iterable[Result]) -> int:
        """Store results, all or none of them; return how many were not in the store yet.

        Each must have the fingerprint of the data it was trained on. A run that is in the store stays as it is.
        """
        rows = [_row(result) for result in results]
        before = self._connection.total_changes
        self._connection.execute("BEGIN")
        try:
            self._connection.executemany(
                f"INSERT OR IGNORE INTO runs VALUES ({', '.join('?' * len(_COLUMNS))})",
                [[row[name] for name in _COLUMNS] for row in rows],
            )
        except BaseException:  # Ctrl-C too
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return self._connection.total_changes - before


def _row(result: Result) -> dict[str, Any]:
    """The columns of a result."""
    if result.fingerprint is None:
        raise ValueError(f"{result.setting} has no fingerprint of its data")
    curve = {name: [_number(value) for value in values] for name, values in result.curve.items()}
    row: dict[str, Any] = {name: _number(getattr(result, name)) for name in METRICS}
    row["key"] = key(result.setting, result.fingerprint)
    row["settings"] = json.dumps(definition(result.setting, result.fingerprint))
    row["curve"] = json.dumps(curve)
    return row


def _result(row: dict[str, Any]) -> Result:
    """The result in the columns of a row; NaN where SQLite has no value for what is never absent."""
    defined = json.loads(row["settings"])
    sizes = tuple(defined["setting"].pop("hidden_layer_sizes"))
    setting = Setting(hidden_layer_sizes=sizes, **defined["setting"])
    metrics = {name: row[name] for name in METRICS}
    for name in ("train_error", "test_error"):
        metrics[name] = _nan_if_none(metrics[name])
    curve = {}
    for name, values in json.loads(row["curve"]).items():
        curve[name] = [_nan_if_none(value) for value in values]
    return Result(setting, **metrics, curve=curve, fingerprint=defined["fingerprint"])


def _number(value: float | None) -> float | None:
    """Plain number for SQLite, which would store a NumPy integer as bytes; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    if isinstance(value, Integral):
        return int(value)
    return float(value)


def _nan_if_none(value: float | None) -> float:
    if value is None:
        return math.nan
    return value
