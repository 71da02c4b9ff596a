"""Training the settings of a group side by side, to the paper's protocol, and measuring each at its kept epoch."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from abnet.paper.protocol import Protocol, protocol_of
from abnet.paper.runs.model_runs import ModelRuns, model_runs
from abnet.paper.runs.prepared_split import PreparedSplit, prepared_split
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting
from abnet.paper.runs.setting_groups import SettingGroup
from abnet.training.compilation import compilation_cache
from abnet.training.loop import Limits, Run, Span
from abnet.training.objective import Objective
from abnet.training.runner import NEVER, StageOutcome, run_stage

__all__ = ["SHRINK_FROM", "run", "run_group"]

SHRINK_FROM = 20_000
"""Training rows from which a smaller program is worth its compilation (about 6 s, once for an architecture)."""


def run(
    dataset: str,
    model: str,
    sizes: Sequence[int],
    rate: float | None,
    repetition: int,
    *,
    variant: str | None = None,
    protocol: Protocol | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Result:
    """Train one network to the paper's protocol and return its figures.

    Parameters
    ----------
    dataset
        Name for `abnet.paper.load`.
    model
        One of "PBGNet", "ABNet", "PBGNet_l", "ABNet_l", "EBP", "BC" and "BNN".
    sizes
        Units of each hidden layer; networks wider than 8 are trained by sampling.
    rate
        Adam's learning rate; None for EBP.
    repetition
        Seed of the train/test split and of the initialisation; Table 1 uses 0 to 4.
    variant
        Of PBGNet and ABNet, what is added to the paper's protocol: a name in `abnet.paper.VARIANTS`.
    protocol
        Constants of your own, such as a changed copy of the paper's. The result then has no fingerprint, and stores,
        which hold runs of the paper's protocol only, refuse it.
    data_dir
        Folder of the original files, tried before the one that ``ABNET_DATA`` names.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from abnet.paper import Setting, protocol_of
    >>> run("circles", "ABNet", (2,), 0.1, 0).epochs <= 100
    True
    >>> papers = protocol_of(Setting("circles", "ABNet", (2,), 0.1, 0))
    >>> run("circles", "ABNet", (2,), 0.1, 0, protocol=replace(papers, max_epochs=2)).epochs
    2
    """
    setting = Setting(dataset, model, tuple(sizes), rate, repetition, variant=variant)
    if data_dir is not None:
        data_dir = os.fspath(data_dir)
    group = SettingGroup((setting,))
    if protocol is None:
        (result,) = run_group(group, data_dir=data_dir)
        return result
    (result,) = _results(group, protocol, data_dir)
    return replace(result, fingerprint=None)


def run_group(group: SettingGroup, *, data_dir: str | None) -> list[Result]:
    """Train all settings of a group in one program and measure each at its kept epoch.

    Parameters
    ----------
    group : SettingGroup
    data_dir : str, optional
        Where the data files are.

    Returns
    -------
    list of Result
        In the order of the settings.
    """
    return _results(group, protocol_of(group.settings[0]), data_dir)


def _results(group: SettingGroup, protocol: Protocol, data_dir: str | None) -> list[Result]:
    begin = time.perf_counter()
    _drop_programs_of_others(group.dataset, group.hidden_layer_sizes, group.models)
    trained = dict.fromkeys(_trained_as(setting) for setting in group.settings)
    figures = _train(SettingGroup(tuple(trained)), protocol, data_dir)
    seconds = (time.perf_counter() - begin) / len(group.settings)
    return [Result(setting=setting, seconds=seconds, **figures[_trained_as(setting)]) for setting in group.settings]


def _trained_as(setting: Setting) -> Setting:
    """The setting that trains to the same network: with one hidden layer exact PBGNet is ABNet, output and KL alike."""
    if setting.hidden_layers > 1 or setting.architecture == "wide":
        return setting
    return replace(setting, model=setting.model.replace("PBGNet", "ABNet"))


@lru_cache(maxsize=1)
def _drop_programs_of_others(dataset: str, sizes: tuple[int, ...], models: tuple[str, ...]) -> None:
    """Forget what was compiled for other groups.

    A process that keeps the programs of thousands of groups runs out of memory maps. Only a call for another group
    than the last clears: that is what the cache of one entry is for.
    """
    jax.clear_caches()


def _train(group: SettingGroup, protocol: Protocol, data_dir: str | None) -> dict[Setting, dict[str, Any]]:
    """The figures of every setting."""
    split = prepared_split(group.dataset, group.repetition, protocol, data_dir)
    models = [
        model_runs([s for s in group.settings if s.model == model], protocol, split.X.shape[1], split.n_train)
        for model in group.models
    ]
    with compilation_cache():
        outcome = _train_models(models, protocol, split, np.random.default_rng([group.repetition, 2]))
        first_of_each = np.cumsum([model.count for model in models])[:-1]
        curves = np.split(outcome.curve, first_of_each, axis=1)
        figures: dict[Setting, dict[str, Any]] = {}
        for model, runs, curve in zip(models, outcome.runs, curves, strict=True):
            figures.update(model.measure(runs, curve, split))
    return figures


def _train_models(
    models: Sequence[ModelRuns], protocol: Protocol, split: PreparedSplit, rng: np.random.Generator
) -> StageOutcome:
    """Train all models in one program, after the warm-up on the linear loss if the variant has one."""
    runs = tuple(model.runs() for model in models)
    warm_up = protocol.variant.warm_up
    if warm_up:
        linear = tuple(_on_linear_loss(run) for run in runs)
        limits = Limits(0.0, NEVER, NEVER, warm_up)
        warm = _stage(models, linear, protocol, split, rng, limits).runs
        # The last states, not the best: the linear loss is not what the runs are monitored by later.
        runs = tuple(model.runs(run.state.learned) for model, run in zip(models, warm, strict=True))
    rate_patience = NEVER
    if protocol.rate_patience is not None:
        rate_patience = protocol.rate_patience
    limits = Limits(protocol.tolerance, protocol.patience, rate_patience, protocol.max_epochs)
    return _stage(models, runs, protocol, split, rng, limits)


def _on_linear_loss(run: Run) -> Run:
    """The same runs with the linear loss as the objective."""
    state = run.state._replace(objective=np.full_like(run.state.objective, Objective.LINEAR))
    return run._replace(state=state, best=state)


def _stage(
    models: Sequence[ModelRuns],
    runs: tuple[Run, ...],
    protocol: Protocol,
    split: PreparedSplit,
    rng: np.random.Generator,
    limits: Limits,
) -> StageOutcome:
    train = Span(split.n_validation, split.n_train)
    monitored = train
    if split.n_validation:
        monitored = Span(0, split.n_validation)
    outcome = run_stage(
        tuple(model.learner for model in models),
        runs,
        split.rows,
        train,
        monitored,
        rng=rng,
        batch_size=protocol.batch_size,
        limits=limits,
        shrink=split.n_train >= SHRINK_FROM,
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome
