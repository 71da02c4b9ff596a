"""Errors of this room: what is not supported, and what is possible instead."""

__all__ = ["unsupported"]


def unsupported(what: str, instead: str) -> ValueError:
    """The error to raise.

    Examples
    --------
    >>> raise unsupported("a tolerance is for two classes", "fit a model for each class against the others")
    Traceback (most recent call last):
    ValueError: a tolerance is for two classes: fit a model for each class against the others.
    """
    return ValueError(f"{what}: {instead}.")
