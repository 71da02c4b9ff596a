"""PBGNet (Letarte, Germain, Guedj, Laviolette 2019): neurons of a layer read independent draws of the layer below."""

from math import prod
from typing import Any

from abnet.aggregation.exact import check_width, lift, mean_activation
from abnet.bam import BAM
from abnet.cube import corners, multilinear, namespace

__all__ = ["expected_output", "kl", "layer_counts", "output", "tables"]


def tables(layers: tuple[Any, ...]) -> list[Any]:
    """Layers 2…L as tables over the representations below them, ``m_k(s̄)``, each of shape (2**d_{k-1}, d_k)."""
    return [mean_activation(V, lift(corners(V.shape[1] - 1, V.dtype))) for V in layers[1:]]


def output(layers: tuple[Any, ...], lifted: Any) -> Any:
    """PBGNet's output of a network given as its layers, on lifted inputs."""
    F = mean_activation(layers[0], lifted)
    for table in tables(layers):
        F = multilinear(table, F)
    return F[:, 0]


def expected_output(bam: BAM, X: Any) -> Any:
    """PBGNet's output: ``F^1 = m_1(x)``, ``F^k = Σ_s̄ m_k(s̄) Π_i (1/2 + s̄_i/2 · F^{k-1}_i)``.

    Equal to ABNet's with one hidden layer, different with more: the neurons of a layer no longer share one draw.

    Parameters
    ----------
    bam : BAM
    X : array (n, d_0)

    Returns
    -------
    array (n,)
        In [-1, 1].
    """
    check_width(bam.sizes)
    xp = namespace(bam.weights[0])
    return output(bam.layers, lift(xp.asarray(X, dtype=bam.weights[0].dtype)))


def layer_counts(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """How often each layer is counted in PBGNet's KL, once per path to the output: ``Π_{j>k} d_j`` for layer k.

    Examples
    --------
    >>> layer_counts((784, 4, 3, 1))
    (3, 1, 1)
    """
    return tuple(prod(sizes[k + 1 :]) for k in range(1, len(sizes)))


def kl(bam: BAM, prior: BAM) -> Any:
    """``1/2 Σ_k (Π_{j>k} d_j) (‖W_k - W_k^p‖² + ‖b_k - b_k^p‖²)``."""
    pairs = zip((*bam.weights, *bam.biases), (*prior.weights, *prior.biases), strict=True)
    return sum(c * ((a - p) ** 2).sum() for c, (a, p) in zip(layer_counts(bam.sizes) * 2, pairs, strict=True)) * 0.5
