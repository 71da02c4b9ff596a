"""`Facts`: how a model was made and what was counted on the bound rows."""

from collections.abc import Sequence

import msgspec

from abnet.bounds.shares import shares_by_count
from abnet.certificates.evidence import Evidence
from abnet.certificates.terms import Draw, Source, Terms

__all__ = ["Facts", "unlike"]

UNKNOWN = "another label"
"""Class name of rows whose label the model does not know."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the model was made and what was counted on the bound rows.

    The assumptions of a certificate follow from its facts, and every statement is compared with them.

    Attributes
    ----------
    n_rows : int
        Number of bound rows: the rows on which the model is certified.
    n_groups : int or None
        Number of groups of these rows; None if every row is an independent draw.
    classes : tuple of str
        Names of the classes, in order; the last one stands for labels that the model does not know, if there were any.
    class_rows, class_errors : tuple of int
        Bound rows of each class, and wrong answers among them.
    source : {"split", "init", "given", "test set"}
        Where the model comes from: trained on other rows of the same table, the random initialisation as prior, a prior
        given by the user, or a model fitted elsewhere.
    trained : bool
        Whether the posterior was trained on the bound rows.
    kl : float
        Divergence of the posterior from the prior.
    n_paths : int or None
        Number of fresh paths per row with which the Gibbs risk was sampled; None if it is exact.
    vote_paths : int or None
        Number of paths that vote in ``predict``, drawn once and kept.
    drawn : {"network", "tree", "predictor"}
        What a draw from the posterior is: a network, a tree of PBGNet, or whatever an aggregation of the caller's own
        stands for.
    delta : float
        Maximum probability that a statement, or a family of joint statements, is false.
    n_candidates : int
        Number of models among which one is chosen with the bound rows.
    period : str or None
        If the rows were split by time, which of them are the bound rows, such as "after 2024-03-01".
    """

    n_rows: int
    classes: tuple[str, ...]
    class_rows: tuple[int, ...]
    class_errors: tuple[int, ...]
    source: Source
    delta: float
    n_groups: int | None = None
    trained: bool = False
    kl: float = 0.0
    n_paths: int | None = None
    vote_paths: int | None = None
    drawn: Draw = "network"
    n_candidates: int = 1
    period: str | None = None

    def __post_init__(self) -> None:
        rows = self.class_rows
        errors = self.class_errors
        whole = len(self.classes) == len(rows) == len(errors) and sum(rows) == self.n_rows > 0
        if not whole or not all(0 <= k <= n for k, n in zip(errors, rows, strict=True)):
            raise ValueError("class_rows and class_errors contradict each other, or do not add up to n_rows.")
        if not 0.0 < self.delta < 1.0 or self.n_candidates < 1:
            raise ValueError("delta must lie in (0, 1), and n_candidates must be at least 1.")

    @classmethod
    def of(cls, evidence: Evidence, terms: Terms) -> "Facts":
        """The facts of evidence that was seen under these terms."""
        class_rows = evidence.class_rows.tolist()
        names = list(evidence.classes)
        if class_rows[-1]:
            names.append(unlike(evidence.classes, UNKNOWN))
        n_groups = None
        if evidence.groups is not None:
            n_groups = len(evidence.groups.table)
        n_paths = None
        if evidence.losses is not None:
            n_paths = evidence.losses.n_paths
        return cls(
            n_rows=evidence.n_rows,
            classes=tuple(names),
            class_rows=tuple(class_rows[: len(names)]),
            class_errors=tuple(evidence.class_errors.tolist()[: len(names)]),
            source=terms.source,
            delta=terms.delta,
            n_groups=n_groups,
            trained=terms.trained,
            kl=terms.kl,
            n_paths=n_paths,
            vote_paths=terms.vote_paths,
            drawn=terms.drawn,
            n_candidates=terms.n_candidates,
            period=terms.period,
        )

    def check(self) -> None:
        """Raise a ValueError if the facts contradict each other."""
        if not self.trained and self.kl != 0.0:
            raise ValueError(f"the facts: kl is {self.kl}, but must be 0 for a model that was not trained on the rows.")
        if self.trained and self.source == "test set":
            raise ValueError("the facts: the posterior was trained on these rows, so they cannot be a test set.")
        if self.period is not None and self.source == "test set":
            raise ValueError("the facts: the rows of a period were held out by a fit, so they are no other test set.")
        if self.n_groups is not None and self.n_groups > self.n_rows:
            raise ValueError(f"the facts: there are {self.n_groups} groups, but only {self.n_rows} rows.")

    # What was counted, of all rows (label None) or of one class

    def place_of(self, label: str) -> int:
        """The index of a class; raises a ValueError if there is no such class."""
        if label not in self.classes:
            raise ValueError(f"the facts have no class {label!r}.")
        return self.classes.index(label)

    def rows_of(self, label: str | None) -> int:
        """Number of bound rows."""
        if label is None:
            return self.n_rows
        return self.class_rows[self.place_of(label)]

    def errors_of(self, label: str | None) -> int:
        """Number of wrong answers."""
        if label is None:
            return sum(self.class_errors)
        return self.class_errors[self.place_of(label)]

    def draws_of(self, label: str | None) -> int:
        """Number of independent draws: groups, if there are any, or rows."""
        if label is None and self.n_groups is not None:
            return self.n_groups
        return self.rows_of(label)

    def delta_of(self, label: str | None) -> float:
        """The δ of a statement: for one class, its share."""
        if label is None:
            return self.delta
        return shares_by_count(self.class_rows, self.delta)[self.place_of(label)]

    # Words

    @property
    def new_data(self) -> str:
        """What statements about all rows are about."""
        if self.n_groups is not None:
            return "a new group, averaged over its rows,"
        return "new data"

    @property
    def condition(self) -> str:
        """What statements about a period take for granted, before their main clause; empty without a period."""
        if self.period is None:
            return ""
        return f"if the future is like the rows {self.period}, "

    def counted(self, kind: str = "row") -> str:
        """What the rows (or groups) are called: held out only if training did not use them.

        A posterior is trained on its bound rows, and without a first part all rows are bound rows.
        """
        if not self.trained and self.source in ("split", "test set"):
            return f"held-out {kind}"
        return f"bound {kind}"


def unlike(classes: Sequence[str], name: str) -> str:
    """The name, lengthened if it is that of a class: a statement is known by the names in it."""
    if name not in classes:
        return name
    return unlike(classes, f"{name} (no class)")
