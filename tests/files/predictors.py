"""Small predictors of every kind, and files altered on purpose."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save as pack

from abnet.bam import BAM
from abnet.bounds import certify_trained
from abnet.files.container import digest
from abnet.predictors.compact import CompactABNet, CompactMAP
from abnet.predictors.mean_field_network import MeanFieldNetwork
from abnet.predictors.predictor import ModelInfo, Predictor

KINDS: dict[str, Any] = {"compact ABNet": CompactABNet, "compact MAP": CompactMAP, "mean field": MeanFieldNetwork}


def certificate() -> Any:
    return certify_trained([0.1, 0.3] * 40, [1, -1] * 40, 2.5, delta=0.05, prior="split")


def information(**changes: Any) -> ModelInfo:
    values = {
        "classes": np.array(["no", "yes"]),
        "feature_names": ("age", "size, cm", "höhe"),
        "certificate": certificate(),
        "details": {"sizes": [3, 3, 2, 1], "note": "ü", "rate": 0.1},
    }
    return ModelInfo(**{**values, **changes})


def predictor(kind: str = "compact ABNet", **changes: Any) -> Predictor:
    network = BAM.init(np.random.default_rng(3), (3, 3, 2, 1))
    made = KINDS[kind].from_network(network, information(**changes))
    assert isinstance(made, Predictor)
    return made


def rows() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(1500, 3))


def parts(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    with safe_open(str(path), "np") as file:
        return {name: np.array(file.get_tensor(name)) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118


def rewrite(path: Path, arrays: dict[str, np.ndarray], texts: dict[str, str], *, sign: bool = True) -> None:
    """Write altered parts, by default with the digest that a careful forger would put there."""
    if sign:
        texts = {**texts, "sha256": digest(arrays, texts["format_version"], texts["config"])}
    path.write_bytes(pack(arrays, texts))


def rewrite_config(path: Path, **changes: Any) -> None:
    arrays, texts = parts(path)
    config = {**json.loads(texts["config"]), **changes}
    rewrite(path, arrays, {**texts, "config": json.dumps({k: v for k, v in config.items() if v is not ...})})
