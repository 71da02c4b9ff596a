"""A model as C99, a source file and its header: no allocation, no tables built at run time, no state."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path

from abnet.export.c_decision import decision_code, probability_code
from abnet.export.c_example import example_program
from abnet.export.c_features import feature_code
from abnet.export.c_network import network_code
from abnet.export.c_single import in_single, with_single_thresholds
from abnet.export.c_text import CPart, c_comment, c_identifiers, c_plain, c_string, with_prefix
from abnet.export.export_plan import ExportPlan, export_plan, float_rounding
from abnet.model.model import Model
from abnet.tables.columns import BooleanColumn, Column, DateColumn, NumericColumn, TextColumn, WordsColumn
from abnet.utils.atomic import atomic_path

__all__ = ["CSource", "c_files", "c_program", "to_c"]

LONGEST_NAME = 1000
"""Characters of the name of a class or column that are kept."""


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
    header = source.with_suffix(".h")
    if example:
        return source, header, source.with_name(f"{source.stem}_example.c")
    return source, header


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
    # Without the example there are two files for three texts.
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
    members = []
    if plan.names is not None:
        members = c_identifiers(plan.names)

    body = _body(plan, members, single)
    predict = _predict_functions(plan)
    if single:
        predict = in_single(predict)
    heading = c_comment(_heading(plan, body, prefix, single))
    text = "\n".join(
        [
            heading,
            f'#include "{files[1].name}"',
            *(f"#include <{name}>" for name in _includes(body)),
            with_prefix(f"{body.code}\n{predict}", prefix),
        ]
    )
    header = _header(plan, members, heading, prefix)
    if single:
        header = in_single(header)
    return CSource(
        text=text,
        header=header,
        example=example_program(plan, members, prefix, files, single=single),
        flash_bytes=body.flash,
        ram_bytes=body.ram,
        libm=body.libm,
        members=tuple(members),
    )


def _check_columns(plan: ExportPlan) -> None:
    """Raise a ValueError for columns of words: comparing words needs Unicode's tables of case folding."""
    names = [repr(column.name) for column in plan.columns or () if isinstance(column, WordsColumn)]
    if names:
        raise ValueError(
            f"columns of words are not exported to C, and this model has {', '.join(names)}: export it to ONNX, or fit "
            "again without them (abnet fit --drop COLUMN)."
        )


# The source


def _body(plan: ExportPlan, members: list[str], single: bool) -> CPart:
    """All constants and static functions, from the cells of a row to its answer."""
    parts = [
        feature_code(plan, members, single=single),
        network_code(plan.network, plan),
        decision_code(plan),
        probability_code(plan),
        _names_of_classes_and_columns(plan),
    ]
    body = reduce(add, parts)
    body = replace(body, ram=body.ram + 8 * plan.n_outputs)
    if single:
        return _in_single_precision(body, plan)
    return body


def _in_single_precision(body: CPart, plan: ExportPlan) -> CPart:
    """The same code with float in place of double; each double then takes 4 bytes less."""
    constants = re.findall(r"static const double \w+\[(\d+)\]", body.code)
    flash = body.flash - 4 * sum(int(length) for length in constants)
    # Features and whole-number sums take 4 bytes in either precision.
    numbers_of_4_bytes = plan.n_features - plan.n_codes
    if "int whole[" in body.code:
        units = re.search(r"ABNET_UNITS (\d+)", body.code)
        assert units is not None
        numbers_of_4_bytes += int(units[1])
    ram = body.ram - (body.ram - 4 * numbers_of_4_bytes) // 2
    return CPart(in_single(body.code), flash=flash, ram=ram, libm=body.libm)


def _includes(body: CPart) -> list[str]:
    """Headers of the standard library that the code needs."""
    needed = []
    if "_MAX" in body.code:
        needed.append("float.h")
    if body.libm or "erf" in body.code:
        needed.append("math.h")
    if "strlen" in body.code:
        needed.append("string.h")
    return needed


