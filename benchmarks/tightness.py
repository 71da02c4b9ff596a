"""Measure how tight certificates are, on six data sets of the paper and five splits; write certificates.csv.

    python benchmarks/tightness.py --datasets ads,adult --splits 2 --output certificates.csv

A split is a random 75/25 split. The larger part is divided into a first part (60%) and held-out rows. The recipe is
chosen inside the first part: every recipe of a list that is fixed in advance is trained on 80% of the first part and
judged by its Gibbs risk on the rest of it. The best one is trained again on the whole first part and certified once on
the held-out rows, with K = 1, and its certificate is compared with the test error on the smaller part of the split.

Finished splits are written at once; the same command continues an interrupted run.
"""

import argparse
import csv
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from statistics import mean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from abnet import ABNetClassifier
from abnet.estimators.labelled_parts import Labelled, split_at_random
from abnet.paper import load
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from abnet.utils.atomic import atomic_path
from images import deskew, oriented_gradients

DATASETS = ("ads", "adult", "mnist17", "mnist56", "mnist49", "mnistLH")
TEST_FRACTION = 0.25
FIRST_FRACTION = 0.6
"""Fraction of the larger part of a split that is the first part."""
CHOICE_FRACTION = 0.8
"""Fraction of the first part that the recipes are trained on to choose among them."""


@dataclass(frozen=True)
class Recipe:
    """How rows are prepared (`PREPARATIONS`), and the hidden layers of the network."""

    preparation: str
    hidden: tuple[int, ...]


RECIPES: dict[str, tuple[Recipe, ...]] = {
    "tables": (
        Recipe("none", (100,)),
        Recipe("standardise", (100,)),
        Recipe("thermometer", (100,)),
        Recipe("thermometer", (8, 8)),
    ),
    "images": (Recipe("upright", (100,)), Recipe("gradients", (100,))),
}
"""The recipes to choose among, in advance the same for all tables and the same for all sets of images."""


def gradients_of_upright(X: Any) -> NDArray[np.float32]:
    """`oriented_gradients` of straightened images."""
    return oriented_gradients(deskew(X))


PREPARATIONS: dict[str, Any] = {
    "none": None,
    "standardise": StandardScaler(),
    "thermometer": ThermometerCodes(),
    "upright": FunctionTransformer(deskew),
    "gradients": FunctionTransformer(gradients_of_upright),
}
"""Preprocessors of `ABNetClassifier`: fitted on the first part, or fixed maps of `benchmarks/images.py`."""


@dataclass(frozen=True)
class Measurement:
    """A row of `certificates.csv`: the chosen recipe of one split, its certificates, and its errors on test rows."""

    dataset: str
    split: int
    preparation: str
    hidden_layer_sizes: str
    n_recipes: int
    n_first: int
    n_bound: int
    n_candidates: int
    gibbs_certificate: float
    vote_certificate: float
    empirical_gibbs_risk: float
    bound_errors: int
    test_error: float
    test_gibbs_risk: float
    cpu_seconds: float


Key: TypeAlias = tuple[str, int]
"""Data set and split."""


