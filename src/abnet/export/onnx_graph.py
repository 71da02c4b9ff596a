"""A graph of ONNX, built node by node."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx

__all__ = ["DOMAINS", "NO_ANSWER", "OnnxGraph", "import_onnx"]

DOMAINS = {"ai.onnx.ml": 3}
"""Versions of the operators beside those of ONNX."""

NO_ANSWER: dict[Any, Any] = {object: "", np.int64: -(2**63), np.float64: float("nan")}
"""What stands in place of a label where a row is refused or not answered."""

ERF_END = 6.0
"""From here on the error function is 1 in float64."""
ERF_SERIES = (
    0.3785374169292397, 0.42218758361344777, 0.16940759095449764, 0.0329934294778909, -0.0016702444046923937,
    -0.0016653643667956324, 0.00013358426953576807, 0.00010054189868280341, -2.2700159899704513e-05,
    -4.271117396357692e-06, 2.838143104316882e-06, -2.823393880271042e-07, -1.9838585196813037e-07,
    8.64694333890086e-08, -6.513118485109626e-09, -7.352472518437774e-09, 3.3658288322023846e-09,
    -2.776307855150726e-10, -2.9766387405215563e-10, 9.395932046122793e-11, -7.106929108334487e-13,
)  # fmt: skip
"""``exp(z²) erfc(z)`` for z in [0, 6] as a polynomial of u, where ``2/(2 + z) = 1/4 + 3/8 (u + 1)``: interpolated at
Chebyshev's points."""


def import_onnx() -> Any:
    """The package onnx; ImportError says how to install it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("writing ONNX needs the package onnx: pip install 'abnet[onnx]'.") from error
    return onnx


class OnnxGraph:
    """Nodes and constants so far. Every method takes and returns names of tensors."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self.onnx = import_onnx()
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._taken = set(taken)
        self.opset = 18
        self.domains = {"ai.onnx.ml"}

    def fresh(self, stem: str) -> str:
        """A name that no tensor has yet."""
        name = stem
        number = 0
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """A constant tensor."""
        name = self.fresh("constant")
        array = np.asarray(values, dtype)
        if array.dtype.kind in "OU":
            texts = [text.encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def weights(self, values: NDArray[np.float64]) -> str:
        """A constant in float64, kept in the file as float32 where that loses nothing."""
        with np.errstate(over="ignore"):
            exact = bool((values.astype(np.float32) == values).all())
        if exact:
            return self.cast(self.constant(values, np.float32), "DOUBLE")
        return self.constant(values)

    def node(self, op: str, *inputs: str, out: str | None = None, domain: str = "", **attributes: Any) -> str:
        """One node with one result."""
        result = out or self.fresh(op.lower())
        self.domains |= {domain} - {""}
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), [result], domain=domain, **attributes))
        return result

    def cast(self, x: str, kind: str, out: str | None = None) -> str:
        """The tensor in another type, such as "DOUBLE"."""
        return self.node("Cast", x, out=out, to=getattr(self.onnx.TensorProto, kind))

    def affine(self, x: str, scale: float, shift: float) -> str:
        """``scale x + shift`` in float64."""
        return self.node("Add", self.node("Mul", x, self.constant(scale)), self.constant(shift))

    def take(self, x: str, places: Sequence[int]) -> str:
        """Columns of a matrix."""
        return self.node("Gather", x, self.constant(list(places), np.int64), axis=1)

    def choose(self, condition: str, yes: Any, no: Any, dtype: Any = np.float64) -> str:
        """One of two numbers."""
        return self.node("Where", condition, self.constant(yes, dtype), self.constant(no, dtype))

    def erf(self, x: str) -> str:
        """The error function within 1e-15: onnxruntime has it in single precision only."""
        z = self.node("Min", self.node("Abs", x), self.constant(ERF_END))
        t = self.node("Div", self.constant(2.0), self.node("Add", z, self.constant(2.0)))
        u = self.affine(t, 8 / 3, -5 / 3)
        value = self.constant(ERF_SERIES[-1])
        for coefficient in ERF_SERIES[-2::-1]:
            value = self.node("Add", self.node("Mul", value, u), self.constant(coefficient))
        gauss = self.node("Exp", self.node("Neg", self.node("Mul", z, z)))
        size = self.node("Sub", self.constant(1.0), self.node("Mul", gauss, value))
        return self.node("Mul", self.node("Sign", x), size)

    def corners(self, m: str, places: range) -> str:
        """Probabilities (M, N, 2^d) of the corners of the cube, for means (M, N, width) at some places."""
        half = self.node("Mul", m, self.constant(0.5))
        probabilities = ""
        for place in reversed(places):
            mean = self.node("Gather", half, self.constant([place], np.int64), axis=2)
            low = self.node("Sub", self.constant(0.5), mean)
            high = self.node("Add", self.constant(0.5), mean)
            if probabilities:
                low = self.node("Mul", low, probabilities)
                high = self.node("Mul", high, probabilities)
            probabilities = self.node("Concat", low, high, axis=2)
        return probabilities

    def reshape(self, x: str, *shape: int) -> str:
        """The tensor in another shape; 0 keeps a length, -1 is what is left."""
        return self.node("Reshape", x, self.constant(shape, np.int64))

    def labels(self, codes: str, classes: NDArray[Any]) -> str:
        """The label of every code, and behind them what stands for no answer; labels of mixed types as text."""
        kinds: dict[str, Any] = {"b": np.int64, "i": np.int64, "u": np.int64, "f": np.float64}
        dtype = kinds.get(classes.dtype.kind, object)
        values = classes.tolist()
        if dtype is object:
            values = [str(label) for label in values]
        return self.node("Gather", self.constant([*values, NO_ANSWER[dtype]], dtype), codes, axis=0)
