"""Branch and bound: its verdicts are those of brute force, and more boxes leave fewer rows open."""

import numpy as np

from abnet.robustness.branch_and_bound import decide_boxes
from abnet.robustness.exact_network import exact_network
from robustness.networks import grid, random_boxes, random_model


def test_verdicts_agree_with_brute_force(seed: int) -> None:
    rng = np.random.default_rng([seed, 6])
    counts = {"robust": 0, "flipped": 0, "open": 0}
    for _ in range(30):
        model = random_model(rng, 2, 2, 3, scale=2.0)
        network = exact_network(model)
        rows = rng.normal(size=(8, 2)).astype(np.float32)
        boxes = random_boxes(rng, rows, 0.4)
        sides = np.where(network.scores(rows) >= 0, 1.0, -1.0)
        for row, found in enumerate(decide_boxes(network, boxes, sides, nodes=200)):
            scores = sides[row] * network.scores(grid(network, boxes, row, steps=41))
            counts[found.verdict] += 1
            if found.verdict == "robust":
                assert scores.min() > 0
            if found.point is not None:
                assert (found.point >= boxes.low[row]).all()
                assert (found.point <= boxes.high[row]).all()
                assert sides[row] * network.scores(found.point[None])[0] < 0
            if scores.min() < -1e-3:
                assert found.verdict == "flipped"
    assert counts["robust"] > 50
    assert counts["flipped"] > 50
    assert counts["open"] <= 2


def test_more_boxes_leave_fewer_rows_open(seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    network = exact_network(random_model(rng, 6, 2, 4, scale=1.5))
    rows = rng.normal(size=(60, 6)).astype(np.float32)
    boxes = random_boxes(rng, rows, 0.25)
    sides = np.where(network.scores(rows) >= 0, 1.0, -1.0)
    left = [
        sum(found.verdict == "open" for found in decide_boxes(network, boxes, sides, nodes=n)) for n in (0, 20, 400)
    ]
    assert left[0] > left[2]
    assert left == sorted(left, reverse=True)
