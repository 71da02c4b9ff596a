"""Accuracy on real tables: abnet with nothing set beside what people use, every split in one CSV file.

python benchmarks/tables.py FOLDER --output results/tables.csv

FOLDER holds one CSV (gzipped) a table with the column `target`. Protocol: `train_test_split(test_size=.25,
random_state=s, stratify=y)`, s = 0, 1, 2 (one split from 40,000 rows on). Peers are trained on 60% of the larger part,
prepared by `TablePreparation` fitted on these rows, and certified on the other 40% (Clopper-Pearson, δ = .05); abnet
gets the larger part whole and splits it itself, in the same proportion. All models have their defaults (the forest has
300 trees). CatBoost and LightGBM are compared where they are installed; they are no dependency of abnet.

Split 0 of every table comes first, then split 1, then 2. Finished rows are kept: the same command goes on where it was
stopped, and `--models abnet` fills in what is missing of one model. Means and ranks are printed of splits that all
tables and models have.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from abnet import CertifiedClassifier
from abnet.bounds import clopper_pearson_bound
from abnet.model.performance_measures import calibration_error, log_loss
from abnet.tables.preparation import TablePreparation
from abnet.utils.atomic import atomic_path

MEASURES = ("test_error", "certificate", "log_loss", "ece")
COLUMNS = ("table", "classes", "rows", "split", "model", *MEASURES)
LARGE = 40_000
SPLITS = 3
SHARE = 0.6  # of the larger part for training, abnet's own `learn_fraction`
THREADS = 1  # several threads that share their cores with other programs take many times longer


def peers(seed: int) -> Iterator[tuple[str, Any]]:
    """Other models by name, each with its defaults."""
    yield "forest", RandomForestClassifier(300, n_jobs=THREADS, random_state=seed)
    yield "boosting", HistGradientBoostingClassifier(random_state=seed)
    yield "logistic", LogisticRegression(max_iter=1000)
    yield "mlp", MLPClassifier((100,), random_state=seed)
    if find_spec("catboost"):
        quiet = {"verbose": False, "allow_writing_files": False}
        yield "catboost", import_module("catboost").CatBoostClassifier(random_seed=seed, thread_count=THREADS, **quiet)
    if find_spec("lightgbm"):
        yield "lightgbm", import_module("lightgbm").LGBMClassifier(random_state=seed, n_jobs=THREADS, verbose=-1)


def measures(P: np.ndarray, predicted: np.ndarray, classes: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Test error, log loss and expected calibration error."""
    right = predicted == truth
    return {
        "test_error": float(1 - right.mean()),
        "log_loss": log_loss(P, classes, truth),
        "ece": calibration_error(P, right),
    }


def abnet_row(learn: Any, y: np.ndarray, test: Any, truth: np.ndarray, seed: int) -> dict[str, Any]:
    clf = CertifiedClassifier(random_state=seed).fit(learn, y)
    assert clf.certificate_ is not None
    found = measures(clf.predict_proba(test), clf.predict(test), clf.classes_, truth)
    return {"model": "abnet", "certificate": clf.certificate_.vote_error_bound, **found}


def peer_rows(
    learn: Any, y: np.ndarray, test: Any, truth: np.ndarray, seed: int, names: list[str]
) -> Iterator[dict[str, Any]]:
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = np.split(order, [round(SHARE * len(y))])
    preparation = TablePreparation().fit(learn.iloc[first])
    A, B, C = (preparation.transform(X) for X in (learn.iloc[first], learn.iloc[second], test))
    for name, model in peers(seed):
        if name not in names:
            continue
        model.fit(A, y[first])
        errors = int(np.sum(np.ravel(model.predict(B)) != y[second]))  # CatBoost answers with one column
        found = measures(model.predict_proba(C), np.ravel(model.predict(C)), model.classes_, truth)
        yield {"model": name, "certificate": clopper_pearson_bound(errors, len(second), 0.05), **found}


def splits(n_rows: int) -> int:
    if n_rows >= LARGE:
        return 1
    return SPLITS


def run(folder: Path, output: Path, names: list[str], models: list[str]) -> None:
    done: list[dict[str, Any]] = list(csv.DictReader(output.open())) if output.exists() else []
    tables = {name: pd.read_csv(folder / f"{name}.csv.gz") for name in names}
    for split in range(SPLITS):
        for name in sorted(names, key=lambda name: len(tables[name])):
            frame = tables[name]
            seen = {row["model"] for row in done if row["table"] == name and int(row["split"]) == split}
            missing = [model for model in models if model not in seen]
            if not missing or split >= splits(len(frame)):
                continue
            X = frame.drop(columns="target")
            y = frame["target"].to_numpy(str)
            learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=split, stratify=y)
            rows = []
            if "abnet" in missing:
                rows = [abnet_row(learn, known, test, truth, split)]
            rows += peer_rows(learn, known, test, truth, split, missing)
            start = {"table": name, "classes": len(np.unique(y)), "rows": len(y), "split": split}
            done += [{**start, **row} for row in rows]
            done.sort(key=lambda row: (int(row["split"]), int(row["rows"]), row["table"], row["model"]))
            write(output, done)
            print(name, split, {row["model"]: round(row["test_error"], 4) for row in rows}, flush=True)
    report(done)


def write(output: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = COLUMNS) -> None:
    with atomic_path(output) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def whole_splits(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the splits that no table and no model lacks."""
    tables = frame.drop_duplicates("table").set_index("table")["rows"]
    have = set(zip(frame["table"], frame["split"], frame["model"], strict=True))
    models = frame["model"].unique()
    whole = [
        s for s in range(SPLITS) if all((t, s, m) in have for t, n in tables.items() if s < splits(n) for m in models)
    ]
    return frame[frame["split"].isin(whole)]


def report(rows: list[dict[str, Any]]) -> None:
    """Means over tables of the means over splits, and mean ranks."""
    frame = pd.DataFrame(rows).astype(dict.fromkeys(MEASURES, float) | dict.fromkeys(("classes", "rows", "split"), int))
    frame = whole_splits(frame)
    for several, part in frame.groupby(frame["classes"] > 2):
        tables = part.groupby(["table", "model"])[list(MEASURES)].mean()
        kind = "two"
        if several:
            kind = "several"
        names = sorted(part["table"].unique())
        print(f"\n{kind} classes ({', '.join(names)}), splits {sorted(part['split'].unique().tolist())}")
        means = tables.groupby("model").mean()
        ranks = tables.round(9).groupby("table").rank().groupby("model").mean().add_prefix("rank of ")
        print(pd.concat([means, ranks], axis=1).round(4).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=Path("results/tables.csv"))
    parser.add_argument("--tables", help="names, separated by commas; all in the folder by default")
    known = ["abnet", *(name for name, _ in peers(0))]
    parser.add_argument("--models", help=f"names, separated by commas; all by default ({', '.join(known)})")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    every = sorted(path.name.removesuffix(".csv.gz") for path in given.folder.glob("*.csv.gz"))
    tables = every
    if given.tables:
        tables = given.tables.split(",")
    run(given.folder, given.output, tables, given.models.split(",") if given.models else known)
