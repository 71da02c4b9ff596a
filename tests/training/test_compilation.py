"""Each network gets the epoch that suits its steps, and trains to the same weights."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from abnet.networks import Ancestral, Exact, PBGNet, Uniform, exact
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.paper.methods.ebp import EBP
from abnet.training import compilation
from abnet.training.compilation import compilation_cache, compiled_epoch, epoch
from abnet.training.loop import Limits, Span, open_runs
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, State, start
from abnet.training.runner import new_keys, stack
from abnet.training.stages import lifted_rows

SMALL = PosteriorLearner((5, 3, 3, 1))
NARROW = PosteriorLearner((5, 8, 8, 1))
WIDE = PosteriorLearner((5, 40, 1), Uniform(10))

on_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="the choices are those of XLA's CPU compiler")


def first_state(net: BAM, n: int) -> State:
    return start(Posterior.from_networks([net], [net], Exact()), Objective.BOUND, n, 0.05)


def train(program: Any, learner: PosteriorLearner, epochs: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(96, 5)).astype(np.float32)
    rows = lifted_rows(X, np.where(X[:, 0] > 0, 1.0, -1.0), None)
    net = BAM.init(rng, learner.sizes)
    runs: Any = (open_runs(stack([first_state(net, 96)]), [0.01], new_keys(rng, 1)),)
    for _ in range(epochs):
        order = np.zeros(len(rows.targets) + 16, np.int32)
        order[:96] = rng.permutation(96)
        span = Span(np.int32(0), np.int32(96))
        limits = Limits(*map(np.asarray, Limits()))
        runs = program((learner,), runs, rows, order, np.int32(96), span, limits, batch_size=16)
    return np.asarray(runs[0].state.learned.weights)


@on_cpu
def test_narrow_exact_networks_have_a_program_of_their_own() -> None:
    small = compiled_epoch((SMALL,))
    narrow = compiled_epoch((NARROW,))
    wide = compiled_epoch((WIDE,))
    if epoch in (small, narrow, wide):
        pytest.skip("this XLA has no such choices")
    assert len({small, narrow, wide}) == 3
    assert compiled_epoch((PosteriorLearner((5, 6, 6, 1), PBGNet()),)) is small
    assert compiled_epoch((SMALL, NARROW)) is narrow
    assert compiled_epoch((PosteriorLearner((5, 10, 1), PBGNet()), NARROW)) is narrow
    assert compiled_epoch((NARROW, WIDE)) is wide
    assert compiled_epoch((PosteriorLearner((5, 11, 1)),)) is wide
    assert compiled_epoch((PosteriorLearner((5, 3, 1), Uniform()),)) is wide
    assert compiled_epoch((PosteriorLearner((5, 3, 1), n_members=2),)) is wide
    assert compiled_epoch((PosteriorLearner((5, 40, 3), Ancestral(), n_members=2),)) is wide
    assert compiled_epoch((PosteriorLearner((5, 40, 3), Ancestral(), n_classes=4),)) is wide
    assert compiled_epoch((PosteriorLearner((5, 40, 3), Ancestral(), n_members=2, n_classes=4),)) is narrow
    assert compiled_epoch((PosteriorLearner((500, 150, 3), Ancestral(), n_members=2, n_classes=4),)) is wide


@pytest.mark.parametrize("sizes", [(5, 3, 1), (5, 40, 1), (5, 40, 40, 1)])
def test_a_network_of_paths_keeps_the_rounding_of_the_published_certificates(sizes: tuple[int, ...]) -> None:
    """Without XLA's library the same recipe and seed end at another network: votes of mnist17 at .0049, not .0047."""
    paths = PosteriorLearner(sizes, Ancestral())
    assert compiled_epoch((paths,)) is epoch
    assert compiled_epoch((paths, NARROW)) is compiled_epoch((WIDE,))


def test_other_methods_are_compiled_as_xla_likes() -> None:
    assert compiled_epoch((EBP(),)) is epoch


@pytest.fixture(scope="module")
def texts() -> tuple[str, str]:
    """A narrow program as XLA likes it, and as we have it compiled."""
    rows = lifted_rows(np.zeros((60_000, 100), np.float32), np.ones(60_000), None)
    learner = PosteriorLearner((100, 8, 8, 1))
    rng = np.random.default_rng(0)
    net = BAM.init(rng, learner.sizes)
    runs = (open_runs(stack([first_state(net, 9)]), [0.01], new_keys(rng, 1)),)
    span = Span(np.int32(0), np.int32(9))
    limits = Limits(*map(np.asarray, Limits()))

    def text(program: Any) -> str:
        order = np.zeros(len(rows.targets) + 64, np.int32)
        lowered = program.lower((learner,), runs, rows, order, np.int32(9), span, limits, batch_size=64)
        return str(lowered.compile().as_text())

    return text(epoch), text(compiled_epoch((learner,)))


@on_cpu
@pytest.mark.parametrize("mark", ["ynn", 'outer_dimension_partitions":["'])
def test_a_narrow_program_has_no_library_kernel_and_no_split_loop(mark: str, texts: tuple[str, str]) -> None:
    plain, ours = texts
    if mark not in plain:
        pytest.skip("this XLA does neither by itself, or has one core")
    assert mark not in ours


@pytest.mark.parametrize("learner", [SMALL, NARROW, PosteriorLearner((5, 11, 1))])  # compiled each in its way
def test_the_networks_are_the_same_up_to_rounding(learner: PosteriorLearner) -> None:
    ours = train(compiled_epoch((learner,)), learner, 5)
    plain = train(epoch, learner, 5)
    np.testing.assert_allclose(ours, plain, atol=1e-5)
    assert np.abs(ours - train(epoch, learner, 1)).max() > 1e-3  # something was learnt


@pytest.fixture
def fresh_choice() -> Iterator[None]:
    compilation._epoch.cache_clear()
    yield
    compilation._epoch.cache_clear()


@pytest.mark.usefixtures("fresh_choice")
def test_an_xla_without_such_choices_compiles_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "NO_LIBRARY", {"xla_cpu_no_such_choice": ""})
    assert compiled_epoch((WIDE,)) is epoch


@on_cpu
def test_choices_that_xla_knows_are_kept_beside_one_that_it_does_not() -> None:
    known = {"xla_disable_hlo_passes": "cpu-parallel-task-assigner"}
    assert compilation._available({"xla_cpu_no_such_choice": "", **known}) == known


@on_cpu
def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_disable_hlo_passes=fusion")
    assert set(compilation._available(compilation.IN_SEQUENCE)) == {"xla_cpu_scheduler_type"}


def test_a_changed_output_is_not_served_from_the_cache_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that finds programs of another version of the code on disk trains with its own."""
    monkeypatch.setenv("ABNET_CACHE", str(tmp_path))
    learner = PosteriorLearner((5, 2, 1))
    program = compiled_epoch((learner,))

    def in_a_new_process() -> np.ndarray:
        program.clear_cache()
        with compilation_cache():
            return train(program, learner, 3)

    first = in_a_new_process()
    assert list((tmp_path / "compiled").iterdir())
    np.testing.assert_array_equal(in_a_new_process(), first)
    monkeypatch.setattr(Exact, "surrogate", lambda self, layers, lifted, key, table: -exact.output(layers, lifted))
    changed = in_a_new_process()
    program.clear_cache()
    assert np.abs(changed - first).max() > 1e-3
