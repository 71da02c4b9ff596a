"""Files of a compared model and its certificate: a foreign model in a format that runs no code when it is loaded."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import msgspec

from abnet.certificates.certificate import NamedFile
from abnet.estimators.compare import Comparison, Contender
from abnet.estimators.fitting_mixin import FittingMixin

__all__ = ["save_winner", "winner_paths"]

ENDINGS = {
    "abnet": ".abnet",
    "features": ".features.abnet",
    "catboost": ".cbm",
    "lightgbm": ".lightgbm.txt",
    "sklearn": ".skops",
}
"""Endings of the files beside a certificate, by what they hold."""


def winner_paths(path: str | os.PathLike[str]) -> dict[str, Path]:
    """All files that `save_winner` may write beside a certificate.

    Examples
    --------
    >>> winner_paths("best.json")["catboost"].name
    'best.cbm'
    """
    target = Path(path)
    paths = {kind: target.with_suffix(ending) for kind, ending in ENDINGS.items()}
    if target in paths.values():
        raise ValueError(
            f"{target} is the certificate, a JSON file, and the model gets a file beside it: name it .json."
        )
    return paths


def save_winner(comparison: Comparison, path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write the certificate of the winner to a JSON file, and the model to files beside it with the same stem.

    A model of this library is one ``.abnet`` file. CatBoost writes ``.cbm``, LightGBM ``.lightgbm.txt``, and a
    scikit-learn model ``.skops`` if skops is installed; otherwise it is not kept. These models take features:
    ``.features.abnet`` is the model of this library from the same comparison, and its ``preparation.base.transform``
    makes them. The certificate names the files with their SHA-256. abnet reads none of the foreign formats.

    Parameters
    ----------
    comparison : Comparison
        Made with ``choose=True``, so that the certificate accounts for the choice.
    path : path
        The certificate.

    Returns
    -------
    tuple of pathlib.Path
        The files of the model, its own first; none if the model is not kept.
    """
    winner = comparison.winner
    if winner is None or winner.certificate is None:
        raise ValueError("no model has a certificate, so there is no winner to save.")
    if comparison.n_candidates < len(comparison.contenders):
        raise ValueError("the certificates do not account for the choice of a winner: compare with choose=True.")
    paths = winner_paths(path)
    if isinstance(winner.fitted, FittingMixin):
        winner.fitted.save(paths["abnet"])
        winner.certificate.save(path)
        return (paths["abnet"],)
    networks = [contender.fitted for contender in comparison.contenders if contender.is_fit]
    written: tuple[Path, ...] = ()
    if networks:  # without their features the others answer nothing
        written = _write_foreign(winner, paths)
    if written:
        networks[0].save(paths["features"])
        written = (*written, paths["features"])
    named = tuple(map(NamedFile.of, written))
    msgspec.structs.replace(winner.certificate, files=named).save(path)
    return written


def _write_foreign(winner: Contender, paths: dict[str, Path]) -> tuple[Path, ...]:
    """The model in the format of its own library; no file if that format would run code when it is loaded."""
    model = winner.fitted
    library = type(model).__module__.partition(".")[0]
    if library == "catboost":
        model.save_model(str(paths[library]))
        return (paths[library],)
    if library == "lightgbm":
        model.booster_.save_model(str(paths[library]))
        return (paths[library],)
    if find_spec("skops") is None:
        return ()
    import_module("skops.io").dump(model, paths["sklearn"])
    return (paths["sklearn"],)
