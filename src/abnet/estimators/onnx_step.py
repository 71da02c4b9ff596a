"""Conversion of pipelines by skl2onnx: a converter that inserts the predictor's graph into that of the pipeline."""

from typing import Any

from abnet.estimators.abnet import ABNetClassifier
from abnet.estimators.certified import CertifiedClassifier
from abnet.estimators.search import ABNetSearch
from abnet.export.onnx_graph import DOMAINS, OnnxGraph
from abnet.export.onnx_model import add_predictor
from abnet.export.plan import ExportPlan, export_plan, float_rounding
from abnet.tables.columns import TextColumn, WordsColumn

__all__ = ["register_skl2onnx"]

_TEXTS = ("StringTensorType",)


def register_skl2onnx() -> None:
    """Let skl2onnx convert abnet's certified classifiers and `ABNetSearch`, alone or as the last step of a pipeline.

    Labels and probabilities equal those of `predict` and `predict_proba` if the earlier steps give the same numbers:
    skl2onnx computes them in float32 unless the inputs are declared as float64. Declare float64 (``DoubleTensorType``)
    if the pipeline was fitted on it: the certificate counted unrounded numbers. The classifier itself computes in
    float64, and refuses inputs in float32 if that rounds a column by more than a thousandth of its deviation.

    skl2onnx has two outputs, so there is neither `valid` nor `answered`. A row without an answer has the label ""
    (integer labels: -2**63). A row that `predict` would reject, because a number is not finite, also has NaN
    probabilities.

    Options of skl2onnx: ``zipmap`` (True, False or "columns") and ``output_class_labels``.

    Raises
    ------
    ImportError
        Without the package skl2onnx (``pip install 'abnet[onnx]'``).
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError("converting pipelines needs the package skl2onnx: pip install 'abnet[onnx]'.") from error
    options = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [False]}
    for kind in (CertifiedClassifier, ABNetClassifier, ABNetSearch):
        update_registered_converter(kind, f"Abnet{kind.__name__}", _shapes, _convert, options=options)


def _shapes(operator: Any) -> None:
    """Types of label and probabilities."""
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType

    rows, classes = operator.inputs[0].get_first_dimension(), operator.raw_operator.classes_
    label = Int64TensorType if classes.dtype.kind in "biuf" else StringTensorType
    operator.outputs[0].set_type(label([rows]))
    operator.outputs[1].set_type(FloatTensorType([rows, len(classes)]))


class _StepGraph(OnnxGraph):
    """A graph whose names are also those of a larger one."""

    def __init__(self, scope: Any) -> None:
        super().__init__()
        self._scope = scope

    def fresh(self, stem: str) -> str:
        """A name that no tensor has yet."""
        return str(self._scope.get_unique_variable_name(f"abnet_{stem}"))


def _convert(scope: Any, operator: Any, container: Any) -> None:
    plan = export_plan(operator.raw_operator.model_)
    graph = _StepGraph(scope)
    label, shares, *_ = add_predictor(graph, plan, _inputs(graph, plan, operator.inputs))
    if container.target_opset < graph.opset:
        raise ValueError(f"this model needs opset {graph.opset}; convert with target_opset={graph.opset} or above.")
    kind = plan.model.classes_.dtype.kind
    if kind == "f" and not (plan.model.classes_ % 1 == 0).all():
        raise ValueError("skl2onnx takes labels for whole numbers or text; clf.to_onnx(path) writes others too.")
    made, probabilities = (variable.onnx_name for variable in operator.outputs)
    if kind in "bf":
        graph.cast(label, "INT64", out=made)
    else:
        graph.node("Identity", label, out=made)
    graph.node("Identity", shares, out=probabilities)
    for node in graph.nodes:
        node.name = scope.get_unique_operator_name(f"abnet_{node.op_type}")
        container.nodes.append(node)
        container.node_domain_version_pair_sets.add((node.domain, DOMAINS.get(node.domain, graph.opset)))
    container.initializers.extend(graph.constants)


def _inputs(graph: OnnxGraph, plan: ExportPlan, given: list[Any]) -> list[str]:
    """Tensors of the columns or of the whole array, in the types that the predictor takes."""
    kinds = {type(variable.type).__name__ for variable in given}
    if "FloatTensorType" in kinds:
        float_rounding(plan)
    if plan.columns is None:
        return [graph.cast(variable.onnx_name, "DOUBLE") for variable in given]
    if len(given) == 1 and len(plan.columns) > 1 and not kinds.intersection(_TEXTS):
        matrix = graph.cast(given[0].onnx_name, "DOUBLE")
        tensors = [graph.take(matrix, [place]) for place in range(len(plan.columns))]
        known: dict[str, Any] = {}
    else:
        by_name = {variable.raw_name: variable for variable in given}
        named = set(by_name).issuperset(plan.names or ())
        if not named and len(given) != len(plan.columns):
            raise ValueError(
                f"the model has {len(plan.columns)} columns, but skl2onnx has {len(given)} declared inputs: declare "
                "one for each column, with its name."
            )
        chosen = [by_name[name] for name in plan.names or ()] if named else given
        known = {column.name: variable for column, variable in zip(plan.columns, chosen, strict=True)}
        tensors = [variable.onnx_name for variable in chosen]
    found = []
    for column, tensor in zip(plan.columns, tensors, strict=True):
        textual = isinstance(column, TextColumn | WordsColumn)
        if textual != (column.name in known and type(known[column.name].type).__name__ in _TEXTS):
            wanted = "text (StringTensorType)" if textual else "a number (DoubleTensorType)"
            raise ValueError(f"column {column.name!r} must be declared to skl2onnx as {wanted}.")
        found.append(tensor if textual else graph.cast(tensor, "DOUBLE"))
    return found
