"""The bound on a mean loss is that of the mean, and refuses what is no loss."""

import numpy as np
import pytest

from abnet.bounds import gibbs_bound, gibbs_bound_frozen, loss_bound


def test_losses_are_bounded_by_their_mean() -> None:
    losses = np.random.default_rng(0).random(500)
    mean = float(losses.mean())
    assert loss_bound(losses) == pytest.approx(gibbs_bound_frozen(mean, 500), abs=1e-12)
    assert loss_bound(losses, 3.0, 0.1, n_candidates=4) == pytest.approx(
        gibbs_bound(mean, 3.0, 500, 0.1, n_candidates=4), abs=1e-12
    )


def test_a_mean_that_is_rounded_down_never_makes_the_bound_smaller() -> None:
    losses = np.full(1000, 0.1)
    assert loss_bound(losses) >= gibbs_bound_frozen(0.1, 1000)


@pytest.mark.parametrize(
    ("losses", "fact"),
    [([], "shape"), ([[0.5]], "shape"), ([0.1, 1.5], "row 1"), ([0.1, float("nan")], "row 1"), ([-0.1], "row 0")],
)
def test_what_is_no_loss_is_refused(losses: list[float], fact: str) -> None:
    with pytest.raises(ValueError, match=fact):
        loss_bound(losses)
