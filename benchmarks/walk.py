"""What a reader of `abnet fit` walks through: the source files that one run enters, and the size of the source.

A file is entered when a function in it is called. Loading does not count: neither the bodies of modules and classes,
nor what an import statement calls (decorators, checks made at the top of a module, the names that packages load when
they are first used); and `__init__.py` never does. ``python benchmarks/walk.py`` prints the list, with ``--json`` for a
program.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dis import opname
from inspect import CO_OPTIMIZED
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

import abnet

SOURCE = Path(abnet.__file__).parent
ROWS = 200


def table() -> str:
    """A CSV of numbers, text, booleans and dates, with missing cells."""
    lines = ["age,city,smoker,visit,ill"]
    for i in range(ROWS):
        age, smoker = 18 + 37 * i % 70, i % 3 == 0
        cells = [str(age), ("Oslo", "Lima", "Pune")[i * i % 7 % 3], str(smoker), f"2024-{1 + i % 12:02d}-05"]
        if i % 5 == 0:
            cells[i // 5 % 4] = ""
        lines.append(",".join([*cells, "yes" if age + 20 * smoker > 55 else "no"]))
    return "\n".join(lines) + "\n"


def is_loading(frame: FrameType | None) -> bool:
    """Whether an import statement called for this: some caller stands at one."""
    while frame is not None and opname[frame.f_code.co_code[frame.f_lasti]] not in ("IMPORT_NAME", "IMPORT_FROM"):
        frame = frame.f_back
    return frame is not None


@contextlib.contextmanager
def recorded() -> Iterator[set[str]]:
    """Files of the functions that are called meanwhile, in any thread."""
    files: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        # Bodies of modules and classes keep their names in a dictionary: only functions have this flag.
        if event == "call" and frame.f_code.co_flags & CO_OPTIMIZED:
            file = frame.f_code.co_filename
            if file not in files and not (file.startswith(str(SOURCE)) and is_loading(frame.f_back)):
                files.add(file)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield files
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def run(command: Callable[[], None], arguments: list[str]) -> None:
    """Run the command line in this process, its output kept from the screen."""
    sys.argv = ["abnet", *arguments]
    messages = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(messages):
        try:
            command()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(
                    f"abnet {arguments[0]} ended with exit code {end.code}: {messages.getvalue()}"
                ) from end


def entered() -> list[str]:
    """Source files that `abnet fit` enters, with its default options and an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ABNET_CACHE"] = str(Path(folder) / "cache")
        data, model = Path(folder) / "table.csv", Path(folder) / "model.abnet"
        data.write_text(table(), encoding="utf-8")
        with recorded() as files:
            from abnet.cli import main as command

            run(command, ["fit", str(data), "--target", "ill", "--output", str(model)])
    return sorted(name for path in files if (name := relative(path)))


def relative(path: str) -> str | None:
    """A file's name within the package; None outside, and for `__init__.py`."""
    file = Path(path)
    inside = file.is_relative_to(SOURCE) and file.name != "__init__.py"
    return file.relative_to(SOURCE).as_posix() if inside else None


def statistics() -> dict[str, Any]:
    """How many source files there are, and how long they are."""
    lines = {
        file.relative_to(SOURCE).as_posix(): len(file.read_text(encoding="utf-8").splitlines())
        for file in SOURCE.rglob("*.py")
    }
    largest = max(lines, key=lines.__getitem__)
    return {
        "files": len(lines),
        "median_lines": median(lines.values()),
        "total_lines": sum(lines.values()),
        "largest": largest,
        "largest_lines": lines[largest],
    }


def main(arguments: list[str]) -> None:
    source, files = statistics(), entered()
    if "--json" in arguments:
        print(json.dumps({"n_entered": len(files), "entered": files, "source": source}, indent=2))
        return
    print(f"abnet fit enters {len(files)} source files:")
    print("\n".join(f"  {name}" for name in files))
    print(
        f"abnet {abnet.__version__} has {source['files']} source files of {source['median_lines']:g} lines (median), "
        f"{source['total_lines']:,} lines in all; the largest is {source['largest']}, {source['largest_lines']} lines."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
