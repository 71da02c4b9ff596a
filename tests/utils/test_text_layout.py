"""Paragraphs and tables fit the page."""

import pytest

from abnet.utils.text_layout import aligned, page_width, paragraphs

HEAD = ["plain vote", "error rate (upper bound)", "errors seen", "majority-class error", "Gibbs risk (upper bound)"]
ROWS = [["all classes", "17%", "49 of 360", "29.7%", "20%"], [f"class {'x' * 46}", "12.9%", "21 of 253", "", "18%"]]


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_table_fits_the_page(columns: int) -> None:
    with page_width(columns):
        text = aligned([HEAD, *ROWS], least=2)
        assert max(map(len, paragraphs("word " * 50).split("\n"))) <= columns
    lines = text.split("\n")
    assert max(map(len, lines)) <= columns
    assert "17%" in text
    assert ("20%" in text) == (columns > 60)


def test_no_column_is_left_out_unless_that_is_allowed() -> None:
    with page_width(40):
        text = aligned([HEAD, *ROWS])
    assert "20%" in text
    assert max(map(len, text.split("\n"))) > 40
