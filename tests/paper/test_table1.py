"""Selection, Table 1, and the comparison with the paper."""

import csv
import io
import math
from dataclasses import replace
from statistics import pstdev

import numpy as np
import pytest
from rich.console import Console

from abnet.paper import MODELS, Result, Setting, select, table1_grid
from abnet.paper.reproduction.procedure_display import procedures_to_markdown
from abnet.paper.reproduction.selection import choose, deviation, mean
from abnet.paper.reproduction.table1_comparison import TableComparison, compare
from abnet.paper.reproduction.table1_display import to_markdown, to_terminal
from abnet.paper.reproduction.table1_rows import (
    Table1Row,
    paper_table,
    procedure_rows,
    read_table1,
    table1_rows,
    table1_to_csv,
)

PAPER_COLUMNS = (
    "dataset,architecture,model,hidden_layers,width,bound,train_error,test_error,test_error_std,map_test_error"
)


def result(
    sizes: tuple[int, ...] = (4,),
    rate: float | None = 0.1,
    repetition: int = 0,
    *,
    score: float = 0.2,
    test_error: float = 0.1,
    model: str = "ABNet",
    dataset: str = "ads",
    variant: str | None = None,
) -> Result:
    setting = Setting(dataset, model, sizes, rate, repetition, variant=variant)
    bound = score if model in ("PBGNet", "ABNet") else 1 - score  # the other models must not be chosen by it
    return Result(setting, 0.05, test_error, 0.3, 9, 5, 1.0, bound=bound, validation_error=score)


def chosen(results: list[Result]) -> tuple[tuple[int, ...], float | None, int, int]:
    choice = choose(results)
    assert choice is not None
    setting = choice.setting
    return setting.hidden_layer_sizes, setting.learning_rate, len(choice.results), choice.runs


@pytest.mark.parametrize("model", MODELS)
def test_the_best_mean_score_is_chosen_not_the_best_test_error(model: str) -> None:
    rate: float | None = 0.1
    if model == "EBP":
        rate = None
    best = [result((2, 2), rate, k, score=s, test_error=0.9, model=model) for k, s in enumerate((0.1, 0.5))]
    luckier = [result((8,), rate, k, score=s, test_error=0.0, model=model) for k, s in enumerate((0.05, 0.6))]
    assert chosen(luckier + best) == ((2, 2), rate, 2, 4)


def test_ties_go_to_fewer_layers_then_fewer_units_then_the_smaller_rate() -> None:
    everything = [result((w,) * depth, rate) for depth in (3, 2, 1) for w in (8, 4, 2) for rate in (0.1, 0.0001)]
    assert chosen(everything)[:2] == ((2,), 0.0001)
    assert chosen([r for r in everything if r.setting.width > 2])[:2] == ((4,), 0.0001)
    assert chosen([result((8,)), result((2, 2))])[:2] == ((8,), 0.1)


def test_a_setting_that_has_only_begun_is_not_compared() -> None:
    finished = [result((w,), repetition=k, score=0.3) for w in (2, 4) for k in range(5)]
    begun = [result((8,), repetition=k, score=0.1) for k in range(2)]
    assert chosen(finished + begun) == ((2,), 0.1, 5, 10)


def test_a_repetition_that_has_only_begun_is_not_compared() -> None:
    two = [result((w,), repetition=k, score=0.3 - w / 100) for w in (2, 4, 8) for k in range(2)]
    third = [result((2,), repetition=2, score=0.0)]
    assert chosen(two + third) == ((8,), 0.1, 2, 6)


def test_the_number_of_repetitions_uses_the_most_runs_by_enumeration() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        finished = {w: set(np.flatnonzero(rng.random(4) < 0.8)) for w in (2, 4, 8, 10)}
        results = [result((width,), repetition=int(k)) for width, ks in finished.items() for k in ks]
        used = [r * sum(all(k in ks for k in range(r)) for ks in finished.values()) for r in range(1, 5)]
        choice = choose(results)
        if max(used) == 0:
            assert choice is None
        else:
            assert choice is not None
            assert choice.runs == max(used)
            assert choice.compared == max(r for r in range(1, 5) if used[r - 1] == max(used))
            there = finished[choice.setting.width]
            assert [run.setting.repetition for run in choice.results] == [
                k for k in range(4) if {*range(k + 1)} <= there
            ]


