"""What BinaryConnect and BNN share as classifiers."""

from typing import Any

from abnet.compact import ModelInfo, Predictor
from abnet.estimators.baseline import BaselineClassifier

__all__ = ["BinaryWeightsClassifier"]


class BinaryWeightsClassifier(BaselineClassifier):
    """A network of binary weights whose batch normalisation is folded into its units for prediction."""

    def _deploy(self, learner: Any, state: Any, info: ModelInfo) -> Predictor:
        from abnet.baselines.predictors import BinaryNetwork

        folded = learner.fold(state)
        self.weights_ = list(folded.weights)
        return BinaryNetwork(folded, info=info)

    def _auto_batch(self, n: int) -> int:
        return 100 if n >= 100 else min(32, n)
