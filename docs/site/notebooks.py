"""Tutorials as notebooks: prose, code to run, and below it the output that the page shows.

The tests run every page and compare what it prints with what it shows, so the outputs in a notebook are real, and it
can be read without being run.
"""

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["notebook"]

FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def notebook(page: str, name: str) -> dict[str, Any]:
    """The notebook of a page, in the form of nbformat 4.5.

    Parameters
    ----------
    page : str
        Markdown with fenced blocks: `python`, `console` and `text` for the output of the Python code above it.
    name : str
        Begins the identifiers of the cells.

    Examples
    --------
    >>> made = notebook("# Hello\\n\\n```python\\nprint(1)\\n```\\n\\n```text\\n1\\n```\\n", "hello")
    >>> [cell["cell_type"] for cell in made["cells"]], made["cells"][1]["outputs"][0]["text"]
    (['markdown', 'code'], '1\\n')
    """
    cells: list[dict[str, Any]] = []
    end = 0
    for fence in FENCE.finditer(page):
        prose = page[end : fence.start()].strip()
        end = fence.end()
        language, block = fence.groups()
        if prose:
            cells.append(_prose(prose))
        if language == "python" and ">>> " in block:
            cells += [_code(source, output) for source, output in _doctests(block)]
        elif language == "python":
            cells.append(_code(block))
        elif language == "console":
            cells += [_code(source, output) for source, output in _commands(block)]
        elif language == "text" and not prose and cells and cells[-1]["cell_type"] == "code":
            cells[-1]["outputs"] = _shown(block)
        else:
            cells.append(_prose(fence.group()))
    if page[end:].strip():
        cells.append(_prose(page[end:].strip()))
    for number, cell in enumerate(cells):
        cell["id"] = f"{name}-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(source: str, output: str = "") -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": _shown(output),
        "source": source.rstrip("\n"),
    }


def _shown(output: str) -> list[dict[str, Any]]:
    if not output.strip():
        return []
    return [{"output_type": "stream", "name": "stdout", "text": output.replace("<BLANKLINE>\n", "\n")}]


def _doctests(block: str) -> Iterator[tuple[str, str]]:
    """Code and output of the examples of a block; examples without output join the one that follows."""
    source: list[str] = []
    output: list[str] = []
    for line in block.splitlines():
        is_code = line.startswith((">>> ", "... ")) or line in (">>>", "...")
        if is_code and output:
            yield "\n".join(source), "\n".join([*output, ""])
            source = []
            output = []
        if is_code:
            source.append(line[4:])
        elif line.strip():
            output.append(line)
    if source:
        yield "\n".join(source), "\n".join([*output, ""])


def _commands(block: str) -> Iterator[tuple[str, str]]:
    """Commands of a shell, each with its output."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        length = 1
        while lines[length - 1].endswith("\\"):
            length += 1
        command = "\n".join(lines[:length])
        yield f"!{command}", "\n".join([*lines[length:], ""])
