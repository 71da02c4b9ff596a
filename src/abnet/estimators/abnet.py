"""`ABNetClassifier`: the aggregation that shares each draw among all neurons of a layer."""

import sys
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from abnet.aggregation import ancestral, exact
from abnet.bam import BAM
from abnet.estimators.aggregated import AggregatedClassifier
from abnet.predictors.compact import CompactABNet
from abnet.predictors.paths import PathPredictor
from abnet.predictors.predictor import Predictor
from abnet.predictors.uniform_draws import CompactUniform

__all__ = ["ABNetClassifier"]

AFFORDABLE = 2**26
"""Products in a training step that "auto" still computes exactly: some milliseconds on one core."""


def exact_cost(hidden: tuple[int, ...], batch_size: int) -> int:
    """Products of one exact forward pass: ``2^{d_k + d_{k-1}}`` for each pair of layers, ``2^{d_1}`` for each row.

    Examples
    --------
    >>> exact_cost((12, 12, 12), 64) <= AFFORDABLE, exact_cost((13, 13), 64) <= AFFORDABLE
    (True, False)
    """
    return sum(2 ** (below + above) for below, above in pairwise(hidden)) + batch_size * 2 ** hidden[0]


class ABNetClassifier(AggregatedClassifier):
    """Aggregated binary activated network, trained for and delivered with a certificate on its error.

    The network's neurons output ±1 and its weights are Gaussian; the classifier predicts by the vote of all networks,
    and PAC-Bayes theory bounds its error on new data from the training data alone.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        Widths of the hidden layers, at least one.
    objective : {"bound", "loss"}
        Minimise the PAC-Bayes bound, or the linear loss with a validation part (no prior part then).
    prior : {"auto", "split", "init"}
        Learn the prior on a first part of the data, or use the random initialisation (the paper's). "auto" is "split"
        with ``objective="bound"`` and "init" with ``objective="loss"``.
    posterior : {"auto", "train", "frozen"}
        Train the posterior through the bound on the second part, or keep the learned prior and use the second part for
        the certificate alone. "auto" is "frozen" with a learned prior, which was tighter on every data set measured
        (docs/certificates.md), and "train" without one.
    prior_fraction : float
        Share of the rows in the first part.
    aggregation : {"exact", "uniform", "ancestral", "auto"}
        How the output is computed. "exact": all representations, up to 20 units a layer. "uniform": the paper's
        sampling, whose bound is an estimate. "ancestral": unbiased paths, any width, certified. "auto": exact while a
        training step takes at most 2^26 products, ancestral above; ``aggregation_`` says which.
    n_samples : int
        Draws per layer of the sampled aggregations. With "ancestral", the number of paths that vote in `predict`:
        they are drawn once and kept, and the certificate of the vote gains from more of them
        (`abnet.bounds.fixed_paths`); a frozen posterior needs no such allowance.
    preprocessor : transformer, optional
        Fitted on the first part only (rows, and labels as ±1), so that the certificate stays valid.
    delta : float
        The certificate may fail with at most this probability.
    n_candidates : int
        Number of models among which this one was or will be chosen by looking at its training data; fixed in advance.
    batch_size : int or "auto"
        "auto" is 32, and 64 from 20,000 rows.
    learning_rate_init : float
        Of the stage that minimises the bound or the linear loss.
    max_iter : int
        Epochs at the most, per stage.
    n_iter_no_change : int
        Epochs without improvement by `tol` after which a stage ends.
    tol : float
    validation_fraction : float
        Share held out for early stopping: of all rows with ``objective="loss"``, of the first part while the prior is
        learned.
    random_state : int, RandomState or None
    verbose : int
        1 draws a progress bar on a terminal, and says what "auto" chose.

    Attributes
    ----------
    certificate_ : Certificate or None
        What is promised for new data; None where no theorem covers what was done (see ``bound_estimate_``).
    bound_estimate_ : float or None
        The Gibbs bound where it is only an estimate.
    drawn_network_ : DrawnNetwork
        One network of the posterior with its own certificate, as `draw_network` returns it.
    network_, prior_ : BAM
        Centres of the posterior (the MAP network) and of the prior.
    aggregation_ : str
        The aggregation that was used.
    predictor_ : Predictor
        What `predict` uses, in NumPy alone.
    classes_, n_features_in_, feature_names_in_, n_iter_, loss_curve_, bound_curve_
        As in scikit-learn; curves hold the monitored value after each epoch, the start first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ABNetClassifier((4,), preprocessor=StandardScaler(), max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.gibbs_risk_bound < 0.25
    True
    """

    _methods: ClassVar[dict[str, str]] = {
        "exact": "exact",
        "uniform": "uniform",
        "ancestral": "ancestral surrogate",
    }
    _deferred: ClassVar[tuple[str, ...]] = ("auto",)

    def __init__(
        self,
        hidden_layer_sizes: Any = (4, 4),
        *,
        objective: str = "bound",
        prior: str = "auto",
        posterior: str = "auto",
        prior_fraction: float = 0.5,
        aggregation: str = "exact",
        n_samples: int = 100,
        preprocessor: Any = None,
        delta: float = 0.05,
        n_candidates: int = 1,
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

    def _check_parameters(self) -> tuple[int, ...]:
        hidden = super()._check_parameters()
        if self.aggregation == "exact":
            exact.check_width((1, *hidden, 1))
        return hidden

    def _choose_aggregation(self, hidden: tuple[int, ...], batch_size: int) -> str:
        if self.aggregation != "auto":
            return self.aggregation
        affordable = max(hidden) <= exact.MAX_WIDTH and exact_cost(hidden, batch_size) <= AFFORDABLE
        if self.verbose:
            why = "all representations are affordable" if affordable else "too many representations to enumerate"
            print(f"aggregation: {'exact' if affordable else 'ancestral'} ({why}).", file=sys.stderr)
        return "exact" if affordable else "ancestral"

    def _training_samples(self) -> int:
        return ancestral.TRAINING_PATHS if self.aggregation_ == "ancestral" else self.n_samples

    def _has_paths(self) -> bool:
        return self.aggregation_ != "exact"

    def _predictor(self, network: BAM, rng: np.random.Generator) -> Predictor:
        if self.aggregation_ == "ancestral":
            return PathPredictor.from_network(network, rng, n_paths=self.n_samples)
        if self.aggregation_ == "uniform":
            return CompactUniform.from_network(network, rng, n_samples=self.n_samples)
        return CompactABNet.from_network(network)

    def _kl(self, network: BAM, prior: BAM) -> float:
        return float(exact.kl(network.astype(np.float64), prior.astype(np.float64)))
