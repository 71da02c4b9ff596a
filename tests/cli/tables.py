"""A small table with every kind of column."""

import ast
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Run = Callable[..., Any]
Failure = Callable[..., str]

SMALL = ["--hidden-layer-sizes", "2", "--max-iter", "4", "--random-state", "1", "--quiet"]
"""One shape, and few epochs: what is tested is the way there and back."""

TWO = [*SMALL, "--n-estimators", "2"]
"""Two networks, whose inputs are padded: tables of any width up to 32 features have one program."""

ROWS = 60


def loaded_by(arguments: Sequence[object], libraries: Sequence[str]) -> list[str]:
    """Which of some libraries a command has loaded when it ends; it must succeed."""
    program = (
        f"import sys; sys.argv = ['abnet', *{list(map(str, arguments))!r}]\nfrom abnet.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print([name for name in {list(libraries)!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found = ast.literal_eval(done.stderr.splitlines()[-1])  # below the notes of the command
    assert isinstance(found, list)
    return found


def refused_as_input(message: str, option: str = "--output") -> bool:
    """Whether an output was refused because it is an input: unlike for other files, ``--overwrite`` is no remedy."""
    return message.startswith(f"{option}: ") and "--overwrite" not in message


def cells(seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Header and rows: a number with gaps, a truth, a text, a constant, an identifier, and the label."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=ROWS)
    header = ["size, cm", "sold", "city", "country", "id", "mood today"]
    rows = []
    for i in range(ROWS):
        size = "" if i % 10 == 3 else f"{x[i]:.3f}"
        sold = ("yes", "no")[i % 2]
        city = ("Oslo", "'s-Hertogenbosch")[i % 3 == 0]
        rows.append([size, sold, city, "Norway", f"no {i:03d}", "good" if x[i] > 0 else "not so good"])
    return header, rows


def csv_text(*, separator: str = ",", end: str = "\n", start: str = "", seed: int = 0) -> str:
    header, rows = cells(seed)
    quoted = [separator.join(f'"{cell}"' for cell in line) for line in (header, *rows)]
    return start + end.join(quoted) + end
