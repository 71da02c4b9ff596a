"""What a fit says of columns: rows that belong together, columns that say nearly all alone, and columns left out."""

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abnet
from abnet.estimators.column_checks import alone, with_and_without
from abnet.model import load
from abnet.tables.notes import Note, NoteWarning, note_lines

pytestmark = pytest.mark.filterwarnings("ignore:Training .* was still improving")


def small() -> abnet.CertifiedClassifier:
    return abnet.CertifiedClassifier((2,), n_estimators=2, teacher="forest", max_iter=2, random_state=0)


def patients(n: int, seed: int = 0) -> tuple[pl.DataFrame, Any]:
    """Visits of patients whose age and weight give them away, and whose label belongs to the patient."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), 5)
    age = rng.normal(50, 10, n)[who]
    weight = rng.normal(70, 9, n)[who]
    ill = rng.random(n)[who] < 0.5
    frame = pl.DataFrame({"patient_id": who + 1000, "age": age, "weight": weight, "pulse": rng.normal(size=len(who))})
    return frame, np.where(ill, "ill", "well")


def caught(fit: Callable[[], Any]) -> tuple[Any, list[Note]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = fit()
    notes = [note for w in found if isinstance(w.message, NoteWarning) for note in w.message.notes]
    # The visits of a patient are next to each other, so errors depend on the position.
    return result, [note for note in notes if note.code != "errors by position"]


def rate(note: Note, fact: str) -> float:
    return float(str(note.facts[fact]).rstrip("%")) / 100


def test_a_fit_says_what_unknown_patients_do_to_the_error(split_as: Callable[..., None]) -> None:
    frame, y = patients(80)
    split_as(frame, y)
    clf, notes = caught(lambda: small().fit(frame, y))
    assert [(note.code, note.columns) for note in notes] == [("measured groups", ("patient_id",))]
    assert rate(notes[0], "within") < 0.35
    assert rate(notes[0], "apart") > rate(notes[0], "within") + 0.15
    assert clf.model_.preparation.notes == clf.preprocessor_.notes_ == tuple(notes)
    assert [column.name for column in clf.model_.preparation.columns] == ["age", "weight", "pulse"]

    other = y.copy()
    other[clf.bound_rows_] = np.roll(y[clf.bound_rows_], 7)
    bound = np.isin(np.arange(400), clf.bound_rows_)
    changed = frame.with_columns(pl.Series("patient_id", np.where(bound, 1, frame["patient_id"])))
    assert (other != y).any()
    assert caught(lambda: small().fit(changed, other))[1] == notes  # held-out rows have no say


def test_with_groups_another_such_column_is_only_left_out() -> None:
    frame, y = patients(80)
    visits = frame.with_columns(clinic_id=pl.Series(np.arange(400) // 10))
    _, notes = caught(lambda: small().fit(visits, y, groups="patient_id"))
    assert [(note.code, note.columns) for note in notes] == [("identifier", ("clinic_id",))]


def test_a_column_that_says_nearly_all_alone_is_warned_of() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    other = rng.normal(size=400) + y
    leak = np.where(y ^ (rng.random(400) < 0.03), 30.0, 40.0) + rng.random(400)
    frame = pl.DataFrame({"other": other, "weeks": leak, "country": ["Norway"] * 400})
    clf, notes = caught(lambda: small().fit(frame, y))
    assert {(note.code, note.columns) for note in notes} == {("column alone", ("weeks",)), ("constant", ("country",))}
    note = next(note for note in notes if note.code == "column alone")
    assert 0.005 < rate(note, "alone") < 0.08
    assert clf.held_ is not None


def test_a_table_written_to_a_file_warns_too_and_keeps_the_notes(tmp_path: Path) -> None:
    frame, y = patients(80)
    table = frame.with_columns(y=pl.Series(y), one=pl.lit(1), two=pl.lit(2))
    path = tmp_path / "m.json"
    clf, notes = caught(lambda: abnet.fit_table(table, "y", estimator=small(), output=path))
    assert [note.code for note in notes] == ["measured groups", "constant", "constant"]
    assert all(note in clf.table_.notes for note in notes)
    assert sorted(load(path).preparation.notes, key=str) == sorted(notes, key=str)


def test_one_warning_says_all_constant_columns() -> None:
    notes = [Note("constant", (name,), facts={"value": "0"}) for name in "abc"]
    warning = NoteWarning(*notes)
    assert str(warning) == note_lines(notes)[0]
    again = pickle.loads(pickle.dumps(warning))
    assert (again.notes, again.note) == (tuple(notes), notes[0])


# The checks themselves


def test_a_forest_is_as_good_on_unknown_groups_if_groups_say_nothing() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), 8)
    X = rng.normal(size=(1200, 3))
    within, apart = with_and_without(X, (X[:, 0] > 0).astype(np.intp), groups, 0)
    assert abs(within - apart) < 0.02


@pytest.mark.parametrize("sizes", [[5] * 40, [1000] * 12, [1, 30] * 60])
def test_groups_of_any_size_are_held_back_whole(sizes: list[int]) -> None:
    """Labels drawn for each group, and features that name it: other rows of a group tell its label, no others do."""
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(len(sizes), 4))[groups]
    codes = np.resize([0, 1], len(sizes))[groups]
    within, apart = with_and_without(X, codes, groups, 0)
    assert within < 0.3
    assert apart > within + 0.15


def near(X: Any, codes: Any, together: float, groups: Any = None) -> list[int]:
    return [place for place, _ in alone(np.asarray(X, np.float32), np.arange(X.shape[1]), codes, together, groups, 0)]


def test_a_strong_column_among_others_that_help_is_not_one_that_says_all() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    codes = (2 * X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=1000) > 0).astype(np.intp)
    assert near(X, codes, 0.06) == []  # the first column alone errs on 17%
    assert near(X, codes, 0.17) == [0]


def test_a_rare_class_is_no_column_that_says_all() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 5))
    codes = (rng.random(1000) < 0.03).astype(np.intp)
    for together in (0.02, 0.03, 0.1, 0.4):
        assert near(X, codes, together) == []


def test_a_value_of_each_group_says_nothing_of_other_groups() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 20)
    X = rng.normal(size=(30, 2))[groups]
    codes = rng.integers(0, 2, 30)[groups].astype(np.intp)
    assert near(X, codes, 0.01, groups) == []
    assert near(X, codes, 0.01) == [0, 1]


def test_categories_and_gaps_count_as_one_column() -> None:
    rng = np.random.default_rng(0)
    value = rng.integers(0, 15, 900)
    codes = np.zeros(900, np.intp)
    codes[value % 2 == 1] = 1
    X = np.column_stack([rng.normal(size=900), np.eye(15)[value]])
    owners = np.array([0, *[1] * 15])
    assert [place for place, _ in alone(X, owners, codes, 0.0, None, 0)] == [1]
    gaps = codes == 1
    X = np.column_stack([rng.normal(size=900), np.where(gaps, 0.0, rng.normal(size=900)), gaps])
    assert [place for place, _ in alone(X, np.array([0, 1, 1]), codes, 0.0, None, 0)] == [1]
