"""What is particular to C: names, texts, the header, prefixes, the example, bytes of flash and stack."""

import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import erf

from abnet.certificates.decision import Decision
from abnet.export import c_program, to_c
from abnet.export.c_text import c_comment, c_identifiers, c_plain, c_string
from abnet.model.predictors.single_precision import lead
from abnet.tables.columns import BooleanColumn, DateColumn, NumericColumn, TextColumn
from abnet.tables.labels import Labels
from abnet.tables.preparation import MinMaxMap, StandardMap, TableMap, TablePreparation, as_preparation
from abnet.tables.preparation.coded import CodedMap
from export import models
from export.compiled import SANITIZED, build, compile_c, needs_compiler, run
from model.every_kind import certificate

pytestmark = [needs_compiler, pytest.mark.filterwarnings("ignore::abnet.tables.unseen.UnseenWarning")]


def output(folder: Path, *arguments: str, given: bytes = b"") -> str:
    done = subprocess.run([str(folder / "main"), *arguments], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_blanks_around_texts_are_dropped_as_python_drops_them(tmp_path: Path) -> None:
    preparation = models.columns(words=False)
    model = models.model("compact", preparation.n_features_out, preparation=preparation)
    frame = models.table(40, [column.name for column in preparation.columns])
    blanks = [chr(code) for code in range(0x3001) if chr(code).isspace()] + ["\u200b", "\u0084", "\u2060"]
    cities = [f"{blank}{blank}Oslo{other}" for blank, other in zip(blanks, blanks[::-1], strict=True)]
    frame = pl.concat([frame] * 2)[: len(cities)].with_columns(pl.Series("city", cities))
    shares = run(build(model, tmp_path)[0], model, frame)[1]
    np.testing.assert_allclose(shares, model.predict_proba(models.with_dates(frame, "born")), atol=1e-6)


def test_sums_are_in_double_precision_and_weights_without_rounding(tmp_path: Path) -> None:
    """Weights that float32 does not hold; in single precision, the same labels but for ties."""
    model = models.model("classes", 6, width=8)
    X = np.random.default_rng(9).normal(size=(500, 6)).astype(np.float32)
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(run(build(model, tmp_path)[0], model, X)[1], expected.astype(np.float32))


FLOAT = ("-Wdouble-promotion", "-Wfloat-conversion", "-Wunsuffixed-float-constants")
"""Warnings of gcc about anything that is computed in double."""


@pytest.mark.parametrize("kind", models.KINDS)
def test_float_all_through_needs_no_doubles(kind: str, tmp_path: Path) -> None:
    """The labels of Python but for scores within 1e-4 of a tie, as the header states, and no double anywhere."""
    calibration = None
    if kind in ("mixture", "classes by paths", "moments of classes"):
        calibration = models.calibrated()
    model = models.model(kind, 6, calibration=calibration, preparation=models.preparations(6)["standard"])
    X = np.random.default_rng(9).normal(size=(2000, 6)).astype(np.float32)
    codes, shares = run(build(model, tmp_path, "-O1", *FLOAT, single=True)[0], model, X)
    scores = model.scores(X)
    sure = (np.abs(scores) if scores.ndim == 1 else lead(scores)) > 1e-4
    assert sure.mean() > 0.99
    np.testing.assert_array_equal(codes[sure], model.labels.encode(model.predict(X))[sure])
    if model.predictor.shares:
        np.testing.assert_allclose(shares, model.predict_proba(X), atol=2e-5)
    text = (tmp_path / "model.c").read_text() + (tmp_path / "model.h").read_text()
    assert not re.search(r"\bdouble\b", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def test_float_all_through_refuses_numbers_whose_squares_overflow(tmp_path: Path) -> None:
    """A row is answered as in Python, or refused with the number of its column."""
    model = models.model("moments of classes", 6, preparation=models.preparations(6)["standard"])
    X = np.random.default_rng(9).normal(size=(40, 6)).astype(np.float32)
    X[:, 2] = np.geomspace(1, 3e38, 40)
    codes, _ = run(build(model, tmp_path, "-O1", *FLOAT, single=True)[0], model, X)
    answered = codes >= 0
    assert answered[X[:, 2] < 1e18].all()
    np.testing.assert_array_equal(codes[answered], model.labels.encode(model.predict(X))[answered])
    assert set(codes[X[:, 2] > 2e19].tolist()) == {-3}
    assert (run(build(model, tmp_path)[0], model, X)[0] >= 0).all()


def test_float_all_through_of_a_table_with_codes(tmp_path: Path) -> None:
    """Values of decimals, which lie on and beside thresholds: the codes are those of the certified features."""
    rng = np.random.default_rng(2)
    train = pl.DataFrame({"a": rng.normal(37, 1, 300).round(1), "b": rng.normal(2000, 300, 300).round(0)})
    base: Any = as_preparation(TablePreparation().fit(train))
    preparation = CodedMap.of(base, base.transform(train))
    cuts = [(t, c.mean, c.scale) for c, ts in zip(base.columns, preparation.thresholds, strict=True) for t in ts]
    model = models.model("moments of classes", preparation.n_features_out, preparation=preparation)
    near = np.array([np.float32(t * scale + mean) for t, mean, scale in cuts])
    near = np.concatenate([near, np.nextafter(near, np.float32(-1)), np.nextafter(near, np.float32(1e9))])
    values = np.concatenate([near, np.float32(rng.normal(37, 1, 3000).round(1))]).astype(np.float64)
    frame = pl.DataFrame({"a": values, "b": np.roll(values, 1) * (2000 / 37)}).with_columns(
        pl.col("b").cast(pl.Float32).cast(pl.Float64)
    )
    codes, shares = run(build(model, tmp_path, "-O1", *FLOAT, single=True)[0], model, frame)
    np.testing.assert_allclose(shares, model.predict_proba(frame), atol=2e-5)
    sure = lead(model.scores(frame)) > 1e-4
    np.testing.assert_array_equal(codes[sure], model.labels.encode(model.predict(frame))[sure])


def test_sums_of_codes_are_whole_numbers_where_weights_have_few_bits(tmp_path: Path) -> None:
    """Two bytes for each sum, and the stack that the header states, in double and in float."""
    preparation = CodedMap(models.preparations(6)["standard"], ((-1.0, 0.0, 0.5, 2.0),) * 6)
    model = models.model("rounded moments of classes", 30, preparation=preparation)
    for single in (False, True):
        source = to_c(model, tmp_path / "model.c", single=single)
        assert "short abnet_sums_of[" in source.text
        compile_c(tmp_path, "-O1", "-fno-inline", "-fstack-usage", "-c", "model.c", "-o", "model.o")
        frames = [line.split("\t") for line in (tmp_path / "model.su").read_text().splitlines()]
        used = sum(int(size) for _, size, _ in frames)
        assert source.ram_bytes - 64 <= used <= source.ram_bytes + 100 * len(frames)


@pytest.mark.parametrize("single", [False, True])
def test_the_error_function_is_within_what_its_comment_states(single: bool, tmp_path: Path) -> None:
    """Against SciPy; odd, never beyond 1, and the same alone as in an array, which compilers vectorise."""
    to_c(models.model("compact", 3), tmp_path / "model.c", single=single)
    kind, size, within = ("float", 4, 2e-6) if single else ("double", 8, 3e-14)
    x = np.concatenate([np.arange(-10000, 10001) * 7e-4, np.geomspace(1e-30, 1e30, 601), [0.0, np.inf, -np.inf]])
    (tmp_path / "main.c").write_text(
        f'#include "model.c"\n#include <stdio.h>\nint main(void) {{ static {kind} x[{len(x)}], one[1]; int i;'
        f"if (fread(x, {size}, {len(x)}, stdin) != {len(x)}) return 1; abnet_erf(x, {len(x)}, 1);"
        f"fwrite(x, {size}, {len(x)}, stdout); for (i = 0; i < 7; i++) {{ one[0] = (i - 3) * 0.5f;"
        f"abnet_erf(one, 1, 2); fwrite(one, {size}, 1, stdout); }} return 0; }}"
    )
    given = x.astype(f"f{size}")
    for flags in (SANITIZED, ("-O3",)):
        compile_c(tmp_path, "main.c", "-o", "main", "-lm", *flags)
        done = subprocess.run([str(tmp_path / "main")], input=given.tobytes(), capture_output=True, check=True)
        found, scaled = np.split(np.frombuffer(done.stdout, f"f{size}").astype(float), [len(x)])
        np.testing.assert_allclose(found, erf(given.astype(float)), rtol=0, atol=within)
        np.testing.assert_array_equal(found[:20001], -found[:20001][::-1])
        np.testing.assert_allclose(scaled, erf(np.arange(-3, 4)), rtol=0, atol=within)
        assert np.abs(found).max() <= 1


def test_the_header_states_the_promise_and_the_decision() -> None:
    model = replace(models.model("compact", 3), decision=Decision(kind="cut", threshold=0.4375, positive=1))
    source = c_program(model)
    words = " ".join(source.header.replace("\n *", " ").split())
    assert "0.4375" in words
    assert " ".join(c_plain(str(model.certificate)).split()) in words


def test_weights_in_single_precision_are_stored_as_such() -> None:
    model: Any = models.model("drawn", 6)
    weights = np.float32(model.predictor.weights[0]).astype(float)
    single, double = (
        replace(model, predictor=replace(model.predictor, weights=(W, *model.predictor.weights[1:])))
        for W in (weights, weights / 3)
    )
    assert c_program(double).flash_bytes - c_program(single).flash_bytes == 4 * weights.size


def test_codes_are_looked_up_on_and_beside_their_thresholds(tmp_path: Path) -> None:
    """Features on a threshold, and the floats beside it; thresholds that float32 does not hold."""
    thresholds = ((-1.0, 0.1, 0.30000000000000004, 2.0), (), (0.5,))
    model = models.model("classes", 3 + 5, preparation=CodedMap(models.preparations(3)["clipped"], thresholds))
    table = TableMap(tuple(NumericColumn(name, 0.0, 0.0, 1.0, False) for name in "abc"))
    model = replace(model, preparation=CodedMap(table, thresholds))
    cuts = np.array([t for one in thresholds for t in one], np.float32)
    near = np.concatenate([cuts, np.nextafter(cuts, np.float32(-9)), np.nextafter(cuts, np.float32(9))]).astype(float)
    frame = pl.DataFrame({"a": near, "b": near[::-1], "c": np.roll(near, 4)})
    codes, shares = run(build(model, tmp_path, *SANITIZED)[0], model, frame)
    assert model.labels.decode(codes).tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(shares, model.predict_proba(frame), atol=1e-6)


TWO = """
#include "first.h"
#include "second.h"
#include <stdio.h>
int main(void) {
    const double x[FIRST_COLUMNS] = {0.5, -1.0, 2.0};
    const second_row row = {0.5, -1.0, 2.0};
    printf("%s %s", first_label(first_predict(x, NULL)), second_label(second_predict(&row)));
    return 0;
}
"""


def test_two_models_in_one_program(tmp_path: Path) -> None:
    first = models.model("compact", 3, labels=Labels(np.array(["abnet_no", "abnet_yes"])))
    second = models.model("drawn", 3, feature_names=("abnet_row", "ABNET_REAL", "x"))
    to_c(first, tmp_path / "first.c", prefix="first")
    to_c(second, tmp_path / "second.c", prefix="second")
    (tmp_path / "main.c").write_text(TWO)
    compile_c(tmp_path, "main.c", "first.c", "second.c", "-o", "main", "-lm")
    row = np.array([[0.5, -1.0, 2.0]])
    assert output(tmp_path) == f"{first.predict(row)[0]} {second.predict(row)[0]}"
    with pytest.raises(ValueError, match="prefix"):
        c_program(first, prefix="a-b")


REFUSED = """
#include "model.h"
#include <math.h>
#include <stdio.h>
int main(void) {
    abnet_row row = {1.0, 2.0, NAN};
    printf("%s|%d", abnet_refused(abnet_predict(&row%s)), abnet_refused(0) == NULL && abnet_refused(-4) == NULL);
    return 0;
}
"""


def test_the_column_of_a_refused_row_is_named(tmp_path: Path) -> None:
    model = models.model("compact", 3, feature_names=("a", "b", 'größe "x"'))
    to_c(model, tmp_path / "model.c")
    (tmp_path / "main.c").write_text(REFUSED.replace("row%s", "row, NULL"))
    compile_c(tmp_path, "main.c", "model.c", "-o", "main", "-lm")
    assert output(tmp_path) == 'größe "x"|1'


def test_the_example_reads_a_csv_file(tmp_path: Path) -> None:
    table = TableMap(
        (
            NumericColumn("age", 40.0, 38.5, 13.25, True),
            BooleanColumn("member", True),
            DateColumn("born", "year-month-day", 10000.0, 9000.0, 4000.0, False, True),
            TextColumn("city, or town", ("Oslo", 'the "big" one'), (), True),
        )
    )
    model = models.model("mixture", table.n_features_out, preparation=table)
    to_c(model, tmp_path / "model.c", example=True)
    compile_c(tmp_path, "model_example.c", "model.c", "-o", "main", "-lm", *SANITIZED)
    rows = {
        "id": [1, 2, 3, 4],
        "city, or town": ["Oslo", 'the "big" one', None, "Bergen"],
        "born": ["1999-12-31", "2000-02-29", "1969-01-01", None],
        "member": ["TRUE", "false", None, "Yes"],
        "age": [30.5, None, 81.0, 7.0],
    }
    frame = pl.DataFrame(rows)
    lines = [line.split(",") for line in output(tmp_path, given=frame.write_csv().encode()).splitlines()]
    given = frame.select("age", "member", "born", "city, or town")
    assert [line[0] for line in lines] == [str(label) for label in model.predict(given).tolist()]
    np.testing.assert_allclose([[float(p) for p in line[1:]] for line in lines], model.predict_proba(given), atol=1e-5)


def far_model() -> tuple[Any, np.ndarray]:
    """Columns far from zero in an array without names, and rows."""
    rows = np.random.default_rng(3).normal([1.6e9, 50.0], [30.0, 1e-5], (60, 2))
    preparation = StandardMap((1.6e9, 50.0), (30.0, 1e-5))
    return models.model("compact", 2, preparation=preparation), rows


def test_the_example_reads_numbers_in_double_precision(tmp_path: Path) -> None:
    model, rows = far_model()
    to_c(model, tmp_path / "model.c", example=True)
    compile_c(tmp_path, "model_example.c", "model.c", "-o", "main", "-lm", *SANITIZED)
    frame = pl.DataFrame(rows, schema=["column 1", "column 2"])
    found = [line.split(",")[0] for line in output(tmp_path, given=frame.write_csv().encode()).splitlines()]
    assert found == [str(label) for label in model.predict(rows).tolist()]
    assert found != [str(label) for label in model.predict(rows.astype(np.float32)).tolist()]


def test_float_all_through_refuses_columns_that_float_does_not_resolve() -> None:
    """The header states how far floats move a number; a column that they move too far is named."""
    with pytest.raises(ValueError, match="'column 1'"):
        c_program(far_model()[0], single=True)
    limits = MinMaxMap((1 / 30,), (-1.6e9 / 30,), None)
    with pytest.raises(ValueError, match="'seconds'"):
        c_program(models.model("compact", 1, preparation=limits, feature_names=("seconds",)), single=True)
    days = TableMap((DateColumn("since", "year-month-day", 19000.0, 19000.0, 0.01, False, False),))
    with pytest.raises(ValueError, match="'since'"):
        c_program(models.model("compact", 1, preparation=days), single=True)
    years = models.model("compact", 1, preparation=StandardMap((2000.0,), (10.0,)))
    gap = float(np.spacing(np.float32(2000))) / 10
    assert f"{gap:.0e}" in c_program(years, single=True).header


@pytest.mark.parametrize("name", ["skin.c", "abnet_skin.c", "my skin.c"])
def test_the_example_names_its_own_files(name: str, tmp_path: Path) -> None:
    to_c(models.model("compact", 2), tmp_path / name, example=True, prefix="other")
    text = (tmp_path / f"{Path(name).stem}_example.c").read_text()
    command = re.search(r"cc .*?(?= && )", text)
    assert command is not None
    files = shlex.split(command[0])
    assert name in files
    compile_c(tmp_path, *files[files.index(f"{Path(name).stem}_example.c") :])
    assert (tmp_path / Path(name).stem).exists()


@pytest.mark.parametrize("single", [False, True])
def test_the_example_names_line_and_column_of_a_refused_row(single: bool, tmp_path: Path) -> None:
    model = models.model("compact", 2, feature_names=("height", "age"))
    to_c(model, tmp_path / "model.c", example=True, single=single)
    compile_c(tmp_path, "model_example.c", "model.c", "-o", "main", "-lm", *SANITIZED)
    given = b"age,height\n1,2\nold,3\n"
    done = subprocess.run([str(tmp_path / "main")], input=given, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"line 3" in done.stderr
    assert b"age" in done.stderr


ODD = {
    b"age,height\n1,2\n\n3,4\n": 2,  # a blank line
    b"\xef\xbb\xbfage,height\r\n1,2\r\n": 1,  # a byte order mark, line ends of Windows
    b'id,age,height\n"two\nlines",1,2\n': 1,
    b"age,height\n1,2\n3,70 kg\n": b"line 3, column height",
    b"age,height\n1,2,3\n": b"line 2",
    b"age,height\n1\n": b"line 2",
    b'id,age,height\n"two\nlines",1,2\n3,4,x\n': b"line 4, column height",
    b"age\n1\n": b"height",
    b"": b"no header",
}


def test_the_example_reads_odd_files_or_says_what_is_wrong(tmp_path: Path) -> None:
    to_c(models.model("compact", 2, feature_names=("height", "age")), tmp_path / "model.c", example=True)
    compile_c(tmp_path, "model_example.c", "model.c", "-o", "main", "-lm", *SANITIZED)
    for given, expected in ODD.items():
        done = subprocess.run([str(tmp_path / "main")], input=given, capture_output=True, check=False)
        if isinstance(expected, bytes):
            assert done.returncode == 1
            assert expected in done.stderr
        else:
            assert (done.returncode, len(done.stdout.splitlines())) == (0, expected), done.stderr


def test_the_example_leaves_the_label_empty_where_the_model_abstains(tmp_path: Path) -> None:
    model = models.model("compact", 2, feature_names=("height", "age"))
    X = np.random.default_rng(3).normal(size=(50, 2)).round(3)
    threshold = float(np.median(np.abs(model.scores(X)))) + 1e-6
    abstaining = replace(model, decision=Decision(kind="abstain", threshold=threshold))
    to_c(abstaining, tmp_path / "model.c", example=True)
    compile_c(tmp_path, "model_example.c", "model.c", "-o", "main", "-lm", *SANITIZED)
    given = pl.DataFrame(X, schema=["height", "age"]).write_csv().encode()
    found = [line.split(",")[0] for line in output(tmp_path, given=given).splitlines()]
    assert found == ["" if label is None else str(label) for label in abstaining.predict(X)]
    assert 10 < found.count("") < 40


def test_the_header_file_cannot_be_the_source(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"model\.h"):
        to_c(models.model("compact", 3), tmp_path / "model.h")


def test_hostile_classes_in_the_certificate_stay_in_the_comment(tmp_path: Path) -> None:
    labels = np.array(["*/ int main(void) { /*", '??/\n"\\'])
    promise = certificate(tuple(labels.tolist()))
    model = models.model("compact", 3, labels=labels, certificate=promise)
    build(model, tmp_path)
    text = (tmp_path / "model.c").read_text()
    assert "* / int main" in text[: text.index("*/")]


def test_signs_need_no_mathematical_library() -> None:
    for kind in ("drawn", "wide drawn"):
        source = c_program(models.model(kind, 6))
        assert not source.libm
        assert "math.h" not in source.text


def test_names_of_columns_stay_apart_and_out_of_the_code() -> None:
    found = c_identifiers([*models.HOSTILE, "int", "Int", "1", "ü", "_", "__x", "a.b", "a b", "abnet_x"])
    assert len(set(found)) == len(found)
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in found)
    assert not any(name == "int" or name.startswith("abnet_") for name in found)


def test_no_text_ends_a_comment_or_a_literal() -> None:
    nasty = ["*/", "**//", "/*", "*?" + "?/\n/", "*\\\n/", "\u202e*/", "??/??/", "a" * 200 + "*" + "/" * 3]
    for text in nasty:
        comment = c_comment([text, f"  {text}"])
        assert comment.count("*/") == 1
        assert comment.isascii()
        assert "??" not in comment
        assert re.fullmatch(r'"(?:[A-Za-z0-9 \-.,]|\\[0-7]{3})*"', c_string(text))


def compiled_alone(model: Any, folder: Path, *flags: str) -> Any:
    source = to_c(model, folder / "model.c")
    compile_c(folder, *flags, "-c", "model.c", "-o", "model.o")
    return source


@pytest.mark.skipif(shutil.which("size") is None, reason="there is no program size")
@pytest.mark.parametrize("kind", ["compact", "drawn", "classes", "classes by paths"])
def test_the_bytes_of_constants_are_those_of_the_object(kind: str, tmp_path: Path) -> None:
    source = compiled_alone(models.model(kind, 200, width=8), tmp_path, "-Os")
    told = subprocess.run(["size", "-A", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    sections = {line.split()[0]: int(line.split()[1]) for line in told.splitlines() if line.startswith(".")}
    constants = sum(size for name, size in sections.items() if name.startswith((".rodata", ".data.rel.ro")))
    # Pointers are counted with 4 bytes; numbers of the code may be among the constants, and places are filled up.
    assert 0 <= constants - source.flash_bytes <= 300 + 4 * 200
    assert sum(size for name, size in sections.items() if name in (".data", ".bss")) == 0


@pytest.mark.parametrize("kind", ["compact", "drawn", "wide drawn", "classes", "classes by paths"])
def test_the_bytes_of_stack_are_those_of_the_functions(kind: str, tmp_path: Path) -> None:
    source = compiled_alone(models.model(kind, 200, width=8), tmp_path, "-O1", "-fno-inline", "-fstack-usage")
    frames = [line.split("\t") for line in (tmp_path / "model.su").read_text().splitlines()]
    used = sum(int(size) for _, size, _ in frames)
    # Each function keeps some registers and counters on the stack as well.
    assert source.ram_bytes <= used + 64
    assert used <= source.ram_bytes + 100 * len(frames)


NASTY = ['"; rm -rf', "<script>", "a\\", "two\nlines", "??/ */ /*", "größe\u202e", "n" * 300, "%s%n"]


def test_labels_come_back_byte_by_byte(tmp_path: Path) -> None:
    to_c(models.model("classes", 3, labels=Labels(np.array(sorted(NASTY)))), tmp_path / "model.c")
    print_all = 'int main(void) { int k; for (k = 0; k < ABNET_CLASSES; k++) printf("%s|", abnet_label(k)); return 0; }'
    (tmp_path / "main.c").write_text(f'#include "model.h"\n#include <stdio.h>\n{print_all}\n')
    compile_c(tmp_path, "main.c", "model.c", "-o", "main", "-lm")
    assert output(tmp_path).split("|")[:-1] == sorted(NASTY)


def test_columns_of_one_name_stay_apart(tmp_path: Path) -> None:
    X = np.random.default_rng(8).normal(size=(300, 6))
    model = models.model("compact", 6, feature_names=("a", "a", "a_2", "A", "", ""))
    codes, _ = run(build(model, tmp_path)[0], model, X)
    assert model.labels.decode(codes).tolist() == model.predict(X).tolist()
