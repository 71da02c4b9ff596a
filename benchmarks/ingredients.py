"""What each ingredient of the default recipe brings: the same tables and splits, one ingredient left out at a time.

python benchmarks/ingredients.py FOLDER --output results/ingredients.csv --tables NAME,NAME

Protocol and tables as in `benchmarks/tables.py`, the first split of each table. Finished rows are kept: the same
command goes on. Masks, which the recipe does not have, are put in: every leading neuron sees √d columns at random.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from abnet import CertifiedClassifier
from abnet.networks.bam import BAM
from abnet.training import members as training_members
from abnet.training import mixture_learning, posterior_learner, train_mixture
from measure import certified_error
from tables import measures, write

RECIPES: dict[str, dict[str, Any]] = {
    "the full recipe": {},
    "without codes": {"codes": "none"},
    "one network": {"n_estimators": 1},
    "without a teacher": {"teacher": None},
    "half of the rows learn": {"learn_fraction": 0.5},
    "with masks": {},
}
COLUMNS = ("table", "recipe", "test_error", "certificate", "log_loss", "ece")


class MaskedLearner(posterior_learner.PosteriorLearner):
    """Leading weights that start at zero stay there."""

    def step(self, state: Any, *rest: Any) -> Any:
        moved = super().step(state, *rest)
        leading = self.sizes[1] * (self.sizes[0] + 1)
        kept = np.arange(state.learned.weights.shape[-1]) >= leading
        masked = moved.learned._replace(weights=moved.learned.weights * (kept | (state.prior != 0)))
        return moved._replace(learned=masked)


@contextmanager
def masks() -> Iterator[None]:
    """Fits in this context have masks on the leading layers."""
    learn = mixture_learning.learn_members_of_prior
    start = training_members.random_members
    columns = np.arange(0)

    def learn_masked(rows: Any, *rest: Any) -> Any:
        nonlocal columns
        coded = rows.features.coded
        cells = rows.features.cells
        coding = (
            [] if coded is None else [np.full(len(t), cell) for cell, t in zip(cells, coded.thresholds, strict=True)]
        )
        columns = np.concatenate([cells, *coding]).astype(np.intp)
        return learn(rows, *rest)

    def start_masked(rng: np.random.Generator, count: int, sizes: tuple[int, ...]) -> tuple[BAM, ...]:
        members = []
        present = np.unique(columns)
        for network in start(rng, count, sizes):
            seen = [rng.choice(present, max(round(len(present) ** 0.5), 1), replace=False) for _ in range(sizes[1])]
            mask = np.array([np.isin(columns, some) for some in seen])
            members.append(BAM((network.weights[0] * mask, *network.weights[1:]), network.biases))
        return tuple(members)

    with (
        patch.object(mixture_learning, "learn_members_of_prior", learn_masked),
        patch.object(training_members, "random_members", start_masked),
        patch.object(train_mixture, "PosteriorLearner", MaskedLearner),
    ):
        yield


def run(folder: Path, output: Path, names: list[str]) -> list[dict[str, Any]]:
    from sklearn.model_selection import train_test_split

    done: list[dict[str, Any]] = list(csv.DictReader(output.open())) if output.exists() else []
    seen = {(row["table"], row["recipe"]) for row in done}
    for name in names:
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        X = frame.drop(columns="target")
        y = frame["target"].to_numpy(str)
        learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        for recipe, settings in RECIPES.items():
            if (name, recipe) in seen:
                continue
            with masks() if recipe == "with masks" else nullcontext():
                clf = CertifiedClassifier(random_state=0, **settings).fit(learn, known)
            found = measures(clf.predict_proba(test), clf.predict(test), clf.classes_, truth)
            done.append({"table": name, "recipe": recipe, "certificate": certified_error(clf), **found})
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
