"""`--group`, targets and costs on the command line: from the fit to the prediction, and for models of others."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abnet
from cli.tables import SMALL, TWO, Failure, Run

ILL = ["--positive-class", "ill"]


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 visits of 40 patients."""
    rng = np.random.default_rng(2)
    lines = ["patient,age,pulse,state"]
    for g in range(40):
        effect = rng.normal(size=2)
        for _ in range(3):
            a, b = effect + 0.4 * rng.normal(size=2)
            lines.append(f"p{g},{a:.3f},{b:.3f},{'ill' if a > 0 else 'well'}")
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def fresh(visits: Path) -> Path:
    """The same with other numbers: none is a row that a model learned from."""
    path = visits.with_name("fresh.csv")
    path.write_text(re.sub(r"(\.\d{3}),", r"\g<1>1,", visits.read_text()))
    return path


@pytest.fixture(scope="module")
def by_patients(run: Run, visits: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A model that was fitted by groups, and what the fit said."""
    model = tmp_path_factory.mktemp("grouped") / "m.abnet"
    return model, json.loads(
        run("fit", visits, "--target", "state", "--group", "patient", "-o", model, "--json", *TWO).stdout
    )


def test_without_the_option_a_note_names_it(run: Run, visits: Path, tmp_path: Path) -> None:
    result = run("fit", visits, "--target", "state", "--json", "-o", tmp_path / "m.abnet", *TWO)
    record = json.loads(result.stdout)
    (note,) = [note for note in record["note_data"] if note["columns"] == ["patient"]]
    assert note["code"] == "measured groups"
    assert "--group patient" in note["text"]
    assert "--use patient" in note["text"]
    assert result.stderr.count("--group patient") == 1
    assert record["n_columns"] == 2


def test_fit_by_groups(run: Run, visits: Path, fresh: Path, by_patients: tuple[Path, dict[str, Any]]) -> None:
    model, record = by_patients
    assert record["n_columns"] == 2
    assert record["certificate"]["facts"]["n_groups"] == 20
    assert record["card"]["group"] == "patient"
    loaded = abnet.load(model)
    assert loaded.certificate_ is not None
    assert "patient" not in (loaded.feature_names_in_ or ())
    assert "patient" in run("inspect", model).stdout
    assert "'patient'" not in run("predict", model, visits).stderr
    again = json.loads(run("certify", model, fresh, "--group", "patient", "--json").stdout)["certificate"]
    assert again["facts"]["n_groups"] == 40


def test_a_group_promise_is_not_taken_for_one_about_rows(
    run: Run, failure: Failure, visits: Path, fresh: Path, by_patients: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    model, _ = by_patients
    for options in ([], ["--by", "age"], ["--confusion"], ["--target-recall", "0.5", "--positive-class", "ill"]):
        failure("certify", model, visits, *options, code=1, naming=["--group patient"])
    lines = fresh.read_text().splitlines()
    alone = tmp_path / "alone.csv"
    unnamed = tmp_path / "unnamed.csv"
    alone.write_text("\n".join([lines[0], *lines[1::3]]) + "\n")  # one visit of each patient
    assert "group" not in run("certify", model, alone).stderr
    unnamed.write_text("\n".join(line.partition(",")[2] for line in lines) + "\n")
    assert "'patient'" in run("certify", model, unnamed).stderr
    page = tmp_path / "page.html"
    run("report", model, visits, "-o", page)
    summary = page.read_text().split('<section id="summary"')[1].split("</section>")[0]
    headline = summary.split('class="number"')[1].split("</p>")[0]
    bounds = summary.split('<figure id="bounds"')[1].split("</figure>")[0]
    for part in (headline, bounds):
        assert "new group" in part
    assert "new data" not in headline


def test_a_row_without_a_group_is_no_group(run: Run, failure: Failure, fresh: Path, tmp_path: Path,
                                           by_patients: tuple[Path, dict[str, Any]]) -> None:  # fmt: skip
    """Those without a cell must not be taken for one group, nor for groups of their own."""
    path = tmp_path / "gaps.csv"
    path.write_text(fresh.read_text().replace("\np3,", "\n,").replace("\np9,", "\n ,", 1))
    facts = ["'patient'", "4 rows", "row 10", "row 11", "row 12", "row 28"]
    failure("certify", by_patients[0], path, "--group", "patient", naming=facts)
    failure("fit", path, "--target", "state", "--group", "patient", *SMALL, naming=facts)
    failure("compare", path, "--target", "state", "--group", "patient", *SMALL, naming=facts)
    path.write_text(path.read_text().replace("\np8,", "\nill,"))  # an answer; any other text is an error
    text = run("certify", path, "--truth", "state", "--prediction", "patient", "--by", "patient").stdout
    assert "(missing) " in text  # a population may be that of rows without a cell


def test_compare_by_groups_keeps_the_winner(run: Run, visits: Path, tmp_path: Path) -> None:
    saved = tmp_path / "winner.json"
    result = run("compare", visits, "--target", "state", "--group", "patient", "--save", saved, "--json", *SMALL)
    record = json.loads(result.stdout)
    certificate = abnet.load_certificate(saved)
    assert isinstance(certificate, abnet.Certificate)
    assert certificate.facts.n_candidates == record["n_candidates"] == len(record["contenders"])
    bounds = [contender["bound"] for contender in record["contenders"] if contender["bound"] is not None]
    assert certificate.vote_error_bound == min(bounds)
    assert certificate.facts.n_groups == 16  # half of the 32 patients that were not kept for the test
    assert "5 candidates" in " ".join(run("inspect", saved).stdout.split())


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--group", "doctor"], ["--group", "'doctor'", "'patient'"]),
        (["--group", "patient", "--max-learn-rows", "20"], ["--group", "--max-learn-rows"]),
        (["--group", "patient", "--target-error", "0.1"], ["groups", "--costs"]),
        (["--target-recall", "0.9"], ["--target-recall", "--positive-class"]),
        (["--positive-class", "ill"], ["--positive-class", "--target-recall"]),
        (["--positive-class", "ill", "--target-error", "0.1"], ["--positive-class", "--target-recall"]),
        (["--costs", "ill"], ["--costs", "'ill'"]),
        (["--costs", "ill:well=much"], ["--costs", "'much'"]),
        (
            ["--costs", "ill:well=1", "--target-recall", "0.9", "--positive-class", "ill"],
            ["--target-recall", "--costs"],
        ),
        (["--costs", "ill:well=1", "--target-error", "0.1"], ["--target-error", "--costs"]),
        (["--costs", "ill:well=1"], ["--costs", "ill", "well"]),
        (["--costs", "*:*=0"], ["--costs"]),
        (["--costs", "ill:well=1,well:ill=2"], ["--costs", "well=1,well:ill"]),
        (["--sets", "0"], ["--sets", "0.0"]),
    ],
)
def test_wrong_use(options: list[str], facts: list[str], failure: Failure, visits: Path) -> None:
    failure("fit", visits, "--target", "state", *SMALL, *options, code=2, naming=facts)


def test_fit_shows_what_thresholds_reach(run: Run, visits: Path, tmp_path: Path) -> None:
    fit = ["fit", visits, "--target", "state", *SMALL, "-o", tmp_path / "m.abnet"]
    plain = run(*fit).stdout
    tables = [TABLE_OF_CUTS, TABLE_OF_SHARES]
    assert [words in plain for words in tables] == [False, False]
    again = [*fit, "--overwrite"]
    assert [words in run(*again, "--thresholds").stdout for words in tables] == [True, True]
    recall = run(*again, "--target-recall", "0.2", "--positive-class", "ill").stdout
    assert [words in recall for words in tables] == [True, False]
    assert [words in run(*again, "--target-error", "0.6").stdout for words in tables] == [False, True]
    card = json.loads(run(*again, "--json").stdout)["card"]
    assert [one["positive"] for one in card["trade_offs"]] == ["ill", None]
    page = tmp_path / "m.html"
    run("report", tmp_path / "m.abnet", "-o", page)
    assert page.read_text().split('<section id="estimates"')[1].split("</section>")[0].count("<table") == 2


TABLE_OF_CUTS = "precision  rows flagged"
TABLE_OF_SHARES = "error among them"


def test_a_row_without_a_group_is_refused(failure: Failure, visits: Path, tmp_path: Path) -> None:
    path = tmp_path / "gap.csv"
    path.write_text(visits.read_text().replace("\np3,", "\n,", 1))
    failure("fit", path, "--target", "state", "--group", "patient", *SMALL, naming=["'patient'", "1 row ", "row 10"])


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers and scores of a model that lives elsewhere."""
    rng = np.random.default_rng(5)
    ill = rng.random(800) < 0.4
    score = rng.normal(size=800) + np.where(ill, 1.5, -1.5)
    rows = [
        f"{'ill' if a else 'well'},{'ill' if s > 0 else 'well'},{s:.4f},{abs(s):.4f}"
        for a, s in zip(ill, score, strict=True)
    ]
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    path.write_text("\n".join(["truth,answer,risk,sure", *rows]) + "\n")
    return path


COSTLY = ["--score", "risk", *ILL]
OUTSIDE: dict[str, tuple[list[str], str, str]] = {
    "recall": (["--score", "risk", "--target-recall", "0.9", *ILL], "recall, tested", "90%"),
    "precision": (["--score", "risk", "--target-precision", "0.9", *ILL], "precision, tested", "90%"),
    "costs": (["--score", "risk", "--costs", "ill:well=10", "--costs", "well:ill=1", *ILL], "cost", "ill"),
    "abstaining": (
        ["--score", "sure", "--prediction", "answer", "--target-error", "0.03"],
        "error among answered rows, tested", "3%",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OUTSIDE)
def test_targets_of_a_model_that_lives_elsewhere(kind: str, run: Run, scored: Path, tmp_path: Path) -> None:
    options, statement, shown = OUTSIDE[kind]
    saved = tmp_path / "c.json"
    assert shown in run("certify", scored, "--truth", "truth", *options, "--save", saved).stdout
    made: Any = abnet.load_certificate(saved)
    assert made.to_dict()["statements"][0]["type"] == statement
    # Only costs set rows aside.
    assert made.facts.n_rows == {"costs": 560}.get(kind, 800)
    assert made.describe() in run("inspect", saved).stdout


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (["--score", "risk"], ["--score", "target", "costs"]),
        (["--score", "risk", "--target-recall", "0.9"], ["--target-recall", "--positive-class"]),
        (["--score", "sure", "--target-error", "0.1"], ["--prediction"]),
        (["--prediction", "answer", "--target-error", "0.1", "--by", "risk", "--score", "sure"], ["--by", "--group"]),
        (["--score", "risk", "--target-error", "0.1", "--target-recall", "0.1"], ["--target-error", "--target-recall"]),
        ([*COSTLY, "--costs", "sick:well=10", "--costs", "well:ill=1"], ["--costs", "'sick'", "'ill'", "'well'"]),
        ([*COSTLY, "--costs", "ill:well=1", "--costs", "ill:well=9"], ["--costs", "ill:well"]),
        ([*COSTLY, "--costs", "well:well=1"], ["--costs", "'ill'", "'well'"]),
        ([*COSTLY, "--target-recall", "1.5"], ["--target-recall", "1.5"]),
        (["--prediction", "answer", *ILL], ["--positive-class", "--target-recall"]),
        (["--prediction", "risk"], ["--prediction", "'ill', 'well'", "--score risk"]),
        (["--prediction", "answer", "--delta", "2"], ["--delta", "2.0"]),
        (["--prediction", "answer", "--aside", "0.2"], ["--aside", "costs"]),
        (["--score", "risk", "--target-recall", "0.9", *ILL, "--aside", "0.2"], ["--aside", "costs"]),
        (["--prediction", "answer", "--n-candidates", "0"], ["--n-candidates", "0"]),
    ],
)
def test_wrong_use_of_scores(options: list[str], facts: list[str], failure: Failure, scored: Path) -> None:
    failure("certify", scored, "--truth", "truth", *options, code=2, naming=facts)


