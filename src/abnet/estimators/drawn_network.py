"""One deterministic network drawn from a posterior, with its own certificate."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify_drawn
from abnet.certificates.terms import Terms
from abnet.model.predictors.layers import Layers
from abnet.networks.posterior import Posterior
from abnet.tables.labels import Labels
from abnet.utils.coded_rows import CodedRows

__all__ = ["draw_network"]


def draw_network(
    posterior: Posterior,
    X: NDArray[np.float32] | CodedRows,
    codes: NDArray[Any],
    rng: np.random.Generator,
    labels: Labels,
    words: NDArray[np.int8] | None = None,
    *,
    terms: Terms,
    threads: int = 1,
) -> tuple[Layers, Certificate]:
    """Draw one network, count its errors on the prepared bound rows, and certify it.

    Parameters
    ----------
    posterior : Posterior
        Fixed before `rng` is used; the density ratio is that of the drawn member.
    X : array or CodedRows (n, d_0)
        Prepared bound rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    rng : numpy.random.Generator
        Independent of everything that the posterior depends on.
    labels : Labels
    words : int8 array (K, c), optional
        Code words of several classes.
    terms : Terms
        Of the certificate.
    threads : int
        That count.

    Examples
    --------
    >>> from abnet.networks import Exact
    >>> from abnet.networks.bam import BAM
    >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
    >>> terms = Terms(source="init", trained=True)
    >>> X, y = np.float32([[-3], [-2], [2], [3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> posterior = Posterior.from_networks([one], [one], Exact())
    >>> labels, rng = Labels(np.array([-1, 1])), np.random.default_rng(0)
    >>> network, certificate = draw_network(posterior, X, y, rng, labels, terms=terms)
    >>> certificate.statements[0].log_density_ratio, certificate.facts.n_rows
    (0.0, 4)
    """
    drawn, ratio = posterior.draw(rng)
    network = Layers.from_network(drawn, words)
    truth = np.maximum(np.asarray(codes), 0).astype(np.intp)
    seen = observe(network.votes(X, threads=threads), truth, labels.names)
    return network, certify_drawn(seen, terms, float(ratio))
