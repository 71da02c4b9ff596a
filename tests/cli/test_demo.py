import json
from pathlib import Path

import numpy as np
import pytest

import abnet
from cli.tables import SMALL, Failure, Run


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "new" / "folder"
    result = run("demo", "--output-dir", path, "--json", *SMALL)
    (path / "record.json").write_text(result.stdout)
    return path


def test_the_model_is_the_one_of_the_record(folder: Path) -> None:
    record = json.loads((folder / "record.json").read_text())
    model = abnet.load(record["model"])
    assert model.certificate_ is not None
    assert model.certificate_.to_dict() == record["certificate"]
    assert record["contenders"][0]["name"] == "abnet fit"
    assert (record["n_learn"], record["n_test"]) == (1348, 449)
    assert set(model.predict(abnet.paper.load("digits").X)) <= {"0-4", "5-9"}


def test_there_is_a_picture(folder: Path) -> None:
    from matplotlib.image import imread

    pixels = np.asarray(imread(folder / "learning-curve.png"))
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 1500
    assert 0.005 < np.mean(pixels[..., :3].min(axis=2) < 0.5) < 0.5  # something is drawn, on white


def test_there_is_a_report_with_the_test_rows_and_the_others(folder: Path) -> None:
    record = json.loads((folder / "record.json").read_text())
    page = Path(record["report"]).read_text(encoding="utf-8")
    assert "digits" in page.split("<h1>")[1].split("</h1>")[0]
    assert "estimates" in page
    for contender in record["contenders"][1:]:
        assert f"<span>{contender['name']}</span>" in page


def test_a_place_that_cannot_be_written(failure: Failure, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "file" in failure("demo", "--output-dir", tmp_path / "file", *SMALL)
    (tmp_path / "folder" / "digits.abnet").mkdir(parents=True)
    failure("demo", "--output-dir", tmp_path / "folder", *SMALL, naming=[tmp_path / "folder" / "digits.abnet"])
