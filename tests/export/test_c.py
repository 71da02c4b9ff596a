"""Exported C against Python, compiled with all warnings as errors, also under the sanitizers."""

import re
import shutil
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import erf

from abnet.bam import BAM
from abnet.data.preparation import TableMap
from abnet.data.preparation.columns import NumericColumn
from abnet.data.preparation.unseen import UnseenWarning
from abnet.data.preparation.words import HashedColumn, WordsColumn
from abnet.data.tables.cells import NumberForm
from abnet.data.tables.frames import as_table
from abnet.export import c_program, to_c
from abnet.export.c_rows import ERF_COEFFICIENTS, ERF_END, ERF_ERROR
from abnet.export.c_source import single_precision_loss
from abnet.export.c_text import c_comment, c_identifiers, c_plain, c_string
from abnet.export.plan import export_plan
from abnet.labels import Labels
from abnet.predictors.compact import CompactABNet, CompactMAP
from abnet.predictors.paths import CompactUniform
from abnet.predictors.predictor import ModelInfo, Predictor
from export import models
from export.compiled import SANITIZED, STRICT, build, needs_compiler, run
from files.predictors import certificate

pytestmark = needs_compiler

WORDS = ("mr", "mrs", "grösse", "ffi", "ss", "σασ", "漢字", "𐐨𐐩", "cd", "abacd", "abßcd".casefold(), "zero")


