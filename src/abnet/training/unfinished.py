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
        most = max(max_iter // 2, 1) if name.startswith("prior") else max_iter
        if len(curve) - 1 < most or len(curve) < 2:
            continue
        late = max(most // 10, 1)
        before, after = min(curve[:-late]), min(curve)
        if before - after > STILL * abs(before):
            epochs = "epoch" if late == 1 else f"{late} epochs"
            warnings.warn(
                UnfinishedWarning(
                    "Training ({}) was still improving when it ended ({:.3g} to {:.3g} in the last {}); {} may give a "
                    "better model.",
                    name, before, after, epochs, Parameter("max_iter", 2 * max_iter),
                ),
                stacklevel=6,
            )  # fmt: skip
            return
