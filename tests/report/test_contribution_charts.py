"""Pictures of the report row by row: dots stand where the contributions are, in the units of the table."""

import re
from dataclasses import replace

import numpy as np
import pytest

from abnet.explanation import ExplanationPlan, explain, explain_model
from abnet.explanation.model_explanation import ROW_EVALUATIONS
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.report.contribution_charts import beeswarms, dependences
from abnet.report.importance_section import direction_text
from abnet.report.svg import Bar, bar_chart
from abnet.tables.columns import DateColumn, NumericColumn, TextColumn
from abnet.tables.labels import Labels
from abnet.tables.preparation.table_map import TableMap
from export.models import model as exported

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


def plan_of(model: Model, X: np.ndarray) -> ExplanationPlan:
    """As `explain_model` has it."""
    return ExplanationPlan.of(model, X[:5], pairs=2).thinned(ROW_EVALUATIONS)


def dots_by_line(picture: str) -> dict[str, np.ndarray]:
    """Where the dots of each column stand, read back with the scale of the picture: contributions."""
    axis = re.findall(r'<text x="([\d.]+)%" y="18".*?>(.*?)<', picture)
    places = np.array([float(place) for place, _ in axis])
    ticks = np.array([float(text.replace("−", "-").strip("%")) for _, text in axis])
    assert len(ticks) > 1
    lines = re.findall(r"<li><p><span>(.*?)</span></p>(.*?)</li>", picture, re.DOTALL)
    slope = (ticks[-1] - ticks[0]) / (places[-1] - places[0]) / 100
    return {
        name: ticks[0] / 100 + slope * (np.array(re.findall(r'<circle cx="(.*?)%"', line), float) - places[0])
        for name, line in lines
    }


def test_every_row_is_a_dot_at_its_contribution(rng: np.random.Generator) -> None:
    found = explained(rng)
    made = beeswarms(found)
    assert made is not None
    (panel,) = made["panels"]
    lines = dots_by_line(str(panel["picture"]))
    assert list(lines) == [one.column for one in found.ranked()]
    for place, one in enumerate(found.importance):
        expected = np.sort(found.contributions[:, place, 0])
        np.testing.assert_allclose(np.sort(lines[one.column]), expected, atol=0.002 * np.ptp(found.contributions))
    parts = re.findall(r"<li><p>.*?</li>", str(panel["picture"]), re.DOTALL)
    assert 'class="v"' in parts[list(lines).index("city")]
    assert 'class="v4"' in parts[list(lines).index("age")]


def test_several_classes_have_a_beeswarm_each_of_their_own_shapley_values(rng: np.random.Generator) -> None:
    """Panels in natural order, each with the columns that move its class most, all on one scale."""
    labels = Labels(np.array(["c1", "c10", "c2", "c3", "c4"]))
    model = exported("classes", 6, labels=labels, feature_names=tuple("abcdef"))
    X = rng.normal(size=(40, 6))
    found = explain_model(model, X, background=X[:5])
    values = np.stack([row.contributions for row in explain(model, X, plan=plan_of(model, X))])
    np.testing.assert_allclose(found.contributions, values)
    made = beeswarms(found)
    assert made is not None
    assert [panel["title"] for panel in made["panels"]] == ["c1", "c2", "c3", "c4", "c10"]
    scales = {tuple(re.findall(r'<text x="([\d.]+)%" y="18".*?>(.*?)<', str(p["picture"]))) for p in made["panels"]}
    assert len(scales) == 1
    for panel in made["panels"]:
        of_class = values[:, :, list(labels.names).index(panel["title"])]
        most = np.argsort(-np.abs(of_class).mean(axis=0))[:4]
        lines = dots_by_line(str(panel["picture"]))
        assert list(lines) == ["abcdef"[j] for j in most]
        for j, dots in zip(most, lines.values(), strict=True):
            np.testing.assert_allclose(np.sort(dots), np.sort(of_class[:, j]), atol=0.002 * np.ptp(values))


def test_of_many_classes_those_that_are_moved_most_have_panels(rng: np.random.Generator) -> None:
    found = explained(rng)
    names = tuple(f"k{i}" for i in range(15))
    contributions = rng.normal(size=(30, 3, 15)) * np.arange(1, 16)
    many = replace(found, classes=names, contributions=contributions)
    made = beeswarms(many)
    assert made is not None
    assert [panel["title"] for panel in made["panels"]] == [f"k{i}" for i in range(3, 15)]
    assert "12 classes" in made["words"]


def test_dependence_of_several_classes_is_that_of_the_class_moved_most(rng: np.random.Generator) -> None:
    found = explained(rng)
    contributions = rng.normal(size=(30, 3, 4)) * np.array([1.0, 1.0, 9.0, 1.0])
    many = replace(found, classes=("p", "q", "r", "s"), contributions=contributions)
    assert all("P(r)" in str(picture) for picture in dependences(many))


def test_dependence_has_the_numbers_dates_and_categories_of_the_table(rng: np.random.Generator) -> None:
    found = explained(rng)
    by_name = dict(zip([one.column for one in found.ranked()], map(str, dependences(found)), strict=True))
    ticks = re.findall(r'class="tick middle">(.*?)<', by_name["age"])
    assert 0 <= float(ticks[0]) <= 20
    assert 80 <= float(ticks[-1]) <= 100
    assert by_name["age"].count("<circle") == 29  # the missing one has no place
    days = re.findall(r'tick middle">(.*?)<', by_name["when"])
    assert len(days) > 1
    assert all(re.fullmatch(r"202[0-4](-\d\d)?", day) for day in days)
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
