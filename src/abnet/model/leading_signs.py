"""Which region each row falls in: the most probable output, - or +, of every neuron of a narrow leading layer.

These regions cut the space into disjoint parts, each row in exactly one of them. They depend on the deployed network
only, so rows that were held out from training can certify an error rate for each (`abnet.certificates`).
"""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.region_counts import LocatedRows
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.leading import weighted_sums
from abnet.model.predictors.predictor import Predictor, as_matrix
from abnet.model.predictors.uniform import UniformPredictor
from abnet.model.region_words import RegionWords
from abnet.utils.coded_rows import dense

__all__ = ["LeadingLayer", "leading_layer", "leading_signs", "located_rows", "why_no_signs"]

MOST_NEURONS = 10
"""Widest leading layer that is called narrow. It has 1,024 regions: of more, few would hold enough rows."""
BLOCK_ENTRIES = 2**20
"""About how many inputs are read at a time."""


class LeadingLayer(NamedTuple):
    """Weights and biases of the leading layer of a single network: neuron i outputs + where ``W_i x + b_i ≥ 0``."""

    W: NDArray[np.float64]
    b: NDArray[np.float64]


@singledispatch
def why_no_signs(predictor: Predictor) -> str:
    """Why rows are not in one region each, in a sentence; empty if they are.

    Examples
    --------
    >>> two = Compact(np.ones((2, 1, 1)), np.zeros((2, 1)), np.array([[-1.0, 1.0], [-1.0, 1.0]]))
    >>> print(why_no_signs(two))
    A mixture of 2 networks has no regions of its own: each network divides the rows in another way.
    """
    return (
        f"A predictor of kind {type(predictor).__name__} has no regions: it is not a single network with a narrow "
        "first layer."
    )


@why_no_signs.register
def _(predictor: Compact) -> str:
    members, width = predictor.b.shape
    if members > 1:
        return (
            f"A mixture of {members} networks has no regions of its own: each network divides the rows in another way."
        )
    return _too_wide(width)


@why_no_signs.register
def _(predictor: UniformPredictor) -> str:
    return _too_wide(len(predictor.b))


@why_no_signs.register
def _(predictor: Layers) -> str:
    if predictor.network is None:
        return "The neurons of this network do not output signs, so it has no regions."
    return _too_wide(predictor.sizes[1])


def _too_wide(width: int) -> str:
    if width <= MOST_NEURONS:
        return ""
    return f"A first layer of {width} neurons has 2^{width} regions, too many for a statement about each."


def leading_layer(predictor: Predictor) -> LeadingLayer | None:
    """The leading layer whose signs tell the region of a row; None if there is none (`why_no_signs` says why).

    Examples
    --------
    >>> one = Compact(np.array([[[2.0, 1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> leading_layer(one)
    LeadingLayer(W=array([[2., 1.]]), b=array([0.]))
    """
    if why_no_signs(predictor):
        return None
    if isinstance(predictor, Compact):
        return LeadingLayer(predictor.W[0], predictor.b[0])
    if isinstance(predictor, UniformPredictor):
        return LeadingLayer(predictor.W, predictor.b)
    assert isinstance(predictor, Layers)
    network = predictor.network
    assert network is not None
    return LeadingLayer(network.weights[0], network.biases[0])


def leading_signs(predictor: Predictor, inputs: Any) -> NDArray[np.str_] | None:
    """The region of each prepared row, as a text such as ``-++``; None if rows are not in one region each.

    Parameters
    ----------
    predictor : Predictor
    inputs : array, sparse matrix or CodedRows (n, n_inputs)

    Examples
    --------
    >>> one = Compact(np.array([[[1.0], [-1.0]]]), np.zeros((1, 2)), np.array([[-1.0, 0.5, 0.5, 1.0]]))
    >>> leading_signs(one, np.array([[3.0], [-2.0]])).tolist()
    ['+-', '-+']
    """
    layer = leading_layer(predictor)
    if layer is None:
        return None
    matrix = as_matrix(inputs, predictor.n_inputs)
    step = max(BLOCK_ENTRIES // predictor.n_inputs, 1)
    signs = np.empty((matrix.shape[0], len(layer.b)), "U1")
    for start in range(0, len(signs), step):
        block = np.asarray(dense(matrix[start : start + step]), np.float32).astype(np.float64)
        signs[start : start + step] = np.where(weighted_sums(*layer, block) >= 0, "+", "-")
    return _joined(signs)


def located_rows(predictor: Predictor, inputs: Any, region_words: Sequence[RegionWords]) -> LocatedRows | None:
    """The region of each prepared row, with the regions in words; None if rows are not in one region each.

    Parameters
    ----------
    predictor : Predictor
    inputs : array, sparse matrix or CodedRows (n, n_inputs)
    region_words : sequence of RegionWords
        Those that are known.
    """
    signs = leading_signs(predictor, inputs)
    if signs is None:
        return None
    return LocatedRows(signs, {region.signs: str(region) for region in region_words})


def _joined(signs: NDArray[np.str_]) -> NDArray[np.str_]:
    """One text for each row of single characters."""
    n_rows, width = signs.shape
    return np.ascontiguousarray(signs).view(f"U{width}").reshape(n_rows)
