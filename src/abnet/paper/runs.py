"""Training the settings of a group side by side, to the paper's protocol, and measuring each at its kept epoch."""

import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from abnet.bounds import catoni_bound
from abnet.certificates.fingerprint import fingerprint as fingerprint_of
from abnet.networks import Aggregation, Exact, PBGNet, SampledPBGNet, Uniform, exact
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.paper.datasets import load
from abnet.paper.grid import SettingGroup
from abnet.paper.methods import BNN, EBP, BinaryConnect
from abnet.paper.protocol import Protocol, Result, Setting, protocol_of
from abnet.training.compilation import compilation_cache
from abnet.training.loop import Limits, Rows, Run, Span, open_runs, outputs, pad_rows
from abnet.training.objective import Objective
from abnet.training.posterior_learner import Parameters, PosteriorLearner, State, start
from abnet.training.runner import NEVER, StageOutcome, new_keys, run_stage, stack

__all__ = ["Member", "SHRINK_FROM", "run", "run_group"]

SHRINK_FROM = 20_000
"""Training rows from which a smaller program is worth its compilation (about 6 s, once for an architecture)."""

_LARGEST_KEPT = 64 * 2**20  # bytes; larger sets train so long that preparing them anew is no loss


def run(
    dataset: str,
    model: str,
    sizes: Sequence[int],
    rate: float | None,
    repetition: int,
    *,
    variant: str | None = None,
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
        Of PBGNet and ABNet, what is added to the paper's protocol: a name in `abnet.paper.protocol.VARIANTS`.
    data_dir
        Folder of the original files, tried before the one that ``ABNET_DATA`` names.

    Examples
    --------
    >>> run("circles", "ABNet", (2,), 0.1, 0).epochs <= 100
    True
    """
    setting = Setting(dataset, model, tuple(sizes), rate, repetition, variant=variant)
    (result,) = run_group(SettingGroup((setting,)), data_dir=None if data_dir is None else os.fspath(data_dir))
    return result


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
    begin = time.perf_counter()
    trained = SettingGroup(tuple(dict.fromkeys(map(_twin, group.settings))))
    _drop_programs_of_others(group.dataset, group.hidden_layer_sizes, group.models)
    split = _prepared_split(trained, data_dir)
    with compilation_cache():
        figures = dict(_train(trained, split))
    share = (time.perf_counter() - begin) / len(group.settings)
    return [Result(setting=setting, seconds=share, **figures[_twin(setting)]) for setting in group.settings]


def _twin(setting: Setting) -> Setting:
    """The setting that trains to the same network: with one hidden layer exact PBGNet is ABNet, output and KL alike."""
    if setting.hidden_layers > 1 or setting.architecture == "wide":
        return setting
    return replace(setting, model=setting.model.replace("PBGNet", "ABNet"))


@lru_cache(maxsize=1)
def _drop_programs_of_others(dataset: str, sizes: tuple[int, ...], models: tuple[str, ...]) -> None:
    """Forget what was compiled for other groups: a process that keeps the programs of thousands runs out of maps."""
    jax.clear_caches()


def _train(group: SettingGroup, split: "PreparedSplit") -> list[tuple[Setting, dict[str, Any]]]:
    protocol = protocol_of(group.settings[0])
    first, count = split.n_validation, split.n_train
    members = [
        Member([s for s in group.settings if s.model == model], protocol, split.X.shape[1], count)
        for model in group.models
    ]
    train, rng = Span(first, count), np.random.default_rng([group.repetition, 2])

    def stage(runs: tuple[Run, ...], limits: Limits) -> StageOutcome:
        outcome = run_stage(
            tuple(m.learner for m in members), runs, split.rows, train, Span(0, first) if first else train,
            rng=rng, batch_size=protocol.batch_size, limits=limits, shrink=count >= SHRINK_FROM,
        )  # fmt: skip
        if outcome.interrupted:
            raise KeyboardInterrupt
        return outcome

    runs, warm_up = tuple(m.runs() for m in members), protocol.variant.warm_up
    if warm_up:
        warm = stage(tuple(map(_on_the_linear_loss, runs)), Limits(0.0, NEVER, NEVER, warm_up)).runs
        runs = tuple(m.runs(of.state.learned) for m, of in zip(members, warm, strict=True))
    outcome = stage(runs, _limits(protocol))
    curves = np.split(outcome.curve, np.cumsum([m.count for m in members])[:-1], axis=1)
    figures = []
    for member, run, curve in zip(members, outcome.runs, curves, strict=True):
        figures += member.measure(run, curve, split)
    return figures


def _on_the_linear_loss(runs: Run) -> Run:
    """The same runs with another objective; the last of their states is wanted, not the best."""
    state = runs.state._replace(objective=np.full_like(runs.state.objective, Objective.LINEAR))
    return runs._replace(state=state, best=state)


def _limits(protocol: Protocol) -> Limits:
    halving = NEVER if protocol.rate_patience is None else protocol.rate_patience
    return Limits(protocol.tolerance, protocol.patience, halving, protocol.max_epochs)


# The data


class PreparedSplit(NamedTuple):
    """One split: rows in the order validation, training, test, and what the learners read of them."""

    X: NDArray[np.float32]
    y: NDArray[np.float32]
    rows: Rows
    n_validation: int
    n_train: int
    fingerprint: str

    @property
    def parts(self) -> dict[str, slice]:
        """The places of the validation, training and test rows."""
        a, b = self.n_validation, self.n_validation + self.n_train
        return {"validation": slice(0, a), "train": slice(a, b), "test": slice(b, len(self.y))}


def _prepared_split(group: SettingGroup, data_dir: str | None) -> PreparedSplit:
    protocol = protocol_of(group.settings[0])
    split = (
        group.dataset, data_dir, group.repetition,
        protocol.test_fraction, protocol.validation_fraction, protocol.standardise, _is_aggregated(protocol),
    )  # fmt: skip
    size = _dataset(group.dataset, data_dir)[0].nbytes
    return _kept_split(*split) if size <= _LARGEST_KEPT else _new_split(*split)


@lru_cache(maxsize=1)
def _dataset(name: str, data_dir: str | None) -> tuple[NDArray[np.float32], NDArray[np.float32], str]:
    """The paper's version of a data set (standardised on all rows), and the fingerprint of the original."""
    raw = load(name, data_dir=data_dir)
    prepared = load(name, data_dir=data_dir, standardise=True)
    return prepared.X, prepared.y.astype(np.float32), fingerprint_of(raw.X, raw.y)


def _new_split(
    dataset: str,
    data_dir: str | None,
    repetition: int,
    test: float,
    validation: float,
    standardise: bool,
    lifted: bool,
) -> PreparedSplit:
    """The rows of one repetition, shuffled, split and prepared for the learners; aggregations read lifted ones."""
    X, y, fingerprint = _dataset(dataset, data_dir)
    order = np.random.default_rng([repetition, 0]).permutation(len(y))
    n_test = round(test * len(y))
    n_validation = round(validation * (len(y) - n_test))
    order = np.concatenate([order[n_test:], order[:n_test]])
    X, y, n_train = X[order], y[order], len(y) - n_test - n_validation
    if standardise:
        X = _standardised(X, slice(n_validation, n_validation + n_train))
    inputs = np.asarray(exact.lift(X)) if lifted else X
    return PreparedSplit(X, y, pad_rows(inputs, y), n_validation, n_train, fingerprint)


_kept_split = lru_cache(maxsize=5)(_new_split)  # the repetitions of an architecture follow one another


def _standardised(X: NDArray[np.float32], training: slice) -> NDArray[np.float32]:
    """Rows standardised with the statistics of the training rows."""
    mean, deviation = X[training].mean(0), X[training].std(0)
    return (X - mean) / np.where(deviation > 0, deviation, 1)


# The models


class Member:
    """The settings of one model, stacked for the training loop.

    Parameters
    ----------
    settings : list of Setting
        Of one model, data set, size and repetition.
    protocol : Protocol
    n_features, n_train : int
        Columns, and rows trained on.
    """

    def __init__(self, settings: list[Setting], protocol: Protocol, n_features: int, n_train: int) -> None:
        self.settings, self.protocol, self.n_train = settings, protocol, n_train
        self.model, self.repetition = settings[0].model, settings[0].repetition
        self.sizes = (n_features, *settings[0].hidden_layer_sizes, 1)
        self.aggregated = _is_aggregated(protocol)
        self.learner: Any = self._learner()
        self.restarts = protocol.variant.restarts
        if self.aggregated and protocol.delta is None:
            raise ValueError(f"{self.model} has a bound: its protocol must say with which probability it may fail")

    @property
    def count(self) -> int:
        """Runs in the stack: the restarts of the first setting, then those of the next."""
        return len(self.settings) * self.restarts

    def runs(self, learned: Parameters | None = None) -> Run:
        """Runs that have seen no data, or that go on from what another stage has learned, with a new Adam."""
        rates = [setting.learning_rate or 0.0 for setting in self.settings for _ in range(self.restarts)]
        # One seed for all settings: learning rates and models start alike and see the same minibatches.
        keys = [new_keys(np.random.default_rng([self.repetition, 3]), 1)[0]] * self.count
        states = stack([self._first_state(restart) for _ in self.settings for restart in range(self.restarts)])
        if learned is not None:
            states = states._replace(learned=learned)
        return open_runs(states, rates, jnp.stack(keys))

    def _learner(self) -> Any:
        options: dict[str, Any] = dict(self.protocol.options)
        if self.protocol.objective == "ebp":
            return EBP(**options)
        if self.protocol.objective == "square hinge":
            return {"BC": BinaryConnect, "BNN": BNN}[self.model](**options)
        return PosteriorLearner(self.sizes, self._aggregation(), deviations=self.protocol.variant.deviations)

    def _aggregation(self) -> Aggregation:
        if not self.model.startswith(("ABNet", "PBGNet")):
            raise ValueError(f"{self.model} is no aggregation: its objective is its own, not {self.protocol.objective}")
        pbgnet, n = self.model.startswith("PBGNet"), self.protocol.n_samples
        if n is None:
            return PBGNet() if pbgnet else Exact()
        return SampledPBGNet(n) if pbgnet else Uniform(n)

    def _first_state(self, restart: int) -> Any:
        rng = np.random.default_rng([self.repetition, 1] + [restart] * (restart > 0))
        if not self.aggregated:
            return jax.tree.map(np.asarray, self.learner.start(self.learner.init(new_keys(rng, 1)[0], self.sizes)))
        network = BAM.init(rng, self.sizes)
        objective = Objective.BOUND if self.protocol.objective == "bound" else Objective.LINEAR
        prior = Posterior.from_networks([network], [network], self._aggregation())
        deviations = self.protocol.variant.deviations
        return start(prior, objective, self.n_train, self.delta, deviations=deviations)

    @property
    def delta(self) -> float:
        """δ of each bound: the choice among the restarts is paid for."""
        return (self.protocol.delta or 0.0) / self.restarts

    def measure(self, run: Run, curve: NDArray[Any], split: PreparedSplit) -> list[tuple[Setting, dict[str, Any]]]:
        """Figures of every setting at its kept epoch; of several restarts, of the one with the lowest bound."""
        scores = self._scores(run, split.rows, len(split.y))
        figures = [self._figures(run, i, curve[:, i], scores[:, i], split) for i in range(self.count)]
        by_setting = [figures[i : i + self.restarts] for i in range(0, self.count, self.restarts)]
        best = [of[0] if len(of) == 1 else min(of, key=_bound_or_infinite) for of in by_setting]
        return list(zip(self.settings, best, strict=True))

    def _scores(self, run: Run, rows: Rows, n: int) -> NDArray[np.float64]:
        """Outputs of the kept networks, (evaluations, settings, rows); more than one evaluation if they are sampled."""
        repeats = self.protocol.n_evaluations or 1
        span = Span(np.int32(0), np.int32(n))
        keys = new_keys(np.random.default_rng([self.repetition, 4]), repeats * self.count)
        keys = keys.reshape(repeats, self.count)
        values = [np.asarray(outputs(self.learner, run.best, k, rows, span))[:, :n] for k in keys]
        return np.stack(values).astype(np.float64)

    def _figures(
        self, run: Run, i: int, curve: NDArray[Any], F: NDArray[np.float64], split: PreparedSplit
    ) -> dict[str, Any]:
        parts = split.parts
        state = jax.tree.map(lambda leaf: np.asarray(leaf)[i], run.best)
        wrong, loss = (F >= 0) != (split.y > 0), (1 - split.y * F) / 2
        figures: dict[str, Any] = {
            "train_error": float(wrong[:, parts["train"]].mean()),
            "test_error": float(wrong[:, parts["test"]].mean()),
            "map_test_error": self._map_error(state, wrong, split),
            "epochs": int(run.epoch[i]) + self.protocol.variant.warm_up,
            "best_epoch": int(run.best_epoch[i]) + self.protocol.variant.warm_up,
            "curve": {"monitored": [round(float(value), 6) for value in curve[: int(run.epoch[i]) + 1]]},
            "fingerprint": split.fingerprint,
        }
        if split.n_validation:
            figures["validation_error"] = float(wrong[:, parts["validation"]].mean())
        if self.aggregated:
            figures |= self._bound_figures(state, loss, parts)
        return figures

    def _map_error(self, state: Any, wrong: NDArray[Any], split: PreparedSplit) -> float:
        test = split.parts["test"]
        if self.model in ("BC", "BNN"):
            return float(wrong[:, test].mean())
        network = self.learner.posterior(state).map_network if self.aggregated else self.learner.network(state)
        return float((network.predict(split.X[test]) != split.y[test]).mean())

    def _bound_figures(self, state: State, loss: NDArray[np.float64], parts: dict[str, slice]) -> dict[str, Any]:
        """Bound in the 2√n form: at the learned C with the bound objective, at the best C otherwise."""
        divergence = float(self.learner.posterior(state).astype(np.float64).kl())
        risk = float(loss[:, parts["train"]].mean())
        learned = float(np.exp(float(state.learned.log_c))) if self.protocol.objective == "bound" else None
        figures = {
            "bound": catoni_bound(risk, divergence, self.n_train, self.delta, C=learned),
            "kl": divergence,
            "C": learned,
            "train_loss": risk,
            "test_loss": float(loss[:, parts["test"]].mean()),
        }
        if parts["validation"].stop:
            figures["validation_loss"] = float(loss[:, parts["validation"]].mean())
        return figures


def _bound_or_infinite(figures: dict[str, Any]) -> float:
    """The bound; infinite for a run that diverged, so that it is never kept."""
    return math.inf if math.isnan(figures["bound"]) else float(figures["bound"])


def _is_aggregated(protocol: Protocol) -> bool:
    return protocol.objective in ("bound", "loss")
