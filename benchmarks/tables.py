"""Accuracy on real tables: abnet with nothing set beside what people use, every split in one CSV file.

python benchmarks/tables.py FOLDER --output results/tables.csv

FOLDER holds one CSV (gzipped) a table with the column `target`. Protocol: `train_test_split(test_size=.25,
random_state=s, stratify=y)`, s = 0, 1, 2 (one split from 40,000 rows on). Peers learn on one half of the larger part,
prepared by `TablePreparation` fitted on that half, and are certified on the other half (Clopper-Pearson, δ = .05);
abnet gets the larger part whole and splits it itself. Finished splits are kept: the same command goes on.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from abnet import CertifiedClassifier
from abnet.atomic import atomic_path
from abnet.bounds import clopper_pearson_bound
from abnet.decisions.measures import calibration_error, log_loss
from abnet.preparation import TablePreparation

COLUMNS = ("table", "classes", "rows", "split", "model", "test_error", "certificate", "log_loss", "ece", "seconds")
LARGE = 40_000


def peers(seed: int) -> dict[str, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    return {
        "forest": RandomForestClassifier(300, n_jobs=2, random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "logistic": LogisticRegression(max_iter=1000),
        "mlp": MLPClassifier((100,), random_state=seed),
    }


def measures(P: np.ndarray, predicted: np.ndarray, classes: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Test error, log loss and expected calibration error."""
    right = predicted == truth
    return {
        "test_error": float(1 - right.mean()),
        "log_loss": log_loss(P, classes, truth),
        "ece": calibration_error(P, right),
    }


def abnet_row(learn: Any, y: np.ndarray, test: Any, truth: np.ndarray, seed: int) -> dict[str, Any]:
    begin = time.perf_counter()
    clf = CertifiedClassifier(random_state=seed).fit(learn, y)
    seconds = time.perf_counter() - begin
    assert clf.certificate_ is not None
    found = measures(clf.predict_proba(test), clf.predict(test), clf.classes_, truth)
    return {"model": "abnet", "certificate": clf.certificate_.vote_error_bound, "seconds": seconds, **found}


def peer_rows(learn: Any, y: np.ndarray, test: Any, truth: np.ndarray, seed: int) -> list[dict[str, Any]]:
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = order[: round(len(y) / 2)], order[round(len(y) / 2) :]
    rows = []
    for name, model in peers(seed).items():
        begin = time.perf_counter()
        preparation = TablePreparation().fit(learn.iloc[first])
        A, B, C = (preparation.transform(X) for X in (learn.iloc[first], learn.iloc[second], test))
        model.fit(A, y[first])
        errors = int(np.sum(model.predict(B) != y[second]))
        seconds = time.perf_counter() - begin
        found = measures(model.predict_proba(C), model.predict(C), model.classes_, truth)
        bound = clopper_pearson_bound(errors, len(second), 0.05)
        rows.append({"model": name, "certificate": bound, "seconds": seconds, **found})
    return rows


def run(folder: Path, output: Path, names: list[str]) -> None:
    from sklearn.model_selection import train_test_split

    done = list(csv.DictReader(output.open())) if output.exists() else []
    seen = {(row["table"], int(row["split"])) for row in done}
    tables = {name: pd.read_csv(folder / f"{name}.csv.gz") for name in names}
    for name in sorted(names, key=lambda name: len(tables[name])):
        frame = tables[name]
        X, y = frame.drop(columns="target"), frame["target"].to_numpy(str)
        for split in range(1 if len(y) >= LARGE else 3):
            if (name, split) in seen:
                continue
            learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=split, stratify=y)
            rows = [abnet_row(learn, known, test, truth, split), *peer_rows(learn, known, test, truth, split)]
            start = {"table": name, "classes": len(np.unique(y)), "rows": len(y), "split": split}
            done += [{**start, **row} for row in rows]
            write(output, done)
            print(name, split, {row["model"]: round(row["test_error"], 4) for row in rows}, flush=True)
    report(done)


def write(output: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = COLUMNS) -> None:
    with atomic_path(output) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})


def report(rows: list[dict[str, Any]]) -> None:
    """Means over tables of the means over splits, and mean ranks."""
    frame = pd.DataFrame(rows).astype(dict.fromkeys(COLUMNS[5:], float) | {"classes": int})
    for several, part in frame.groupby(frame["classes"] > 2):
        tables = part.groupby(["table", "model"])[["test_error", "certificate", "log_loss", "ece"]].mean()
        print(f"\n{tables.index.get_level_values(0).nunique()} tables with {'several' if several else 'two'} classes")
        means = tables.groupby("model").mean()
        ranks = tables.groupby("table").rank().groupby("model").mean().add_prefix("rank of ")
        print(pd.concat([means, ranks], axis=1).round(4).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=Path("results/tables.csv"))
    parser.add_argument("--tables", help="names, separated by commas; all in the folder by default")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    every = sorted(path.name.removesuffix(".csv.gz") for path in given.folder.glob("*.csv.gz"))
    run(given.folder, given.output, given.tables.split(",") if given.tables else every)
