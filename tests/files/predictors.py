"""Small predictors of every kind, and files altered on purpose."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save as pack

from abnet.bam import BAM
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import Terms, certify, certify_drawn
from abnet.certificates.evidence import observe
from abnet.files.model_file import digest
from abnet.predictors.binary_network import Affine, BinaryNetwork, Ramp, Step
from abnet.predictors.compact import CompactABNet, CompactMAP
from abnet.predictors.drawn_network import DrawnNetwork, PosteriorAverage
from abnet.predictors.mean_field_network import MeanFieldNetwork, SampledMeanField
from abnet.predictors.mixture import CompactMixture, PathMixture
from abnet.predictors.paths import CompactUniform, PathPredictor
from abnet.predictors.predictor import ModelInfo, Predictor

KINDS: dict[str, Any] = {"compact ABNet": CompactABNet, "compact MAP": CompactMAP, "mean field": MeanFieldNetwork}
"""Those made from a network alone."""

Make = Callable[[BAM, np.random.Generator, ModelInfo], Predictor]


def binary_network(network: BAM, info: ModelInfo) -> BinaryNetwork:
    """Signs of the weights; ramps in the first layer, steps in the others, the biases as shifts."""
    weights = tuple(np.where(W >= 0, 1, -1) for W in network.weights)
    affine = [Affine(np.zeros(len(b)), np.full(len(b), 0.5), np.asarray(b, np.float64)) for b in network.biases]
    steps = (Step.from_affine(each) for each in affine[1:-1])
    return BinaryNetwork(weights, (Ramp(affine[0]), *steps, affine[-1]), info=info)


def pair_of(network: BAM) -> list[BAM]:
    """A network, and another of the same weights."""
    return [network, BAM(network.weights, tuple(-0.5 * b for b in network.biases))]


ALL: dict[str, Make] = {
    "compact ABNet": lambda network, rng, info: CompactABNet.from_network(network, info),
    "compact MAP": lambda network, rng, info: CompactMAP.from_network(network, info),
    "mean field": lambda network, rng, info: MeanFieldNetwork.from_network(network, info),
    "paths": lambda network, rng, info: PathPredictor.from_network(network, rng, n_paths=9, info=info),
    "compact stochastic ABNet": lambda network, rng, info: CompactUniform.from_network(
        network, rng, n_samples=9, info=info
    ),
    "stochastic mean field": lambda network, rng, info: SampledMeanField.from_network(
        network, rng, n_samples=9, info=info
    ),
    "posterior average": lambda network, rng, info: PosteriorAverage(network.astype(np.float64), 1.0, info=info),
    "binary network": lambda network, rng, info: binary_network(network, info),
    "drawn network": lambda network, rng, info: DrawnNetwork(network, info=info),
    "compact mixture": lambda network, rng, info: CompactMixture.from_networks(pair_of(network), info),
    "mixture of paths": lambda network, rng, info: PathMixture.from_networks(
        pair_of(network), rng, n_paths=10, info=info
    ),
}
"""A predictor of every kind, from a network of any depth of at least two layers."""


def drawn_certificate() -> Certificate:
    seen = observe([0] * 47 + [1] * 3, [0] * 50, ("no", "yes"))
    return certify_drawn(seen, Terms(trained=True, n_candidates=2), -1.5)


def certificate(classes: tuple[str, str] = ("no", "yes")) -> Certificate:
    seen = observe([1, 0] * 40, [1, 0] * 40, classes, losses=[0.1, 0.3] * 40)
    return certify(seen, Terms(trained=True, kl=2.5))


def information(**changes: Any) -> ModelInfo:
    values = {
        "labels": np.array(["no", "yes"]),
        "feature_names": ("age", "size, cm", "höhe"),
        "certificate": certificate(),
        "details": {"sizes": [3, 3, 2, 1], "note": "ü", "rate": 0.1},
    }
    return ModelInfo(**{**values, **changes})


def predictor(kind: str = "compact ABNet", **changes: Any) -> Predictor:
    rng = np.random.default_rng(3)
    if kind == "drawn network":
        changes.setdefault("certificate", drawn_certificate())
    return ALL[kind](BAM.init(rng, (3, 3, 2, 1)), rng, information(**changes))


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
