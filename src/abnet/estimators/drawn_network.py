"""One deterministic network drawn from a posterior, with a certificate of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.bounds.vote import DrawnCertificate
from abnet.predictors.layers import Layers

__all__ = ["Posterior", "draw_network"]


@dataclass(frozen=True)
class Posterior:
    """N(centre, I) with its prior N(prior, I), and the terms of a certificate (see `DrawnCertificate`).

    Attributes
    ----------
    centre, prior : BAM
    terms : dict
        ``delta``, ``prior``, ``posterior`` and ``n_candidates``.
    """

    centre: BAM
    prior: BAM
    terms: dict[str, Any]

    def draw(self, rng: np.random.Generator) -> tuple[BAM, float]:
        """A network ``h = w + ε`` and ``ln dQ/dP(h) = ‖w - v‖²/2 + (w - v)·ε``, in float64.

        The sum of squares of `DrawnCertificate.log_density_ratio` expanded: nothing large cancels.
        """
        w, v = self.centre.astype(np.float64), self.prior.astype(np.float64)
        noise = [rng.standard_normal(leaf.shape) for leaf in (*w.weights, *w.biases)]
        moved = [a - b for a, b in zip((*w.weights, *w.biases), (*v.weights, *v.biases), strict=True)]
        ratio = sum(float(np.sum(d * (d / 2 + e))) for d, e in zip(moved, noise, strict=True))
        drawn = [leaf + e for leaf, e in zip((*w.weights, *w.biases), noise, strict=True)]
        return BAM(tuple(drawn[: len(w.weights)]), tuple(drawn[len(w.weights) :])), ratio


def draw_network(
    posterior: Posterior,
    X: NDArray[np.float32],
    codes: NDArray[Any],
    rng: np.random.Generator,
    words: NDArray[np.int8] | None = None,
    *,
    threads: int = 1,
) -> tuple[Layers, DrawnCertificate]:
    """Draw once, count the errors on the prepared bound rows, certify.

    Parameters
    ----------
    posterior : Posterior
        Fixed before `rng` was used.
    X : array (n, d_0)
        Prepared bound rows.
    codes : array (n,)
        Their classes, 0 to K - 1; for two classes -1 may stand for 0.
    rng : numpy.random.Generator
        Independent of everything that the posterior depends on.
    words : int8 array (K, c), optional
        Code words of several classes.
    threads : int
        That count.

    Examples
    --------
    >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
    >>> terms = {"delta": 0.05, "prior": "init", "posterior": "train"}
    >>> X, y = np.float32([[-3], [-2], [2], [3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> network, certificate = draw_network(Posterior(one, one, terms), X, y, np.random.default_rng(0))
    >>> certificate.log_density_ratio, certificate.n_examples
    (0.0, 4)
    """
    drawn, ratio = posterior.draw(rng)
    network = Layers.from_network(drawn, words)
    errors = int(np.sum(network.votes(X, threads=threads) != np.maximum(codes, 0)))
    return network, DrawnCertificate(errors, len(codes), ratio, **posterior.terms)
