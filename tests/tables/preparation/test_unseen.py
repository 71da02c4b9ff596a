import numpy as np
import pytest

from abnet.tables.preparation import TablePreparation
from abnet.tables.table_errors import TableError
from abnet.tables.unseen import Unseen, UnseenWarning, merge


def test_reports_of_many_chunks_add_up_and_stay_small() -> None:
    chunks = [Unseen("id", {f"{i}-{j}": 1 for j in range(100)}) for i in range(50)] + [Unseen("id", {"0-0": 5})]
    (report,) = merge(chunks, most=200)
    assert len(report.rows) == 200
    assert report.rows["0-0"] == 6
    assert str(report).index("'id'") < str(report).index("'0-0' (6 rows)")
    assert " 197 more " in str(report)


def test_rows_are_counted_whether_their_value_is_listed_or_not() -> None:
    chunks = [
        Unseen("when", {f"day {i}-{j}": 2 for j in range(100)}, "day/month/year", code="odd date") for i in range(5)
    ]
    (report,) = merge(chunks, most=200)
    assert (len(report.rows), report.n_rows) == (200, 1000)
    assert report.note.rows == 1000
    assert "day/month/year" in str(report)


@pytest.mark.parametrize("cells", [["1", "2.5", "3.5", "-1e308"] * 5, np.array([1.0, 2.5, 3.5, -1e308] * 5)])
def test_a_number_that_is_too_large_is_not_called_no_number(cells: object) -> None:
    rows = {"x": cells}
    fitted = TablePreparation(use="x", numeric="x").fit(rows)
    (note,) = fitted.notes_
    assert (note.code, note.rows) == ("odd number", 5)
    assert all(limit in str(note) for limit in ("-1e+150", " 1e+150"))
    with pytest.warns(UnseenWarning, match=r"-1e\+150.*1e\+150"):
        fitted.transform(rows)
    with pytest.raises(TableError, match=r"-1e\+150.*1e\+150"):
        fitted.map_.transform(rows, unseen="error")
