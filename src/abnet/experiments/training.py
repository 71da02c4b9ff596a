"""Training the settings of a group side by side, to the paper's protocol."""

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.experiments.protocol import Protocol, protocol_of
from abnet.experiments.result import Result
from abnet.experiments.setting import Group, Setting

__all__ = ["run_group"]


class Sample(NamedTuple):
    """One split, rows in the order validation, training, test; the learner's inputs are made from them."""

    X: NDArray[np.float32]
    y: NDArray[np.float32]
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
    sample = _split(group, data_dir)
    with compilation_cache():
        results = _train(group, sample, progress)
    share = (time.perf_counter() - begin) / len(results)
    by_setting = {setting: Result(setting=setting, seconds=share, **figures) for setting, figures in results}
    return [by_setting[setting] for setting in group.settings]


@lru_cache(maxsize=1)
def _dataset(name: str, data_dir: str | None) -> tuple[NDArray[np.float32], NDArray[np.float32], str]:
    """The paper's version of a data set (standardised on all rows), and the fingerprint of the original."""
    from abnet import data

    raw = data.load(name, data_dir=data_dir)
    prepared = data.load(name, data_dir=data_dir, standardise=True)
    return prepared.X, prepared.y.astype(np.float32), data.fingerprint(raw.X, raw.y)


def _split(group: Group, data_dir: str | None) -> Sample:
    X, y, fingerprint = _dataset(group.dataset, data_dir)
    protocol = protocol_of(group.settings[0])
    order = np.random.default_rng([group.repetition, 0]).permutation(len(y))
    n_test = round(protocol.test_fraction * len(y))
    n_validation = round(protocol.validation_fraction * (len(y) - n_test))
    order = np.concatenate([order[n_test:], order[:n_test]])
    return Sample(X[order], y[order], n_validation, len(y) - n_test - n_validation, fingerprint)


def _train(
    group: Group, sample: Sample, progress: Callable[[str], None] | None
) -> list[tuple[Setting, dict[str, Any]]]:
    from abnet.experiments.members import Member
    from abnet.training.loop import Limits, Span, pad_rows
    from abnet.training.stage import run_stage

    protocol = protocol_of(group.settings[0])
    first, count = sample.n_validation, sample.n_train
    watched = Span(0, first) if first else Span(0, count)
    members = [
        Member([s for s in group.settings if s.model == model], protocol, sample.X.shape[1], count)
        for model in group.models
    ]
    inputs = members[0].inputs(sample.X, slice(first, first + count))
    rows = pad_rows(inputs, sample.y)
    outcome = run_stage(
        tuple(m.learner for m in members),
        tuple(m.runs for m in members),
        rows,
        Span(first, count),
        watched,
        rng=np.random.default_rng([group.repetition, 2]),
        batch_size=protocol.batch_size,
        limits=_limits(protocol, Limits),
        report=None if progress is None else lambda epoch, best: progress(f"epoch {epoch}: {best.min():.4f}"),
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    curves = np.split(outcome.curve, np.cumsum([len(m.settings) for m in members])[:-1], axis=1)
    figures = []
    for member, run, curve in zip(members, outcome.runs, curves, strict=True):
        figures += member.measure(run, curve, rows, sample)
    return figures


def _limits(protocol: Protocol, limits: Any) -> Any:
    never = 2**30
    patience = protocol.rate_patience if protocol.rate_patience is not None else never
    return limits(protocol.tolerance, protocol.patience, patience, protocol.max_epochs)
