"""The table of certificates: from splits to rows, and from a broken run on."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tightness
from tightness import (
    PREPARATIONS,
    RECIPES,
    Measurement,
    load_rows,
    measure,
    measure_all,
    preparation_of,
    preprocessor_of,
    summarise,
    summary_to_csv,
)

TINY: dict[str, Any] = {"hidden_layer_sizes": (2,), "posterior": "frozen", "max_iter": 4}


def test_a_split_compares_the_certificate_with_rows_the_model_never_saw() -> None:
    one = measure("wine", 0, TINY)
    assert 0 < one.gibbs_certificate <= 1
    assert one.aggregation == "exact"
    assert one.test_error * 44 == pytest.approx(round(one.test_error * 44))  # a quarter of 178 rows


def test_an_unknown_preparation_is_refused() -> None:
    with pytest.raises(ValueError, match="ranks"):
        measure("wine", 0, TINY | {"preparation": "ranks"})


def test_a_preparation_is_a_fixed_map_or_fitted_by_the_classifier_never_both(monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.random.default_rng(0).random((3, 784))
    monkeypatch.setattr(tightness, "_raw_rows", lambda name, data_dir: (images, np.ones(3)))
    load_rows.cache_clear()
    for name in PREPARATIONS:
        X, _ = load_rows("mnist00", name)
        assert X is images or preprocessor_of(name) is None
    load_rows.cache_clear()


def test_recipes_name_known_preparations_and_pay_for_the_tries() -> None:
    for dataset, recipe in RECIPES.items():
        assert preparation_of(dataset, recipe) in PREPARATIONS
        assert recipe["n_candidates"] > 1, f"{dataset}: none of these recipes was the first"


def pretended(dataset: str, split: int, parameters: Any, **_: Any) -> Measurement:
    return Measurement(dataset, split, 0.1 + split, 0.2 + split, 0.3, 0.4, "8-8", "exact", "frozen", 0.5, 1, 1.0)


def test_finished_splits_are_taken_from_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.json"
    monkeypatch.setattr(tightness, "RECIPES", {"wine": TINY})
    monkeypatch.setattr(tightness, "measure", pretended)
    first = measure_all(["wine"], 2, log=log)
    assert first == [pretended("wine", split, TINY) for split in range(2)]
    monkeypatch.setattr(tightness, "measure", lambda *a, **k: pytest.fail("measured again"))
    assert measure_all(["wine"], 2, log=log) == first


def test_the_summary_has_a_row_for_the_gibbs_risk_and_one_for_the_vote() -> None:
    halves = [Measurement("ads", s, 0.1 + s, 0.2 + s, 0.3, 0.4, "8-8", "exact", "frozen", 0.5, 1, 1.0) for s in (0, 1)]
    rows = list(csv.DictReader(summary_to_csv(summarise(halves)).splitlines()))
    assert [(row["kind"], row["mean_certificate"]) for row in rows] == [("gibbs", "0.6"), ("vote", "0.7")]
    assert rows[0]["splits"] == "2"
    wanted = "dataset,kind,mean_certificate,test_error,test_gibbs_risk,hidden_layer_sizes,aggregation,prior_fraction"
    assert ",".join(rows[0]) == f"{wanted},n_candidates,splits"
