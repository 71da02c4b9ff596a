import os
import re
from pathlib import Path

import pytest

import abnet
from cli.tables import SMALL, Failure, Run, csv_text


def body(count: int = 30, label: str = "{parity}", other: str = "{i}") -> str:
    return "".join(f"{other},{label}\n".format(i=i, parity=i % 2) for i in range(count))


BAD_TABLES = {
    "empty": ("", ["bad.csv", "header"]),
    "blank": ("\n\n  \n", ["bad.csv", "header"]),
    "header only": ("x,y\n", ["bad.csv", "rows"]),
    "one class": ("x,y\n" + body(label="a"), ["'y'", "'a' (30 rows)"]),
    "too many classes": ("x,y\n" + "".join(f"{i % 7},label {i}\n" for i in range(200)), ["'y'", "200", "2 to 100"]),
    "all missing": ("x,y\n" + body(other=""), ["'x'", "15 rows"]),
    "a quantity": ("x,y\n" + "".join(f"{i % 7},{i * 1.5}\n" for i in range(60)), ["'y'", "60", "--bins 4"]),
    "a class for each row": ("x,y\n" + "".join(f"{i % 7},label {i}\n" for i in range(50)), ["50 classes", "50 rows"]),
    "thousands or decimals": ("x;y\n1.234;0\n857;1\n" + "3.456;0\n912;1\n" * 10, ["'x'", "--decimal comma"]),
    "too few rows": ("x,y\n" + body(5), ["5", "10"]),
    "constant columns": ("x,y\n" + body(other="7"), ["'x'", "(7)"]),
    "only the target": ("y\n" + body(other="").replace(",", ""), ["'y'", "column"]),
    "ragged": ("x,y\n" + body() + "1,2,3\n", ["line 32", "3 fields", "2"]),
    "broken quotes": ('x,y\n"1,0\n' + body(), ["line 32", "quotes"]),
    "binary": ("\0\1\2", ["bad.csv", "UTF-8"]),
}


@pytest.mark.parametrize(("text", "facts"), BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_bad_tables_are_refused_in_one_line(failure: Failure, tmp_path: Path, text: str, facts: list[str]) -> None:
    (tmp_path / "bad.csv").write_text(text)
    failure("fit", tmp_path / "bad.csv", "--target", "y", "--output", tmp_path / "m.abnet", *SMALL, naming=facts)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_files_that_are_no_tables(failure: Failure, tmp_path: Path) -> None:
    output = ["--target", "y", "--output", tmp_path / "m.abnet"]
    failure("fit", tmp_path / "absent.csv", *output, naming=[tmp_path / "absent.csv"])
    (tmp_path / "folder.csv").mkdir()
    failure("fit", tmp_path / "folder.csv", *output, naming=[tmp_path / "folder.csv", "folder,"])
    (tmp_path / "table.xlsx").write_text("x,y\n")
    failure("fit", tmp_path / "table.xlsx", *output, naming=["'.xlsx'"])
    (tmp_path / "latin.csv").write_bytes("x,y\nä,1\n".encode("latin-1"))
    failure("fit", tmp_path / "latin.csv", *output, naming=["line 2", "0xe4", "UTF-8"])
    (tmp_path / "half.csv.gz").write_bytes(b"\x1f\x8b\x08\0\0\0")
    failure("fit", tmp_path / "half.csv.gz", *output, naming=["half.csv.gz", "gzip"])
    (tmp_path / "no.parquet").write_text("x")
    failure("fit", tmp_path / "no.parquet", *output, naming=["no.parquet", "Parquet"])


def test_places_that_cannot_be_written(failure: Failure, table: Path, tmp_path: Path) -> None:
    options = ["--target", "mood today", *SMALL]
    absent = tmp_path / "absent" / "m.abnet"
    failure("fit", table, "--output", tmp_path, *options, naming=[tmp_path])
    failure("fit", table, "--output", absent, *options, naming=[absent, f"folder {absent.parent}"])
    failure("fit", table, "--output", "/dev/null", *options, naming=["/dev/null"])


def test_a_folder_without_permission(
    failure: Failure, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everywhere
    output = tmp_path / "m.abnet"
    failure("fit", table, "--output", output, "--target", "mood today", *SMALL, naming=[output, "permission"])


def test_columns_to_drop(failure: Failure, table: Path, tmp_path: Path) -> None:
    options = ["--target", "mood today", "--output", tmp_path / "m.abnet", *SMALL]
    failure("fit", table, "--drop", "ident", *options, code=2, naming=["--drop", "'ident'", "'id'"])
    failure("fit", table, "--drop", "mood today", *options, code=2, naming=["--drop", "'mood today'", "target"])


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_an_unknown_target_is_wrong_use(failure: Failure, table: Path, command: str) -> None:
    failure(command, table, "--target", "mood", "--quiet", code=2, naming=["--target", "'mood'", "'mood today'"])


WRONG = {
    "delta": (["--delta", "1.5"], "1.5"),
    "learn fraction": (["--learn-fraction", "0"], "0.0"),
    "widths": (["--hidden-layer-sizes", "8,x"], "'x'"),
    "no widths": (["--hidden-layer-sizes", ""], "''"),
    "zero width": (["--hidden-layer-sizes", "8,0"], "'0'"),
    "target": (["--target-error", "1.5"], "1.5"),
    "share": (["--learn-fraction", "much"], "'much'"),
    "epochs": (["--max-iter", "0"], "0"),
}


@pytest.mark.parametrize(("options", "value"), WRONG.values(), ids=WRONG.keys())
def test_wrong_options_are_wrong_use(failure: Failure, tmp_path: Path, options: list[str], value: str) -> None:
    # The table is not even looked at.
    output = tmp_path / "m.abnet"
    message = failure("fit", "no.csv", "--target", "y", "-o", output, *options, code=2, naming=[options[0], value])
    assert not re.search(r"[a-z]_[a-z]|='", message)


def test_missing_and_unknown_options_are_wrong_use(run: Run, table: Path) -> None:
    run("fit", table, code=2)
    run("fit", code=2)
    run("fit", table, "--target", "mood today", "--depth", "3", code=2)
    run("fit", table, "--target", "mood today", "--delta", "small", code=2)
    run("fit", table, "--target", "mood today", "--random-state", "-1", code=2)
    run("nonsense", code=2)


@pytest.fixture
def rare(tmp_path: Path) -> Path:
    """A table whose single row of a class is held out."""
    header, *lines = csv_text().splitlines()
    moods = [line.replace('"not so good"', '"good"') for line in lines]
    moods[5] = moods[5].replace('"good"', '"bad"')
    path = tmp_path / "rare.csv"
    path.write_text("\n".join([header, *moods]))
    return path


def test_a_class_of_held_out_rows_alone_is_refused(failure: Failure, rare: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.abnet"
    failure("fit", rare, "--target", "mood today", "--output", output, *SMALL, naming=["good", "classes="])


def test_declared_classes_are_compared_with_one_class_in_the_first_part(rare: Path, tmp_path: Path) -> None:
    declared = abnet.CertifiedClassifier((2,), max_iter=1, random_state=0, classes=("good", "bad"))
    fitted = abnet.fit_table(rare, "mood today", estimator=declared, output=tmp_path / "m.abnet")
    (rival,) = fitted.model_.card.rivals
    assert fitted.certificate_ is not None
    assert fitted.certificate_.vote_error_bound is not None
    assert fitted.certificate_.vote_error_bound < 1
    assert 0 < rival.bound < 1
