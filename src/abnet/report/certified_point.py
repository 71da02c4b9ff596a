"""Where a certificate allows the recall, the false alarms and the precision of a model's own answers to lie."""

from dataclasses import dataclass

from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.cut_bound import CutBound
from abnet.certificates.statements.precision import PrecisionBound, PrecisionTest
from abnet.certificates.statements.rate_test import CutTest
from abnet.certificates.statements.recall import RecallBound, RecallTest
from abnet.certificates.statements.specificity import SpecificityBound, SpecificityTest
from abnet.model.model import Model
from abnet.tables.named_columns import label_text
from abnet.utils.wording import confidence, percent_down, percent_up

__all__ = ["CertifiedPoint", "certified_point"]


@dataclass(frozen=True)
class CertifiedPoint:
    """Certified limits of rates of one class; a rate without a limit keeps the one that always holds.

    Attributes
    ----------
    recall : float
        Lower bound.
    false_alarms : float
        Upper bound on the share of other rows that are called so.
    precision : float
        Lower bound.
    joint : bool
        Whether the limits hold jointly.
    delta : float
        Maximum probability that one of them is false, or, unless they hold jointly, that each is.
    """

    recall: float = 0.0
    false_alarms: float = 1.0
    precision: float = 0.0
    joint: bool = False
    delta: float = 0.05

    @property
    def bounds_roc(self) -> bool:
        """Whether anything is certified about a point of the ROC curve."""
        return self.recall > 0.0 or self.false_alarms < 1.0

    @property
    def bounds_precision_recall(self) -> bool:
        """Whether anything is certified about a point of the precision-recall curve."""
        return self.recall > 0.0 or self.precision > 0.0

    def words(self, *, roc: bool) -> str:
        """What is certified about a point of the ROC curve, or else of the precision-recall curve."""
        parts = []
        if self.recall > 0.0:
            parts.append(f"recall at least {percent_down(self.recall)}")
        if roc and self.false_alarms < 1.0:
            parts.append(f"false alarms at most {percent_up(self.false_alarms)}")
        if not roc and self.precision > 0.0:
            parts.append(f"precision at least {percent_down(self.precision)}")
        how = f"with {confidence(self.delta)} confidence"
        if len(parts) > 1 and self.joint:
            how = f"jointly {how}"
        elif len(parts) > 1:
            how = f"each {how}"
        return f"{', '.join(parts)}, {how}"


def certified_point(model: Model, positive: int) -> CertifiedPoint | None:
    """What the model's certificate says about its own answers of a class of two; None if it says nothing.

    Parameters
    ----------
    model : Model
        With two classes.
    positive : int
        Code of the class.
    """
    certificate = model.certificate_
    if certificate is None:
        return None
    name = label_text(model.labels.names[positive])
    if model.decision.kind == "cut":
        point = _of_threshold(certificate, name)
    elif model.decision.kind == "argmax":
        point = _of_classes(certificate, name)
    else:
        return None
    if point.bounds_roc or point.bounds_precision_recall:
        return point
    return None


def _of_threshold(certificate: Certificate, name: str) -> CertifiedPoint:
    """The limits at the threshold of the decision, which hold jointly if they have shares of δ."""
    recall = _first(certificate, name, (RecallTest, RecallBound))
    specificity = _first(certificate, name, (SpecificityTest, SpecificityBound))
    precision = _first(certificate, name, (PrecisionTest, PrecisionBound))
    stated = [statement for statement in (recall, specificity, precision) if statement is not None]
    return CertifiedPoint(
        recall=_value(recall),
        false_alarms=1.0 - _value(specificity),
        precision=_value(precision),
        joint=all(statement.unit in certificate.shares for statement in stated),
        delta=certificate.facts.delta,
    )


def _first(
    certificate: Certificate, name: str, kinds: tuple[type[CutBound | CutTest], ...]
) -> CutBound | CutTest | None:
    """The first statement that proves something: of two that each hold, the larger must not be picked."""
    for kind in kinds:
        for statement in certificate.each(kind):
            if statement.label == name and statement.value is not None:
                return statement
    return None


def _value(statement: CutBound | CutTest | None) -> float:
    """The lower bound of a statement; 0 if there is none."""
    if statement is None or statement.value is None:
        return 0.0
    return statement.value


def _of_classes(certificate: Certificate, name: str) -> CertifiedPoint:
    """The limits of the error rates of both classes, which hold jointly."""
    recall = 0.0
    false_alarms = 1.0
    if not certificate.counts_plain_vote:
        for part in certificate.per_class:
            if part.vote_error_bound is None:
                continue
            if part.label == name:
                recall = 1.0 - part.vote_error_bound
            else:
                false_alarms = part.vote_error_bound
    return CertifiedPoint(recall, false_alarms, joint=True, delta=certificate.facts.delta)