def test_costs_of_any_label_are_those_of_each_pair(run: Run, scored: Path) -> None:
    """The star that a fit takes is understood for the scores of any model, too."""
    for stars in (["ill:*=10", "*:ill=1"], ["*:*=1", "ill:*=10"], ["*:*=1", "ill:well=10"]):
        records = []
        for costs in (stars, ["ill:well=10", "well:ill=1"]):
            options = [word for cost in costs for word in ("--costs", cost)]
            made = run("certify", scored, "--truth", "truth", *COSTLY, *options, "--random-state", "1", "--json")
            records.append(json.loads(made.stdout)["certificate"])
        assert records[0] == records[1]


def test_scores_that_certify_nothing_say_why(failure: Failure, scored: Path, tmp_path: Path) -> None:
    """A row without a score, a single row, and a class that is no label."""
    lines = scored.read_text().splitlines()
    path = tmp_path / "some.csv"
    command = ["certify", path, "--truth", "truth", "--score", "risk", "--target-recall", "0.9", "--positive-class"]
    truth, answer, _, sure = lines[2].split(",")
    path.write_text("\n".join([*lines[:2], f"{truth},{answer},,{sure}", *lines[3:]]) + "\n")
    failure(*command, "ill", naming=["'risk'", "data row 2", "leave rows without out"])
    path.write_text("\n".join(lines[:2]) + "\n")
    failure(*command, "ill", naming=["two or more labelled rows", "1"])
    path.write_text("\n".join(lines) + "\n")
    failure(*command, "sick", naming=["'ill', 'well'", "'sick'"])


