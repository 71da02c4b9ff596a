"""The parts of a model that every exporter writes: columns, features, network, labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.model.predictors.layers import Layers
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.paths import Paths
from abnet.model.predictors.pbgnet import PBGNetPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.networks.bam import BAM
from abnet.networks.codebook import nearest_word
from abnet.networks.cube import corners
from abnet.networks.independent_signs import is_narrow, layer_table
from abnet.networks.square_wave import WaveSeries, square_waves
from abnet.tables.columns import (
    BooleanColumn,
    Column,
    DateColumn,
    HashedColumn,
    NumericColumn,
    TextColumn,
    WordsColumn,
)
from abnet.tables.preparation.scalers import MinMaxMap, StandardMap
from abnet.tables.preparation.thermometer_map import ThermometerMap

__all__ = [
    "ExportPlan",
    "FixedPaths",
    "MeanSeries",
    "MeanLayers",
    "Network",
    "SignLayers",
    "SignMeans",
    "SignTable",
    "VoteTable",
    "export_plan",
    "float_rounding",
    "mean_layers",
    "network_of",
    "output_codes",
]

WIDEST_TABLE = 12
"""Drawn networks with a leading layer up to this width get a table of classes; wider ones are exported by layer."""

MOST_VALUES = 2**22
"""Largest table that is written out, in values."""

MOST_ROUNDED = 1e-3
"""Deviations of a column by which float32 may round its numbers."""

KNOWN = (NumericColumn, BooleanColumn, TextColumn, DateColumn, WordsColumn)
"""Kinds of columns that exporters write."""

Scaling = StandardMap | MinMaxMap | ThermometerMap


@dataclass(frozen=True, eq=False)
class VoteTable:
    """``mean_m Σ_s H_m[s] P_m(x)[s]``: W (M, d, n), b (M, d), H (M, 2**d, C); C is 1 for two classes."""

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    H: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SignTable:
    """``codes[sgn(W x + b)]``, the class of a network of signs: W (d, n), b (d,), codes (2**d,)."""

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    codes: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SignLayers:
    """``sgn(W_L sgn(… sgn(W_1 x + b_1) …) + b_L)``: a drawn network too wide for a table.

    `codes` (2**d_L,) is the class that each output stands for.
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    codes: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FixedPaths:
    """Mean output of sampled paths whose randomness is fixed: W_k (M, d_k, d_{k-1}), b_k (M, d_k), ε_k (M, T, d_k).

    `codes` (2**d_L,) is the class that each output stands for; None for two classes, whose one output is the score.
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    noise: tuple[NDArray[np.float64], ...]
    codes: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class MeanLayers:
    """Mean outputs layer by layer, by means and variances: W_k (M, d_k, d_{k-1}), b_k (M, d_k), extra variance e.

    `codes` (2**d_L,) is the class that each output stands for; None for two classes, whose one output is the score.
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    e: float
    codes: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class SignMeans:
    """Mean outputs layer by layer, each layer's over independent signs: W (M, d_1, n), b (M, d_1), and layers above.

    A layer is the table of its means (M, 2**d_{k-1}, d_k), or a `MeanSeries`.
    """

    W: NDArray[np.float64]
    b: NDArray[np.float64]
    above: tuple["NDArray[np.float64] | MeanSeries", ...]


@dataclass(frozen=True, eq=False)
class MeanSeries:
    """The series of a layer's neurons (`abnet.networks.square_wave.WaveSeries`), of all members: units are M d_k.

    ``F = Σ_k P_k Im(z_k) + Q_k Re(z_k)``, ``z_k = Π_j (cos_jk + i m_j sin_jk)``; the sign of ``c + v·m`` where that is
    at least the limit in size.

    Attributes
    ----------
    v : array (M, units, d)
    c, limits : arrays (M, units)
    cosines, sines : arrays (M, units, d, N)
    P, Q : arrays (M, units, N)
    """

    v: NDArray[np.float64]
    c: NDArray[np.float64]
    limits: NDArray[np.float64]
    cosines: NDArray[np.float64]
    sines: NDArray[np.float64]
    P: NDArray[np.float64]
    Q: NDArray[np.float64]

    @staticmethod
    def of(V: NDArray[np.float64]) -> "MeanSeries":
        """The series of a layer (M, units, d + 1); ValueError if it takes too many numbers."""
        members, units, columns = V.shape
        stacked = V.reshape(-1, columns)
        n_terms = square_waves(stacked).frequencies.shape[1]
        n_values = 2 * stacked.size * n_terms
        if n_values > MOST_VALUES:
            raise ValueError(
                f"the series of this network take {n_values:,} values, and at most {MOST_VALUES:,} are exported: train "
                "with narrower layers or fewer members."
            )
        series = WaveSeries.of(stacked)
        factors = (members, units, columns - 1, n_terms)
        return MeanSeries(
            v=series.scaled[:, :-1].reshape(members, units, -1),
            c=series.scaled[:, -1].reshape(members, units),
            limits=series.limits.reshape(members, units),
            cosines=series.cosines.swapaxes(0, 1).reshape(factors),
            sines=series.sines.swapaxes(0, 1).reshape(factors),
            P=series.by_imaginary.reshape(members, units, n_terms),
            Q=series.by_real.reshape(members, units, n_terms),
        )


