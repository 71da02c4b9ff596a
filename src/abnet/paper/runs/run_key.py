"""The key of a run: a hash of everything that defines it."""

import hashlib
import json
from dataclasses import asdict

from abnet.paper.protocol import Protocol, protocol_of
from abnet.paper.runs.run_setting import Setting, Variant

__all__ = ["NUMERICS_VERSION", "definition", "key"]

NUMERICS_VERSION = 1
"""Raise by one, by hand, when a change makes a setting train to a different network; all runs are then repeated."""


def definition(setting: Setting, fingerprint: str, numerics_version: int = NUMERICS_VERSION) -> dict[str, object]:
    """Return everything that defines a run: its setting, the protocol's constants, the data, the numerics.

    Parameters
    ----------
    setting
        The run.
    fingerprint
        Hash of the data, from `abnet.paper.data.data_fingerprint`.
    numerics_version
        Version of the code that trains.
    """
    return {
        "setting": _setting_fields(setting),
        "protocol": _protocol_constants(protocol_of(setting)),
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


def _setting_fields(setting: Setting) -> dict[str, object]:
    """The fields of a setting, without `trial_epochs` and `variant` if they are None.

    Runs published before these two fields existed keep their keys.
    """
    described = asdict(setting)
    for name in ("trial_epochs", "variant"):
        if described[name] is None:
            del described[name]
    return described


def _protocol_constants(protocol: Protocol) -> dict[str, object]:
    """The protocol's fields, and two that it had when the published runs got their keys.

    `prior` and `rate_factor` never had other values than these and governed nothing, but without them the keys in
    `results/runs.csv` would not match their runs.
    """
    constants = asdict(protocol)
    if protocol.variant == Variant():
        del constants["variant"]
    else:
        constants["variant"] = _variant_fields(protocol.variant)
    constants["prior"] = None
    if protocol.delta is not None:
        constants["prior"] = "init"
    constants["rate_factor"] = None
    if protocol.rate_patience is not None:
        constants["rate_factor"] = 0.5
    return constants


def _variant_fields(variant: Variant) -> dict[str, object]:
    """The fields that the variant changes, so that a new kind of change leaves the other variants' keys as they are."""
    fields = asdict(variant)
    fields["initialisation"] = repr(variant.initialisation)
    unchanged = asdict(Variant())
    unchanged["initialisation"] = repr(Variant().initialisation)
    return {name: value for name, value in fields.items() if value != unchanged[name]}