def test_a_diverged_setting_is_never_chosen() -> None:
    diverged = result((2,), score=math.nan)
    assert chosen([diverged, result((8,), score=0.9)])[0] == (8,)
    assert choose([diverged]) is None
    assert choose([]) is None


def test_mean_and_sample_deviation() -> None:
    errors = (0.1, 0.2, 0.4, 0.2, 0.1)
    results = [result(repetition=k, test_error=e) for k, e in enumerate(errors)]
    assert mean(results, "test_error") == pytest.approx(0.2)
    assert deviation(results, "test_error") == pytest.approx(pstdev(errors) * math.sqrt(5 / 4))
    assert deviation(results[:1], "test_error") is None
    assert mean([replace(results[0], bound=None), results[1]], "bound") is None


def test_the_table_has_a_row_for_each_cell_in_the_papers_order() -> None:
    settings = select(table1_grid(), repetitions=2)
    rows = table1_rows(_random_results(settings))
    assert [row.cell for row in rows] == [row.cell for row in paper_table()]
    full = {"EBP": 18}
    assert all((row.repetitions, row.runs) == (2, full.get(row.model, 72)) for row in rows)


def test_a_row_agrees_with_a_plain_computation() -> None:
    settings = select(table1_grid(), datasets=["adult"], models=["BC"], widths=[10, 50, 100])
    results = _random_results(settings)
    scores = {}
    for sizes in {s.hidden_layer_sizes for s in settings}:
        for rate in {s.learning_rate for s in settings}:
            own = [r for r in results if r.setting.hidden_layer_sizes == sizes and r.setting.learning_rate == rate]
            scores[np.mean([r.validation_error for r in own if r.validation_error])] = (sizes, rate, own)
    sizes, rate, own = scores[min(scores)]
    (row,) = table1_rows(results)
    assert (row.hidden_layers, row.width, row.learning_rate) == (len(sizes), sizes[0], rate)
    assert row.test_error == pytest.approx(np.mean([r.test_error for r in own]))
    assert row.test_error_std == pytest.approx(np.std([r.test_error for r in own], ddof=1))
    assert (row.repetitions, row.runs) == (5, 180)


def test_runs_of_figure_4_do_not_compete_in_the_table() -> None:
    (row,) = table1_rows([result((4,) * 8, score=0.01), result((4, 4), score=0.2), result((3,), score=0.02)])
    assert row.hidden_layers == 2


def test_a_row_uses_its_variant_once_as_many_of_its_runs_are_there() -> None:
    protocol = [result((w,), score=0.1, test_error=0.3) for w in (2, 4)]
    variant = [result((w,), score=0.2, test_error=0.1, variant="fan-in") for w in (2, 4)]
    (row,) = table1_rows(protocol + variant)
    assert (row.variant, row.test_error, row.runs) == ("fan-in", 0.1, 2)
    (row,) = table1_rows(protocol + variant[:1])
    assert (row.variant, row.test_error, row.runs) == ("", 0.3, 2)
    (row,) = table1_rows(variant[:1])
    assert row.variant == "fan-in"


def test_both_procedures_stay_beside_one_another() -> None:
    protocol = result((2,), score=0.1)
    others = [result((2,), score=0.1, model="PBGNet"), result((2,), score=0.1, variant="small")]
    rows = procedure_rows([protocol, result((2,), score=0.2, variant="fan-in"), *others])
    assert [(row.model, row.variant, row.bound) for row in rows] == [("ABNet", "", 0.1), ("ABNet", "fan-in", 0.2)]
    markdown = procedures_to_markdown(rows, rows[1:])
    first, second = markdown.splitlines()[2:]
    assert "protocol" in first
    assert "yes" not in first
    assert "fan-in" in second
    assert second.endswith("| yes |")