def _names_of_classes_and_columns(plan: ExportPlan) -> CPart:
    """``abnet_label`` and ``abnet_refused``."""
    columns = plan.names or tuple(f"column {place}" for place in range(1, plan.n_columns + 1))
    labels = _lookup("label", plan.model.labels.names, place="code", number="ABNET_CLASSES")
    return labels + _lookup("refused", columns, place="-1 - code", number="ABNET_COLUMNS")


def _lookup(name: str, texts: Sequence[str], *, place: str, number: str) -> CPart:
    """A function from a code to one of some texts; `place` and `number` are C expressions of their place and number."""
    shortened = [text[:LONGEST_NAME] for text in texts]
    literals = ",\n        ".join(map(c_string, shortened))
    code = (
        f"\nconst char *abnet_{name}(int code) {{\n"
        f"    static const char *const texts[{number}] = {{\n        {literals}\n    }};\n"
        f"    const int place = {place};\n"
        f"    return place >= 0 && place < {number} ? texts[place] : NULL;\n}}"
    )
    # Each text ends with a zero byte and has a pointer of 4 bytes.
    flash = sum(len(text.encode("utf-8", "surrogatepass")) + 5 for text in shortened)
    return CPart(code, flash=flash)


def _predict_functions(plan: ExportPlan) -> str:
    """``abnet_predict`` and ``abnet_predict_rows``, the functions that callers use."""
    shares = plan.model.predictor.shares
    row_type = _row_type(plan, "abnet")
    row = "rows + i"
    if plan.names is None:
        row = "rows + i * ABNET_COLUMNS"
    parameter = ""
    argument = ""
    if shares:
        parameter = ", float *probabilities"
        argument = ", probabilities == NULL ? NULL : probabilities + i * ABNET_CLASSES"
    lines = [
        f"\nint abnet_predict({row_type}row{parameter}) {{",
        "    float f[ABNET_FEATURES];",
        "    double scores[ABNET_OUTPUTS];",
        "    const int refused = abnet_prepare(row, f);",
        "    if (refused < 0) return refused;",
        "    abnet_scores(f, scores);",
    ]
    if shares:
        lines.append("    if (probabilities != NULL) abnet_shares(scores, probabilities);")
    lines += [
        "    return abnet_decide(scores);",
        "}\n",
        f"void abnet_predict_rows({row_type}rows, size_t n, int *codes{parameter}) {{",
        "    size_t i;",
        f"    for (i = 0; i < n; i++) codes[i] = abnet_predict({row}{argument});",
        "}\n",
    ]
    return "\n".join(lines)


# The comment at the top of both files

_DOUBLE_PRECISION = (
    "Numbers of a row are double: give them unrounded, because the certificate counted them so. They are scaled in "
    "double and then rounded to float, as in Python. Weights are stored without rounding, as float where that holds "
    "them and as double elsewhere. Sums are in double precision: a score differs from Python's by rounding alone, and "
    "only a sum or a score within about 1e-12 of a tie or of a threshold could give another label."
)


def _single_precision(plan: ExportPlan) -> str:
    return (
        "Everything is computed in single precision, without doubles. Numbers of a row and means of columns are "
        f"rounded to float, which moves a number by up to {float_rounding(plan):.0e} deviations of its column. Apart "
        "from that, a score differs from Python's by some 1e-6, and a row whose score is within 1e-4 of a tie or of "
        "a threshold could have another label. Two numbers that differ beyond single precision are one, and one "
        "beyond 3e38 is missing. A row of an array is refused where a number is above some 1e18 deviations, because "
        "squares overflow."
    )


def _heading(plan: ExportPlan, body: CPart, prefix: str, single: bool) -> list[str]:
    """Paragraphs about the model: certificate, decision, memory, precision and classes."""
    model = plan.model
    promise = "This model has no certificate."
    if model.certificate is not None:
        promise = str(model.certificate)
    link = "Needs no mathematical library."
    if body.libm:
        link = "Link with the mathematical library (-lm)."
    precision = _DOUBLE_PRECISION
    if single:
        precision = _single_precision(plan)
    return [
        "A classifier written by abnet: C99, no allocation, no state. docs/model-format.md of abnet has the formulas.",
        "",
        promise,
        "",
        model.decision.sentence(model.labels.names),
        "",
        f"Constants: {body.flash} bytes, and a few kB of code. Local arrays of a prediction: {body.ram} bytes of "
        f"stack, and some hundred bytes for the rest. {link} Compile with -O3.",
        precision,
        "",
        f"Classes, by the number that {prefix}_predict returns:",
        *(f"  {code}: {name[:200]}" for code, name in enumerate(model.labels.names)),
    ]


