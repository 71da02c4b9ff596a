"""The certified classifiers' common procedure: parts, preparation, trainer, certificate."""

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from abnet.aggregation import Aggregation, exact
from abnet.bam import BAM
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import Terms, certify
from abnet.certificates.evidence import observe
from abnet.certificates.fingerprint import warn_of_copies
from abnet.certificates.held import Held
from abnet.certificates.split import Split, drawn_seed, row_hashes
from abnet.certificates.statement import Estimate
from abnet.errors import Parameter, ParameterError
from abnet.estimators.certification import (
    Losses,
    Streams,
    TrainingRows,
    estimated_bound,
    sampled_losses,
    warn_of_no_certificate,
    without_groups,
)
from abnet.estimators.classifier import (
    BinaryClassifier,
    allows_certificate,
    seeds,
    training_bar,
)
from abnet.estimators.deployment import deploy
from abnet.estimators.drawn_network import draw_network
from abnet.estimators.judging import certify_anew, expected_losses
from abnet.estimators.recipe import (
    AFFORDABLE,
    check_width,
    exact_cost,
    fit_record,
    prior_share,
    warn_of_unfinished,
)
from abnet.estimators.refit import fitting_anew
from abnet.groups import held_rows, number_groups
from abnet.labels import losses_of, signs_of, winners
from abnet.model.card import Card
from abnet.model.model import Model
from abnet.parameters import check_choice, check_fraction, check_hidden, check_positive, check_tolerance
from abnet.posterior import Posterior
from abnet.predictors.predictor import Predictor
from abnet.weights import scaled_weights

__all__ = ["AggregatedClassifier"]


