"""The certified classifiers' common procedure: parts, preparation, learning, certificate."""

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abnet.bam import BAM
from abnet.bounds import (
    Certificate,
    SampledRisk,
    certify_frozen,
    certify_frozen_sampled,
    certify_test_set,
    certify_trained,
    certify_trained_sampled,
    gibbs_bound,
)
from abnet.estimators.classifier import (
    BinaryClassifier,
    check_choice,
    check_fraction,
    check_hidden,
    check_positive,
    check_tolerance,
    seeds,
)
from abnet.estimators.copies import warn_of_copies
from abnet.estimators.posterior_draw import Posterior, draw_network
from abnet.predictors.drawn_network import DrawnNetwork
from abnet.predictors.predictor import ModelInfo, Predictor

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
    """From ``aggregation_`` to the learner's method."""

    _deferred: ClassVar[tuple[str, ...]] = ()
    """Further values of `aggregation`, resolved in `_choose_aggregation`."""

    @abstractmethod
    def _predictor(self, network: BAM, rng: np.random.Generator) -> Predictor:
        """The deployed predictor of a network; what it draws, it draws once."""

    @abstractmethod
    def _kl(self, network: BAM, prior: BAM) -> float:
        """Divergence of the posterior from the prior, in float64."""

    def _learn(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Predictor:
        hidden = self._check_parameters()
        # Split, start, training, the predictor's draws and the certificate's: none tells anything about another.
        split_rng, init_rng, train_rng, draw_rng, path_rng, holdout_rng, single_rng = seeds(self.random_state, 7)
        self._holdout_seed = int(holdout_rng.integers(2**63))
        sample = self._sample(X, y, weights, split_rng)
        warn_of_copies(sample.X, sample.y, self.classes_)
        start = BAM.init(init_rng, (sample.X.shape[1], *hidden, 1))
        self.aggregation_ = self._choose_aggregation(hidden, self._batch(len(y)))
        self._train(start, sample, train_rng)
        scorer = self._predictor(self.network_, draw_rng)
        self._certify(scorer, sample, path_rng)
        info = self._info(sample)
        self.drawn_network_ = self._draw(sample, single_rng, info)
        return replace(scorer, info=info)

    def _choose_aggregation(self, hidden: tuple[int, ...], batch_size: int) -> str:
        """The way to compute the output that this fit uses."""
        return self.aggregation

    def _check_parameters(self) -> tuple[int, ...]:
        """The hidden widths, after every parameter was found to make sense together with the others."""
        check_choice("objective", self.objective, ("bound", "loss"))
        check_choice("prior", self.prior, ("auto", "init", "split"))
        check_choice("posterior", self.posterior, ("auto", "train", "frozen"))
        check_choice("aggregation", self.aggregation, (*self._methods, *self._deferred))
        for name in ("prior_fraction", "delta", "validation_fraction"):
            check_fraction(name, getattr(self, name))
        for name in ("n_samples", "n_candidates", "max_iter", "n_iter_no_change"):
            check_positive(name, getattr(self, name), whole=True)
        check_positive("learning_rate_init", self.learning_rate_init)
        check_tolerance(self.tol)
        if self.objective == "loss" and self.prior == "split":
            raise ValueError("objective='loss' has no prior part: use prior='init', or objective='bound'.")
        if self.posterior == "frozen" and not self._has_split():
            raise ValueError("posterior='frozen' needs a prior learned on the first part: use prior='split'.")
        return check_hidden(self.hidden_layer_sizes)

    def _has_split(self) -> bool:
        return self.objective == "bound" and self.prior != "init"

    def _is_frozen(self) -> bool:
        """Whether the bound rows certify only; "auto" keeps a learned prior as it is."""
        return self.posterior == "frozen" or (self.posterior == "auto" and self._has_split())

    def _posterior(self) -> str:
        return "frozen" if self._is_frozen() else "train"

    def _sample(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None, rng: Any) -> Sample:
        """Parts drawn, preparation fitted where it may be, rows in the order of use."""
        from abnet.training.trainer import two_parts

        n = len(y)
        other, bound = np.arange(0), np.arange(n)
        if self._has_split():
            other, bound = two_parts(n, self.prior_fraction, rng)
        elif self.objective == "loss":
            other, bound = two_parts(n, self.validation_fraction, rng)
        preparation, prepared = self._prepared(X, y, other if self._has_split() else None)
        order = np.concatenate([other, bound])
        weights = None if weights is None else weights[order]
        untouched = preparation is None or self._has_split()
        return Sample(prepared[order], y[order], weights, len(other), preparation, untouched)

    def _train(self, start: BAM, sample: Sample, rng: np.random.Generator) -> None:
        """Learn ``prior_`` and ``network_``; leaves the curves."""
        from abnet.training import trainer as learning
        from abnet.training.aggregation_learner import AggregationLearner
        from abnet.training.cache import compilation_cache
        from abnet.training.loop import Limits, Span
        from abnet.training.training_bar import training_bar

        n = len(sample.y)
        other, bound = Span(0, sample.n_other), Span(sample.n_other, n - sample.n_other)
        learner = AggregationLearner(start.sizes, self._methods[self.aggregation_], self._training_samples())
        limits = Limits(self.tol, self.n_iter_no_change, max_epochs=self.max_iter)
        rows = learning.lifted_rows(sample.X, sample.y, learning.scaled_weights(sample.weights, sample.n_other))
        with compilation_cache(), training_bar(self.verbose, self.max_iter) as report:
            trainer = learning.Trainer(learner, rows, self._batch(n), self.delta, limits, rng, report)
            if self.objective == "loss":
                self.prior_ = start
                self.network_ = learning.learn_linear(trainer, start, bound, other, self.learning_rate_init)
            else:
                split = self._has_split()
                self.prior_ = learning.learn_prior(trainer, start, other, self.validation_fraction) if split else start
                self.network_ = self.prior_
                if not self._is_frozen():
                    self.network_ = learning.learn_posterior(trainer, self.prior_, bound, self.learning_rate_init)
        self._record(trainer)

    def _training_samples(self) -> int:
        """Samples of each step."""
        return self.n_samples

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
        return min(int(self.batch_size), n)

    def _certify(self, scorer: Predictor, sample: Sample, rng: np.random.Generator) -> None:
        """Set ``certificate_``, or ``bound_estimate_`` where no theorem covers what was done."""
        X, y = sample.X[sample.n_other :], sample.y[sample.n_other :]
        divergence = self._kl(self.network_, self.prior_)
        prior = "split" if self._has_split() else "init"
        options: dict[str, Any] = {"delta": self.delta, "prior": prior, "n_candidates": self.n_candidates}
        covered = sample.untouched and self.aggregation_ != "uniform"
        self.certificate_: Certificate | None = None
        self.bound_estimate_: float | None = None
        if self.aggregation_ == "ancestral":
            sampled = self._sampled_risk(X, y, rng)
            risk = sampled.mean
            if covered:
                self.certificate_ = self._certify_sampled(scorer, X, y, sampled, divergence, options)
        else:
            F = scorer.score_prepared(X)
            risks, wrong = (1 - y * F) / 2, (F >= 0) != (y > 0)
            risk = float(np.mean(risks))
            if covered and self._is_frozen():
                self.certificate_ = certify_frozen(risks, y, wrong, **options)
            elif covered:
                self.certificate_ = certify_trained(risks, y, divergence, wrong=wrong, **options)
        if self.certificate_ is not None:
            self.certificate_ = self._named(self.certificate_)
        if not covered:
            self.bound_estimate_ = gibbs_bound(risk, divergence, len(y), self.delta, n_candidates=self.n_candidates)

    def _certify_sampled(
        self,
        scorer: Predictor,
        X: NDArray[np.float32],
        y: NDArray[np.float64],
        sampled: SampledRisk,
        divergence: float,
        options: dict[str, Any],
    ) -> Certificate:
        """A certificate from fresh paths; what `predict` does is a vote of other paths, drawn once and kept."""
        if self._is_frozen():
            wrong = (scorer.score_prepared(X) >= 0) != (y > 0)
            return certify_frozen_sampled(sampled, y, wrong, **options)
        return certify_trained_sampled(sampled, divergence, vote="fixed paths", vote_paths=self.n_samples, **options)

    def _sampled_risk(self, X: Any, y: NDArray[np.float64], rng: np.random.Generator) -> SampledRisk:
        """Losses of fresh paths on prepared rows."""
        from abnet.estimators.fresh_paths import fresh_path_count, sampled_risk
        from abnet.training.training_bar import training_bar

        with training_bar(self.verbose, len(y)) as report:
            return sampled_risk(self.network_, X, y, rng, n_paths=fresh_path_count(len(y)), report=report)

    def _draw(self, sample: Sample, rng: np.random.Generator, info: ModelInfo) -> DrawnNetwork:
        """One network of the posterior; any posterior may be drawn from, however its own risk was computed."""
        X, y = sample.X[sample.n_other :], sample.y[sample.n_other :]
        prior = "split" if self._has_split() else "init"
        terms = {"delta": self.delta, "prior": prior, "posterior": self._posterior(), "n_candidates": self.n_candidates}
        network, certificate = draw_network(Posterior(self.network_, self.prior_, terms), X, y, rng)
        details = {name: value for name, value in info.details.items() if name != "bound_estimate"}  # the vote's
        covered = certificate if sample.untouched else None
        return replace(network, info=replace(info, certificate=covered, details=details))

    def draw_network(self) -> DrawnNetwork:
        """One deterministic network drawn from the posterior, with a certificate of its own.

        It was drawn once, when the model was fitted, with random numbers that nothing else used: every call returns the
        same network, because picking among several would have to be paid for.
        """
        check_is_fitted(self, "drawn_network_")
        return self.drawn_network_

    def _info(self, sample: Sample) -> ModelInfo:
        from abnet.data import fingerprint

        details = {
            "estimator": type(self).__name__,
            "sizes": list(self.network_.sizes),
            "aggregation": self.aggregation_,
            "objective": self.objective,
            "prior": "split" if self._has_split() else "init",
            "posterior": self._posterior(),
            "n_training_rows": len(sample.y),
            "data_fingerprint": fingerprint(sample.X, sample.y),
        }
        if self.bound_estimate_ is not None:
            details["bound_estimate"] = self.bound_estimate_
        return ModelInfo(self._labels, self._feature_names(), sample.preparation, self.certificate_, details)

    def certify(self, X: Any, y: Any) -> Certificate:
        """A certificate from rows that the model never saw.

        The test-set bound for the vote, ``k⁺(r̂, ln(1/δ)/n)`` for the Gibbs risk (sampled along fresh paths, and paid
        for, where it cannot be computed).

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows that had no part in training nor in choosing this model.
        y : array (n,)
            Their labels.
        """
        rows = self._check_rows(X)
        F = self.predictor_.decision_function(rows)
        signs = self._labels.signs(y)
        wrong = (F >= 0) != (signs > 0)
        preparation = self.predictor_.info.preparation
        prepared = rows if preparation is None else preparation.transform(rows)
        if not self._has_paths():
            # No output, no claim: a risk of 1 bounds every other.
            risks = np.nan_to_num((1 - signs * self._expected_output(prepared, F)) / 2, nan=1.0)
            return self._named(certify_test_set(risks, signs, wrong, delta=self.delta))
        sampled = self._sampled_risk(prepared, signs, np.random.default_rng(self._holdout_seed))
        return self._named(certify_frozen_sampled(sampled, signs, wrong, delta=self.delta, prior="test set"))

    def _named(self, certificate: Certificate) -> Certificate:
        """The certificate with the user's labels in its text."""
        negative, positive = self._labels.names
        return replace(certificate, class_names=(negative, positive), drawn=self._drawn())

    def _drawn(self) -> str:
        """Whose error the Gibbs risk is (see `Certificate`)."""
        return "network"

    def _expected_output(self, prepared: Any, F: NDArray[np.float64]) -> NDArray[np.float64]:
        """The output whose linear loss is the Gibbs risk, on prepared rows whose scores are F."""
        return F

    def _has_paths(self) -> bool:
        """Whether the score is not the aggregation's expected output itself, but its ancestral paths can be drawn."""
        return False

    def compact(self) -> Predictor:
        """The fitted predictor in NumPy alone, with its certificate: what `predict` uses and `save` writes."""
        check_is_fitted(self, "predictor_")
        return self.predictor_
