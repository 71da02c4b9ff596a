"""Figures of explanations: what they show, that hostile names stay inert, and that files are the same each time."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from abnet.explanation import explain, explain_model
from abnet.explanation.charts import (
    beeswarm_figure,
    contributions_figure,
    dependence_figure,
    importance_figure,
    region_mass_figure,
    row_regions_figure,
    save_model_figures,
    save_row_figures,
)
from abnet.tables.columns import HashedColumn, NumericColumn, TextColumn
from abnet.tables.labels import Labels
from abnet.tables.preparation import TableMap
from explanation.test_shapley import compact, every_kind
from export.models import model as exported

NAMES = ('"; rm -rf', "<script>alert(1)</script>", "n" * 300, "$\\frac{1}{$", "größe\u202e漢字\x00")
LABELS = Labels(np.array(["<b>$x_", "漢" * 50]))


def hostile(kind: str, rng: np.random.Generator) -> Any:
    info: dict[str, Any] = {"feature_names": NAMES} | ({} if kind == "classes" else {"labels": LABELS})
    return exported(kind, 5, **info)


def rows(rng: np.random.Generator, n: int = 12) -> np.ndarray:
    return rng.normal(size=(n, 5))


@pytest.mark.parametrize("kind", ["compact", "classes"])
def test_figures_are_written_whole_and_hostile_names_are_inert(
    kind: str, rng: np.random.Generator, tmp_path: Path
) -> None:
    """No warning of a letter that the font lacks, no formula, no markup: warnings are errors in these tests."""
    model = hostile(kind, rng)
    X = rows(rng)
    whole = explain_model(model, X, model.predict(X), background=X[:4], rows=3)
    paths = save_row_figures(explain(model, X[:1], background=X[:4])[0], tmp_path)
    paths += save_model_figures(whole, tmp_path)
    swarm = ["beeswarm", "dependence-1", "dependence-2", "dependence-3"]
    stems = ["row-1-columns", "row-1-regions", "importance", *swarm, "regions"]
    assert [path.name for path in paths] == [f"{stem}.{end}" for stem in stems for end in ("png", "svg")]
    assert sorted(tmp_path.iterdir()) == sorted(paths)  # no half-written file is left
    for path in paths[1::2]:
        tags = {re.sub("{.*}", "", element.tag) for element in ElementTree.parse(path).iter()}
        assert "script" not in tags
        assert "<script" not in re.sub("<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def widths(figure: Figure, panel: int = 0) -> list[float]:
    return [bar.get_width() for bar in figure.axes[panel].patches]  # type: ignore[attr-defined]


def names(figure: Figure, panel: int = 0) -> list[str]:
    return [label.get_text() for label in figure.axes[panel].get_yticklabels()]


def test_the_bars_of_a_row_lead_from_the_average_below_to_its_probability_above(rng: np.random.Generator) -> None:
    model, _ = compact("mixture", rng)
    X = rows(rng)
    row = explain(model, X[:1], background=X[1:])[0]
    figure = contributions_figure(row, most=3)
    bars = widths(figure)
    starts = [bar.get_x() for bar in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert len(bars) == 4  # three columns and the others
    assert starts[-1] == pytest.approx(row.waterfall.base)
    assert starts[0] + bars[0] == pytest.approx(model.predict_proba(X[:1])[0].max())
    np.testing.assert_allclose(starts[:-1], np.array(starts[1:]) + bars[1:], atol=1e-12)
    assert names(figure)[-1].startswith("2 ")
    assert names(figure)[0].startswith(f"{row.columns[row.ranked()[0]]} = ")
    numbers = [text.get_text() for text in figure.axes[0].texts]
    assert numbers == [f"{100 * bar:+.1f}%" for bar in bars]
    title = figure.axes[0].get_title(loc="left")
    assert f"{100 * row.waterfall.value:.1f}%" in title


def test_every_row_has_a_point_in_the_beeswarm_and_in_the_dependence(rng: np.random.Generator) -> None:
    model, _ = compact("one", rng)
    X = rows(rng, 30)
    explanation = explain_model(model, X, background=X[:4], rows=20)
    figure = beeswarm_figure(explanation, most=3)
    ranked = sorted(range(5), key=lambda j: -explanation.importance[j].contribution)[:3]
    for place, (j, drawn) in enumerate(zip(ranked, figure.axes[0].collections, strict=True)):
        points = np.asarray(drawn.get_offsets())
        np.testing.assert_allclose(points[:, 0], explanation.contributions[:, j, 0])
        assert np.abs(points[:, 1] - place).max() < 0.5  # within its line
    points = np.asarray(dependence_figure(explanation, 2).axes[0].collections[0].get_offsets())
    np.testing.assert_allclose(points[:, 0], explanation.cells[2].numbers)  # type: ignore[arg-type]
    np.testing.assert_allclose(points[:, 1], explanation.contributions[:, 2, 0])


def test_the_beeswarm_of_several_classes_has_a_panel_for_each_with_its_contributions(rng: np.random.Generator) -> None:
    labels = Labels(np.array(["c1", "c10", "c2", "c3", "c4"]))
    model = exported("classes", 5, labels=labels)
    X = rows(rng, 20)
    explanation = explain_model(model, X, background=X[:4])
    figure = beeswarm_figure(explanation, most=3)
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in panels] == ["c1", "c2", "c3", "c4", "c10"]
    for axes in panels:
        c = list(labels.names).index(axes.get_title(loc="left"))
        most = np.argsort(-np.abs(explanation.contributions[:, :, c]).mean(axis=0))[:3]
        assert len(axes.collections) == 3
        for place, (j, drawn) in enumerate(zip(most, axes.collections, strict=True)):
            points = np.asarray(drawn.get_offsets())
            np.testing.assert_allclose(points[:, 0], explanation.contributions[:, j, c])
            assert np.abs(points[:, 1] - place).max() < 0.5
        assert axes.get_xlim() == panels[0].get_xlim()
    alone = beeswarm_figure(explanation, output=2, most=1).axes[0].collections[0]
    largest = np.abs(explanation.contributions[:, :, 2]).mean(axis=0).argmax()
    np.testing.assert_allclose(np.asarray(alone.get_offsets())[:, 0], explanation.contributions[:, largest, 2])


def test_dependence_is_drawn_for_the_class_that_the_column_moves_most(rng: np.random.Generator) -> None:
    model = exported("classes", 5)
    X = rows(rng, 20)
    explanation = explain_model(model, X, background=X[:4])
    for j in range(5):
        c = int(np.abs(explanation.contributions[:, j]).mean(axis=0).argmax())
        axes = dependence_figure(explanation, j).axes[0]
        points = np.asarray(axes.collections[0].get_offsets())
        np.testing.assert_allclose(points[:, 1], explanation.contributions[:, j, c])
        assert f"P({model.labels.names[c]})" in axes.get_ylabel()


def test_dependence_is_in_the_units_of_the_table(rng: np.random.Generator) -> None:
    """Numbers as they are written, missing ones left out; categories side by side; free text has no such figure."""
    base = TableMap((
        NumericColumn("a", 100.0, 90.0, 20.0, True),
        TextColumn("b", ("x", "y", "z"), (), False),
        HashedColumn("c", 2, False),
    ))  # fmt: skip
    model = exported("compact", base.n_features_out, preparation=base)
    table = {"a": ["120", "", "75"], "b": ["x", "z", "z"], "c": ["one two", "two", "three"]}
    explanation = explain_model(model, table, background=table)
    np.testing.assert_allclose(explanation.cells[0].numbers, [120, np.nan, 75], rtol=1e-6)  # type: ignore[arg-type]
    points = np.asarray(dependence_figure(explanation, 0).axes[0].collections[0].get_offsets())
    np.testing.assert_allclose(np.ma.getdata(points)[[0, 2], 0], [120, 75], rtol=1e-6)
    figure = dependence_figure(explanation, 1)
    shown = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert sorted(shown) == ["x", "z"]
    places = np.asarray(figure.axes[0].collections[0].get_offsets())[:, 0].astype(int)
    assert [shown[place] for place in places] == ["x", "z", "z"]
    assert explanation.importance[1].direction is None
    with pytest.raises(ValueError, match="'c'"):
        dependence_figure(explanation, 2)


def test_shares_of_the_regions_add_up_to_the_score(rng: np.random.Generator) -> None:
    model, _ = compact("mixture", rng)
    X = rows(rng)
    row = explain(model, X[:1], background=X[1:])[0]
    figure = row_regions_figure(row)
    assert sum(widths(figure, 1)) == pytest.approx(row.scores[0], abs=1e-12)
    assert names(figure)[-1] == "18 others"


def test_importance_is_drawn_with_and_without_labels(rng: np.random.Generator) -> None:
    model, _ = compact("one", rng)
    X = rows(rng)
    bare = explain_model(model, X, background=X[:4], rows=4)
    judged = explain_model(model, X, model.predict(X), background=X[:4], rows=4)
    assert len(importance_figure(bare).axes) == 1
    figure = importance_figure(judged, most=4)
    assert len(figure.axes) == 2
    assert widths(figure) == [one.contribution for one in judged.ranked()[:4]]
    grown = [f"{100 * (one.error_growth or 0.0):+.1f}".replace("-0.0", "+0.0") for one in judged.ranked()[:4]]
    assert [text.get_text() for text in figure.axes[1].texts] == grown
    assert widths(region_mass_figure(judged)) == [100 * one.probability for one in judged.regions.listed]  # type: ignore[union-attr]


def test_models_without_regions_say_so(rng: np.random.Generator, tmp_path: Path) -> None:
    model = every_kind(rng)["paths"]
    X = rows(rng, 4)
    row = explain(model, X[:1], background=X)[0]
    whole = explain_model(model, X, background=X, rows=2)
    for draw in (lambda: row_regions_figure(row), lambda: region_mass_figure(whole)):
        with pytest.raises(ValueError, match=r"\b30\b"):
            draw()
    assert [path.name for path in save_row_figures(row, tmp_path)] == ["row-1-columns.png", "row-1-columns.svg"]
    written = {path.stem for path in save_model_figures(whole, tmp_path)}
    assert written == {"importance", "beeswarm", "dependence-1", "dependence-2", "dependence-3"}
