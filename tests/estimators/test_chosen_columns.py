"""A fit of a wide table: the columns left out are named, and everything downstream takes the smaller input."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abnet
from abnet import CertifiedClassifier, fit_table
from abnet.report import write_report
from export.test_same_answers import Exporter, check, every_exporter

CHEAP: Any = {"teacher": "linear", "max_iter": 3, "random_state": 0}
N, D = 700, 90


def wide() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(N, D)).round(4)
    return X, np.where(X[:, 5] + X[:, 60] > 0, "yes", "no")


@pytest.fixture(scope="module")
def of_array() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CertifiedClassifier(**CHEAP).fit(*wide())


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    X, y = wide()
    return pl.DataFrame(X, schema=[f"c{place}" for place in range(D)]).with_columns(y=pl.Series(y))


def test_what_is_left_out_is_reported(of_array: Any, tmp_path: Path) -> None:
    kept = [column.name for column in of_array.model_.preparation.columns]
    assert {"x5", "x60"} <= set(kept)
    assert len(kept) <= 16
    assert sorted([*kept, *of_array.left_out_]) == sorted(f"x{place}" for place in range(D))
    assert f"{len(kept)} of {D} columns" in of_array.recipe_text_
    write_report(of_array, tmp_path / "report.html")
    assert f"{D - len(kept)} of {D} columns were left out" in (tmp_path / "report.html").read_text()


def test_the_columns_left_out_have_no_say(of_array: Any, tmp_path: Path) -> None:
    X, _ = wide()
    other = np.random.default_rng(1).normal(size=X.shape)
    kept = [int(column.name[1:]) for column in of_array.model_.preparation.columns]
    other[:, kept] = X[:, kept]
    expected = of_array.predict_proba(X)
    assert of_array.predict_proba(other).tobytes() == expected.tobytes()
    of_array.save(tmp_path / "m.abnet")
    loaded = abnet.load(tmp_path / "m.abnet")
    assert loaded.predict_proba(X).tobytes() == expected.tobytes()
    few = pl.DataFrame({f"x{place}": X[:, place] for place in kept})
    assert loaded.predict_proba(few).tobytes() == expected.tobytes()
    explained = loaded.explain(few.head(1)).rows[0]
    assert list(explained.columns) == few.columns


def test_the_certificate_counts_the_held_out_rows(of_array: Any) -> None:
    X, y = wide()
    bound = of_array.bound_rows_
    errors = int(np.sum(of_array.predict(X[bound]) != y[bound]))
    assert sum(of_array.certificate_.facts.class_errors) == errors


def test_the_recipe_makes_the_same_model_again(of_array: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = CertifiedClassifier(**of_array.recipe_, max_iter=3, random_state=0).fit(*wide())
    assert again.left_out_ == of_array.left_out_
    assert again.certificate_ == of_array.certificate_


@every_exporter
def test_exports_agree(of_array: Any, exporter: Exporter, tmp_path: Path) -> None:
    X, _ = wide()
    kept = {column.name: X[:60, int(column.name[1:])] for column in of_array.model_.preparation.columns}
    check(exporter, of_array.model_, pl.DataFrame(kept), tmp_path)


def test_a_stream_chooses_the_same_columns(frame: pl.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in_memory = fit_table(frame, "y", estimator=CertifiedClassifier(**CHEAP, learn_fraction=400 / N))
        pieces = [frame.slice(start, 150) for start in range(0, N, 150)]
        streamed = fit_table(pieces, "y", estimator=CertifiedClassifier(**CHEAP), max_learn_rows=400)
    assert streamed.left_out_
    assert streamed.left_out_ == in_memory.left_out_
    assert streamed.model_.preparation == in_memory.model_.preparation
