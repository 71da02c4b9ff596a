"""Import the modules of a package lazily, when one of its names is first used, or all at once."""

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
    package: str, homes: Mapping[str, Sequence[str]], *, registries: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose modules are imported when one of their names is first used.

    Parameters
    ----------
    package : str
    homes : mapping
        The names that each module provides, by the module's full name; if there are none, the module itself is meant.
    registries : sequence of str
        Packages whose modules are found automatically. All names in their ``__all__`` are names of this package, too.

    Examples
    --------
    >>> get, names = lazy_names("json", {"json.decoder": ["JSONDecoder"], "json.encoder": []})
    >>> get("JSONDecoder").__module__, get("encoder").__name__
    ('json.decoder', 'json.encoder')
    """
    home: dict[str, str] = {}
    for module_name, names in homes.items():
        home.update(dict.fromkeys(names, module_name))
        if not names:
            home[module_name.rpartition(".")[2]] = module_name

    def get(name: str) -> Any:
        if name not in home:
            for registry in registries:
                if not name.startswith("_") and name in import_module(registry).__all__:
                    return getattr(import_module(registry), name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = import_module(home[name])
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] == "abnet":
                raise  # one of our own modules is missing
            raise ModuleNotFoundError(
                f"{package}.{name} needs {error.name}, and this installation can only predict: {INSTALL}",
                name=error.name,
            ) from error
        if not homes[home[name]]:
            return module
        return getattr(module, name)

    def names_of_package() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return get, names_of_package


def import_folder(package: ModuleType) -> None:
    """Import every module of a package: modules register what they define, so a new file needs no other change."""
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
