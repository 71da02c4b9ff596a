"""`Certificate`: what is promised about a fitted model, with everything needed to check it by hand."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.grouped import GroupCounts
from abnet.bounds.rounding import round_up
from abnet.checks import (
    Check,
    amount,
    apply,
    count,
    exactly,
    instance,
    level,
    list_of,
    one_of,
    optional,
    probability,
    refusal,
    tally,
)

__all__ = ["Certificate", "ClassCertificate", "Expected", "MonteCarlo"]


@dataclass(frozen=True)
class Expected:
    """What the first part lets one expect of a posterior on the bound rows; never computed from these.

    Attributes
    ----------
    risk : float
        Gibbs risk, for instance that of the prior on the validation rows of the first part.
    kl : float
        Divergence of the posterior from the prior, in nats: a guess, or what further training met there.
    tandem : float or None
        Probability that two draws both err; without it, the second-order bound keeps its constant ξ(n).

    Examples
    --------
    >>> Expected.from_losses([0.0, 0.25, 0.5]).risk
    0.3125
    """

    risk: float
    kl: float
    tandem: float | None = None

    def __post_init__(self) -> None:
        apply(_EXPECTED_CHECKS, self)

    @classmethod
    def from_losses(cls, losses: ArrayLike, kl: float = 2.0) -> Self:
        r"""The figures of Gibbs losses on m validation rows of the first part, and a guess at the divergence.

        :math:`(\frac12 + \sum p_i)/(m + 1)`, so that few rows without a loss do not promise a risk of 0. On ten fits
        the divergence was .3 to 2.6 nats, and at a guess of 2 the bound was above the best C's by .001 in the median.
        """
        values = np.clip(np.asarray(losses, dtype=np.float64), 0.0, 1.0)
        m = len(values) + 1
        return cls((0.5 + math.fsum(values)) / m, float(kl), (0.25 + math.fsum(values * values)) / m)


@dataclass(frozen=True)
class MonteCarlo:
    """How the empirical Gibbs risk was sampled, where it could not be computed.

    Attributes
    ----------
    n_paths : int
        Fresh independent paths for each example.
    delta : float
        The part of the certificate's δ that is spent on sampling; 0 for a frozen posterior, whose examples' mean losses
        are themselves independent draws.
    risk_bound : float
        Upper bound on the empirical Gibbs risk that replaces the sampled mean; that mean where nothing is spent.
    vote : str or None
        What the vote bound of a trained posterior is about: "expectation" for the sign of the expected output, "fresh
        paths" for a vote of paths drawn anew for each prediction, "fixed paths" for one of paths drawn once and kept,
        None where the deployed vote is none of these.
    vote_paths : int or None
        Number of paths that are kept, for "fixed paths".
    """

    n_paths: int
    delta: float
    risk_bound: float
    vote: str | None
    vote_paths: int | None = None

    def __post_init__(self) -> None:
        apply(_MONTE_CARLO_CHECKS, self)


@dataclass(frozen=True)
class ClassCertificate:
    """The part of a certificate about the rows of one class.

    Attributes
    ----------
    label : int
        The place of the class, 0 to K-1.
    n_examples : int
        Number of bound rows of the class; may be 0, and then the bounds are 1.
    empirical_gibbs_risk, empirical_tandem_risk : float or None
        Mean losses on them, None where there are none.
    vote_errors : int or None
        How many of them the deployed vote gets wrong, where it was counted.
    gibbs_risk_bound : float
        Bound on the Gibbs risk among new data of the class.
    vote_error_bound : float or None
        Bound on the error of ``predict`` among new data of the class.
    vote_method : str or None
        As in `Certificate`.
    delta : float
        Share of the certificate's δ that these bounds hold at; 0 where there are no rows.
    """

    label: int
    n_examples: int
    empirical_gibbs_risk: float | None
    empirical_tandem_risk: float | None
    vote_errors: int | None
    gibbs_risk_bound: float
    vote_error_bound: float | None
    vote_method: str | None
    delta: float

    def __post_init__(self) -> None:
        apply(_CLASS_CHECKS, self)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the error of a fitted model on new data, and what they were computed from.

    ``gibbs_risk_bound`` and ``vote_error_bound`` each hold with probability at least 1-δ over the bound rows, not both
    at once. ``str()`` says in plain English what is promised, under which assumptions.

    Attributes
    ----------
    gibbs_risk_bound : float
        Bound on the mean error of a network drawn from the posterior.
    vote_error_bound : float or None
        Bound on the error of ``predict``; None where no bound covers what ``predict`` does.
    vote_method : str or None
        The bound it comes from: "twice Gibbs", "tandem" or "test set"; the first two with ", fixed paths" where the
        vote is one of paths drawn once and kept, whose factors are a little larger than 2 and 4.
    empirical_gibbs_risk : float
        Mean loss on the bound rows; for a sampled network the mean over the paths.
    kl : float
        Divergence of the posterior from the prior, in nats; 0 for a frozen posterior.
    n_examples : int
        Number of bound rows.
    delta : float
        Probability with which a bound may fail.
    prior : str
        "init", "split", or "test set" where a finished model is certified on rows that had no part in learning.
    n_candidates : int
        Number of candidates among which the model was chosen by means of the bound rows; every bound accounts for it.
    monte_carlo : MonteCarlo or None
        How the risk was sampled; None where it was computed exactly.
    posterior : str
        "train" if the posterior learned from the bound rows, "frozen" if it never did.
    twice_gibbs_bound, tandem_bound : float or None
        First- and second-order bound on the vote. Where both stand, each is at δ/2, so that both hold at once.
    test_set_bound : float or None
        Bound on the vote by its errors; frozen posterior only, at δ.
    vote_errors : int or None
        Number of bound rows that the deployed vote gets wrong, where it was counted.
    empirical_tandem_risk : float or None
        Mean of the products of two independent losses.
    per_class : tuple of ClassCertificate
        One part for each of the K classes, in their order, all of which hold at once; or empty.
    class_names : tuple of K str
        The user's labels, in the order of the classes, for the text.
    drawn : {"network", "mean field", "classifier"}
        Whose error the Gibbs risk is: that of one network, or of one mean-field draw (PBGNet with several hidden
        layers), in which every neuron reads its own draw of the layer below. "classifier": nothing is drawn, the Gibbs
        risk is the error of ``predict`` itself, and so is its bound.
    expected : Expected or None
        The figures of the first part from which Catoni's constant was chosen, for a posterior that was trained.
    groups : GroupCounts or None
        Where rows came in groups: the promise is then about a new group, each counting the same whatever its size.
        Empirical risks are means of the groups' means, the bounds count groups in the place of rows (test set: by
        betting on the groups' error rates, unless every group has one row), and there is nothing by class.
    """

    gibbs_risk_bound: float
    vote_error_bound: float | None
    vote_method: str | None
    empirical_gibbs_risk: float
    kl: float
    n_examples: int
    delta: float
    prior: str
    n_candidates: int
    monte_carlo: MonteCarlo | None
    posterior: str
    twice_gibbs_bound: float | None
    tandem_bound: float | None
    test_set_bound: float | None
    vote_errors: int | None
    empirical_tandem_risk: float | None
    per_class: tuple[ClassCertificate, ...]
    class_names: tuple[str, ...] = ("negative", "positive")
    drawn: str = "network"
    expected: Expected | None = None
    groups: GroupCounts | None = None

    def __post_init__(self) -> None:
        apply(_CHECKS, self)
        for ok, complaint in _contradictions(self):
            if not ok:
                raise ValueError(f"not a certificate: {complaint}")

    @property
    def balanced_vote_bound(self) -> float | None:
        """Bound on the balanced error of ``predict``, the mean of the classes' errors, with probability 1-δ."""
        bounds = [part.vote_error_bound for part in self.per_class if part.vote_error_bound is not None]
        if not bounds or len(bounds) < len(self.per_class):
            return None
        return min(1.0, round_up(sum(bounds) / len(bounds)))

    @property
    def n_groups(self) -> int | None:
        """Number of groups that the bound rows come in; None where every row is a draw of its own."""
        return None if self.groups is None else len(self.groups.rows)

    @property
    def empirical_error(self) -> float | None:
        """Share of the bound rows that the vote gets wrong; with groups, the mean of the groups' shares."""
        if self.vote_errors is None:
            return None
        if self.groups is None:
            return self.vote_errors / self.n_examples
        return math.fsum(self.groups.rates) / len(self.groups.rows)

    @property
    def base_rate(self) -> float | None:
        """Share of the bound rows on which always answering their commonest class errs; None if not known by class."""
        if not self.per_class:
            return None
        return 1.0 - max(part.n_examples for part in self.per_class) / self.n_examples

    def describe(self, *, details: bool = False, classes: Sequence[str] | None = None) -> str:
        """Say in plain English what is promised.

        Parameters
        ----------
        details : bool
            With the Gibbs risk, which is about one network drawn at random, not about ``predict``.
        classes : sequence of K str, optional
            Other names of the classes.
        """
        from abnet.bounds.wording import describe

        return describe(self, details=details, classes=classes)

    def check(self, losses: ArrayLike | None = None) -> dict[str, str]:
        """As `verify_certificate`: which bounds were "recomputed", and which only checked to be "attainable"."""
        from abnet.bounds.certify import verify_certificate

        return verify_certificate(self, losses)

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        from abnet.bounds.wording import certificate_html

        return certificate_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers, strings, lists and dictionaries, fit for JSON."""
        parts = [asdict(part) for part in self.per_class]
        record = {**asdict(self), "per_class": parts, "class_names": list(self.class_names)}
        record["groups"] = None if self.groups is None else self.groups.to_dict()
        return record

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file; `abnet.load_certificate` and `abnet inspect` read it."""
        from abnet.bounds.certificate_file import write_record

        write_record(path, "errors", self.to_dict())

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote.

        Anything missing, unknown, of a wrong type or out of range is a ValueError.
        """
        values = _fields(cls, record)
        if values["monte_carlo"] is not None:
            values["monte_carlo"] = MonteCarlo(**_fields(MonteCarlo, values["monte_carlo"]))
        if values["expected"] is not None:
            values["expected"] = Expected(**_fields(Expected, values["expected"]))
        if values["groups"] is not None:
            values["groups"] = GroupCounts.from_dict(values["groups"])
        values["class_names"] = list_of(lambda name, value: value)("class_names", values["class_names"])
        parts = list_of(lambda name, part: ClassCertificate(**_fields(ClassCertificate, part)))
        values["per_class"] = parts("per_class", values["per_class"])
        return cls(**values)


def _fields(cls: type, record: Any) -> dict[str, Any]:
    return exactly(cls.__name__, record, [field.name for field in fields(cls)])


def _parts(name: str, value: Any) -> tuple[ClassCertificate, ...]:
    if not isinstance(value, tuple) or not all(isinstance(part, ClassCertificate) for part in value):
        raise refusal(name, "be a tuple of ClassCertificate", value)
    return value


def _names(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, tuple) or len(value) < 2 or not all(isinstance(label, str) for label in value):
        raise refusal(name, "be a tuple of two or more texts", value)
    return value


def _base(method: str | None) -> str | None:
    return method.removesuffix(", fixed paths") if method else None


def _contradictions(c: Certificate) -> list[tuple[bool, str]]:
    votes = {"twice Gibbs": c.twice_gibbs_bound, "tandem": c.tandem_bound, "test set": c.test_set_bound, None: None}
    return [
        (c.gibbs_risk_bound >= c.empirical_gibbs_risk, "gibbs_risk_bound is below empirical_gibbs_risk"),
        (c.vote_error_bound == votes[_base(c.vote_method)], f"vote_error_bound is not the bound of {c.vote_method!r}"),
        ((c.vote_errors or 0) <= c.n_examples, "vote_errors exceeds n_examples"),
        (c.posterior == "train" or c.kl == 0.0, "a frozen posterior has no kl"),
        (c.posterior == "frozen" or c.test_set_bound is None, "a trained posterior has no test_set_bound"),
        (c.posterior == "frozen" or c.prior != "test set", "the prior of a trained posterior is no test set"),
        (
            c.expected is None or (c.posterior == "train" and c.prior == "split"),
            "expected figures need a first part, and a posterior that was trained on the bound rows",
        ),
        (c.drawn != "classifier" or c.test_set_bound is not None, "a classifier has a test_set_bound"),
        *(_contradictions_by_class(c) if c.per_class else []),
        *(_contradictions_of_groups(c, c.groups) if c.groups else []),
    ]


def _contradictions_of_groups(c: Certificate, groups: GroupCounts) -> list[tuple[bool, str]]:
    wrong = None if groups.errors is None else sum(groups.errors)
    return [
        (sum(groups.rows) == c.n_examples, "the rows of the groups differ from n_examples"),
        (wrong == c.vote_errors, "the errors of the groups differ from vote_errors"),
        (not c.per_class, "there are no bounds by class for groups"),
    ]


def _contradictions_by_class(c: Certificate) -> list[tuple[bool, str]]:
    labels, names = [part.label for part in c.per_class], len(c.class_names)
    return [
        (labels == list(range(names)), f"per_class must hold the classes 0 to {names - 1} of class_names, in order"),
        (sum(p.n_examples for p in c.per_class) == c.n_examples, "per_class counts differ from n_examples"),
        (
            math.fsum(p.delta for p in c.per_class) <= c.delta * (1.0 + 1e-9),
            "the shares of the classes add up to more than delta",
        ),
    ]


_EXPECTED_CHECKS: dict[str, Check] = {
    "risk": probability,
    "kl": amount,
    "tandem": optional(probability),
}
_METHOD = optional(one_of("twice Gibbs", "tandem", "test set", "twice Gibbs, fixed paths", "tandem, fixed paths"))
_PROBABILITY = optional(probability)
_MONTE_CARLO_CHECKS: dict[str, Check] = {
    "n_paths": count,
    "delta": probability,
    "risk_bound": probability,
    "vote": optional(one_of("expectation", "fresh paths", "fixed paths")),
    "vote_paths": optional(count),
}
_CLASS_CHECKS: dict[str, Check] = {
    "label": tally,
    "n_examples": tally,
    "empirical_gibbs_risk": _PROBABILITY,
    "empirical_tandem_risk": _PROBABILITY,
    "vote_errors": optional(tally),
    "gibbs_risk_bound": probability,
    "vote_error_bound": _PROBABILITY,
    "vote_method": _METHOD,
    "delta": probability,
}
_CHECKS: dict[str, Check] = {
    "gibbs_risk_bound": probability,
    "vote_error_bound": _PROBABILITY,
    "vote_method": _METHOD,
    "empirical_gibbs_risk": probability,
    "kl": amount,
    "n_examples": count,
    "delta": level,
    "prior": one_of("init", "split", "test set"),
    "n_candidates": count,
    "monte_carlo": optional(instance(MonteCarlo)),
    "posterior": one_of("train", "frozen"),
    "twice_gibbs_bound": _PROBABILITY,
    "tandem_bound": _PROBABILITY,
    "test_set_bound": _PROBABILITY,
    "vote_errors": optional(tally),
    "empirical_tandem_risk": _PROBABILITY,
    "per_class": _parts,
    "class_names": _names,
    "drawn": one_of("network", "mean field", "classifier"),
    "expected": optional(instance(Expected)),
    "groups": optional(instance(GroupCounts)),
}
