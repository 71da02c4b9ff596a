"""A cache folder of the tests' own, and the folder with the original files where there is one."""

import os
from pathlib import Path

import platformdirs
import pytest


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache, and no folder of originals."""
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(tmp_path / "cache"))
    monkeypatch.delenv("ABNET_DATA", raising=False)
    return tmp_path / "cache" / "data"


@pytest.fixture
def originals(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the original files; parsed arrays go to a cache that lasts as long as the tests."""
    folder = os.environ.get("ABNET_DATA")
    if not folder:
        pytest.skip("needs the original files: set ABNET_DATA to their folder")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: str(shared_cache))
    return Path(folder)
