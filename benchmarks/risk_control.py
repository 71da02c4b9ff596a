"""Thresholds that meet a target of recall, precision or error: abnet beside MAPIE's `BinaryClassificationController`.

    python benchmarks/risk_control.py --output results/mapie.csv [--splits 200]

Three tables. A logistic regression learns from some rows; the others are a distribution that is known, so that the true
rates of every threshold are shares of rows. From it, 1,000 rows are drawn at random, again and again (with
replacement). Both get the same rows, the same scores and the same confidence of 90%, and both test all rows: MAPIE its
grid of 100 thresholds, abnet the ranks of the scores. An error among answered rows is a precision to MAPIE: that of
answers, with the confidence as the score and right answers as positive rows.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from abnet import TargetError, TargetPrecision, TargetRecall, certify_scores
from abnet.certificates.statements.rate_test import RateTest
from abnet.utils.atomic import atomic_path

ROWS = 1_000
DELTA = 0.1
COLUMNS = (
    "table", "population", "target", "level", "method", "splits", "certified", "violations", "mean_target",
    "mean_other", "other_over_all", "seconds",
)  # fmt: skip
LEVELS = {"breast_cancer": 0.95, "digits": 0.85, "adult": 0.7}
"""Recalls and precisions."""
ERRORS = {"breast_cancer": 0.02, "digits": 0.08, "adult": 0.1}
METHODS = ("abnet", "MAPIE bonferroni_holm", "MAPIE fixed_sequence")


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, probabilities of the positive class, and which rows are positive, of rows that nothing learned from."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import abnet

    X, y = load_breast_cancer(return_X_y=True)
    images, digits = load_digits(return_X_y=True)
    adult = abnet.paper.load("adult")
    sets = {"breast_cancer": (X, y == 0, 200), "digits": (images, digits > 4, 500),
            "adult": (adult.X, adult.y == np.max(adult.y), 5_000)}  # fmt: skip
    for name, (rows, positive, learn) in sets.items():
        order = np.random.default_rng(0).permutation(len(rows))
        first = order[:learn]
        rest = order[learn:]
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)).fit(
            rows[first], positive[first]
        )
        yield name, model.predict_proba(rows[rest])[:, 1], np.asarray(positive[rest], bool)


def ours(p: np.ndarray, positive: np.ndarray, target: str, level: float, split: int) -> float | None:
    """The certified threshold of abnet, None if there is none."""
    answers = None
    if target == "error":
        # Here "positive" rows are those that are answered correctly.
        goal: Any = TargetError(1.0 - level)
        answers = np.ones(len(p), bool)
    elif target == "recall":
        goal = TargetRecall(level, positive=True)
    else:
        goal = TargetPrecision(level, positive=True)
    made = certify_scores(p, positive, goal, answers=answers, delta=DELTA, random_state=split)
    (tested,) = made.each(RateTest)
    if tested.value is None:
        return None
    return float(tested.rule.threshold)  # type: ignore[attr-defined]


def mapie(method: str) -> Callable[..., float | None]:
    """The threshold of MAPIE's controller with one of its ways of testing many thresholds."""
    from mapie.risk_control import BinaryClassificationController

    def threshold(p: np.ndarray, positive: np.ndarray, target: str, level: float, split: int) -> float | None:
        controller = BinaryClassificationController(
            lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), risk="precision" if target == "error" else target,
            target_level=level,
            confidence_level=1 - DELTA, fwer_method=method,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller.calibrate(p[:, None], positive.astype(int))
        best = controller.best_predict_param
        if best is None:
            return None
        return float(best)

    return threshold


def rates(p: np.ndarray, positive: np.ndarray, called: np.ndarray) -> dict[str, float]:
    """Recall and precision of the rows that are called positive, 1 where there is nothing to count; their share."""
    hits = float(np.sum(called & positive))
    precision = hits / called.sum() if called.any() else 1.0
    return {"recall": hits / max(positive.sum(), 1), "precision": precision, "share": float(np.mean(called))}


OTHER = {"recall": "precision", "precision": "recall", "error": "share"}
"""What a target costs: the share of rows that are answered, for an error."""


def measure(name: str, p: np.ndarray, positive: np.ndarray, target: str, method: str, splits: int) -> dict[str, Any]:
    """One line of the table: how often something was certified, how often it was false, and how good it was."""
    find = ours if method == "abnet" else mapie(method.removeprefix("MAPIE "))
    level = LEVELS[name]
    kept = target
    if target == "error":
        level = 1.0 - ERRORS[name]
        kept = "precision"
        positive = (p > 0.5) == positive
        p = np.abs(2.0 * p - 1.0)
    found = []
    begin = time.perf_counter()
    for split in range(splits):
        drawn = np.random.default_rng([split, 17]).integers(len(p), size=ROWS)
        threshold = find(p[drawn], positive[drawn], target, level, split)
        if threshold is not None:
            # MAPIE calls a row positive from its threshold on, abnet above it.
            if method == "abnet":
                called = p > threshold
            else:
                called = p >= threshold
            found.append(rates(p, positive, called))
    figures = {
        "table": name, "population": len(p), "target": target, "level": round(level, 4), "method": method,
        "splits": splits, "certified": len(found), "violations": sum(rate[kept] < level for rate in found),
        "seconds": round(time.perf_counter() - begin, 1),
    }  # fmt: skip
    for column, key in (("mean_target", kept), ("mean_other", OTHER[target])):
        figures[column] = round(float(np.mean([rate[key] for rate in found])), 4) if found else ""
    # A split without a threshold finds nothing, so it counts as 0.
    figures["other_over_all"] = round(sum(rate[OTHER[target]] for rate in found) / splits, 4)
    return figures


def main() -> None:
    """Measure everything and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=200)
    given = parser.parse_args()
    lines = [
        measure(name, p, positive, target, method, given.splits)
        for name, p, positive in tables()
        for target in OTHER
        for method in METHODS
    ]
    with atomic_path(given.output) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
