"""Which candidates of a search share one event of probability δ, and which pay for one of their own.

A PAC-Bayes bound holds for all posteriors at once, but for one prior and one set of bound rows. Candidates that differ
only in how the posterior is reached from the same prior are therefore compared for nothing; everything else costs.
"""

from collections.abc import Mapping, Sequence
from pickle import PicklingError
from typing import Any

from abnet.estimators.aggregated import AggregatedClassifier

__all__ = ["count_events", "event_of", "free_parameters"]

_STAGE = frozenset({"learning_rate_init", "batch_size", "max_iter", "n_iter_no_change", "tol"})
_UNUSED = frozenset({"prior_fraction", "n_samples"})


def free_parameters(classifier: AggregatedClassifier) -> frozenset[str]:
    """Names of the parameters that change neither the prior, nor the bound rows, nor anything sampled.

    - A frozen posterior has no union over posteriors: nothing is free. The same for a sampled aggregation, whose
      paths are drawn after the posterior.
    - With ``prior="split"`` the two stages of the prior share all limits with the posterior's: only the learning rate
      is the posterior's own.
    - With ``prior="init"`` the prior is the random start, which only the sizes and the seed decide. With
      ``objective="loss"`` the validation part is no part of the bound rows, so that its size is not free.

    Examples
    --------
    >>> from abnet.estimators.abnet import ABNetClassifier
    >>> sorted(free_parameters(ABNetClassifier(posterior="train")))
    ['learning_rate_init']
    >>> "max_iter" in free_parameters(ABNetClassifier(prior="init"))
    True
    """
    if classifier._is_frozen() or classifier.aggregation != "exact":
        return frozenset()
    if classifier.objective == "loss":
        return _STAGE | _UNUSED
    if classifier.prior != "init":
        return frozenset({"learning_rate_init"})
    return _STAGE | _UNUSED | {"validation_fraction"}


def event_of(classifier: AggregatedClassifier, params: Mapping[str, Any]) -> str:
    """A mark of the prior and the bound rows of a candidate: `params` of the grid without those that are free."""
    free = free_parameters(classifier)
    return " ".join(f"{name}={_mark(params[name])}" for name in sorted(params) if name not in free)


def _mark(value: Any) -> str:
    """Equal only for equal values; where that cannot be told, values that look equal are paid for apart."""
    import joblib

    try:
        return str(joblib.hash(value))
    except (PicklingError, AttributeError, TypeError):  # a function without a name, an open file
        return str(id(value))


def count_events(events: Sequence[str]) -> int:
    """Number K of events that must hold at once, so that the best candidate's certificate holds."""
    return len(set(events))
