"""A persistent compilation cache in the user's cache folder, in force only while abnet compiles."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["compilation_cache"]

_lock = threading.Lock()
_depth = 0


@contextmanager
def compilation_cache() -> Iterator[None]:
    """Keep compiled programs on disk, so that a second process starts fast; JAX's settings are put back afterwards.

    A cache that the user has set up stays in force. Set ``ABNET_CACHE`` to another folder, or to an empty string for
    none.
    """

    folder = _folder()
    if folder is None or (_depth == 0 and _read("jax_compilation_cache_dir") is not None):
        yield
        return
    saved = _enter(folder)
    try:
        yield
    finally:
        _leave(saved)


def _read(name: str) -> Any:
    """A JAX setting; they are attributes that the type checker does not know."""
    import jax

    return getattr(jax.config, name)


def _folder() -> Path | None:
    """The cache folder, made if need be; None if there is to be none or it cannot be written."""
    named = os.environ.get("ABNET_CACHE")
    if named == "":
        return None
    if named is None:
        import platformdirs

        named = platformdirs.user_cache_dir("abnet")
    folder = Path(named) / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _enter(folder: Path) -> float:
    import jax

    global _depth
    with _lock:
        _depth += 1
        saved = float(_read("jax_persistent_cache_min_compile_time_secs"))
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    return saved


def _leave(saved: float) -> None:
    import jax
    from jax.experimental.compilation_cache import compilation_cache as cache

    global _depth
    with _lock:
        _depth -= 1
        jax.config.update("jax_persistent_cache_min_compile_time_secs", saved)
        if _depth == 0:
            jax.config.update("jax_compilation_cache_dir", None)
            cache.reset_cache()
