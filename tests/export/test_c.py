"""Exported C against Python, compiled with all warnings as errors, also under the sanitizers."""

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet.bam import BAM
from abnet.data.preparation.unseen import UnseenWarning
from abnet.export import c_program, to_c
from abnet.export.c_source import single_precision_loss
from abnet.export.c_text import c_comment, c_identifiers, c_plain, c_string
from abnet.export.plan import export_plan
from abnet.predictors.paths import CompactUniform
from abnet.predictors.predictor import ModelInfo, Predictor
from export import models
from export.compiled import SANITIZED, build, needs_compiler, run
from files.predictors import certificate

pytestmark = needs_compiler


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
    frame = models.table(2000, names, ascii_only=True)
    check(model, tmp_path, frame, models.with_dates(frame, names[5]), *flags)


def test_double_precision_is_python_to_the_last_digits(tmp_path: Path) -> None:
    model = models.predictor("classes", 6)
    X = np.random.default_rng(9).normal(size=(500, 6)).astype(np.float32)
    program, _ = build(model, tmp_path, precision="double")
    np.testing.assert_array_equal(run(program, model, X)[1], model.predict_proba(X).astype(np.float32))


def test_blanks_around_texts_are_dropped_as_python_drops_them(tmp_path: Path) -> None:
    preparation = models.columns()
    model = models.predictor("compact", preparation.n_features_out, preparation=preparation)
    frame = models.table(40, [column.name for column in preparation.columns], ascii_only=True)
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


def test_numbers_without_end_and_letters_beyond_ascii_are_refused_in_tables(tmp_path: Path) -> None:
    preparation = models.columns()
    model = models.predictor("compact", preparation.n_features_out, preparation=preparation)
    frame = models.table(3, [column.name for column in preparation.columns], ascii_only=True)
    frame = frame.with_columns(pl.Series("age", [1.0, np.inf, 2.0]), pl.Series("remark", ["mr", "mr", "Größe"]))
    program, _ = build(model, tmp_path)
    assert (run(program, model, frame)[0] < 0).tolist() == [False, True, True]


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
