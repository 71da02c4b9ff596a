import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from abnet.bounds import clopper_pearson_bound as clopper_pearson
from abnet.cli.contenders import show_contenders
from abnet.estimators.compare import Contender
from abnet.model.performance_measures import auc
from abnet.utils.threads import cores
from cli.tables import ROWS, SMALL, Failure, Run

BOOSTING = {"CatBoost": "catboost", "LightGBM": "lightgbm"}
INSTALLED = [name for name, library in BOOSTING.items() if find_spec(library)]
NAMES = ["ABNet", "random forest", "gradient boosting", "logistic regression", *INSTALLED, "majority rule"]


@pytest.fixture(scope="module")
def record(run: Run, table: Path) -> dict[str, Any]:
    result = run("compare", table, "--target", "mood today", "--drop", "id", "--json", *SMALL)
    loaded = json.loads(result.stdout)
    assert isinstance(loaded, dict)
    return loaded


def test_all_contenders_are_there_with_all_figures(record: dict[str, Any]) -> None:
    assert [contender["name"] for contender in record["contenders"]] == NAMES
    for contender in record["contenders"]:
        assert 0 <= contender["test_error"] <= contender["bound"] + 1
        assert contender["n_test"] == record["n_test"] == ROWS // 5
        assert contender["test_error"] == contender["test_errors"] / contender["n_test"]
        assert contender["size"] > 100
        assert contender["seconds"] > 0
        low, high = contender["test_limits"]
        assert low <= contender["test_error"] <= high
        assert contender["note"] == ""
        assert contender["log_loss"] > 0
        assert 0 <= contender["calibration_error"] <= 1


