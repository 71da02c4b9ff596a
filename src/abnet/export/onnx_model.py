"""Export a model to ONNX: columns in, label and probabilities out, without abnet installed."""

import json
import os
from functools import singledispatch
from typing import Any

import numpy as np

from abnet import __version__
from abnet.certificates.decision import Decision
from abnet.certificates.expected_costs import ExpectedCosts
from abnet.export.export_plan import (
    ExportPlan,
    FixedPaths,
    MeanLayers,
    MeanSeries,
    SignLayers,
    SignMeans,
    SignTable,
    VoteTable,
    export_plan,
)
from abnet.export.onnx_features import onnx_features
from abnet.export.onnx_graph import DOMAINS, OnnxGraph, import_onnx
from abnet.model.model import Model
from abnet.tables.columns import BooleanColumn, DateColumn, TextColumn, WordsColumn
from abnet.utils.atomic import atomic_path

__all__ = ["onnx_program", "to_onnx"]

IR_VERSIONS = {18: 8, 20: 9}
"""Version of the file format that belongs to each version of the operators: the oldest that will do."""


MOST_FACTORS = 2**18
"""Factors of the series of a row: with their imaginary parts, 4 MB."""


def to_onnx(model: Model, path: str | os.PathLike[str]) -> Any:
    """Write a model with its preparation as an ONNX model, atomically.

    Inputs are named after the columns, each a matrix of one column: float64 for numbers (NaN where missing), booleans
    (1, 0, NaN) and dates (days since 1970-01-01, UTC), text for categories and words ("" if missing), without white
    space around it. A model of an array whose columns have no names takes one matrix ``X`` of float64.

    Outputs are ``label`` (N,), ``probabilities`` (N, K) in float32, ``valid`` (N,), which is False if Python would
    reject the row because a number is not finite, and ``answered`` (N,), which is False for such rows and if the model
    abstains. A row without an answer has the label "" (numbers: -2**63, or NaN for float64); a rejected row has NaN
    probabilities. A network drawn from the posterior has no probabilities.

    Parameters
    ----------
    model : Model
        ``clf.model_`` of a fitted classifier, or `abnet.load` of a model file.
    path : path

    Returns
    -------
    onnx.ModelProto
        The model that was written.

    Raises
    ------
    ImportError
        Without the package onnx (``pip install 'abnet[onnx]'``).
    ValueError
        For a model that cannot be exported, such as one with columns of hashed text.
    """
    program = onnx_program(model)
    with atomic_path(path) as temporary:
        temporary.write_bytes(program.SerializeToString())
    return program


def onnx_program(model: Model) -> Any:
    """The ONNX model of a model, as `to_onnx` writes it."""
    onnx = import_onnx()
    plan = export_plan(model)
    names = ["X"]
    if plan.names is not None:
        names = _input_names(plan.names)
    graph = OnnxGraph([*names, ""])
    outputs = {name: graph.fresh(name) for name in ("label", "probabilities", "valid", "answered")}
    for name, tensor in _answers(graph, plan, names).items():
        graph.node("Identity", tensor, out=outputs[name])
    graph_proto = onnx.helper.make_graph(
        nodes=graph.nodes,
        name="abnet",
        inputs=_inputs(plan, names),
        outputs=_outputs(plan, outputs),
        initializer=graph.constants,
        doc_string=str(model.certificate_ or "no certificate"),
    )
    opsets = [onnx.helper.make_opsetid("", graph.opset)]
    opsets += [onnx.helper.make_opsetid(domain, DOMAINS[domain]) for domain in sorted(graph.domains)]
    program = onnx.helper.make_model(
        graph_proto,
        producer_name="abnet",
        producer_version=__version__,
        ir_version=IR_VERSIONS[graph.opset],
        opset_imports=opsets,
    )
    onnx.helper.set_model_props(program, _properties(plan, names))
    onnx.checker.check_model(program)
    return program


def _answers(graph: OnnxGraph, plan: ExportPlan, inputs: list[str]) -> dict[str, str]:
    """The tensor of each output: label, probabilities if the model has any, valid and answered.

    `inputs` are those of `onnx_features`.
    """
    features, valid = onnx_features(graph, plan, inputs)
    scores = _scores(plan.network, graph, plan, features)
    codes, answered = _decided(graph, plan, scores, valid)
    answers = {"label": graph.labels(codes, plan.model.classes_)}
    if plan.model.predictor.shares:
        probabilities = graph.cast(_probabilities(graph, plan, scores), "FLOAT")
        rejected = graph.constant(np.nan, np.float32)
        answers["probabilities"] = graph.node("Where", graph.reshape(valid, -1, 1), probabilities, rejected)
    answers["valid"] = valid
    answers["answered"] = answered
    return answers


