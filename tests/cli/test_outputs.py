"""Nothing lost: outputs that are inputs, outputs of another kind, standard input, columns passed through."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from abnet.cli.outputs import kind_of_file
from cli.tables import ROWS, SMALL, Failure, Run, cells, csv_text, refused_as_input

FIT = ["--target", "mood today", *SMALL]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(csv_text())
    return path


def spellings(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The same file: as it is, by a link, by a hard link, by way of another folder, and relative."""
    symbolic = folder / "symbolic"
    hard = folder / "hard"
    symbolic.symlink_to(path)
    os.link(path, hard)
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder)
    return [path, symbolic, hard, folder / "sub" / ".." / path.name, Path(path.name)]


def test_the_table_is_not_replaced_by_the_model(
    failure: Failure, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for output in spellings(own, tmp_path, monkeypatch):
        for extra in ([], ["--overwrite"]):
            assert refused_as_input(failure("fit", own, "-o", output, *FIT, *extra, code=2))
    assert own.read_text() == csv_text()


def test_nothing_is_read_before_outputs_are_checked(failure: Failure, tmp_path: Path) -> None:
    absent = tmp_path / "absent.csv"
    assert refused_as_input(failure("fit", absent, "-o", absent, *FIT, code=2))
    assert refused_as_input(failure("predict", tmp_path / "m", absent, "-o", tmp_path / "." / "m", code=2))


def test_neither_model_nor_table_is_replaced_by_predictions(
    failure: Failure, model: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = model.read_bytes()
    for source in (model, own):
        folder = tmp_path / source.stem
        folder.mkdir()
        for output in spellings(source, folder, monkeypatch)[:4]:
            if output.exists():
                assert refused_as_input(failure("predict", model, own, "-o", output, code=2))
    assert (model.read_bytes(), own.read_text()) == (content, csv_text())


def test_no_other_command_replaces_what_it_reads(
    failure: Failure, model: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = model.read_bytes()
    copy = tmp_path / "m.abnet"
    copy.write_bytes(content)
    for source in (copy, own):
        folder = tmp_path / source.stem
        folder.mkdir()
        for output in [source, *spellings(source, folder, monkeypatch)[1:3]]:
            assert refused_as_input(failure("certify", copy, own, "--save", output, code=2), "--save")
            assert refused_as_input(failure("monitor", copy, own, "--state", output, code=2), "--state")
    for answers in ([own, "--truth", "mood today", "--prediction", "sold"],):
        assert refused_as_input(failure("certify", *answers, "--save", own, code=2), "--save")
    assert (copy.read_bytes(), own.read_text()) == (content, csv_text())


def test_no_other_command_replaces_a_file_of_another_kind_unless_asked(
    run: Run, failure: Failure, model: Path, own: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.abnet"
    copy.write_bytes(model.read_bytes())
    own.write_text(csv_text(seed=1))
    commands: list[list[object]] = [
        ["certify", model, own, "--save"], ["export", model, "--to", "c", "--output"],
        ["export", model, "--to", "onnx", "--output"], ["data", "breast_cancer", "--output"],
    ]  # fmt: skip
    for command in commands:
        assert "add --overwrite" in failure(*command, copy, code=2)
        run(*command, copy, "--overwrite")
        copy.write_bytes(model.read_bytes())
    run("certify", model, own, "--save", tmp_path / "a.json")
    for kind in ("c", "onnx"):
        run("export", model, "--to", kind, "--output", tmp_path / f"a.{kind}")
    run("data", "breast_cancer", "--output", tmp_path / "a.csv")
    # Once more: each replaces a file of its own kind.
    run("certify", model, own, "--save", tmp_path / "a.json")
    for kind in ("c", "onnx"):
        run("export", model, "--to", kind, "--output", tmp_path / f"a.{kind}")
    run("data", "breast_cancer", "--output", tmp_path / "a.csv")


def test_notes_of_certify_are_in_json_too(run: Run, model: Path, own: Path) -> None:
    result = run("certify", model, own, "--allow-training-rows", "--json")
    notes = json.loads(result.stdout)["notes"]
    assert any(f" of {ROWS} rows" in note for note in notes)
    assert result.stderr.splitlines() == [f"note: {note}" for note in notes]


def test_a_file_of_another_kind_is_replaced_only_if_asked(
    run: Run, failure: Failure, model: Path, table: Path, tmp_path: Path
) -> None:
    other = tmp_path / "notes.csv"
    copy = tmp_path / "copy.abnet"
    other.write_text("a,b\n1,2\n")
    copy.write_bytes(model.read_bytes())
    assert "add --overwrite" in failure("fit", table, "-o", other, *FIT, code=2)
    assert "add --overwrite" in failure("predict", model, table, "-o", copy, code=2)
    assert other.read_text() == "a,b\n1,2\n"
    assert copy.read_bytes() == model.read_bytes()
    run("fit", table, "-o", copy, *FIT)
    run("predict", model, table, "-o", other)
    assert (kind_of_file(copy), kind_of_file(other)) == ("model", "CSV")
    run("fit", table, "-o", other, *FIT, "--overwrite")
    run("predict", model, table, "-o", copy, "--overwrite")
    assert (kind_of_file(other), kind_of_file(copy)) == ("model", "CSV")


def test_kinds_are_told_by_content(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "x.abnet"
    for content, kind in [(b"", ""), (b"\0\1", "other"), (b"prediction\nyes\n", "CSV"), (model.read_bytes(), "model")]:
        path.write_bytes(content)
        assert kind_of_file(path) == kind
    path.write_bytes(model.read_bytes().replace(b'"abnet"', b'"other"'))
    assert kind_of_file(path) == "other"


def program(*arguments: object, given: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "abnet", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, check=False)


def test_standard_input_is_a_table(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    copy = tmp_path / "m.abnet"
    result = program("fit", "-", "-o", copy, *FIT, given=table.read_bytes())
    assert result.returncode == 0, result.stderr
    assert copy.read_bytes() == model.read_bytes()
    result = program("predict", copy, "-", given=table.read_bytes())
    assert result.stdout.decode() == run("predict", model, table).stdout


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_pass_through(run: Run, failure: Failure, model: Path, table: Path) -> None:
    header, rows = cells()
    plain = read_csv(run("predict", model, table, "--proba").stdout)
    kept = read_csv(run("predict", model, table, "--proba", "--keep", "id", "--keep", "size, cm").stdout)
    assert list(kept[0])[:2] == ["id", "size, cm"]
    assert [row["id"] for row in kept] == [row[4] for row in rows]
    assert [row["size, cm"] for row in kept] == [row[0] for row in rows]
    assert [{name: row[name] for name in plain[0]} for row in kept] == plain
    everything = read_csv(run("predict", model, table, "--keep", "all").stdout)
    assert [list(row.values())[:-1] for row in everything] == rows
    assert list(everything[0]) == [*header, "prediction"]
    lines = [json.loads(line) for line in run("predict", model, table, "--keep", "city", "--json").stdout.splitlines()]
    assert [line["city"] for line in lines] == [row[2] for row in rows]
    failure("predict", model, table, "--keep", "name", code=2, naming=["--keep", "'name'"])


def test_a_kept_column_must_not_hide_the_prediction(failure: Failure, model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(csv_text().replace('"id"', '"prediction"', 1))
    failure("predict", model, tmp_path / "t.csv", "--keep", "all", naming=["'prediction'"])


def test_columns_of_parquet_pass_through(run: Run, failure: Failure, model: Path, table: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(table, infer_schema=False).with_columns(number=pl.int_range(ROWS), parts=pl.lit([[1, 2]]))
    frame.write_parquet(tmp_path / "t.parquet")
    kept = read_csv(run("predict", model, tmp_path / "t.parquet", "--keep", "number").stdout)
    assert [row["number"] for row in kept] == [str(i) for i in range(ROWS)]
    failure("predict", model, tmp_path / "t.parquet", "--keep", "parts", naming=["'parts'"])


def test_wrong_use(failure: Failure, table: Path, tmp_path: Path) -> None:
    options = ["-o", tmp_path / "m.abnet", *FIT]
    failure("fit", table, *options, "--decimal", "dot", code=2, naming=["--decimal", "'dot'", "'point'"])
    failure("fit", table, *options, "--use", "idd", code=2, naming=["--use", "'idd'", "'id'"])


@pytest.mark.parametrize("name", ["p.parquet", "p.csv.gz", "P.PQ"])
def test_csv_is_not_written_under_the_name_of_another_format(
    name: str, failure: Failure, model: Path, own: Path, tmp_path: Path
) -> None:
    """No later command could read such a file."""
    failure("predict", model, own, "-o", tmp_path / name, "--overwrite", code=2, naming=["--output", name, "CSV"])
    assert not (tmp_path / name).exists()
