"""A run of the reproduction: its setting, the constants of the protocol, its key, and what it yields."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias

__all__ = [
    "Architecture",
    "FAMILIES",
    "METRICS",
    "MODELS",
    "NUMERICS_VERSION",
    "Protocol",
    "Result",
    "Setting",
    "VARIANTS",
    "Variant",
    "definition",
    "key",
    "protocol_of",
]

NUMERICS_VERSION = 1
"""Raise by one, by hand, when a change makes a setting train to a different network; all runs are then done anew."""

Architecture: TypeAlias = Literal["narrow", "wide"]
MODELS = ("PBGNet", "ABNet", "PBGNet_l", "ABNet_l", "EBP", "BC", "BNN")
"""The models of Table 1, in its order; `_l` stands for the paper's subscript ℓ."""
FAMILIES = (("PBGNet", "ABNet"), ("PBGNet_l", "ABNet_l"), ("EBP",), ("BC",), ("BNN",))
"""Models that read the same training rows in the same minibatches, so that they can share one compiled program."""
WIDEST_NARROW = 8


@dataclass(frozen=True)
class Variant:
    """What a variant adds to the paper's protocol of PBGNet and ABNet; none of it needs another bound.

    Attributes
    ----------
    warm_up
        Epochs on the linear loss before the bound; the prior stays the initialisation.
    deviations
        Whether the standard deviation of each layer is learned with the weights.
    restarts
        Initialisations trained on each split, the one with the lowest bound kept: each is a prior of its own, so every
        bound is computed at δ divided by their number.
    """

    warm_up: int = 0
    deviations: bool = False
    restarts: int = 1


VARIANTS = {
    "warm-up": Variant(warm_up=2),
    "deviations": Variant(deviations=True),
    "both": Variant(warm_up=2, deviations=True),
    "restarts": Variant(warm_up=2, deviations=True, restarts=4),
}
"""Variants of the paper's protocol, by name."""


@dataclass(frozen=True)
class Setting:
    """One run: a model with its sizes and learning rate, on one split of one data set.

    Parameters
    ----------
    dataset
        Name for `abnet.paper.load`.
    model
        One of `MODELS`.
    hidden_layer_sizes
        Units of each hidden layer, leading layer first.
    learning_rate
        Adam's rate; None for EBP, which has none.
    repetition
        Seed of the train/test split and of the initialisation.
    trial_epochs
        The most epochs of a trial (`abnet.paper.selection`); None for a run in full.
    variant
        A name in `VARIANTS`; None for the paper's protocol.

    Examples
    --------
    >>> setting = Setting("ads", "ABNet", (4, 4, 4), 0.01, 0)
    >>> setting.hidden_layers, setting.width, setting.architecture
    (3, 4, 'narrow')
    """

    dataset: str
    model: str
    hidden_layer_sizes: tuple[int, ...]
    learning_rate: float | None
    repetition: int
    trial_epochs: int | None = None
    variant: str | None = None

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model {self.model!r} is unknown; choose from {', '.join(MODELS)}")
        if not self.hidden_layer_sizes or min(self.hidden_layer_sizes) < 1:
            raise ValueError(f"hidden_layer_sizes must be positive and at least one, got {self.hidden_layer_sizes}")
        if (self.learning_rate is None) != (self.model == "EBP"):
            raise ValueError(
                f"learning_rate={self.learning_rate} with {self.model}: EBP takes None, the others a number"
            )
        if self.trial_epochs is not None and self.trial_epochs < 1:
            raise ValueError(f"trial_epochs must be at least 1, got {self.trial_epochs}")
        if self.variant is not None and self.variant not in VARIANTS:
            raise ValueError(f"variant {self.variant!r} is unknown; choose from {', '.join(VARIANTS)}")
        if self.variant is not None and self.model not in ("PBGNet", "ABNet"):
            raise ValueError(f"variant {self.variant!r} with {self.model}: only PBGNet and ABNet have variants")

    @property
    def hidden_layers(self) -> int:
        """Number of hidden layers."""
        return len(self.hidden_layer_sizes)

    @property
    def width(self) -> int:
        """Units of the widest hidden layer."""
        return max(self.hidden_layer_sizes)

    @property
    def architecture(self) -> Architecture:
        """Table 1's half: "narrow" (exact aggregation) up to 8 units, "wide" (stochastic) above."""
        return "narrow" if self.width <= WIDEST_NARROW else "wide"

    @property
    def family(self) -> tuple[str, ...]:
        """The models this one can train with."""
        return next(family for family in FAMILIES if self.model in family)


