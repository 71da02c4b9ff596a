"""The pages about certificates: their examples run, and every bound is on the theory page."""

import csv
import doctest
from pathlib import Path
from statistics import fmean

import pytest

from abnet import bounds

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["certificates", "decisions"])
def test_examples_of_the_pages_run(page: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False, optionflags=flags)
    assert outcome.attempted > 10
    assert outcome.failed == 0


@pytest.mark.parametrize("name", bounds.__all__)
def test_every_bound_is_on_the_theory_page(name: str) -> None:
    assert f"`{name}`" in (DOCS / "theory.md").read_text(encoding="utf-8")


def test_the_page_shows_the_published_certificates_rounded_up() -> None:
    results = DOCS.parent / "results" / "certificates.csv"
    page = (DOCS / "certificates.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(results.read_text().splitlines()))
    found = {(row["dataset"], row["kind"]): float(row["mean_certificate"]) for row in rows}
    for dataset in {row["dataset"] for row in rows}:
        line = next(line for line in page.split("## How tight it gets")[1].splitlines() if f"| {dataset} " in line)
        cells = line.split("|")
        for kind, cell in (("gibbs", cells[2]), ("vote", cells[4])):
            assert 0 <= float(cell) - found[dataset, kind] < 1e-4, (dataset, kind)


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((DOCS.parent / "results" / name).read_text().splitlines()))


def test_todays_forms_are_no_looser_from_the_same_losses() -> None:
    """Gibbs smaller on every split, the vote of a frozen posterior the same; the page has the means."""
    rows = rows_of("certificates_tighter.csv")
    assert rows
    for row in rows:
        assert float(row["gibbs_forms_2"]) < float(row["gibbs_forms_1"])
        assert float(row["vote_forms_2"]) <= float(row["vote_forms_1"])
        assert int(row["all_recipes"]) == int(row["n_candidates"]) + 6
        assert float(row["gibbs_all_recipes"]) > float(row["gibbs_forms_2"])


@pytest.mark.parametrize("published", rows_of("certificates.csv"), ids=lambda row: f"{row['dataset']} {row['kind']}")
def test_means_in_todays_forms_are_no_larger_than_the_published_ones(published: dict[str, str]) -> None:
    """Same splits, same K: Gibbs smaller by more than rounding; votes, which count errors in both forms, no larger."""
    rows = [row for row in rows_of("certificates_tighter.csv") if row["dataset"] == published["dataset"]]
    assert sorted(row["split"] for row in rows) == [str(split) for split in range(int(published["splits"]))]
    assert {row["n_candidates"] for row in rows} == {published["n_candidates"]}
    today = fmean(float(row[f"{published['kind']}_forms_2"]) for row in rows)
    margin = float(published["mean_certificate"]) - today
    assert margin > (1e-5 if published["kind"] == "gibbs" else 0)  # the file is rounded up to five digits