def test_csv_has_the_papers_columns_then_ours_and_reads_back() -> None:
    rows = table1_rows(_random_results(select(table1_grid(), datasets=["ads"], repetitions=2)))
    text = table1_to_csv(rows)
    header = next(csv.reader(io.StringIO(text)))
    assert header == [*PAPER_COLUMNS.split(","), "bound_std", "learning_rate", "repetitions", "runs", "variant"]
    for row, again in zip(rows, read_table1(text), strict=True):
        assert again.cell == row.cell
        assert again.test_error == pytest.approx(row.test_error, rel=1e-5)
        assert (again.learning_rate, again.runs) == (row.learning_rate, row.runs)


def test_the_papers_table() -> None:
    paper = {row.cell: row for row in paper_table()}
    assert len(paper) == 84
    row = paper["mnistLH", "narrow", "ABNet"]
    assert (row.hidden_layers, row.width, row.bound, row.test_error, row.test_error_std) == (3, 4, 0.162, 0.058, 0.002)
    assert all((row.bound is None) == (row.model in ("EBP", "BC", "BNN")) for row in paper.values())


@pytest.mark.parametrize(
    ("test_error", "std", "mark"),
    [
        (0.141, 0.012, ""),
        (0.153, 0.001, ""),
        (0.1531, 0.001, "worse"),
        (0.160, 0.020, ""),
        (0.129, 0.001, ""),
        (0.1289, None, "better"),
    ],
)
def test_marks_need_more_than_the_larger_deviation(test_error: float, std: float | None, mark: str) -> None:
    ours = Table1Row("ads", "narrow", "ABNet", 1, 2, 0.19, 0.1, test_error, std, 0.14, repetitions=5, runs=180)
    (comparison,) = compare([ours])  # the paper has .141 ± .012
    assert comparison.mark == mark
    assert comparison.test_difference == pytest.approx(test_error - 0.141)
    assert comparison.bound_difference == pytest.approx(-0.002)
    assert comparison.complete


def test_data_that_the_paper_does_not_have_stands_alone() -> None:
    ours = Table1Row("digits", "narrow", "ABNet", 1, 2, 0.19, 0.1, 0.1, 0.01, 0.14, repetitions=1, runs=4)
    (comparison,) = compare([ours])
    assert (comparison.mark, comparison.test_difference, comparison.complete) == ("", None, False)
    assert "| digits | narrow | ABNet |" in to_markdown([comparison])


def test_markdown_and_terminal_show_both_tables_and_what_is_incomplete() -> None:
    complete = Table1Row("ads", "narrow", "ABNet", 1, 2, 0.19, 0.1, 0.2, 0.001, 0.14, 0.002, 0.01, 5, 180)
    partial = Table1Row("ads", "narrow", "EBP", 2, 2, None, 0.1, 0.03, 0.001, 0.05, None, None, 2, 18)
    comparisons = compare([complete, partial])
    markdown = to_markdown(comparisons)
    lines = markdown.splitlines()
    assert "bound (estimate)" in lines[0]
    assert len({line.count("|") for line in lines[:4]}) == 1
    cells = [cell.strip() for cell in lines[2].split("|")[1:-1]]
    assert cells[3:8] == ["1×2, 0.01", "3×2", "0.190 ± 0.002", "0.192", "-0.002"]
    assert cells[10:14] == ["0.200 ± 0.001", "0.141 ± 0.012", "+0.059", "worse"]
    assert cells[-2:] == ["5", "180"]
    assert lines[3].rstrip(" |").endswith("18*")
    console = Console(file=io.StringIO(), width=120)
    console.print(to_terminal(comparisons))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(text in shown for text in ("(estimate)", "0.190 ± 0.002", "0.141 ± 0.012", "+0.059", "worse", "18*"))


def test_a_difference_that_rounds_to_nothing_has_no_minus() -> None:
    row = Table1Row("ads", "narrow", "ABNet", 1, 2, 0.1919, 0.1, 0.1409, 0.001, 0.14)
    assert "-0.000" not in to_markdown([TableComparison(row, paper_table()[2])])


def _random_results(settings: list[Setting]) -> list[Result]:
    rng = np.random.default_rng(1)
    draws = rng.random((len(settings), 2))
    return [
        result(
            s.hidden_layer_sizes,
            s.learning_rate,
            s.repetition,
            score=float(score),
            test_error=float(error),
            model=s.model,
            dataset=s.dataset,
            variant=s.variant,
        )
        for s, (score, error) in zip(settings, draws, strict=True)
    ]