Objective: TypeAlias = Literal["bound", "loss", "ebp", "square hinge"]

_LARGE = ("adult", "mnistLH")

_OBJECTIVES: dict[str, Objective] = {
    "PBGNet": "bound",
    "ABNet": "bound",
    "PBGNet_l": "loss",
    "ABNet_l": "loss",
    "EBP": "ebp",
    "BC": "square hinge",
    "BNN": "square hinge",
}

_BASELINE_BATCH = {"EBP": 10, "BC": 100, "BNN": 100}  # those of the methods' authors; the paper names none


@dataclass(frozen=True)
class Protocol:
    """Constants of one run: each of them governs how it is trained or measured, and enters its key.

    The bound's prior is always the random initialisation, and a rate always falls by halves.

    Attributes
    ----------
    objective
        What is minimised: the Catoni bound, the linear loss, EBP's or the square hinge loss.
    batch_size
        32, and 64 for adult and mnistLH; EBP 10, BC and BNN 100.
    validation_fraction
        Part of the training rows kept for stopping and selection; 0 for the bound objective, which uses all rows.
    standardise
        Whether inputs are standardised with the statistics of the training rows (EBP, BC, BNN), on top of the
        data set's own preparation.
    test_fraction, max_epochs, patience, tolerance
        The 75/25 split; at most 100 epochs; stop after 20 without an improvement of 1e-4.
    rate_patience
        The learning rate is halved after 5 epochs without improvement; None: it stays constant.
    delta
        The bound holds with probability 1 - δ; None where there is no bound.
    n_samples, n_evaluations
        Samples of a stochastic forward pass, and evaluations whose mean is reported; None for exact models.
    options
        Choices of the method: EBP's `e`, the Glorot-scaled step of BC and BNN.
    variant
        What is added to the paper's protocol; by default nothing.
    """

    objective: Objective
    batch_size: int
    validation_fraction: float
    standardise: bool
    test_fraction: float = 0.25
    max_epochs: int = 100
    patience: int = 20
    tolerance: float = 1e-4
    rate_patience: int | None = None
    delta: float | None = None
    n_samples: int | None = None
    n_evaluations: int | None = None
    options: tuple[tuple[str, float | bool], ...] = ()
    variant: Variant = Variant()


def protocol_of(setting: Setting) -> Protocol:
    """Return the constants of the paper's protocol, and ours where it is silent, for one setting.

    A trial has fewer epochs and is evaluated once.

    Examples
    --------
    >>> protocol_of(Setting("mnistLH", "ABNet", (50, 50), 0.01, 0)).n_samples
    100
    >>> protocol_of(Setting("mnistLH", "ABNet", (8, 8), 0.01, 0)).n_samples is None
    True
    """
    whole = _whole_run(setting)
    if setting.trial_epochs is None:
        return whole
    once = None if whole.n_evaluations is None else 1
    return replace(whole, max_epochs=setting.trial_epochs, n_evaluations=once)


def _whole_run(setting: Setting) -> Protocol:
    objective = _OBJECTIVES[setting.model]
    validation_fraction = 0.0 if objective == "bound" else 0.2
    if setting.model in _BASELINE_BATCH:
        return Protocol(
            objective=objective,
            batch_size=_BASELINE_BATCH[setting.model],
            validation_fraction=validation_fraction,
            standardise=True,
            options=(("e", 1.0), ("updated_weights", False)) if objective == "ebp" else (("glorot_scale", True),),
        )
    stochastic = setting.architecture == "wide"
    return Protocol(
        objective=objective,
        batch_size=64 if setting.dataset in _LARGE else 32,
        validation_fraction=validation_fraction,
        standardise=False,
        rate_patience=5,
        delta=0.05,
        n_samples=100 if stochastic else None,
        n_evaluations=20 if stochastic else None,
        variant=Variant() if setting.variant is None else VARIANTS[setting.variant],
    )


