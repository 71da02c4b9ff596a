"""Strict records: each field of a dataclass goes through a check that returns its value or says what is wrong."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast

from abnet.bounds.arguments import nonnegative

__all__ = ["Check", "apply", "exactly", "finite", "instance", "one_of", "optional"]

Check = Callable[[str, Any], Any]


def exactly(cls: type, record: object) -> dict[str, Any]:
    """Return ``record`` as a dictionary that has the fields of ``cls``, all of them and no other."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{cls.__name__} must be a dictionary, got {record!r}")
    wanted = {field.name for field in fields(cast(Any, cls))}
    missing, unknown = sorted(wanted - set(record)), sorted(map(str, set(record) - wanted))
    if missing or unknown:
        raise ValueError(f"{cls.__name__} has missing fields {missing} and unknown fields {unknown}")
    return dict(record)


def apply(checks: Mapping[str, Check], record: object) -> None:
    """Replace each named field of a frozen ``record`` by what its check returns."""
    for name, check in checks.items():
        object.__setattr__(record, name, check(name, getattr(record, name)))


def optional(check: Check) -> Check:
    """Let None pass, and check everything else."""
    return lambda name, value: None if value is None else check(name, value)


def one_of(*choices: Any) -> Check:
    """Allow just the given values."""

    def check(name: str, value: Any) -> Any:
        if isinstance(value, bool) or value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
        return value

    return check


def finite(name: str, value: Any) -> float:
    """Return ``value`` as a float in [0, inf)."""
    number = nonnegative(name, value)
    if number == float("inf"):
        raise ValueError(f"{name} must be finite")
    return number


def instance(cls: type) -> Check:
    """Allow just instances of ``cls``."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, cls):
            raise ValueError(f"{name} must be a {cls.__name__}, got {value!r}")
        return value

    return check
