"""What each ingredient of the default recipe brings: the same tables and splits, one ingredient left out at a time.

python benchmarks/ingredients.py FOLDER --output results/ingredients.csv

Protocol and tables as in `benchmarks/tables.py`, the first split of each table. Finished rows are kept: the same
command goes on.
"""

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from abnet import ABNetClassifier
from tables import measures, write

RECIPES: dict[str, dict[str, Any]] = {
    "the full recipe": {},
    "without codes": {"codes": "none"},
    "one network": {"n_estimators": 1},
    "without a teacher": {"teacher": None},
    "half of the rows learn": {"prior_fraction": 0.5},
}
COLUMNS = ("table", "recipe", "test_error", "certificate", "log_loss", "ece")


def run(folder: Path, output: Path, names: list[str]) -> list[dict[str, Any]]:
    from sklearn.model_selection import train_test_split

    done: list[dict[str, Any]] = list(csv.DictReader(output.open())) if output.exists() else []
    seen = {(row["table"], row["recipe"]) for row in done}
    for name in names:
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        X, y = frame.drop(columns="target"), frame["target"].to_numpy(str)
        learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        for recipe, settings in RECIPES.items():
            if (name, recipe) in seen:
                continue
            clf = ABNetClassifier(random_state=0, **settings).fit(learn, known)
            found = measures(clf.predict_proba(test), clf.predict(test), clf.classes_, truth)
            done.append({"table": name, "recipe": recipe, "certificate": clf.certificate_.vote_error_bound, **found})
            write(output, done, COLUMNS)
            print(name, recipe, {k: round(v, 4) for k, v in found.items()}, flush=True)
    return done


def report(rows: list[dict[str, Any]]) -> None:
    """Means over the tables that have all recipes."""
    frame = pd.DataFrame(rows).astype(dict.fromkeys(COLUMNS[2:], float))
    whole = frame.groupby("table").filter(lambda part: len(part) == len(RECIPES))
    print(f"\n{whole['table'].nunique()} tables")
    print(whole.groupby("recipe", sort=False)[list(COLUMNS[2:])].mean().round(4).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=Path("results/ingredients.csv"))
    parser.add_argument("--tables", required=True, help="names, separated by commas")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    report(run(given.folder, given.output, given.tables.split(",")))
