"""Names of a package that are imported when they are first used, so that importing the package is cheap."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_names", "offer", "offered"]


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping
        From a module's full name to the names that it gives. A module without names is itself the name.

    Examples
    --------
    >>> get, names = lazy_names("json", {"json.decoder": ["JSONDecoder"], "json.encoder": []})
    >>> get("JSONDecoder").__module__, get("encoder").__name__
    ('json.decoder', 'json.encoder')
    """
    home = {name: module for module, names in homes.items() for name in names or [module.rpartition(".")[2]]}
    rooms = {module for module, names in homes.items() if not names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home[name])
        return module if home[name] in rooms else getattr(module, name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return get, names


_OFFERED: dict[str, str] = {}


def offer(homes: Mapping[str, Sequence[str]]) -> None:
    """Tell where functions are that rooms above theirs offer as methods; the front door does so, and imports none.

    Parameters
    ----------
    homes : mapping
        From a module's full name to the names of its functions.
    """
    _OFFERED.update({name: module for module, names in homes.items() for name in names})


def offered(name: str) -> Any:
    """The function that was offered under a name.

    Examples
    --------
    >>> offer({"json": ["dumps"]})
    >>> offered("dumps")([1])
    '[1]'
    """
    return getattr(import_module(_OFFERED[name]), name)