def check(model: Predictor, folder: Path, rows: Any, reference: Any = None, *flags: str, **options: Any) -> None:
    """Same labels, and probabilities within 1e-6, over all rows."""
    program, _ = build(model, folder, *flags, **options)
    codes, probabilities = run(program, model, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        given = rows if reference is None else reference
        assert model.info.labels.decode(codes).tolist() == model.predict(given).tolist()
        if model.shares:
            np.testing.assert_allclose(probabilities, model.predict_proba(given), atol=1e-6)
    assert len(set(codes.tolist())) > 1


@pytest.mark.parametrize("kind", models.KINDS)
def test_every_network_on_an_array(kind: str, tmp_path: Path) -> None:
    X = np.random.default_rng(7).normal(size=(3000, 6)).astype(np.float32)
    check(models.predictor(kind, 6), tmp_path, X)


@pytest.mark.parametrize("name", models.preparations(6))
def test_every_preparation_of_an_array(name: str, tmp_path: Path) -> None:
    preparation = models.preparations(6)[name]
    width = 6 if preparation is None else preparation.n_features_out
    X = np.random.default_rng(8).normal(size=(3000, 6))
    plain = models.predictor("compact", width, preparation=preparation)
    check(plain, tmp_path, X.astype(np.float32))
    named = models.predictor("compact", width, preparation=preparation, feature_names=models.HOSTILE)
    check(named, tmp_path, X)


@pytest.mark.parametrize("kind", models.KINDS)
@pytest.mark.parametrize("flags", [(), SANITIZED], ids=["plain", "sanitized"])
def test_every_kind_of_column_with_hostile_names(kind: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    preparation = models.columns(models.HOSTILE)
    calibration = models.calibrated() if kind != "map" else None
    model = models.predictor(kind, preparation.n_features_out, preparation=preparation, calibration=calibration)
    names = [column.name for column in preparation.columns]
    frame = models.table(2000, names)
    check(model, tmp_path, frame, models.with_dates(frame, names[5]), *flags)


def test_double_precision_is_python_to_the_last_digits(tmp_path: Path) -> None:
    model = models.predictor("classes", 6)
    X = np.random.default_rng(9).normal(size=(500, 6)).astype(np.float32)
    program, _ = build(model, tmp_path, precision="double")
    np.testing.assert_array_equal(run(program, model, X)[1], model.predict_proba(X).astype(np.float32))


def test_blanks_around_texts_are_dropped_as_python_drops_them(tmp_path: Path) -> None:
    preparation = models.columns()
    model = models.predictor("compact", preparation.n_features_out, preparation=preparation)
    frame = models.table(40, [column.name for column in preparation.columns])
    blanks = [chr(code) for code in range(0x3001) if chr(code).isspace()] + ["\u200b", "\u0084", "\u2060"]
    cities = [f"{blank}{blank}Oslo{other}" for blank, other in zip(blanks, blanks[::-1], strict=True)]
    frame = pl.concat([frame] * 2)[: len(cities)].with_columns(pl.Series("city", cities))
    check(model, tmp_path, frame, models.with_dates(frame, "born"))


REFUSED = [
    (name, wrong)
    for name in models.preparations(6)
    for wrong in (np.nan, np.inf, -np.inf)
    if name != "clipped" or np.isnan(wrong)  # a cut brings infinity back into the range, in Python too
]


@pytest.mark.parametrize(("name", "wrong"), REFUSED)
def test_what_python_refuses_is_refused(name: str, wrong: float, tmp_path: Path) -> None:
    preparation = models.preparations(6)[name]
    model = models.predictor("map", 6 if preparation is None else preparation.n_features_out, preparation=preparation)
    X = np.ones((2, 6), np.float32)
    X[1, 3] = wrong
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)
    program, _ = build(model, tmp_path)
    assert (run(program, model, X)[0] < 0).tolist() == [False, True]


def test_numbers_without_end_are_refused_in_tables(tmp_path: Path) -> None:
    preparation = models.columns()
    model = models.predictor("compact", preparation.n_features_out, preparation=preparation)
    frame = models.table(3, [column.name for column in preparation.columns])
    frame = frame.with_columns(pl.Series("age", [1.0, np.inf, 2.0]))
    program, _ = build(model, tmp_path)
    assert (run(program, model, frame)[0] < 0).tolist() == [False, True, False]


def read_texts(column: Any, folder: Path) -> tuple[str, Predictor]:
    """A program that says which features each text has, and its model."""
    table = TableMap((column,), {})
    model = models.predictor("map", table.n_features_out, preparation=table)
    to_c(model, folder / "model.c")
    (folder / "main.c").write_text(READ)
    compiler = ["cc", *STRICT, *SANITIZED]
    subprocess.run([*compiler, "main.c", "-o", "main"], cwd=folder, check=True)
    return str(folder / "main"), model


READ = """
#include "model.c"
#include <stdio.h>
int main(void) {
    static char text[1000];
    abnet_row row;
    float f[ABNET_FEATURES];
    int i, c, n = 0;
    while ((c = getchar()) != EOF) {
        text[n++] = (char)c;
        if (c != 0) continue;
        row.x = text;
        if (abnet_prepare(&row, f)) printf("refused");
        else for (i = 0; i < ABNET_FEATURES; i++) putchar(f[i] > 0 ? '1' : '0');
        putchar('\\n');
        n = 0;
    }
    return 0;
}
"""


@pytest.mark.parametrize(
    "column", [HashedColumn("x", 61, True), WordsColumn("x", WORDS, True)], ids=["hashed", "words"]
)
def test_texts_of_all_scripts_are_read_as_python_reads_them(column: Any, tmp_path: Path) -> None:
    texts = [*models.STORIES, *models.strange_texts()]
    program, _ = read_texts(column, tmp_path)
    done = subprocess.run([program], input="".join(f"{t}\0" for t in texts).encode(), capture_output=True, check=True)
    expected = column.encode(as_table({"x": texts}))[0].astype(int)
    assert done.stdout.decode().split() == ["".join(map(str, row)) for row in expected.tolist()]
    assert expected.any(axis=0).all()


def test_text_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    broken = [b"ok", b"\xff", b"a\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\xf0\x9f\x98"]
    for column in (HashedColumn("x", 7, True), WordsColumn("x", ("ok",), True)):
        program, _ = read_texts(column, tmp_path)
        done = subprocess.run([program], input=b"".join(t + b"\0" for t in broken), capture_output=True, check=True)
        assert [line == "refused" for line in done.stdout.decode().split()] == [False, *[True] * 7]


def test_the_loss_of_single_precision_is_bounded(tmp_path: Path) -> None:
    """Weights that float32 does not hold, so that the bound has something to say; an oracle by rounding in Python."""
    for kind in ("compact", "classes"):
        model = models.predictor(kind, 6, width=8)
        arrays = {name: array.astype(np.float32).astype(np.float64) for name, array in model.arrays().items()}
        rounded = type(model).from_arrays(arrays, model.info)
        X = 100 * np.random.default_rng(2).normal(size=(5000, 6))
        change = np.abs(rounded.decision_function(X) - model.decision_function(X)).max()
        bound = single_precision_loss(export_plan(model))
        assert 0 < change <= bound < 1e-4
        program, source = build(model, tmp_path)
        assert f"within {bound:.1e} of the original's" in " ".join(source.text.replace("\n *", "").split())
        shares = run(program, model, X.astype(np.float32))[1]
        assert np.abs(shares - model.predict_proba(X.astype(np.float32))).max() <= bound + 1e-7


def test_hostile_classes_in_the_certificate_stay_in_the_comment(tmp_path: Path) -> None:
    labels = np.array(["*/ int main(void) { /*", '??/\n"\\'])
    promise = replace(certificate(), class_names=tuple(labels.tolist()))
    model = models.predictor("compact", 3, labels=labels, certificate=promise)
    check(model, tmp_path, np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32))
    text = (tmp_path / "model.c").read_text()
    assert "* / int main" in text[: text.index("*/")]


