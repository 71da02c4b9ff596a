from abnet.preparation.unseen import Unseen, merge


def test_reports_of_many_chunks_add_up_and_stay_small() -> None:
    chunks = [Unseen("id", {f"{i}-{j}": 1 for j in range(100)}) for i in range(50)] + [Unseen("id", {"0-0": 5})]
    (report,) = merge(chunks, most=200)
    assert len(report.rows) == 200
    assert report.rows["0-0"] == 6
    assert str(report).startswith("column 'id': '0-0' (6 rows), ")
    assert "and 197 more not seen" in str(report)


def test_rows_are_counted_whether_their_value_is_listed_or_not() -> None:
    chunks = [
        Unseen("when", {f"day {i}-{j}": 2 for j in range(100)}, "day/month/year", code="odd date") for i in range(5)
    ]
    (report,) = merge(chunks, most=200)
    assert (len(report.rows), report.n_rows) == (200, 1000)
    assert report.note.rows == 1000
    assert "day/month/year" in str(report)
