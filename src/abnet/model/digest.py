"""The digest of a model: a certificate names the model that it is about."""

import hashlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.model.predictors.kinds import kind_of
from abnet.tables.preparation import preparation_to_dict

if TYPE_CHECKING:
    from abnet.model.model import Model

__all__ = ["belonging", "digest", "model_digest", "predicting_parts"]


def digest(arrays: dict[str, NDArray[Any]], *texts: str) -> str:
    """SHA-256 of texts and arrays with their names, types and shapes, in hexadecimal.

    Examples
    --------
    >>> digest({"b": np.zeros(2)}, "config") == digest({"b": np.zeros(3)}, "config")
    False
    """
    total = hashlib.sha256()
    for text in texts:
        _add(total, text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], arrays[name].dtype.newbyteorder("<"))
        _add(total, f"{name} {array.dtype.str} {array.shape}".encode())
        _add(total, array.tobytes())
    return total.hexdigest()


def _add(total: Any, content: bytes) -> None:
    # The length goes first, so that no two different lists of parts run together to the same bytes.
    total.update(len(content).to_bytes(8, "little"))
    total.update(content)


def predicting_parts(model: "Model") -> dict[str, Any]:
    """All parts that predict, except for the arrays, as plain values; a ValueError for one that cannot be stored."""
    feature_names = None
    if model.feature_names is not None:
        feature_names = list(model.feature_names)
    calibration = None
    if model.calibration is not None:
        calibration = model.calibration.to_dict()
    return {
        "kind": kind_of(model.predictor),
        "labels": model.labels.to_dict(),
        "feature_names": feature_names,
        "preparation": preparation_to_dict(model.preparation),
        "calibration": calibration,
        "decision": model.decision.to_dict(),
    }


def model_digest(model: "Model") -> str | None:
    """SHA-256 of everything that predicts: arrays, preparation, labels, calibration and decision.

    It does not change when a model is saved and loaded. The card and the certificate are not part of it. None for a
    model that cannot be saved.

    Examples
    --------
    >>> from abnet.certificates.decision import Decision
    >>> from abnet.model.model import Model
    >>> from abnet.model.predictors.compact import Compact
    >>> table = Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> cut = Decision(kind="cut", threshold=0.5, positive=1)
    >>> model_digest(Model(table)) == model_digest(Model(table, decision=cut))
    False
    """
    try:
        text = json.dumps(_with_floats(predicting_parts(model)), allow_nan=False, sort_keys=True)
        return digest(model.predictor.arrays(), text)
    except (TypeError, ValueError):
        return None


def _with_floats(value: Any) -> Any:
    """Whole numbers as floats, if that is exact: 1 and 1.0 are read back as the same number."""
    if isinstance(value, dict):
        return {key: _with_floats(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_floats(part) for part in value]
    if type(value) is int and float(value) == value:
        return float(value)
    return value


def belonging(certificate: Certificate, model: "Model") -> Certificate:
    """The certificate with the name of its model; raises a ValueError if it names another one.

    Parameters
    ----------
    certificate : Certificate
    model : Model
    """
    own_digest = model_digest(model)
    if certificate.model is None:
        return msgspec.structs.replace(certificate, model=own_digest)
    if certificate.model != own_digest:
        raise ValueError(
            f"the certificate is about the model {certificate.model}, not about this one, which is {own_digest}."
        )
    return certificate
