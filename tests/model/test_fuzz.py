"""Random damage to a file: it is refused by name, or harmless; nothing in it is ever run."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import abnet
from abnet.model.file import save
from abnet.model.model import Model
from abnet.tables import preparation
from model import every_kind
from model.every_kind import parts, rewrite, rows

RUNNERS = ("builtins.eval", "builtins.exec", "pickle.load", "pickle.loads", "os.system", "subprocess.Popen")
"""What could run code from a file."""

Damage = Callable[[bytes], bytes]


def flip(position: int, mask: int) -> Damage:
    def damage(content: bytes) -> bytes:
        at = position % len(content)
        return content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :]

    return damage


def insert(position: int, more: bytes) -> Damage:
    return lambda content: content[: position % (len(content) + 1)] + more + content[position % (len(content) + 1) :]


def cut(position: int, length: int) -> Damage:
    return lambda content: content[: position % len(content)] + content[position % len(content) + length :]


def truncate(position: int) -> Damage:
    return lambda content: content[: position % len(content)]


places = st.one_of(st.integers(0, 64), st.integers(0, 2**16))
damages = st.lists(
    st.one_of(
        st.builds(flip, places, st.integers(1, 255)),
        st.builds(insert, places, st.binary(min_size=1, max_size=12)),
        st.builds(cut, places, st.integers(1, 40)),
        st.builds(truncate, places),
    ),
    min_size=1,
    max_size=4,
)


json_values = st.dictionaries(
    st.sampled_from(["kind", "labels", "feature_names", "preparation", "certificate", "decision", "card", "further"]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(["kind", "dtype", "values", "errors", "mean", "scale"]), inner, max_size=3),
        ),
        max_leaves=6,
    ),
    min_size=1,
    max_size=3,
)
"""Entries of a config, of any type and depth."""


@pytest.fixture(scope="module", params=["table", "layers"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, Model]:
    """A place for damaged files, the bytes of a valid one, and what it holds."""
    for module in walk_packages(preparation.__path__, "abnet.tables.preparation."):
        import_module(module.name)  # an import runs code, that of the package
    path = tmp_path_factory.mktemp("fuzz") / "model.abnet"
    save(every_kind.model(request.param), path)
    return path, path.read_bytes(), abnet.load(path)


def load(path: Path, content: bytes) -> Model | str:
    """The predictor in a file with that content, or why it is refused; what could run code must not be called."""
    path.write_bytes(content)
    with ExitStack() as stack:
        for name in RUNNERS:
            stack.enter_context(patch(name, side_effect=AssertionError(f"{name} was called")))
        try:
            return abnet.load(path)
        except (ValueError, OSError) as error:
            return str(error)


@settings(max_examples=150, deadline=None)
@given(damage=damages)
def test_a_damaged_file_is_refused_by_name_or_means_the_same(
    model: tuple[Path, bytes, Model], damage: list[Damage]
) -> None:
    path, content, intact = model
    for each in damage:
        content = each(content) or b"\0"
    found = load(path, content)
    if isinstance(found, str):
        assert str(path) in found
    else:
        assert found.decision_function(rows()[:20]).tobytes() == intact.decision_function(rows()[:20]).tobytes()
        assert found.certificate_ == intact.certificate_
        assert found.labels == intact.labels


@settings(max_examples=100, deadline=None)
@given(noise=st.binary(max_size=300))
def test_noise_is_refused_by_name(model: tuple[Path, bytes, Model], noise: bytes) -> None:
    found = load(model[0], noise)
    assert isinstance(found, str)
    assert str(model[0]) in found


@settings(max_examples=150, deadline=None)
@given(config=st.text(max_size=60), values=json_values)
def test_a_signed_config_of_any_content_is_refused_or_read(
    model: tuple[Path, bytes, Model], config: str, values: dict[str, Any]
) -> None:
    path, content, _ = model
    path.write_bytes(content)
    arrays, texts = parts(path)
    for text in (config, json.dumps(json.loads(texts["config"]) | values)):
        rewrite(path, arrays, {**texts, "config": text})
        found = load(path, path.read_bytes())
        assert not isinstance(found, str) or str(path) in found
