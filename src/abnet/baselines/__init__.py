"""The methods that the paper compares with: EBP, BinaryConnect and BNN.

Each training rule is a *learner*: a frozen, hashable record of options with pure methods `init`, `start`, `step`,
`output` and `monitor`, which the shared training loop compiles. They are deployed as predictors: EBP by
`abnet.predictors.moments`, the others by `abnet.predictors.layers`.
"""

from abnet.baselines.binaryconnect import BinaryConnect
from abnet.baselines.bnn import BNN
from abnet.baselines.ebp import EBP, EBPAdam

__all__ = ["EBP", "EBPAdam", "BinaryConnect", "BNN"]
