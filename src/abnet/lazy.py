"""Names of a package, and modules, that are imported when they are first used, so that importing is cheap."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["lazy_names", "offer", "offered", "put_off"]


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


class _StandIn(ModuleType):
    """Has the name of a module, and loads it when it is asked for anything else."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def put_off(module: str) -> Iterator[None]:
    """Load a module not when it is imported meanwhile, but when it is first used, then or later.

    For what another library imports at its top and hardly ever uses. Afterwards all is as if it had not been imported.

    Examples
    --------
    >>> loaded = sys.modules.pop("colorsys", None)  # as in a new process
    >>> with put_off("colorsys"):
    ...     import colorsys
    >>> "colorsys" in sys.modules, colorsys.hsv_to_rgb(0, 0, 1), "colorsys" in sys.modules
    (False, (1, 1, 1), True)
    """
    if module in sys.modules:
        yield
        return
    stand_in = sys.modules[module] = _StandIn(module)
    try:
        yield
    finally:
        if sys.modules.get(module) is stand_in:
            del sys.modules[module]
