"""Small networks with codes, boxes around rows, and all the points of a box at which a score may be smallest."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.robustness.box import Boxes
from abnet.robustness.exact_network import ExactNetwork
from abnet.tables.preparation import StandardMap
from abnet.tables.preparation.coded import CodedMap

__all__ = ["grid", "random_boxes", "random_model"]


def random_model(rng: np.random.Generator, n_features: int, members: int, width: int, scale: float = 1.0) -> Model:
    codes = tuple(tuple(np.sort(rng.normal(size=rng.integers(0, 4))).tolist()) for _ in range(n_features))
    n_inputs = n_features + sum(map(len, codes))
    predictor = Compact(
        scale * rng.normal(size=(members, width, n_inputs)),
        scale * rng.normal(size=(members, width)),
        rng.uniform(-1, 1, size=(members, 2**width)),
    )
    scaler = StandardMap((0.0,) * n_features, (1.0,) * n_features)
    return Model(predictor, preparation=CodedMap(scaler, codes))


def random_boxes(rng: np.random.Generator, rows: NDArray[np.float32], radius: float) -> Boxes:
    away = radius * rng.uniform(size=(2, *rows.shape))
    return Boxes((rows - away[0]).astype(np.float32), (rows + away[1]).astype(np.float32))


def grid(network: ExactNetwork, boxes: Boxes, row: int, steps: int = 9) -> NDArray[np.float32]:
    """Points of a box: evenly spaced ones, its corners, and both sides of every threshold."""
    axes = []
    for j, at in enumerate(network.thresholds):
        low = boxes.low[row, j]
        high = boxes.high[row, j]
        beside = np.concatenate([at, np.nextafter(at, np.float32(-np.inf))])
        spaced = np.clip(np.linspace(low, high, steps).astype(np.float32), low, high)
        axes.append(np.unique(np.concatenate([spaced, beside[(beside >= low) & (beside <= high)]])))
    return np.array(list(product(*axes)), np.float32)
