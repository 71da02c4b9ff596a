"""The few messages of commands that are tested word by word: one for each kind of mistake that people make most.

All other tests of commands look for facts (options, columns, files, rows, numbers), so that a sentence can be improved
by editing it there and, if it is one of these, here.
"""

from pathlib import Path

import pytest

from cli.tables import Failure

MESSAGES = {
    "a table that is absent": (
        ["fit", "{absent}", "--target", "y", "-o", "{new}"], 1, "{absent} does not exist; check the path.",
    ),
    "a model that is absent": (
        ["predict", "{absent}", "{table}"], 1, "there is no model file {absent}; check the path.",
    ),
    "an output that is an input": (
        ["fit", "{table}", "--target", "y", "-o", "{table}"], 2,
        "--output: the output file is also an input: {table}; name another file.",
    ),
    "an output of another kind": (
        ["fit", "{table}", "--target", "y", "-o", "{other}"], 2,
        "--output: {other} is a file of another kind (not model); name another file, or add --overwrite.",
    ),
    "a column that is absent": (
        ["fit", "{table}", "--target", "mood today", "--drop", "age", "-o", "{new}"], 2,
        "--drop: no column 'age' in the table; its columns are 'size, cm', 'sold', 'city', 'country', 'id', "
        "'mood today'.",
    ),
    "a number out of range": (
        ["fit", "{table}", "--target", "mood today", "--delta", "1.5", "-o", "{new}"], 2,
        "--delta must lie strictly between 0 and 1; got 1.5.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), MESSAGES.values(), ids=MESSAGES.keys())
def test_messages_word_by_word(
    arguments: list[str], code: int, message: str, failure: Failure, table: Path, tmp_path: Path
) -> None:
    files = {name: tmp_path / f"{name}.csv" for name in ("absent", "new", "other")}
    files["table"] = table
    files["other"].write_text("a,b\n1,2\n")
    given = [argument.format(**files) for argument in arguments]
    assert failure(*given, code=code) == message.format(**files)