def test_columns_that_no_exporter_knows_are_named() -> None:
    class Strange:
        name, kind, features = "diary", "smell", ("a",)

    odd: Any = Strange()
    model = models.predictor("compact", 1, preparation=TableMap((odd,), {}))
    with pytest.raises(ValueError, match="column 'diary' is of kind 'smell', which no exporter writes"):
        c_program(model)
    large = NumericColumn("id", 0.0, 0.0, 1.0, False, NumberForm(offset=2**60))
    with pytest.raises(ValueError, match="whole numbers near"):
        c_program(models.predictor("compact", 1, preparation=TableMap((large,), {})))


def test_signs_need_no_mathematical_library() -> None:
    for kind in ("map", "drawn", "wide drawn"):
        source = c_program(models.predictor(kind, 6))
        assert not source.libm
        assert "math.h" not in source.text
        assert "malloc" not in source.text


def test_the_header_states_certificate_and_bytes(tmp_path: Path) -> None:
    model = models.predictor("compact", 6)
    source = to_c(model, tmp_path / "model.c")
    text = (tmp_path / "model.c").read_text()
    assert text == source.text
    head = re.sub(r"\s*\n \* ?", " ", text[: text.index("*/")])
    assert c_plain(" ".join(str(model.certificate_).split())) in " ".join(head.split())
    weights, table = (6 + 1) * 5 * 4, 32 * 4
    assert source.flash_bytes == weights + table + len("-1") + len("1") + 10
    assert f"{source.flash_bytes} bytes of flash" in head
    assert f"{source.ram_bytes} bytes of stack" in head


def test_names_of_columns_stay_apart_and_out_of_the_code() -> None:
    found = c_identifiers([*models.HOSTILE, "int", "Int", "1", "ü", "_", "__x", "a.b", "a b"])
    assert len(set(found)) == len(found)
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in found)
    assert "int" not in found


def test_no_text_ends_a_comment_or_a_literal() -> None:
    nasty = ["*/", "**//", "/*", "*?" + "?/\n/", "*\\\n/", "\u202e*/", "??/??/", "a" * 200 + "*" + "/" * 3]
    for text in nasty:
        comment = c_comment([text, f"  {text}"])
        assert comment.count("*/") == 1
        assert comment.isascii()
        assert "??" not in comment
        assert re.fullmatch(r'"(?:[A-Za-z0-9 _\-.,]|\\[0-7]{3})*"', c_string(text))


def test_what_cannot_be_exported_is_named() -> None:
    rng = np.random.default_rng(0)
    drawn = CompactUniform.from_network(BAM.init(rng, (3, 4, 1)), rng, n_samples=5, info=ModelInfo())
    with pytest.raises(ValueError, match="CompactUniform cannot be exported; what can be are the networks"):
        c_program(drawn)
    with pytest.raises(ValueError, match="precision must be"):
        c_program(models.predictor("compact", 3), precision="half")


