"""The room's public names are documented, and light to import."""

import subprocess
import sys

import pytest

from abnet import certificates as decisions


@pytest.mark.parametrize("name", [name for name in decisions.__all__ if name != "ANSWER_ALL"])
def test_public_names_are_documented(name: str) -> None:
    assert len((getattr(decisions, name).__doc__ or "").splitlines()) > 1 or name == "error_free_rows"


def test_import_needs_no_jax() -> None:
    script = "import sys, abnet.certificates; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert not set(loaded) & {"jax", "sklearn", "pandas", "scipy.stats", "matplotlib"}
