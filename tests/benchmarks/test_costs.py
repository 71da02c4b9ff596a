"""The comparison of answers by cost: the page shows the means of the published lines."""

import csv
from itertools import groupby
from pathlib import Path

import costs

ROOT = Path(__file__).parents[2]
LINES = list(csv.DictReader((ROOT / "results" / "costs.csv").read_text(encoding="utf-8").splitlines()))
SHOWN = ("vote_test", "rule_test", "vote_bound", "rule_bound")


def test_the_lines_are_of_every_table() -> None:
    assert tuple(LINES[0]) == costs.COLUMNS
    assert {line["table"]: line["costly"] for line in LINES} == costs.COSTLY


def test_the_page_shows_their_means() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    for table, group in groupby(LINES, lambda line: line["table"]):
        lines = list(group)
        means = [sum(float(line[name]) for line in lines) / len(lines) for name in SHOWN]
        assert f"| {table} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |" in page
