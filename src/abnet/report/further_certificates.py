"""Certificates from rows given later: a heading and one line for each, then their sentences, tables and charts."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from abnet.certificates.certificate import Certificate
from abnet.certificates.describe import assumptions, sentences
from abnet.certificates.statements.error_rate import AnswerErrorRate
from abnet.certificates.statements.gap_bound import GapBound
from abnet.certificates.statements.gibbs_bound import GibbsBound
from abnet.certificates.statements.population_error import PopulationError
from abnet.certificates.statements.region_error import RegionError
from abnet.certificates.statements.statement import Statement
from abnet.certificates.statements.tolerated_error import ToleratedError
from abnet.report.gap_charts import GapChart, gap_charts
from abnet.report.markup import html_table, with_code
from abnet.utils.wording import number_of, percent, percent_down, percent_up, shortened

__all__ = ["FurtherCertificate", "further_certificates"]

MOST_POPULATIONS = 4
"""Maximum number of populations that one line names."""


@dataclass(frozen=True)
class FurtherCertificate:
    """A certificate on the page.

    Attributes
    ----------
    ident : str
        Its place in the page.
    about : str
        What sets it apart, for its heading.
    rows : str
        The rows that it counts.
    line : str
        What it states, in one line.
    sentences : list of Markup
    gaps : list of GapChart
        The rates of groups.
    table : Markup or None
        The rows under a tolerance.
    assumptions : Markup
    """

    ident: str
    about: str
    rows: str
    line: str
    sentences: list[Markup]
    gaps: list[GapChart]
    table: Markup | None
    assumptions: Markup


def further_certificates(certificates: Sequence[Certificate]) -> list[FurtherCertificate]:
    """The certificates in the order given; headings that would be equal are numbered."""
    abouts = [_about(certificate) for certificate in certificates]
    made = []
    for place, certificate in enumerate(certificates):
        about = abouts[place]
        if abouts.count(about) > 1:
            about += f" ({abouts[: place + 1].count(about)})"
        made.append(
            FurtherCertificate(
                ident=f"certificate-{place + 1}",
                about=about,
                rows=number_of(certificate.facts.n_rows, "row"),
                line=_line(certificate),
                sentences=[with_code(sentence) for sentence in sentences(certificate, details=False)],
                gaps=gap_charts(certificate),
                table=_tolerance_table(certificate),
                assumptions=with_code(assumptions(certificate)),
            )
        )
    return made


def _about(certificate: Certificate) -> str:
    """The subject of the statement that sets a certificate apart."""
    gap = next(iter(certificate.each(GapBound)), None)
    if gap is not None and gap.column:
        return f"Gaps between groups of “{shortened(gap.column, 60)}”"
    if gap is not None:
        return "Gaps between groups"
    if certificate.each(PopulationError):
        return "Error rate of each population"
    tolerance = certificate.find(ToleratedError)
    if tolerance is not None:
        return f"Error rate while cells are off ({shortened(tolerance.tolerance, 160)})"
    about = "error rate"
    for statement in certificate.statements:
        if not isinstance(statement, AnswerErrorRate | GibbsBound | RegionError):
            about = statement.about
            break
    return shortened(f"{about[0].upper()}{about[1:]}", 200)


def _line(certificate: Certificate) -> str:
    """What sets a certificate apart, with its bounds."""
    gaps = certificate.each(GapBound)
    if gaps:
        parts = []
        for gap in gaps:
            largest = "no bound"
            if gap.value is not None:
                largest = f"at most {percent_up(gap.value).rstrip('%')} percentage points"
            parts.append(f"{gap.rate} rate {largest}")
        return f"largest difference between two groups: {'; '.join(parts)}."
    populations = certificate.each(PopulationError)
    if populations:
        return _populations_line(populations)
    tolerance = certificate.find(ToleratedError)
    if tolerance is not None:
        return f"at most {percent_up(_proven(tolerance))} of new rows are wrong, or could become wrong."
    for statement in certificate.statements:
        if not isinstance(statement, AnswerErrorRate | GibbsBound | RegionError):
            return _value(statement.value, statement.side)
    return _value(certificate.vote_error_bound, "at most")


def _proven(statement: Statement) -> float:
    """The upper bound of a statement; 1 if it proves nothing."""
    if statement.value is None:
        return 1.0
    return statement.value


def _value(value: float | None, side: str) -> str:
    """A bound in words."""
    if value is None:
        return "nothing could be certified."
    if side == "at most":
        return f"at most {percent_up(value)}."
    return f"at least {percent_down(value)}."


def _populations_line(populations: Sequence[PopulationError]) -> str:
    """The bounds of all populations, the highest first."""
    ordered = sorted(populations, key=lambda part: -(_proven(part)))
    named = [f"{percent_up(_proven(part))} ({shortened(part.population, 40)})" for part in ordered[:MOST_POPULATIONS]]
    listed = ", ".join(named)
    if len(ordered) > MOST_POPULATIONS:
        listed += f" and {len(ordered) - MOST_POPULATIONS} more with lower bounds"
    return f"at most {listed}; these bounds hold jointly."


def _tolerance_table(certificate: Certificate) -> Markup | None:
    """How many rows stay right while cells are off by the tolerance; None if none was declared."""
    statement = certificate.find(ToleratedError)
    if statement is None:
        return None
    n = statement.n
    right = n - statement.errors - statement.unproved
    counts = {
        "right, and proved to stay right": right,
        "right, but could become wrong, or open": statement.unproved,
        "wrong as they are": statement.errors,
    }
    lines = [[name, f"{count:,}", percent(count / n)] for name, count in counts.items()]
    caption = f"The rows counted, while cells are off by up to {shortened(statement.tolerance, 200)}"
    return html_table(["", "rows", "share"], lines, caption=caption)
