import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import abnet
from abnet.bounds import clopper_pearson_bound as clopper_pearson
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import certify
from abnet.certificates.terms import Terms
from abnet.model.predictors.compact import Compact
from abnet.tables import read_table, split_target
from abnet.tables.preparation import TableMap, TablePreparation, preparation_to_dict
from cli.tables import ROWS, SMALL, TWO, Run, cells, csv_text


def test_the_record_is_that_of_the_model_file(fitted: dict[str, Any], model: Path) -> None:
    loaded = abnet.load(model)
    assert loaded.certificate_ is not None
    assert loaded.certificate_.to_dict() == fitted["certificate"]
    assert loaded.classes_.tolist() == fitted["classes"] == ["good", "not so good"]
    assert (fitted["n_rows"], fitted["n_columns"]) == (ROWS, 3)
    assert fitted["model"]["bytes"] == model.stat().st_size
    assert loaded.card.target == "mood today"
    assert loaded.certificate_.facts.source == "split"


def test_the_preparation_is_learned_from_the_first_part_only(model: Path, table: Path) -> None:
    preparation = abnet.load(model).preparation
    assert isinstance(preparation, TableMap)
    X, y, _ = split_target(read_table(table), "mood today")
    clf = abnet.CertifiedClassifier((2,), max_iter=1, preprocessor=TablePreparation(), random_state=1).fit(X, y)
    column = pd.to_numeric(read_table(table).to_pandas()["size, cm"].drop(index=clf.bound_rows_.tolist()))
    assert len(column) == ROWS // 2
    stored = preparation_to_dict(preparation)["columns"][0]
    assert stored["fill"] == pytest.approx(column.median(), rel=1e-12)
    assert stored["mean"] == pytest.approx(column.fillna(column.median()).mean(), rel=1e-12)
    assert stored["mean"] != pytest.approx(pd.to_numeric(read_table(table).to_pandas()["size, cm"]).mean(), rel=1e-6)


def test_the_command_does_what_the_estimator_does(model: Path, table: Path) -> None:
    X, y, _ = split_target(read_table(table), "mood today")
    clf = abnet.CertifiedClassifier((2,), max_iter=4, preprocessor=TablePreparation(), random_state=1).fit(X, y)
    assert abnet.load(model).certificate_ == clf.certificate_
    assert abnet.load(model).predict_proba(X).tobytes() == clf.predict_proba(X).tobytes()


def test_columns_left_out_are_named(fitted: dict[str, Any]) -> None:
    noted = {(note["code"], *note["columns"]) for note in fitted["note_data"]}
    assert noted >= {("constant", "country"), ("identifier", "id")}
    for name in ("'country'", "(Norway)", "'id'"):
        assert name in fitted["stderr"]
    assert fitted["notes"] == [line.removeprefix("note: ") for line in fitted["stderr"].splitlines()]


def test_the_test_set_bound_follows_from_the_errors(fitted: dict[str, Any]) -> None:
    (logistic,) = fitted["test_set_bounds"]
    assert logistic["n_examples"] == fitted["certificate"]["facts"]["n_rows"] == ROWS // 2
    assert logistic["bound"] == clopper_pearson(logistic["errors"], logistic["n_examples"], 0.05)
    assert fitted["certificate"]["statements"][0]["type"] == "error"


