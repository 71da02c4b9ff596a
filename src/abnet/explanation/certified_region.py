"""The regions of a narrow network with a certified error rate in each, from the statements of its certificate."""

from dataclasses import dataclass
from typing import Any

from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.region_error import LEAST_ROWS, RegionError
from abnet.model.leading_signs import why_no_signs
from abnet.model.model import Model
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.wording import confidence, number_of, percent, percent_up, printable

__all__ = ["CertifiedRegion", "CertifiedRegions", "certified_regions", "regions_of", "why_no_certified_regions"]


@dataclass(frozen=True)
class CertifiedRegion:
    """A region and the error rate in it.

    Attributes
    ----------
    number : int
        From 1; regions with more held-out rows come first.
    signs : str
        Most probable output of each leading neuron, such as ``-++``.
    words : str
        The region in the columns of the table, as a summary; empty if unknown.
    share : float
        Share of the held-out rows.
    answer : str
        The most frequent answer in the region.
    answer_share : float
        Its share of the region's rows.
    error_bound : float
        Upper bound on the error rate on new rows in the region.
    errors, n_rows : int
        Errors among the held-out rows of the region.
    plain_vote : bool
        Whether answer and errors are those of the plain vote, because answers follow another decision.
    period : str or None
        The held-out rows of a split by time, such as "after 2024-03-01".
    """

    number: int
    signs: str
    words: str
    share: float
    answer: str
    answer_share: float
    error_bound: float
    errors: int
    n_rows: int
    plain_vote: bool = False
    period: str | None = None

    @property
    def name(self) -> str:
        """The region in words, or else by its signs."""
        return self.words or f"neurons {self.signs}"

    @property
    def answer_text(self) -> str:
        """The most frequent answer, with its share unless it is the only one."""
        if self.answer_share == 1.0:
            return printable(self.answer, 30)
        return f"{printable(self.answer, 30)} ({percent(self.answer_share)})"

    def sentence(self) -> str:
        """The region in a line.

        Examples
        --------
        >>> CertifiedRegion(3, "+-", "mostly age above 40", 0.28, "ill", 1.0, 0.0119, 1, 500).sentence()
        'Region 3 (mostly age above 40): 28% of the rows, answer ill, error rate at most 1.2%'
        """
        answer = "answer"
        rate = "error rate"
        if self.plain_vote:
            answer = "plain vote"
            rate = "error rate of the plain vote"
        text = (
            f"Region {self.number} ({printable(self.name, 200)}): {percent(self.share)} of the rows, {answer} "
            f"{self.answer_text}, {rate} at most {percent_up(self.error_bound)}"
        )
        if self.period is not None:
            text += f" on new rows like those {self.period}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class CertifiedRegions:
    """The regions of a model with certified error rates, which hold jointly.

    Attributes
    ----------
    listed : tuple of CertifiedRegion
        Those with most held-out rows first.
    n_rows, n_uncovered : int
        Held-out rows, and those among them that are in no listed region.
    delta : float
        Maximum probability that any of the bounds is false.
    plain_vote : bool
        Whether errors are those of the plain vote, because answers follow another decision.
    period : str or None
        The held-out rows of a split by time, such as "after 2024-03-01".
    """

    listed: tuple[CertifiedRegion, ...]
    n_rows: int
    n_uncovered: int
    delta: float
    plain_vote: bool = False
    period: str | None = None

    def of(self, signs: str) -> CertifiedRegion | None:
        """The listed region that rows with these signs are in; None if it has too few held-out rows for a bound."""
        for region in self.listed:
            if region.signs == signs:
                return region
        return None

    @property
    def heading(self) -> str:
        """What the table is, in a sentence."""
        rate = "error rate"
        if self.plain_vote:
            rate = "error rate of the plain vote"
        rows = "new rows"
        if self.period is not None:
            rows = f"new rows like those {self.period}"
        return (
            f"Regions of the network, with an upper bound on the {rate} on {rows} in each. All bounds hold jointly "
            f"with {confidence(self.delta)} confidence (from {number_of(self.n_rows, 'held-out row')})"
        )

    @property
    def remark(self) -> str:
        """How to read the table."""
        text = (
            "A region is the most probable output of each neuron of the first layer. The words are a summary of it in "
            "the columns of the table; rows and answers are those seen on the held-out rows."
        )
        if self.n_uncovered:
            text += (
                f" {number_of(self.n_uncovered, 'held-out row')} in regions with fewer than {LEAST_ROWS} of them "
                "have no bound."
            )
        return text

    def table(self) -> list[list[str]]:
        """The regions as cells of text, with a header."""
        lines = [["region", "neurons", "rows", "answer", "error rate at most", "errors seen"]]
        for region in self.listed:
            lines.append(
                [
                    str(region.number),
                    region.signs,
                    percent(region.share),
                    region.answer_text,
                    percent_up(region.error_bound),
                    f"{region.errors:,} of {region.n_rows:,}",
                ]
            )
        return lines

    def describe(self) -> str:
        """The table in plain text."""
        parts = [paragraphs(f"{self.heading}:"), aligned(self.table(), left=2)]
        in_words = [f"{region.number}: {printable(region.words, 200)}" for region in self.listed if region.words]
        if in_words:
            parts.append("\n".join(in_words))
        return "\n\n".join([*parts, paragraphs(self.remark)])

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "listed": [region.to_dict() for region in self.listed],
            "n_rows": self.n_rows,
            "n_uncovered": self.n_uncovered,
            "delta": self.delta,
            "plain_vote": self.plain_vote,
            "period": self.period,
        }


def certified_regions(certificate: Certificate | None) -> CertifiedRegions | None:
    """The certified regions in a certificate; None if it has none (`why_no_certified_regions` says why)."""
    if certificate is None:
        return None
    statements = certificate.each(RegionError)
    if not statements:
        return None
    facts = certificate.facts
    listed = []
    for number, statement in enumerate(statements, start=1):
        answer, answer_share = statement.usual_answer(facts)
        listed.append(
            CertifiedRegion(
                number=number,
                signs=statement.signs,
                words=statement.words,
                share=statement.n / facts.n_rows,
                answer=answer,
                answer_share=answer_share,
                error_bound=statement.value or 0.0,
                errors=statement.errors,
                n_rows=statement.n,
                plain_vote=certificate.counts_plain_vote,
                period=facts.period,
            )
        )
    return CertifiedRegions(
        listed=tuple(listed),
        n_rows=facts.n_rows,
        n_uncovered=facts.n_rows - sum(statement.n for statement in statements),
        delta=facts.delta * certificate.shares.get(statements[0].unit, 1.0),
        plain_vote=certificate.counts_plain_vote,
        period=facts.period,
    )


def why_no_certified_regions(model: Model) -> str:
    """Why a model has no certified regions, in a sentence; empty if it has."""
    certificate = model.certificate
    if certified_regions(certificate) is not None:
        return ""
    if why_no_signs(model.predictor):
        return why_no_signs(model.predictor)
    if certificate is None:
        return "The model has no certificate: certify it on held-out rows (abnet certify), which bounds its regions."
    if certificate.facts.trained:
        return "The posterior was trained on the rows that certify it, so its regions depend on them: freeze it."
    if certificate.facts.n_groups is not None:
        return "The held-out rows are in groups, so the rows of a region are not independent of each other."
    return f"No region holds {LEAST_ROWS} held-out rows."


def regions_of(model: Model) -> CertifiedRegions:
    """The certified regions of a model; a ValueError says why there are none."""
    found = certified_regions(model.certificate)
    if found is None:
        raise ValueError(why_no_certified_regions(model))
    return found
