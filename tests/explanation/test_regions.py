"""Regions of rows: probabilities, shares that add up to the score, and what models without regions say."""

from itertools import product

import numpy as np
import pytest

from abnet.explanation.regions import region_table, row_regions, why_no_regions
from abnet.model.model import Model
from abnet.model.predictors.predictor import Predictor
from explanation.test_shapley import compact, every_kind, rows

WITH_TABLE = ("one", "mixture", "classes", "uniform")


def predictor(kind: str, rng: np.random.Generator) -> Predictor:
    model: Model = compact(kind, rng)[0] if kind in ("one", "mixture", "classes") else every_kind(rng)[kind]
    return model.predictor


@pytest.mark.parametrize("kind", WITH_TABLE)
def test_probabilities_sum_to_one_and_shares_to_the_score(kind: str, rng: np.random.Generator) -> None:
    model = predictor(kind, rng)
    X = rows(rng, 7)
    table = region_table(model)
    assert table is not None
    P = table.probabilities(X)
    np.testing.assert_allclose(P.sum(axis=2), 1, atol=1e-12)
    assert P.min() >= 0
    scores = model.scores(X).reshape(len(X), -1)
    shares = np.einsum("nms,msc->nc", P, table.H) / table.n_members
    np.testing.assert_allclose(shares, scores, atol=1e-12)


@pytest.mark.parametrize("kind", [*WITH_TABLE, "drawn"])
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_what_is_listed_and_what_is_not_make_the_whole(kind: str, most: int, rng: np.random.Generator) -> None:
    model = predictor(kind, rng)
    X = rows(rng, 3)
    regions_of_rows = row_regions(model, X, most)
    assert regions_of_rows is not None
    members = max(region.member for region in row_regions(model, X, 1000)[0].listed) + 1  # type: ignore[index]
    for regions, score in zip(regions_of_rows, model.scores(X).reshape(3, -1), strict=True):
        listed = sum(region.probability for region in regions.listed) / members
        assert listed + regions.other_probability == pytest.approx(1, abs=1e-12)
        shares = np.sum([region.share for region in regions.listed], axis=0) + regions.other_share
        np.testing.assert_allclose(shares, score, atol=1e-12)
        for region in regions.listed:
            np.testing.assert_allclose(region.share, region.probability * np.array(region.output) / members)
        probabilities = [region.probability for region in regions.listed]
        assert probabilities == sorted(probabilities, reverse=True)


def test_a_region_is_named_by_its_signs(rng: np.random.Generator) -> None:
    """The probability of a sign vector is the share of drawn leading layers that give it: a z-test for each region."""
    model, (W, b, _) = compact("one", rng)
    x = rows(rng, 1)[0]
    n = 40_000
    drawn = (W[0] + rng.normal(size=(n, *W[0].shape))) @ x + b[0] + rng.normal(size=(n, len(b[0])))
    probabilities = {region.signs: region.probability for region in row_regions(model.predictor, x[None], 8)[0].listed}  # type: ignore[index]
    for signs in product((-1, 1), repeat=3):
        seen = float(np.mean((np.where(drawn >= 0, 1, -1) == signs).all(axis=1)))
        p = probabilities[signs]
        assert abs(seen - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9


def test_the_map_network_has_one_region(rng: np.random.Generator) -> None:
    model = predictor("drawn", rng)
    X = rows(rng, 4)
    regions_of_rows = row_regions(model, X)
    assert regions_of_rows is not None
    for regions, score in zip(regions_of_rows, model.scores(X), strict=True):
        assert regions.listed[0].probability == 1
        assert regions.listed[0].output == (score,)


@pytest.mark.parametrize("kind", ["paths", "mixture of paths"])
def test_a_model_of_paths_says_what_it_cannot_give(kind: str, rng: np.random.Generator) -> None:
    model = predictor(kind, rng)
    assert row_regions(model, rows(rng, 2)) is None
    assert "2^30" in why_no_regions(model)
