"""One deterministic network drawn from a posterior, with its own certificate."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import Evidence
from abnet.certificates.from_evidence import certify_drawn
from abnet.certificates.terms import Terms
from abnet.model.predictors.layers import Layers
from abnet.networks.posterior import Posterior

__all__ = ["DrawnNetwork", "draw_network"]


@dataclass(frozen=True, eq=False)
class DrawnNetwork:
    """A network drawn from a posterior.

    It can be certified whatever the posterior, no matter how the posterior's own risk is computed.

    Attributes
    ----------
    predictor : Layers
    log_density_ratio : float
        ``ln dQ/dP`` at the drawn member.
    """

    predictor: Layers
    log_density_ratio: float

    def certify(self, evidence: Evidence, terms: Terms) -> Certificate:
        """The certificate from the errors of this network on the bound rows.

        Examples
        --------
        >>> from abnet.certificates.evidence import observe
        >>> from abnet.networks import Exact
        >>> from abnet.networks.bam import BAM
        >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
        >>> drawn = draw_network(Posterior.from_networks([one], [one], Exact()), np.random.default_rng(0))
        >>> X, codes = np.float32([[-3], [-2], [2], [3]]), np.array([0, 0, 1, 1])
        >>> evidence = observe(drawn.predictor.votes(X), codes, ("no", "yes"))
        >>> certificate = drawn.certify(evidence, Terms(source="init", trained=True))
        >>> certificate.statements[0].log_density_ratio, certificate.facts.n_rows
        (0.0, 4)
        """
        return certify_drawn(evidence, terms, self.log_density_ratio)


def draw_network(posterior: Posterior, rng: np.random.Generator, words: NDArray[np.int8] | None = None) -> DrawnNetwork:
    """Draw one network.

    Parameters
    ----------
    posterior : Posterior
        Fixed before `rng` is used.
    rng : numpy.random.Generator
        Independent of everything that the posterior depends on.
    words : int8 array (K, c), optional
        Code words of several classes.
    """
    network, log_density_ratio = posterior.draw(rng)
    return DrawnNetwork(Layers.from_network(network, words), float(log_density_ratio))
