"""Files of the reproduction: pages renewed in place, agreement with the paper, measured times."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

from abnet.networks import exact
from abnet.networks.bam import BAM
from abnet.networks.lifting import lift
from abnet.paper.figures import timed_passes
from abnet.paper.figures.figure2 import METHODS
from abnet.paper.figures.timed_passes import output_as_written
from abnet.paper.reproduction.results_folder import renew_page, with_part
from abnet.paper.reproduction.table1_comparison import agreement_text, compare, disagreements
from abnet.paper.reproduction.table1_rows import paper_table, table1_to_csv
from networks.as_written import abnet_output


def test_a_part_is_renewed_and_the_rest_kept() -> None:
    page = with_part("# Title\n\nWords.\n", "a", r"old \1")
    page = with_part(page, "b", "other") + "\nThe end.\n"
    renewed = with_part(page, "a", r"new \1")
    assert renewed == page.replace("old", "new")
    assert renewed.index("<!-- a: generated -->") < renewed.index("<!-- b: generated -->")


def test_the_papers_own_table_agrees_with_itself_and_worse_figures_do_not() -> None:
    paper = paper_table()
    assert disagreements(compare(paper)) == []
    (index,) = [i for i, row in enumerate(paper) if row.cell == ("ads", "narrow", "ABNet")]
    row = paper[index]
    assert row.bound is not None
    assert row.test_error is not None
    assert row.test_error_std is not None
    limit = row.test_error + 2 * row.test_error_std + 0.003
    paper[index] = replace(row, bound=row.bound + 0.005, test_error=limit)
    assert disagreements(compare(paper)) == []
    paper[index] = replace(row, bound=row.bound + 0.0051, test_error=limit + 1e-4)
    assert [d.figure for d in disagreements(compare(paper))] == ["bound", "test error"]
    assert "83 of 84" in agreement_text(compare(paper))


def test_the_page_is_filled_from_the_results(tmp_path: Path) -> None:
    results = tmp_path / "results"
    page = tmp_path / "docs" / "page.md"
    results.mkdir()
    with pytest.raises(FileNotFoundError, match="abnet reproduce table1"):
        renew_page(page, results)
    (results / "table1.csv").write_text(table1_to_csv(paper_table()))
    (results / "fig4.svg").touch()
    assert renew_page(page, results) == ["progress", "agreement", "table1", "fig4"]
    text = page.read_text()
    assert "](../results/fig4.svg)" in text
    assert text.count("| mnistLH |") == 14
    renew_page(page, results)
    assert page.read_text() == text


def test_the_formula_as_written_agrees_with_its_oracle_and_with_ours(rng: np.random.Generator) -> None:
    network = BAM.init(rng, (5, 3, 2, 3, 1))
    X = rng.normal(size=(4, 5)).astype(np.float32)
    layers = tuple(map(jnp.asarray, network.layers))
    lifted = jnp.asarray(lift(X))
    got = np.asarray(jax.jit(output_as_written)(layers, lifted))
    exact_network = network.astype(np.float64)
    oracle = [abnet_output(exact_network.weights, exact_network.biases, x.astype(float), np, erf) for x in X]
    assert got == pytest.approx(oracle, abs=1e-5)
    assert got == pytest.approx(np.asarray(jax.jit(exact.output)(layers, lifted)), abs=1e-5)


def test_every_method_of_figure_2_is_measured(rng: np.random.Generator) -> None:
    X = rng.normal(size=(4, 5)).astype(np.float32)
    points = timed_passes.points_of(METHODS, widths=(2,), depths=())
    measured = list(timed_passes.measure(points, X, repetitions=4, seconds=0.5))
    assert [t.method for t in measured] == list(METHODS)
    assert all(t.milliseconds > 0 and 3 <= t.repetitions <= 4 for t in measured)
    assert len(list(timed_passes.measure(points[1:2], X, repetitions=50, seconds=0.0))) == 1


def test_slow_passes_are_repeated_less_often() -> None:
    calls: list[int] = []
    times = timed_passes._times(lambda: calls.append(0), 50, seconds=0.0)
    assert (len(times), len(calls)) == (3, 4)
