"""What a run was computed on: processor, cores and JAX version; no name and no path of the machine."""

import os
import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["describe_machine"]


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
