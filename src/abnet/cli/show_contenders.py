"""A comparison as a table."""

from typing import TYPE_CHECKING

from abnet.cli import show

if TYPE_CHECKING:
    from abnet.cli.jobs.contender import Contender

__all__ = ["show_contenders"]


def show_contenders(contenders: "tuple[Contender, ...]") -> None:
    """One line per contender, then what has to be said about them."""
    header = ["model", "error at most", "bound", "test error", "size", "time"]
    show.rows(header, [_cells(contender) for contender in contenders])
    print()
    for text in (*(contender.note for contender in contenders), _winners(contenders), _surprises(contenders)):
        if text:
            show.paragraph(text)


def _cells(contender: "Contender") -> list[str]:
    from abnet.bounds.wording import percent, percent_up

    error, seconds = contender.test_error, contender.seconds
    return [
        contender.name,
        "-" if contender.bound is None else percent_up(contender.bound),
        contender.method or "-",
        "-" if error is None else percent(error),
        "-" if contender.size is None else show.kilobytes(contender.size),
        "-" if seconds is None else f"{seconds:.1f} s",
    ]


def _winners(contenders: "tuple[Contender, ...]") -> str:
    tightest = _least({contender.name: contender.bound for contender in contenders})
    fewest = _least({contender.name: contender.test_error for contender in contenders})
    return (
        f"Tightest certificate: {tightest}. Fewest test errors: {fewest}. Each certificate holds by itself; "
        f"to choose among all {len(contenders)} by their certificates, divide --delta by {len(contenders)}."
    )


def _least(values: dict[str, float | None]) -> str:
    """Names of the smallest value, all of them where several share it.

    Examples
    --------
    >>> _least({"a": 0.1, "b": None, "c": 0.1, "d": 0.2})
    'a; c'
    """
    known = {name: value for name, value in values.items() if value is not None}
    return "; ".join(name for name, value in known.items() if value == min(known.values())) or "none"


def _surprises(contenders: "tuple[Contender, ...]") -> str:
    """A word on test errors above the certificate, which chance brings about on few test rows."""
    above = [c for c in contenders if c.bound is not None and c.test_error is not None and c.test_error > c.bound]
    if not above:
        return ""
    names = "; ".join(contender.name for contender in above)
    return (
        f"A test error above its certificate ({names}) is no contradiction: the error on {above[0].n_test:,} test rows "
        "is itself uncertain, and a certificate may fail with probability delta."
    )