def _input_names(names: tuple[str, ...]) -> list[str]:
    """Names of the inputs: those of the columns, made unique and not empty."""
    unique: list[str] = []
    for name in names:
        stem = name or "unnamed"
        candidate = stem
        number = 1
        while candidate in unique:
            number += 1
            candidate = f"{stem}_{number}"
        unique.append(candidate)
    return unique


_DESCRIPTIONS: dict[type, str] = {
    BooleanColumn: "1 if true, 0 if false, NaN if missing",
    DateColumn: "days since 1970-01-01, UTC, with a fraction for the time of the day; NaN if missing",
    TextColumn: "text without blanks around it, empty if missing",
    WordsColumn: "text, empty if missing",
}


def _inputs(plan: ExportPlan, names: list[str]) -> list[Any]:
    onnx = import_onnx()
    describe = onnx.helper.make_tensor_value_info
    if plan.names is None:
        return [describe("X", onnx.TensorProto.DOUBLE, ["N", plan.n_columns])]
    columns = plan.columns or (None,) * len(names)
    inputs = []
    for name, column in zip(names, columns, strict=True):
        element = onnx.TensorProto.DOUBLE
        if isinstance(column, TextColumn | WordsColumn):
            element = onnx.TensorProto.STRING
        inputs.append(describe(name, element, ["N", 1], _DESCRIPTIONS.get(type(column), "a number")))
    return inputs


def _outputs(plan: ExportPlan, names: dict[str, str]) -> list[Any]:
    onnx = import_onnx()
    elements = onnx.TensorProto
    describe = onnx.helper.make_tensor_value_info
    label_elements = {"b": elements.INT64, "i": elements.INT64, "u": elements.INT64, "f": elements.DOUBLE}
    label = label_elements.get(plan.model.classes_.dtype.kind, elements.STRING)
    outputs = [describe(names["label"], label, ["N"])]
    if plan.model.predictor.shares:
        outputs.append(describe(names["probabilities"], elements.FLOAT, ["N", plan.model.n_classes]))
    outputs.append(describe(names["valid"], elements.BOOL, ["N"]))
    outputs.append(describe(names["answered"], elements.BOOL, ["N"]))
    return outputs


def _properties(plan: ExportPlan, names: list[str]) -> dict[str, str]:
    """Certificate, decision, classes and the column of each input, as texts."""
    model = plan.model
    columns = plan.names or names
    return {
        "certificate": str(model.certificate or "no certificate"),
        "decision": json.dumps(model.decision.to_dict()),
        "decision_in_words": model.decision.sentence(model.labels.names),
        "classes": json.dumps(list(model.labels.names)),
        "inputs": json.dumps(dict(zip(names, columns, strict=True))),
    }


# The network


