"""The published rows of the validation pages are those that this version counts."""

import pytest

import validation
from validation_rows import Row, read_rows

ROWS = read_rows(validation.RESULTS)


@pytest.mark.parametrize("name", validation.names())
def test_a_simulation_gives_its_published_rows(name: str) -> None:
    made = [Row.of(name, simulation) for simulation in validation.simulate(name)]
    assert made == [row for row in ROWS if row.promise == name]