def definition(setting: Setting, fingerprint: str, numerics_version: int = NUMERICS_VERSION) -> dict[str, object]:
    """Return everything that defines a run: its setting, the protocol's constants, the data, the numerics.

    Parameters
    ----------
    setting
        The run.
    fingerprint
        Hash of the data, from `abnet.certificates.fingerprint`.
    numerics_version
        Version of the code that trains.
    """
    described = asdict(setting)
    for name in ("trial_epochs", "variant"):  # as before there were such, so that runs of that time keep their keys
        if described[name] is None:
            del described[name]
    return {
        "setting": described,
        "protocol": _constants(protocol_of(setting)),
        "fingerprint": fingerprint,
        "numerics_version": numerics_version,
    }


def key(setting: Setting, fingerprint: str, numerics_version: int = NUMERICS_VERSION) -> str:
    """Return the run's key: the SHA-256 of its `definition` as canonical JSON (sorted names, no spaces).

    Examples
    --------
    >>> setting = Setting("ads", "ABNet", (4, 4), 0.01, 0)
    >>> key(setting, "data") == key(setting, "data"), key(setting, "data") == key(setting, "other data")
    (True, False)
    """
    defined = definition(setting, fingerprint, numerics_version)
    canonical = json.dumps(defined, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _constants(protocol: Protocol) -> dict[str, object]:
    """The protocol's fields, and two more that it had when the published runs got their keys.

    `prior` and `rate_factor` never had other values than these and governed nothing; without them no key of
    `results/runs.csv` would be that of its run.
    """
    constants = asdict(protocol)
    if protocol.variant == Variant():
        del constants["variant"]
    return {
        **constants,
        "prior": None if protocol.delta is None else "init",
        "rate_factor": None if protocol.rate_patience is None else 0.5,
    }


@dataclass(frozen=True)
class Result:
    """Figures of one trained network at the kept epoch; a figure that the model does not have is None.

    Attributes
    ----------
    setting
        The run.
    train_error, test_error
        0-1 error of the vote, in [0, 1]; EBP's of the posterior-averaged output.
    map_test_error
        0-1 error of the MAP network on the test rows.
    epochs, best_epoch
        Epochs trained, and the one kept (the first is 1).
    seconds
        This run's share of the time of its group.
    bound, kl, C
        The Gibbs bound in the 2√n form at the learned C (an estimate), the KL divergence, C.
    train_loss, test_loss
        Linear losses.
    validation_error, validation_loss
        0-1 error and linear loss on the validation rows.
    curve
        Monitored figures by epoch, by name.
    fingerprint
        Hash of the data trained on; the sweep refuses results from other data than it asked for.
    """

    setting: Setting
    train_error: float
    test_error: float
    map_test_error: float | None
    epochs: int
    best_epoch: int
    seconds: float
    bound: float | None = None
    kl: float | None = None
    C: float | None = None
    train_loss: float | None = None
    test_loss: float | None = None
    validation_error: float | None = None
    validation_loss: float | None = None
    curve: Mapping[str, Sequence[float]] = field(default_factory=dict)
    fingerprint: str | None = None

    @property
    def score(self) -> float:
        """What the setting is selected by, smaller is better.

        The bound for PBGNet and ABNet, the validation error for the others. Infinite if it is missing or not a number,
        so that a run that diverged is never selected.
        """
        score = self.bound if self.setting.model in ("PBGNet", "ABNet") else self.validation_error
        return math.inf if score is None or math.isnan(score) else score


METRICS = (
    "train_error",
    "test_error",
    "map_test_error",
    "epochs",
    "best_epoch",
    "seconds",
    "bound",
    "kl",
    "C",
    "train_loss",
    "test_loss",
    "validation_error",
    "validation_loss",
)
"""The figures of a `Result` that the store keeps as columns."""
