"""Settings for every test: JAX is strict, and one variable shifts all seeds and draws new cases for properties."""

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# Before anything of these is imported: every call of theirs then checks the shapes in its annotations.
install_import_hook("abnet.networks", "beartype.beartype")

from abnet.networks.bam import BAM  # noqa: E402

jax.config.update("jax_numpy_rank_promotion", "raise")
settings.register_profile("abnet", derandomize="ABNET_TEST_SEED" not in os.environ, deadline=None)
settings.load_profile("abnet")


def pytest_collection_finish() -> None:
    """Set what the tests and their libraries consist of aside: else each look for garbage goes through all of it."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The same after each file, with the programs that its tests have compiled."""
    if nextitem is None or nextitem.path != item.path:
        pytest_collection_finish()


@pytest.fixture
def seed() -> int:
    """0 by default; `ABNET_TEST_SEED=7 make test` runs all tests with other random numbers."""
    return int(os.environ.get("ABNET_TEST_SEED", "0"))


@pytest.fixture(autouse=True)
def drawn_seeds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit without a seed draws one: here from `seed`, so that a test gives the same every time."""
    draws = np.random.default_rng([seed, 1])
    monkeypatch.setattr("abnet.certificates.random_seed.secrets.randbits", lambda bits: int(draws.integers(2**bits)))


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def random_network(rng: np.random.Generator, sizes: tuple[int, ...], scale: float = 1.5) -> BAM:
    """Weights and biases all of the same size, in float64: far from the initialisation on purpose."""
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    weights = tuple(scale * rng.normal(size=shape) for shape in shapes)
    return BAM(weights, tuple(scale * rng.normal(size=d) for d, _ in shapes))


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision in JAX."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def split_as(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Split every table of as many rows as this one: bound rows can then be changed, and still be bound rows."""

    def pin(X: Any, y: Any = None) -> None:
        from abnet.certificates import row_hashing
        from abnet.estimators import fit
        from abnet.tables import loaded_rows

        hashes = row_hashing.row_hashes(X, y)

        def pinned(found: Any) -> Any:
            if len(found) == len(hashes):
                return hashes
            return found

        monkeypatch.setattr(fit, "row_hashes", lambda X, y=None: pinned(row_hashing.row_hashes(X, y)))
        monkeypatch.setattr(
            loaded_rows, "hashes_with_labels", lambda sums, y: pinned(row_hashing.hashes_with_labels(sums, y))
        )

    return pin
