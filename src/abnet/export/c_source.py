"""A predictor as one self-contained file of C99: no allocation, no tables built at run time, no files."""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.data.preparation.columns import BooleanColumn, DateColumn, NumericColumn
from abnet.export.c_features import feature_code
from abnet.export.c_network import network_code, probability_code
from abnet.export.c_rows import rows_code
from abnet.export.c_text import CPart, c_comment, c_identifiers, c_plain, c_string
from abnet.export.plan import ExportPlan, FixedPaths, SignLayers, VoteTable, export_plan
from abnet.predictors.predictor import Predictor
from abnet.records import atomic_path

__all__ = ["CSource", "c_program", "to_c"]

PRECISIONS = ("auto", "single", "double")
_HEADERS = (("stdint.h", "uint_least32_t"), ("string.h", "strlen"))


@dataclass(frozen=True)
class CSource:
    """The text of a C file and what it takes.

    Attributes
    ----------
    text : str
    flash_bytes : int
        Constants; the code itself comes on top, a few kilobytes.
    ram_bytes : int
        Arrays on the stack during a prediction, without the caller's row.
    rows_ram_bytes : int
        The same for `abnet_predict_rows`, which computes many rows side by side.
    libm : bool
        Whether it must be linked with the mathematical library.
    members : tuple of str
        Identifiers of the columns in the record of a row; empty where rows are arrays of float.
    """

    text: str
    flash_bytes: int
    ram_bytes: int
    rows_ram_bytes: int
    libm: bool
    members: tuple[str, ...]


def to_c(predictor: Predictor, path: str | os.PathLike[str], *, precision: str = "auto") -> CSource:
    """Write a predictor with its preparation as one file of C99, atomically.

    Parameters
    ----------
    predictor : Predictor
        ``clf.compact()`` of a fitted classifier, or `abnet.load` of a model file.
    path : path
    precision : {"auto", "single", "double"}
        Of the stored weights and tables. "single" takes half the flash; the file says by how much a score may
        differ from Python's, about 1e-7, and only rows as close to a tie as that can have another label. Sums are in
        double precision either way. "auto" is "double" for sampled paths, where every rounded sign would show, else
        "single".

    Returns
    -------
    CSource
        The text, and the bytes of flash and RAM that it takes.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from abnet.predictors.compact import CompactABNet
    >>> net = CompactABNet(np.ones((1, 2)), np.zeros(1), np.array([-1.0, 1.0]))
    >>> source = to_c(net, Path(tempfile.mkdtemp()) / "model.c")
    >>> source.flash_bytes, source.ram_bytes
    (33, 144)
    """
    source = c_program(predictor, precision=precision)
    with atomic_path(path) as temporary:
        temporary.write_text(source.text, encoding="ascii", newline="\n")
    return source


