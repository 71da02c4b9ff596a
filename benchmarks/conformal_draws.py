"""How often MAPIE's conformal classifier covers less than its level, given the calibration rows.

    python benchmarks/conformal_draws.py [--draws 500]

Marginal coverage is an average over calibration rows and new rows. Here the model and the distribution are known: four
classes with given probabilities on each row, which the model knows exactly. For each draw of 400 calibration rows, the
coverage of the sets on 20,000 new rows is what a user of that one calibrated model gets. Needs `pip install mapie`.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

CALIBRATION = 400
NEW = 20_000
COVERAGE = 0.9
CLASSES = np.arange(4)
Array = NDArray[Any]


class KnownModel:
    """A fitted classifier whose rows are their own class probabilities."""

    classes_ = CLASSES
    n_features_in_ = len(CLASSES)

    def fit(self, X: Array, y: Array) -> "KnownModel":
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(X)

    def predict(self, X: Array) -> Array:
        return CLASSES[np.argmax(X, axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


def draw(rng: np.random.Generator, rows: int) -> tuple[Array, Array]:
    """Class probabilities, and labels drawn from them."""
    X = rng.dirichlet(np.full(len(CLASSES), 0.3), rows)
    cumulated = np.cumsum(X, axis=1)
    return X, np.minimum((cumulated < rng.random((rows, 1))).sum(axis=1), len(CLASSES) - 1)


def sets_of_mapie(X: Array, y: Array, X_new: Array) -> Array:
    """Membership of each class in the sets of MAPIE's split conformal classifier, with its default score."""
    from mapie.classification import SplitConformalClassifier

    wrapped = SplitConformalClassifier(KnownModel(), confidence_level=COVERAGE, prefit=True)
    return np.asarray(wrapped.conformalize(X, y).predict_set(X_new)[1][:, :, 0], bool)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    draws = parser.parse_args().draws
    missed = CALIBRATION - int(np.ceil((CALIBRATION + 1) * COVERAGE)) + 1
    below = beta.cdf(COVERAGE, CALIBRATION + 1 - missed, missed)
    print(f"theory: below {COVERAGE:.0%} in {below:.1%} of the draws of {CALIBRATION} calibration rows")
    coverages = []
    for i in range(draws):
        rng = np.random.default_rng(i)
        X, y = draw(rng, CALIBRATION)
        X_new, y_new = draw(rng, NEW)
        coverages.append(sets_of_mapie(X, y, X_new)[np.arange(NEW), y_new].mean())
    low = np.quantile(coverages, 0.05)
    share = np.mean(np.less(coverages, COVERAGE))
    print(
        f"MAPIE: mean coverage {np.mean(coverages):.2%}; below {COVERAGE:.0%} in {share:.1%} of {draws} draws; "
        f"5% of the draws are below {low:.1%}"
    )


if __name__ == "__main__":
    main()
