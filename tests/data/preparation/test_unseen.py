from abnet.data.preparation.unseen import Unseen, merge


def test_reports_of_many_chunks_add_up_and_stay_small() -> None:
    chunks = [Unseen("id", {f"{i}-{j}": 1 for j in range(100)}) for i in range(50)] + [Unseen("id", {"0-0": 5})]
    (report,) = merge(chunks, most=200)
    assert len(report.rows) == 200
    assert report.rows["0-0"] == 6
    assert str(report).startswith("column 'id': '0-0' (6 rows), ")
    assert "and 197 more not seen" in str(report)
