"""One deterministic network drawn from a posterior, and EBP's forward pass with its posterior average."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.arrays import check_array, check_names
from abnet.bam import BAM, contiguous, sgn
from abnet.certificates.certificate import Certificate
from abnet.certificates.certify import Terms, certify_drawn
from abnet.certificates.evidence import observe
from abnet.codebook import nearest_word
from abnet.cube import erf, namespace
from abnet.features import CodedLayer, CodedRows
from abnet.labels import Labels
from abnet.predictors.paths import checked_layers, layered_arrays
from abnet.predictors.predictor import ModelInfo, Predictor, check_chain, check_matrix

__all__ = [
    "DrawnNetwork",
    "LayerMoments",
    "Posterior",
    "PosteriorAverage",
    "draw_network",
    "layer_moments",
    "one_of_several",
    "posterior_average",
]


@dataclass(frozen=True, eq=False)
class DrawnNetwork(Predictor):
    """A plain binary activated network: no vote, no sampling at prediction, no factor 2 in its certificate.

    Its scores are the outputs ±1, or 1 for the class it decodes to of several and 0 for the others, and so no
    probabilities. Any width and depth.

    Parameters
    ----------
    network : BAM
        The drawn network; held in float64.

    Examples
    --------
    >>> W_1, W_2 = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([[1.0, 1.0]])
    >>> xor = DrawnNetwork(BAM((W_1, W_2), (np.array([-0.5, 1.5]), np.array([-1.0]))))
    >>> xor.predict([[0, 0], [0, 1], [1, 0], [1, 1]])
    array([-1,  1,  1, -1])
    """

    network: BAM
    shares: ClassVar[bool] = False
    coded_block: ClassVar[int] = 4096

    def __post_init__(self) -> None:
        if (self.network.sizes[-1] == 1) != (self.info.labels.n_classes == 2):
            outputs, labels = self.network.sizes[-1], self.info.labels.n_classes
            raise ValueError(f"{outputs} outputs do not tell the classes apart: there are {labels} labels.")
        if self.info.labels.n_classes > 2:
            self.info.code_words(self.network.sizes[-1])
        super().__post_init__()
        object.__setattr__(self, "network", contiguous(self.network))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.info.labels.n_classes

    @property
    def certificate(self) -> Certificate | None:
        """What is promised for this network; None where no theorem covers what was done."""
        return self.info.certificate

    def with_certificate(self, certificate: Certificate | None) -> "DrawnNetwork":
        """The same network with another certificate."""
        return replace(self, info=replace(self.info, certificate=certificate))

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``F_B(x)`` in {-1, +1}, or a one for the class of the nearest code word."""
        return self._decoded(self.network.predict(X), np.isfinite(X).all(axis=1))

    def coded_scorer(self, counts: tuple[int, ...]) -> Callable[[CodedRows], NDArray[np.float64]]:
        """`score_rows` of coded rows; what the codes add to the first layer's sums is looked up."""
        layer = CodedLayer(self.network.weights[0], self.network.biases[0], counts)
        above = BAM(self.network.weights[1:], self.network.biases[1:])

        def score(rows: CodedRows) -> NDArray[np.float64]:
            return self._decoded(above.predict(sgn(layer.sums(rows))), np.isfinite(rows.features).all(axis=1))

        return score

    def _decoded(self, outputs: NDArray[np.float64], finite: Any) -> NDArray[np.float64]:
        """Scores from the network's outputs."""
        # A sign would hide a NaN of the input from the caller.
        if outputs.ndim == 1:
            return np.where(finite, outputs, np.nan)
        words = self.info.code_words(outputs.shape[1])
        return np.where(finite[:, None], np.eye(self.n_classes)[nearest_word(words, outputs)], np.nan)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``W_k`` and ``b_k`` by layer."""
        return layered_arrays(W=self.network.weights, b=self.network.biases)

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "DrawnNetwork":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        weights, biases = checked_layers(arrays, several=info.labels.n_classes > 2)
        return DrawnNetwork(BAM(weights, biases), info=info)


class LayerMoments(NamedTuple):
    """One layer of the forward pass: mean inputs ``v_{l-1}``, deviations ``s_l`` and ``z_l = a_l / s_l``."""

    v: Any
    s: Any
    z: Any


def layer_moments(network: BAM, X: Any, *, e: float) -> list[LayerMoments]:
    """Propagate means and variances through the layers, as if the units of a layer were independent Gaussians.

    ``a_l = M_l v_{l-1} + b_l``, ``s_1² = ‖x‖² + 1``, ``s_l² = (d_{l-1} + 1) + M_l² (1 - v_{l-1}²) + e`` for l ≥ 2,
    ``v_l = 2Φ(a_l/s_l) - 1``.

    Parameters
    ----------
    network : BAM
        Posterior means.
    X : array (rows, d_0)
        NumPy or JAX, like the network.
    e : float
        Extra variance of the layers above the first.
    """
    v, layers = X, list[LayerMoments]()
    for M, b in zip(network.weights, network.biases, strict=True):
        if layers:
            variance = M.shape[1] + 1 + e + (1 - v * v) @ (M * M).T
        else:
            variance = (v * v).sum(axis=1, keepdims=True) + 1
        s = namespace(variance).sqrt(variance)
        z = (v @ M.T + b[None, :]) / s
        layers.append(LayerMoments(v, s, z))
        v = erf(z / math.sqrt(2))
    return layers


def posterior_average(network: BAM, X: Any, *, e: float) -> Any:
    """EBP's output ``v_L = erf(z_L/√2)``, approximately the mean output of networks drawn from ``N(network, I)``.

    The label is its sign, and ``P(y|x) = (1 + y v_L)/2``. With several outputs the label is that of the largest.
    Parameters as in `layer_moments`.

    Returns
    -------
    array (rows,) or (rows, K)
        In [-1, 1].

    Examples
    --------
    >>> network = BAM((np.array([[1.0, 0.0]]),), (np.array([0.0]),))
    >>> posterior_average(network, np.array([[0.0, 0.0], [3.0, 0.0]]), e=1.0).round(3)
    array([0.   , 0.657])
    """
    z = layer_moments(network, X, e=e)[-1].z
    return erf((z[:, 0] if z.shape[1] == 1 else z) / math.sqrt(2))


def one_of_several(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of K classes, given that one output and no other is +1: ``P_j ∝ Φ(z_j) Π_{k≠j} Φ(-z_k)``.

    That is ``P_j ∝ Φ(z_j)/Φ(-z_j)``, so that the largest z has the largest share (Soudry, Hubara and Meir 2014 predict
    the most probable of the K possible labels).

    Examples
    --------
    >>> one_of_several(np.array([[0.0, 0.0, 0.0, 0.0]]))
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    from scipy.special import log_ndtr

    log_odds = log_ndtr(z) - log_ndtr(-z)
    odds = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class PosteriorAverage(Predictor):
    """EBP's posterior-averaged output: ``v_L`` for two classes, `one_of_several` for more.

    Parameters
    ----------
    network : BAM
        Posterior means.
    e : float
        Extra variance of the layers above the first.
    """

    network: BAM
    e: float

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return self.network.sizes[0]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(self.network.sizes[-1], 2)

    def score_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """``v_L``, in [-1, 1], or a share for each of several classes."""
        network = self.network.astype(np.float64)
        if self.n_classes == 2:
            return np.asarray(posterior_average(network, X, e=self.e))
        return one_of_several(layer_moments(network, X, e=self.e)[-1].z)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The layers ``V_k = (M_k, b_k)`` and e."""
        layers = {f"layer_{k}": np.ascontiguousarray(V) for k, V in enumerate(self.network.layers, start=1)}
        return {**layers, "e": np.array([self.e])}

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]], info: ModelInfo) -> "PosteriorAverage":
        """The predictor whose `arrays` these are; ValueError if they are not fit to be."""
        names = tuple(f"layer_{k}" for k in range(1, len(arrays)))
        check_names(arrays, (*names, "e"))
        check_array(arrays, "e", (1,))
        layers = tuple(check_matrix(arrays, name, (np.float64, np.float32)) for name in names)
        check_chain([(V.shape[0], V.shape[1] - 1) for V in layers], info.labels.n_classes)
        return PosteriorAverage(BAM.from_layers(layers), float(arrays["e"][0]), info=info)