def test_answers_that_are_no_labels_are_named_beside_the_labels(failure: Failure, scored: Path, tmp_path: Path) -> None:
    """A column of codes or scores would be certified as always wrong; a single answer that is a label is enough."""
    text = scored.read_text().replace(",ill,", ",1,").replace(",well,", ",0,")
    (tmp_path / "codes.csv").write_text(text)
    command = ["certify", tmp_path / "codes.csv", "--truth", "truth", "--prediction", "answer"]
    failure(*command, code=2, naming=["'0', '1'", "'ill', 'well'"])


def test_a_label_that_the_costs_do_not_name_is_no_negative_row(run: Run, scored: Path, tmp_path: Path) -> None:
    """It costs as much as anything can, and that is said."""
    path = tmp_path / "scores.csv"
    options = [*COSTLY, "--costs", "ill:well=10", "--costs", "well:ill=1", "--json"]
    before = json.loads(run("certify", scored, "--truth", "truth", *options).stdout)["certificate"]
    path.write_text(scored.read_text().replace("\nwell,well,", "\nperhaps,well,"))
    result = run("certify", path, "--truth", "truth", *options)
    after = json.loads(result.stdout)["certificate"]
    assert any({"ill", "well"} <= set(re.findall(r"\w+", note)) for note in result.stderr.splitlines())
    means = [10 * made["statements"][0]["mean"] for made in (after, before)]
    assert means[0] > 5 > 1 > means[1]


