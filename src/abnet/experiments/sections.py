"""Generated parts of a Markdown page, between marks, so that a command renews its own part and leaves the rest."""

import os
import re
from pathlib import Path

__all__ = ["names", "replaced", "write"]


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with the part `name` renewed; a page without it gets it at its end.

    Examples
    --------
    >>> page = replaced("A page.", "table", "old")
    >>> print(replaced(page, "table", "new"))
    A page.
    <BLANKLINE>
    <!-- table: generated -->
    new
    <!-- table: end -->
    <BLANKLINE>
    """
    part = f"<!-- {name}: generated -->\n{text.strip()}\n<!-- {name}: end -->"
    pattern = re.compile(f"<!-- {re.escape(name)}: generated -->.*?<!-- {re.escape(name)}: end -->", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: part, page, count=1)
    return f"{page.rstrip()}\n\n{part}\n".lstrip()


def names(page: str) -> list[str]:
    """Return the names of the generated parts of a page, in order."""
    return re.findall(r"<!-- (.+?): generated -->", page)


def write(path: str | os.PathLike[str], name: str, text: str, *, title: str = "") -> Path:
    """Renew a part of a file; a file that is not there begins with `title`."""
    path = Path(path)
    page = path.read_text(encoding="utf-8") if path.exists() else title
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(replaced(page, name, text), encoding="utf-8")
    return path
