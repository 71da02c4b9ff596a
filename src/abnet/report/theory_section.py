"""For readers of the theory: the kind of network, how it was made, and what its neurons and regions say."""

from typing import Any

from markupsafe import Markup

from abnet.explanation.certified_region import CertifiedRegions, certified_regions
from abnet.explanation.model_explanation import ModelExplanation
from abnet.model.model import Model
from abnet.report.importance_section import regions_table
from abnet.report.markup import html_table, rendered, typeset
from abnet.utils.wording import shortened

__all__ = ["theory_section"]


def theory_section(model: Model, explanation: ModelExplanation | None, *, given: bool) -> Markup:
    """What nobody needs to rely on the model, and what a reader of the paper looks for."""
    regions = None
    if model.certificate_ is not None:
        regions = _by_region(certified_regions(model.certificate_))
    expected = None
    if explanation is not None:
        expected = regions_table(model, explanation, given=given)
    return rendered("theory.html", facts=_facts(model), certified=regions, expected=expected)


def _facts(model: Model) -> Markup:
    """The network in the words of the theory."""
    card = model.card
    facts = {
        "kind of network": type(model.predictor).__name__,
        "recipe": card.recipe,
        "layers": "-".join(map(str, card.sizes)),
        "aggregation": card.aggregation,
        "prior": card.prior,
        "posterior": card.posterior,
    }
    lines = [[name, shortened(value, 300)] for name, value in facts.items() if value]
    return html_table(["", ""], lines, caption="The network", left=2)


def _by_region(regions: CertifiedRegions | None) -> dict[str, Any] | None:
    """The certified regions of a narrow network; None if there are none."""
    if regions is None:
        return None
    header, *lines = regions.table()
    header.insert(2, "described by")
    for line, region in zip(lines, regions.listed, strict=True):
        line[1] = typeset(line[1])
        line.insert(2, shortened(region.words, 200))
    return {
        "words": f"{regions.heading}.",
        "table": html_table(header, lines, left=3, caption="The certificate by region"),
        "note": regions.remark,
    }
