"""What an epoch does is traced once and kept on disk: later processes take it from there, and learn the same bits."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from abnet.bam import BAM
from abnet.training import loop
from abnet.training.learners import AggregationLearner, Objective, start
from abnet.training.loop import Limits, Span, compilation_cache, open_runs
from abnet.training.mixture_trainer import MixtureLearner, start_mixture
from abnet.training.trainer import compiled_epoch, lifted_rows, new_keys, run_stage, stack

NARROW = AggregationLearner((4, 3, 1))
MIXTURE = MixtureLearner((4, 3, 1), 2)

on_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="kept on a CPU only")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, as a new process finds it; nothing traced before is in force."""
    monkeypatch.setenv("ABNET_CACHE", str(tmp_path))
    forget()
    yield tmp_path / "compiled"
    forget()


def forget() -> None:
    """Leave every epoch to be traced and compiled again."""
    for learner in (NARROW, AggregationLearner((3, 3, 1), "ancestral")):
        compiled_epoch((learner,)).clear_cache()


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("epoch-*"))


def file_bytes(folder: Path) -> bytes:
    (file,) = kept(folder)
    return file.read_bytes()


def train(learner: Any, *, epochs: int = 2) -> np.ndarray:
    """All parameters after some epochs within the cache."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3)).astype(np.float32)
    rows = lifted_rows(X, np.where(X[:, 0] > 0, 1.0, -1.0), None)
    nets = (BAM.init(rng, (3, 3, 1)), BAM.init(rng, (3, 3, 1)))
    state = (
        start_mixture(nets, nets, Objective.LOG, 40, 0.05)
        if isinstance(learner, MixtureLearner)
        else start(nets[0], nets[0], Objective.LOG, 40, 0.05)
    )
    runs = (open_runs(stack([state]), [0.05], new_keys(rng, 1)),)
    with compilation_cache():
        done = run_stage(
            (learner,), runs, rows, Span(0, 40), Span(0, 40),
            rng=rng, batch_size=16, limits=Limits(max_epochs=epochs),
        )  # fmt: skip
    return np.asarray(done.runs[0].state.theta)


def untraceable(*given: Any, **options: Any) -> Any:
    raise AssertionError("traced anew")


@on_cpu
@pytest.mark.parametrize(
    "learner",
    [AggregationLearner((3, 3, 1), "ancestral", 4), MixtureLearner((3, 3, 1), 2)],
    ids=["ancestral", "mixture"],
)
def test_what_is_kept_learns_the_same_bits(learner: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = train(learner)
    assert len(kept(folder)) == 1
    forget()
    with monkeypatch.context() as patch:
        patch.setattr(loop, "one_epoch", untraceable)
        np.testing.assert_array_equal(train(learner), first)
    forget()
    monkeypatch.setenv("ABNET_CACHE", "")
    np.testing.assert_array_equal(train(learner), first)
    assert np.abs(first - train(learner, epochs=0)).max() > 1e-3  # something was learnt


@on_cpu
def test_a_damaged_file_is_written_anew_and_no_process_compiles_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = AggregationLearner((3, 3, 1))
    first = train(learner, epochs=4)
    (file,), names, whole = kept(folder), sorted(folder.iterdir()), file_bytes(folder)
    assert len([name for name in names if "one_epoch" in name.name]) <= 1
    for damaged in (b"", whole[:10], whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(damaged)
        assert loop._read_kept(file) is None
    forget()
    np.testing.assert_array_equal(train(learner, epochs=4), first)
    assert loop._read_kept(file) is not None
    assert sorted(folder.iterdir()) == names
    forget()
    monkeypatch.setenv("ABNET_CACHE", "")
    np.testing.assert_array_equal(train(learner, epochs=4), first)  # nor does it matter that it was kept


@on_cpu
def test_where_nothing_can_be_written_training_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Any) -> Any:
        raise OSError("no space left")

    monkeypatch.setattr(loop, "atomic_path", full)
    assert np.isfinite(train(AggregationLearner((3, 3, 1)))).all()
    assert not kept(folder)


@on_cpu
def test_what_cannot_be_written_down_is_traced_as_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*given: Any) -> Any:
        raise NotImplementedError("serialization of this custom call")

    monkeypatch.setattr(jax.export, "export", unable)
    assert np.isfinite(train(AggregationLearner((3, 3, 1)))).all()
    assert not kept(folder)


@dataclass(frozen=True)
class Strange(AggregationLearner):
    """Rules from elsewhere, which may change while their name stays."""


def compiled_in(learner: Any) -> dict[str, Any]:
    return {"learners": (learner,), "batch_size": 16, "mesh": None, "seen": False}


def place(learner: Any, arguments: str = "") -> Path | None:
    with compilation_cache():
        return loop._kept_file(compiled_in(learner), arguments)


@on_cpu
@pytest.mark.usefixtures("folder")
def test_rules_from_elsewhere_are_not_kept() -> None:
    assert place(NARROW) is not None
    assert place(Strange((4, 3, 1))) is None
    assert loop._kept_file(compiled_in(NARROW), "") is None  # outside of our own cache


@on_cpu
@pytest.mark.usefixtures("folder")
def test_without_sources_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_source", lambda: "")
    assert place(NARROW) is None


@on_cpu
@pytest.mark.usefixtures("folder")
def test_all_that_a_program_depends_on_tells_files_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {place(NARROW), place(MIXTURE), place(AggregationLearner((4, 3, 1), "uniform")), place(NARROW, "shapes")}
    assert place(NARROW) in places
    with jax.enable_x64(True):
        places.add(place(NARROW))
    with jax.default_matmul_precision("highest"):
        places.add(place(NARROW))
    monkeypatch.setattr(loop, "_source", lambda: "another release")
    places.add(place(NARROW))
    assert len(places) == 7


def test_the_digest_covers_the_whole_package() -> None:
    import abnet

    files = sorted(Path(abnet.__file__).parent.rglob("*.py"))
    digests = b"".join(sha256(file.read_bytes()).digest() for file in files)
    assert loop._source() == sha256(digests).hexdigest()
    assert len(files) > 100
