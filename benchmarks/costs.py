"""Costs of several classes: the answer with the least expected cost beside the most likely class.

    python benchmarks/costs.py --output results/costs.csv [--splits 3]

Three tables of `ABNET_TABLES`. To miss one class, named here before any fit, costs ten times as much as any other
error. In each split 70% of the rows are given to a default `CertifiedClassifier` with these costs, and 30% are test
rows. The bound rows of the same fit certify both ways to answer: `predict` follows the rule, `vote` answers the most
likely class. Each bound holds by itself with 95% confidence.
"""

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from abnet import CertifiedClassifier, Costs
from abnet.bounds.held_out_bounds import cost_bound
from abnet.certificates.cost_table import costs_of_answers
from abnet.certificates.statements.cost_bound import CostBound
from abnet.utils.atomic import atomic_path

COSTLY = {"vehicle": "csaab", "segment": "c4", "satimage": "c4"}
"""The class of each table that must not be missed."""
FACTOR = 10
DELTA = 0.05
COLUMNS = (
    "table", "split", "costly", "test_rows", "bound_rows", "vote_test", "rule_test", "vote_bound", "rule_bound",
    "vote_error", "rule_error", "decision",
)  # fmt: skip


def measured(name: str, split: int) -> dict[str, Any]:
    """One fit, with mean costs on test rows and certified costs."""
    frame = pl.read_csv(Path(os.environ["ABNET_TABLES"]) / f"{name}.csv.gz")
    labels = frame["target"].to_numpy()
    X = frame.drop("target").to_numpy()
    order = np.random.default_rng(split).permutation(len(labels))
    n_fit = round(0.7 * len(labels))
    given = order[:n_fit]
    test = order[n_fit:]
    goal = Costs({("*", "*"): 1, (COSTLY[name], "*"): FACTOR})
    clf = CertifiedClassifier(decision=goal, delta=DELTA, random_state=split).fit(X[given], labels[given])
    assert clf.certificate_ is not None
    classes = clf.classes_
    table = goal.table(classes.tolist())

    def costs(answers: Any, rows: Any) -> np.ndarray:
        return costs_of_answers(table, np.searchsorted(classes, answers), np.searchsorted(classes, labels[rows]))

    bound = given[clf.bound_rows_]
    of_vote = costs(clf.vote(X[bound]), bound)
    (of_rule,) = clf.certificate_.each(CostBound)
    return {
        "table": name,
        "split": split,
        "costly": COSTLY[name],
        "test_rows": len(test),
        "bound_rows": len(bound),
        "vote_test": FACTOR * costs(clf.vote(X[test]), test).mean(),
        "rule_test": FACTOR * costs(clf.predict(X[test]), test).mean(),
        "vote_bound": cost_bound(of_vote, float(FACTOR), DELTA),
        "rule_bound": of_rule.value,
        "vote_error": float(np.mean(clf.vote(X[test]) != labels[test])),
        "rule_error": float(np.mean(clf.predict(X[test]) != labels[test])),
        "decision": clf.model_.decision.kind,
    }


def all_measured(splits: int) -> Iterator[dict[str, Any]]:
    """Every table and split."""
    for name in COSTLY:
        for split in range(splits):
            yield measured(name, split)


def main() -> None:
    """Measure, print and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    lines = []
    for line in all_measured(options.splits):
        shown = {key: f"{value:.4f}" if isinstance(value, float) else value for key, value in line.items()}
        print(*shown.values(), sep="  ", flush=True)
        lines.append(shown)
    with atomic_path(options.output) as path, Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
