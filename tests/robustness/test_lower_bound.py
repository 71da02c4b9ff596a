"""Lower bounds over boxes: below the score at every point of a dense grid, and close to it; mutants are caught."""

import numpy as np
import pytest

from abnet.robustness import lower_bound
from abnet.robustness.box import Pieces
from abnet.robustness.exact_network import exact_network
from abnet.robustness.lower_bound import lower_bounds
from robustness.networks import grid, random_boxes, random_model

CASES = 60


def slack(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Least score over grids minus the lower bound, for random networks and boxes; and the sizes of the boxes."""
    rng = np.random.default_rng([seed, 5])
    found = []
    sizes = []
    for _ in range(CASES):
        shape = rng.integers(1, 4, size=3)
        n_features, members, width = map(int, shape)
        model = random_model(rng, n_features, members, width, scale=float(rng.choice([0.3, 1.0, 4.0])))
        network = exact_network(model)
        rows = rng.normal(size=(5, shape[0])).astype(np.float32)
        radius = float(rng.choice([0.0, 0.01, 0.1, 0.5, 1.5]))
        boxes = random_boxes(rng, rows, radius)
        sides = rng.choice([-1.0, 1.0], 5)
        bounds = lower_bounds(network, boxes, sides).bound
        for row in range(5):
            found.append((sides[row] * network.scores(grid(network, boxes, row))).min() - bounds[row])
            sizes.append(radius)
    return np.array(found), np.array(sizes)


def test_the_network_is_the_model(rng: np.random.Generator) -> None:
    model = random_model(rng, 3, 2, 3)
    rows = rng.normal(size=(20, 3)).astype(np.float32)
    np.testing.assert_allclose(exact_network(model).scores(rows), model.scores(rows), atol=1e-12)


def test_bounds_are_below_every_score_and_tight_for_small_boxes(seed: int) -> None:
    found, sizes = slack(seed)
    assert found.min() > -1e-12
    assert found[sizes == 0.0].max() < 1e-9
    assert np.median(found[sizes == 0.01]) < 1e-3


def test_vertices_are_exact(rng: np.random.Generator) -> None:
    """F over a box of means is smallest at a vertex: the values there by brute force."""
    network = exact_network(random_model(rng, 2, 2, 3))
    low = rng.uniform(-1, 0, size=(1, 6))
    high = rng.uniform(0, 1, size=(1, 6))
    values = lower_bound._vertex_values(network, low, high)[0]
    for m in range(2):
        for place, corner in enumerate(np.ndindex(2, 2, 2)):
            means = np.where(np.array(corner) == 1, high[0, 3 * m : 3 * m + 3], low[0, 3 * m : 3 * m + 3])
            signs = np.array(list(np.ndindex(2, 2, 2))) * 2 - 1
            expected = np.sum(network.H[m] * np.prod((1 + signs * means) / 2, axis=1))
            assert values[m, place] == pytest.approx(expected, abs=1e-14)


def test_a_bound_that_forgets_one_piece_of_a_column_is_caught(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    true = Pieces.of

    def mutant(network, j, boxes):  # type: ignore[no-untyped-def]
        whole = true(network, j, boxes)
        n = len(network.thresholds[j])
        kept = [place for place in range(2 + 2 * n) if not n or place not in (2, 2 + n)]
        return Pieces(whole.points[:, kept], whole.reached[:, kept])

    monkeypatch.setattr(Pieces, "of", staticmethod(mutant))
    found, _ = slack(seed)
    assert found.min() < -1e-6


def test_a_bound_that_takes_the_norm_at_the_centre_is_caught(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def mutant(self, c, least):  # type: ignore[no-untyped-def]
        return c + (least - c * self.below[:, None]) / self.at_centre[:, None]

    monkeypatch.setattr(lower_bound._Norms, "least_quotients", mutant)
    found, _ = slack(seed)
    assert found.min() < -1e-6
