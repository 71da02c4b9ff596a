"""Import the modules of a package lazily, at the first use of a name, or all at once, so that they register."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

__all__ = ["INSTALL", "import_folder", "lazy_names"]

INSTALL = "install abnet instead of abnet-predict."
"""What to do where dependencies are missing."""


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    `homes` maps a module's full name to the names that it gives. A module without names is itself the name.

    Examples
    --------
    >>> get, names = lazy_names("json", {"json.decoder": ["JSONDecoder"], "json.encoder": []})
    >>> get("JSONDecoder").__module__, get("encoder").__name__
    ('json.decoder', 'json.encoder')
    """
    home = {name: module for module, names in homes.items() for name in names or [module.rpartition(".")[2]]}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(home[name])
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] == "abnet":
                raise
            raise ModuleNotFoundError(
                f"{package}.{name} needs {error.name}, and this installation can only predict: {INSTALL}",
                name=error.name,
            ) from error
        return getattr(module, name) if homes[home[name]] else module

    return get, lambda: sorted({*vars(sys.modules[package]), *home})


def import_folder(package: ModuleType) -> None:
    """Import every module of a package: each registers what it has, so a new file needs no other change."""
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
