"""Who holds a claim in the run store, whether that process still lives, and what a run was computed on."""

import os
import platform
import uuid
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["Owner", "describe_machine", "is_dead", "this_process"]


@lru_cache(maxsize=1)
def describe_machine() -> dict[str, str | int]:
    """Return the processor model, the number of cores and the versions of JAX and Python.

    Examples
    --------
    >>> sorted(describe_machine())
    ['cores', 'cpu', 'jax', 'python']
    """
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "jax": _version_of("jax"),
        "python": platform.python_version(),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []  # not Linux
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


@dataclass(frozen=True)
class Owner:
    """A process that claims groups.

    Attributes
    ----------
    id
        A fresh UUID.
    pid
        Process number.
    place
        Where the number means this process: boot and process-number namespace; empty if the system does not tell.
    started
        Start time of the process in clock ticks, so that a reused number is not taken for it; empty if unknown.
    """

    id: str
    pid: int
    place: str
    started: str


def this_process() -> Owner:
    """Return a new owner for the running process."""
    pid = os.getpid()
    return Owner(uuid.uuid4().hex, pid, _place(), _started(pid))


def is_dead(owner: Owner) -> bool:
    """Tell whether the owner's process is certainly gone; False when that cannot be known from here.

    A claim whose owner is not certainly dead is still given up when its heartbeat stops (see `RunStore`).

    Examples
    --------
    >>> is_dead(this_process())
    False
    """
    if not owner.place or owner.place != _place():
        return False
    # A killed child that its parent has not waited for is a zombie: it counts as gone, `_started` is empty for it.
    return _started(owner.pid) != owner.started


def _place() -> str:
    """Boot and process-number namespace; containers on one machine share the boot but not the numbers."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Start time of a running process (field 22 of its `stat` line), empty if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
