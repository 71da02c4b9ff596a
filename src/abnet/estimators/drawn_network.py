"""One deterministic network drawn from a posterior, with a certificate of its own."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bounds.vote import DrawnCertificate
from abnet.posterior import Posterior
from abnet.predictors.layers import Layers

__all__ = ["draw_network"]


def draw_network(
    posterior: Posterior,
    X: NDArray[np.float32],
    codes: NDArray[Any],
    rng: np.random.Generator,
    words: NDArray[np.int8] | None = None,
    *,
    terms: Mapping[str, Any],
    threads: int = 1,
) -> tuple[Layers, DrawnCertificate]:
    """Draw once, count the errors on the prepared bound rows, certify.

    Parameters
    ----------
    posterior : Posterior
        Fixed before `rng` was used; the ratio is that of the member that is drawn.
    X : array (n, d_0)
        Prepared bound rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    rng : numpy.random.Generator
        Independent of everything that the posterior depends on.
    words : int8 array (K, c), optional
        Code words of several classes.
    terms : mapping
        ``delta``, ``prior``, ``posterior`` and ``n_candidates`` of the certificate (see `DrawnCertificate`).
    threads : int
        That count.

    Examples
    --------
    >>> from abnet.aggregation import Exact
    >>> from abnet.bam import BAM
    >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
    >>> terms = {"delta": 0.05, "prior": "init", "posterior": "train"}
    >>> X, y = np.float32([[-3], [-2], [2], [3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> posterior = Posterior.from_networks([one], [one], Exact())
    >>> network, certificate = draw_network(posterior, X, y, np.random.default_rng(0), terms=terms)
    >>> certificate.log_density_ratio, certificate.n_examples
    (0.0, 4)
    """
    drawn, ratio = posterior.draw(rng)
    network = Layers.from_network(drawn, words)
    errors = int(np.sum(network.votes(X, threads=threads) != np.maximum(codes, 0)))
    return network, DrawnCertificate(errors, len(codes), float(ratio), **terms)
