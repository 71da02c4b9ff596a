"""Messages for what a user meets: unsaved transformers, unscaled inputs, training cut short, wrong preprocessors."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from abnet import ABNetClassifier, CertifiedClassifier
from abnet.cli.options import spelled
from abnet.training.unfinished import warn_of_unfinished
from abnet.utils.errors import ParameterError, ParameterWarning
from abnet.utils.wording import percent

X, y = load_breast_cancer(return_X_y=True)


def fit(**settings: Any) -> ABNetClassifier:
    return ABNetClassifier((2,), random_state=0, **{"max_iter": 4, **settings}).fit(X, y)


def test_a_transformer_that_cannot_be_saved_is_named_at_fit(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="QuantileTransformer.*`save`"):
        clf = fit(preprocessor=QuantileTransformer(n_quantiles=10))
    with pytest.raises(ValueError, match="QuantileTransformer"):
        clf.save(tmp_path / "m.abnet")


@pytest.mark.parametrize("wrong", ["minmax", 3, StandardScaler], ids=str)
def test_preprocessor_errors_list_what_is_accepted(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"'standardise'.*TablePreparation.*'table'"):
        fit(preprocessor=wrong)


def test_unscaled_inputs_are_hinted_at() -> None:
    with pytest.warns(UserWarning, match="scales"):
        fit()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(preprocessor="standardise")
        ABNetClassifier((2,), max_iter=2, random_state=0).fit(
            np.c_[StandardScaler().fit_transform(X[:, 1:]), np.ones(len(y))], y
        )


def test_training_that_ended_too_early_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter=8"):
        fit(preprocessor="standardise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(preprocessor="standardise", max_iter=200)


def test_a_taught_mixture_that_ended_too_early_says_so() -> None:
    settings: dict[str, Any] = {"n_estimators": 2, "teacher": "linear", "preprocessor": "standardise"}
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        CertifiedClassifier((2,), random_state=0, **settings, max_iter=1).fit(X, y)


CURVES = {
    "not at the end": ({"bound": [0.5, 0.4, 0.3]}, 5, False),
    "still improving": ({"bound": [0.5, 0.4, 0.3]}, 2, True),
    "at rest": ({"bound": [0.5, 0.3, 0.3]}, 2, False),
    "half of the epochs": ({"prior, log loss": [0.5, 0.4, 0.3]}, 4, True),
    "less than half": ({"prior, log loss": [0.5, 0.4, 0.3]}, 6, False),
    "worse": ({"bound": [0.5, 0.3, 0.4]}, 2, False),
}


@pytest.mark.parametrize(("curves", "most", "warned"), CURVES.values(), ids=CURVES.keys())
def test_what_still_improves(curves: dict[str, list[float]], most: int, warned: bool) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_unfinished(curves, most)
    assert bool(found) == warned


def test_a_rare_class_that_is_never_predicted_is_hinted_at_for_recall(rng: np.random.Generator) -> None:
    """The rows that say so are training rows; with a goal or class weights there is nothing to say."""
    n = 400
    rows = rng.normal(size=(n, 2))
    rare = rng.random(n) < 0.1
    labels = np.where(rare, "ill", "well")
    small: dict[str, Any] = {"n_estimators": 2, "teacher": "linear", "random_state": 0}
    with pytest.warns(ParameterWarning, match=r"'ill'.*TargetRecall\(recall=0.9, positive='ill'\)") as seen:
        clf = CertifiedClassifier((2,), **small, max_iter=4).fit(rows, labels)
    training = np.mean(labels[clf.other_rows_] == "ill")
    assert percent(float(training)) in str(seen[0].message)
    options = seen[0].message.worded(lambda parameter: spelled(parameter, {"target_recall"}))  # type: ignore[union-attr]
    assert "--target-recall 0.9 --positive-class ill" in options
    with warnings.catch_warnings():
        warnings.simplefilter("error", ParameterWarning)
        CertifiedClassifier((2,), **small, max_iter=4, class_weight="balanced").fit(rows, labels)
        CertifiedClassifier((2,), **small, max_iter=4).fit(rows + 3.0 * rare[:, None], labels)
