import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abnet
from abnet import ABNetClassifier
from abnet.model import predict_table as job
from abnet.model import table_rows
from abnet.model.file import save
from abnet.tables import TableError, read_table
from abnet.tables.preparation.input_shift import InputShiftWarning
from abnet.tables.preparation.thermometer_codes import ThermometerCodes
from cli.tables import ROWS, TWO, Failure, Run, cells, csv_text, loaded_by
from model.every_kind import model as stored


def expected(model: Path, table: Path) -> tuple[list[str], np.ndarray]:
    loaded = abnet.load(model)
    frame = read_table(table)
    return loaded.predict(frame).tolist(), loaded.predict_proba(frame)


def test_predictions_are_those_of_the_model(run: Run, model: Path, table: Path) -> None:
    labels, shares = expected(model, table)
    header, *lines = run("predict", model, table, "--proba").stdout.splitlines()
    assert header == "prediction,probability_good,probability_not so good"
    assert [line.split(",")[0] for line in lines] == labels
    assert [[float(cell) for cell in line.split(",")[1:]] for line in lines] == shares.tolist()


def test_a_file_holds_the_same_as_stdout(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "predictions.csv"
    text = run("predict", model, table, "--proba").stdout
    assert run("predict", model, table, "--proba", "--output", "-").stdout == text
    shown = run("predict", model, table, "--proba", "--output", output).stdout
    assert output.read_text() == text
    assert f"{ROWS} rows" in shown
    assert str(output) in shown
    again = json.loads(run("predict", model, table, "--output", output, "--json").stdout)
    output.unlink()
    anew = json.loads(run("predict", model, table, "--output", output, "--json").stdout)
    assert (again["replaced"], anew["replaced"]) == (True, False)


def test_chunks_do_not_matter(run: Run, model: Path, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run("predict", model, table, "--proba").stdout
    monkeypatch.setattr(table_rows, "ROWS", 7)
    assert run("predict", model, table, "--proba").stdout == whole


def test_columns_without_any_value_are_noted(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_rows, "ROWS", 7)
    preparation: Any = abnet.load(model).preparation
    first = preparation.columns[0].name
    frame = read_table(_written(tmp_path / "new.csv", csv_text())).with_columns(pl.lit("").alias(first))
    for path, noted in [("empty.csv", True), ("last.csv", False), ("few.csv", False)]:
        rows = frame
        if path == "few.csv":
            rows = frame.head(9)
        if path == "last.csv":
            rows = pl.concat([frame, read_table(tmp_path / "new.csv").tail(1).select(frame.columns)])
        rows.write_csv(tmp_path / path)
        result = run("predict", model, tmp_path / path, "--output", tmp_path / "p.csv", "--json")
        for notes in (result.stderr.splitlines(), json.loads(result.stdout)["notes"]):
            assert any(re.search(rf"\bno row\b.*{first!r}", note) for note in notes) == noted


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_json_lines(run: Run, model: Path, table: Path) -> None:
    labels, shares = expected(model, table)
    lines = [json.loads(line) for line in run("predict", model, table, "--json", "--proba").stdout.splitlines()]
    assert [line["prediction"] for line in lines] == labels
    assert [list(line["probability"].values()) for line in lines] == shares.tolist()


def test_the_summary_counts(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "predictions.csv"
    record = json.loads(run("predict", model, table, "--json", "--output", output).stdout)
    assert record["n_rows"] == ROWS
    assert {label: count for label, count in record["counts"].items() if count} == Counter(expected(model, table)[0])
    assert record["output"] == str(output)


def altered(tmp_path: Path, **columns: Any) -> Path:
    """The table with columns replaced (text), renamed or removed (None), or added."""
    header, rows = cells()
    frame: dict[str, list[str]] = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    for name, value in columns.items():
        key = name.replace("_", " ")
        if value is None:
            del frame[key]
        else:
            frame[key] = [value] * ROWS if isinstance(value, str) else value
    lines = [frame.keys(), *zip(*frame.values(), strict=True)]
    path = tmp_path / "altered.csv"
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in line) for line in lines))
    return path


