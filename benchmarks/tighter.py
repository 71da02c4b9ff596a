"""The certificates of `abnet reproduce certificates` in both forms of the bounds, from the same fits and losses.

    python benchmarks/tighter.py --output results/certificates_tighter.csv [--splits 5] [--table] [DATASET ...]

One row for every data set and split; rows that are there already are kept, so that it can be stopped and started.
"""

import argparse
import csv
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from abnet import ABNetClassifier
from abnet.bounds.certificate import Certificate
from abnet.bounds.certify import assemble
from abnet.bounds.rules import ExactRisk, Terms
from abnet.paper.tightness import (
    RECIPES,
    TEST_FRACTION,
    all_recipes,
    load_rows,
    preparation_of,
    preprocessor_of,
)

PUBLISHED = Path(__file__).parents[1] / "results" / "certificates.csv"
COLUMNS = (
    "dataset", "split", "n_bound", "n_candidates", "gibbs_forms_1", "gibbs_forms_2", "vote_forms_1", "vote_forms_2",
    "all_recipes", "gibbs_all_recipes", "vote_all_recipes", "test_error", "seconds",
)  # fmt: skip


def measure(dataset: str, split: int) -> dict[str, Any]:
    """Fit once; every bound is computed from the losses and the errors of that one fit."""
    recipe = RECIPES[dataset]
    preparation = preparation_of(dataset, recipe)
    X, y = load_rows(dataset, preparation)
    order = np.random.default_rng([split, 11]).permutation(len(y))
    n_test = round(TEST_FRACTION * len(y))
    test, train = order[:n_test], order[n_test:]
    options = {name: value for name, value in recipe.items() if name != "preparation"}
    begin = time.perf_counter()
    options["preprocessor"] = preprocessor_of(preparation)
    model = ABNetClassifier(**options, random_state=split).fit(X[train], y[train])
    seconds = time.perf_counter() - begin
    given = model.certificate_
    losses = None
    if given.monte_carlo is None:
        rows = train[model.bound_rows_]
        signs = np.where(y[rows] == model.classes_[1], 1.0, -1.0)
        losses = np.clip((1 - signs * model.decision_function(X[rows])) / 2, 0, 1)
    old, new, counted = (again(given, losses, **change) for change in (
        {"forms": 1}, {}, {"n_candidates": all_recipes(dataset)},
    ))  # fmt: skip
    assert abs(new.gibbs_risk_bound - given.gibbs_risk_bound) < 1e-12
    figures = (given.n_examples, given.n_candidates, old.gibbs_risk_bound, new.gibbs_risk_bound, old.vote_error_bound,
               new.vote_error_bound, counted.n_candidates, counted.gibbs_risk_bound, counted.vote_error_bound,
               float(np.mean(model.predict(X[test]) != y[test])), round(seconds, 1))  # fmt: skip
    return dict(zip(COLUMNS, (dataset, split, *figures), strict=True))


def again(certificate: Certificate, losses: Any, **change: Any) -> Certificate:
    """A frozen certificate computed anew from its own observations, in other forms or for another K."""
    from abnet.bounds.certify import _errors, _risk, _terms

    risk, terms = _risk(certificate, losses), _terms(certificate)
    assert isinstance(risk, ExactRisk) == (losses is not None)
    plain: Terms = replace(terms, **change)
    deltas = [part.delta for part in certificate.per_class] if plain.forms > 1 else [terms.delta / 2] * 2
    return assemble(risk, _errors(certificate), plain, deltas)


def table(rows: list[dict[str, str]], published: list[dict[str, str]]) -> str:
    """Means over the splits beside those of certificates.csv, as docs/certificates.md has them; rounded up."""
    lines = [
        "| data set | splits | K | Gibbs: `certificates.csv` | version 0.1 | today | vote: `certificates.csv` | today "
        "| K + 6 | Gibbs, K + 6 | vote, K + 6 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    before = {(row["dataset"], row["kind"]): _up(row["mean_certificate"]) for row in published}
    for name in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in rows if row["dataset"] == name]
        means = {column: _up(np.mean([float(row[column]) for row in mine])) for column in COLUMNS[4:11]}
        shown = (before[name, "gibbs"], means["gibbs_forms_1"], means["gibbs_forms_2"], before[name, "vote"],
                 means["vote_forms_2"], mine[0]["all_recipes"], means["gibbs_all_recipes"],
                 means["vote_all_recipes"])  # fmt: skip
        lines.append(f"| {name} | {len(mine)} | {mine[0]['n_candidates']} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _up(bound: Any) -> str:
    return f"{np.ceil(float(bound) * 1e5 - 1e-9) / 1e5:.5f}".removeprefix("0")


def main() -> None:
    """Measure what is not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="*", default=list(RECIPES))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="print the table of the page, and measure nothing")
    given = parser.parse_args()
    done = list(csv.DictReader(given.output.open())) if given.output.exists() else []
    if given.table:
        print(table(done, list(csv.DictReader(PUBLISHED.open()))))
        return
    known = {(row["dataset"], int(row["split"])) for row in done}
    with given.output.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for dataset in given.datasets:
            for split in range(given.splits):
                if (dataset, split) not in known:
                    writer.writerow(measure(dataset, split))
                    file.flush()


if __name__ == "__main__":
    main()
