"""Ten classes: what learns and what is counted, and a table that goes on where it was stopped."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ten_digits
from abnet.bounds import clopper_pearson_bound
from abnet.training.seeds import generators_from
from ten_digits import (
    RECIPES,
    DigitsRecipe,
    DigitsResult,
    features_of,
    measure_digits,
    multiclass,
    read_digits,
    results_to_csv,
)

TINY = DigitsRecipe("raw", 16, 2, code_length=6, paths=5, copies=1, epochs=6, batch_size=32, prior_fraction=0.5)
RESULTS = Path(__file__).parents[2] / "results" / "multiclass.csv"


def squares(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Images with a bright square whose place is the class."""
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 10, n)
    images = (0.2 * rng.random((n, 28, 28))).astype(np.float32)
    for image, digit in zip(images, digits, strict=True):
        row = 4 + 10 * (digit // 5)
        column = 1 + 5 * (digit % 5)
        image[row : row + 6, column : column + 5] = 1
    return images.reshape(n, 784), digits


@pytest.fixture(scope="module")
def tiny() -> DigitsResult:
    return measure_digits(TINY, *squares(700), n_learn=600)


def test_the_certificate_is_that_of_the_counted_rows(tiny: DigitsResult) -> None:
    assert tiny.bound_rows == 300
    expected = clopper_pearson_bound(tiny.bound_vote_errors, 300, 0.05, n_candidates=2)
    assert tiny.vote_certificate == pytest.approx(expected, rel=1e-9)
    assert tiny.bound_gibbs_risk < tiny.gibbs_certificate < 1
    assert tiny.test_error < 0.3  # of .9 by guessing


def test_bound_rows_reach_nothing_but_the_certificate(tiny: DigitsResult) -> None:
    images, digits = squares(700)
    bound = generators_from(0, 6)[0].permutation(600)[300:]
    digits[bound] = (digits[bound] + 1) % 10
    images[bound] = images[bound][::-1]
    other = measure_digits(TINY, images, digits, n_learn=600)
    assert (other.test_error, other.test_gibbs_risk) == (tiny.test_error, tiny.test_gibbs_risk)
    assert other.vote_certificate > 0.5


def test_maps_are_fixed_and_others_refused() -> None:
    images, _ = squares(6)
    np.testing.assert_array_equal(features_of(images, "maps")[2:3], features_of(images[2:3], "maps"))
    with pytest.raises(ValueError, match="'raw' or 'maps'"):
        features_of(images, "wavelets")


def test_results_are_written_outward_and_come_back(tiny: DigitsResult, tmp_path: Path) -> None:
    path = tmp_path / "multiclass.csv"
    path.write_text(results_to_csv([tiny]))
    (back,) = read_digits(path)
    assert back.recipe == tiny.recipe
    assert tiny.vote_certificate <= back.vote_certificate < tiny.vote_certificate + 1e-5
    assert (back.test_error, back.bound_vote_errors) == (tiny.test_error, tiny.bound_vote_errors)
    path.write_text("features,hidden\nraw,many\n")
    with pytest.raises(ValueError, match="command"):
        read_digits(path)
    assert read_digits(tmp_path / "none.csv") == []


def test_a_stopped_run_goes_on(tiny: DigitsResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def pretend(recipe: DigitsRecipe, *_: Any, **__: Any) -> DigitsResult:
        measured.append(recipe.features)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return replace(tiny, recipe=recipe)

    monkeypatch.setattr(ten_digits, "measure_digits", pretend)
    monkeypatch.setattr(ten_digits, "mnist_digits", lambda **_: squares(2))
    with pytest.raises(KeyboardInterrupt):
        multiclass(list(RECIPES), tmp_path / "multiclass.csv")
    multiclass(list(RECIPES), tmp_path / "multiclass.csv")
    assert measured == ["raw", "maps", "maps"]
    assert [result.recipe for result in read_digits(tmp_path / "multiclass.csv")] == list(RECIPES.values())


def test_the_published_certificates_follow_from_their_counts() -> None:
    with RESULTS.open() as file:
        lines = {line["features"]: line for line in csv.DictReader(file)}
    assert list(lines) == list(RECIPES)
    for name, line in lines.items():
        errors = int(line["bound_vote_errors"])
        n = int(line["bound_rows"])
        assert n == round((1 - RECIPES[name].prior_fraction) * 60_000)
        bound = clopper_pearson_bound(errors, n, 0.05, n_candidates=len(RECIPES))
        assert bound <= float(line["vote_certificate"]) <= bound + 1e-5
    assert float(lines["raw"]["test_error"]) <= 0.022
    assert float(lines["raw"]["gibbs_certificate"]) <= 0.036
    assert float(lines["raw"]["vote_certificate"]) <= 0.024
    assert float(lines["maps"]["vote_certificate"]) <= 0.015
