"""The result of a run: the figures of one trained network."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from abnet.paper.runs.run_setting import Setting

__all__ = ["METRICS", "Result"]


@dataclass(frozen=True)
class Result:
    """Figures of one trained network at the kept epoch; a figure that the model does not have is None.

    Attributes
    ----------
    setting
        The run.
    train_error, test_error
        0-1 error of the vote, in [0, 1]; EBP's of the posterior-averaged output.
    map_test_error
        0-1 error of the MAP network on the test rows.
    epochs, best_epoch
        Epochs trained, and the one kept (the first is 1).
    seconds
        This run's share of the time of its group.
    bound, kl, C
        The Gibbs bound in the 2√n form at the learned C (an estimate), the KL divergence, C.
    train_loss, test_loss
        Linear losses.
    validation_error, validation_loss
        0-1 error and linear loss on the validation rows.
    curve
        Monitored figures by epoch, by name.
    fingerprint
        Hash of the data trained on; the sweep refuses results from other data than it asked for.
    """

    setting: Setting
    train_error: float
    test_error: float
    map_test_error: float | None
    epochs: int
    best_epoch: int
    seconds: float
    bound: float | None = None
    kl: float | None = None
    C: float | None = None
    train_loss: float | None = None
    test_loss: float | None = None
    validation_error: float | None = None
    validation_loss: float | None = None
    curve: Mapping[str, Sequence[float]] = field(default_factory=dict)
    fingerprint: str | None = None

    @property
    def score(self) -> float:
        """What the setting is selected by, smaller is better.

        The bound for PBGNet and ABNet, the validation error for the others. Infinite if it is missing or not a number,
        so that a run that diverged is never selected.
        """
        if self.setting.model in ("PBGNet", "ABNet"):
            score = self.bound
        else:
            score = self.validation_error
        if score is None or math.isnan(score):
            return math.inf
        return score


METRICS = (
    "train_error",
    "test_error",
    "map_test_error",
    "epochs",
    "best_epoch",
    "seconds",
    "bound",
    "kl",
    "C",
    "train_loss",
    "test_loss",
    "validation_error",
    "validation_loss",
)
"""The figures of a `Result` that the store keeps as columns."""