def test_the_text_says_what_is_promised_and_where_the_model_is(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "moods.abnet"
    path.write_bytes(b"")
    text = run("fit", table, "--target", "mood today", "--output", path, *SMALL).stdout
    certificate = abnet.load(path).certificate_
    assert isinstance(certificate, abnet.Certificate)
    assert certificate.describe() in text
    assert "logistic regression" in text
    assert str(path) in text
    record = json.loads(run("fit", table, "--target", "mood today", "--output", path, "--json", *SMALL).stdout)
    assert record["model"] == {"path": str(path), "bytes": path.stat().st_size, "replaced": True}


def test_the_rival_is_judged_on_the_bound_rows(table: Path) -> None:
    X, y, _ = split_target(read_table(table), "mood today")
    clf = abnet.CertifiedClassifier(
        (2,), max_iter=4, learn_fraction=0.7, preprocessor=TablePreparation(), random_state=3
    )
    logistic = clf._fit(X, y, compare=True).rival
    assert logistic is not None
    learn, judge = (clf.preprocessor_.transform(X[rows]) for rows in (clf.other_rows_, clf.bound_rows_))
    again = LogisticRegression(max_iter=1000).fit(learn, y[clf.other_rows_])
    assert logistic.errors == np.count_nonzero(again.predict(judge) != y[clf.bound_rows_])
    assert (logistic.n_examples, logistic.n_candidates) == (18, 1)
    dearer = clf.set_params(n_candidates=3)._fit(X, y, compare=True).rival
    assert dearer is not None
    assert dearer.n_candidates == 3
    assert dearer.bound == clopper_pearson(logistic.errors, 18, n_candidates=3) > logistic.bound


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_table_is_prepared_once(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """In `compare`, the other models take the parts of the network."""
    calls: list[Any] = []
    fit = TablePreparation.fit

    def counted(self: TablePreparation, *rows: Any) -> TablePreparation:
        calls.append(self)
        return fit(self, *rows)

    monkeypatch.setattr(TablePreparation, "fit", counted)
    output = []
    if command == "fit":
        output = ["--output", tmp_path / "moods.abnet"]
    run(command, table, "--target", "mood today", *output, *SMALL)
    assert len(calls) == 1


def test_the_verdict_counts_the_choice(capsys: pytest.CaptureFixture[str]) -> None:
    from abnet.cli.fit import comparison
    from abnet.model.card import Rival

    truth = np.array([0, 1] * 50)
    certificate = certify(observe(np.where(np.arange(100) < 20, 1 - truth, truth), truth, ("a", "b")), Terms())
    comparison(certificate, (Rival(name="logistic regression", bound=0.125, errors=5, n_examples=100, base_rate=0.5),))
    text = capsys.readouterr().out
    (own,) = re.findall(r"^.+ 27\.8% +20 of 100 \(20%\)", text, flags=re.MULTILINE)
    (other,) = re.findall(r"^.+ 12\.5% +5 of 100 \(5%\)", text, flags=re.MULTILINE)
    assert "logistic regression" in other
    assert "logistic regression" not in own
    assert "--n-candidates 2" in " ".join(text.split())
    comparison(certificate, (Rival(name="logistic regression", bound=0.125, errors=5, n_examples=100, n_candidates=2),))
    text = " ".join(capsys.readouterr().out.split())
    assert "--n-candidates" not in text
    assert "among 2" in text
    comparison(
        certificate,
        (Rival(name="logistic regression", bound=certificate.vote_error_bound or 0.0, errors=20, n_examples=100),),
    )
    text = " ".join(capsys.readouterr().out.split())
    assert "equal" in text
    assert "lowest" not in text


def test_details_show_the_gibbs_risk(run: Run, table: Path, model: Path, tmp_path: Path) -> None:
    options = ["--target", "mood today", "--output", tmp_path / "moods.abnet", "--details", *SMALL]
    for text in (run("fit", table, *options).stdout, run("inspect", model, "--details").stdout):
        assert "Gibbs" in text


def test_the_model_says_how_it_was_made(model: Path) -> None:
    """The command as it was typed, the settings, other models on the same rows, and how learning went."""
    card = abnet.load(model).card
    assert card.command == (
        "abnet fit TABLE --target 'mood today' --random-state 1 --hidden-layer-sizes 2 --max-iter 4"
    )
    assert ((card.settings or {})["random_state"], card.seed) == ("1", 1)
    assert card.rivals[0].name.startswith("logistic regression")
    assert [curve.name for curve in card.curves] == ["prior, log loss", "prior, linear loss"]
    assert all(curve.every == 1 and len(curve.values) > 1 for curve in card.curves)


def test_a_model_of_no_use_is_named_first(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{(i * 7919) % 97},{i % 10 == 0}\n" for i in range(300))  # the label has nothing to do with x
    (tmp_path / "t.csv").write_text("x,y\n" + rows)
    options = ["--target", "y", "--output", tmp_path / "m.abnet", "--max-iter", "10", "--teacher", "none", "--quiet"]
    first = run("fit", tmp_path / "t.csv", *options).stdout.splitlines()[0]
    for fact in ("useless", "False", "120"):
        assert fact in first
    record = json.loads(run("fit", tmp_path / "t.csv", *options, "--json").stdout)
    assert record["headline"] == first


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bom.csv", csv_text(start="\ufeff")),
        ("crlf.csv", csv_text(end="\r\n")),
        ("semicolons.csv", csv_text(separator=";")),
        ("tabs.tsv", csv_text(separator="\t")),
        ("zipped.csv.gz", csv_text()),
    ],
)
def test_every_way_to_write_a_table_gives_the_same_model(
    run: Run, model: Path, tmp_path: Path, name: str, text: str
) -> None:
    written = tmp_path / name
    written.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    run("fit", written, "--target", "mood today", "--output", tmp_path / "again.abnet", *SMALL)
    assert (tmp_path / "again.abnet").read_bytes() == model.read_bytes()


def test_parquet_gives_the_same_predictions(run: Run, model: Path, tmp_path: Path) -> None:
    header, rows = cells()
    frame = pd.DataFrame(rows, columns=header)
    frame["size, cm"] = pd.to_numeric(frame["size, cm"])
    frame.to_parquet(tmp_path / "moods.parquet")
    run("fit", tmp_path / "moods.parquet", "--target", "mood today", "--output", tmp_path / "again.abnet", *SMALL)
    again = abnet.load(tmp_path / "again.abnet")
    before = abnet.load(model)
    assert isinstance(again.predictor, Compact)
    assert isinstance(before.predictor, Compact)
    assert np.array_equal(again.predictor.W, before.predictor.W)


def test_a_dropped_column_is_not_used(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "moods.abnet"
    arguments = [
        "fit",
        table,
        "--target",
        "mood today",
        "--output",
        path,
        "--json",
        "--drop",
        "id",
        "--drop",
        "country",
    ]
    result = run(*arguments, *SMALL)
    assert not any(name in result.stderr for name in ("'id'", "'country'"))  # nor mentioned
    assert json.loads(result.stdout)["n_columns"] == 3


def test_weird_columns_are_learned_from(run: Run, tmp_path: Path) -> None:
    lines = ["born,zip code,only in part,sold,target"]
    for i in range(60):
        only = ""
        if i in (3, 50):
            only = "1.5"
        lines.append(f"2020-01-{1 + i % 3:02d},00{i % 2},{only},{i % 2},{(i % 2) + 0.5}")
    (tmp_path / "weird.csv").write_text("\n".join(lines))
    options = ["--output", tmp_path / "weird.abnet", "--json", *TWO]
    record = json.loads(run("fit", tmp_path / "weird.csv", "--target", "target", *options).stdout)
    assert record["classes"] == ["0.5", "1.5"]
    inspected = json.loads(run("inspect", tmp_path / "weird.abnet", "--json").stdout)
    assert [line.split(":")[0] for line in inspected["columns"]][:2] == ["born", "zip code"]
