"""Every bound is on the theory page, and the published certificates are on the page of measurements."""

import csv
from pathlib import Path

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
    found = {(row["dataset"], row["kind"]): float(row["mean_certificate"]) for row in rows}
    for dataset in {row["dataset"] for row in rows}:
        line = next(line for line in page.split("## How tight it gets")[1].splitlines() if f"| {dataset} " in line)
        cells = line.split("|")
        for kind, cell in (("gibbs", cells[2]), ("vote", cells[4])):
            assert 0 <= float(cell) - found[dataset, kind] < 1e-4, (dataset, kind)
