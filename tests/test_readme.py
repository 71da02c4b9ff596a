"""How the README is read; `tests/as_installed.py` runs what it shows."""

from pathlib import Path

import pytest

from readme import agrees, blocks

README = Path(__file__).parents[1] / "README.md"


def test_the_first_lines_are_two_commands() -> None:
    page = README.read_text(encoding="utf-8")
    first = blocks(page)[0][1].splitlines()
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]


@pytest.mark.parametrize(
    ("shown", "fits"),
    [
        ("at most 4.2 %", True),
        ("at most 5.9 %", True),
        ("at most 7.2 %", False),
        ("at least 4.2 %", False),
        ("a table\n...\nat most 4.2 %", True),
        ("at most 4.2 %\n...\na table", False),
        ("bound 0.042", True),
        ("bound 0.092", False),
    ],
)
def test_a_wrong_figure_is_found(shown: str, fits: bool) -> None:
    assert agrees(shown, "a table\nthen\nat most\n4.2 %, bound 0.042") is fits
