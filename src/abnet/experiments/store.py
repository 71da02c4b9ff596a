"""The run store: finished runs in SQLite, and claims that keep two sweeps from doing the same work.

A run is keyed by everything that defines it (`abnet.experiments.protocol`). The results of a group are written in one
transaction, so that a process killed at any moment loses at most the groups in progress.
"""

import json
import math
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self

from abnet.experiments.owners import Owner, describe_machine, is_dead, this_process
from abnet.experiments.protocol import NUMERICS_VERSION, definition, key, key_of_definition
from abnet.experiments.result import METRICS, Result
from abnet.experiments.setting import Setting, SettingGroup
from abnet.experiments.store_schema import StoreError, connect

__all__ = ["Claim", "RunStore", "StoreError", "StoredRun"]

_COLUMNS = (
    "key",
    "dataset",
    "model",
    "hidden_layer_sizes",
    "learning_rate",
    "repetition",
    "fingerprint",
    "numerics_version",
    "status",
    "error",
    *METRICS,
    "machine",
    "provenance",
    "created",
)


@dataclass(frozen=True)
class Claim:
    """The part of a group that this process may run now, with the key of each setting."""

    group: SettingGroup
    keys: tuple[str, ...]
    fingerprint: str
    numerics_version: int


@dataclass(frozen=True)
class StoredRun:
    """A stored run; if it failed, `result` is None and `error` says why. Its curve is read by `RunStore.curve`."""

    key: str
    setting: Setting
    fingerprint: str
    numerics_version: int
    status: Literal["done", "failed"]
    error: str | None
    result: Result | None
    machine: Mapping[str, str | int]
    provenance: Mapping[str, object]
    created: str


