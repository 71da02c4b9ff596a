"""`Certificate`: what is promised about a fitted model, with everything needed to check it by hand."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from abnet.bounds.checks import (
    Check,
    apply,
    count,
    exactly,
    finite,
    instance,
    level,
    one_of,
    optional,
    probability,
)
from abnet.bounds.outward import round_up

__all__ = ["Certificate", "ClassCertificate", "MonteCarlo"]


@dataclass(frozen=True)
class MonteCarlo:
    """How the empirical Gibbs risk was sampled, where it could not be computed.

    Attributes
    ----------
    n_paths : int
        Fresh independent paths for each example.
    delta : float
        The part of the certificate's δ that is spent on sampling.
    risk_bound : float
        Upper bound on the empirical Gibbs risk that replaces the sampled mean.
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
    """The part of a certificate about the examples of one class, at δ/2.

    Attributes
    ----------
    label : int
        -1 or +1.
    n_examples : int
        Number of bound examples of the class; may be 0, and then the bounds are 1.
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
    """

    label: int
    n_examples: int
    empirical_gibbs_risk: float | None
    empirical_tandem_risk: float | None
    vote_errors: int | None
    gibbs_risk_bound: float
    vote_error_bound: float | None
    vote_method: str | None

    def __post_init__(self) -> None:
        apply(_CLASS_CHECKS, self)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the error of a fitted model on new data, and what they were computed from.

    ``gibbs_risk_bound`` and ``vote_error_bound`` each hold with probability at least 1-δ over the bound examples, not
    both at once. ``str()`` says in plain English what is promised, under which assumptions.

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
        Mean loss on the bound examples; for a sampled network the mean over the paths.
    kl : float
        Divergence of the posterior from the prior, in nats; 0 for a frozen posterior.
    n_examples : int
        Number of bound examples.
    delta : float
        Probability with which a bound may fail.
    prior : str
        "init", "split" or "hold-out".
    n_candidates : int
        Number of candidates among which the model was chosen by means of the bound examples; every bound pays for it.
    monte_carlo : MonteCarlo or None
        How the risk was sampled; None where it was computed exactly.
    posterior : str
        "train" if the posterior was trained on the bound examples, "frozen" if it never saw them.
    twice_gibbs_bound, tandem_bound : float or None
        First- and second-order bound on the vote. Where both stand, each is at δ/2, so that both hold at once.
    test_set_bound : float or None
        Bound on the vote by its errors; frozen posterior only, at δ.
    vote_errors : int or None
        Number of bound examples that the deployed vote gets wrong, where it was counted.
    empirical_tandem_risk : float or None
        Mean of the products of two independent losses.
    per_class : tuple of ClassCertificate
        Negative and positive class, at δ/2 each, or empty.
    class_names : tuple of two str
        The user's labels of the classes -1 and +1, for the text.
    drawn : {"network", "mean field"}
        Whose error the Gibbs risk is: that of one network, or of one mean-field draw (PBGNet with several hidden
        layers), in which every neuron reads its own draw of the layer below.
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
    class_names: tuple[str, str] = ("negative", "positive")
    drawn: str = "network"

    def __post_init__(self) -> None:
        apply(_CHECKS, self)
        for ok, complaint in _contradictions(self):
            if not ok:
                raise ValueError(f"not a certificate: {complaint}")

    @property
    def balanced_gibbs_bound(self) -> float | None:
        """Bound on the mean of the two classes' Gibbs risks, with probability 1-δ."""
        return _mean([part.gibbs_risk_bound for part in self.per_class])

    @property
    def balanced_vote_bound(self) -> float | None:
        """Bound on the balanced error of ``predict``, with probability 1-δ."""
        return _mean([part.vote_error_bound for part in self.per_class])

    def describe(self, *, classes: tuple[str, str] | None = None, details: bool = False) -> str:
        """Say in plain English what is promised; ``classes`` are other names of the classes -1 and +1."""
        from abnet.bounds.wording import describe

        return describe(self, classes or self.class_names)

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain numbers, strings, lists and dictionaries, fit for JSON."""
        parts = [asdict(part) for part in self.per_class]
        return {**asdict(self), "per_class": parts, "class_names": list(self.class_names)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything missing, unknown, of a wrong type or out of range is a ValueError."""
        values = exactly(cls, record)
        if values["monte_carlo"] is not None:
            values["monte_carlo"] = MonteCarlo(**exactly(MonteCarlo, values["monte_carlo"]))
        for name in ("per_class", "class_names"):
            if not isinstance(values[name], list):
                raise ValueError(f"{name} must be a list, got {values[name]!r}")
        values["class_names"] = tuple(values["class_names"])
        values["per_class"] = tuple(ClassCertificate(**exactly(ClassCertificate, part)) for part in values["per_class"])
        return cls(**values)


