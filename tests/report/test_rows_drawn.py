"""Pictures of the report row by row: dots stand where the contributions are, in the units of the table."""

import re

import numpy as np
import pytest

from abnet.explanation import explain_model
from abnet.model.model import Model
from abnet.predictors.compact import Compact
from abnet.preparation.columns import DateColumn, NumericColumn, TextColumn
from abnet.preparation.table_map import TableMap
from abnet.report.moves import direction_text
from abnet.report.rows_drawn import dependences, swarms
from abnet.report.svg import Bar, bar_chart

BASE = TableMap((
    NumericColumn("age", 50.0, 50.0, 10.0, True),
    TextColumn("city", ("Oslo", "Rome"), (), False),
    DateColumn("when", "year-month-day", 19000.0, 19000.0, 300.0, False, False),
))  # fmt: skip
MODEL = Model(
    Compact(np.array([[[2.0, 0.1, -1.0, 1.0, 0.7]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])), preparation=BASE
)


def explained(rng: np.random.Generator, n: int = 30):  # type: ignore[no-untyped-def]
    ages = [*(str(age) for age in rng.integers(20, 90, n - 1)), ""]
    days = [str(np.datetime64("2021-01-01") + int(day)) for day in rng.integers(0, 900, n)]
    rows = {"age": ages, "city": rng.choice(["Oslo", "Rome"], n).tolist(), "when": days}
    return explain_model(MODEL, rows, background={name: cells[:4] for name, cells in rows.items()})


def test_every_row_is_a_dot_at_its_contribution(rng: np.random.Generator) -> None:
    found = explained(rng)
    made = swarms(MODEL, found)
    assert made is not None
    lines = re.findall(r"<li><p>.*?</li>", str(made["picture"]), re.DOTALL)
    assert len(lines) == 3
    ends = [float(text.strip("%")) / 100 for text in re.findall(r'class="tick.*?">(.*?)<', str(made["picture"]))]
    for line, one in zip(lines, found.ranked(), strict=True):
        place = found.importance.index(one)
        dots = np.sort([float(x) for x in re.findall(r'<circle cx="(.*?)%"', line)])
        expected = (found.contributions[:, place, 0] - ends[0]) / (ends[-1] - ends[0]) * 100
        np.testing.assert_allclose(dots, np.sort(expected), atol=0.06)
    assert 'class="v"' in lines[[one.column for one in found.ranked()].index("city")]
    assert 'class="v4"' in lines[[one.column for one in found.ranked()].index("age")]


def test_dependence_has_the_numbers_dates_and_categories_of_the_table(rng: np.random.Generator) -> None:
    found = explained(rng)
    by_name = dict(zip([one.column for one in found.ranked()], map(str, dependences(MODEL, found)), strict=True))
    ticks = re.findall(r'class="tick middle">(.*?)<', by_name["age"])
    assert 0 <= float(ticks[0]) <= 20
    assert 80 <= float(ticks[-1]) <= 100
    assert by_name["age"].count("<circle") == 29  # the missing one has no place
    assert all(re.fullmatch(r"202[0-4]-\d\d-\d\d", day) for day in re.findall(r'tick middle">(.*?)<', by_name["when"]))
    assert by_name["city"].index("Rome") < by_name["city"].index("Oslo")  # the highest contribution first


def test_the_direction_of_every_kind_of_column_is_told(rng: np.random.Generator) -> None:
    found = explained(rng)
    said = {one.column: direction_text(MODEL, one, found) for one in found.importance}
    low, high = MODEL.labels.names
    assert said["age"].endswith(f"towards {high}")
    assert "Rome” towards " + high in said["city"]
    assert "Oslo” towards " + low in said["city"]


def test_bars_start_at_zero_and_share_a_scale() -> None:
    made = str(bar_chart([Bar("a", "2%", 0.02), Bar("b", "-1%", -0.01)], "Bars"))
    starts = [float(x) for x in re.findall(r'<rect x="([\d.]+)%".*?class="bar', made)]
    lengths = [float(x) for x in re.findall(r'width="([\d.]+)%" height="12" class="bar', made)]
    zero = starts[0]
    assert starts[1] + lengths[1] == pytest.approx(zero, abs=0.02)
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=0.02)
    axis = re.findall(r'<text x="([\d.]+)%" y="18".*?>(.*?)<', made)
    assert {text: place for place, text in axis}["0%"] == f"{zero:.2f}"