class AggregatedClassifier(BinaryClassifier):
    """An aggregation of binary activated networks with its certificate; parameters as in `ABNetClassifier`."""

    _by_name: ClassVar[Mapping[str, Callable[[int], Aggregation]]]
    _mean_field: ClassVar[bool] = False
    """Whether every neuron reads its own draw of the layer below, so that a draw is a tree of networks."""

    def __init__(
        self,
        hidden_layer_sizes: Any = (4, 4),
        *,
        objective: str = "bound",
        prior: str = "auto",
        posterior: str = "auto",
        prior_fraction: Any = "auto",
        aggregation: str = "exact",
        n_samples: int = 100,
        preprocessor: Any = None,
        delta: float = 0.05,
        n_candidates: int = 1,
        batch_size: Any = "auto",
        learning_rate_init: Any = "auto",
        max_iter: int = 100,
        n_iter_no_change: int = 20,
        tol: float = 1e-4,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.objective = objective
        self.prior = prior
        self.posterior = posterior
        self.prior_fraction = prior_fraction
        self.aggregation = aggregation
        self.n_samples = n_samples
        self.preprocessor = preprocessor
        self.delta = delta
        self.n_candidates = n_candidates
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
        y : array (n,)
            Labels of any type, exactly two classes.
        sample_weight : array (n,), optional
            Shapes training; a certificate stays one for the unweighted risk. A weight may depend on its own row only.
        groups : array (n,) or str, optional
            Which rows belong together, such as those of one patient, or the column of a frame that says so and is no
            feature then. Whole groups learn or certify, and the certificate is about a new group.

        Returns
        -------
        self
        """
        with fitting_anew(self):
            X, self._groups = without_groups(X, groups)
            try:
                return super().fit(X, y, sample_weight)
            finally:
                self._groups = None

    def _learn(self, X: Any, y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> Model:
        self._check_parameters()
        streams = self._open_streams()
        self._split_rows(X, y)
        return self._learn_network(X, np.maximum(y, 0).astype(np.intp), weights, streams)

    def _open_streams(self) -> Streams:
        self.seed_ = drawn_seed(self.random_state)
        streams = Streams(*seeds(self.seed_, 7)[1:])  # the first one drew the split once
        self._certify_seed = int(streams.certify.integers(2**63))
        return streams

    def _learn_network(
        self, X: Any, codes: NDArray[np.intp], weights: NDArray[np.float64] | None, streams: Streams
    ) -> Model:
        hidden = self._check_parameters()
        rows = self._rows_in_order(X, codes, weights)
        if rows.groups is None:
            warn_of_copies(rows.X, rows.codes, self.classes_)
        start = BAM.init(streams.start, (rows.X.shape[1], *hidden, 1))
        self.aggregation_ = self._choose_aggregation(hidden, self._batch(len(codes)))
        self._train(start, rows, streams.train)
        if self._has_split():
            self.held_ = self._score_held(rows)
        scorer = deploy(self._aggregation(), [self.network_], streams.deploy)
        self._certify_fit(scorer, rows, streams.paths)
        model = self._model(scorer, rows)
        self.drawn_network_ = self._draw(rows, streams.single, model)
        return model

    def _check_parameters(self) -> tuple[int, ...]:
        """The hidden widths, after every parameter was found to make sense together with the others."""
        check_choice("objective", self.objective, ("bound", "loss"))
        check_choice("prior", self.prior, ("auto", "init", "split"))
        check_choice("posterior", self.posterior, ("auto", "train", "frozen"))
        check_choice("aggregation", self.aggregation, self._aggregations())
        for name in ("delta", "validation_fraction", *(() if self._is_auto("prior_fraction") else ("prior_fraction",))):
            check_fraction(name, getattr(self, name))
        for name in ("n_samples", "n_candidates", "max_iter", "n_iter_no_change"):
            if hasattr(self, name):
                check_positive(name, getattr(self, name), whole=True)
        for name in ("learning_rate_init", "batch_size"):
            if not self._is_auto(name):
                check_positive(name, getattr(self, name), whole=name == "batch_size")
        if hasattr(self, "tol"):
            check_tolerance(self.tol)
        bound, loss = (Parameter("objective", value) for value in ("bound", "loss"))
        init, split = (Parameter("prior", value) for value in ("init", "split"))
        if self.objective == "loss" and self.prior == "split":
            raise ParameterError("{} has no first part: use {}, or {}.", loss, init, bound)
        if self.posterior == "frozen" and not self._has_split():
            frozen = Parameter("posterior", "frozen")
            raise ParameterError("{} needs a prior learned on the first part: use {}.", frozen, split)
        hidden = check_hidden(self.hidden_layer_sizes)
        if self.aggregation == "exact":
            check_width(self._by_name, hidden)
        return hidden

    def _limits(self) -> Any:
        """When a stage of training ends."""
        from abnet.training.loop import Limits

        return Limits(self.tol, self.n_iter_no_change, max_epochs=self.max_iter)

    def _is_auto(self, name: str) -> bool:
        value = getattr(self, name)
        return isinstance(value, str) and value == "auto"

    def _has_split(self) -> bool:
        return self.objective == "bound" and self.prior != "init"

    def _is_frozen(self) -> bool:
        """Whether the bound rows certify only; "auto" keeps a learned prior as it is."""
        return self.posterior == "frozen" or (self.posterior == "auto" and self._has_split())

    def _n_learned(self, n_other: int, n_rows: int) -> int:
        """How many rows, in the order of use, had a part in learning or choosing: the others may certify again."""
        untouched = self._is_frozen() and self.objective != "loss" and self.n_candidates == 1
        return n_other if untouched and self.certificate_ is not None else n_rows

    def _terms(self) -> Terms:
        """How the model is made, in the words of a certificate."""
        trees = self._mean_field and len(self.network_.sizes) > 3
        return Terms(
            delta=self.delta, n_candidates=self.n_candidates, source="split" if self._has_split() else "init",
            trained=not self._is_frozen(), drawn="mean field" if trees else "network",
        )  # fmt: skip

    def _aggregations(self) -> tuple[str, ...]:
        """Values of `aggregation`; only where any width can be certified is there something to choose."""
        certified = [name for name, make in self._by_name.items() if make(1).certified]
        return (*self._by_name, "auto") if len(certified) > 1 else tuple(self._by_name)

    def _choose_aggregation(self, hidden: tuple[int, ...], batch_size: int) -> str:
        if self.aggregation != "auto":
            return self.aggregation
        affordable = max(hidden) <= exact.MAX_WIDTH and exact_cost(hidden, batch_size) <= AFFORDABLE
        if self.verbose:
            why = "all representations are affordable" if affordable else "too many representations to enumerate"
            print(f"aggregation: {'exact' if affordable else 'ancestral'} ({why}).", file=sys.stderr)
        return "exact" if affordable else "ancestral"

    def _certifies_exactly(self) -> bool:
        """Whether the risk will be computed, not sampled; what "auto" stands for follows from the widths."""
        if self.aggregation != "auto" or self._is_auto("hidden_layer_sizes"):
            return self.aggregation == "exact"
        return self._choose_aggregation(check_hidden(self.hidden_layer_sizes), 64) == "exact"

    def _aggregation(self) -> Aggregation:
        return self._by_name[self.aggregation_](self.n_samples)

    def _posterior(self) -> Posterior:
        return Posterior.from_networks([self.network_], [self.prior_], self._aggregation())

    def _batch(self, n: int) -> int:
        if self._is_auto("batch_size"):
            return 64 if n >= 20_000 else 32
        return min(int(self.batch_size), n)

    def _split_rows(self, X: Any, y: NDArray[np.float64]) -> None:
        """Set ``other_rows_`` and ``bound_rows_``, before anything is decided."""
        split = self._has_split()
        self.other_rows_, self.bound_rows_ = np.arange(0), np.arange(len(y))
        if split or self.objective == "loss":
            share = prior_share(self) if split else self.validation_fraction
            parts = Split.of(row_hashes(X, y), share, self.seed_, self._groups)
            self.other_rows_, self.bound_rows_ = parts.first, parts.counted
        self._hold_groups(len(y))

    def _rows_in_order(self, X: Any, codes: NDArray[np.intp], weights: NDArray[np.float64] | None) -> TrainingRows:
        """Fit the preparation where it may be, put the rows in the order of use."""
        split = self._has_split()
        order = np.concatenate([self.other_rows_, self.bound_rows_])
        preparation, ordered = self._prepare(X, signs_of(codes), self.other_rows_ if split else None, order)
        weights = None if weights is None else weights[order]
        untouched = preparation is None or (split and allows_certificate(self.preprocessor, preparation.transform, X))
        groups = None if self._groups is None else self._groups[self.bound_rows_]
        return TrainingRows(ordered, codes[order], weights, len(self.other_rows_), preparation, untouched, groups)

    def _hold_groups(self, n: int) -> None:
        """Check the groups, and count the rows of the whole groups that early stopping watches in the first part."""
        self._n_held: int | None = None
        if self._groups is not None:
            number_groups(self._groups, n)
            self._n_held = held_rows(self._groups[self.other_rows_], self.validation_fraction)

    def _train(self, start: BAM, rows: TrainingRows, rng: np.random.Generator) -> None:
        """Learn ``prior_`` and ``network_``; leaves the curves."""
        from abnet.training import stages
        from abnet.training.compilation import compilation_cache
        from abnet.training.loop import Span
        from abnet.training.posterior_learner import PosteriorLearner

        n, aggregation = len(rows.codes), self._aggregation()
        other, bound = Span(0, rows.n_other), Span(rows.n_other, n - rows.n_other)
        learner = PosteriorLearner(start.sizes, aggregation)
        limits = self._limits()
        lifted = stages.lifted_rows(rows.X, rows.signs, scaled_weights(rows.weights, rows.n_other))
        with compilation_cache(), training_bar(self.verbose) as report:
            draws = None if rows.groups is None else rows.n_draws
            trainer = stages.Trainer(learner, lifted, self._batch(n), self.delta, limits, rng, report, draws)
            prior, rate = Posterior.from_networks([start], [start], aggregation), self._rate(stages.RATE)
            if self._has_split():
                # Further training has the rate for itself: its settings then share one prior (`ABNetSearch`).
                speed = self._rate(stages.PRIOR_RATE) if self._is_frozen() else stages.PRIOR_RATE
                prior = stages.learn_prior(trainer, prior, other, self.validation_fraction, speed, self._n_held)
            posterior = prior
            if self.objective == "loss":
                posterior = stages.learn_linear(trainer, prior, bound, other, rate)
            elif not self._is_frozen():
                posterior = stages.learn_posterior(trainer, prior, bound, rate)
            self.prior_, self.network_ = prior.map_network, posterior.map_network
        self._record(trainer)

    def _rate(self, default: float) -> float:
        return default if self._is_auto("learning_rate_init") else float(self.learning_rate_init)

    def _record(self, trainer: Any) -> None:
        self._curves = dict(trainer.curves)
        self.bound_curve_ = trainer.curves.get("bound", [])
        self.loss_curve_ = [value for name, curve in trainer.curves.items() if name != "bound" for value in curve]
        self.n_iter_ = sum(max(len(curve) - 1, 0) for curve in trainer.curves.values())
        if not trainer.interrupted:
            warn_of_unfinished(trainer.curves, self.max_iter)
        else:
            warnings.warn(
                "Training was interrupted: the best network so far is kept, and what is certified is that network.",
                stacklevel=2,
            )

    def _certify_fit(self, scorer: Predictor, rows: TrainingRows, rng: np.random.Generator) -> None:
        """Set ``certificate_``, or ``bound_estimate_`` where no theorem covers what was done."""
        (X, codes), aggregation, terms = rows.of_bound(), self._aggregation(), self._terms()
        self.certificate_: Certificate | None = None
        self.bound_estimate_: Estimate | None = None
        losses = None
        try:
            if aggregation.certified and aggregation.sampled:
                losses = self._sampled_losses(X, codes, rng)
        except KeyboardInterrupt:
            warn_of_no_certificate()
            return
        if terms.trained:
            kl = float(self._posterior().astype(np.float64).kl())
            terms = replace(terms, kl=kl, expected=self.held_.expected() if self._has_split() else None)
            if losses is not None:
                terms = replace(terms, vote="kept paths", vote_paths=self.n_samples)
        scores = scorer.scores(X)
        losses = Losses(losses_of(scores, codes)) if losses is None else losses
        seen = observe(
            winners(scores), codes, self._labels.names, **losses._asdict(), groups=rows.groups,
            keys=np.arange(len(codes)),
        )  # fmt: skip
        if rows.untouched and aggregation.certified:
            self.certificate_ = certify(seen, terms)
        else:
            self.bound_estimate_ = estimated_bound(seen, terms)

    def _score_held(self, rows: TrainingRows) -> Held:
        """The rows of the first part that early stopping watched, with scores of the prior."""
        from abnet.training.loop import Span
        from abnet.training.stages import prior_spans

        watch = prior_spans(Span(0, rows.n_other), self.validation_fraction, self._n_held)[1]
        prior = deploy(self._aggregation(), [self.prior_], np.random.default_rng(0))
        mine = slice(watch.first, watch.first + watch.size)
        return Held(prior.scores(rows.X[mine]), rows.codes[mine])

    def _sampled_losses(self, X: Any, codes: NDArray[np.intp], rng: np.random.Generator) -> Losses:
        """Losses of fresh paths on prepared rows."""
        with training_bar(self.verbose) as report:
            return sampled_losses((self.network_,), X, codes, 2, rng, report=report)

    def _draw(self, rows: TrainingRows, rng: np.random.Generator, model: Model) -> Model:
        """One network of the posterior; any posterior may be drawn from, however its own risk was computed."""
        network, certificate = draw_network(self._posterior(), *rows.of_bound(), rng, self._labels, terms=self._terms())
        covered = rows.untouched and rows.groups is None  # its bound counts rows
        card = msgspec.structs.replace(model.card, bound_estimate=None)  # the vote's
        return replace(model, predictor=network, certificate=certificate if covered else None, card=card)

    def _model(self, scorer: Predictor, rows: TrainingRows) -> Model:
        from abnet.certificates.fingerprint import background_rows, fingerprint
        from abnet.certificates.fitted_rows import row_filter

        card = Card(
            estimator=type(self).__name__,
            sizes=self.network_.sizes,
            aggregation=self.aggregation_,
            objective=self.objective,
            prior=self._terms().source,
            posterior="frozen" if self._is_frozen() else "train",
            n_training_rows=len(rows.codes),
            n_training_groups=None if self._groups is None else len(np.unique(self._groups)),
            seed=self.seed_,
            data_fingerprint=fingerprint(rows.X, signs_of(rows.codes)),
            row_filter=row_filter(rows.X, signs_of(rows.codes), self._n_learned(rows.n_other, len(rows.codes))),
            background=background_rows(rows.X[: rows.n_other]),
            bound_estimate=None if self.bound_estimate_ is None else self.bound_estimate_.value,
            **fit_record(self, self._curves),
        )
        return Model(
            scorer, self._labels, rows.preparation, self._feature_names(), certificate=self.certificate_, card=card
        )

    def draw_network(self) -> Model:
        """One deterministic network drawn from the posterior, with a certificate of its own.

        It was drawn once, when the model was fitted, with random numbers that nothing else used: every call returns the
        same network, because a choice among several would weaken the certificate.
        """
        check_is_fitted(self, "drawn_network_")
        return self.drawn_network_

    def certify(
        self, X: Any, y: Any, *, n_candidates: int = 1, groups: Any = None, by: Any = None,
        allow_training_rows: bool = False, random_state: Any = None,
    ) -> Any:  # fmt: skip
        """A certificate from a test set: rows that the model never saw.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
            Rows that had no part in training nor in choosing this model.
        y : array (n,)
            Their labels; one that the model does not know counts as an error.
        n_candidates : int
            Number of models among which you choose by means of these rows.
        groups : array (n,) or str, optional
            Which rows belong together, such as those of one patient, or the frame's column that says so: the error on a
            new group, averaged over its rows. No row of these groups may have had a part in learning.
        by : array (n,) or str, optional
            Each row's population, or the frame's column that names it: the errors of all of them at once.
        allow_training_rows : bool
            Rows that the model learned from are refused otherwise; with True the result is an estimate, no promise.
        random_state : int, optional
            Seed of the order of bets; drawn afresh by default. Trying several is choosing among candidates.

        Returns
        -------
        Certificate
            `Estimate` with `allow_training_rows`.
        """
        return certify_anew(self, X, y, n_candidates, groups, by, allow_training_rows, random_state)

    def _test_losses(self, prepared: Any, scores: NDArray[np.float64], codes: NDArray[np.intp]) -> Losses:
        """What one draw of the posterior loses on rows of a test set that have these scores."""
        if self._aggregation().sampled:
            return self._sampled_losses(prepared, codes, np.random.default_rng(self._certify_seed))
        return expected_losses(self, prepared, scores, codes)

    def _marked(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Labels as the filter of fitted rows takes them."""
        return signs_of(codes)

    def compact(self) -> Model:
        """The fitted model in NumPy alone, with its certificate: what `predict` uses and `save` writes."""
        check_is_fitted(self, "model_")
        return self.model_
