"""The comparison methods as classifiers: EBP, BinaryConnect and BNN."""

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from abnet.certificates.fitted_rows import row_filter
from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.split import Split
from abnet.estimators.prediction import PredictionMixin
from abnet.estimators.refit import fresh_fit
from abnet.model.card import Card
from abnet.model.model import Model
from abnet.model.predictors.predictor import Predictor
from abnet.training.features import prepare
from abnet.training.labelled_rows import LabelledRows, checked_rows
from abnet.training.progress_bar import training_bar
from abnet.training.seeds import generators_from
from abnet.utils.parameters import check_choice, check_fraction, check_hidden, check_positive, check_tolerance

__all__ = ["BNNClassifier", "BaselineClassifier", "BinaryConnectClassifier", "BinaryWeightsClassifier", "EBPClassifier"]


@dataclass(eq=False, repr=False)
class BaselineClassifier(PredictionMixin):
    """A network trained with early stopping on the validation error; it has no certificate of its own.

    With two classes there is one output, whose sign is the label. With several classes there is one output per class,
    trained one-vs-rest, and the largest output is the label.
    """

    hidden_layer_sizes: Any = (10,)
    _: KW_ONLY
    preprocessor: Any = "standardise"
    batch_size: Any = "auto"
    learning_rate_init: float = 0.01
    max_iter: int = 100
    n_iter_no_change: int = 20
    tol: float = 1e-4
    validation_fraction: float = 0.2
    random_state: Any = None
    verbose: int = 0

    @abstractmethod
    def _learner(self) -> Any:
        """The rules for the training loop."""

    @abstractmethod
    def _deploy(self, learner: Any, state: Any) -> Predictor:
        """Set the method's own fitted attributes and return the predictor of a trained state."""

    @abstractmethod
    def _auto_batch(self, n: int) -> int:
        """The batch size of "auto" for n training rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or frame (n, d)
        y : array (n,)
            Labels of any type.
        sample_weight : array (n,), optional
            Weights of the rows in training.

        Returns
        -------
        self
        """
        with fresh_fit(self):
            rows = checked_rows(self, X, y, sample_weight, preprocessor=self.preprocessor)
            self.classes_ = rows.labels.classes
            self.model_ = self._learn(rows)
        return self

    def _learn(self, rows: LabelledRows) -> Model:
        hidden = self._check_parameters()
        seed = drawn_seed(self.random_state)
        _, init_rng, train_rng = generators_from(seed, 3)
        # Early stopping watches the first part of the split; the rest is trained on.
        split = Split.of(row_hashes(rows.X, rows.label_values), self.validation_fraction, seed)
        watched = split.first
        trained = split.counted
        features = prepare(rows, self.preprocessor, rows.label_values, (watched, trained), trained)
        self.preprocessor_ = features.transformer
        order = np.concatenate([watched, trained])
        n_classes = rows.labels.n_classes
        if n_classes == 2:
            n_outputs = 1
            targets = rows.label_values[order]
        else:
            n_outputs = n_classes
            targets = 2 * np.eye(n_classes)[rows.codes[order]] - 1
        weights = None
        if rows.weights is not None:
            weights = rows.weights[order]
        sizes = (features.base.shape[1], *hidden, n_outputs)
        learner = self._learner()
        state = self._train(learner, sizes, features.base, targets, weights, len(watched), init_rng, train_rng)
        card = Card(
            estimator=type(self).__name__,
            sizes=sizes,
            n_training_rows=len(order),
            row_filter=row_filter(features.base, rows.label_values[order]),
            training_inputs=features.training,
        )
        predictor = self._deploy(learner, state)
        return Model(predictor, rows.labels, features.preparation, rows.feature_names, card=card)

    def _check_parameters(self) -> tuple[int, ...]:
        check_fraction("validation_fraction", self.validation_fraction)
        for name in ("max_iter", "n_iter_no_change"):
            check_positive(name, getattr(self, name), whole=True)
        check_positive("learning_rate_init", self.learning_rate_init)
        check_tolerance(self.tol)
        return check_hidden(self.hidden_layer_sizes)

    def _train(
        self,
        learner: Any,
        sizes: tuple[int, ...],
        X: Any,
        targets: Any,
        weights: Any,
        n_watched: int,
        init_rng: np.random.Generator,
        train_rng: np.random.Generator,
    ) -> Any:
        """The best state by the error of the watched rows, which come first; the others are trained on."""
        from abnet.training.compilation import compilation_cache
        from abnet.training.loop import Limits, Span, pad_rows
        from abnet.training.runner import NEVER, Stage, new_keys, train
        from abnet.training.sample_weights import scaled_weights

        n_trained = len(targets) - n_watched
        stage = Stage(
            name="validation error",
            start=learner.start(learner.init(new_keys(init_rng, 1)[0], sizes)),
            train=Span(n_watched, n_trained),
            watch=Span(0, n_watched),
            rate=self.learning_rate_init,
            batch_size=self._batch(n_trained),
            limits=Limits(self.tol, self.n_iter_no_change, NEVER, self.max_iter),
        )
        padded_rows = pad_rows(X, targets, scaled_weights(weights, n_watched))
        with compilation_cache(), training_bar(self.verbose) as report:
            trained = train(learner, stage, padded_rows, train_rng, report)
        self.loss_curve_ = trained.curve
        self.n_iter_ = max(len(self.loss_curve_) - 1, 0)
        if trained.interrupted:
            warnings.warn("Training was interrupted: the best network so far is kept.", stacklevel=2)
        return trained.state

    def _batch(self, n: int) -> int:
        if self.batch_size == "auto":
            return self._auto_batch(n)
        check_positive("batch_size", self.batch_size, whole=True)
        return min(int(self.batch_size), n)


