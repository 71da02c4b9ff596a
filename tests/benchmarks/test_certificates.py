"""The table of certificates: the recipe is chosen inside the first part, and a broken run goes on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

import tightness
from abnet.estimators.labelled_parts import split_at_random
from tightness import (
    DATASETS,
    PREPARATIONS,
    RECIPES,
    Measurement,
    Recipe,
    choose_recipe,
    load_rows,
    measure,
    measure_all,
    read_measurements,
    recipes_for,
    summarise,
)

GOOD = Recipe("standardise", (3,))
CONSTANT = Recipe("constant", (2,))


@pytest.fixture
def with_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preparation that leaves nothing of the features."""
    monkeypatch.setitem(PREPARATIONS, "constant", FunctionTransformer(np.zeros_like))


def test_a_split_certifies_the_recipe_chosen_in_its_first_part(with_constant: None) -> None:
    one = measure("wine", 0, [CONSTANT, GOOD])
    assert (one.preparation, one.hidden_layer_sizes, one.n_recipes) == ("standardise", "3", 2)
    assert one.n_candidates == 1
    assert one.n_first + one.n_bound == 178 - 44
    assert one.empirical_gibbs_risk < one.gibbs_certificate < 1
    assert one.bound_errors / one.n_bound < one.vote_certificate < 1
    assert one.test_error * 44 == pytest.approx(round(one.test_error * 44), abs=1e-4)  # a quarter of 178 rows


def test_rows_that_certify_have_no_part_in_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = load_rows("wine")
    seen = []
    fits = []
    fit = tightness.fit_recipe

    def recording_choice(recipes: Any, X: Any, y: Any, *, seed: int) -> Recipe:
        seen.append(X)
        return GOOD

    def recording_fit(recipe: Recipe, X: Any, y: Any, **options: Any) -> Any:
        fits.append((X, fit(recipe, X, y, **options)))
        return fits[-1][1]

    monkeypatch.setattr(tightness, "choose_recipe", recording_choice)
    monkeypatch.setattr(tightness, "fit_recipe", recording_fit)
    measure("wine", 0, [GOOD])
    [(learn, model)] = fits
    certifying = {tuple(row) for row in learn[model.bound_rows_]}
    assert len(certifying) > 40
    assert not certifying & {tuple(row) for row in seen[0]}
    assert len(np.unique(X, axis=0)) == len(X)  # else equal rows could be on both sides


def test_a_choice_on_other_rows_than_the_first_part_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tightness, "choose_recipe", lambda *a, **k: GOOD)
    monkeypatch.setattr(tightness, "split_at_random", lambda data, share, seed: split_at_random(data, share, seed + 1))
    with pytest.raises(RuntimeError, match="split 0"):
        measure("wine", 0, [GOOD])


def test_the_recipe_with_the_lowest_risk_is_chosen_in_any_order(with_constant: None) -> None:
    X, y = load_rows("wine")
    assert choose_recipe([GOOD, CONSTANT], X, y, seed=1) == choose_recipe([CONSTANT, GOOD], X, y, seed=1) == GOOD


def test_recipes_have_known_preparations_and_are_those_of_a_kind_of_data() -> None:
    assert all(recipe.preparation in PREPARATIONS for recipes in RECIPES.values() for recipe in recipes)
    assert {recipes_for(dataset) for dataset in DATASETS} == set(RECIPES.values())


@pytest.mark.parametrize("name", ["upright", "gradients"])
def test_maps_of_images_work_row_by_row(name: str) -> None:
    images = np.random.default_rng(0).random((3, 784))
    together = PREPARATIONS[name].transform(images)
    alone = [PREPARATIONS[name].transform(images[[i]])[0] for i in range(3)]
    assert together == pytest.approx(np.array(alone), abs=1e-6)


def pretended(dataset: str, split: int, recipes: Any, **_: Any) -> Measurement:
    return Measurement(dataset, split, "none", "8-8", 2, 60, 40, 1, 0.1 + split, 0.2 + split, 0.1, 3, 0.3, 0.4, 1.0)


def test_a_broken_run_keeps_its_splits_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "certificates.csv"
    measured: list[int] = []

    def broken(dataset: str, split: int, recipes: Any, **options: Any) -> Measurement:
        if split == 1 and len(measured) == 1:
            raise KeyboardInterrupt
        measured.append(split)
        return pretended(dataset, split, recipes)

    monkeypatch.setattr(tightness, "measure", broken)
    with pytest.raises(KeyboardInterrupt):
        measure_all(["ads"], 3, output)
    assert read_measurements(output) == [pretended("ads", 0, ())]
    measured.append(0)
    everything = measure_all(["ads"], 3, output)
    assert everything == read_measurements(output) == [pretended("ads", split, ()) for split in range(3)]
    assert measured == [0, 0, 1, 2]  # split 0 was trained once


def test_the_summary_has_the_means_of_each_data_set() -> None:
    means = summarise([pretended("ads", split, ()) for split in (0, 1)])
    assert means["ads"]["splits"] == 2
    assert means["ads"]["gibbs_certificate"] == pytest.approx(0.6)
    assert means["ads"]["vote_certificate"] == pytest.approx(0.7)
