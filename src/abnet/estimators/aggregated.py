"""The certified classifiers' common procedure: parts, preparation, learning, certificate."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abnet.bam import BAM
from abnet.bounds import Certificate, certify_frozen, certify_holdout, certify_trained, gibbs_bound
from abnet.compact import ModelInfo, Predictor
from abnet.estimators.base import BinaryClassifier, check_choice, check_fraction, check_hidden, check_positive, seeds

__all__ = ["AggregatedClassifier"]


class Sample(NamedTuple):
    """Prepared training rows in the order of use: `n_other` rows that shape the network, then those of the bound."""

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    n_other: int
    preparation: Any
    untouched: bool
    """Whether nothing before the network was fitted on the bound rows."""


class AggregatedClassifier(BinaryClassifier):
    """An aggregation of binary activated networks with its certificate."""

    hidden_layer_sizes: Any
    objective: str
    prior: str
    posterior: str
    prior_fraction: float
    aggregation: str
    n_samples: int
    delta: float
    n_candidates: int
    batch_size: Any
    learning_rate_init: float
    max_iter: int
    n_iter_no_change: int
    tol: float
    validation_fraction: float
    verbose: int

    _methods: ClassVar[dict[str, str]]
    """From `aggregation` to the learner's method."""

    @abstractmethod
    def _predictor(self, network: BAM, info: ModelInfo) -> Predictor:
        """The deployed predictor of a network."""

    @abstractmethod
    def _kl(self, network: BAM, prior: BAM) -> float:
        """Divergence of the posterior from the prior, in float64."""

    def _learn(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Predictor:
        hidden = self._check_parameters()
        split_rng, init_rng, train_rng = seeds(self.random_state, 3)
        sample = self._sample(X, y, weights, split_rng)
        start = BAM.init(init_rng, (sample.X.shape[1], *hidden, 1))
        self._train(start, sample, train_rng)
        scorer = self._predictor(self.network_, ModelInfo())
        self._certify(scorer, sample)
        return self._predictor(self.network_, self._info(sample))

    def _check_parameters(self) -> tuple[int, ...]:
        """The hidden widths, after every parameter was found to make sense together with the others."""
        check_choice("objective", self.objective, ("bound", "loss"))
        check_choice("prior", self.prior, ("auto", "init", "split"))
        check_choice("posterior", self.posterior, ("train", "frozen"))
        check_choice("aggregation", self.aggregation, tuple(self._methods))
        for name in ("prior_fraction", "delta", "validation_fraction"):
            check_fraction(name, getattr(self, name))
        for name in ("n_samples", "n_candidates", "max_iter", "n_iter_no_change"):
            check_positive(name, getattr(self, name), whole=True)
        check_positive("learning_rate_init", self.learning_rate_init)
        if self.objective == "loss" and self.prior == "split":
            raise ValueError("objective='loss' has no prior part: use prior='init', or objective='bound'.")
        if self.posterior == "frozen" and not self._has_split():
            raise ValueError("posterior='frozen' needs a prior learned on the first part: use prior='split'.")
        return check_hidden(self.hidden_layer_sizes)

    def _has_split(self) -> bool:
        return self.objective == "bound" and self.prior != "init"

    def _sample(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None, rng: Any) -> Sample:
        """Parts drawn, preparation fitted where it may be, rows in the order of use."""
        from abnet.training.split import two_parts

        n = len(y)
        other, bound = np.arange(0), np.arange(n)
        if self._has_split():
            other, bound = two_parts(n, self.prior_fraction, rng)
        elif self.objective == "loss":
            other, bound = two_parts(n, self.validation_fraction, rng)
        preparation, prepared = self._prepared(X, other if self._has_split() else None)
        order = np.concatenate([other, bound])
        weights = None if weights is None else weights[order]
        untouched = preparation is None or self._has_split()
        return Sample(prepared[order], y[order], weights, len(other), preparation, untouched)

    def _train(self, start: BAM, sample: Sample, rng: np.random.Generator) -> None:
        """Learn ``prior_`` and ``network_``; leaves the curves."""
        from abnet.training import fit
        from abnet.training.cache import compilation_cache
        from abnet.training.loop import Limits, Span
        from abnet.training.objective import AggregationLearner
        from abnet.training.progress import training_bar

        n = len(sample.y)
        other, bound = Span(0, sample.n_other), Span(sample.n_other, n - sample.n_other)
        learner = AggregationLearner(start.sizes, self._methods[self.aggregation], self.n_samples)
        limits = Limits(self.tol, self.n_iter_no_change, max_epochs=self.max_iter)
        rows = fit.lifted_rows(sample.X, sample.y, sample.weights)
        with compilation_cache(), training_bar(self.verbose, self.max_iter) as report:
            trainer = fit.Trainer(learner, rows, self._batch(n), self.delta, limits, rng, report)
            if self.objective == "loss":
                self.prior_ = start
                self.network_ = fit.learn_linear(trainer, start, bound, other, self.learning_rate_init)
            else:
                split = self._has_split()
                self.prior_ = fit.learn_prior(trainer, start, other, self.validation_fraction) if split else start
                self.network_ = self.prior_
                if self.posterior == "train":
                    self.network_ = fit.learn_posterior(trainer, self.prior_, bound, self.learning_rate_init)
        self._record(trainer)

    def _record(self, trainer: Any) -> None:
        self.bound_curve_ = trainer.curves.get("bound", [])
        self.loss_curve_ = [value for name, curve in trainer.curves.items() if name != "bound" for value in curve]
        self.n_iter_ = sum(max(len(curve) - 1, 0) for curve in trainer.curves.values())
        if trainer.interrupted:
            warnings.warn(
                "Training was interrupted: the best network so far is kept, and what is certified is that network.",
                stacklevel=2,
            )

    def _batch(self, n: int) -> int:
        if self.batch_size == "auto":
            return 64 if n >= 20_000 else 32
        check_positive("batch_size", self.batch_size, whole=True)
        return int(self.batch_size)

    def _certify(self, scorer: Predictor, sample: Sample) -> None:
        """Set ``certificate_``, or ``bound_estimate_`` where no theorem covers what was done."""
        X, y = sample.X[sample.n_other :], sample.y[sample.n_other :]
        F = scorer.score_prepared(X)
        risks, wrong = (1 - y * F) / 2, (F >= 0) != (y > 0)
        divergence = self._kl(self.network_, self.prior_)
        prior = "split" if self._has_split() else "init"
        self.certificate_: Certificate | None = None
        self.bound_estimate_: float | None = None
        options: dict[str, Any] = {"delta": self.delta, "prior": prior, "n_candidates": self.n_candidates}
        if not sample.untouched or self.aggregation == "uniform":
            terms = {"delta": self.delta, "n_candidates": self.n_candidates}
            self.bound_estimate_ = gibbs_bound(float(np.mean(risks)), divergence, len(y), **terms)
        elif self.posterior == "frozen":
            self.certificate_ = certify_frozen(risks, y, wrong, **options)
        else:
            self.certificate_ = certify_trained(risks, y, divergence, wrong=wrong, **options)

    def _info(self, sample: Sample) -> ModelInfo:
        from abnet.data import fingerprint

        details = {
            "estimator": type(self).__name__,
            "sizes": list(self.network_.sizes),
            "aggregation": self.aggregation,
            "objective": self.objective,
            "prior": "split" if self._has_split() else "init",
            "posterior": self.posterior,
            "n_training_rows": len(sample.y),
            "data_fingerprint": fingerprint(sample.X, sample.y),
        }
        if self.bound_estimate_ is not None:
            details["bound_estimate"] = self.bound_estimate_
        names = tuple(map(str, self.feature_names_in_)) if hasattr(self, "feature_names_in_") else None
        return ModelInfo(self.classes_, names, sample.preparation, self.certificate_, details)

    def certify(self, X: Any, y: Any) -> Certificate:
        """A certificate from rows that the model never saw: the test-set bound for the vote, ``k⁺(r̂, ln(1/δ)/n)`` for the Gibbs risk.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows that had no part in training nor in choosing this model.
        y : array (n,)
            Their labels.
        """
        F = self.decision_function(X)
        labels = np.asarray(y)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y holds the label {labels[unknown][0]!r}, which the model does not know; it knows {self.classes_}."
            )
        signs = np.where(labels == self.classes_[1], 1.0, -1.0)
        return certify_holdout((1 - signs * F) / 2, signs, (F >= 0) != (signs > 0), delta=self.delta)

    def compact(self) -> Predictor:
        """The fitted predictor in NumPy alone, with its certificate: what `predict` uses and `save` writes."""
        check_is_fitted(self, "predictor_")
        return self.predictor_
