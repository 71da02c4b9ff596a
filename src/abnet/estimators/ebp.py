"""`EBPClassifier`: expectation backpropagation with real weights."""

from typing import Any

from abnet.compact import ModelInfo, Predictor
from abnet.estimators.baseline import BaselineClassifier

__all__ = ["EBPClassifier"]


class EBPClassifier(BaselineClassifier):
    """Expectation backpropagation (Soudry, Hubara, Meir 2014): online Bayes for a sign network, no learning rate.

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
    predictor_, classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_
        As in `ABNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> EBPClassifier((4,), max_iter=5, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        hidden_layer_sizes: Any = (10,),
        *,
        method: str = "ebp",
        e: float = 1.0,
        preprocessor: Any = "standardise",
        batch_size: Any = "auto",
        learning_rate_init: float = 0.01,
        max_iter: int = 100,
        n_iter_no_change: int = 20,
        tol: float = 1e-4,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.method = method
        self.e = e
        self.preprocessor = preprocessor
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def _learner(self) -> Any:
        from abnet.baselines import EBP, EBPAdam
        from abnet.estimators.base import check_choice

        check_choice("method", self.method, ("ebp", "ebp_adam"))
        return EBP(e=self.e) if self.method == "ebp" else EBPAdam(e=self.e)

    def _deploy(self, learner: Any, state: Any, info: ModelInfo) -> Predictor:
        from abnet.baselines.predictors import PosteriorAverage

        self.network_ = learner.network(state)
        return PosteriorAverage(self.network_, float(self.e), info=info)

    def _auto_batch(self, n: int) -> int:
        return 10