def test_what_was_read_is_noted_on_stderr_and_in_json(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [(f"${1000 + i:,}", rng.integers(9), rng.choice(["yes", "no", "Yes"])) for i in rng.integers(900, size=150)]
    lines = [f'{number},"{price}",{x},{label}' for number, (price, x, label) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join(["number,price,x,left", *lines]) + "\n")
    result = run("compare", tmp_path / "t.csv", "--target", "left", "--json", *SMALL)
    notes = json.loads(result.stdout)["notes"]
    assert [f"note: {note}" for note in notes] == result.stderr.splitlines()
    for told in (
        "column 'left' has the labels 'Yes' and 'yes', which count as different classes",
        "column 'number' was left out: ",
        "column 'price' has numbers written as '$1,",
    ):
        assert any(note.startswith(told) for note in notes), (told, notes)


def test_odd_cells_are_counted_in_all_rows(run: Run, tmp_path: Path) -> None:
    odd = {3, 31, 59, 87}
    rows = [f"{'rotary' if i in odd else i * 3 % 41},{i * 7 % 11},{'ab'[i % 2]}" for i in range(120)]
    path = tmp_path / "cars.csv"
    path.write_text("\n".join(["cylinders,x,y", *rows]))
    for command in ("fit", "compare"):
        where = []
        if command == "fit":
            where = ["--output", tmp_path / "m.abnet"]
        record = json.loads(run(command, path, "--target", "y", "--json", *where, *SMALL).stdout)
        counted = [note["rows"] for note in record["note_data"] if note["code"] == "odd number"]
        assert counted == [len(odd)]


def test_numbers_that_can_be_read_in_two_ways_are_asked_about_once(failure: Failure, tmp_path: Path) -> None:
    rows = [f"{'1.234' if i % 3 else '857'};{i % 2}\n" for i in range(150)]
    (tmp_path / "t.csv").write_text("x;y\n" + "".join(rows))
    message = failure("compare", tmp_path / "t.csv", "--target", "y", *SMALL, naming=["'x'", "'1.234'", "'857'"])
    assert message.count("--decimal comma") == message.count("--decimal point") == 1


def test_certificates_are_of_the_right_kind(record: dict[str, Any]) -> None:
    methods = [contender["method"] for contender in record["contenders"]]
    assert methods == ["test set"] * len(NAMES)
    held = (ROWS - ROWS // 5) // 2
    limits = {clopper_pearson(errors, held, 0.05) for errors in range(held + 1)}
    assert all(contender["bound"] in limits for contender in record["contenders"])


def test_the_table_hides_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    show_contenders(
        (
            Contender(
                "net",
                0.25,
                "tandem",
                0.1,
                3,
                30,
                2_000,
                1.25,
                "",
                3.5,
                0.125,
                0.875,
                0.333,
                0.051,
                is_fit=True,
                test_limits=(0.0211, 0.2653),
            ),
            Contender("tree", 0.0701, "test set", None, 3, 30, 20_000, 0.5),
            Contender("moon", note="moon could not be trained: it is full"),
        )
    )
    text = capsys.readouterr().out
    assert re.search(
        r"net \(abnet fit\) +25% +10% \(2.1-26.6\) +0.333 +1.2 s +2.0 kB +0.051 +0.875 +12.5% +3.5 s +tandem", text
    )
    assert re.search(r"tree +7.1% +10% +- +0.5 s +20.0 kB +- +- +- +- +test set", text)
    assert re.search(r"moon( +-){10}\n", text)
    table, below = text.split("\n\n", 1)
    assert table.count("\n") == 3
    assert "moon could not be trained: it is full" in below
    assert "--save" in below
    verdicts = below.replace("net and tree", "TIE")
    assert verdicts.count("TIE") == 1  # the fewest test errors
    assert verdicts.count("tree") == 2  # the lowest bound, and a test error above its bound


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_narrow_terminal_has_fewer_columns(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    full = Contender(
        "gradient boosting", 0.25, "test set", 0.1, 3, 30, 2_000, 1.25, "", 3.5, 0.125, 0.875, 0.333, 0.051
    )
    show_contenders((full,))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert re.match(r"gradient boosting +25% +10%", lines[1])
    assert ("size" in lines[0]) == (columns > 60)


def test_what_cannot_be_learned_is_said(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from abnet.estimators import compare as compare_models

    def impossible(*_: Any) -> Any:
        raise ValueError("the moon is full")

    monkeypatch.setattr(compare_models, "certified", impossible)
    text = run("compare", table, "--target", "mood today", *SMALL).stdout
    assert text.count("the moon is full") == 1
    assert "logistic regression" in text


def test_errors(failure: Failure, table: Path, tmp_path: Path) -> None:
    failure("compare", table, "--target", "mood", *SMALL, code=2, naming=["--target", "'mood'"])
    options = ["--target", "mood today", *SMALL]
    assert "--test-fraction" in failure("compare", table, "--test-fraction", "1", *options, code=2)
    failure("compare", table, "--delta", "0", *options, code=2, naming=["--delta", "0.0"])
    (tmp_path / "few.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(12)))
    failure("compare", tmp_path / "few.csv", "--target", "y", *SMALL, naming=["12", "20"])


def test_the_figures_beside_the_error(record: dict[str, Any]) -> None:
    """The majority rule errs at the base rate, on half of the classes; one contender is what `abnet fit` makes."""
    by_name = {contender["name"]: contender for contender in record["contenders"]}
    majority = by_name["majority rule"]
    assert majority["balanced_error"] == 0.5
    assert majority["auc"] == 0.5
    assert min(abs(majority["test_error"] - rate) for rate in (record["base_rate"], 1 - record["base_rate"])) < 1e-12
    assert [name for name, contender in by_name.items() if contender["is_fit"]] == ["ABNet"]
    assert all(0 <= contender["auc"] <= 1 for contender in by_name.values())
    assert record["threads"] == cores()
    assert by_name["logistic regression"]["compile_seconds"] == 0


def test_the_marked_contender_is_the_model_of_fit(run: Run, table: Path, tmp_path: Path) -> None:
    from abnet import load

    run("fit", table, "--target", "mood today", "--output", tmp_path / "m.abnet", *SMALL)
    card = load(tmp_path / "m.abnet").card
    assert (card.prior, card.posterior) == ("split", "frozen")


def test_the_area_under_the_curve_of_several_classes_is_the_mean_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), size=300)
    labels = rng.integers(0, 4, 300)
    ours = auc(proba, np.arange(4), labels)
    assert ours == pytest.approx(roc_auc_score(labels, proba, multi_class="ovr"), abs=1e-12)
    assert auc(proba, np.arange(4), np.zeros(300)) is None
    two = labels % 2
    score = proba[:, 0] - proba[:, 1]
    assert auc(score, np.arange(2), two) == pytest.approx(roc_auc_score(two, score), abs=1e-12)
    sure = rng.random(300) ** 60  # 1 - p rounds to 1 for many
    assert auc(np.stack([1 - sure, sure], axis=1), np.arange(2), two) == roc_auc_score(two, sure)
