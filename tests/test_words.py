"""One plain term for each idea: phrases that were given up appear neither in the code nor on a page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    *(path for folder, kind in (("src", "*.py"), ("docs", "*.md")) for path in sorted((ROOT / folder).rglob(kind))),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md")),
]
pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").exists(), reason="the pages are in the repository, not in the wheel"
)

GIVEN_UP = {
    r"numbers(,| and| or) truths": "booleans",
    r"\bspoken\b": "in_cli_terms",
    r"\bstrangers\b": "unused_columns",
    "WrongUseError": "UsageError",
    r"\b_excuse\b": "_no_certificate_text",
    r"\btake_over\b": "install_handler",
    r"\b(is|are|be) paid for": "accounted for",
    "sample weights did not enter": "sample weights were not used",
    "This says nothing": "This bound is vacuous",
    "given just for": "only for",
    "for lack of it": "because a file is invalid or missing",
    "Most epochs": "Maximum epochs",
    "checksum is another": "checksum mismatch",
    "broke it off": "was interrupted",
    "to stress some": "to emphasise some",
    r"\bas 8,8": "e.g. 8,8",
    r"[Hh]old-?out (bound|set|row|certificate|part|error)": "test set",
    r"\b1 errors\b": "1 error",
    r"\{[^{}]+\} (errors|failures|bound rows|cells such)\b": "number_of, which says 1 error and 2 errors",
    r"\ba truth (is|as|or)\b|\bor a truth\b|truth values|no truth\b": "boolean",
}
"""Patterns, and what is said instead."""


def found(text: str) -> list[str]:
    plain = re.sub(r"0-1 errors", "", text)
    return [pattern for pattern in GIVEN_UP if re.search(pattern, plain)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_phrase_that_was_given_up_is_back(path: Path) -> None:
    assert {pattern: GIVEN_UP[pattern] for pattern in found(path.read_text(encoding="utf-8"))} == {}


def test_such_a_phrase_is_found() -> None:
    assert found("All choices are paid for, and 1 errors seen; the hold-out set is as 8,8.") == [
        r"\b(is|are|be) paid for", r"\bas 8,8", r"[Hh]old-?out (bound|set|row|certificate|part|error)",
        r"\b1 errors\b",
    ]  # fmt: skip
