"""`abnet report`: a page from a file, with and without a table, and mistakes in plain words."""

import json
import re
from pathlib import Path

import pytest

from cli.tables import Failure, Run, csv_text, loaded_by, refused_as_input


def test_a_page_from_the_file_alone(run: Run, model: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    assert str(output) in run("report", model, "--output", output).stdout
    page = output.read_text(encoding="utf-8")
    for words in ("“mood today”</h1>", "--max-iter 4", "logistic regression"):
        assert words in page
    assert '<table class="confusion' not in page


def test_a_page_with_rows(run: Run, model: Path, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    made = run("report", model, table, "--output", output, "--title", "Moods & <more>", "--json")
    record = json.loads(made.stdout)
    assert (record["n_rows"], record["replaced"], record["bytes"]) == (60, False, output.stat().st_size)
    assert 0 <= record["error"] < 0.5
    assert "of 60 rows" in record["notes"][0]
    page = output.read_text(encoding="utf-8")
    assert "<h1>Moods &amp; &lt;more&gt;</h1>" in page
    assert '<table class="confusion' in page
    again = run("report", model, table, "--output", output, "--no-form", "--json")
    assert json.loads(again.stdout)["replaced"]
    assert "<script" not in output.read_text(encoding="utf-8")


def test_rows_without_a_label_are_left_out_and_unknown_labels_are_errors(run: Run, model: Path, tmp_path: Path) -> None:
    lines = csv_text().splitlines()
    bare = [line.rsplit(",", 1)[0] for line in lines[1:]]
    changed = [f'{line},""' for line in bare[:7]] + [f'{line},"dreadful"' for line in bare[7:10]] + lines[11:]
    (tmp_path / "some.csv").write_text("\n".join([lines[0], *changed]) + "\n")
    record = json.loads(run("report", model, tmp_path / "some.csv", "-o", tmp_path / "r.html", "--json").stdout)
    assert record["n_rows"] == 53
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    estimates = page.split('<section id="estimates"')[1].split("</section>")[0]
    assert "7 rows" in estimates
    assert estimates.count('<th scope="row">') == 3  # two classes, and other labels


def test_other_models_from_a_comparison(run: Run, model: Path, tmp_path: Path) -> None:
    forest = {"name": "forest <b>", "bound": 0.125, "test_error": 0.0625}
    own = {"name": "own", "bound": 0.1, "is_fit": True}
    (tmp_path / "others.json").write_text(json.dumps({"contenders": [forest, own]}))
    run("report", model, "--compared", tmp_path / "others.json", "--output", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    bounds = page.split('<figure id="bounds"')[1].split("</figure>")[0]
    rates = page.split('<figure id="rates"')[1].split("</figure>")[0]
    assert re.search(r"<span>forest &lt;b&gt;[^<]*</span> <b>[^<]*\b12\.5%</b>", bounds)
    assert re.search(r'<li data-rows="test"><p><span>forest &lt;b&gt;[^<]*</span> <b>6\.2%</b>', rates)
    assert "<span>own</span>" not in page


def test_mistakes(failure: Failure, model: Path, table: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    assert "HTML" in _kept(tmp_path / "notes.txt", failure, model)
    assert refused_as_input(failure("report", model, "--output", model, code=2))
    failure("report", model, table, "--truth", "humour", "--output", page, code=2, naming=["'humour'"])
    others = tmp_path / "others.json"
    others.write_text("[1")
    failure("report", model, "--compared", others, "--output", page, naming=[others, "JSON"])
    others.write_text("{}")
    failure("report", model, "--compared", others, "--output", page, naming=[others, "contenders"])
    failure("report", tmp_path / "gone.abnet", "--output", page, naming=["gone.abnet"])
    empty = tmp_path / "empty.csv"
    empty.write_text(csv_text().splitlines()[0] + "\n")
    failure("report", model, empty, "--output", page)
    assert not page.exists()


def _kept(path: Path, failure: Failure, model: Path) -> str:
    path.write_text("mine")
    message = failure("report", model, "--output", path, code=2)
    assert path.read_text() == "mine"
    return message


@pytest.mark.parametrize("with_table", [False, True])
def test_neither_jax_nor_scikit_learn_is_loaded(model: Path, table: Path, tmp_path: Path, with_table: bool) -> None:
    arguments = ["report", str(model), *([str(table)] if with_table else []), "--output", str(tmp_path / "r.html")]
    assert loaded_by(arguments, ("jax", "sklearn", "matplotlib")) == []
