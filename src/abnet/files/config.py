"""What a predictor carries besides its arrays, as one JSON text; strict when read."""

import json
import math
from typing import Any

from abnet.bounds.certificate import Certificate
from abnet.bounds.rules import verify_certificate
from abnet.bounds.single_network import DrawnCertificate
from abnet.labels import Labels
from abnet.predictors.predictor import ModelInfo

__all__ = ["certificate_record", "config_text", "info_from_config", "parse_config"]

_KEYS = {"kind", "classes", "feature_names", "preparation", "certificate", "details"}

_DRAWN = "drawn network"
"""Kind of a certificate that is a `DrawnCertificate`; a record without a kind is a `Certificate`."""


def config_text(kind: str, info: ModelInfo) -> str:
    """The JSON text of a predictor's kind and `ModelInfo`."""
    config = {
        "kind": kind,
        "classes": info.labels.to_dict(),
        "feature_names": None if info.feature_names is None else list(info.feature_names),
        "preparation": _stored(info.preparation),
        "certificate": certificate_record(info.certificate),
        "details": info.details,
    }
    try:
        return json.dumps(config, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"a model file holds plain finite numbers and text only, but its details do not: {error}."
        ) from error


def certificate_record(certificate: Certificate | DrawnCertificate | None) -> dict[str, Any] | None:
    """A certificate as a model file holds it: what was observed, and the bounds that follow from it.

    Examples
    --------
    >>> drawn = DrawnCertificate(0, 50, 0.0, delta=0.05, prior="split", posterior="frozen")
    >>> record = certificate_record(drawn)
    >>> record["kind"], record["errors"], round(record["error_bound"], 3)
    ('drawn network', 0, 0.058)
    """
    if isinstance(certificate, DrawnCertificate):
        return {"kind": _DRAWN, **certificate.to_dict(), "error_bound": certificate.error_bound}
    return None if certificate is None else certificate.to_dict()


def _stored(preparation: Any) -> dict[str, Any] | None:
    if preparation is None:
        return None
    from abnet.data.preparation import preparation_to_dict

    return preparation_to_dict(preparation)


def parse_config(text: str) -> dict[str, Any]:
    """The dictionary in a text that `config_text` wrote; ValueError for other keys or numbers that are not finite.

    Examples
    --------
    >>> parse_config('{"kind": "compact ABNet"}')
    Traceback (most recent call last):
    ValueError: its config lacks certificate, classes, details, feature_names, preparation.
    """
    try:
        config = json.loads(text, parse_constant=_finite, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its config is not valid JSON ({error}).") from error
    if not isinstance(config, dict):
        raise ValueError("its config is not a JSON object.")
    missing, unknown = sorted(_KEYS - set(config)), sorted(set(config) - _KEYS)
    if missing:
        raise ValueError(f"its config lacks {', '.join(missing)}.")
    if unknown:
        raise ValueError(f"its config has unknown keys: {', '.join(unknown)[:200]}.")
    return config


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not a finite number")
    return number


def info_from_config(config: dict[str, Any]) -> ModelInfo:
    """The `ModelInfo` in a parsed config, every part of it checked."""
    details = config["details"]
    if not isinstance(details, dict):
        raise ValueError("its details are not a JSON object.")
    return ModelInfo(
        labels=Labels.from_dict(config["classes"]),
        feature_names=_names(config["feature_names"]),
        preparation=_preparation(config["preparation"]),
        certificate=_certificate(config["certificate"]),
        details=details,
    )


def _names(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("its feature names are not a list of texts.")
    return tuple(value)


def _preparation(record: Any) -> Any:
    if record is None:
        return None
    from abnet.data.preparation import preparation_from_dict

    return preparation_from_dict(record)


def _certificate(record: Any) -> Certificate | DrawnCertificate | None:
    if record is None:
        return None
    if isinstance(record, dict) and "kind" in record:
        return _drawn_certificate(record)
    certificate = Certificate.from_dict(record)
    verify_certificate(certificate)
    return certificate


def _drawn_certificate(record: dict[str, Any]) -> DrawnCertificate:
    kind, claimed = record["kind"], record.get("error_bound")
    if kind != _DRAWN:
        raise ValueError(f"its certificate is of the unknown kind {str(kind)[:40]!r}.")
    observed = {name: value for name, value in record.items() if name not in ("kind", "error_bound")}
    certificate = DrawnCertificate.from_dict(observed)
    if type(claimed) is not float or not math.isclose(claimed, certificate.error_bound, rel_tol=1e-9):
        raise ValueError("the certificate does not follow from its own observations: error_bound")
    return certificate
