"""The settings of one model, stacked for the training loop, and the figures of their trained networks."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from abnet.bounds import catoni_bound
from abnet.networks import Aggregation, Exact, PBGNet, SampledPBGNet, Uniform
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.paper.methods import BNN, EBP, BinaryConnect
from abnet.paper.protocol import Protocol
from abnet.paper.runs.prepared_split import PreparedSplit
from abnet.paper.runs.run_setting import Setting
from abnet.training.loop import Rows, Run, Span, open_runs, outputs
from abnet.training.objective import Objective
from abnet.training.posterior_learner import Parameters, PosteriorLearner, start
from abnet.training.runner import new_keys, stack

__all__ = ["ModelRuns", "model_runs"]


def model_runs(settings: list[Setting], protocol: Protocol, n_features: int, n_train: int) -> "ModelRuns":
    """Return the stack of runs for settings that share model, data set, sizes and repetition.

    Parameters
    ----------
    settings : list of Setting
    protocol : Protocol
        Its objective decides between the aggregations (PBGNet, ABNet) and the comparison methods.
    n_features, n_train : int
        Columns, and rows trained on.
    """
    model = settings[0].model
    if not protocol.aggregated:
        return ComparisonRuns(settings, protocol, n_features, n_train)
    if not model.startswith(("ABNet", "PBGNet")):
        raise ValueError(f"{model} is no aggregation: its objective is its own, not {protocol.objective}")
    if protocol.delta is None:
        raise ValueError(f"{model} has a bound: its protocol must say with which probability it may fail")
    return AggregationRuns(settings, protocol, n_features, n_train)


@dataclass(frozen=True)
class ModelRuns(ABC):
    """The settings of one model, stacked for the training loop; `model_runs` makes one."""

    settings: list[Setting]
    protocol: Protocol
    n_features: int
    n_train: int

    @property
    @abstractmethod
    def learner(self) -> Any:
        """The `abnet.training.loop.Learner` of all runs."""

    @abstractmethod
    def _first_state(self, restart: int) -> Any:
        """The state of a run that has seen no data."""

    @abstractmethod
    def _own_figures(self, state: Any, F: NDArray[np.float64], split: PreparedSplit) -> dict[str, float | None]:
        """The MAP network's test error, and the figures that only this kind of model has."""

    @property
    def model(self) -> str:
        """The model of all settings."""
        return self.settings[0].model

    @property
    def repetition(self) -> int:
        """The repetition of all settings."""
        return self.settings[0].repetition

    @property
    def sizes(self) -> tuple[int, ...]:
        """``(d_0, …, d_L)``, with one output neuron."""
        return (self.n_features, *self.settings[0].hidden_layer_sizes, 1)

    @property
    def restarts(self) -> int:
        """Initialisations trained for each setting."""
        return self.protocol.variant.restarts

    @property
    def count(self) -> int:
        """Runs in the stack: the restarts of the first setting, then those of the next."""
        return len(self.settings) * self.restarts

    def runs(self, learned: Parameters | None = None) -> Run:
        """Open runs that have seen no data, or that continue from what another stage has learned, with a new Adam."""
        states = []
        rates = []
        for setting in self.settings:
            for restart in range(self.restarts):
                states.append(self._first_state(restart))
                rates.append(setting.learning_rate or 0.0)
        stacked = stack(states)
        if learned is not None:
            stacked = stacked._replace(learned=learned)
        # One seed for all settings: learning rates and models start alike and see the same minibatches.
        (key,) = new_keys(np.random.default_rng([self.repetition, 3]), 1)
        return open_runs(stacked, rates, jnp.stack([key] * self.count))

    def measure(self, run: Run, curve: NDArray[Any], split: PreparedSplit) -> list[tuple[Setting, dict[str, Any]]]:
        """Return the figures of every setting at its kept epoch; of several restarts, of the one with the lowest bound.

        Parameters
        ----------
        run : Run
            The trained runs.
        curve : array (epochs, runs)
            Monitored values.
        split : PreparedSplit
        """
        outputs_of_runs = self._outputs(run, split.rows, len(split.y))
        figures = [self._figures(run, i, curve[:, i], outputs_of_runs[:, i], split) for i in range(self.count)]
        measured = []
        for place, setting in enumerate(self.settings):
            restarts = figures[place * self.restarts : (place + 1) * self.restarts]
            best = restarts[0]
            if len(restarts) > 1:
                best = min(restarts, key=_bound_or_infinite)
            measured.append((setting, best))
        return measured

    def _outputs(self, run: Run, rows: Rows, n: int) -> NDArray[np.float64]:
        """Outputs of the kept networks, (evaluations, runs, rows); more than one evaluation if they are sampled."""
        n_evaluations = self.protocol.n_evaluations or 1
        keys = new_keys(np.random.default_rng([self.repetition, 4]), n_evaluations * self.count)
        span = Span(np.int32(0), np.int32(n))
        evaluations = []
        for keys_of_runs in keys.reshape(n_evaluations, self.count):
            values = np.asarray(outputs(self.learner, run.best, keys_of_runs, rows, span))
            evaluations.append(values[:, :n])
        return np.stack(evaluations).astype(np.float64)

    def _figures(
        self, run: Run, i: int, curve: NDArray[Any], F: NDArray[np.float64], split: PreparedSplit
    ) -> dict[str, Any]:
        """Figures of run i, whose outputs are F, (evaluations, rows)."""
        state = jax.tree.map(lambda leaf: np.asarray(leaf)[i], run.best)
        warm_up = self.protocol.variant.warm_up
        n_epochs = int(run.epoch[i])
        wrong = (F >= 0) != (split.y > 0)
        figures: dict[str, Any] = {
            "train_error": float(wrong[:, split.train].mean()),
            "test_error": float(wrong[:, split.test].mean()),
            "epochs": n_epochs + warm_up,
            "best_epoch": int(run.best_epoch[i]) + warm_up,
            "curve": {"monitored": [round(float(value), 6) for value in curve[: n_epochs + 1]]},
            "fingerprint": split.fingerprint,
        }
        if split.n_validation:
            figures["validation_error"] = float(wrong[:, split.validation].mean())
        return figures | self._own_figures(state, F, split)


