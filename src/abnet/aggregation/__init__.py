"""The expected output of an aggregation of binary activated networks; one file per method to compute it."""

from abnet.aggregation.ancestral import Ancestral
from abnet.aggregation.exact import Exact, expected_output, kl, region_probabilities, region_values
from abnet.aggregation.forward import psi, representation_probabilities
from abnet.aggregation.pbgnet import PBGNet
from abnet.aggregation.protocol import Aggregation
from abnet.aggregation.sampled_pbgnet import SampledPBGNet
from abnet.aggregation.uniform import Uniform

__all__ = [
    "Aggregation",
    "Ancestral",
    "Exact",
    "PBGNet",
    "SampledPBGNet",
    "Uniform",
    "expected_output",
    "kl",
    "psi",
    "region_probabilities",
    "region_values",
    "representation_probabilities",
]
