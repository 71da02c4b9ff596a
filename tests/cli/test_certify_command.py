"""`abnet certify`, for our models and for answers of others, and the certificates it writes."""

import json
from pathlib import Path
from typing import Any

import pytest

import abnet
from cli.tables import Failure, Run, cells, csv_text


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """Rows that the model was not fitted on, one without a label, one with a label it does not know."""
    header, rows = cells()
    for i, row in enumerate(rows):
        row[0] = f"{i / 7 - 4:.3f}"
        row[-1] = "good" if i > 30 else "not so good"
    rows[0][-1] = ""
    rows[1][-1] = "so-so"
    lines = [",".join(f'"{cell}"' for cell in line) for line in (header, *rows)]
    path = tmp_path / "fresh.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def answers(run: Run, model: Path, table: Path) -> list[str]:
    return list(run("predict", model, table).stdout.split("\n")[1:61])


def test_our_model(run: Run, model: Path, fresh: Path, tmp_path: Path) -> None:
    saved = tmp_path / "certificate.json"
    result = run("certify", model, fresh, "--save", saved, "--n-candidates", "3", "--json")
    record = json.loads(result.stdout)
    predicted = answers(run, model, fresh)
    truth = ["", "so-so", *("good" if i > 30 else "not so good" for i in range(2, 60))]
    wrong = sum(a != b for a, b in zip(predicted[1:], truth[1:], strict=True))
    certificate = record["certificate"]
    facts = certificate["facts"]
    assert (sum(facts["class_errors"]), facts["n_rows"], record["unlabelled"]) == (wrong, 59, 1)
    assert certificate["vote_error_bound"] == abnet.bounds.clopper_pearson_bound(wrong, 59, 0.05, n_candidates=3)
    assert facts["classes"] == ["good", "not so good", "so-so"]
    notes = result.stderr.splitlines()
    assert any("1 of 60 " in note for note in notes)
    assert any(all(name in note for name in ("1 row", "'so-so'", "'good'", "'not so good'")) for note in notes)
    assert abnet.load_certificate(saved).to_dict() == certificate
    assert abnet.load_certificate(saved).describe() in run("inspect", saved).stdout
    assert json.loads(run("inspect", saved, "--json").stdout) == certificate


def test_rows_of_the_fit_are_refused_or_give_an_estimate(
    run: Run, failure: Failure, model: Path, table: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "c.json"
    message = failure("certify", model, table, "--save", saved, code=1)
    assert "of 60 rows" in message
    assert "--allow-training-rows" in message
    assert not saved.exists()
    result = run("certify", model, table, "--allow-training-rows", "--save", saved, "--json")
    record = json.loads(result.stdout)
    assert "certificate" not in record
    assert record["estimate"]["counted"]["n"] == 60
    assert record["estimate"]["counted"]["n_training_rows"] > 20
    assert "bound" not in result.stdout + saved.read_text()
    with pytest.raises(ValueError, match="certificate"):
        abnet.load_certificate(saved)
    assert "not a certificate" in run("inspect", saved).stdout
    assert "confidence" not in run("certify", model, table, "--allow-training-rows").stdout
    failure("certify", model, table, "--allow-training-rows", "--by", "city", code=2)


def test_which_class_is_taken_for_which(run: Run, model: Path, fresh: Path) -> None:
    matrix = json.loads(run("certify", model, fresh, "--confusion", "--delta", "0.1", "--json").stdout)["confusion"]
    predicted = answers(run, model, fresh)
    truth = ["so-so", *("good" if i > 30 else "not so good" for i in range(2, 60))]
    pairs = list(zip(truth, predicted[1:], strict=True))
    names = ["good", "not so good", "so-so"]
    assert matrix["facts"]["classes"] == names
    upper = [s for s in matrix["statements"] if s["type"] == "confusion, at most"]
    counts = {(s["label"], s["answer"]): s["count"] for s in upper}
    assert counts == {(a, b): pairs.count((a, b)) for a in names for b in names}
    assert matrix["delta"] == 0.1
    lines = run("certify", model, fresh, "--confusion").stdout.splitlines()
    assert any(" ".join(line.split()).endswith(" ".join(names)) for line in lines)  # the header of the table
    assert any("jointly" in line for line in lines)


def test_populations_and_groups(run: Run, model: Path, fresh: Path) -> None:
    assert "jointly" in run("certify", model, fresh, "--by", "sold").stdout
    parts = json.loads(run("certify", model, fresh, "--by", "city", "--json").stdout)["certificate"]["statements"]
    assert sum(s["n"] for s in parts if s["type"] == "error, population") == 59
    record = json.loads(run("certify", model, fresh, "--group", "city", "--json").stdout)["certificate"]
    assert sum(record["statements"][0]["rows"]) == record["facts"]["n_rows"] == 59
    assert record["facts"]["n_groups"] == 2


@pytest.mark.parametrize(("number", "wrong"), [("1", 0), ("1.0", 0), ("2", 20)])
def test_answers_of_another_model(number: str, wrong: int, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("truth,answer\n" + "".join(f"1,{number}\n" for _ in range(20)) + "0,\n" * 5 + "0,0\n" * 15)
    result = run("certify", path, "--truth", "truth", "--prediction", "answer", "--json")
    record = json.loads(result.stdout)["certificate"]
    assert (sum(record["facts"]["class_errors"]), record["facts"]["n_rows"]) == (wrong + 5, 40)
    assert "5 rows" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{model}"], "--prediction"),
        (["{fresh}", "--prediction", "id"], "--truth"),
        (["{model}", "{fresh}", "--by", "id", "--group", "id"], "--group"),
        (["{model}", "{fresh}", "--by", "city", "--confusion"], "--confusion"),
        (["{model}", "{fresh}", "--by", "nothing"], "'nothing'"),
        (["{fresh}", "--truth", "id", "--prediction", "nothing"], "'nothing'"),
        (["{fresh}", "--truth", "id", "--prediction", "id"], "'id'"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, failure: Failure, model: Path, fresh: Path) -> None:
    given: list[Any] = [argument.format(model=model, fresh=fresh) for argument in arguments]
    assert message in failure("certify", *given, code=2)


def test_a_table_without_labels_is_refused(failure: Failure, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(csv_text().replace('"good"', '""').replace('"not so good"', '""'))
    failure("certify", model, path, naming=["label"])
