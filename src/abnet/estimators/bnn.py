"""`BNNClassifier`: binary weights and binary activations."""

from typing import Any, ClassVar

from abnet.estimators.binary_weights import BinaryWeightsClassifier

__all__ = ["BNNClassifier"]


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
    predictor_, classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_
        As in `ABNetClassifier`. There is no `predict_proba`: the score is trained by a hinge loss.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> BNNClassifier((8,), max_iter=10, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _shares: ClassVar[bool] = False

    def __init__(
        self,
        hidden_layer_sizes: Any = (10,),
        *,
        glorot_scale: bool = True,
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
        self.glorot_scale = glorot_scale
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
        from abnet.baselines import BNN

        return BNN(glorot_scale=self.glorot_scale)
