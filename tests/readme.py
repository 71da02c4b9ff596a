"""Code blocks of the README, and whether a program prints what they show."""

import re
import shlex

NUMBER = re.compile(r"\d+(?:\.\d+)?")
SLACK = 2.0
"""How far a figure in per cent, or a count of errors, may be off: processors round float32 sums in their own ways."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and content of the code blocks."""
    return re.findall(r"^```(\w*)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def commands(block: str) -> list[tuple[list[str], str]]:
    """Arguments of each `$ abnet` line, and the output that is shown below it."""
    parts = re.split(r"^\$ abnet (.*)\n", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    return [(shlex.split(line), shown) for line, shown in zip(parts[::2], parts[1::2], strict=True)]


SECONDS = re.compile(r"\b[\d.]+ s\b")
"""A time, which depends on the machine."""


def agrees(shown: str, printed: str) -> bool:
    """Whether the shown text occurs in what was printed, in its order, with ``...`` for what is left out.

    Words must agree, numbers up to `SLACK` (and a share below 1 up to a hundredth of it); line breaks do not matter,
    nor how many seconds something took.
    """
    shown = SECONDS.sub("0 s", shown)
    printed = SECONDS.sub("0 s", printed)
    start = 0
    for piece in (" ".join(part.split()) for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)):
        if not piece:
            continue
        pattern = NUMBER.pattern.join(map(re.escape, NUMBER.split(piece)))
        found = re.compile(pattern).search(" ".join(printed.split()), start)
        if found is None:
            return False
        for expected, actual in zip(NUMBER.findall(piece), NUMBER.findall(found.group()), strict=True):
            slack = SLACK
            if expected.startswith("0."):
                slack = SLACK / 100
            if abs(float(expected) - float(actual)) > slack:
                return False
        start = found.end()
    return True
