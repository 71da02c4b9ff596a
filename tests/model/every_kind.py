"""Small predictors of every kind, models of them, and files altered on purpose."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save as pack

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify, certify_drawn
from abnet.certificates.terms import Terms
from abnet.model.card import Card
from abnet.model.file import digest
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Affine, Layers, Ramp, Step
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.model.predictors.sampled_pbgnet import SampledPBGNetPredictor
from abnet.model.predictors.uniform import UniformPredictor
from abnet.networks.bam import BAM
from abnet.networks.codebook import code_words

Make = Callable[[BAM, np.random.Generator], Predictor]


def binary_network(network: BAM) -> Layers:
    """Signs of the weights; ramps in the first layer, steps in the others, the biases as shifts."""
    weights = tuple(np.where(W >= 0, 1, -1) for W in network.weights)
    affine = [Affine(np.zeros(len(b)), np.full(len(b), 0.5), np.asarray(b, np.float64)) for b in network.biases]
    steps = (Step.from_affine(each) for each in affine[1:-1])
    return Layers(weights, (Ramp(affine[0]), *steps, affine[-1]))


def pair_of(network: BAM) -> list[BAM]:
    """A network, and another of the same weights."""
    return [network, BAM(network.weights, tuple(-0.5 * b for b in network.biases))]


def widened(network: BAM) -> BAM:
    """The network with four copies of each neuron of its last hidden layer, which needs no table then."""
    *below, W, last = network.weights
    *biases, b, b_last = network.biases
    return BAM((*below, np.tile(W, (4, 1)), np.tile(last, (1, 4))), (*biases, np.tile(b, 4), b_last))


ALL: dict[str, Make] = {
    "table": lambda network, rng: Compact.from_networks([network]),
    "table: mixture": lambda network, rng: Compact.from_networks(pair_of(network)),
    "paths": lambda network, rng: Paths.from_networks([network], rng, n_paths=9),
    "paths: mixture": lambda network, rng: Paths.from_networks(pair_of(network), rng, n_paths=10),
    "uniform": lambda network, rng: UniformPredictor.from_network(network, rng, n_samples=9),
    "table: with error": lambda network, rng: Compact.from_networks([widened(network)]),
    "pbgnet": lambda network, rng: PBGNetPredictor.from_networks([network]),
    "pbgnet: wide mixture": lambda network, rng: PBGNetPredictor.from_networks(pair_of(widened(network))),
    "pbgnet: drawn": lambda network, rng: SampledPBGNetPredictor.from_network(network, rng, n_samples=9),
    "layers": lambda network, rng: Layers.from_network(network),
    "layers: units": lambda network, rng: binary_network(network),
    "moments": lambda network, rng: MomentsPredictor.from_networks(pair_of(network)),
    "moments: e": lambda network, rng: MomentsPredictor.from_networks([network], e=1.0),
}
"""Predictors of every kind for two classes, from a network with one output and at least two layers."""

SEVERAL: dict[str, Make] = {
    "table": lambda network, rng: Compact.from_networks(pair_of(network), words(network)),
    "paths": lambda network, rng: Paths.from_networks(pair_of(network), rng, n_paths=10, words=words(network)),
    "layers": lambda network, rng: Layers.from_network(network, words(network)),
    "layers: units": lambda network, rng: binary_network(network),
    "moments": lambda network, rng: MomentsPredictor.from_networks(pair_of(network), words(network)),
    "moments: e": lambda network, rng: MomentsPredictor.from_networks([network], e=1.0),
}
"""Those that tell several classes apart: three, by three outputs."""


def words(network: BAM, n_classes: int = 3) -> Any:
    return code_words(n_classes, network.sizes[-1])


def drawn_certificate() -> Certificate:
    seen = observe([0] * 47 + [1] * 3, [0] * 50, ("no", "yes"))
    return certify_drawn(seen, Terms(trained=True, n_candidates=2), -1.5)


def certificate(classes: tuple[str, ...] = ("no", "yes")) -> Certificate:
    seen = observe([1, 0] * 40, [1, 0] * 40, classes, losses=[0.1, 0.3] * 40)
    return certify(seen, Terms(trained=True, kl=2.5))


def model_of(predictor: Predictor, **changes: Any) -> Model:
    values: dict[str, Any] = {
        "labels": np.array(["no", "yes"]),
        "feature_names": ("age", "size, cm", "höhe"),
        "certificate": certificate(),
        "card": Card(sizes=(3, 3, 2, 1), recipe="ü", bound_estimate=0.1),
    }
    return Model(predictor, **{**values, **changes})


def model(kind: str = "table", **changes: Any) -> Model:
    rng = np.random.default_rng(3)
    if kind == "layers":
        changes.setdefault("certificate", drawn_certificate())
    return model_of(ALL[kind](BAM.init(rng, (3, 3, 2, 1)), rng), **changes)


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
