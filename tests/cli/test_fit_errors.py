import os
import re
from pathlib import Path

import pytest

import abnet
from cli.tables import SMALL, Failure, Run, csv_text


def body(count: int = 30, label: str = "{parity}", other: str = "{i}") -> str:
    return "".join(f"{other},{label}\n".format(i=i, parity=i % 2) for i in range(count))


BAD_TABLES = {
    "empty": ("", "is empty"),
    "blank": ("\n\n  \n", "is empty"),
    "header only": ("x,y\n", "no rows"),
    "one class": ("x,y\n" + body(label="a"), "only one class"),
    "too many classes": ("x,y\n" + "".join(f"{i % 7},label {i}\n" for i in range(200)), "200 classes, but 2 to 100"),
    "all missing": ("x,y\n" + body(other=""), "no column can be used"),
    "a quantity": ("x,y\n" + "".join(f"{i % 7},{i * 1.5}\n" for i in range(60)), "--bins 4"),
    "a class for each row": ("x,y\n" + "".join(f"{i % 7},label {i}\n" for i in range(50)), "50 classes in 50 rows"),
    "thousands or decimals": ("x;y\n1.234;0\n857;1\n" + "3.456;0\n912;1\n" * 10, "--decimal comma"),
    "too few rows": ("x,y\n" + body(5), "at least 10"),
    "constant columns": ("x,y\n" + body(other="7"), "no column can be used"),
    "only the target": ("y\n" + body(other="").replace(",", ""), "only column"),
    "ragged": ("x,y\n" + body() + "1,2,3\n", "3 fields where the header has 2"),
    "broken quotes": ('x,y\n"1,0\n' + body(), "broken CSV"),
    "binary": ("\0\1\2", "zero bytes"),
}


@pytest.mark.parametrize(("text", "complaint"), BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_bad_tables_are_refused_in_one_line(failure: Failure, tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "bad.csv").write_text(text)
    message = failure("fit", tmp_path / "bad.csv", "--target", "y", "--output", tmp_path / "m.abnet", *SMALL)
    assert complaint in message
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_files_that_are_no_tables(failure: Failure, tmp_path: Path) -> None:
    output = ["--target", "y", "--output", tmp_path / "m.abnet"]
    assert "does not exist" in failure("fit", tmp_path / "absent.csv", *output)
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in failure("fit", tmp_path / "folder.csv", *output)
    (tmp_path / "table.xlsx").write_text("x,y\n")
    assert "'.xlsx'" in failure("fit", tmp_path / "table.xlsx", *output)
    (tmp_path / "latin.csv").write_bytes("x,y\nä,1\n".encode("latin-1"))
    assert "not UTF-8" in failure("fit", tmp_path / "latin.csv", *output)
    (tmp_path / "half.csv.gz").write_bytes(b"\x1f\x8b\x08\0\0\0")
    assert "gzip" in failure("fit", tmp_path / "half.csv.gz", *output)
    (tmp_path / "no.parquet").write_text("x")
    assert "Parquet" in failure("fit", tmp_path / "no.parquet", *output)


def test_places_that_cannot_be_written(failure: Failure, table: Path, tmp_path: Path) -> None:
    options = ["--target", "mood today", *SMALL]
    assert "is a folder" in failure("fit", table, "--output", tmp_path, *options)
    assert "no folder" in failure("fit", table, "--output", tmp_path / "absent" / "m.abnet", *options)
    assert "not a regular file" in failure("fit", table, "--output", "/dev/null", *options)


def test_a_folder_without_permission(
    failure: Failure, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everywhere
    message = failure("fit", table, "--output", tmp_path / "m.abnet", "--target", "mood today", *SMALL)
    assert "no permission" in message


def test_columns_to_drop(failure: Failure, table: Path, tmp_path: Path) -> None:
    options = ["--target", "mood today", "--output", tmp_path / "m.abnet", *SMALL]
    assert "--drop: no column 'ident' in" in failure("fit", table, "--drop", "ident", *options, code=2)
    assert "is the target" in failure("fit", table, "--drop", "mood today", *options, code=2)


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_an_unknown_target_is_wrong_use(failure: Failure, table: Path, command: str) -> None:
    message = failure(command, table, "--target", "mood", "--quiet", code=2)
    assert message.startswith("--target: no column 'mood' in the table. ")


WRONG = {
    "delta": (["--delta", "1.5"], "--delta must lie strictly between 0 and 1; got 1.5."),
    "learn fraction": (["--learn-fraction", "0"], "--learn-fraction must lie"),
    "widths": (["--hidden-layer-sizes", "8,x"], "whole numbers"),
    "no widths": (["--hidden-layer-sizes", ""], "whole numbers"),
    "zero width": (["--hidden-layer-sizes", "8,0"], "whole numbers of 1 or more, not '0'"),
    "target": (["--target-error", "1.5"], "--target-error must lie"),
    "share": (["--learn-fraction", "much"], "--learn-fraction takes a number or 'auto', not 'much'."),
    "epochs": (["--max-iter", "0"], "--max-iter must be"),
}


@pytest.mark.parametrize(("options", "complaint"), WRONG.values(), ids=WRONG.keys())
def test_wrong_options_are_wrong_use(failure: Failure, tmp_path: Path, options: list[str], complaint: str) -> None:
    # The table is not even looked at.
    message = failure("fit", "no.csv", "--target", "y", "--output", tmp_path / "m.abnet", *options, code=2)
    assert complaint in message
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
    message = failure("fit", rare, "--target", "mood today", "--output", tmp_path / "m.abnet", *SMALL)
    assert "the label good" in message
    assert "classes=" in message


def test_declared_classes_are_compared_with_one_class_in_the_first_part(rare: Path, tmp_path: Path) -> None:
    declared = abnet.CertifiedClassifier((2,), max_iter=1, random_state=0, classes=("good", "bad"))
    fitted = abnet.fit_table(rare, "mood today", estimator=declared, output=tmp_path / "m.abnet")
    (rival,) = fitted.model_.card.rivals
    assert fitted.certificate_ is not None
    assert fitted.certificate_.vote_error_bound is not None
    assert fitted.certificate_.vote_error_bound < 1
    assert 0 < rival.bound < 1
