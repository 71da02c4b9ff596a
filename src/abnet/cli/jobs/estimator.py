"""A classifier from the options of a command."""

from typing import Any

from abnet.cli.guard import WrongUseError

__all__ = ["make_estimator"]


def make_estimator(model: str, settings: dict[str, Any], *, preprocessor: Any = None, verbose: bool = False) -> Any:
    """An unfitted classifier; options that it would refuse are wrong use, found before any file is read."""
    if model not in ("abnet", "pbgnet"):
        raise WrongUseError(f"--model must be 'abnet' or 'pbgnet', not {model!r}.")
    from abnet import ABNetClassifier, PBGNetClassifier

    kind = ABNetClassifier if model == "abnet" else PBGNetClassifier
    classifier = kind(**settings, preprocessor=preprocessor, verbose=int(verbose))
    try:
        classifier._check_parameters()
    except ValueError as error:
        raise WrongUseError(str(error)) from error
    return classifier
