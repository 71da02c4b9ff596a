"""One model's settings within a group: their learner, their first states, and the figures of what was trained."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import exact, meanfield
from abnet.bam import BAM
from abnet.baselines import BNN, EBP, BinaryConnect
from abnet.experiments.protocol import Protocol
from abnet.experiments.setting import Setting
from abnet.training.fit import new_keys, stack
from abnet.training.loop import Rows, Run, Span, open_runs, outputs
from abnet.training.objective import AggregationLearner, Objective, State, start

__all__ = ["Member"]

_EXACT = {"ABNet": "exact", "ABNet_l": "exact", "PBGNet": "meanfield", "PBGNet_l": "meanfield"}
_SAMPLED = {"exact": "uniform", "meanfield": "stochastic_meanfield"}


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
        self.aggregated = self.model in _EXACT
        self.learner: Any = self._learner()
        rates = [setting.learning_rate or 0.0 for setting in settings]
        # One seed for all settings: learning rates and models start alike and see the same minibatches.
        keys = [new_keys(np.random.default_rng([self.repetition, 3]), 1)[0] for _ in settings]
        self.runs = open_runs(stack([self._first_state() for _ in settings]), rates, _stack_keys(keys))

    def _learner(self) -> Any:
        options: dict[str, Any] = dict(self.protocol.options)
        if self.model == "EBP":
            return EBP(**options)
        if self.model in ("BC", "BNN"):
            return {"BC": BinaryConnect, "BNN": BNN}[self.model](**options)
        method = _EXACT[self.model]
        if self.protocol.n_samples is None:
            return AggregationLearner(self.sizes, method)
        return AggregationLearner(self.sizes, _SAMPLED[method], self.protocol.n_samples)

    def _first_state(self) -> Any:
        rng = np.random.default_rng([self.repetition, 1])
        if not self.aggregated:
            import jax

            return jax.tree.map(np.asarray, self.learner.start(self.learner.init(new_keys(rng, 1)[0], self.sizes)))
        network = BAM.init(rng, self.sizes)
        objective = Objective.BOUND if self.protocol.objective == "bound" else Objective.LINEAR
        return start(network, network, objective, self.n_train, self.protocol.delta or 0.05)

    def measure(self, run: Run, curve: NDArray[Any], sample: Any) -> list[tuple[Setting, dict[str, Any]]]:
        """Figures of every setting at its kept epoch."""
        scores = self._scores(run, sample.rows, len(sample.y))
        return [
            (setting, self._figures(run, i, curve[:, i], scores[:, i], sample))
            for i, setting in enumerate(self.settings)
        ]

    def _scores(self, run: Run, rows: Rows, n: int) -> NDArray[np.float64]:
        """Outputs of the kept networks, (evaluations, settings, rows); more than one evaluation if they are sampled."""
        repeats = self.protocol.n_evaluations or 1
        span = Span(np.int32(0), np.int32(n))
        keys = new_keys(np.random.default_rng([self.repetition, 4]), repeats * len(self.settings))
        keys = keys.reshape(repeats, len(self.settings))
        values = [np.asarray(outputs(self.learner, run.best, k, rows, span))[:, :n] for k in keys]
        return np.stack(values).astype(np.float64)

    def _figures(self, run: Run, i: int, curve: NDArray[Any], F: NDArray[np.float64], sample: Any) -> dict[str, Any]:
        import jax

        parts = _parts(sample)
        state = jax.tree.map(lambda leaf: np.asarray(leaf)[i], run.best)
        wrong, loss = (F >= 0) != (sample.y > 0), (1 - sample.y * F) / 2
        figures: dict[str, Any] = {
            "train_error": float(wrong[:, parts["train"]].mean()),
            "test_error": float(wrong[:, parts["test"]].mean()),
            "map_test_error": self._map_error(state, wrong, parts["test"], sample),
            "epochs": int(run.epoch[i]),
            "best_epoch": int(run.best_epoch[i]),
            "curve": {"monitored": [round(float(value), 6) for value in curve[: int(run.epoch[i]) + 1]]},
            "fingerprint": sample.fingerprint,
        }
        if sample.n_validation:
            figures["validation_error"] = float(wrong[:, parts["validation"]].mean())
        if self.aggregated:
            figures |= self._bound_figures(state, loss, parts)
        return figures

    def _map_error(self, state: Any, wrong: NDArray[Any], test: slice, sample: Any) -> float:
        if self.model in ("BC", "BNN"):
            return float(wrong[:, test].mean())
        network = self.learner.network(state)
        # EBP's network reads standardised rows; the aggregations' lifted rows would do, but not to the last bit.
        X = np.asarray(sample.rows.inputs)[: len(sample.y)][test] if self.protocol.standardise else sample.X[test]
        return float((network.predict(X) != sample.y[test]).mean())

    def _bound_figures(self, state: State, loss: NDArray[np.float64], parts: dict[str, slice]) -> dict[str, Any]:
        """Bound in the 2√n form: at the learned C with the bound objective, at the best C otherwise."""
        from abnet.bounds import catoni_bound

        network, prior = self.learner.network(state), self._prior(state)
        kl = meanfield.kl if self.model.startswith("PBGNet") else exact.kl
        divergence = float(kl(network.astype(np.float64), prior.astype(np.float64)))
        risk = float(loss[:, parts["train"]].mean())
        learned = float(np.exp(float(state.theta[-1]))) if self.protocol.objective == "bound" else None
        delta = self.protocol.delta or 0.05
        figures = {
            "bound": catoni_bound(risk, divergence, self.n_train, delta, C=learned),
            "kl": divergence,
            "C": learned,
            "train_loss": risk,
            "test_loss": float(loss[:, parts["test"]].mean()),
        }
        if parts["validation"].stop:
            figures["validation_loss"] = float(loss[:, parts["validation"]].mean())
        return figures

    def _prior(self, state: State) -> BAM:
        from abnet.training.objective import unflatten

        return BAM.from_layers(unflatten(np.asarray(state.prior), self.sizes))


def _parts(sample: Any) -> dict[str, slice]:
    a, b = sample.n_validation, sample.n_validation + sample.n_train
    return {"validation": slice(0, a), "train": slice(a, b), "test": slice(b, len(sample.y))}


def _stack_keys(keys: list[Any]) -> Any:
    import jax.numpy as jnp

    return jnp.stack(keys)
