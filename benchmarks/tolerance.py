"""Certified and attacked error under a tolerance on tables: `python benchmarks/tolerance.py pima wdbc banana`.

For each table: a default fit on the columns of numbers, its held-out rows, and tolerances in shares of the standard
deviation. Four attacks try to flip the rows that are certified: random points, corners, steps along the gradient, and
coordinates one by one. Any success is a fault, and is printed.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from abnet import CertifiedClassifier
from abnet.robustness.box import Boxes
from abnet.robustness.branch_and_bound import decide_boxes
from abnet.robustness.exact_network import ExactNetwork, exact_network
from abnet.robustness.lower_bound import GUARD

TABLES = Path(os.environ.get("ABNET_TABLES", "tables"))
DEFAULT = ("pima", "wdbc", "banana", "phoneme", "twonorm")
SHARES = (0.001, 0.01, 0.05, 0.1)
TRIES = 40
Singles = NDArray[np.float32]
Scores = NDArray[np.float64]


def attacks(network: ExactNetwork, boxes: Boxes, sides: Scores, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Whether any attack flips each row."""
    low = boxes.low
    high = boxes.high
    flipped = np.zeros(len(low), bool)

    def attempt(rows: Singles) -> Scores:
        nonlocal flipped
        values = sides * network.scores(np.clip(rows, low, high))
        flipped |= values < -GUARD
        return np.asarray(values)

    for _ in range(TRIES):
        attempt((low + rng.random(low.shape) * (high - low)).astype(np.float32))
        attempt(np.where(rng.random(low.shape) < 0.5, low, high))
    rows = boxes.centre
    for _ in range(3):  # coordinate by coordinate: an end of its interval, or a point inside, if that is worse
        for j in range(low.shape[1]):
            best = attempt(rows)
            for value in (low[:, j], high[:, j], (low[:, j] + rng.random(len(low)) * (high[:, j] - low[:, j]))):
                other = rows.copy()
                other[:, j] = value.astype(np.float32)
                worse = attempt(other) < best
                rows = np.where(worse[:, None], other, rows)
                best = np.minimum(best, attempt(rows))
    rows = boxes.centre
    for _ in range(10):  # along the gradient
        here = attempt(rows)
        gradient = np.zeros(rows.shape)
        for j in range(low.shape[1]):
            step = np.maximum((high[:, j] - low[:, j]) * 0.05, 1e-6).astype(np.float32)
            other = rows.copy()
            other[:, j] += step
            gradient[:, j] = (sides * network.scores(other) - here) / step
        rows = np.clip(rows - (0.25 * (high - low) * np.sign(gradient)).astype(np.float32), low, high)
    return flipped


def main(names: list[str]) -> None:
    for name in names or DEFAULT:
        frame = pd.read_csv(TABLES / f"{name}.csv.gz")
        y = frame.pop("target")
        X = frame.select_dtypes("number")
        classifier = CertifiedClassifier(random_state=0).fit(X, y)
        model = classifier.model_
        held_out = classifier.bound_rows_
        network = exact_network(model)
        features = np.asarray(model.prepare(X.iloc[held_out]), np.float32)[:, : network.weights.shape[1]]
        sides = np.where(network.scores(features) >= 0, 1.0, -1.0)
        wrong = model.predict(X.iloc[held_out]) != y.iloc[held_out].to_numpy()
        print(f"{name}: {len(held_out)} held-out rows, {X.shape[1]} columns, error {100 * wrong.mean():.1f}%")
        rng = np.random.default_rng(0)
        for share in SHARES:
            boxes = Boxes((features - share).astype(np.float32), (features + share).astype(np.float32))
            begun = time.perf_counter()
            root = np.array([decided.verdict == "robust" for decided in decide_boxes(network, boxes, sides, nodes=0)])
            one = 1000 * (time.perf_counter() - begun) / len(features)
            begun = time.perf_counter()
            found = decide_boxes(network, boxes, sides)
            all_of_it = 1000 * (time.perf_counter() - begun) / len(features)
            robust = np.array([decided.verdict == "robust" for decided in found])
            by_search = np.array([decided.verdict == "flipped" for decided in found])
            by_attacks = attacks(network, boxes, sides, rng)
            attacked = 100 * np.mean(wrong | by_search | by_attacks)
            certified = 100 * np.mean(wrong | ~robust)
            without_cuts = 100 * np.mean(wrong | ~root)
            print(
                f"  {100 * share:5.1f}% sd: attacked {attacked:.1f}%, certified {certified:.1f}%, without cuts "
                f"{without_cuts:.1f}%; {all_of_it:.2f} ms a row, {one:.2f} without cuts; certified rows flipped: "
                f"{int((robust & by_attacks).sum())}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
