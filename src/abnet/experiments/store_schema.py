"""The file format of the run store: tables, version, and the checks on opening."""

import sqlite3
import time
from pathlib import Path

__all__ = ["StoreError", "connect"]


APPLICATION_ID = 0x41424E74  # "ABNt": tells our files from other SQLite files

SCHEMA_VERSION = 1

_TABLES = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    hidden_layer_sizes TEXT NOT NULL,
    learning_rate REAL,
    repetition INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    numerics_version INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    error TEXT,
    train_error REAL,
    test_error REAL,
    map_test_error REAL,
    epochs INTEGER,
    best_epoch INTEGER,
    seconds REAL,
    bound REAL,
    kl REAL,
    C REAL,
    train_loss REAL,
    test_loss REAL,
    validation_error REAL,
    validation_loss REAL,
    curve BLOB,
    machine TEXT NOT NULL,
    provenance TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX runs_by_cell ON runs (dataset, model, status);
CREATE TABLE owners (
    id TEXT PRIMARY KEY,
    pid INTEGER NOT NULL,
    place TEXT NOT NULL,
    started TEXT NOT NULL,
    heartbeat REAL NOT NULL
);
CREATE TABLE claims (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES owners (id) ON DELETE CASCADE
);
"""


class StoreError(ValueError):
    """A run store that cannot be opened: absent, not a run store, damaged, or of another version."""


def connect(path: Path, *, create: bool = True) -> sqlite3.Connection:
    """Open the run store at `path`, making it if it is not there and `create` is true.

    Write-ahead logging with full synchronisation: a process killed at any moment leaves the file whole, with every
    committed transaction in it.

    Raises
    ------
    StoreError
        If the file is absent, is not a run store, is damaged or comes from another version.
    """
    if not create and not path.exists():
        raise StoreError(f"there is no run store at {path}; a sweep makes one")
    if not path.parent.is_dir():
        raise StoreError(f"the folder of the run store {path} does not exist; make it or choose another path")
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
        _prepare(connection, path)
    except sqlite3.Error as error:
        _close(connection)
        raise StoreError(
            f"{path} cannot be used as a run store ({error}); if it is a damaged store, restore it from a backup or "
            "recover it with `sqlite3 FILE .recover`, else choose another path"
        ) from error
    except BaseException:
        _close(connection)
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Check the file and bring it into shape, under a lock, so that two processes can open a new store at once."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _check_or_make(connection, path)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    _use_write_ahead_log(connection)


def _check_or_make(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables == 0 and application == 0:
        for statement in filter(str.strip, _TABLES.split(";")):  # executescript would commit the transaction
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif application != APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite file of another program, not a run store; choose another path")
    elif version != SCHEMA_VERSION:
        raise StoreError(
            f"{path} is a run store of format {version}, this version of abnet reads format {SCHEMA_VERSION}; "
            "use the version that wrote it, or start a new store"
        )
    else:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)


def _use_write_ahead_log(connection: sqlite3.Connection, *, patience: float = 60.0) -> None:
    """Switch to write-ahead logging; SQLite does not wait for the lock of this switch by itself."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _close(connection: sqlite3.Connection | None) -> None:
    if connection is not None:
        connection.close()
