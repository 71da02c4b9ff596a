"""Explanations: which columns moved the answers for single rows, and which matter to a model as a whole."""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.explanation.background import ExplanationPlan
    from abnet.explanation.certified_region import CertifiedRegion, CertifiedRegions, certified_regions
    from abnet.explanation.model_explanation import ColumnImportance, ModelExplanation, explain_model
    from abnet.explanation.row_explanation import Explanation, RowExplanation, explain, without_background

__all__ = [
    "CertifiedRegion",
    "CertifiedRegions",
    "ColumnImportance",
    "Explanation",
    "ExplanationPlan",
    "ModelExplanation",
    "RowExplanation",
    "certified_regions",
    "explain",
    "explain_model",
    "without_background",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.explanation.background": ["ExplanationPlan"],
        "abnet.explanation.certified_region": ["CertifiedRegion", "CertifiedRegions", "certified_regions"],
        "abnet.explanation.model_explanation": ["ColumnImportance", "ModelExplanation", "explain_model"],
        "abnet.explanation.row_explanation": ["Explanation", "RowExplanation", "explain", "without_background"],
    },
)