@lru_cache(maxsize=1)
def load_rows(name: str, data_dir: str | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features, unprepared, and labels; a small bundled set too."""
    if name == "wine":
        X, y = datasets.load_wine(return_X_y=True)
        return X, np.where(y == 0, 1, -1)
    dataset = load(name, data_dir=data_dir)
    return dataset.X, dataset.y


def recipes_for(dataset: str) -> tuple[Recipe, ...]:
    """The list for images, or that for tables.

    Examples
    --------
    >>> [recipe.preparation for recipe in recipes_for("mnist17")]
    ['upright', 'gradients']
    """
    if dataset.startswith("mnist"):
        return RECIPES["images"]
    return RECIPES["tables"]


def fit_recipe(recipe: Recipe, X: Any, y: Any, *, prior_fraction: float, seed: int) -> ABNetClassifier:
    """Train on a first part and keep the posterior: K = 1, and the other rows certify it.

    Wide layers are trained on their normal approximation and certified with the series; narrow ones are exact
    throughout.
    """
    options: dict[str, Any] = {"aggregation": "ancestral", "max_iter": 100}
    if max(recipe.hidden) <= 10:
        options = {"aggregation": "exact", "max_iter": 200}
    model = ABNetClassifier(
        recipe.hidden,
        posterior="frozen",
        prior_fraction=prior_fraction,
        validation_fraction=0.1,
        preprocessor=PREPARATIONS[recipe.preparation],
        n_candidates=1,
        random_state=seed,
        **options,
    )
    return model.fit(X, y)


def choose_recipe(recipes: Sequence[Recipe], X: Any, y: Any, *, seed: int) -> Recipe:
    """The recipe with the lowest Gibbs risk on a fifth of these rows, after training on the others.

    The rows must be those of a first part only. Then the rows that certify have no part in the choice.
    """
    risks = []
    for recipe in recipes:
        judged = fit_recipe(recipe, X, y, prior_fraction=CHOICE_FRACTION, seed=seed)
        certificate = judged.certificate_
        if certificate is None or certificate.empirical_gibbs_risk is None:
            raise ValueError(f"{recipe} has no Gibbs risk to be judged by.")
        risks.append(certificate.empirical_gibbs_risk)
    return recipes[int(np.argmin(risks))]


def measure(dataset: str, split: int, recipes: Sequence[Recipe], *, data_dir: str | None = None) -> Measurement:
    """Choose a recipe in the first part, certify it on the held-out rows, and compare with the test rows."""
    begin = time.process_time()
    X, y = load_rows(dataset, data_dir)
    order = np.random.default_rng([split, 11]).permutation(len(y))
    n_test = round(TEST_FRACTION * len(y))
    test = order[:n_test]
    learn = order[n_test:]
    first = learn[split_at_random(Labelled(X[learn], y[learn]), FIRST_FRACTION, split).first]
    recipe = choose_recipe(recipes, X[first], y[first], seed=split)
    model = fit_recipe(recipe, X[learn], y[learn], prior_fraction=FIRST_FRACTION, seed=split)
    if set(learn[model.other_rows_]) != set(first):
        raise RuntimeError(f"{dataset}, split {split}: the recipe was chosen on rows that certify it.")
    certificate = model.certificate_
    if certificate is None or certificate.vote_error_bound is None or certificate.gibbs_risk_bound is None:
        raise ValueError(f"{dataset}: {recipe} gives no certificate for the vote.")
    tested = model.certify(X[test], y[test])
    bound_risk = certificate.empirical_gibbs_risk
    test_risk = tested.empirical_gibbs_risk
    assert bound_risk is not None
    assert test_risk is not None
    return Measurement(
        dataset=dataset,
        split=split,
        preparation=recipe.preparation,
        hidden_layer_sizes="-".join(map(str, recipe.hidden)),
        n_recipes=len(recipes),
        n_first=len(first),
        n_bound=len(model.bound_rows_),
        n_candidates=certificate.facts.n_candidates,
        gibbs_certificate=_round_up(certificate.gibbs_risk_bound),
        vote_certificate=_round_up(certificate.vote_error_bound),
        empirical_gibbs_risk=round(bound_risk, 6),
        bound_errors=round(certificate.empirical_error * len(model.bound_rows_)),
        test_error=round(tested.empirical_error, 6),
        test_gibbs_risk=round(test_risk, 6),
        cpu_seconds=round(time.process_time() - begin, 1),
    )


def measure_all(
    datasets: Iterable[str], splits: int, output: Path, *, data_dir: str | None = None
) -> list[Measurement]:
    """Measure the splits that the output file lacks, and write it after each of them."""
    finished: dict[Key, Measurement] = {(known.dataset, known.split): known for known in read_measurements(output)}
    for dataset in datasets:
        for split in range(splits):
            if (dataset, split) not in finished:
                finished[dataset, split] = measure(dataset, split, recipes_for(dataset), data_dir=data_dir)
                write_measurements(output, list(finished.values()))
    return list(finished.values())


def summarise(measurements: Iterable[Measurement]) -> dict[str, dict[str, float]]:
    """Means over the splits of every data set; means of certificates, rounded up, are no certificates."""
    by_dataset: dict[str, list[Measurement]] = {}
    for measurement in measurements:
        by_dataset.setdefault(measurement.dataset, []).append(measurement)
    means = {}
    for dataset, splits in by_dataset.items():
        means[dataset] = {
            "splits": len(splits),
            "gibbs_certificate": _round_up(mean(split.gibbs_certificate for split in splits)),
            "vote_certificate": _round_up(mean(split.vote_certificate for split in splits)),
            "test_error": round(mean(split.test_error for split in splits), 5),
            "test_gibbs_risk": round(mean(split.test_gibbs_risk for split in splits), 5),
        }
    return means


def _round_up(bound: float) -> float:
    """Six digits, outward; a bound that is one of them but for rounding stays."""
    return math.ceil(bound * 1e6 - 1e-6) / 1e6


def read_measurements(path: Path) -> list[Measurement]:
    """Read a file written by `write_measurements`; empty if there is no such file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [_from_line(line) for line in csv.DictReader(file)]


def _from_line(line: Mapping[str, str]) -> Measurement:
    try:
        return Measurement(**{field.name: _typed(field.type, line[field.name]) for field in fields(Measurement)})
    except (KeyError, ValueError) as error:
        raise ValueError(f"a line of certificates.csv was not written by this command: {dict(line)}.") from error


def _typed(kind: Any, text: str) -> Any:
    if kind is str:
        return text
    return kind(text)


def write_measurements(path: Path, measurements: Iterable[Measurement]) -> None:
    """Write one line for each split."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Measurement)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(measurement) for measurement in measurements)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names, separated by commas; all six by default")
    parser.add_argument("--splits", type=int, default=5, help="random 75/25 splits of each data set")
    parser.add_argument("--data-dir", help="folder of the original files, tried before ABNET_DATA")
    parser.add_argument("--output", type=Path, default=Path("results/certificates.csv"))
    given = parser.parse_args()
    named = given.datasets.split(",")
    unknown = [name for name in named if name not in DATASETS]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(DATASETS)}")
    measured = measure_all(named, given.splits, given.output, data_dir=given.data_dir)
    for dataset, means in summarise(measured).items():
        print(dataset, means)


if __name__ == "__main__":
    main()