@pytest.mark.parametrize("name", models.lone_columns())
def test_every_kind_of_column_alone(name: str, tmp_path: Path) -> None:
    preparation, frame = models.lone_columns()[name]
    model = models.predictor("compact", preparation.n_features_out, preparation=preparation)
    program, _ = build(model, tmp_path, *SANITIZED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        np.testing.assert_allclose(run(program, model, frame)[1], model.predict_proba(frame), atol=1e-6)


def compiled_alone(folder: Path, *flags: str) -> None:
    command = ["cc", *STRICT, *flags, "-c", "model.c", "-o", "model.o"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


@pytest.mark.skipif(shutil.which("size") is None, reason="there is no program size")
@pytest.mark.parametrize("kind", ["compact", "map", "classes", "classes by paths"])
def test_the_bytes_of_flash_are_those_of_the_object(kind: str, tmp_path: Path) -> None:
    source = to_c(models.predictor(kind, 200, width=8), tmp_path / "model.c")
    compiled_alone(tmp_path, "-Os")
    told = subprocess.run(["size", "-A", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    sections = {line.split()[0]: int(line.split()[1]) for line in told.splitlines() if line.startswith(".")}
    constants = sum(size for name, size in sections.items() if name.startswith((".rodata", ".data.rel.ro")))
    # Pointers are counted with 4 bytes; numbers of the code may be among the constants, and places are filled up.
    assert 0 <= constants - source.flash_bytes <= 300
    assert sum(size for name, size in sections.items() if name in (".data", ".bss")) == 0


@pytest.mark.parametrize(
    ("kind", "width"),
    [("compact", 8), ("map", 8), ("wide drawn", 8), ("classes", 8), ("classes", 12), ("classes by paths", 8)],
)
@pytest.mark.parametrize("rows", [0, None], ids=["one row", "many rows"])
def test_the_bytes_of_stack_are_those_of_the_functions(kind: str, width: int, rows: int | None, tmp_path: Path) -> None:
    source = to_c(models.predictor(kind, 200, width=width), tmp_path / "model.c")
    compiled_alone(tmp_path, "-O1", "-fno-inline", "-fstack-usage", *([] if rows is None else [f"-DABNET_ROWS={rows}"]))
    frames = [line.split("\t") for line in (tmp_path / "model.su").read_text().splitlines()]
    used = sum(int(size) for _, size, _ in frames)
    stated = source.ram_bytes if rows == 0 else source.rows_ram_bytes
    # Each function keeps some registers and counters on the stack as well.
    assert stated <= used + 64
    assert used <= stated + 160 * len(frames)


def test_single_precision_settles_most_rows_and_no_tie(tmp_path: Path) -> None:
    """Rows side by side: the labels of nearly all are sure, and where they are not, the row is computed again."""
    model = models.predictor("classes", 100, width=8)
    X = np.random.default_rng(4).normal(size=(4000, 100)).astype(np.float32)
    program, _ = build(model, tmp_path, "-O3")
    assert model.info.labels.decode(run(program, model, X)[0]).tolist() == model.predict(X).tolist()
    (tmp_path / "probe.c").write_text(PROBE)
    subprocess.run(["cc", *STRICT, "-O3", "probe.c", "-o", "probe", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "probe")], input=X.tobytes(), capture_output=True, check=True)
    assert 0 < int(done.stdout) < 0.05 * len(X)


@pytest.mark.parametrize("kind", ["classes", "paths"])
def test_all_cores_give_the_same_labels(kind: str, tmp_path: Path) -> None:
    (tmp_path / "try.c").write_text("int main(void) { return 0; }")
    if subprocess.run(["cc", "-fopenmp", "try.c"], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("the compiler has no OpenMP")
    X = np.random.default_rng(5).normal(size=(1000, 6)).astype(np.float32)
    check(models.predictor(kind, 6), tmp_path, X, None, "-O2", "-fopenmp")


@pytest.mark.parametrize(
    "flags", [(), ("-march=native",), ("-DABNET_PLAIN",), ("-DABNET_ROWS=8",), ("-DABNET_ROWS=7",)]
)
@pytest.mark.parametrize(("n_inputs", "precision"), [(1, "single"), (4, "double"), (131, "single"), (258, "double")])
def test_many_units_in_tiles_that_do_not_fit(
    n_inputs: int, precision: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Thirty-six units in tiles that reach into the next feature, features behind, rows of zeros, and numbers that only
    their squares take for zero, with each kind of vectors."""
    model = models.predictor("classes", n_inputs, width=12)
    rng = np.random.default_rng(n_inputs)
    X = (rng.normal(size=(500, n_inputs)) * (rng.random((500, n_inputs)) < 0.2)).astype(np.float32)
    X[0], X[1], X[2] = 0, 1e-30, -1e30
    check(model, tmp_path, X, None, *SANITIZED, *flags, precision=precision)
    (tmp_path / "probe.c").write_text(PROBE)
    subprocess.run(["cc", *STRICT, "-O3", *flags, "probe.c", "-o", "probe", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "probe")], input=X.tobytes(), capture_output=True, check=True)
    assert int(done.stdout) < 0.1 * len(X)  # not all of them are left to be computed one by one


@pytest.mark.parametrize("flags", [(), ("-march=native",), ("-DABNET_PLAIN",)])
@pytest.mark.parametrize(("kind", "width", "n_inputs"), [("compact", 2, 2), ("map", 3, 65), ("compact", 10, 200)])
def test_few_units_read_beyond_no_weights(
    kind: str, width: int, n_inputs: int, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Vectors longer than a layer is wide, at the end of the weights; features that are never zero, and one that is."""
    model = models.predictor(kind, n_inputs, width=width)
    X = np.random.default_rng(width).normal(size=(300, n_inputs)).astype(np.float32)
    X[:100, -1] = 0
    check(model, tmp_path, X, None, *SANITIZED, *flags)


PROBE = """
#include "model.c"
#include <stdio.h>
int main(void) {
    static float x[ABNET_ROWS * ABNET_COLUMNS];
    const float *f[ABNET_ROWS];
    int codes[ABNET_ROWS], r, unsure = 0;
    for (r = 0; r < ABNET_ROWS; r++) f[r] = x + r * ABNET_COLUMNS;
    while (fread(x, sizeof x, 1, stdin) == 1) {
        abnet_many(f, codes);
        for (r = 0; r < ABNET_ROWS; r++) unsure += codes[r] < 0;
    }
    printf("%d", unsure);
    return 0;
}
"""


def test_rows_that_single_precision_cannot_tell_apart(tmp_path: Path) -> None:
    """Sums that vanish but for the last bit of an input, above and below zero, and sums of exactly zero."""
    rng = np.random.default_rng(6)
    large = rng.normal(size=3000).astype(np.float32) * 1000
    X = np.column_stack([large, np.nextafter(large, rng.choice([-np.inf, np.inf], 3000).astype(np.float32))])
    X[:100, 1] = X[:100, 0]
    net = CompactABNet(np.array([[1.0, -1.0]]), np.zeros(1), np.array([-1.0, 1.0]))
    check(net, tmp_path, X)
    bits = CompactMAP(net.W, net.b, np.array([0b01000000], np.uint8))
    check(bits, tmp_path, X)


def test_the_error_function_of_many_rows_is_within_its_bound() -> None:
    x = np.linspace(0, 6, 600_001, dtype=np.float32)
    a = np.minimum(x, np.float32(ERF_END))
    u = a * a * np.float32(2 / ERF_END**2) - np.float32(1)
    v = np.full_like(u, np.float32(ERF_COEFFICIENTS[-1]))
    for coefficient in ERF_COEFFICIENTS[-2::-1]:
        v = v * u + np.float32(coefficient)
    assert np.abs(a * v - erf(x.astype(np.float64))).max() < ERF_ERROR / 5


NASTY = ['"; rm -rf', "<script>", "a\\", "two\nlines", "??/ */ /*", "größe\u202e", "n" * 300, "%s%n"]


def test_labels_come_back_byte_by_byte(tmp_path: Path) -> None:
    model = models.predictor("classes", 3, labels=Labels(np.array(sorted(NASTY))))
    to_c(model, tmp_path / "model.c")
    print_all = 'int main(void) { int k; for (k = 0; k < ABNET_CLASSES; k++) printf("%s|", abnet_label(k)); return 0; }'
    (tmp_path / "main.c").write_text(f'#include "model.c"\n#include <stdio.h>\n{print_all}\n')
    subprocess.run(["cc", *STRICT, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "main")], capture_output=True, check=True)
    assert done.stdout.decode().split("|")[:-1] == sorted(NASTY)


def test_columns_of_one_name_stay_apart(tmp_path: Path) -> None:
    X = np.random.default_rng(8).normal(size=(300, 6))
    model = models.predictor("compact", 6, feature_names=("a", "a", "a_2", "A", "", ""))
    check(model, tmp_path, X)