class RunStore:
    """Runs in a SQLite file.

    Parameters
    ----------
    path
        The file; made if it is not there.
    create
        Whether a new file may be made.
    lease
        Seconds after which a claim without a heartbeat is free again. A claim whose process is known to be dead is
        free at once.

    Raises
    ------
    StoreError
        If the file is not a run store or cannot be used.

    Examples
    --------
    >>> group = SettingGroup((Setting("ads", "EBP", (2,), None, 0),))
    >>> with RunStore(":memory:") as store:
    ...     claim = store.claim(group, fingerprint="f")
    ...     store.record(claim, [Result(group.settings[0], 0.01, 0.04, 0.05, epochs=30, best_epoch=10, seconds=2.0)])
    ...     store.claim(group, fingerprint="f") is None, store.runs()[0].result.test_error
    (True, 0.04)
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True, lease: float = 60.0) -> None:
        self.path = Path(path)
        self.lease = lease
        self._connection = connect(self.path, create=create)
        self._owner: Owner = this_process()
        self._lock = threading.RLock()  # the heartbeat and joblib's callbacks come from other threads

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims of this process and close the file."""
        with self._lock:
            with self._transaction() as connection:
                connection.execute("DELETE FROM owners WHERE id = ?", (self._owner.id,))
            self._connection.close()

    # Reading

    def finished(self, keys: Sequence[str]) -> set[str]:
        """Return those of the keys whose runs are done."""
        with self._lock:
            return _present(self._connection, "SELECT key FROM runs WHERE status = 'done' AND key IN", keys)

    def runs(self, *, status: Literal["done", "failed"] = "done") -> list[StoredRun]:
        """Return all runs that are done (or have failed), oldest first."""
        query = f"SELECT {', '.join(_COLUMNS)} FROM runs WHERE status = ? ORDER BY rowid"
        with self._lock:
            return [_run(row) for row in self._connection.execute(query, (status,))]

    def curve(self, key: str) -> dict[str, list[float | None]]:
        """Return the figures by epoch of one run; a figure that is not finite is None.

        Raises
        ------
        KeyError
            If no run that is done has this key.
        """
        with self._lock:
            row = self._connection.execute(
                "SELECT curve FROM runs WHERE key = ? AND status = 'done'", (key,)
            ).fetchone()
        if row is None:
            raise KeyError(f"no finished run {key} in {self.path}")
        curve: dict[str, list[float | None]] = json.loads(zlib.decompress(row[0]))
        return curve

    # Claims

    def claim(self, group: SettingGroup, *, fingerprint: str, numerics_version: int = NUMERICS_VERSION) -> Claim | None:
        """Claim the settings of a group that are neither done nor claimed; None if nothing is left of it.

        Claims are per setting, so that sweeps that group differently (other models or rates) do not repeat a run.
        """
        keyed = {key(s, fingerprint, numerics_version): s for s in group.settings}
        with self._lock, self._transaction() as connection:
            self._beat(connection)
            self._drop_stale_owners(connection)
            taken = _present(connection, "SELECT key FROM runs WHERE status = 'done' AND key IN", list(keyed))
            taken |= _present(connection, "SELECT key FROM claims WHERE key IN", list(keyed))
            free = {k: s for k, s in keyed.items() if k not in taken}
            connection.executemany("INSERT INTO claims VALUES (?, ?)", [(k, self._owner.id) for k in free])
        left = group.only(free.values())
        return None if left is None else Claim(left, tuple(free), fingerprint, numerics_version)

    def release(self, claim: Claim) -> None:
        """Give up a claim of this process without a result."""
        with self._lock, self._transaction() as connection:
            self._unclaim(connection, claim)

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Keep the claims of this process alive, from a thread, while the block runs."""
        stop = threading.Event()

        def beat() -> None:
            while not stop.wait(self.lease / 4):
                # A beat that is missed, as the file was busy for long, may still be made up for by the next.
                with suppress(sqlite3.OperationalError), self._lock, self._transaction() as connection:
                    self._beat(connection)

        thread = threading.Thread(target=beat, name="abnet-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    # Writing

    def record(
        self, claim: Claim, results: Sequence[Result], *, machine: Mapping[str, str | int] | None = None
    ) -> None:
        """Store the results of a claimed group and give the claim up, in one transaction.

        A run that another process has finished meanwhile (its claim had gone stale) is left as it is.

        Raises
        ------
        ValueError
            If the results are not those of the claimed settings, or come from other data.
        """
        by_setting = {result.setting: result for result in results}
        if set(by_setting) != set(claim.group.settings) or len(results) != len(by_setting):
            raise ValueError(f"{len(results)} results do not match the {len(claim.keys)} settings of the group")
        strange = {r.fingerprint for r in results} - {None, claim.fingerprint}
        if strange:
            raise ValueError(
                f"trained on other data than asked for (fingerprint {strange.pop()}, not "
                f"{claim.fingerprint}); give all machines the same data files"
            )
        self._settle(claim, by_setting, machine)

    def record_failure(self, claim: Claim, error: str, *, machine: Mapping[str, str | int] | None = None) -> None:
        """Store that a claimed group failed, and why; the next sweep tries it again."""
        self._settle(claim, dict.fromkeys(claim.group.settings, error), machine)

    def add(
        self, results: Sequence[Result], fingerprints: Mapping[str, str], *, machine: Mapping[str, str | int]
    ) -> int:
        """Store finished runs from elsewhere, in one transaction; return how many were new.

        Parameters
        ----------
        fingerprints
            Of the data that they were trained on, by the name of the data set.
        machine
            Where they come from.
        """
        keyed = {key(r.setting, fingerprints[r.setting.dataset]): r for r in results}
        there = self.finished(list(keyed))
        new = [r for k, r in keyed.items() if k not in there]
        self._insert([_row(r.setting, r, fingerprints[r.setting.dataset], NUMERICS_VERSION, machine) for r in new])
        return len(new)

    def _settle(
        self, claim: Claim, outcomes: Mapping[Setting, Result | str], machine: Mapping[str, str | int] | None
    ) -> None:
        """Store how the runs of a claim ended, and give it up."""
        machine = describe_machine() if machine is None else machine
        told = claim.fingerprint, claim.numerics_version, machine
        self._insert([_row(s, outcomes[s], *told) for s in claim.group.settings], done=(claim,))

    def _insert(self, rows: Sequence[Mapping[str, object]], *, done: Sequence[Claim] = ()) -> None:
        names = [*_COLUMNS, "curve"]
        insert = (
            f"INSERT INTO runs ({', '.join(names)}) VALUES ({', '.join(':' + n for n in names)}) "
            f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in names)} WHERE status = 'failed'"
        )
        with self._lock, self._transaction() as connection:
            connection.executemany(insert, rows)
            for claim in done:
                self._unclaim(connection, claim)

    def _unclaim(self, connection: sqlite3.Connection, claim: Claim) -> None:
        connection.executemany(
            "DELETE FROM claims WHERE key = ? AND owner = ?", [(k, self._owner.id) for k in claim.keys]
        )

    def _beat(self, connection: sqlite3.Connection) -> None:
        owner = self._owner
        connection.execute(
            "INSERT INTO owners VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET heartbeat = excluded.heartbeat",
            (owner.id, owner.pid, owner.place, owner.started, time.time()),
        )

    def _drop_stale_owners(self, connection: sqlite3.Connection) -> None:
        oldest = time.time() - self.lease
        query = "SELECT id, pid, place, started, heartbeat FROM owners WHERE id != ?"
        rows = connection.execute(query, (self._owner.id,)).fetchall()
        stale = [(row[0],) for row in rows if row[4] < oldest or is_dead(Owner(*row[:4]))]
        connection.executemany("DELETE FROM owners WHERE id = ?", stale)  # their claims go with them

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, holding the write lock from the start, so that a check and its write cannot be parted."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:  # Ctrl-C too, wherever it strikes
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _present(connection: sqlite3.Connection, query: str, keys: Sequence[str]) -> set[str]:
    """Rows of `query` ("… IN") for many keys; in parts, as SQLite limits the parameters of one statement."""
    found: set[str] = set()
    for start in range(0, len(keys), 500):
        part = keys[start : start + 500]
        found |= {row[0] for row in connection.execute(f"{query} ({', '.join('?' * len(part))})", part)}
    return found


def _row(
    setting: Setting,
    outcome: Result | str,
    fingerprint: str,
    numerics_version: int,
    machine: Mapping[str, str | int],
) -> dict[str, object]:
    """The row of one run, by column; `outcome` is its result, or the error it ended with."""
    result = None if isinstance(outcome, str) else outcome
    defined = definition(setting, fingerprint, numerics_version)
    return {
        "key": key_of_definition(defined),
        "dataset": setting.dataset,
        "model": setting.model,
        "hidden_layer_sizes": json.dumps(setting.hidden_layer_sizes),
        "learning_rate": setting.learning_rate,
        "repetition": setting.repetition,
        "fingerprint": fingerprint,
        "numerics_version": numerics_version,
        "status": "failed" if result is None else "done",
        "error": outcome if isinstance(outcome, str) else None,
        **{name: None if result is None else _number(getattr(result, name)) for name in METRICS},
        "curve": None if result is None else _packed(result.curve),
        "machine": json.dumps(dict(machine)),
        "provenance": json.dumps({**defined, "abnet": version("abnet")}),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _run(row: Sequence[object]) -> StoredRun:
    """The run that a row, in the order of the columns, holds."""
    cells: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    provenance = json.loads(cells["provenance"])
    setting = Setting(
        cells["dataset"],
        cells["model"],
        tuple(json.loads(cells["hidden_layer_sizes"])),
        cells["learning_rate"],
        cells["repetition"],
        provenance.get("setting", {}).get("trial_epochs"),
    )
    return StoredRun(
        key=cells["key"],
        setting=setting,
        fingerprint=cells["fingerprint"],
        numerics_version=cells["numerics_version"],
        status=cells["status"],
        error=cells["error"],
        result=_result(setting, cells) if cells["status"] == "done" else None,
        machine=json.loads(cells["machine"]),
        provenance=provenance,
        created=cells["created"],
    )


def _result(setting: Setting, cells: Mapping[str, Any]) -> Result:
    metrics = {name: cells[name] for name in METRICS}
    for name in ("train_error", "test_error"):  # never absent: here an empty cell is a run that diverged
        metrics[name] = math.nan if metrics[name] is None else metrics[name]
    return Result(setting, **metrics)


def _packed(curve: Mapping[str, Sequence[float]]) -> bytes:
    finite = {name: [_number(value) for value in values] for name, values in curve.items()}
    return zlib.compress(json.dumps(finite, allow_nan=False).encode())


def _number(value: float | None) -> float | None:
    """Plain number for SQLite, which would store a NumPy integer as bytes; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return value.__index__() if hasattr(value, "__index__") else float(value)
