"""Exported C, compiled with all warnings and run on rows: a program that reads them from a pipe."""

import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet.export import CSource, to_c
from abnet.export.export_plan import export_plan
from abnet.model.model import Model
from abnet.tables.columns import TextColumn

STRICT = ("-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic")
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

MAIN = """
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text(void) {
    int length;
    char *s = NULL;
    if (fread(&length, sizeof length, 1, stdin) != 1) exit(2);
    if (length >= 0) {
        s = malloc((size_t)length + 1);
        if (fread(s, 1, (size_t)length, stdin) != (size_t)length) exit(2);
        s[length] = 0;
    }
    return s;
}

static double number(void) {
    double x;
    if (fread(&x, sizeof x, 1, stdin) != 1) exit(2);
    return x;
}

int main(void) {
    size_t row, rows;
    int read, taken, *codes;
    %(type)s *all, *x;
    float *p, one[ABNET_CLASSES] = {0};
    if (fread(&read, sizeof read, 1, stdin) != 1) exit(2);
    rows = (size_t)read;
    all = calloc((rows + 1) * %(each)s, sizeof *all);
    codes = calloc(rows + 1, sizeof *codes);
    p = calloc((rows + 1) * ABNET_CLASSES, sizeof *p);
    for (row = 0; row < rows; row++) {
        x = all + row * %(each)s;
%(read)s
    }
    abnet_predict_rows(all, rows, codes%(many)s);
    for (row = 0; row < rows; row++) {
        x = all + row * %(each)s;
        if (codes[row] != abnet_predict(%(call)s)) exit(3); /* another label in a batch */
        taken = codes[row] >= 0 || codes[row] == ABNET_NO_ANSWER;
        if (taken && memcmp(one, p + row * ABNET_CLASSES, sizeof one) != 0) exit(4);
        fwrite(codes + row, sizeof *codes, 1, stdout);
        fwrite(p + row * ABNET_CLASSES, sizeof one, 1, stdout);
%(free)s
    }
    free(all);
    free(codes);
    free(p);
    if (0) { (void)text; (void)number; }
    return abnet_label(0) == NULL || abnet_label(-1) != NULL || abnet_label(ABNET_CLASSES) != NULL;
}
"""


def build(model: Model, folder: Path, *flags: str, single: bool = False) -> tuple[Path, CSource]:
    """The program around a model, compiled with all warnings."""
    source = to_c(model, folder / "model.c", single=single)
    number = "number"
    parts = {"type": "double", "each": "ABNET_COLUMNS", "call": "x", "many": "", "free": ""}
    if single:
        number = "(float)number"
        parts["type"] = "float"
    parts["read"] = f"        for (read = 0; read < ABNET_COLUMNS; read++) x[read] = {number}();"
    if source.members:
        parts |= {"type": "abnet_row", "each": "1"} | _statements(model, source, number)
    if model.predictor.shares:
        parts |= {"call": "x, one", "many": ", p"}
    (folder / "main.c").write_text(MAIN % parts, encoding="ascii")
    options = list(flags) or ["-O1"]
    if source.libm:
        options.append("-lm")
    compile_c(folder, "main.c", "model.c", "-o", "model", *options)
    return folder / "model", source


def _statements(model: Model, source: CSource, number: str) -> dict[str, str]:
    """C that reads the members of a row, and C that frees its texts."""
    read = []
    free = []
    for name, is_text in zip(source.members, _textual(model), strict=True):
        if is_text:
            read.append(f"        x->{name} = text();")
            free.append(f"        free((void *)x->{name});")
        else:
            read.append(f"        x->{name} = {number}();")
    return {"read": "\n".join(read), "free": "\n".join(free)}


def compile_c(folder: Path, *arguments: str) -> None:
    """Compile with all warnings as errors."""
    done = subprocess.run(["cc", *STRICT, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def _textual(model: Model) -> list[bool]:
    plan = export_plan(model)
    if plan.columns is None:
        return [False] * plan.n_columns
    return [isinstance(column, TextColumn) for column in plan.columns]


def run(program: Path, model: Model, rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes and probabilities that the program gives for an array, or for a frame."""
    width = model.n_classes
    done = subprocess.run([str(program)], input=_packed(model, rows), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[:3000]
    found = np.frombuffer(done.stdout, np.dtype([("code", "i4"), ("p", "f4", (width,))]))
    return found["code"], found["p"]


def _packed(model: Model, rows: Any) -> bytes:
    if not isinstance(rows, pl.DataFrame):
        return struct.pack("i", len(rows)) + np.asarray(rows, np.float64).tobytes()
    packed = [struct.pack("i", rows.height)]
    textual = _textual(model)
    for row in rows.rows():
        for cell, is_text in zip(row, textual, strict=True):
            if is_text:
                packed.append(_text(cell))
            else:
                packed.append(_number(cell))
    return b"".join(packed)


def _number(cell: Any) -> bytes:
    if cell is None:
        return struct.pack("d", np.nan)
    return struct.pack("d", float(cell))


def _text(cell: Any) -> bytes:
    if cell is None:
        return struct.pack("i", -1)
    content = cell.encode()
    return struct.pack("i", len(content)) + content
