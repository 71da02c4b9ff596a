"""Templates of the report as functions that return escaped markup."""

from collections.abc import Collection, Sequence
from typing import Any

from markupsafe import Markup, escape

from abnet.utils.templates import templates

__all__ = ["drawn", "rendered", "html_table", "typeset", "with_code"]


def rendered(template: str, **context: Any) -> Markup:
    """A template filled in."""
    return Markup(templates("abnet.report").get_template(template).render(**context))


def drawn(macro: str, *arguments: Any) -> Markup:
    """One of the macros of `macros.html` filled in."""
    module = templates("abnet.report").get_template("macros.html").module
    return Markup(getattr(module, macro)(*arguments))


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str,
    left: int = 1,
    marked: Collection[int] = (),
) -> Markup:
    """A table of texts. The first `left` columns are flush left, and marked rows are highlighted.

    Examples
    --------
    >>> html_table(["", "n"], [["<b>", "1"]], caption="Rows").count("&lt;b&gt;")
    1
    """
    return drawn("table", list(header), [list(row) for row in rows], caption, left, set(marked))


def with_code(text: str) -> Markup:
    """A sentence with names of code between backticks, as markup.

    Examples
    --------
    >>> with_code("No certificate for `predict` < 3.")
    Markup('No certificate for <code>predict</code> &lt; 3.')
    """
    parts = []
    for place, part in enumerate(text.split("`")):
        inside_backticks = place % 2 == 1
        if inside_backticks:
            parts.append(Markup("<code>{}</code>").format(part))
        else:
            parts.append(escape(part))
    return Markup("").join(parts)


def typeset(number: str) -> str:
    """A number, or a word of signs, with minus signs instead of hyphens.

    Examples
    --------
    >>> typeset("-3.1%")
    '−3.1%'
    """
    return number.replace("-", "−")
