"""Results on stdout: for people as text and tables, for machines as JSON."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abnet.bounds.certificate import Certificate
    from abnet.bounds.single_network import DrawnCertificate
    from abnet.cli.jobs.contender import Contender

__all__ = ["as_json", "certificate_text", "count", "kilobytes", "paragraph", "rows", "show_contenders"]


_WIDTH = 100


def as_json(record: dict[str, Any]) -> None:
    """A record as indented JSON; what is not finite would not be JSON, and is an error."""
    print(json.dumps(record, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    """NumPy numbers and paths as plain values."""
    return value.item() if hasattr(value, "item") else str(value)


def paragraph(text: str) -> None:
    """Text filled to the width of a page, then an empty line."""
    import textwrap

    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")  # no line begins with the sign of a percentage
    print(textwrap.fill(whole, _WIDTH).replace("\N{NO-BREAK SPACE}%", " %"), end="\n\n")


def rows(header: Sequence[str], body: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """A table; the first `left` columns flush left, the others flush right.

    Examples
    --------
    >>> rows(["model", "error"], [["a tree", "3 %"], ["a net", "12 %"]])
    model   error
    a tree    3 %
    a net    12 %
    """
    widths = [max(len(line[i]) for line in (header, *body)) for i in range(len(header))]
    for line in (header, *body):
        cells = [
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def count(number: int, thing: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def kilobytes(size: int) -> str:
    """A size as people read it.

    Examples
    --------
    >>> kilobytes(900), kilobytes(20_480), kilobytes(5_000_000)
    ('0.9 kB', '20 kB', '5,000 kB')
    """
    return f"{size / 1000:,.1f} kB" if size < 10_000 else f"{size / 1000:,.0f} kB"


def certificate_text(certificate: "Certificate | DrawnCertificate", *, details: bool) -> str:
    """A certificate in plain English; the bound on the Gibbs risk is a detail, and a drawn network has none."""
    from abnet.bounds.certificate import Certificate

    return certificate.describe(details=details) if isinstance(certificate, Certificate) else certificate.describe()


def show_contenders(contenders: "tuple[Contender, ...]") -> None:
    """One line per contender, then what has to be said about them."""
    header = ["model", "error at most", "bound", "test error", "balanced", "AUC", "size", "time", "compilation"]
    rows(header, [_cells(contender) for contender in contenders])
    print()
    for text in (*(contender.note for contender in contenders), _winners(contenders), _surprises(contenders)):
        if text:
            paragraph(text)


def _cells(contender: "Contender") -> list[str]:
    from abnet.bounds.wording import percent, percent_up

    error, seconds = contender.test_error, contender.seconds
    return [
        f"{contender.name} (abnet fit)" if contender.is_fit else contender.name,
        "-" if contender.bound is None else percent_up(contender.bound),
        contender.method or "-",
        "-" if error is None else percent(error),
        "-" if contender.balanced_error is None else percent(contender.balanced_error),
        "-" if contender.auc is None else f"{contender.auc:.3f}",
        "-" if contender.size is None else kilobytes(contender.size),
        "-" if seconds is None else f"{seconds:.1f} s",
        f"{contender.compile_seconds:.1f} s" if contender.compile_seconds else "-",
    ]


def _winners(contenders: "tuple[Contender, ...]") -> str:
    tightest = _least({contender.name: contender.bound for contender in contenders})
    fewest = _least({contender.name: contender.test_error for contender in contenders})
    return (
        f"Tightest certificate: {tightest}. Fewest test errors: {fewest}. Each certificate holds by itself; "
        f"to choose among all {len(contenders)} by their certificates, divide --delta by {len(contenders)}."
    )


def _least(values: dict[str, float | None]) -> str:
    """Names of the smallest value, all of them where several share it, which is then said.

    Examples
    --------
    >>> _least({"a": 0.1, "b": None, "c": 0.1, "d": 0.2})
    'a tie of a; c'
    """
    known = {name: value for name, value in values.items() if value is not None}
    least = [name for name, value in known.items() if value == min(known.values())]
    return f"{'a tie of ' * (len(least) > 1)}{'; '.join(least)}" or "none"


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
