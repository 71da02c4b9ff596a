"""Every benchmark can be started: it imports, `make bench` finds its rows, and profiled functions exist."""

import importlib
from pathlib import Path

import pytest

import fit_profile
import run

NAMES = sorted(path.stem for path in Path(run.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_imports(name: str) -> None:
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize("name", run.PARTS)
def test_a_part_of_make_bench_has_rows(name: str) -> None:
    assert callable(importlib.import_module(name).rows)


@pytest.mark.parametrize(("words", "dotted"), fit_profile.STEPS)
def test_a_profiled_step_is_a_function(words: str, dotted: str) -> None:
    assert callable(fit_profile.function_of(dotted)), words
