"""The validation pages: published rows keep their promises, traps break them, and pages show what the rows say."""

from itertools import groupby
from pathlib import Path

import pytest

import validation
from broken_promise import breaks
from simulation import Simulation, repeated
from validation_pages import HEADINGS, claim, renewed, rows_of
from validation_rows import Row, read_rows, write_rows

ROWS = read_rows(validation.RESULTS)
NAMES = validation.names()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.promise}: {row.setting}")
def test_a_promise_is_kept_and_a_trap_breaks_it(row: Row) -> None:
    assert breaks(row.false, row.repetitions, row.delta) == row.trap


def test_every_module_has_rows_and_a_page() -> None:
    assert sorted({row.promise for row in ROWS}) == NAMES
    pages = {path.stem for path in validation.PAGES.glob("*.md")} - {"index"}
    assert pages == set(NAMES)


def test_rows_of_a_promise_stand_together_and_no_setting_twice() -> None:
    assert [name for name, _ in groupby(row.promise for row in ROWS)] == NAMES
    assert len({(row.promise, row.setting) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("name", NAMES)
def test_every_promise_has_settings_and_a_trap(name: str) -> None:
    assert {row.trap for row in rows_of(name, ROWS)} == {False, True}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_sections_and_names_its_module(name: str) -> None:
    page = (validation.PAGES / f"{name}.md").read_text(encoding="utf-8")
    headings = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert headings == list(HEADINGS)
    assert f"`benchmarks/validations/{name.replace('-', '_')}.py`" in page
    assert f"](figures/{name}.svg)" in page
    assert len(claim(page).split()) > 5


def test_pages_and_figures_show_the_published_rows() -> None:
    """After a change, `python benchmarks/validation.py --only-report` renews them."""
    for path, content in renewed(validation.PAGES, ROWS).items():
        assert path.read_text(encoding="utf-8") == content, path.name


def test_a_short_simulation_gives_its_published_rows() -> None:
    """The others are run in `tests/long/test_validation.py`."""
    made = [Row.of("planning", simulation) for simulation in validation.simulate("planning")]
    assert made == [row for row in ROWS if row.promise == "planning"]


def test_every_repetition_has_a_generator_of_its_own_that_settings_do_not_share() -> None:
    drawn: list[float] = []

    def fails(rng: object) -> bool:
        drawn.append(rng.random())  # type: ignore[attr-defined]
        return len(drawn) % 5 == 0

    made = repeated("one", fails, delta=0.1, repetitions=20)
    assert made == Simulation("one", 0.1, 20, 4)
    repeated("two", fails, delta=0.1, repetitions=20, trap=True)
    assert len(set(drawn)) == 40


def test_rows_survive_a_file_and_a_changed_rate_is_refused(tmp_path: Path) -> None:
    rows = [Row("b, c", 0.1, 100, 7, True, "two"), Row("a", 0.05, 300, 0, False, "one")]
    file = tmp_path / "rows.csv"
    write_rows(file, rows)
    assert read_rows(file) == rows[::-1]
    file.write_text(file.read_text().replace(",0.07000,", ",0.04000,"))
    with pytest.raises(ValueError, match="b, c"):
        read_rows(file)
