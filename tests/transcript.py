"""Write the outputs of a page's commands anew: ``python tests/transcript.py docs/messy-tables.md``.

The page is run from top to bottom in an empty folder, on a terminal of 80 columns; what each command prints replaces
what is shown below it. A block that leaves lines out (``...``) stays as it is.
"""

import contextlib
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
    return output if result.exit_code in (0, 3) else f"{output}exit code {result.exit_code}\n"


def renewed(page: str) -> str:
    """The page with new outputs."""
    names: dict[str, object] = {}

    def block(match: re.Match[str]) -> str:
        language, text = match.groups()
        if language == "python":
            exec(text, names)
        if language != "console" or re.search(r"^\.\.\.$", text, re.MULTILINE):
            return match.group()
        lines = re.findall(r"^\$ abnet (?:.*\\\n)*.*\n", text, re.MULTILINE)
        outputs = [f"{line}{printed(arguments)}" for line, (arguments, _) in zip(lines, commands(text), strict=True)]
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
