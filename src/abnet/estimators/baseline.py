"""The comparison methods' common procedure: validation part, standardised inputs, the shared training loop."""

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.compact import ModelInfo, Predictor
from abnet.estimators.base import BinaryClassifier, check_fraction, check_hidden, check_positive, check_tolerance, seeds

__all__ = ["BaselineClassifier"]


class BaselineClassifier(BinaryClassifier):
    """A network trained with early stopping on the 0-1 error of a validation part; no certificate of its own."""

    hidden_layer_sizes: Any
    batch_size: Any
    learning_rate_init: float
    max_iter: int
    n_iter_no_change: int
    tol: float
    validation_fraction: float
    verbose: int

    @abstractmethod
    def _learner(self) -> Any:
        """The rules for the training loop."""

    @abstractmethod
    def _deploy(self, learner: Any, state: Any, info: ModelInfo) -> Predictor:
        """Set the method's own fitted attributes and return the predictor of a trained state."""

    @abstractmethod
    def _auto_batch(self, n: int) -> int:
        """The batch size of "auto" for n training rows."""

    def _learn(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Predictor:
        from abnet.training.split import two_parts

        hidden = self._check_parameters()
        split_rng, init_rng, train_rng = seeds(self.random_state, 3)
        watched, trained = two_parts(len(y), self.validation_fraction, split_rng)
        preparation, prepared = self._prepared(X, y, trained)
        order = np.concatenate([watched, trained])
        sizes = (prepared.shape[1], *hidden, 1)
        rows = prepared[order], y[order], None if weights is None else weights[order]
        state, learner = self._train(sizes, rows, len(watched), init_rng, train_rng)
        details = {"estimator": type(self).__name__, "sizes": list(sizes), "n_training_rows": len(y)}
        info = ModelInfo(self.classes_, self._feature_names(), preparation, None, details)
        return self._deploy(learner, state, info)

    def _check_parameters(self) -> tuple[int, ...]:
        check_fraction("validation_fraction", self.validation_fraction)
        for name in ("max_iter", "n_iter_no_change"):
            check_positive(name, getattr(self, name), whole=True)
        check_positive("learning_rate_init", self.learning_rate_init)
        check_tolerance(self.tol)
        return check_hidden(self.hidden_layer_sizes)

    def _train(
        self, sizes: tuple[int, ...], rows: Any, n_watched: int, init_rng: Any, train_rng: Any
    ) -> tuple[Any, Any]:
        from abnet.training.cache import compilation_cache
        from abnet.training.fit import NEVER, new_keys, scaled_weights, stack
        from abnet.training.loop import Limits, Span, open_runs, pad_rows
        from abnet.training.progress import training_bar
        from abnet.training.stage import best_of, run_stage

        X, y, weights = rows
        learner, n = self._learner(), len(y) - n_watched
        limits = Limits(self.tol, self.n_iter_no_change, NEVER, self.max_iter)
        with compilation_cache(), training_bar(self.verbose, self.max_iter) as report:
            first = learner.start(learner.init(new_keys(init_rng, 1)[0], sizes))
            outcome = run_stage(
                (learner,),
                (open_runs(stack([first]), [self.learning_rate_init], new_keys(train_rng, 1)),),
                pad_rows(X, y, scaled_weights(weights, n_watched)),
                Span(n_watched, n),
                Span(0, n_watched),
                rng=train_rng,
                batch_size=self._batch(n),
                limits=limits,
                report=report and (lambda epoch, values: report("validation error", epoch, float(values[0]))),
            )
        self.loss_curve_ = [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
        self.n_iter_ = max(len(self.loss_curve_) - 1, 0)
        if outcome.interrupted:
            warnings.warn("Training was interrupted: the best network so far is kept.", stacklevel=2)
        return best_of(outcome.runs[0]), learner

    def _batch(self, n: int) -> int:
        if self.batch_size == "auto":
            return self._auto_batch(n)
        check_positive("batch_size", self.batch_size, whole=True)
        return min(int(self.batch_size), n)
