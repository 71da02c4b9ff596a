"""Write the outputs of a page's commands anew: ``python tests/transcript.py docs/messy-tables.md``.

The page is run from top to bottom in an empty folder, on a terminal of 80 columns; what each command prints replaces
what is shown below it. Where ``...`` stands for lines left out, the lines shown are looked for in the new output by
what they say beside their numbers. Sentences that quote a number, and doctests, are left to the author.
"""

import contextlib
import difflib
import io
import os
import re
import sys
import tempfile
import textwrap
from pathlib import Path

from readme import commands


def printed(arguments: list[str]) -> str:
    """What a command prints; notes are folded as on a terminal."""
    from typer.testing import CliRunner

    from abnet.cli.app import app

    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    folded = (
        textwrap.fill(line, 80, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
        if line.startswith(("note: ", "error: "))
        else line
        for line in result.output.split("\n")
    )
    output = "\n".join(folded)
    if result.exit_code in (0, 3):
        return output
    return f"{output}exit code {result.exit_code}\n"


def like(shown: str, output: str) -> str:
    """The output, with the parts left out that the old one leaves out.

    >>> like("...\\na 1\\nb 2\\n...\\n", "x\\na 3\\nb 4\\ny\\n")
    '...\\na 3\\nb 4\\n...\\n'
    """
    if not re.search(r"^\.\.\.$", shown, re.MULTILINE):
        return output
    lines = output.splitlines()
    begin = 0
    made = list[str]()
    for part in re.split(r"^(\.\.\.\n)", shown, flags=re.MULTILINE):
        old = part.splitlines()
        if part in ("", "...\n"):
            made += old
            continue
        places = range(begin, max(len(lines) - len(old), begin) + 1)
        place = max(places, key=lambda at: _alike(old, lines[at : at + len(old)]))
        found = lines[place : place + len(old)]
        made += [new if _alike([shown], [new]) > SAME else shown for shown, new in zip(old, found, strict=False)]
        begin = place + len(old)
    return "\n".join(made) + "\n"


SAME = 0.8
"""Likeness below which a line is left as it is: pages also cut lines short."""


def _alike(old: list[str], new: list[str]) -> float:
    """How many lines agree but for numbers and blanks, near misses as fractions."""
    wordy = [[re.sub(r"[-+\d.,%\s]+", " ", line) for line in lines] for lines in (old, new)]
    return sum(difflib.SequenceMatcher(None, a, b).ratio() for a, b in zip(*wordy, strict=False))


def renewed(page: str) -> str:
    """The page with new outputs."""
    names: dict[str, object] = {}
    told: list[str] = []  # by the block of Python before

    def block(match: re.Match[str]) -> str:
        language, text = match.groups()
        if language == "text" and told:
            return f"```text\n{like(text, told.pop())}```"
        told.clear()
        if language == "python" and ">>>" not in text:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(text, names)
            told.append(out.getvalue())
        if language != "console":
            return match.group()
        lines = re.findall(r"^\$ abnet (?:.*\\\n)*.*\n", text, re.MULTILINE)
        outputs = [
            f"{line}{like(shown, printed(arguments))}"
            for line, (arguments, shown) in zip(lines, commands(text), strict=True)
        ]
        return f"```console\n{''.join(outputs)}```"

    return re.sub(r"^```(\w*)\n(.*?)^```", block, page, flags=re.DOTALL | re.MULTILINE)


def main(path: Path) -> None:
    """Renew a page in its place."""
    os.environ["COLUMNS"] = "80"
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        made = renewed(page)
    path.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