def c_program(predictor: Predictor, *, precision: str = "auto") -> CSource:
    """The C of a predictor, as `to_c` writes it."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of 'auto', 'single', 'double'; got {precision!r}.")
    plan = export_plan(predictor)
    double = precision == "double" or (precision == "auto" and isinstance(plan.network, FixedPaths))
    precision, real = ("double", "double") if double else ("single", "float")
    members = [] if plan.names is None else c_identifiers(plan.names)
    parts = [feature_code(plan, members), network_code(plan, real), probability_code(plan), _labels(plan)]
    declared, many = rows_code(plan, real, _argument(plan), bool(parts[0].code))
    flash, ram = sum(part.flash for part in (*parts, many)), sum(part.ram for part in parts) + 8 * plan.n_outputs
    libm = any(part.libm for part in parts)
    made = CSource("", flash, ram, ram + many.ram, libm, tuple(members))
    includes = [
        "float.h",
        "stddef.h",
        *(header for header, sign in _HEADERS if sign in parts[0].code + many.code),
        *["math.h"] * libm,
    ]
    sizes = {"COLUMNS": plan.n_columns, "FEATURES": plan.n_features, "CLASSES": predictor.n_classes}
    text = "\n".join(
        [
            c_comment(_heading(plan, precision, made)),
            *(f"#include <{name}>" for name in includes),
            "",
            *(f"#define ABNET_{name} {value}" for name, value in sizes.items()),
            "",
            "/* Type of the sums; -DABNET_REAL=float is faster, and changes a score by some 1e-6. */",
            "#ifndef ABNET_REAL\n#define ABNET_REAL double\n#endif",
            "typedef ABNET_REAL abnet_real;",
            "",
            _record(plan, members),
            _prototypes(plan),
            declared,
            *(part.code for part in parts),
            _predict(plan, bool(parts[0].code)),
            many.code,
        ]
    )
    return replace(made, text=text)


def _heading(plan: ExportPlan, precision: str, made: CSource) -> list[str]:
    info = plan.predictor.info
    promise = "This model has no certificate." if info.certificate is None else _promise(info.certificate)
    link = "Link with the mathematical library (-lm)." if made.libm else "Needs no mathematical library."
    named = [f"  {code}: {name[:200]}" for code, name in enumerate(info.labels.names)]
    return [
        "A classifier written by abnet: C99, no allocation, no state. docs/model-format.md of abnet has the formulas.",
        "",
        promise,
        "",
        f"Constants: {made.flash_bytes} bytes of flash, beside a few kB of code. Working memory of abnet_predict: "
        f"{made.ram_bytes} bytes of stack; of abnet_predict_rows: {made.rows_ram_bytes}. {link}",
        _accuracy(plan, precision),
        "",
        "Classes, by the number that abnet_predict returns (-1: the row is refused, since a number is not finite):",
        *named,
    ]


def _accuracy(plan: ExportPlan, precision: str) -> str:
    if precision == "double":
        return "Weights, tables and sums are in double precision."
    words = "Weights and tables are in single precision, sums in double precision: "
    error = single_precision_loss(plan)
    if isinstance(plan.network, FixedPaths):
        members, paths, _ = plan.network.noise[0].shape
        return words + (
            f"a sign of a path may differ where its sum is within {error:.1e} of zero, and change a score by at most "
            f"{2 / (members * paths):.1e}."
        )
    if isinstance(plan.network, VoteTable):
        return words + f"a score is within {error:.1e} of the original's, and only scores as close to a tie may differ."
    return words + (
        f"a unit's sum is within {error:.1e} times the norm of (its inputs, 1) of the original's, and only sums as "
        "close to zero may have another sign."
    )


def single_precision_loss(plan: ExportPlan) -> float:
    """What rounding the constants to float32 changes at the most: a score, or a sum relative to the norm of (x, 1).

    With δ_i the change of a unit's weights and bias, its ``t = (w x + b)/sqrt(2(‖x‖² + 1))`` changes by at most
    ``‖δ_i‖/√2`` (Cauchy and Schwarz), its mean by ``‖δ_i‖ sqrt(2/π)``, and F, multilinear with values in [-1, 1], by
    the sum of these over the units, and by the rounding of its table. Sums are in float64, which adds less than 1e-9.
    """
    network = plan.network
    if isinstance(network, VoteTable):
        units = np.hypot(np.linalg.norm(_rounding(network.W), axis=2), _rounding(network.b))
        return float(units.sum(axis=1).mean() * np.sqrt(2 / np.pi) + np.abs(_rounding(network.H)).max() + 1e-9)
    if isinstance(network, FixedPaths):
        units = [
            np.hypot(np.linalg.norm(_rounding(W), axis=2), _rounding(b)).max()
            for W, b in zip(network.weights, network.biases, strict=True)
        ]
        return float(max(units) + max(np.abs(_rounding(noise)).max() for noise in network.noise) + 1e-9)
    if isinstance(network, SignLayers):
        layers = list(zip(network.weights, network.biases, strict=True))
    else:
        layers = [(network.W, network.b)]
    worst = [np.hypot(np.linalg.norm(_rounding(W), axis=1), _rounding(b)).max() for W, b in layers]
    return float(max(worst) + 1e-9)


def _rounding(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values - values.astype(np.float32))


def _promise(certificate: Any) -> str:
    return "\n".join(str(certificate).splitlines())


_KINDS = {
    NumericColumn: ("double", "a number, NaN if missing"),
    BooleanColumn: ("double", "1 if true, 0 if false, NaN if missing"),
    DateColumn: ("double", "days since 1970-01-01, UTC, with a fraction for the time of the day; NaN if missing"),
}


def _record(plan: ExportPlan, members: list[str]) -> str:
    """The type of a row."""
    if plan.names is None:
        return ""
    lines = ["typedef struct {"]
    for place, (name, member) in enumerate(zip(plan.names, members, strict=True)):
        column: Any = None if plan.columns is None else plan.columns[place]
        kind, words = _KINDS.get(type(column), ("const char *", "text in UTF-8, NULL if missing"))
        if column is None:
            kind, words = "double", "a number"
        space = "" if kind.endswith("*") else " "
        unit = _unit(column)
        lines.append(f"    {kind}{space}{member}; /* {c_plain(name, 80)}: {words}{unit} */")
    return "\n".join([*lines, "} abnet_row;", ""])


def _unit(column: Any) -> str:
    if not isinstance(column, NumericColumn):
        return ""
    unit = column.form.before or column.form.after
    return ", in seconds" if column.form.duration else f", in {c_plain(unit, 20)}" if unit else ""


def _argument(plan: ExportPlan) -> str:
    return "const abnet_row *" if plan.names is not None else "const float *"


def _prototypes(plan: ExportPlan) -> str:
    probabilities = ", float *probabilities" if plan.predictor.shares else ""
    words = (
        "/* The number of the row's class, or -1 if the row is refused. Probabilities of all classes, unless NULL. */"
        if probabilities
        else "/* The number of the row's class, or -1 if the row is refused. */"
    )
    return "\n".join(
        [
            words,
            f"int abnet_predict({_argument(plan)}row{probabilities});",
            "",
            "/* The name of a class, in UTF-8; NULL for a number that is none. */",
            "const char *abnet_label(int code);",
            "",
        ]
    )


def _labels(plan: ExportPlan) -> CPart:
    names = plan.predictor.info.labels.names
    listed = ",\n        ".join(c_string(name[:1000]) for name in names)
    code = (
        "const char *abnet_label(int code) {\n"
        f"    static const char *const labels[ABNET_CLASSES] = {{\n        {listed}\n    }};\n"
        "    return code >= 0 && code < ABNET_CLASSES ? labels[code] : NULL;\n}\n"
    )
    return CPart(code, sum(len(name[:1000].encode("utf-8", "surrogatepass")) + 5 for name in names))


def _predict(plan: ExportPlan, prepared: bool) -> str:
    shares = plan.predictor.shares
    arguments = ", float *probabilities" if shares else ""
    lines = [f"int abnet_predict({_argument(plan)}row{arguments}) {{"]
    lines += ["    float f[ABNET_FEATURES];"] * prepared
    lines += ["    double scores[ABNET_OUTPUTS];", "    int best = 0;"]
    several = plan.predictor.n_classes > 2
    lines += ["    int k;"] * (shares or several)
    lines += ["    if (abnet_prepare(row, f)) return -1;"] * prepared
    lines += [f"    if (abnet_scores({'f' if prepared else 'row'}, scores)) return -1;"]
    if several:
        lines += ["    for (k = 1; k < ABNET_CLASSES; k++)", "        if (scores[k] > scores[best]) best = k;"]
    else:
        lines += ["    best = scores[0] >= 0.0 ? 1 : 0;"]
    if shares:
        lines += [
            "    if (probabilities != NULL) {",
            "        double p[ABNET_CLASSES];",
            "        abnet_shares(scores, p);",
            "        for (k = 0; k < ABNET_CLASSES; k++) probabilities[k] = (float)p[k];",
            "    }",
        ]
    return "\n".join([*lines, "    return best;", "}"])
