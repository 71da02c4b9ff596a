"""Columns that say which rows belong together are left out; categories, measurements and row names are not of them."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from abnet.tables import TableError
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.plain_numbers import PlainNumbers
from abnet.tables.shared_identifiers import fewest_identifiers

N = 600
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(2)
VISITS = np.repeat(np.arange(100), 6)

PEOPLE = (
    "id",
    "ID",
    "PID",
    "patient_id",
    "PatientID",
    "patient",
    "Subject",
    "SubjectID",
    "cust_no",
    "customer",
    "user id",
    "userid",
    "account_number",
    "Student.ID",
    "id_student",
    "member_no",
    "case_id",
    "participant number",
)
THINGS = ("store_id", "ProductID", "session_id", "school_id", "visit uuid")
OTHERS = (
    "customer_type",
    "user_rating",
    "patient_age",
    "num_customers",
    "customers",
    "account_balance",
    "zip_code",
    "icd_code",
    "rad_num",
    "room_no",
    "number",
    "humidity",
    "paid",
    "grid",
    "valid",
    "identity",
    "subject_area",
    "user_agent",
    "n_patients",
    "index",
    "x",
)


def found(column: Any, name: str = "patient_id", **options: Any) -> tuple[bool, list[str]]:
    """Whether the column is kept, and the codes of the notes on it."""
    made = TablePreparation(**options).fit(pl.DataFrame({"x": X[: len(column)], name: column}))
    kept = name in [column.name for column in made.map_.columns]
    return kept, [note.code for note in made.notes_ if note.columns == (name,)]


@pytest.mark.parametrize("name", PEOPLE)
def test_people_are_recognised_even_if_every_one_has_many_rows(name: str) -> None:
    for whose in (VISITS, VISITS % 12, VISITS * 7919 + 10**6):
        assert found(whose, name) == (False, ["shared identifier"])


@pytest.mark.parametrize("name", THINGS)
def test_things_are_recognised_if_there_are_many(name: str) -> None:
    assert found(VISITS, name) == (False, ["shared identifier"])
    assert found(VISITS % 12, name) == (True, [])


@pytest.mark.parametrize("name", OTHERS)
def test_other_names_are_features(name: str) -> None:
    assert fewest_identifiers(name, N, whole=True) == float("inf")
    assert found(VISITS, name)[0]


def test_texts_are_recognised_too() -> None:
    names = [f"P{number:03}" for number in VISITS]
    assert found(names) == (False, ["shared identifier"])
    assert found(names, "patient") == (False, ["shared identifier"])
    topics = np.array(["maths", "physics", "art", "music", "latin", "sport"] * 2)[VISITS % 12]
    assert "shared identifier" not in found(np.char.add(topics, (VISITS % 12).astype(str)), "subject")[1]


def test_few_values_fractions_and_row_names_are_not_shared_ids() -> None:
    assert found(VISITS % 9) == (True, [])
    assert found(VISITS + 0.5) == (True, [])
    assert found(np.arange(N)) == (False, ["identifier"])
    assert found(np.arange(19) // 2) == (True, [])  # too few rows


def test_gaps_are_no_value() -> None:
    assert found([None if row % 3 else int(who) for row, who in enumerate(VISITS)])[1] == ["shared identifier"]


def test_who_names_the_column_keeps_it() -> None:
    for option in ("use", "numeric", "categorical"):
        assert found(VISITS, **{option: "patient_id"})[0]


def test_unscaled_numbers_leave_it_out_too() -> None:
    frame = pl.DataFrame({"x": X, "patient_id": VISITS})
    made = PlainNumbers().fit(frame)
    assert [column.name for column in made.map_.columns] == ["x"]
    assert [note.code for note in made.notes_] == ["shared identifier"]
    with pytest.raises(TableError, match="patient_id"):
        PlainNumbers().fit(frame.select("patient_id"))


def test_the_note_counts_values_and_rows() -> None:
    made = TablePreparation().fit(pl.DataFrame({"x": X, "patient_id": VISITS}))
    assert [(note.rows, note.facts["values"]) for note in made.notes_] == [(N, 100)]
    assert "groups='patient_id'" in str(made.notes_[0])
