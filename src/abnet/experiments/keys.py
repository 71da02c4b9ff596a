"""The key of a run: a hash of everything that defines it."""

import hashlib
import json
from dataclasses import asdict

from abnet.experiments.protocol import protocol_of
from abnet.experiments.setting import Setting
from abnet.experiments.version import NUMERICS_VERSION

__all__ = ["definition", "key", "key_of_definition"]


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
        "protocol": asdict(protocol_of(setting)),
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
