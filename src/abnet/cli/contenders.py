"""Models side by side: the table of `abnet compare` and `abnet demo`."""

from typing import TYPE_CHECKING

from abnet.cli import console

if TYPE_CHECKING:
    from abnet.estimators.compare import Contender

__all__ = ["show_contenders"]

HEADER = [
    "model",
    "error (upper bound)",
    "test error",
    "balanced",
    "AUC",
    "log loss",
    "ECE",
    "size",
    "time",
    "compilation",
    "bound",
]
"""From what a reader needs most to what a narrow terminal leaves out first."""


def show_contenders(contenders: "tuple[Contender, ...]", *, counted: bool = False, saved_by: str = "--save") -> None:
    """Print one line per contender, then remarks about them.

    `counted`: the bounds account for the choice; if not, `saved_by` is what makes them do so.
    """
    from abnet.utils.wording import page, paragraphs

    console.rows(HEADER, [_cells(contender) for contender in contenders], least=3)
    print()
    said = (
        *(contender.note for contender in contenders),
        _winners(contenders, counted, saved_by),
        _surprises(contenders),
    )
    with page(console.width(most=100)):
        print(paragraphs(*said))


def _cells(contender: "Contender") -> list[str]:
    from abnet.utils.wording import percent, percent_up

    error, seconds = contender.test_error, contender.seconds
    return [
        f"{contender.name} (abnet fit)" if contender.is_fit else contender.name,
        "-" if contender.bound is None else percent_up(contender.bound),
        "-" if error is None else percent(error),
        "-" if contender.balanced_error is None else percent(contender.balanced_error),
        *("-" if value is None else f"{value:.3f}" for value in (contender.auc, contender.log_loss)),
        "-" if contender.calibration_error is None else f"{contender.calibration_error:.3f}",
        "-" if contender.size is None else console.file_size(contender.size),
        "-" if seconds is None else f"{seconds:.1f} s",
        f"{contender.compile_seconds:.1f} s" if contender.compile_seconds else "-",
        contender.method or "-",
    ]


def _winners(contenders: "tuple[Contender, ...]", counted: bool, saved_by: str) -> str:
    tightest = _least({contender.name: contender.bound for contender in contenders})
    fewest = _least({contender.name: contender.test_error for contender in contenders})
    found, n = f"Lowest bound: {tightest}. Fewest test errors: {fewest}.", len(contenders)
    if counted:
        return f"{found} Every bound accounts for the choice among all {n} models."
    return (
        f"{found} Each bound holds by itself. To choose one of the {n} models by its bound, use "
        f"{saved_by}, which corrects for that choice."
    )


def _least(values: dict[str, float | None]) -> str:
    """Names with the smallest value; a tie is reported.

    Examples
    --------
    >>> _least({"a": 0.1, "b": None, "c": 0.1, "d": 0.2})
    'a tie between a and c'
    """
    known = {name: value for name, value in values.items() if value is not None}
    least = [name for name, value in known.items() if value == min(known.values())]
    return f"{'a tie between ' * (len(least) > 1)}{_and(least)}" or "none"


def _and(names: list[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] * (len(names) > 1)), *names[-1:]])


def _surprises(contenders: "tuple[Contender, ...]") -> str:
    """A remark about test errors above the certificate, which occur by chance on few test rows."""
    above = [c for c in contenders if c.bound is not None and c.test_error is not None and c.test_error > c.bound]
    if not above:
        return ""
    names = _and([contender.name for contender in above])
    return (
        f"A test error above its bound ({names}) does not disprove the bound: the error on {above[0].n_test:,} test "
        "rows is itself uncertain. A bound may also be false, with probability at most delta."
    )