@dataclass(frozen=True)
class Posterior:
    """N(centre, I) with its prior N(prior, I), and the terms of a certificate.

    Attributes
    ----------
    centre, prior : BAM
    terms : Terms
    """

    centre: BAM
    prior: BAM
    terms: Terms

    def draw(self, rng: np.random.Generator) -> tuple[BAM, float]:
        """A network ``h = w + ε`` and ``ln dQ/dP(h) = ‖w - v‖²/2 + (w - v)·ε``, in float64.

        ``(‖w + ε - v‖² - ‖ε‖²)/2`` expanded: nothing large cancels.
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
    labels: Labels | None = None,
    *,
    threads: int = 1,
) -> tuple[DrawnNetwork, Certificate]:
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
    labels : Labels, optional
        Of several classes.
    threads : int
        That count.

    Examples
    --------
    >>> one = BAM((np.ones((1, 1)),), (np.zeros(1),))
    >>> terms = Terms(source="init", trained=True)
    >>> X, y = np.float32([[-3], [-2], [2], [3]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> network, certificate = draw_network(Posterior(one, one, terms), X, y, np.random.default_rng(0))
    >>> certificate.statements[0].counted["log_density_ratio"], certificate.facts.n_rows
    (0.0, 4)
    """
    drawn, ratio = posterior.draw(rng)
    network = DrawnNetwork(drawn, info=ModelInfo() if labels is None else ModelInfo(labels))
    truth = np.maximum(np.asarray(codes), 0).astype(np.intp)
    seen = observe(network.votes(X, threads=threads), truth, network.info.labels.names)
    return network, certify_drawn(seen, posterior.terms, ratio)