@singledispatch
def _scores(network: Any, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    """Scores (N, 1) of two classes, or (N, K), from features x; one function for each kind of network."""
    raise TypeError(f"no ONNX is written for a {type(network).__name__}.")


def _sums(graph: OnnxGraph, W: Any, b: Any, x: str) -> str:
    return graph.node("Add", graph.node("MatMul", x, graph.weights(W.T)), graph.constant(b))


@_scores.register
def _(network: VoteTable, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    """``mean_m Σ_s H_m[s] P_m(x)[s]``, for each member by one product with half of the cube."""
    means = _leading_means(graph, network.W, network.b, x)
    total = _table_means(graph, network.H, network.W.shape[1], means)
    return graph.node("ReduceMean", total, graph.constant([0], np.int64), keepdims=0)


@_scores.register
def _(network: FixedPaths, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    """The mean over members and paths: signs layer by layer, the last layer's means, and what they stand for."""
    members, paths, _ = network.noise[0].shape
    norm = graph.node("ReduceSum", graph.node("Mul", x, x), graph.constant([1], np.int64), keepdims=1)
    root = graph.node("Sqrt", graph.node("Add", norm, graph.constant(1.0)))
    total = ""
    for m in range(members):
        z = graph.node("Div", _sums(graph, network.weights[0][m], network.biases[0][m], x), root)
        z = graph.node("Unsqueeze", z, graph.constant([1], np.int64))
        for W, b, noise in zip(network.weights[1:], network.biases[1:], network.noise, strict=True):
            reached = graph.node("GreaterOrEqual", graph.node("Add", z, graph.constant(noise[m])), graph.constant(0.0))
            signs = graph.choose(reached, 1.0, -1.0)
            z = graph.node("Mul", _sums(graph, W[m], b[m], signs), graph.constant((W.shape[2] + 1) ** -0.5))
        means = graph.erf(graph.node("Mul", z, graph.constant(0.5**0.5)))
        outputs = _decoded(graph, plan, network, means)
        if total:
            outputs = graph.node("Add", total, outputs)
        total = outputs
    return graph.node("Div", total, graph.constant(float(members * paths)))


def _decoded(graph: OnnxGraph, plan: ExportPlan, network: FixedPaths, means: str) -> str:
    """Sums over the paths (N, C) of the outputs (N, T, c), or of the probabilities of the classes they stand for.

    ``Σ_t Π_i P_t[s_i]`` is a product of two halves of the cube, summed over the paths before it is decoded.
    """
    if network.codes is None:
        return graph.node("ReduceSum", means, graph.constant([1], np.int64), keepdims=0)
    width = network.biases[-1].shape[1]
    first = graph.corners(means, range(width // 2))
    second = graph.corners(means, range(width // 2, width))
    joint = graph.node("MatMul", graph.node("Transpose", first, perm=[0, 2, 1]), second)
    corners = graph.reshape(joint, -1, 2**width)
    return graph.node("MatMul", corners, graph.constant(np.eye(plan.n_outputs)[network.codes]))


@_scores.register
def _(network: MeanLayers, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    """Mean outputs layer by layer, all members at once; the corners of their outputs are added up, then decoded."""
    members, width, n = network.weights[0].shape
    z = _sums(graph, network.weights[0].reshape(-1, n), network.biases[0].reshape(-1), x)
    norm = graph.node("ReduceSum", graph.node("Mul", x, x), graph.constant([1], np.int64), keepdims=1)
    t = graph.node("Div", z, graph.node("Sqrt", graph.affine(norm, 2.0, 2.0)))
    v = graph.node("Transpose", graph.reshape(graph.erf(t), -1, members, width), perm=[1, 0, 2])
    for W, b in zip(network.weights[1:], network.biases[1:], strict=True):
        weights = graph.weights(W.swapaxes(1, 2))
        total = graph.node("Add", graph.node("MatMul", v, weights), graph.constant(b[:, None]))
        left = graph.affine(graph.node("Mul", v, v), -1.0, 1.0)
        spread = graph.node("MatMul", left, graph.node("Mul", weights, weights))
        variance = graph.affine(spread, 2.0, 2.0 * (W.shape[2] + 1 + network.e))
        v = graph.erf(graph.node("Div", total, graph.node("Sqrt", variance)))
    if network.codes is None:
        return graph.node("ReduceMean", v, graph.constant([0], np.int64), keepdims=0)
    c = network.biases[-1].shape[1]
    first = graph.corners(v, range(c // 2))
    second = graph.corners(v, range(c // 2, c))
    joint = graph.node(
        "MatMul",
        graph.node("Transpose", first, perm=[1, 2, 0]),
        graph.node("Transpose", second, perm=[1, 0, 2]),
    )
    classes = graph.constant(np.eye(plan.n_outputs)[network.codes] / members)
    return graph.node("MatMul", graph.reshape(joint, -1, 2**c), classes)


@_scores.register
def _(network: SignMeans, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    """Mean outputs layer by layer, all members at once (M, N, d): by tables of corners, or by series."""
    width = network.W.shape[1]
    m = _leading_means(graph, network.W, network.b, x)
    for layer in network.above:
        if isinstance(layer, MeanSeries):
            m = _series_means(graph, layer, m)
            width = layer.c.shape[1]
        else:
            m = _table_means(graph, layer, width, m)
            width = layer.shape[2]
    return graph.node("ReduceMean", m, graph.constant([0], np.int64), keepdims=0)


def _leading_means(graph: OnnxGraph, W: Any, b: Any, x: str) -> str:
    """Means of the first layer of all members, (M, N, d)."""
    members, width, n = W.shape
    z = _sums(graph, W.reshape(-1, n), b.reshape(-1), x)
    norm = graph.node("ReduceSum", graph.node("Mul", x, x), graph.constant([1], np.int64), keepdims=1)
    root = graph.node("Sqrt", graph.affine(norm, 2.0, 2.0))
    means = graph.reshape(graph.erf(graph.node("Div", z, root)), -1, members, width)
    return graph.node("Transpose", means, perm=[1, 0, 2])


def _table_means(graph: OnnxGraph, tables: Any, width: int, m: str) -> str:
    """Means of a layer from tables (M, 2**width, units), by one product with half of the cube."""
    members, _, units = tables.shape
    first = width // 2
    halves = graph.constant(tables.reshape(members, 2**first, -1))
    partial = halves
    if first:
        partial = graph.node("MatMul", graph.corners(m, range(first)), halves)
    partial = graph.reshape(partial, members, -1, 2 ** (width - first), units)
    weights = graph.node("Unsqueeze", graph.corners(m, range(first, width)), graph.constant([3], np.int64))
    return graph.node("ReduceSum", graph.node("Mul", partial, weights), graph.constant([2], np.int64), keepdims=0)


def _series_means(graph: OnnxGraph, series: MeanSeries, m: str) -> str:
    """Means of a layer by series: a product over the signs, two factors and then their products at a time.

    Real and imaginary parts (M, N, units, d, terms) are multiplied in halves, so that the graph has log2 d steps.
    """
    d = series.cosines.shape[2]
    if series.cosines.size > MOST_FACTORS:
        raise ValueError(
            f"the series of this network multiply {series.cosines.size:,} numbers for a row, and ONNX would hold those "
            f"of all rows at once, so at most {MOST_FACTORS:,} are written: export to C or JavaScript."
        )
    real = graph.constant(series.cosines[:, None])
    slanted = graph.node("Unsqueeze", m, graph.constant([2, 4], np.int64))
    imaginary = graph.node("Mul", slanted, graph.constant(series.sines[:, None]))
    # With a row axis: the cosines are the same for all rows.
    real = graph.node("Add", real, graph.node("Mul", imaginary, graph.constant(0.0)))
    while d > 1:
        half = d // 2
        real_1 = _signs(graph, real, 0, half)
        real_2 = _signs(graph, real, half, 2 * half)
        imaginary_1 = _signs(graph, imaginary, 0, half)
        imaginary_2 = _signs(graph, imaginary, half, 2 * half)
        products = graph.node("Sub", graph.node("Mul", real_1, real_2), graph.node("Mul", imaginary_1, imaginary_2))
        crossed = graph.node("Add", graph.node("Mul", real_1, imaginary_2), graph.node("Mul", imaginary_1, real_2))
        if d % 2:
            products = graph.node("Concat", products, _signs(graph, real, d - 1, d), axis=3)
            crossed = graph.node("Concat", crossed, _signs(graph, imaginary, d - 1, d), axis=3)
        real = products
        imaginary = crossed
        d = half + d % 2
    weighted = graph.node(
        "Add",
        graph.node("Mul", imaginary, graph.constant(series.P[:, None, :, None])),
        graph.node("Mul", real, graph.constant(series.Q[:, None, :, None])),
    )
    total = graph.node("ReduceSum", weighted, graph.constant([3, 4], np.int64), keepdims=0)
    total = graph.node("Min", graph.node("Max", total, graph.constant(-1.0)), graph.constant(1.0))
    mean = graph.node("MatMul", m, graph.constant(series.v.swapaxes(1, 2)))
    mean = graph.node("Add", mean, graph.constant(series.c[:, None]))
    is_sure = graph.node("GreaterOrEqual", graph.node("Abs", mean), graph.constant(series.limits[:, None]))
    return graph.node("Where", is_sure, graph.node("Sign", mean), total)


def _signs(graph: OnnxGraph, factors: str, start: int, end: int) -> str:
    """The factors of some signs."""
    return graph.node(
        "Slice",
        factors,
        graph.constant([start], np.int64),
        graph.constant([end], np.int64),
        graph.constant([3], np.int64),
    )


@_scores.register
def _(network: SignTable, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    return _looked_up(graph, _reached(graph, network.W, network.b, x), _table(plan, network.codes))


@_scores.register
def _(network: SignLayers, graph: OnnxGraph, plan: ExportPlan, x: str) -> str:
    reached = ""
    for W, b in zip(network.weights, network.biases, strict=True):
        reached = _reached(graph, W, b, x)
        x = graph.choose(reached, 1.0, -1.0)
    return _looked_up(graph, reached, _table(plan, network.codes))


def _table(plan: ExportPlan, codes: Any) -> Any:
    """The scores of each representation: -1 or 1 for two classes, else 1 for its class."""
    if plan.n_outputs == 1:
        return codes[:, None] * 2.0 - 1.0
    return np.eye(plan.n_outputs)[codes]


def _reached(graph: OnnxGraph, W: Any, b: Any, x: str) -> str:
    return graph.node("GreaterOrEqual", _sums(graph, W, b, x), graph.constant(0.0))


def _looked_up(graph: OnnxGraph, reached: str, table: Any) -> str:
    """Rows of a table at the binary numbers whose digits are truths (N, d)."""
    powers = graph.constant(2.0 ** np.arange(len(table).bit_length() - 2, -1, -1)[:, None])
    place = graph.cast(graph.node("MatMul", graph.cast(reached, "DOUBLE"), powers), "INT64")
    return graph.node("Gather", graph.constant(table), graph.reshape(place, -1), axis=0)


def _decided(graph: OnnxGraph, plan: ExportPlan, scores: str, valid: str) -> tuple[str, str]:
    """Codes of the labels that the model's decision gives rows with these scores, and whether it gives one.

    The code of a row without an answer is the number of classes.
    """
    decision = plan.model.decision
    answered = valid
    codes = _codes_of_largest(graph, plan, scores)
    if decision.costs is not None:
        codes = _cheapest(graph, decision.costs, scores)
    elif decision.kind == "cut":
        score = scores
        if not decision.positive:
            score = graph.node("Neg", scores)
        positive = int(decision.positive or 0)
        codes = graph.choose(_above(graph, score, decision), positive, 1 - positive, np.int64)
    elif decision.threshold is not None:
        answered = graph.node("And", valid, _above(graph, _largest(graph, plan, scores), decision))
    no_answer = graph.constant(plan.model.n_classes, np.int64)
    return graph.node("Where", answered, codes, no_answer), answered


def _cheapest(graph: OnnxGraph, costs: ExpectedCosts, scores: str) -> str:
    """The code of the class with the least expected cost."""
    raised = graph.node("Add", graph.node("Max", scores, graph.constant(0.0)), graph.constant(costs.floor))
    largest = graph.node("ReduceMax", raised, graph.constant([1], np.int64), keepdims=1)
    weights = graph.node("Pow", graph.node("Div", raised, largest), graph.constant(costs.power))
    return graph.node("ArgMin", graph.node("MatMul", weights, graph.constant(costs.table)), axis=1, keepdims=0)


def _codes_of_largest(graph: OnnxGraph, plan: ExportPlan, scores: str) -> str:
    """The code of the class with the largest score; with two classes, 1 if the score is at least 0."""
    if plan.model.n_classes > 2:
        return graph.node("ArgMax", scores, axis=1, keepdims=0)
    reached = graph.node("GreaterOrEqual", scores, graph.constant(0.0))
    return graph.reshape(graph.cast(reached, "INT64"), -1)


def _largest(graph: OnnxGraph, plan: ExportPlan, scores: str) -> str:
    """The largest score (N, 1); with two classes, that of the predicted one."""
    if plan.model.n_classes > 2:
        return graph.node("ReduceMax", scores, graph.constant([1], np.int64), keepdims=1)
    return graph.node("Abs", scores)


def _above(graph: OnnxGraph, score: str, decision: Decision) -> str:
    """Whether the scores (N, 1) are above the threshold of the decision, (N,)."""
    return graph.reshape(graph.node("Greater", score, graph.constant(decision.threshold)), -1)


def _probabilities(graph: OnnxGraph, plan: ExportPlan, scores: str) -> str:
    shares = scores
    if plan.model.n_classes == 2:
        second = graph.affine(scores, 0.5, 0.5)
        shares = graph.node("Concat", graph.node("Sub", graph.constant(1.0), second), second, axis=1)
    calibration = plan.model.calibration
    if calibration is None:
        return shares
    # A share may leave [0, 1] by rounding, and the logarithm would not like that.
    raised = graph.node("Add", graph.node("Max", shares, graph.constant(0.0)), graph.constant(calibration.floor))
    logits = graph.node("Mul", graph.node("Log", raised), graph.constant(calibration.power))
    return graph.node("Softmax", logits, axis=1)