# The header


def _header(plan: ExportPlan, members: list[str], heading: str, prefix: str) -> str:
    guard = f"{prefix.upper()}_H"
    row_type = _row_type(plan, prefix)
    probabilities = ""
    about_rows = "/* The same for n rows, one after the other. */"
    if plan.model.predictor.shares:
        probabilities = ", float *probabilities"
        about_rows = (
            "/* The same for n rows, one after the other; "
            f"{prefix.upper()}_CLASSES probabilities a row, unless NULL. */"
        )
    lines = [
        heading,
        f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n",
        f"#define {prefix.upper()}_COLUMNS {plan.n_columns}",
        f"#define {prefix.upper()}_CLASSES {plan.model.n_classes}",
        f"#define {prefix.upper()}_NO_ANSWER (-1 - {prefix.upper()}_COLUMNS)\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        _row_definition(plan, members, prefix),
        _predict_comment(plan, prefix),
        f"int {prefix}_predict({row_type}row{probabilities});\n",
        about_rows,
        f"void {prefix}_predict_rows({row_type}rows, size_t n, int *codes{probabilities});\n",
        "/* The name of a class, in UTF-8; NULL for a number that is none. */",
        f"const char *{prefix}_label(int code);\n",
        "/* For the negative number of a refused row, the column whose cell is the reason, in UTF-8; else NULL.",
        "   The cell is a number of an array that is not finite. */",
        f"const char *{prefix}_refused(int code);\n",
        "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
    ]
    return "\n".join(lines)


def _predict_comment(plan: ExportPlan, prefix: str) -> str:
    """The comment on the function that answers one row."""
    lines = [f"The number of the row's class. Negative if the row is refused, and {prefix}_refused says why."]
    if plan.model.decision.kind == "abstain":
        lines.append(f"{prefix.upper()}_NO_ANSWER, negative too, if the model abstains.")
    if plan.model.predictor.shares:
        lines.append("Probabilities of all classes go to `probabilities`, unless it is NULL or the row is refused.")
    return "/* " + "\n   ".join(lines) + " */"


def _row_type(plan: ExportPlan, prefix: str) -> str:
    """The type of the pointer to a row."""
    if plan.names is None:
        return "const double *"
    return f"const {prefix}_row *"


def _row_definition(plan: ExportPlan, members: list[str], prefix: str) -> str:
    """The struct of a row with a comment on each member."""
    if plan.names is None:
        return f"/* A row is {prefix.upper()}_COLUMNS numbers. */\n"
    columns = plan.columns or (None,) * len(plan.names)
    lines = ["typedef struct {"]
    for name, member, column in zip(plan.names, members, columns, strict=True):
        lines.append(f"    {_member(column, member)} /* {c_plain(name, 80)}: {_cell_comment(column)} */")
    lines.append(f"}} {prefix}_row;\n")
    return "\n".join(lines)


def _member(column: Column | None, member: str) -> str:
    if isinstance(column, TextColumn):
        return f"const char *{member};"
    return f"double {member};"


def _cell_comment(column: Column | None) -> str:
    """What the member of a column holds."""
    match column:
        case None:
            return "a number"
        case NumericColumn():
            return f"a number, NaN if missing{_unit(column)}"
        case BooleanColumn():
            return "1 if true, 0 if false, NaN if missing"
        case DateColumn():
            return "days since 1970-01-01, UTC, with a fraction for the time of the day; NaN if missing"
        case _:
            return "text in UTF-8, NULL if missing"


def _unit(column: NumericColumn) -> str:
    if column.form.duration:
        return ", in seconds"
    unit = column.form.before or column.form.after
    if unit:
        return f", in {c_plain(unit, 20)}"
    return ""
