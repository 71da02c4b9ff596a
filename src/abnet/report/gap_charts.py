"""Charts of a rate in every group of a declared column, with its limits."""

from typing import NamedTuple

from markupsafe import Markup

from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.gap_bound import GapBound, group_limits, group_seen
from abnet.report.svg import Bar, bar_chart
from abnet.utils.wording import confidence, shortened

__all__ = ["GapChart", "gap_charts"]


class GapChart(NamedTuple):
    """A chart of one rate: its title, the picture, and what it shows."""

    title: str
    picture: Markup
    words: str


def gap_charts(certificate: Certificate) -> list[GapChart]:
    """A chart for each rate of which the certificate states the largest gap.

    Examples
    --------
    >>> from abnet.certificates.evidence import observe
    >>> from abnet.certificates.from_evidence import certify
    >>> from abnet.certificates.requests import Gaps, Requests
    >>> from abnet.certificates.terms import Terms
    >>> seen = observe([0] * 90 + [1] * 10, [0] * 100, ("no", "yes"), populations=["a", "b"] * 50)
    >>> (chart,) = gap_charts(certify(seen, Terms(source="test set"), Requests(gaps=Gaps("site"))))
    >>> chart.title
    'Error rate by site'
    """
    charts = []
    for statement in certificate.each(GapBound):
        name = statement.name[0].upper() + statement.name[1:]
        title = f"{name} by group"
        if statement.column:
            title = f"{name} by {shortened(statement.column, 60)}"
        words = (
            "Bars: the rate that was seen. Lines: its limits, which hold jointly for all groups with "
            f"{confidence(statement.delta)} confidence."
        )
        charts.append(GapChart(title, bar_chart(_bars(statement), title), words))
    return charts


def _bars(statement: GapBound) -> list[Bar]:
    """The rate of every group, with its limits."""
    bars = []
    for part in statement.groups:
        seen = 0.0
        if part.n:
            seen = part.count / part.n
        text = f"{group_seen(part)}; {group_limits(part)}"
        bars.append(Bar(shortened(part.group, 60) or "(empty)", text, seen, limits=(part.low, part.high)))
    return bars
