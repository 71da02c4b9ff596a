"""Plain hold-out bounds on the rows that a certificate was computed from: the rivals of every certificate."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds import clopper_pearson_bound
from abnet.labels import Labels

__all__ = ["HoldOut", "Parts", "frozen_network", "hold_out", "logistic_regression", "parts_of", "two_random_parts"]


Parts = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows to learn from, and rows to count errors on."""


@dataclass(frozen=True)
class HoldOut:
    """A finished model judged by its errors on rows that had no part in it.

    Attributes
    ----------
    name : str
    bound : float
        Clopper-Pearson limit on its error.
    errors, n_examples : int
        Errors counted, and the rows they were counted on.
    same_network : bool
        Whether it is the certified network itself, before it saw these rows.
    """

    name: str
    bound: float
    errors: int
    n_examples: int
    same_network: bool = False


def hold_out(name: str, wrong: NDArray[Any], delta: float, *, same_network: bool = False) -> HoldOut:
    """The hold-out bound from the places of the errors.

    Examples
    --------
    >>> hold_out("a rule", np.array([True] + [False] * 99), 0.05).errors
    1
    """
    errors = int(np.count_nonzero(wrong))
    return HoldOut(name, clopper_pearson_bound(errors, len(wrong), delta), errors, len(wrong), same_network)


def parts_of(classifier: Any, n: int) -> Parts:
    """The two parts into which a fitted classifier with a learned prior has split its n rows."""
    from abnet.estimators.classifier import seeds
    from abnet.training.trainer import two_parts

    return two_parts(n, classifier.prior_fraction, seeds(classifier.random_state, 1)[0])


def two_random_parts(n: int, fraction: float, seed: int) -> Parts:
    """A first part of about ``fraction · n`` rows at random, and the rest."""
    from abnet.training.trainer import two_parts

    return two_parts(n, fraction, np.random.default_rng([seed, 1]))


def frozen_network(classifier: Any, prepared: NDArray[Any], labels: NDArray[Any], parts: Parts) -> tuple[HoldOut, ...]:
    """The network as it was before the second part trained it, judged on that part; none if frozen or sampled."""
    from abnet.predictors.compact import CompactABNet
    from abnet.predictors.mean_field_network import MeanFieldNetwork
    from abnet.predictors.predictor import ModelInfo

    kind: Any = type(classifier.predictor_)
    if classifier.certificate_.posterior != "train" or kind not in (CompactABNet, MeanFieldNetwork):
        return ()
    rows = parts[1]
    _check_parts(classifier, prepared[rows], labels[rows])
    before = kind.from_network(classifier.prior_, ModelInfo(Labels(classifier.classes_)))
    wrong = before.predict(prepared[rows]) != labels[rows]
    return (hold_out("the same network, kept from the bound rows", wrong, classifier.delta, same_network=True),)


def _check_parts(classifier: Any, prepared: NDArray[Any], labels: NDArray[Any]) -> None:
    """The certificate's own risk must come out of these rows, else they are others than those of the fit."""
    signs = Labels(classifier.classes_).signs(labels)
    risk = float(np.mean((1 - signs * classifier.predictor_.score_prepared(prepared)) / 2))
    if abs(risk - classifier.certificate_.empirical_gibbs_risk) > 1e-9:
        raise RuntimeError("the rows of the comparison are not those of the certificate.")


def logistic_regression(prepared: NDArray[Any], labels: NDArray[Any], parts: Parts, delta: float) -> HoldOut:
    """Logistic regression learned on the first part and judged on the second."""
    first, second = parts
    predicted = learned_logistic(prepared[first], labels[first]).predict(prepared[second])
    return hold_out("logistic regression on the other rows", predicted != labels[second], delta)


def learned_logistic(X: NDArray[Any], y: NDArray[Any]) -> Any:
    """Logistic regression, or the only class where there is one class."""
    from sklearn.dummy import DummyClassifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000) if len(np.unique(y)) == 2 else DummyClassifier()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # still a legitimate rule to judge
        return model.fit(X, y)
