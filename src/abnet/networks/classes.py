"""Probabilities of several classes along ancestral paths; `exact.output` with a table computes them exactly.

The last layer has c neurons, and a table with 2^c rows maps each of their outputs to a class
(`abnet.networks.codebook`). Given the last hidden layer the output neurons are independent, so one multilinear
evaluation of the table gives the probability of every class.
"""

from typing import Any

from abnet.networks.ancestral import draw_signs, last_means, mean_of_paths, sign_means
from abnet.networks.codebook import decoded
from abnet.networks.cube import erf
from abnet.networks.independent_signs import normal_means
from abnet.networks.shapes import Float, Key, Matrices

__all__ = ["normal_probabilities", "path_probabilities"]


def path_probabilities(
    layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int, table: Float[Any, "_ K"]
) -> Float[Any, "rows K"]:
    """Mean of ``P(class | s_{L-1})`` over independent paths: an unbiased estimate for every depth and width.

    Parameters
    ----------
    layers : tuple of arrays (d_k, d_{k-1} + 1)
        At least one hidden layer.
    lifted : array (rows, d_0 + 1)
    key : JAX PRNG key
    n_samples : int
        Paths of each row.
    table : array (2**c, K)

    Returns
    -------
    array (rows, K)
        Rows sum to 1 if those of the table do.
    """

    def path(layers: Any, lifted: Any, key: Key) -> Any:
        m, key = last_means(layers, lifted, key)
        return decoded(table, sign_means(layers[-1], draw_signs(m, key)))

    return mean_of_paths(path, layers, lifted, key, n_samples)


def normal_probabilities(
    layers: Matrices, lifted: Float[Any, "rows _"], key: Key, n_samples: int, table: Float[Any, "_ K"]
) -> Float[Any, "rows K"]:
    """Class probabilities without drawing the last hidden layer: a surrogate for training, not for certificates.

    The means of the output neurons come from `normal_means`, and the table is evaluated as if the outputs were
    independent. They are not, because they read the same signs. Parameters and result are those of
    `path_probabilities`.
    """

    if len(layers) == 2:
        # Nothing is drawn. With the rows last, a step takes a tenth less time.
        m = erf(layers[0] @ lifted.T * lifted.dtype.type(0.5**0.5))
        return decoded(table, normal_means(layers[1], m).T)

    def path(layers: Any, lifted: Any, key: Key) -> Any:
        m, _ = last_means(layers, lifted, key)
        return decoded(table, normal_means(layers[-1], m.T).T)

    return mean_of_paths(path, layers, lifted, key, n_samples)
