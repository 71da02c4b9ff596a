"""`MissedClass`: how often prediction sets miss the true class, for one model and its thresholds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from abnet.bounds.prediction_sets import rows_for_sets, set_rank
from abnet.certificates.set_rule import SetRule
from abnet.certificates.statements.statement import Statement
from abnet.utils.wording import confidence, number_of, stated

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate
    from abnet.certificates.facts import Facts

__all__ = ["MissedClass"]


class MissedClass(Statement, frozen=True, kw_only=True, tag="missed by sets"):
    """A target for the share of rows whose true class is not in their set; the thresholds come from the same rows.

    Attributes
    ----------
    label : str or None
        The class of these rows; None for all rows. The promises for all classes hold jointly.
    sets : SetRule
    misses, n : int
        Rows below the threshold, of n. A row with a label that the model does not know is missed by every set.
    """

    label: str | None = None
    sets: SetRule
    misses: int
    n: int

    @property
    def about(self) -> str:
        """The subject in a few words."""
        if self.label is None:
            return "misses of the sets"
        return f"misses of the sets in class {self.label}"

    @property
    def jointly(self) -> str | None:
        """The promises for all classes hold jointly."""
        if self.label is None:
            return None
        return "misses by class"

    def delta_share(self, certificate: "Certificate") -> float:
        """The δ of the facts, or an equal share for each class that the model knows."""
        if self.label is None:
            return certificate.facts.delta
        return certificate.facts.delta / len(self.sets.thresholds)

    def bound(self) -> float | None:
        """The target, if few enough rows are below the threshold."""
        most = set_rank(self.n, self.sets.alpha, self.delta, n_candidates=self.n_candidates)
        if most is None or self.misses > most:
            return None
        return self.sets.alpha

    def check_counts(self, certificate: "Certificate") -> None:
        """Rows are those of the facts, all statements have the same thresholds, and every class has its own."""
        facts = certificate.facts
        known = facts.classes[: len(self.sets.thresholds)]
        self.expect("trained", False, facts.trained)
        self.expect("n_groups", None, facts.n_groups)
        self.expect("classes", len(known), len(self.sets.thresholds))
        self.expect("n", self.n, facts.rows_of(self.label))
        self.expect_at_most("misses", self.misses, self.n)
        family = certificate.each(MissedClass)
        labels: tuple[str | None, ...] = (None,)
        place = 0
        if self.sets.by_class:
            labels = known
        self.expect("classes with sets", tuple(part.label for part in family), labels)
        for part in family:
            self.expect("sets", self.sets, part.sets)
        if self.label is not None:
            place = known.index(self.label)
        has_threshold = self.sets.thresholds[place] is not None
        self.expect("a threshold", has_threshold, self.value is not None)
        if self.label is not None and not has_threshold:
            self.expect("misses", self.misses, 0)

    def clause(self, facts: "Facts") -> str:
        """The main clause."""
        rows = "new rows"
        if self.label is not None:
            rows = f"new rows of class {self.label}"
        return f"at most {stated(self.sets.alpha)} of {rows} have a prediction set without their true class"

    def seen(self, facts: "Facts") -> str:
        """Misses and rows."""
        return f" ({number_of(self.misses, 'miss', 'misses')} on {number_of(self.n, facts.counted())})"

    def not_shown(self, facts: "Facts") -> str:
        """How many rows would be needed, or that too many labels are unknown."""
        target = f"a miss rate of at most {stated(self.sets.alpha)} with {confidence(self.delta)} confidence"
        needed = rows_for_sets(self.sets.alpha, self.delta, n_candidates=self.n_candidates)
        of_class = ""
        every_set = "every set holds all classes"
        if self.label is not None:
            of_class = f" of class {self.label}"
            every_set = f"every set holds class {self.label}"
        if self.n < needed:
            return f"{needed:,} held-out rows{of_class} are needed for {target}; there are {self.n:,}, so {every_set}."
        return (
            f"{number_of(self.misses, 'row')} of {self.n:,} have a label that the model does not know, and no set "
            f"holds it: {target} could not be certified, and {every_set}."
        )

    @classmethod
    def joint_sentence(cls, family: Sequence[Self], certificate: "Certificate", *, details: bool) -> str:
        """All classes in one sentence, and those without a threshold."""
        facts = certificate.facts
        found = [f"{part.label}{part.seen(facts)}" for part in family if part.value is not None]
        missing = [part.not_shown(facts) for part in family if part.value is None]
        words = []
        if found:
            delta = sum(part.delta for part in family)
            words.append(
                f"With {confidence(round(delta, 12))} confidence, jointly for these classes: at most "
                f"{stated(family[0].sets.alpha)} of the new rows of the class have a prediction set without it: "
                f"{'; '.join(found)}."
            )
        words += missing
        if len(facts.classes) > len(family):
            words.append("No set holds a label that the model does not know; no class's promise is about such rows.")
        return " ".join(words)

    @property
    def assumption(self) -> str | None:
        """About the thresholds."""
        if self.value is None:
            return None
        return "The thresholds of the sets come from the same rows, which the bounds account for."