def _mean(bounds: list[float] | list[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return min(1.0, round_up(sum(known) / 2.0)) if len(known) == 2 else None


def _parts(name: str, value: Any) -> tuple[ClassCertificate, ...]:
    if not isinstance(value, tuple) or not all(isinstance(part, ClassCertificate) for part in value):
        raise ValueError(f"{name} must be a tuple of ClassCertificate, got {value!r}")
    return value


def _names(name: str, value: Any) -> tuple[str, str]:
    if not isinstance(value, tuple) or len(value) != 2 or not all(isinstance(label, str) for label in value):
        raise ValueError(f"{name} must be a tuple of two strings, got {value!r}")
    return value


def _number(name: str, value: Any) -> int:
    return count(name, value, least=0)


def _base(method: str | None) -> str | None:
    return method.removesuffix(", fixed paths") if method else None


def _contradictions(c: Certificate) -> list[tuple[bool, str]]:
    votes = {"twice Gibbs": c.twice_gibbs_bound, "tandem": c.tandem_bound, "test set": c.test_set_bound, None: None}
    labels = [part.label for part in c.per_class]
    return [
        (c.gibbs_risk_bound >= c.empirical_gibbs_risk, "gibbs_risk_bound is below empirical_gibbs_risk"),
        (c.vote_error_bound == votes[_base(c.vote_method)], f"vote_error_bound is not the bound of {c.vote_method!r}"),
        ((c.vote_errors or 0) <= c.n_examples, "vote_errors exceeds n_examples"),
        (c.posterior == "train" or c.kl == 0.0, "a frozen posterior has no kl"),
        (c.posterior == "frozen" or c.test_set_bound is None, "a trained posterior has no test_set_bound"),
        (c.posterior == "frozen" or c.prior != "hold-out", "a trained posterior has no hold-out prior"),
        (labels in ([], [-1, 1]), "per_class must hold the classes -1 and +1, in this order"),
        (
            not labels or sum(p.n_examples for p in c.per_class) == c.n_examples,
            "per_class counts differ from n_examples",
        ),
    ]


_METHOD = optional(one_of("twice Gibbs", "tandem", "test set", "twice Gibbs, fixed paths", "tandem, fixed paths"))
_PROBABILITY = optional(probability)
_MONTE_CARLO_CHECKS: dict[str, Check] = {
    "n_paths": count,
    "delta": level,
    "risk_bound": probability,
    "vote": optional(one_of("expectation", "fresh paths", "fixed paths")),
    "vote_paths": optional(count),
}
_CLASS_CHECKS: dict[str, Check] = {
    "label": one_of(-1, 1),
    "n_examples": _number,
    "empirical_gibbs_risk": _PROBABILITY,
    "empirical_tandem_risk": _PROBABILITY,
    "vote_errors": optional(_number),
    "gibbs_risk_bound": probability,
    "vote_error_bound": _PROBABILITY,
    "vote_method": _METHOD,
}
_CHECKS: dict[str, Check] = {
    "gibbs_risk_bound": probability,
    "vote_error_bound": _PROBABILITY,
    "vote_method": _METHOD,
    "empirical_gibbs_risk": probability,
    "kl": finite,
    "n_examples": count,
    "delta": level,
    "prior": one_of("init", "split", "hold-out"),
    "n_candidates": count,
    "monte_carlo": optional(instance(MonteCarlo)),
    "posterior": one_of("train", "frozen"),
    "twice_gibbs_bound": _PROBABILITY,
    "tandem_bound": _PROBABILITY,
    "test_set_bound": _PROBABILITY,
    "vote_errors": optional(_number),
    "empirical_tandem_risk": _PROBABILITY,
    "per_class": _parts,
    "class_names": _names,
    "drawn": one_of("network", "mean field"),
}
