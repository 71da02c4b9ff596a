"""The pages about certificates: their examples run, and every bound is on the theory page."""

import doctest
from pathlib import Path

import pytest

from abnet import bounds

DOCS = Path(__file__).parents[2] / "docs"


def test_examples_of_the_certificate_page_run() -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testfile(str(DOCS / "certificates.md"), module_relative=False, optionflags=flags)
    assert outcome.attempted > 10
    assert outcome.failed == 0


@pytest.mark.parametrize("name", bounds.__all__)
def test_every_bound_is_on_the_theory_page(name: str) -> None:
    assert f"`{name}`" in (DOCS / "theory.md").read_text(encoding="utf-8")
