"""The kinds of predictor that a file can hold, found by name and imported when met."""

from importlib import import_module

from abnet.predictors.predictor import Predictor

__all__ = ["kind_of", "predictor_class", "register"]

_HOMES = {
    "compact ABNet": "abnet.predictors.compact:CompactABNet",
    "compact MAP": "abnet.predictors.compact:CompactMAP",
    "mean field": "abnet.predictors.mean_field_network:MeanFieldNetwork",
    "paths": "abnet.predictors.paths:PathPredictor",
    "compact stochastic ABNet": "abnet.predictors.uniform_draws:CompactUniform",
    "stochastic mean field": "abnet.predictors.mean_field_network:SampledMeanField",
    "posterior average": "abnet.predictors.posterior_average:PosteriorAverage",
    "binary network": "abnet.predictors.binary_network:BinaryNetwork",
    "drawn network": "abnet.predictors.drawn_network:DrawnNetwork",
}
"""From the name in the file to the class. A file chooses among these, so it cannot have anything else imported."""


def register(kind: str, home: str) -> None:
    """Let files hold a further class of predictor.

    Parameters
    ----------
    kind : str
        Name in the file; it stays for ever.
    home : str
        ``module:class`` of a `Predictor`, whose ``from_arrays`` builds it from what ``arrays()`` gave, and raises
        ValueError for anything else.
    """
    if _HOMES.setdefault(kind, home) != home:
        raise ValueError(f"the kind {kind!r} is taken by {_HOMES[kind]}.")


def kind_of(predictor: Predictor) -> str:
    """The name under which a predictor is stored.

    Examples
    --------
    >>> import numpy as np
    >>> from abnet.predictors.compact import CompactABNet
    >>> kind_of(CompactABNet(np.ones((1, 2)), np.zeros(1), np.array([-1.0, 1.0])))
    'compact ABNet'
    """
    cls = type(predictor)
    home = f"{cls.__module__}:{cls.__qualname__}"
    for kind, known in _HOMES.items():
        if known == home:
            return kind
    raise ValueError(f"a {cls.__name__} cannot be stored in a model file; the kinds are {', '.join(_HOMES)}.")


def predictor_class(kind: object) -> type[Predictor]:
    """The class of a kind, imported now."""
    home = _HOMES.get(kind) if isinstance(kind, str) else None
    if home is None:
        raise ValueError(f"unknown kind of model {str(kind)[:60]!r}; this release reads {', '.join(_HOMES)}.")
    module, name = home.split(":")
    found: type[Predictor] = getattr(import_module(module), name)
    return found
