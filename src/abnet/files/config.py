"""What a predictor carries besides its arrays, as one JSON text; strict when read."""

import json
import math
from typing import Any

from abnet.bounds.certificate import Certificate
from abnet.bounds.rules import verify_certificate
from abnet.files.labels import labels_from_dict, labels_to_dict
from abnet.predictors.predictor import ModelInfo

__all__ = ["config_text", "info_from_config", "parse_config"]

_KEYS = {"kind", "classes", "feature_names", "preparation", "certificate", "details"}


def config_text(kind: str, info: ModelInfo) -> str:
    """The JSON text of a predictor's kind and `ModelInfo`."""
    config = {
        "kind": kind,
        "classes": labels_to_dict(info.classes),
        "feature_names": None if info.feature_names is None else list(info.feature_names),
        "preparation": _stored(info.preparation),
        "certificate": None if info.certificate is None else info.certificate.to_dict(),
        "details": info.details,
    }
    try:
        return json.dumps(config, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"a model file holds plain finite numbers and text only, but its details do not: {error}."
        ) from error


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
        classes=labels_from_dict(config["classes"]),
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


def _certificate(record: Any) -> Certificate | None:
    if record is None:
        return None
    certificate = Certificate.from_dict(record)
    verify_certificate(certificate)
    return certificate