def _bound_or_infinite(figures: dict[str, Any]) -> float:
    """The bound; infinite for a run that diverged, so that it is never kept."""
    bound = float(figures["bound"])
    if math.isnan(bound):
        return math.inf
    return bound


class AggregationRuns(ModelRuns):
    """PBGNet or ABNet, with the bound as the objective or without."""

    @cached_property
    def learner(self) -> PosteriorLearner:
        """The learner of a posterior of one network."""
        return PosteriorLearner(self.sizes, self._aggregation(), deviations=self.protocol.variant.deviations)

    @property
    def delta(self) -> float:
        """δ of each bound: the choices among the restarts and among the candidates are paid for."""
        return (self.protocol.delta or 0.0) / (self.restarts * self.protocol.variant.candidates)

    def _aggregation(self) -> Aggregation:
        is_pbgnet = self.model.startswith("PBGNet")
        n_samples = self.protocol.n_samples
        if n_samples is None:
            if is_pbgnet:
                return PBGNet()
            return Exact()
        if is_pbgnet:
            return SampledPBGNet(n_samples)
        return Uniform(n_samples)

    def _first_state(self, restart: int) -> Any:
        seed = [self.repetition, 1]
        if restart > 0:
            seed.append(restart)
        network = BAM.init(np.random.default_rng(seed), self.sizes, self.protocol.variant.initialisation)
        prior = Posterior.from_networks([network], [network], self._aggregation())
        objective = Objective.LINEAR
        if self.protocol.objective == "bound":
            objective = Objective.BOUND
        return start(prior, objective, self.n_train, self.delta, deviations=self.protocol.variant.deviations)

    def _own_figures(self, state: Any, F: NDArray[np.float64], split: PreparedSplit) -> dict[str, float | None]:
        """Linear losses and the bound in the 2√n form, at the learned C, or at the best C for the linear loss."""
        posterior = self.learner.posterior(state)
        divergence = float(posterior.astype(np.float64).kl())
        loss = (1 - split.y * F) / 2
        train_loss = float(loss[:, split.train].mean())
        learned_C = None
        if self.protocol.objective == "bound":
            learned_C = float(np.exp(float(state.learned.log_c)))
        figures = {
            "map_test_error": _map_test_error(posterior.map_network, split),
            "bound": catoni_bound(train_loss, divergence, self.n_train, self.delta, C=learned_C),
            "kl": divergence,
            "C": learned_C,
            "train_loss": train_loss,
            "test_loss": float(loss[:, split.test].mean()),
        }
        if split.n_validation:
            figures["validation_loss"] = float(loss[:, split.validation].mean())
        return figures


class ComparisonRuns(ModelRuns):
    """EBP, BinaryConnect or BNN: no bound."""

    @cached_property
    def learner(self) -> Any:
        """The learner of the method."""
        options: dict[str, Any] = dict(self.protocol.options)
        match self.model:
            case "EBP":
                return EBP(**options)
            case "BC":
                return BinaryConnect(**options)
            case _:
                return BNN(**options)

    def _first_state(self, restart: int) -> Any:
        (key,) = new_keys(np.random.default_rng([self.repetition, 1]), 1)
        return jax.tree.map(np.asarray, self.learner.start(self.learner.init(key, self.sizes)))

    def _own_figures(self, state: Any, F: NDArray[np.float64], split: PreparedSplit) -> dict[str, float | None]:
        if self.model == "EBP":
            return {"map_test_error": _map_test_error(self.learner.network(state), split)}
        # The vote of BC and BNN is that of one network, with binary weights.
        wrong = (F >= 0) != (split.y > 0)
        return {"map_test_error": float(wrong[:, split.test].mean())}


def _map_test_error(network: BAM, split: PreparedSplit) -> float:
    return float((network.predict(split.X[split.test]) != split.y[split.test]).mean())
