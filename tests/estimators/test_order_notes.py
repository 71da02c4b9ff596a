"""Notes on the order of the held-out rows: where they come from, and that nothing else depends on them."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abnet import ABNetClassifier, CertifiedClassifier, fit_table
from abnet.cli.app import app
from abnet.tables.notes import NoteWarning

N = 600
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 2)).round(3)
DAY = np.arange(N)
# The label follows the first column, less and less.
Y = np.where((X[:, 0] > 0) ^ (RNG.random(N) < DAY / (2 * N)), "yes", "no")
SHUFFLED = RNG.permutation(N)
SMALL: dict[str, Any] = {"max_iter": 5, "random_state": 0}


def fit(order: np.ndarray, **options: Any) -> tuple[Any, set[str]]:
    """A fit of the rows in this order, and the codes of its notes."""
    clf = CertifiedClassifier((3,), preprocessor="standardise", **SMALL)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        clf.fit(X[order], Y[order], **{name: values[order] for name, values in options.items()})
    return clf, {w.message.note.code for w in seen if isinstance(w.message, NoteWarning)}


def test_a_drift_along_the_file_is_noted_and_changes_nothing() -> None:
    drifting, notes = fit(DAY)
    assert "errors by position" in notes
    for order in (SHUFFLED, np.argsort(Y, kind="stable")):
        other, others = fit(order)
        assert "errors by position" not in others or order is not SHUFFLED
        assert other.certificate_ == drifting.certificate_
        assert other.model_.digest == drifting.model_.digest
        assert other.model_.preparation.notes == drifting.model_.preparation.notes


def test_a_drift_within_the_period_is_noted_in_any_order_of_the_file() -> None:
    for order in (DAY, SHUFFLED):
        assert fit(order, time=DAY)[1] == {"errors by time"}


def test_groups_have_no_note() -> None:
    """Rows of a group depend on each other and are often neighbours."""
    assert fit(DAY, groups=DAY // 3)[1] == set()


def notes_of_table(table: Any, **options: Any) -> set[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fit_table(table, "y", estimator=ABNetClassifier((2,), **SMALL), **options)
    return {w.message.note.code for w in seen if isinstance(w.message, NoteWarning)}


@pytest.mark.parametrize("time", [None, "day"])
def test_streams_have_the_same_notes(time: str | None) -> None:
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y, "day": DAY})
    if time is None:
        frame = frame.drop("day")
    by_label = frame.sort("y", maintain_order=True)
    for table in (frame, by_label):
        whole = notes_of_table(table, time=time)
        pieces = (table.slice(start, 100) for start in range(0, N, 100))
        assert notes_of_table(pieces, time=time, max_learn_rows=300) == whole
        if time is None and table is by_label:
            assert "labels by position" in whole
        else:
            assert whole == {"errors by time" if time else "errors by position"}


def test_the_command_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y}).write_csv(path)
    options = ["--hidden-layer-sizes", "3", "--max-iter", "5", "--random-state", "0", "-q"]
    result = CliRunner().invoke(app, ["fit", str(path), "--target", "y", "-o", str(tmp_path / "m.abnet"), *options])
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    assert "errors are more frequent in the later held-out rows" in words
    assert "--time COLUMN" in words
