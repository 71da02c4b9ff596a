"""How a run is trained, and its key: a hash of everything that defines it."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias

from abnet.experiments.setting import Setting

__all__ = ["NUMERICS_VERSION", "Protocol", "definition", "key", "key_of_definition", "protocol_of"]

NUMERICS_VERSION = 1
"""Raise by one, by hand, when a change makes a setting train to a different network; all runs are then done anew."""

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
    )


def definition(setting: Setting, fingerprint: str, numerics_version: int = NUMERICS_VERSION) -> dict[str, object]:
    """Return everything that defines a run: its setting, the protocol's constants, the data, the numerics.

    Parameters
    ----------
    setting
        The run.
    fingerprint
        Hash of the data, from `abnet.data.fingerprint`.
    numerics_version
        Version of the code that trains.
    """
    described = asdict(setting)
    if setting.trial_epochs is None:  # as before there were trials, so that runs of that time keep their keys
        del described["trial_epochs"]
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
    return key_of_definition(definition(setting, fingerprint, numerics_version))


def key_of_definition(defined: dict[str, object]) -> str:
    """Return the SHA-256, in hexadecimal, of a `definition`."""
    canonical = json.dumps(defined, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _constants(protocol: Protocol) -> dict[str, object]:
    """The protocol's fields, and two more that it had when the published runs got their keys.

    `prior` and `rate_factor` never had other values than these and governed nothing; without them no key of
    `results/runs.csv` would be that of its run.
    """
    return {
        **asdict(protocol),
        "prior": None if protocol.delta is None else "init",
        "rate_factor": None if protocol.rate_patience is None else 0.5,
    }
