"""CatBoost and LightGBM, where they are installed, with their default settings."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["installed_boosting"]


def installed_boosting(seed: int, threads: int) -> dict[str, Any]:
    """Unfitted gradient boosting of other libraries by their names; a library that is not installed is left out.

    Parameters
    ----------
    seed, threads : int

    Examples
    --------
    >>> set(installed_boosting(0, 1)) <= {"CatBoost", "LightGBM"}
    True
    """
    models = {}
    if find_spec("catboost") is not None:
        # CatBoost would write its log into the current folder.
        models["CatBoost"] = import_module("catboost").CatBoostClassifier(
            random_seed=seed, thread_count=threads, verbose=False, allow_writing_files=False
        )
    if find_spec("lightgbm") is not None:
        models["LightGBM"] = import_module("lightgbm").LGBMClassifier(random_state=seed, n_jobs=threads, verbose=-1)
    return models
