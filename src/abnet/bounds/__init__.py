"""PAC-Bayes and test-set bounds, and the certificates made of them.

One function per bound, plain float64 numbers in and out, rounded outward; ``catoni_objective`` alone is JAX. Names are
loaded when they are first used, so that importing this package is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abnet.bounds.assemble import verify_certificate
    from abnet.bounds.catoni import catoni_bound
    from abnet.bounds.certificate import Certificate, ClassCertificate, MonteCarlo
    from abnet.bounds.certify import (
        certify_frozen,
        certify_frozen_sampled,
        certify_holdout,
        certify_trained,
        certify_trained_sampled,
    )
    from abnet.bounds.drawn import DrawnCertificate
    from abnet.bounds.evidence import SampledRisk
    from abnet.bounds.fixed_paths import fixed_paths_tandem_bound, fixed_paths_threshold, fixed_paths_vote_bound
    from abnet.bounds.gibbs import gibbs_bound, gibbs_bound_frozen
    from abnet.bounds.holdout import test_set_bound
    from abnet.bounds.kl import binary_kl, kl_inverse_lower, kl_inverse_upper
    from abnet.bounds.maurer import xi
    from abnet.bounds.objective import catoni_objective
    from abnet.bounds.sampled import (
        sampled_gibbs_bound,
        sampled_gibbs_bound_frozen,
        sampled_risk_bound,
        sampled_tandem_bound,
        sampled_tandem_bound_frozen,
    )
    from abnet.bounds.single import single_network_bound
    from abnet.bounds.vote import (
        tandem_bound,
        tandem_bound_frozen,
        twice_gibbs_bound,
        twice_gibbs_bound_frozen,
        vote_bound,
    )

__all__ = [
    "Certificate",
    "ClassCertificate",
    "DrawnCertificate",
    "MonteCarlo",
    "SampledRisk",
    "binary_kl",
    "catoni_bound",
    "catoni_objective",
    "certify_frozen",
    "certify_frozen_sampled",
    "certify_holdout",
    "certify_trained",
    "certify_trained_sampled",
    "fixed_paths_tandem_bound",
    "fixed_paths_threshold",
    "fixed_paths_vote_bound",
    "gibbs_bound",
    "gibbs_bound_frozen",
    "kl_inverse_lower",
    "kl_inverse_upper",
    "sampled_gibbs_bound",
    "sampled_gibbs_bound_frozen",
    "sampled_risk_bound",
    "sampled_tandem_bound",
    "sampled_tandem_bound_frozen",
    "single_network_bound",
    "tandem_bound",
    "tandem_bound_frozen",
    "test_set_bound",
    "twice_gibbs_bound",
    "twice_gibbs_bound_frozen",
    "verify_certificate",
    "vote_bound",
    "xi",
]

_MODULES = {
    "assemble": ["verify_certificate"],
    "catoni": ["catoni_bound"],
    "certificate": ["Certificate", "ClassCertificate", "MonteCarlo"],
    "certify": [name for name in __all__ if name.startswith("certify_")],
    "drawn": ["DrawnCertificate"],
    "evidence": ["SampledRisk"],
    "fixed_paths": [name for name in __all__ if name.startswith("fixed_paths_")],
    "gibbs": ["gibbs_bound", "gibbs_bound_frozen"],
    "holdout": ["test_set_bound"],
    "kl": ["binary_kl", "kl_inverse_lower", "kl_inverse_upper"],
    "maurer": ["xi"],
    "objective": ["catoni_objective"],
    "sampled": [name for name in __all__ if name.startswith("sampled_")],
    "single": ["single_network_bound"],
    "vote": ["tandem_bound", "tandem_bound_frozen", "twice_gibbs_bound", "twice_gibbs_bound_frozen", "vote_bound"],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'abnet.bounds' has no attribute {name!r}")
    value = getattr(import_module(f"abnet.bounds.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
