"""One deterministic network drawn from a fitted posterior, with a certificate of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.bam import BAM
from abnet.bounds.drawn_network import DrawnCertificate
from abnet.predictors.predictor import in_order

__all__ = ["DrawnNetwork", "Posterior", "draw_network"]


@dataclass(frozen=True, eq=False)
class DrawnNetwork:
    """A plain binary activated network: no vote, no sampling at prediction, no factor 2 in its certificate.

    Attributes
    ----------
    network : BAM
        The drawn network, in float64; its inputs are prepared rows, its outputs ±1.
    certificate : DrawnCertificate or None
        What is promised for this network; None where no theorem covers what was done.
    classes : array of two labels
        The first stands for -1, the second for +1.
    preparation : object with ``transform``, optional
        Fitted map from the caller's rows to the network's inputs.
    feature_names : tuple of str, optional
        Columns in the order of training.
    """

    network: BAM
    certificate: DrawnCertificate | None
    classes: NDArray[Any]
    preparation: Any = None
    feature_names: tuple[str, ...] | None = None

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The network's output ±1 for every row of the caller's."""
        X = in_order(X, self.feature_names, self.preparation)
        rows = X if self.preparation is None else self.preparation.transform(X)
        return _output(self.network, rows)

    def predict(self, X: Any) -> NDArray[Any]:
        """The label for every row of the caller's."""
        return self.classes[(self.decision_function(X) > 0).astype(int)]


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
    posterior: Posterior, X: NDArray[np.float32], y: NDArray[np.float64], rng: np.random.Generator
) -> tuple[BAM, DrawnCertificate]:
    """Draw once, count the errors on the prepared bound rows (X, y), certify.

    Parameters
    ----------
    posterior : Posterior
        Fixed before `rng` was used.
    X : array (n, d_0)
        Prepared bound rows.
    y : array (n,)
        Labels ±1.
    rng : numpy.random.Generator
        Independent of everything that the posterior depends on.

    Examples
    --------
    >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
    >>> terms = {"delta": 0.05, "prior": "init", "posterior": "train"}
    >>> X, y = np.float32([[-3], [-2], [2], [3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> network, certificate = draw_network(Posterior(one, one, terms), X, y, np.random.default_rng(0))
    >>> certificate.log_density_ratio, certificate.n_examples
    (0.0, 4)
    """
    network, ratio = posterior.draw(rng)
    errors = int(np.sum(_output(network, X) != y))
    return network, DrawnCertificate(errors, len(y), ratio, **posterior.terms)


def _output(network: BAM, rows: Any) -> NDArray[np.float64]:
    """Output ±1; rows are rounded to float32 first, as those of the bound were: a sign may hang on the last bit."""
    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    matrix = np.asarray(dense, np.float32)
    if matrix.ndim != 2 or matrix.shape[1] != network.sizes[0]:
        raise ValueError(f"X has shape {matrix.shape}, but the network expects (rows, {network.sizes[0]}).")
    if not np.isfinite(matrix).all():
        raise ValueError("Input contains NaN or infinity: fill in or remove missing values first.")
    return network.predict(matrix)
