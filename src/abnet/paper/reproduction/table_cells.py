"""Cells of the tables that are shown: numbers with a fixed number of digits, and Markdown tables of them."""

from collections.abc import Iterable, Sequence

__all__ = ["markdown_table", "number_cell", "number_with_deviation", "signed_cell"]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table.

    Examples
    --------
    >>> print(markdown_table(["model", "bound"], [["ABNet", "0.162"]]))
    | model | bound |
    | --- | --- |
    | ABNet | 0.162 |
    """
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number_cell(value: float | None, digits: int) -> str:
    """Return a number with `digits` decimals; empty if there is none."""
    if value is None:
        return ""
    return f"{value:.{digits}f}"


def number_with_deviation(value: float | None, deviation: float | None, digits: int) -> str:
    """Return a number and its standard deviation, such as "0.141 ± 0.012"; a missing one is left out."""
    if value is None or deviation is None:
        return number_cell(value, digits)
    return f"{number_cell(value, digits)} ± {number_cell(deviation, digits)}"


def signed_cell(value: float | None, digits: int) -> str:
    """Return a difference with its sign.

    Examples
    --------
    >>> signed_cell(0.0594, 3), signed_cell(-0.0001, 3), signed_cell(None, 3)
    ('+0.059', '+0.000', '')
    """
    if value is None:
        return ""
    # Adding 0.0 turns the rounded -0.0 into 0.0.
    return f"{round(value, digits) + 0.0:+.{digits}f}"