def test_from_fit_to_decided_answers(run: Run, failure: Failure, visits: Path, fresh: Path, tmp_path: Path) -> None:
    model = tmp_path / "d.abnet"
    fit = ["fit", visits, "--target", "state", "--use", "patient", *TWO]
    costs = ["--costs", "ill:well=1000", "--costs", "well:ill=1"]
    run(*fit, *costs, "-o", model)
    decision = abnet.load(model).decision
    assert (decision.kind, decision.positive) == ("cut", 1)  # the second class, where none was named
    costs_made = [made for made in json.loads(run("inspect", model, "--json").stdout)["certificate"]["statements"]
                  if made["type"] == "cost"]  # fmt: skip
    assert len(costs_made) == 1
    rows = csv.DictReader(io.StringIO(run("predict", model, visits).stdout))
    decided = [row["prediction"] for row in rows]
    plain = csv.DictReader(io.StringIO(run("predict", model, visits, "--vote").stdout))
    votes = [row["prediction"] for row in plain]
    assert decided.count("ill") > 1.1 * votes.count("ill")  # a missed case costs a thousand times a false alarm
    record = json.loads(run("certify", model, fresh, "--target-recall", "0.2", "--positive-class", "ill",
                            "--json").stdout)  # fmt: skip
    made, *beside = record["certificate"]["statements"]
    assert (made["type"], record["certificate"]["facts"]["n_rows"]) == ("recall, tested", 120)
    from_the_rows = ["precision, threshold from the rows", "flagged", "error of a cut, threshold from the rows"]
    assert [one["type"] for one in beside] == from_the_rows
    failure(*fit, *costs, "--target-error", "0.6", "-o", model, code=2, naming=["--target-error", "--costs"])
    sick = ["--target-recall", "0.2", "--positive-class", "sick"]
    failure("certify", model, visits, *sick, code=2, naming=["--positive-class", "'ill', 'well'", "'sick'"])
