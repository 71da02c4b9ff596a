"""Models side by side: the table of `abnet compare` and `abnet demo`."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from abnet.cli import console

if TYPE_CHECKING:
    from abnet.estimators.compare import Contender

__all__ = ["show_contenders"]

HEADER = [
    "model",
    "upper bound",
    "test error (95%)",
    "log loss",
    "time",
    "size",
    "ECE",
    "AUC",
    "balanced",
    "compilation",
    "bound",
]
"""From what a reader needs most to what a narrow terminal leaves out first."""


def show_contenders(
    contenders: "tuple[Contender, ...]", *, choice_covered: bool = False, saved_by: str = "--save"
) -> None:
    """Print one line per contender, then remarks about them.

    Parameters
    ----------
    contenders : tuple of Contender
    choice_covered : bool
        Whether the bounds account for the choice among the models.
    saved_by : str
        If not, the option that makes them do so.
    """
    from abnet.utils.text_layout import page_width, paragraphs

    console.rows(HEADER, [_cells(contender) for contender in contenders], least=3)
    print()
    notes = [contender.note for contender in contenders]
    with page_width(console.width(most=100)):
        print(paragraphs(*notes, _winners(contenders, choice_covered, saved_by), _errors_above_bounds(contenders)))


def _cells(contender: "Contender") -> list[str]:
    """The cells of one contender, in the order of `HEADER`."""
    from abnet.utils.wording import percent, percent_up

    name = contender.name
    if contender.is_fit:
        name += " (abnet fit)"
    return [
        name,
        _cell(contender.bound, percent_up),
        _cell(contender.test_error, percent) + _limits(contender),
        _cell(contender.log_loss, "{:.3f}".format),
        _cell(contender.seconds, "{:.1f} s".format),
        _cell(contender.size, console.file_size),
        _cell(contender.calibration_error, "{:.3f}".format),
        _cell(contender.auc, "{:.3f}".format),
        _cell(contender.balanced_error, percent),
        _cell(contender.compile_seconds or None, "{:.1f} s".format),
        contender.method or "-",
    ]


def _limits(contender: "Contender") -> str:
    """Limits of the test error in brackets, in percent and rounded outward; nothing if there are none."""
    if contender.test_limits is None:
        return ""
    low, high = contender.test_limits
    return f" ({math.floor(low * 1000) / 10:g}-{math.ceil(high * 1000) / 10:g})"


def _cell(value: Any, written: Callable[[Any], str]) -> str:
    """A figure as text; a dash if there is none."""
    if value is None:
        return "-"
    return written(value)


def _winners(contenders: "tuple[Contender, ...]", choice_covered: bool, saved_by: str) -> str:
    """The models with the lowest bound and the fewest test errors, and whether one may choose by the bounds."""
    tightest = _names_of_least({contender.name: contender.bound for contender in contenders})
    fewest = _names_of_least({contender.name: contender.test_error for contender in contenders})
    winners = f"Lowest bound: {tightest}. Fewest test errors: {fewest}."
    if choice_covered:
        return f"{winners} Every bound accounts for the choice among all {len(contenders)} models."
    return (
        f"{winners} Each bound holds by itself. To choose one of the {len(contenders)} models by its bound, use "
        f"{saved_by}, which corrects for that choice."
    )


def _names_of_least(values: dict[str, float | None]) -> str:
    """Names with the smallest value; a tie is reported.

    Examples
    --------
    >>> _names_of_least({"a": 0.1, "b": None, "c": 0.1, "d": 0.2})
    'a tie between a and c'
    """
    numbers = {name: value for name, value in values.items() if value is not None}
    if not numbers:
        return "none"
    smallest = min(numbers.values())
    names = [name for name, value in numbers.items() if value == smallest]
    if len(names) == 1:
        return names[0]
    return f"a tie between {_listed(names)}"


def _listed(names: list[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _errors_above_bounds(contenders: "tuple[Contender, ...]") -> str:
    """A remark about test errors above the certificate, which occur by chance on few test rows."""
    above = [
        contender
        for contender in contenders
        if contender.bound is not None and contender.test_error is not None and contender.test_error > contender.bound
    ]
    if not above:
        return ""
    names = _listed([contender.name for contender in above])
    return (
        f"A test error above its bound ({names}) does not disprove the bound: the error on {above[0].n_test:,} test "
        "rows is itself uncertain. A bound may also be false, with probability at most delta."
    )
