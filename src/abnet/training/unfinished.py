"""A warning if training was still improving at its last epoch."""

import warnings
from collections.abc import Mapping, Sequence

from sklearn.exceptions import ConvergenceWarning

from abnet.utils.errors import Parameter, ParameterWarning

__all__ = ["UnfinishedWarning", "warn_of_unfinished"]


class UnfinishedWarning(ParameterWarning, ConvergenceWarning):
    """Training was still improving at its last epoch."""


STILL = 0.02
"""Relative improvement in the last tenth of the epochs above which more epochs are worth trying."""


def warn_of_unfinished(curves: Mapping[str, Sequence[float]], max_iter: int) -> None:
    """Warn if a stage of training ended at its last epoch while the monitored value was still improving.

    Parameters
    ----------
    curves : mapping
        Maps the name of a stage to the monitored values at the start and after every epoch; smaller is better.
    max_iter : int
        Maximum number of epochs of a stage; the two halves of the prior's stage have half of them each.

    Examples
    --------
    >>> warn_of_unfinished({"bound": [0.5, 0.2, 0.2, 0.2]}, 3)
    """
    for name, curve in curves.items():
        n_allowed = max_iter
        if name.startswith("prior"):
            n_allowed = max(max_iter // 2, 1)
        n_epochs = len(curve) - 1
        if n_epochs < max(n_allowed, 1):
            continue
        n_late = max(n_allowed // 10, 1)
        before = min(curve[:-n_late])
        after = min(curve)
        if before - after <= STILL * abs(before):
            continue
        late_epochs = f"{n_late} epochs"
        if n_late == 1:
            late_epochs = "epoch"
        warnings.warn(
            UnfinishedWarning(
                "Training ({}) was still improving when it ended ({:.3g} to {:.3g} in the last {}); {} may give a "
                "better model.",
                name,
                before,
                after,
                late_epochs,
                Parameter("max_iter", 2 * max_iter),
            ),
            stacklevel=6,
        )
        return
