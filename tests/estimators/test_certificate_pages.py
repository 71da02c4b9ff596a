"""Every bound is on the theory page, and the published certificates are on the page of measurements."""

import csv
from pathlib import Path
from statistics import mean

import pytest

from abnet import bounds

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", bounds.__all__)
def test_every_bound_is_on_the_theory_page(name: str) -> None:
    assert f"`{name}`" in (DOCS / "theory.md").read_text(encoding="utf-8")


def test_the_page_shows_the_published_certificates_rounded_up() -> None:
    results = DOCS.parent / "results" / "certificates.csv"
    page = (DOCS / "measurements.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(results.read_text().splitlines()))
    for dataset in {row["dataset"] for row in rows}:
        line = next(line for line in page.split("## How tight it gets")[1].splitlines() if f"| {dataset} " in line)
        cells = line.split("|")
        splits = [row for row in rows if row["dataset"] == dataset]
        for kind, cell in (("gibbs", cells[2]), ("vote", cells[4])):
            found = mean(float(row[f"{kind}_certificate"]) for row in splits)
            assert -1e-9 < float(cell) - found < 1e-4, (dataset, kind)


def test_published_certificates_are_of_a_recipe_chosen_without_the_rows_that_certify() -> None:
    with (DOCS.parent / "results" / "certificates.csv").open() as file:
        assert {row["n_candidates"] for row in csv.DictReader(file)} == {"1"}