Network = VoteTable | SignTable | SignLayers | FixedPaths | MeanLayers | SignMeans


@dataclass(frozen=True, eq=False)
class ExportPlan:
    """The parts of a model for an exporter.

    Attributes
    ----------
    model : Model
    network : Network
    names : tuple of str or None
        Columns of the input; None for an array whose columns have no names.
    columns : tuple of columns or None
        How each is prepared, in a model of a table.
    scaling : StandardMap, MinMaxMap, ThermometerMap or None
        How the columns of an array are prepared.
    thresholds : tuple of tuples of float
        Codes that follow the features made so far, for each of them; empty without codes.
    """

    model: Model
    network: Network
    names: tuple[str, ...] | None
    columns: tuple[Column, ...] | None
    scaling: Scaling | None
    thresholds: tuple[tuple[float, ...], ...]

    @property
    def n_columns(self) -> int:
        """Number of columns taken."""
        if self.columns is not None:
            return len(self.columns)
        if self.names is not None:
            return len(self.names)
        if self.scaling is not None:
            return self.scaling.n_features_in
        return self.model.n_inputs - self.n_codes

    @property
    def n_codes(self) -> int:
        """Number of codes behind the features."""
        return sum(map(len, self.thresholds))

    @property
    def n_features(self) -> int:
        """Number of inputs of the network."""
        return self.model.n_inputs

    @property
    def n_outputs(self) -> int:
        """Number of scores: one for two classes, else one for each."""
        if self.model.n_classes == 2:
            return 1
        return self.model.n_classes

    @property
    def coded(self) -> list[tuple[int, float]]:
        """Place of the feature and threshold of each code."""
        return [(place, t) for place, thresholds in enumerate(self.thresholds) for t in thresholds]


def export_plan(model: Model) -> ExportPlan:
    """The parts of a model; ValueError for one that cannot be exported, with what can be."""
    network = network_of(model.predictor)
    preparation = model.preparation
    if preparation.why_not_stored:
        raise ValueError(preparation.why_not_stored)
    if preparation.columns:
        _check_exact(preparation.columns)
        return ExportPlan(
            model=model,
            network=network,
            names=tuple(column.name for column in preparation.columns),
            columns=preparation.columns,
            scaling=None,
            thresholds=preparation.codes,
        )
    scaling = None
    if isinstance(preparation.base, Scaling):
        scaling = preparation.base
    return ExportPlan(
        model=model,
        network=network,
        names=model.feature_names,
        columns=None,
        scaling=scaling,
        thresholds=preparation.codes,
    )


@singledispatch
def network_of(predictor: Predictor) -> Network:
    """The network of a predictor, for C and ONNX; one function for each kind."""
    raise ValueError(
        f"a predictor of kind {type(predictor).__name__} cannot be exported; what can be are the networks and mixtures "
        "of a CertifiedClassifier or an ABNetClassifier (aggregation 'exact' or 'ancestral'), exact PBGNets, their MAP "
        "network, networks drawn from the posterior, and an EBPClassifier's of two classes."
    )


@network_of.register
def _(predictor: Compact) -> VoteTable:
    H = predictor.H
    if H.ndim == 2:
        H = H[:, :, None]
    if H.size > MOST_VALUES:
        raise ValueError(
            f"the table of this network has {H.size:,} values, and at most {MOST_VALUES:,} are exported: train with a "
            "narrower first layer or fewer members."
        )
    return VoteTable(predictor.W, predictor.b, H)


@network_of.register
def _(predictor: Layers) -> SignTable | SignLayers:
    network = predictor.network
    if network is None:
        raise ValueError("a BinaryConnect or BNN network cannot be exported; what can be are networks of signs.")
    codes = output_codes(predictor.words)
    if codes is None:
        codes = np.arange(2)
    if network.sizes[1] > WIDEST_TABLE:
        return SignLayers(network.weights, network.biases, codes)
    outputs = corners(network.sizes[1], np.float64)
    if network.weights[1:]:
        n_corners = len(outputs)
        outputs = BAM(network.weights[1:], network.biases[1:]).predict(outputs).reshape(n_corners, -1)
    powers = 2 ** np.arange(outputs.shape[1] - 1, -1, -1)
    return SignTable(network.weights[0], network.biases[0], codes[(outputs > 0) @ powers])


