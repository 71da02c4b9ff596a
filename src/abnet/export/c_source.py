"""A model as C99, a source file and its header: no allocation, no tables built at run time, no state."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abnet.certificates.sentences import decision_sentence
from abnet.export.c_decision import decision_code, probability_code
from abnet.export.c_example import example_program
from abnet.export.c_features import feature_code
from abnet.export.c_network import network_code
from abnet.export.c_single import in_single, with_single_thresholds
from abnet.export.c_text import CPart, c_comment, c_identifiers, c_plain, c_string, with_prefix
from abnet.export.plan import ExportPlan, export_plan, float_rounding
from abnet.model.model import Model
from abnet.tables.columns import BooleanColumn, Column, DateColumn, NumericColumn, WordsColumn
from abnet.utils.atomic import atomic_path

__all__ = ["CSource", "c_files", "c_program", "to_c"]


@dataclass(frozen=True)
class CSource:
    """The C files of a model, and its memory requirements.

    Attributes
    ----------
    text, header : str
        The source file and its header.
    example : str
        A main program that reads a CSV file and prints labels and probabilities.
    flash_bytes : int
        Bytes of constants; the code itself takes a few kilobytes more.
    ram_bytes : int
        Bytes of local arrays during a prediction, without the caller's row.
    libm : bool
        Whether it must be linked with the mathematical library.
    members : tuple of str
        Identifiers of the columns in the struct of a row; empty if rows are arrays of double (float with `single`).
    """

    text: str
    header: str
    example: str
    flash_bytes: int
    ram_bytes: int
    libm: bool
    members: tuple[str, ...]


def c_files(path: str | os.PathLike[str], *, example: bool = False) -> tuple[Path, ...]:
    """The files that `to_c` writes for a path: the source, its header, and the example if requested.

    Examples
    --------
    >>> [file.name for file in c_files("model.c", example=True)]
    ['model.c', 'model.h', 'model_example.c']
    """
    source = Path(path)
    if source.suffix == ".h":
        raise ValueError(f"{source.name} would be overwritten by the header: name a file that ends in .c.")
    more = (source.with_name(f"{source.stem}_example.c"),) if example else ()
    return (source, source.with_suffix(".h"), *more)


def to_c(
    model: Model,
    path: str | os.PathLike[str],
    *,
    prefix: str = "abnet",
    example: bool = False,
    single: bool = False,
) -> CSource:
    """Write a model with its preparation as a C99 file and its header, each atomically.

    Parameters
    ----------
    model : Model
        ``clf.model_`` of a fitted classifier, or `abnet.load` of a model file.
    path : path
        The source file, ``model.c``; the header ``model.h`` is written beside it.
    prefix : str
        Prefix of all names, so that a program can contain several models: ``prefix_predict``, ``PREFIX_CLASSES``.
    example : bool
        Whether to also write ``model_example.c``, a main program that reads a CSV file.
    single : bool
        Whether to compute in float only, for processors without doubles. Rows are float, too. Scores differ from
        Python's by about 1e-6 and by what the rounding of a row's numbers changes, which the header states; labels may
        differ if a score is within 1e-4 of a tie or of a threshold.

    Returns
    -------
    CSource
        The file contents, and the bytes of flash and RAM that the model needs.

    Raises
    ------
    ValueError
        For a model that cannot be exported, such as one with columns of words or of hashed text. With `single` also if
        float rounds the numbers of a column by more than a thousandth of their deviation.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from abnet.model.predictors.compact import Compact
    >>> net = Model(Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> source = to_c(net, Path(tempfile.mkdtemp()) / "model.c")
    >>> source.flash_bytes, source.ram_bytes
    (195, 80)
    """
    files = c_files(path, example=example)
    source = c_program(model, prefix=prefix, path=path, single=single)
    for file, text in zip(files, (source.text, source.header, source.example), strict=False):
        with atomic_path(file) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    return source


def c_program(
    model: Model, *, prefix: str = "abnet", path: str | os.PathLike[str] = "model.c", single: bool = False
) -> CSource:
    """The C of a model, as `to_c` writes it to a path."""
    if not re.fullmatch("[a-z][a-z0-9_]*", prefix):
        raise ValueError(f"prefix must be small letters, digits and underscores, and begin with a letter: {prefix!r}.")
    files = c_files(path, example=True)
    plan = export_plan(model)
    _check_columns(plan)
    if single:
        plan = with_single_thresholds(plan)
    members = [] if plan.names is None else c_identifiers(plan.names)
    parts = [
        feature_code(plan, members, single=single),
        network_code(plan.network, plan),
        decision_code(plan),
        probability_code(plan),
        _texts(plan),
    ]
    body = "\n".join(part.code for part in parts)
    flash, ram = sum(part.flash for part in parts), sum(part.ram for part in parts) + 8 * plan.n_outputs
    if single:
        flash -= 4 * sum(int(n) for n in re.findall(r"static const double \w+\[(\d+)\]", body))
        whole = re.search(r"ABNET_UNITS (\d+)", body) if "int whole[" in body else None
        kept = plan.n_features - plan.n_codes + (int(whole[1]) if whole else 0)  # numbers of 4 bytes anyway
        ram -= (ram - 4 * kept) // 2
        body = in_single(body)
    libm = any(part.libm for part in parts)
    real: Callable[[str], str] = in_single if single else str
    heading = c_comment(_heading(plan, prefix, flash, ram, libm, _single_words(plan) if single else _DOUBLE))
    includes = [("float.h", "_MAX"), ("math.h", "erf"), ("string.h", "strlen")]
    used = [name for name, sign in includes if sign in body or (name == "math.h" and libm)]
    text = "\n".join(
        [
            heading,
            f'#include "{files[1].name}"',
            *(f"#include <{name}>" for name in used),
            with_prefix("\n".join([body, real(_predict(plan))]), prefix),
        ]
    )
    example = example_program(plan, members, prefix, files, single=single)
    return CSource(text, real(_header(plan, members, heading, prefix)), example, flash, ram, libm, tuple(members))


def _check_columns(plan: ExportPlan) -> None:
    """Raise a ValueError for columns of words: comparing words needs Unicode's tables of case folding."""
    names = [repr(column.name) for column in plan.columns or () if isinstance(column, WordsColumn)]
    if names:
        raise ValueError(
            f"columns of words are not exported to C, and this model has {', '.join(names)}: export it to ONNX, or fit "
            "again without them (abnet fit --drop COLUMN)."
        )


_DOUBLE = (
    "Numbers of a row are double: give them unrounded, because the certificate counted them so. They are scaled in "
    "double and then rounded to float, as in Python. Weights are stored without rounding, as float where that holds "
    "them and as double elsewhere. Sums are in double precision: a score differs from Python's by rounding alone, and "
    "only a sum or a score within about 1e-12 of a tie or of a threshold could give another label."
)


def _single_words(plan: ExportPlan) -> str:
    return (
        "Everything is computed in single precision, without doubles. Numbers of a row and means of columns are "
        f"rounded to float, which moves a number by up to {float_rounding(plan):.0e} deviations of its column. Apart "
        "from that, a score differs from Python's by some 1e-6, and a row whose score is within 1e-4 of a tie or of "
        "a threshold could have another label. Two numbers that differ beyond single precision are one, and one "
        "beyond 3e38 is missing. A row of an array is refused where a number is above some 1e18 deviations, because "
        "squares overflow."
    )


def _heading(plan: ExportPlan, prefix: str, flash: int, ram: int, libm: bool, precision: str) -> list[str]:
    model = plan.model
    promise = "This model has no certificate." if model.certificate is None else str(model.certificate)
    link = "Link with the mathematical library (-lm)." if libm else "Needs no mathematical library."
    return [
        "A classifier written by abnet: C99, no allocation, no state. docs/model-format.md of abnet has the formulas.",
        "",
        promise,
        "",
        decision_sentence(model.decision, model.labels.names),
        "",
        f"Constants: {flash} bytes, and a few kB of code. Local arrays of a prediction: {ram} bytes of stack, and some "
        f"hundred bytes for the rest. {link} Compile with -O3.",
        precision,
        "",
        f"Classes, by the number that {prefix}_predict returns:",
        *(f"  {code}: {name[:200]}" for code, name in enumerate(model.labels.names)),
    ]


# The header

_KINDS = {
    NumericColumn: ("double", "a number, NaN if missing"),
    BooleanColumn: ("double", "1 if true, 0 if false, NaN if missing"),
    DateColumn: ("double", "days since 1970-01-01, UTC, with a fraction for the time of the day; NaN if missing"),
    type(None): ("double", "a number"),
}


def _header(plan: ExportPlan, members: list[str], heading: str, prefix: str) -> str:
    guard, shares = f"{prefix.upper()}_H", plan.model.predictor.shares
    one, all_of_them = (", float *probabilities",) * 2 if shares else ("", "")
    lines = [
        heading,
        f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n",
        f"#define {prefix.upper()}_COLUMNS {plan.n_columns}",
        f"#define {prefix.upper()}_CLASSES {plan.model.n_classes}",
        f"#define {prefix.upper()}_NO_ANSWER (-1 - {prefix.upper()}_COLUMNS)\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        _record(plan, members, prefix),
        _c_returns(plan, prefix),
        f"int {prefix}_predict({_rows(plan, prefix)}row{one});\n",
        "/* The same for n rows, one after the other"
        + (f"; {prefix.upper()}_CLASSES probabilities a row, unless NULL. */" if shares else ". */"),
        f"void {prefix}_predict_rows({_rows(plan, prefix)}rows, size_t n, int *codes{all_of_them});\n",
        "/* The name of a class, in UTF-8; NULL for a number that is none. */",
        f"const char *{prefix}_label(int code);\n",
        "/* For the negative number of a refused row, the column whose cell is the reason, in UTF-8; else NULL.",
        "   The cell is a number of an array that is not finite. */",
        f"const char *{prefix}_refused(int code);\n",
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
    ]
    return "\n".join(lines)


def _c_returns(plan: ExportPlan, prefix: str) -> str:
    """The comment on the function that answers one row."""
    shares, abstains = plan.model.predictor.shares, plan.model.decision.kind == "abstain"
    lines = [
        f"The number of the row's class. Negative if the row is refused, and {prefix}_refused says why.",
        *[f"{prefix.upper()}_NO_ANSWER, negative too, if the model abstains."] * abstains,
        *["Probabilities of all classes go to `probabilities`, unless it is NULL or the row is refused."] * shares,
    ]
    return "/* " + "\n   ".join(lines) + " */"


def _record(plan: ExportPlan, members: list[str], prefix: str) -> str:
    """The type of a row."""
    if plan.names is None:
        return f"/* A row is {prefix.upper()}_COLUMNS numbers. */\n"
    lines = ["typedef struct {"]
    for place, (name, member) in enumerate(zip(plan.names, members, strict=True)):
        column = None if plan.columns is None else plan.columns[place]
        kind, words = _KINDS.get(type(column), ("const char *", "text in UTF-8, NULL if missing"))
        space = "" if kind.endswith("*") else " "
        lines.append(f"    {kind}{space}{member}; /* {c_plain(name, 80)}: {words}{_unit(column)} */")
    return "\n".join([*lines, f"}} {prefix}_row;\n"])


def _unit(column: Column | None) -> str:
    if not isinstance(column, NumericColumn):
        return ""
    unit = column.form.before or column.form.after
    return ", in seconds" if column.form.duration else f", in {c_plain(unit, 20)}" if unit else ""


def _rows(plan: ExportPlan, prefix: str) -> str:
    return "const double *" if plan.names is None else f"const {prefix}_row *"


# The functions that callers see


def _texts(plan: ExportPlan) -> CPart:
    """`abnet_label` and `abnet_refused`."""
    labels = [name[:1000] for name in plan.model.labels.names]
    columns = plan.names or tuple(f"column {place}" for place in range(1, plan.n_columns + 1))
    return _lookup("label", labels, "code", "ABNET_CLASSES") + _lookup("refused", columns, "-1 - code", "ABNET_COLUMNS")


def _lookup(name: str, texts: Any, place: str, number: str) -> CPart:
    cut = [text[:1000] for text in texts]
    listed = ",\n        ".join(map(c_string, cut))
    code = (
        f"\nconst char *abnet_{name}(int code) {{\n"
        f"    static const char *const texts[{number}] = {{\n        {listed}\n    }};\n"
        f"    const int place = {place};\n"
        f"    return place >= 0 && place < {number} ? texts[place] : NULL;\n}}"
    )
    return CPart(code, sum(len(text.encode("utf-8", "surrogatepass")) + 5 for text in cut))


def _predict(plan: ExportPlan) -> str:
    shares, rows = plan.model.predictor.shares, _rows(plan, "abnet")
    more = ", float *probabilities" if shares else ""
    step = "" if plan.names is not None else " * ABNET_COLUMNS"
    given = ", probabilities == NULL ? NULL : probabilities + i * ABNET_CLASSES" if shares else ""
    lines = [
        f"\nint abnet_predict({rows}row{more}) {{",
        "    float f[ABNET_FEATURES];",
        "    double scores[ABNET_OUTPUTS];",
        "    const int refused = abnet_prepare(row, f);",
        "    if (refused < 0) return refused;",
        "    abnet_scores(f, scores);",
        *["    if (probabilities != NULL) abnet_shares(scores, probabilities);"] * shares,
        "    return abnet_decide(scores);",
        "}\n",
        f"void abnet_predict_rows({rows}rows, size_t n, int *codes{more}) {{",
        "    size_t i;",
        f"    for (i = 0; i < n; i++) codes[i] = abnet_predict(rows + i{step}{given});",
        "}\n",
    ]
    return "\n".join(lines)
