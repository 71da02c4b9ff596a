"""The certificate of a fitted classifier that must have one."""

from typing import Any

__all__ = ["promised"]


def promised(fitted: Any) -> Any:
    """``certificate_``, which is not None here. Any, so that tests may read bounds as numbers."""
    assert fitted.certificate_ is not None
    return fitted.certificate_
