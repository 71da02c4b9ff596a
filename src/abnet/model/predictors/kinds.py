"""The kinds of predictors by their names in files. A file can only name one of these, so it cannot import other
code."""

from importlib import import_module

from abnet.model.predictors.predictor import Predictor

__all__ = ["kind_of", "kinds", "predictor_class", "register"]

_HOMES = {
    "table": "abnet.model.predictors.compact:Compact",
    "paths": "abnet.model.predictors.paths:Paths",
    "uniform": "abnet.model.predictors.uniform:UniformPredictor",
    "pbgnet": "abnet.model.predictors.pbgnet:PBGNetPredictor",
    "sampled pbgnet": "abnet.model.predictors.sampled_pbgnet:SampledPBGNetPredictor",
    "layers": "abnet.model.predictors.layers:Layers",
    "moments": "abnet.model.predictors.moments:MomentsPredictor",
}


def kinds() -> tuple[str, ...]:
    """The names of all kinds."""
    return tuple(_HOMES)


def register(kind: str, home: str) -> None:
    """Register a further class of predictors for model files.

    Parameters
    ----------
    kind : str
        Name in the file; it must never change.
    home : str
        ``module:class`` of a `Predictor`, whose ``from_arrays`` rebuilds it from the result of ``arrays()``, and raises
        a ValueError for anything else.
    """
    if _HOMES.setdefault(kind, home) != home:
        raise ValueError(f"the kind {kind!r} is taken by {_HOMES[kind]}.")


def kind_of(predictor: Predictor) -> str:
    """The name under which a predictor is stored.

    Examples
    --------
    >>> import numpy as np
    >>> from abnet.model.predictors.compact import Compact
    >>> kind_of(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    'table'
    """
    cls = type(predictor)
    home = f"{cls.__module__}:{cls.__qualname__}"
    for kind, known in _HOMES.items():
        if known == home:
            return kind
    raise ValueError(f"a {cls.__name__} cannot be stored in a model file; the kinds are {', '.join(_HOMES)}.")


def predictor_class(kind: object) -> type[Predictor]:
    """The class of a kind, imported now."""
    # What a file names as its kind may be a list, which no dict can look up.
    if not isinstance(kind, str) or kind not in _HOMES:
        raise ValueError(f"unknown kind of predictor {str(kind)[:60]!r}; the kinds are {', '.join(_HOMES)}.")
    module, name = _HOMES[kind].split(":")
    predictor: type[Predictor] = getattr(import_module(module), name)
    return predictor