def test_further_columns_are_passed_over_and_named(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    result = run("predict", model, altered(tmp_path, age="3"))
    assert result.stderr.count("\n") == 1
    assert "'age'" in result.stderr
    assert result.stdout == run("predict", model, table).stdout


def test_the_target_and_dropped_columns_may_be_absent(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    result = run("predict", model, altered(tmp_path, mood_today=None, id=None, country=None))
    assert (result.stdout, result.stderr) == (run("predict", model, table).stdout, "")


def test_a_missing_column_is_an_error(failure: Failure, model: Path, tmp_path: Path) -> None:
    failure_after_header(failure, "predict", model, altered(tmp_path, city=None), naming=["'city'"])


def failure_after_header(failure: Failure, *arguments: object, naming: Sequence[str] = ()) -> str:
    """With an output file nothing at all goes to stdout."""
    output = Path(str(arguments[-1])).with_name("out.csv")
    message = failure(*arguments, "--output", output, naming=naming)
    assert not output.exists()
    assert not [path for path in output.parent.iterdir() if path.name.endswith(".part")]
    return message


def test_an_unseen_category_is_an_error_with_its_place(failure: Failure, model: Path, tmp_path: Path) -> None:
    _, rows = cells()
    city = [row[2] for row in rows]
    city[41] = "Atlantis, lost"
    facts = ["column 'city', data row 42", "'Atlantis, lost'", "--unseen warn", "certificate"]
    failure_after_header(failure, "predict", "--unseen", "error", model, altered(tmp_path, city=city), naming=facts)


def test_an_unseen_category_may_be_let_pass(run: Run, model: Path, tmp_path: Path) -> None:
    result = run("predict", model, altered(tmp_path, city="Atlantis"))
    assert len(result.stdout.splitlines()) == ROWS + 1
    assert result.stderr.count("\n") == 1
    assert f"'Atlantis' ({ROWS} rows)" in result.stderr


def test_a_date_that_cannot_be_read_is_missing_and_counted(run: Run, failure: Failure, tmp_path: Path) -> None:
    days = [f"{1 + i % 28:02d}/{1 + i % 12:02d}/{2000 + i}" for i in range(40)]
    table = tmp_path / "days.csv"
    new = tmp_path / "new.csv"
    model = tmp_path / "days.abnet"
    table.write_text("born,y\n" + "".join(f"{day},{i % 2}\n" for i, day in enumerate(days)) + ",1\n" * 9)
    run("fit", table, "--target", "y", "--output", model, *TWO)
    assert "born: date (day/month/year), 4 features" in run("inspect", model).stdout
    new.write_text('born\n03/25/2001\n""\nsoon\n')
    facts = ["column 'born', data row 1", "'03/25/2001'", "day/month/year"]
    failure("predict", model, new, "--unseen", "error", naming=facts)
    result = run("predict", model, new, "--proba")
    assert "2 cells" in result.stderr
    assert len(set(result.stdout.splitlines()[1:])) == 1
    record = json.loads(
        run("predict", model, new, "--unseen", "warn", "--json", "--output", tmp_path / "out.csv").stdout
    )
    assert (record["unreadable_dates"], record["unseen"]) == ({"born": 2}, {})


def test_a_model_of_thermometer_codes_takes_the_columns_before_them(run: Run, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = ABNetClassifier((2,), preprocessor=ThermometerCodes(8), max_iter=2, random_state=0).fit(X, X[:, 0] > 0)
    model.save(tmp_path / "codes.abnet")
    pd.DataFrame(X, columns=list("abc")).to_csv(tmp_path / "codes.csv", index=False)
    written = run("predict", tmp_path / "codes.abnet", tmp_path / "codes.csv").stdout.splitlines()[1:]
    assert written == [str(label) for label in model.predict(X)]


@pytest.mark.parametrize("cell", ["inf", "-inf", "1e200", "tall"])
def test_cells_that_are_no_numbers_are_missing_or_an_error(
    run: Run, failure: Failure, model: Path, tmp_path: Path, cell: str
) -> None:
    _, rows = cells()
    sizes = [row[0] for row in rows]
    sizes[9] = cell
    path = altered(tmp_path, **{"size, cm": sizes})
    message = run("predict", model, path).stderr
    assert "1 cell" in message
    assert f"'{cell}'" in message
    strict = ("predict", model, path, "--unseen", "error")
    failure_after_header(failure, *strict, naming=["column 'size, cm', data row 10", f"'{cell}'"])
    skipped = run(*strict, "--on-error", "skip")
    assert skipped.stdout.splitlines()[10] == '""'
    assert skipped.stdout.count('""') == 1


def test_a_ragged_row_stops_or_is_skipped(run: Run, failure: Failure, model: Path, table: Path, tmp_path: Path) -> None:
    lines = table.read_text().splitlines()
    lines[4] = lines[4] + ",1,2"
    lines[7] = "1"
    (tmp_path / "ragged.csv").write_text("\n".join(lines))
    failure_after_header(failure, "predict", model, tmp_path / "ragged.csv", naming=["line 5"])
    made = run("predict", model, tmp_path / "ragged.csv", "--on-error", "skip")
    expected = run("predict", model, table).stdout.splitlines()
    expected[4] = expected[7] = '""'
    assert made.stdout.splitlines() == expected
    assert "line 5" in made.stderr
    assert "line 8" in made.stderr


@pytest.mark.parametrize("text", [csv_text(start="\ufeff"), csv_text(end="\r\n"), csv_text(separator=";")])
def test_every_way_to_write_a_table(run: Run, model: Path, table: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "again.csv").write_text(text, newline="")
    assert run("predict", model, tmp_path / "again.csv").stdout == run("predict", model, table).stdout


def test_an_empty_table_is_an_error(failure: Failure, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("")
    failure_after_header(failure, "predict", model, path, naming=["empty.csv", "header"])
    path.write_text("size\n")
    failure_after_header(failure, "predict", model, path, naming=["empty.csv", "rows"])


def test_a_failure_late_in_the_file_leaves_the_old_output(
    failure: Failure, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_rows, "ROWS", 7)
    _, rows = cells()
    sizes = [row[0] for row in rows[:-1]] + ["inf"]
    output = tmp_path / "old.csv"
    output.write_text("old")
    path = altered(tmp_path, **{"size, cm": sizes})
    failure("predict", model, path, "--output", output, "--unseen", "error", naming=["row 60"])
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["altered.csv", "old.csv"]


def test_an_interrupted_prediction_leaves_no_output(
    run: Run, model: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(job, "prepared", interrupt)
    result = run("predict", model, table, "--output", tmp_path / "out.csv", code=130)
    assert result.stderr == "interrupted.\n"
    assert not list(tmp_path.iterdir())


def test_models_that_are_none(failure: Failure, table: Path, tmp_path: Path) -> None:
    failure("predict", tmp_path / "absent.abnet", table, naming=["absent.abnet"])
    failure("predict", table, table, naming=[table, "safetensors"])


def test_wrong_use(failure: Failure, model: Path, table: Path) -> None:
    failure("predict", model, table, "--unseen", "maybe", code=2, naming=["--unseen", "'maybe'", "'warn'"])


def plain(tmp_path: Path, **changes: Any) -> Path:
    save(stored(**changes), tmp_path / "plain.abnet")
    return tmp_path / "plain.abnet"


def test_a_model_without_preparation_takes_numbers_by_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text('höhe,"size, cm",age\n1,2,3\n-1,.5,1e1\n', encoding="utf-8")
    lines = run("predict", plain(tmp_path), tmp_path / "numbers.csv").stdout.splitlines()
    assert lines[1:] == stored().predict(np.array([[3, 2, 1], [10, 0.5, -1]])).tolist()


def test_a_model_without_names_takes_all_columns(run: Run, failure: Failure, tmp_path: Path) -> None:
    model = plain(tmp_path, feature_names=None, labels=np.array([0, 1]))
    (tmp_path / "numbers.csv").write_text("a,b,c\n1,2,3\n")
    assert run("predict", model, tmp_path / "numbers.csv").stdout.splitlines()[1] in "01"
    (tmp_path / "numbers.csv").write_text("a,b\n1,2\n")
    facts = ["2 columns", "3"]
    failure_after_header(failure, "predict", model, tmp_path / "numbers.csv", naming=facts)


def test_a_model_without_preparation_has_no_rule_for_missing_values(failure: Failure, tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    model = plain(tmp_path)
    path.write_text('höhe,"size, cm",age\n1,2,3\n-1,,4\n', encoding="utf-8")
    failure_after_header(failure, "predict", model, path, naming=["column 'size, cm', data row 2", "missing"])
    path.write_text("höhe,age\n1,2\n", encoding="utf-8")
    failure_after_header(failure, "predict", model, path, naming=["'size, cm'"])


def program(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "abnet", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_predicting_loads_no_training_library(model: Path, table: Path, tmp_path: Path) -> None:
    arguments = ["predict", model, table, "--output", tmp_path / "o.csv"]
    assert loaded_by(arguments, ("jax", "sklearn", "optax", "matplotlib", "scipy.stats")) == []
    assert (tmp_path / "o.csv").exists()


def test_a_reader_that_leaves_is_no_traceback(model: Path, tmp_path: Path) -> None:
    header, *lines = csv_text().splitlines()
    (tmp_path / "long.csv").write_text("\n".join([header, *lines * 2000]))
    read, write = os.pipe()
    command = [sys.executable, "-m", "abnet", "predict", str(model), str(tmp_path / "long.csv"), "--proba"]
    with subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, text=True) as process:
        os.close(write)
        os.read(read, 10)
        os.close(read)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (141, "")


def test_exit_codes_and_streams_of_the_program(table: Path, tmp_path: Path) -> None:
    failed = program("predict", tmp_path / "absent.abnet", table)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: ")
    assert "absent.abnet" in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert program("predict").returncode == 2


def other_unit(path: Path, factor: float) -> Path:
    """The size of other rows like those of the fit in another unit."""
    table = pl.read_csv(io.StringIO(csv_text(seed=2)), infer_schema=False)
    table.with_columns(pl.col("size, cm").cast(pl.Float64, strict=False) * factor).write_csv(path)
    return path


def test_a_column_in_another_unit_is_refused_and_nothing_is_written(
    run: Run, failure: Failure, model: Path, tmp_path: Path
) -> None:
    shifted = other_unit(tmp_path / "shifted.csv", 100)
    output = tmp_path / "p.csv"
    for command in (
        ["predict", model, shifted, "--output", output],
        ["predict", model, shifted],
        ["certify", model, shifted],
    ):
        failure(*command, naming=["'size, cm'", "--allow-shift"])
    assert not output.exists()
    result = run("predict", model, shifted, "--output", output, "--allow-shift", "--json")
    (note,) = json.loads(result.stdout)["shifted"]
    assert (note["code"], note["columns"]) == ("outside range", ["size, cm"])
    assert "'size, cm'" in result.stderr
    assert len(output.read_text().splitlines()) == 61
    assert "'size, cm'" in run("explain", model, shifted, "--row", "1").stderr
    assert abnet.predict_table(model, shifted).shifted  # in Python, a note
    with pytest.warns(InputShiftWarning, match="size, cm"):
        abnet.load(model).predict(pl.read_csv(shifted))


def test_a_single_extreme_row_is_answered(run: Run, model: Path, tmp_path: Path) -> None:
    shifted = other_unit(tmp_path / "shifted.csv", 100)
    shifted.write_text("\n".join(shifted.read_text().splitlines()[:2]) + "\n")
    assert len(run("predict", model, shifted).stdout.splitlines()) == 2


def test_a_column_that_cannot_be_read_is_refused_like_an_absent_one(
    failure: Failure, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "words.csv"
    table = pl.read_csv(io.StringIO(csv_text(seed=2)), infer_schema=False)
    table.with_columns(pl.lit("tall").alias("size, cm")).write_csv(path)
    for more in ([], ["--allow-shift"]):
        assert "'tall'" in failure("predict", model, path, *more)
    with pytest.raises(TableError, match="size, cm"):
        abnet.predict_table(model, path)
    table.drop("size, cm").write_csv(path)
    with pytest.raises(TableError, match="size, cm"):
        abnet.predict_table(model, path)
