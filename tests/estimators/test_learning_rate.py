"""What `learning_rate_init` and `max_iter` govern."""

from typing import Any

import numpy as np
import pytest

import abnet
from estimators.worlds import SIGNAL

X, Y = SIGNAL.draw(np.random.default_rng(0))
WAYS: dict[str, tuple[dict[str, Any], float]] = {
    "default": ({}, 0.05),
    "split, frozen": ({"posterior": "frozen"}, 0.05),
    "split, train": ({"posterior": "train"}, 0.01),
    "init": ({"prior": "init"}, 0.01),
    "loss": ({"objective": "loss"}, 0.01),
    "ancestral": ({"aggregation": "ancestral"}, 0.05),
}
ways = pytest.mark.parametrize(("settings", "auto"), WAYS.values(), ids=WAYS.keys())


def fit(**settings: Any) -> Any:
    return abnet.ABNetClassifier((2,), **{"max_iter": 4, "random_state": 0, **settings}).fit(X, Y)


def same(one: Any, other: Any) -> bool:
    return all(map(np.array_equal, (*one.weights, *one.biases), (*other.weights, *other.biases)))


@ways
def test_the_rate_changes_every_fit(settings: dict[str, Any], auto: float) -> None:
    fitted = fit(**settings)
    assert same(fit(learning_rate_init=auto, **settings).network_, fitted.network_)
    assert not same(fit(learning_rate_init=10 * auto, **settings).network_, fitted.network_)


def test_a_prior_that_is_trained_further_does_not_feel_the_rate() -> None:
    """So that settings which differ in the rate share one prior, and the choice among them is free."""
    slow, fast = (fit(posterior="train", learning_rate_init=rate) for rate in (0.01, 0.3))
    assert same(slow.prior_, fast.prior_)
    assert not same(slow.network_, fast.network_)


@pytest.mark.parametrize("value", ["fast", 0, -0.1, np.nan, None, "Auto"])
def test_other_rates_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="learning_rate_init"):
        fit(learning_rate_init=value)


@ways
@pytest.mark.parametrize("most", [2, 6])
def test_no_stage_has_more_epochs_than_max_iter(settings: dict[str, Any], auto: float, most: int) -> None:
    fitted = fit(max_iter=most, tol=0.0, n_iter_no_change=100, **settings)
    assert max(len(fitted.bound_curve_) - 1, 0) <= most
    assert fitted.n_iter_ == (2 * most if settings.get("posterior") == "train" else most)
