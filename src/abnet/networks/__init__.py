"""Binary activated networks, and the expected output of an aggregation of them; one file per method to compute it."""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.networks.ancestral import Ancestral
    from abnet.networks.bam import BAM
    from abnet.networks.exact import Exact, expected_output, kl, output, region_probabilities, region_values
    from abnet.networks.forward import psi, representation_probabilities
    from abnet.networks.initialisation import FanInUniform, GlorotNormal, Initialisation
    from abnet.networks.lifting import lift
    from abnet.networks.masks import masked_output, widened
    from abnet.networks.pbgnet import PBGNet
    from abnet.networks.posterior import Posterior
    from abnet.networks.protocol import Aggregation, linear_loss
    from abnet.networks.sampled_pbgnet import SampledPBGNet
    from abnet.networks.uniform import Uniform

__all__ = [
    "Aggregation",
    "Ancestral",
    "BAM",
    "Exact",
    "FanInUniform",
    "GlorotNormal",
    "Initialisation",
    "PBGNet",
    "Posterior",
    "SampledPBGNet",
    "Uniform",
    "expected_output",
    "kl",
    "lift",
    "linear_loss",
    "masked_output",
    "output",
    "psi",
    "region_probabilities",
    "region_values",
    "representation_probabilities",
    "widened",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.networks.ancestral": ["Ancestral"],
        "abnet.networks.bam": ["BAM"],
        "abnet.networks.exact": ["Exact", "expected_output", "kl", "output", "region_probabilities", "region_values"],
        "abnet.networks.forward": ["psi", "representation_probabilities"],
        "abnet.networks.initialisation": ["FanInUniform", "GlorotNormal", "Initialisation"],
        "abnet.networks.lifting": ["lift"],
        "abnet.networks.masks": ["masked_output", "widened"],
        "abnet.networks.pbgnet": ["PBGNet"],
        "abnet.networks.posterior": ["Posterior"],
        "abnet.networks.protocol": ["Aggregation", "linear_loss"],
        "abnet.networks.sampled_pbgnet": ["SampledPBGNet"],
        "abnet.networks.uniform": ["Uniform"],
    },
)
