"""The methods that the paper compares with: EBP, BinaryConnect and BNN.

Each training rule is a *learner*: a frozen, hashable record of options with pure methods `init`, `start`, `step`,
`output` and `monitor`, which the shared training loop compiles. They are deployed as predictors: EBP by
`abnet.model.predictors.moments`, the others by `abnet.model.predictors.layers`.
"""

from abnet.paper.methods.binaryconnect import BinaryConnect
from abnet.paper.methods.bnn import BNN
from abnet.paper.methods.ebp import EBP, EBPAdam

__all__ = ["EBP", "EBPAdam", "BinaryConnect", "BNN"]
