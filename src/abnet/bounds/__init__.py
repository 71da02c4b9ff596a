"""PAC-Bayes and test-set bounds.

There is one function per bound. Each takes and returns plain float64 numbers and rounds outward; only
``catoni_objective`` uses JAX. Bounds on the Gibbs risk and on the vote also accept arrays and broadcast them. Names are
loaded on first use, so importing this package is cheap.
"""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.bounds.cantelli import c_bound, mu_tandem_bound
    from abnet.bounds.catoni import catoni_bound, catoni_objective
    from abnet.bounds.clopper_pearson import clopper_pearson_bound
    from abnet.bounds.drawn_network import single_network_bound
    from abnet.bounds.from_losses import loss_bound
    from abnet.bounds.frozen_gibbs import gibbs_bound_frozen
    from abnet.bounds.gibbs import gibbs_bound, xi
    from abnet.bounds.kl_inverse import binary_kl, kl_inverse_lower, kl_inverse_upper
    from abnet.bounds.sampled import (
        fixed_paths_tandem_bound,
        fixed_paths_threshold,
        fixed_paths_vote_bound,
        sampled_risk_bound,
    )
    from abnet.bounds.vote import (
        tandem_bound,
        twice_gibbs_bound,
        vote_bound,
    )

__all__ = [
    "binary_kl",
    "c_bound",
    "catoni_bound",
    "catoni_objective",
    "clopper_pearson_bound",
    "fixed_paths_tandem_bound",
    "fixed_paths_threshold",
    "fixed_paths_vote_bound",
    "gibbs_bound",
    "gibbs_bound_frozen",
    "kl_inverse_lower",
    "kl_inverse_upper",
    "loss_bound",
    "mu_tandem_bound",
    "sampled_risk_bound",
    "single_network_bound",
    "tandem_bound",
    "twice_gibbs_bound",
    "vote_bound",
    "xi",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.bounds.kl_inverse": ["binary_kl", "kl_inverse_lower", "kl_inverse_upper"],
        "abnet.bounds.cantelli": ["c_bound", "mu_tandem_bound"],
        "abnet.bounds.catoni": ["catoni_bound", "catoni_objective"],
        "abnet.bounds.clopper_pearson": ["clopper_pearson_bound"],
        "abnet.bounds.drawn_network": ["single_network_bound"],
        "abnet.bounds.frozen_gibbs": ["gibbs_bound_frozen"],
        "abnet.bounds.gibbs": ["gibbs_bound", "xi"],
        "abnet.bounds.from_losses": ["loss_bound"],
        "abnet.bounds.sampled": [
            "fixed_paths_tandem_bound",
            "fixed_paths_threshold",
            "fixed_paths_vote_bound",
            "sampled_risk_bound",
        ],
        "abnet.bounds.vote": ["tandem_bound", "twice_gibbs_bound", "vote_bound"],
    },
)
