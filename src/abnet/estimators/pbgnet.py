"""`PBGNetClassifier`: the mean-field aggregation of Letarte et al. (2019), the paper's counterpart."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abnet.aggregation import exact, meanfield
from abnet.bam import BAM
from abnet.estimators.aggregated import AggregatedClassifier
from abnet.predictors.mean_field_network import MeanFieldNetwork, SampledMeanField
from abnet.predictors.predictor import Predictor

__all__ = ["PBGNetClassifier"]


class PBGNetClassifier(AggregatedClassifier):
    """PBGNet: like `ABNetClassifier`, but every neuron reads its own draw of the layer below.

    With one hidden layer it is the same model. With more, the KL counts a layer once for every path from it to the
    output. Parameters, attributes and methods are those of `ABNetClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = PBGNetClassifier((4,), preprocessor=StandardScaler(), max_iter=20, random_state=0).fit(X, y)
    >>> clf.certificate_.gibbs_risk_bound < 0.25
    True
    """

    _methods: ClassVar[dict[str, str]] = {"exact": "meanfield", "uniform": "stochastic_meanfield"}

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

    def _predictor(self, network: BAM, rng: np.random.Generator) -> Predictor:
        if self.aggregation_ == "uniform":
            return SampledMeanField.from_network(network, rng, n_samples=self.n_samples)
        return MeanFieldNetwork.from_network(network)

    def _drawn(self) -> str:
        return "network" if len(self.network_.sizes) <= 3 else "mean field"

    def _expected_output(self, prepared: Any, F: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean-field output itself where the scores are only sampled; where it is too wide, nothing is claimed."""
        if self.aggregation_ != "uniform":
            return F
        if max(self.network_.sizes[1:-1]) > exact.MAX_WIDTH:
            return np.full(len(F), np.nan)
        return MeanFieldNetwork.from_network(self.network_).score_prepared(prepared)

    def _kl(self, network: BAM, prior: BAM) -> float:
        return float(meanfield.kl(network.astype(np.float64), prior.astype(np.float64)))
