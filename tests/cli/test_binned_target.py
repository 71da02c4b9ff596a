"""A target of numbers that was cut into classes: every later command reads the same numbers by the model's own cuts."""

import json
from pathlib import Path

import numpy as np
import pytest

import abnet
from abnet.tables.target_bins import bin_names
from cli.tables import SMALL, Run


def write(path: Path, seed: int, shift: float = 0.0) -> Path:
    rng = np.random.default_rng(seed)
    size = rng.normal(size=200)
    price = rng.normal(size=200)
    price = 20 + 5 * size + price + shift
    lines = [f"{s:.3f},{p:.2f}" for s, p in zip(size, price, strict=True)]
    path.write_text("size,price\n" + "\n".join([*lines, "0.1,", "0.2,9.5"]) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("binned")


@pytest.fixture(scope="module")
def model(folder: Path, run: Run) -> Path:
    table = write(folder / "first.csv", 0)
    made = folder / "m.abnet"
    run("fit", table, "--target", "price", "--bins", "18,22.5", "--output", made, *SMALL)
    return made


def test_the_classes_are_named_and_kept_in_their_order(model: Path) -> None:
    loaded = abnet.load(model)
    assert loaded.card.cuts == (18.0, 22.5)
    assert loaded.labels.names == ("below 18", "18 to 22.5", "22.5 or above") == bin_names(loaded.card.cuts)


def test_numbers_are_read_by_the_stored_cuts(model: Path, folder: Path, run: Run) -> None:
    """Also where the new rows have other quantiles, and in a table that holds the classes themselves."""
    fresh = write(folder / "fresh.csv", 1, shift=3.0)
    found = json.loads(run("certify", model, fresh, "--json").stdout)
    numbers = [line.split(",")[1] for line in fresh.read_text().split("\n")[1:-1]]
    cut = [np.searchsorted([18, 22.5], float(text), side="right") for text in numbers if text]
    assert found["certificate"]["facts"]["class_rows"][:3] == np.bincount(cut, minlength=3).tolist()
    named = folder / "named.csv"
    names = dict(enumerate(bin_names((18.0, 22.5))))
    rows = [line.split(",") for line in fresh.read_text().split("\n")[1:-1]]
    told = [f"{s},{names[int(np.searchsorted([18, 22.5], float(p), side='right'))] if p else ''}" for s, p in rows]
    named.write_text("size,price\n" + "\n".join(told) + "\n")
    again = json.loads(run("certify", model, named, "--json").stdout)
    assert again["certificate"]["vote_error_bound"] == found["certificate"]["vote_error_bound"]
    watched = json.loads(run("monitor", model, fresh, "--state", folder / "w.json", "--error", 0.9, "--json").stdout)
    assert watched["new"]["errors"] == sum(found["certificate"]["facts"]["class_errors"])
    page = json.loads(run("report", model, fresh, "--output", folder / "r.html", "--quiet", "--json").stdout)
    assert page["n_rows"] == watched["new"]["n"] == 201
    assert page["error"] == pytest.approx(watched["new"]["errors"] / 201)


def test_predict_ignores_the_numbers(model: Path, folder: Path, run: Run) -> None:
    fresh = write(folder / "other.csv", 2)
    answers = run("predict", model, fresh).stdout.split()[1:]
    assert len(answers) >= 202


def test_compare_bins_as_fit_does(folder: Path, run: Run) -> None:
    table = write(folder / "compared.csv", 3)
    made = json.loads(
        run("compare", table, "--target", "price", "--bins", "20,", "--missing-label", "drop", "--json", *SMALL).stdout
    )
    assert made["n_learn"] + made["n_test"] == 201
    assert {note["code"] for note in made["note_data"]} >= {"cut", "missing labels"}


def test_names_tell_close_cuts_apart() -> None:
    assert len(set(bin_names((1234567.0, 1234568.0)))) == 3
