"""Training the settings of a group side by side, to the paper's protocol."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.experiments.protocol import Protocol, protocol_of
from abnet.experiments.result import Result
from abnet.experiments.setting import Group, Setting

__all__ = ["SHRINK_FROM", "learner_inputs", "run_group"]

SHRINK_FROM = 20_000
"""Training rows from which a smaller program is worth its compilation (about 6 s, once for an architecture)."""


class Sample(NamedTuple):
    """One split, rows in the order validation, training, test, and what the learners read of it."""

    X: NDArray[np.float32]
    y: NDArray[np.float32]
    rows: Any
    n_validation: int
    n_train: int
    fingerprint: str


def run_group(group: Group, *, data_dir: str | None, progress: Callable[[str], None] | None = None) -> list[Result]:
    """Train all settings of a group in one program and measure each at its kept epoch.

    Parameters
    ----------
    group : Group
    data_dir : str, optional
        Where the data files are.
    progress : callable, optional
        Called with a line of text after each epoch.

    Returns
    -------
    list of Result
        In the order of the settings.
    """
    from abnet.training.cache import compilation_cache

    begin = time.perf_counter()
    trained = Group(tuple(dict.fromkeys(map(_twin, group.settings))))
    _drop_programs_of_others(group.dataset, group.hidden_layer_sizes, group.models)
    sample = _sample(trained, data_dir)
    with compilation_cache():
        figures = dict(_train(trained, sample, progress))
    share = (time.perf_counter() - begin) / len(group.settings)
    return [Result(setting=setting, seconds=share, **figures[_twin(setting)]) for setting in group.settings]


@lru_cache(maxsize=1)
def _drop_programs_of_others(dataset: str, sizes: tuple[int, ...], models: tuple[str, ...]) -> None:
    """Forget what was compiled for other groups: a process that keeps the programs of thousands runs out of maps."""
    import jax

    jax.clear_caches()


def _twin(setting: Setting) -> Setting:
    """The setting that trains to the same network: with one hidden layer exact PBGNet is ABNet, output and KL alike."""
    if setting.hidden_layers > 1 or setting.architecture == "wide":
        return setting
    return replace(setting, model=setting.model.replace("PBGNet", "ABNet"))


@lru_cache(maxsize=1)
def _dataset(name: str, data_dir: str | None) -> tuple[NDArray[np.float32], NDArray[np.float32], str]:
    """The paper's version of a data set (standardised on all rows), and the fingerprint of the original."""
    from abnet import data

    raw = data.load(name, data_dir=data_dir)
    prepared = data.load(name, data_dir=data_dir, standardise=True)
    return prepared.X, prepared.y.astype(np.float32), data.fingerprint(raw.X, raw.y)


def _sample(group: Group, data_dir: str | None) -> Sample:
    protocol = protocol_of(group.settings[0])
    split = (
        group.dataset, data_dir, group.repetition,
        protocol.test_fraction, protocol.validation_fraction, protocol.standardise,
    )  # fmt: skip
    size = _dataset(group.dataset, data_dir)[0].nbytes
    return _cached_split(*split) if size <= _LARGEST_KEPT else _split(*split)


def _split(
    dataset: str, data_dir: str | None, repetition: int, test: float, validation: float, standardise: bool
) -> Sample:
    """The rows of one repetition, shuffled, split and prepared for the learners."""
    from abnet.training.loop import pad_rows

    X, y, fingerprint = _dataset(dataset, data_dir)
    order = np.random.default_rng([repetition, 0]).permutation(len(y))
    n_test = round(test * len(y))
    n_validation = round(validation * (len(y) - n_test))
    order = np.concatenate([order[n_test:], order[:n_test]])
    X, y, n_train = X[order], y[order], len(y) - n_test - n_validation
    inputs = learner_inputs(X, slice(n_validation, n_validation + n_train), standardise=standardise)
    return Sample(X, y, pad_rows(inputs, y), n_validation, n_train, fingerprint)


_LARGEST_KEPT = 64 * 2**20  # bytes; larger sets train so long that preparing them anew is no loss
_cached_split = lru_cache(maxsize=5)(_split)  # the repetitions of an architecture follow one another


def learner_inputs(X: NDArray[np.float32], training: slice, *, standardise: bool) -> NDArray[np.float32]:
    """Lifted rows, or rows standardised with the statistics of the training rows."""
    from abnet.aggregation.exact import lift

    if not standardise:
        return np.asarray(lift(X))
    mean, deviation = X[training].mean(0), X[training].std(0)
    return (X - mean) / np.where(deviation > 0, deviation, 1)


def _train(
    group: Group, sample: Sample, progress: Callable[[str], None] | None
) -> list[tuple[Setting, dict[str, Any]]]:
    from abnet.experiments.members import Member
    from abnet.training.loop import Limits, Span
    from abnet.training.stage import run_stage

    protocol = protocol_of(group.settings[0])
    first, count = sample.n_validation, sample.n_train
    watched = Span(0, first) if first else Span(0, count)
    members = [
        Member([s for s in group.settings if s.model == model], protocol, sample.X.shape[1], count)
        for model in group.models
    ]
    outcome = run_stage(
        tuple(m.learner for m in members),
        tuple(m.runs for m in members),
        sample.rows,
        Span(first, count),
        watched,
        rng=np.random.default_rng([group.repetition, 2]),
        batch_size=protocol.batch_size,
        limits=_limits(protocol, Limits),
        report=None if progress is None else lambda epoch, best: progress(f"epoch {epoch}: {best.min():.4f}"),
        shrink=count >= SHRINK_FROM,
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    curves = np.split(outcome.curve, np.cumsum([len(m.settings) for m in members])[:-1], axis=1)
    figures = []
    for member, run, curve in zip(members, outcome.runs, curves, strict=True):
        figures += member.measure(run, curve, sample)
    return figures


def _limits(protocol: Protocol, limits: Any) -> Any:
    never = 2**30
    patience = protocol.rate_patience if protocol.rate_patience is not None else never
    return limits(protocol.tolerance, protocol.patience, patience, protocol.max_epochs)
