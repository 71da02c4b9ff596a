"""The paper's protocol: the constants of training and measurement, and those of the grid behind Table 1."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from abnet.paper.runs.run_setting import VARIANTS, Setting, Variant

__all__ = [
    "DATASETS",
    "DEEPEST_IN_TABLE",
    "LEARNING_RATES",
    "NARROW_WIDTHS",
    "Protocol",
    "REPETITIONS",
    "TABLE1_VARIANTS",
    "WIDE_WIDTHS",
    "protocol_of",
]

# The grid of Table 1

DATASETS = ("ads", "mnist56", "mnist49", "mnist17", "adult", "mnistLH")
"""The paper's data sets, by the number of minibatches in an epoch."""
NARROW_WIDTHS = (2, 4, 8)
WIDE_WIDTHS = (10, 50, 100)
LEARNING_RATES = (0.1, 0.01, 0.001, 0.0001)
DEEPEST_IN_TABLE = 3
"""Hidden layers of the deepest networks in Table 1; Figure 4 has deeper ones."""
REPETITIONS = 5
"""Every setting is trained on five random splits of its data set."""
TABLE1_VARIANTS: dict[tuple[str, str], str] = {
    ("ABNet", "narrow"): "fan-in",
    ("ABNet_l", "narrow"): "fan-in",
    ("BC", "narrow"): "common",
}
"""The variant that Table 1 uses for a model and a half, where it is not the protocol without changes.

Each was chosen after its figures were seen (`docs/reproduction.md` shows both).
"""


# One run

Objective: TypeAlias = Literal["bound", "loss", "ebp", "square hinge"]

RATE_PATIENCE = 5
"""Epochs without an improvement after which the rate of PBGNet, ABNet and their ℓ versions is halved."""
_LARGE_DATASETS = ("adult", "mnistLH")
_PAPER = Variant()  # adds nothing


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
    variant: Variant = _PAPER

    @property
    def aggregated(self) -> bool:
        """Whether an aggregation of sign networks is trained, which has a bound (not EBP, BC or BNN)."""
        return self.objective in ("bound", "loss")


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
    protocol = _protocol_of_full_run(setting)
    if setting.trial_epochs is not None:
        protocol = replace(protocol, max_epochs=setting.trial_epochs)
        if protocol.n_evaluations is not None:
            protocol = replace(protocol, n_evaluations=1)
    return protocol


def _protocol_of_full_run(setting: Setting) -> Protocol:
    match setting.model:
        case "PBGNet" | "ABNet":
            return _aggregation_protocol(setting, objective="bound", validation_fraction=0.0)
        case "PBGNet_l" | "ABNet_l":
            return _aggregation_protocol(setting, objective="loss", validation_fraction=0.2)
        # The paper names no batch sizes for the following methods: these are their authors'.
        case "EBP":
            return Protocol(
                objective="ebp",
                batch_size=10,
                validation_fraction=0.2,
                standardise=True,
                options=(("e", 1.0), ("updated_weights", False)),
            )
        case _:
            return _binary_weights_protocol(setting)


def _binary_weights_protocol(setting: Setting) -> Protocol:
    """BC and BNN: the procedure of their authors, or for BC that of ABNet_l."""
    protocol = Protocol(
        objective="square hinge",
        batch_size=100,
        validation_fraction=0.2,
        standardise=True,
        options=(("glorot_scale", True),),
    )
    if setting.variant is not None and VARIANTS[setting.variant].common_procedure:
        protocol = replace(
            protocol,
            batch_size=_common_batch_size(setting.dataset),
            standardise=False,
            rate_patience=RATE_PATIENCE,
        )
    return protocol


def _aggregation_protocol(setting: Setting, *, objective: Objective, validation_fraction: float) -> Protocol:
    """PBGNet and ABNet; wide networks are sampled."""
    protocol = Protocol(
        objective=objective,
        batch_size=_common_batch_size(setting.dataset),
        validation_fraction=validation_fraction,
        standardise=False,
        rate_patience=RATE_PATIENCE,
        delta=0.05,
    )
    if setting.variant is not None:
        protocol = replace(protocol, variant=VARIANTS[setting.variant])
    if setting.architecture == "wide" and not protocol.variant.exact:
        protocol = replace(protocol, n_samples=100, n_evaluations=20)
    return protocol


def _common_batch_size(dataset: str) -> int:
    if dataset in _LARGE_DATASETS:
        return 64
    return 32
