"""A run as a row of the store, and back."""

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal

from abnet.experiments.keys import definition
from abnet.experiments.machine import describe_machine
from abnet.experiments.result import METRICS, Result
from abnet.experiments.setting import Group, Setting

__all__ = ["COLUMNS", "Claim", "Run", "row_of", "run_of"]

COLUMNS = (
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

    group: Group
    keys: tuple[str, ...]
    fingerprint: str
    numerics_version: int


@dataclass(frozen=True)
class Run:
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


def row_of(
    claim: Claim,
    key: str,
    setting: Setting,
    outcome: Result | str,
    machine: Mapping[str, str | int] | None = None,
) -> dict[str, object]:
    """Return the row of one run of a claim, by column; `outcome` is its result, or the error it ended with."""
    result = None if isinstance(outcome, str) else outcome
    defined = definition(setting, claim.fingerprint, claim.numerics_version)
    return {
        "key": key,
        "dataset": setting.dataset,
        "model": setting.model,
        "hidden_layer_sizes": json.dumps(setting.hidden_layer_sizes),
        "learning_rate": setting.learning_rate,
        "repetition": setting.repetition,
        "fingerprint": claim.fingerprint,
        "numerics_version": claim.numerics_version,
        "status": "failed" if result is None else "done",
        "error": outcome if isinstance(outcome, str) else None,
        **{name: None if result is None else _number(getattr(result, name)) for name in METRICS},
        "curve": None if result is None else _packed(result.curve),
        "machine": json.dumps(dict(describe_machine() if machine is None else machine)),
        "provenance": json.dumps({**defined, "abnet": version("abnet")}),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def run_of(row: Sequence[object]) -> Run:
    """Return the run that a row, in the order of `COLUMNS`, holds."""
    cells: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    provenance = json.loads(cells["provenance"])
    setting = Setting(
        cells["dataset"],
        cells["model"],
        tuple(json.loads(cells["hidden_layer_sizes"])),
        cells["learning_rate"],
        cells["repetition"],
        provenance.get("setting", {}).get("trial_epochs"),
    )
    return Run(
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


def _number(value: float | None) -> float | None:
    """Plain number for SQLite, which would store a NumPy integer as bytes; None for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return value.__index__() if hasattr(value, "__index__") else float(value)


def _packed(curve: Mapping[str, Sequence[float]]) -> bytes:
    finite = {name: [_number(value) for value in values] for name, values in curve.items()}
    return zlib.compress(json.dumps(finite, allow_nan=False).encode())
