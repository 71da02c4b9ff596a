"""Importing the bounds costs little, and reporting never needs JAX."""

import subprocess
import sys

import pytest

from abnet import bounds


def loaded_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    )


def test_every_public_name_has_a_home() -> None:
    assert set(bounds.__all__) <= set(dir(bounds))
    assert all(getattr(bounds, name).__name__ == name for name in bounds.__all__)


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = bounds.nonsense


def test_import_is_cheap_and_certifying_needs_no_jax() -> None:
    assert not loaded_after("import abnet.bounds") & {"jax", "scipy", "abnet.bounds.gibbs"}
    certify = (
        "from abnet.certificates.from_evidence import certify\nfrom abnet.certificates.terms import Terms\n"
        "from abnet.certificates.evidence import observe\n"
        "str(certify(observe([0], [1], ('a', 'b'), losses=[.1]), Terms(source='init', trained=True, kl=1.)))"
    )
    assert not loaded_after(certify) & {"jax", "scipy.stats", "sklearn", "pandas", "matplotlib"}