@dataclass(eq=False, repr=False)
class BinaryWeightsClassifier(BaselineClassifier):
    """A network with binary weights; for prediction, batch normalisation is folded into its units."""

    _shares: ClassVar[bool] = False  # read by `PredictionMixin`: `predict_proba` is missing then

    _: KW_ONLY
    glorot_scale: bool = True

    def _deploy(self, learner: Any, state: Any) -> Predictor:
        network = learner.fold(state)
        self.weights_ = list(network.weights)
        return network

    def _auto_batch(self, n: int) -> int:
        if n >= 100:
            return 100
        return min(32, n)


@dataclass(eq=False, repr=False)
class BinaryConnectClassifier(BinaryWeightsClassifier):
    """BinaryConnect (Courbariaux, Bengio, David 2015): binary weights in training and prediction, rectified units.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
    stochastic : bool
        Draw the binary weights of every minibatch at random, and predict with the real ones.
    glorot_scale : bool
        Scale the steps of a weight matrix by ``sqrt((n_in + n_out)/1.5)``, as the authors do.
    preprocessor : transformer, "standardise" or None
        Fitted on the rows trained on; "standardise" scales every column to mean 0 and deviation 1.
    batch_size : int or "auto"
        "auto" is the authors' 100, or at most 32 for fewer than 100 training rows.
    learning_rate_init, max_iter, n_iter_no_change, tol, validation_fraction, random_state, verbose
        As in `ABNetClassifier`; early stopping looks at the validation part's 0-1 error.

    Attributes
    ----------
    weights_ : list of int8 arrays (d_k, d_{k-1})
        The binary weights, in {-1, +1}.
    model_, preprocessor_, classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_
        As in `ABNetClassifier`. There is no `predict_proba`: the score is trained by a hinge loss.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BinaryConnectClassifier((8,), max_iter=10, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _: KW_ONLY
    stochastic: bool = False

    def _learner(self) -> Any:
        from abnet.paper.methods import BinaryConnect

        return BinaryConnect(stochastic=self.stochastic, glorot_scale=self.glorot_scale)


class BNNClassifier(BinaryWeightsClassifier):
    """Binarized neural network (Courbariaux et al. 2016): binary weights, and units that output ±1.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
    glorot_scale : bool
        Scale the steps of a weight matrix by ``sqrt((n_in + n_out)/1.5)``, as the authors do.
    preprocessor : transformer, "standardise" or None
        Fitted on the rows trained on; "standardise" scales every column to mean 0 and deviation 1.
    batch_size : int or "auto"
        "auto" is the authors' 100, or at most 32 for fewer than 100 training rows.
    learning_rate_init, max_iter, n_iter_no_change, tol, validation_fraction, random_state, verbose
        As in `ABNetClassifier`; early stopping looks at the validation part's 0-1 error.

    Attributes
    ----------
    weights_ : list of int8 arrays (d_k, d_{k-1})
        The binary weights, in {-1, +1}.
    model_, preprocessor_, classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_
        As in `ABNetClassifier`. There is no `predict_proba`: the score is trained by a hinge loss.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BNNClassifier((8,), max_iter=10, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def _learner(self) -> Any:
        from abnet.paper.methods import BNN

        return BNN(glorot_scale=self.glorot_scale)


@dataclass(eq=False, repr=False)
class EBPClassifier(BaselineClassifier):
    """Expectation backpropagation (Soudry, Hubara, Meir 2014): online Bayes for sign networks, without a learning rate.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
    method : {"ebp", "ebp_adam"}
        The authors' update, which has no learning rate, or Adam on the same log-likelihood (ours, for comparison).
    e : float
        Extra variance of the layers above the first: 1 as in the authors' program, 0 the consistent value.
    preprocessor : transformer, "standardise" or None
        Fitted on the rows trained on; "standardise" scales every column to mean 0 and deviation 1.
    batch_size : int or "auto"
        "auto" is the authors' 10.
    learning_rate_init : float
        Of ``method="ebp_adam"`` only.
    max_iter, n_iter_no_change, tol, validation_fraction, random_state, verbose
        As in `ABNetClassifier`; early stopping looks at the validation part's 0-1 error.

    Attributes
    ----------
    network_ : BAM
        The deterministic sign network; `predict` uses the posterior average instead.
    model_, preprocessor_, classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_
        As in `ABNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> EBPClassifier((4,), max_iter=5, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _: KW_ONLY
    method: str = "ebp"
    e: float = 1.0

    def _learner(self) -> Any:
        from abnet.paper.methods import EBP, EBPAdam

        check_choice("method", self.method, ("ebp", "ebp_adam"))
        if self.method == "ebp":
            return EBP(e=self.e)
        return EBPAdam(e=self.e)

    def _deploy(self, learner: Any, state: Any) -> Predictor:
        from abnet.model.predictors.moments import MomentsPredictor

        self.network_ = learner.network(state)
        return MomentsPredictor.from_networks([self.network_], e=float(self.e))

    def _auto_batch(self, n: int) -> int:
        return 10