@network_of.register
def _(predictor: Paths) -> FixedPaths:
    return FixedPaths(predictor.weights, predictor.biases, predictor.noise, output_codes(predictor.words))


@network_of.register
def _(predictor: PBGNetPredictor) -> SignMeans:
    return SignMeans(predictor.weights[0], predictor.biases[0], tuple(mean_layers(predictor)))


def mean_layers(predictor: PBGNetPredictor) -> Iterator[NDArray[np.float64] | MeanSeries]:
    """The layers above the first: of all members the tables, or the series."""
    for W, b in zip(predictor.weights[1:], predictor.biases[1:], strict=True):
        V = np.concatenate([W, b[:, :, None]], axis=2)
        if is_narrow(V[0]):
            yield np.stack([layer_table(layer) for layer in V])
        else:
            yield MeanSeries.of(V)


@network_of.register
def _(predictor: MomentsPredictor) -> MeanLayers:
    codes = output_codes(predictor.words)
    if codes is None and predictor.n_classes > 2:
        raise ValueError(
            "a network by means and variances with one output for each of several classes (EBP) cannot be exported; "
            "one with code words can be."
        )
    return MeanLayers(predictor.weights, predictor.biases, predictor.e, codes)


def output_codes(words: NDArray[np.int8] | None) -> NDArray[np.intp] | None:
    """The class of each corner of the outputs, by the code words (K, c); None for two classes, which have none."""
    if words is None:
        return None
    return nearest_word(words, corners(words.shape[1], np.float64))


def float_rounding(plan: ExportPlan) -> float:
    """How much float32 rounds the numbers of a row and the means of columns at most, in deviations of the column.

    Raises
    ------
    ValueError
        If it is more than a thousandth: rows that the certified model tells apart would become one.

    Examples
    --------
    >>> predictor = Compact(np.ones((1, 1, 1)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> net = Model(predictor, preparation=StandardMap((2000.0,), (10.0,)))
    >>> f"{float_rounding(export_plan(net)):.1e}"
    '1.2e-05'
    """
    largest = 0.0
    for name, mean, deviation in _centres(plan):
        with np.errstate(over="ignore", invalid="ignore"):
            gap = float(np.spacing(np.float32(abs(mean))))
        if not gap <= MOST_ROUNDED * deviation:
            raise ValueError(
                f"column {name!r} needs float64: its numbers lie near {mean:g} with a deviation of {deviation:g}, and "
                f"float32 numbers there are {gap:g} apart. Export with inputs of float64 (double), or subtract a "
                "constant from the column and fit again."
            )
        largest = max(largest, gap / deviation)
    return largest


def _centres(plan: ExportPlan) -> Iterator[tuple[str, float, float]]:
    """Name, centre and deviation of each scaled column."""
    if plan.columns is not None:
        for column in plan.columns:
            if isinstance(column, NumericColumn | DateColumn) and column.scale is not None:
                yield column.name, column.mean, column.scale
        return
    names = plan.names or tuple(f"column {place}" for place in range(1, plan.n_columns + 1))
    if isinstance(plan.scaling, StandardMap):
        yield from zip(names, plan.scaling.mean, plan.scaling.scale, strict=True)
    elif isinstance(plan.scaling, MinMaxMap):
        for name, scale, shift in zip(names, plan.scaling.scale, plan.scaling.shift, strict=True):
            if scale:
                yield name, -shift / scale, 1 / abs(scale)


def _check_exact(columns: tuple[Column, ...]) -> None:
    """Raise a ValueError for kinds of columns that are not exported, and for integers that float64 cannot represent."""
    hashed = [column.name for column in columns if isinstance(column, HashedColumn)]
    if hashed:
        raise ValueError(
            f"columns of hashed text are not exported, and this model has {', '.join(map(repr, hashed))}: fit again "
            "without them (abnet fit --drop COLUMN), or predict with the Python package."
        )
    for column in columns:
        if not isinstance(column, KNOWN):
            raise ValueError(
                f"column {column.name!r} is of kind {column.kind!r}, which is not exported: fit again without it "
                "(abnet fit --drop COLUMN)."
            )
        if isinstance(column, NumericColumn) and column.form.offset:
            raise ValueError(
                f"column {column.name!r} holds whole numbers near {column.form.offset}, too large to be given as "
                "floating-point numbers: fit again without it, or subtract a constant from it first."
            )
