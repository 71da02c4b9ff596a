"""What holds of every table: pieces, the stored form, and the order of rows change no bit."""

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from abnet.tables import TableError
from abnet.tables.preparation import TablePreparation, UnseenWarning, preparation_from_dict, preparation_to_dict

pytestmark = pytest.mark.filterwarnings("ignore::abnet.tables.preparation.UnseenWarning")

MARKS = st.sampled_from(["", " ", "NA", "?", "nan", "unknown", "n.a."])
PLAIN = st.one_of(
    st.integers(-(10**20), 10**20).map(str), st.floats(-1e6, 1e6).map(str), st.sampled_from([" 7 ", "7.0", ".5", "1e3"])
)
KINDS = [
    PLAIN,
    st.floats(0, 1e7).map(lambda x: f"${x:,.2f}"),
    st.integers(0, 10**6).map(lambda n: f"{n:,}".replace(",", "\u00a0") + " kg"),
    st.datetimes().map(lambda moment: f"{moment:%d/%m/%Y %H:%M}"),
    st.dates().map(str),
    st.sampled_from(["yes", "no", "True", " NO "]),
    st.sampled_from(["red", " red", "blue", "Ünï", "a\0b", "NA"]),
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.tuples(st.sampled_from(["good", "bad"]), st.sampled_from(["wine", "beer"]), PLAIN).map(" ".join),
]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    rows = draw(st.integers(2, 25))
    columns = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
    cell = [st.one_of(kind, kind, kind, MARKS) for kind in columns]
    return {f"c{i}": draw(st.lists(kind, min_size=rows, max_size=rows)) for i, kind in enumerate(cell)}


def fitted(table: dict[str, list[str]]) -> TablePreparation:
    try:
        return TablePreparation(max_categories=4, decimal="point").fit(pl.DataFrame(table))
    except TableError:
        assume(False)
        raise


def features(preparation: Any, table: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        return preparation.transform(table)


@settings(max_examples=80, deadline=None)
@given(tables(), st.integers(1, 7))
def test_pieces_are_the_whole_bit_for_bit(table: dict[str, list[str]], size: int) -> None:
    preparation = fitted(table)
    frame = pl.DataFrame(table)
    whole = features(preparation, frame)
    parts = [features(preparation, part) for part in frame.iter_slices(size)]
    assert np.vstack(parts).tobytes() == whole.tobytes()


@settings(max_examples=80, deadline=None)
@given(tables())
def test_every_library_gives_the_same_bits(table: dict[str, list[str]]) -> None:
    preparation = fitted(table)
    whole = features(preparation, pl.DataFrame(table))
    arrays = {name: np.array(column, object) for name, column in table.items()}
    for other in (table, arrays, pd.DataFrame(table), pd.DataFrame(table, dtype=object)):
        assert features(preparation, other).tobytes() == whole.tobytes()
        again = TablePreparation(max_categories=4, decimal="point").fit(other)
        assert again.map_ == preparation.map_


@settings(max_examples=80, deadline=None)
@given(tables())
def test_the_stored_form_is_the_map(table: dict[str, list[str]]) -> None:
    preparation = fitted(table)
    back = preparation_from_dict(json.loads(json.dumps(preparation_to_dict(preparation), allow_nan=False)))
    assert back == preparation.map_
    assert preparation_to_dict(back) == preparation_to_dict(preparation)
    assert features(back, table).tobytes() == features(preparation, table).tobytes()


@settings(max_examples=80, deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table: dict[str, list[str]], random: Any) -> None:
    preparation = fitted(table)
    frame = pl.DataFrame(table)
    order = list(range(frame.height))
    random.shuffle(order)
    shuffled = frame[order]
    assert features(preparation, shuffled).tobytes() == features(preparation, frame)[order].tobytes()
    again = fitted(shuffled.to_dict(as_series=False))
    assert [column.kind for column in again.map_.columns] == [column.kind for column in preparation.map_.columns]
    assert again.get_feature_names_out().tolist() == preparation.get_feature_names_out().tolist()
    np.testing.assert_allclose(features(again, frame), features(preparation, frame), rtol=1e-5, atol=1e-5)
