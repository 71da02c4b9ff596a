"""Class labels: codes, signs, scores, and their way through a record."""

import json
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as arrays
from sklearn.preprocessing import LabelEncoder

from abnet.tables.labels import _FEW, _FIRST_LABELS, Labels, count_labels
from abnet.utils.class_scores import winners

MANY: list[Any] = [
    ["no", "yes"],
    [3, 1, 2, 1],
    np.array([-128, 0, 127], np.int8),
    [0.5, 0.25],
    [False, True],
    np.array(["b", "a", "c"], object),
]


@pytest.mark.parametrize("y", MANY, ids=str)
def test_codes_are_those_of_scikit_learn(y: Any) -> None:
    labels = Labels.of(y)
    oracle = LabelEncoder().fit(y)
    np.testing.assert_array_equal(labels.classes, oracle.classes_)
    np.testing.assert_array_equal(labels.encode(y), oracle.transform(y))
    np.testing.assert_array_equal(labels.decode(labels.encode(y)), np.asarray(y))
    assert labels.n_classes == len(set(y))
    assert labels.names == tuple(str(label) for label in labels.classes.tolist())


def test_the_order_is_the_one_given() -> None:
    labels = Labels(np.array(["yes", "no"]))
    assert labels.encode(["no", "yes"]).tolist() == [1, 0]
    assert labels.signs(["no", "yes"]).tolist() == [1, -1]


def test_unknown_labels_have_no_code_and_no_sign() -> None:
    labels = Labels.of(["no", "yes"])
    assert labels.encode(["yes", "perhaps", "no"]).tolist() == [1, -1, 0]
    assert labels.encode([1, 2]).tolist() == [-1, -1]
    assert labels.encode(np.array([None, "no"], object)).tolist() == [-1, 0]
    with pytest.raises(ValueError, match="perhaps"):
        labels.signs(["no", "perhaps"])


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        (["a", "a"], r"\(a\)"),
        ([], "label"),
        (np.array([1, "a"], object), "type"),
        (np.array([None, "a"], object), "type"),
        ([1.0, np.nan, 2.0], "NaN"),
    ],
)
def test_no_labels_where_there_is_nothing_to_tell_apart(y: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Labels.of(y)


@pytest.mark.parametrize("classes", [["a"], ["a", "a"], [["a", "b"]], "a"])
def test_fewer_than_two_different_labels_are_refused(classes: Any) -> None:
    with pytest.raises(ValueError, match="labels"):
        Labels(np.array(classes))


def test_signs_are_for_two_classes() -> None:
    with pytest.raises(ValueError, match=r"\b6 classes \(0, 1, .*…\)"):
        Labels.of(range(6)).signs([0, 1])


def test_scores_of_two_classes_and_of_more() -> None:
    two = Labels.of(["no", "yes"])
    three = Labels.of([10, 20, 30])
    assert two.from_scores([-1e-300, -0.0, 0.0, 5.0]).tolist() == ["no", "yes", "yes", "yes"]
    assert two.from_scores([[0.5, 0.5], [0.2, 0.8]]).tolist() == ["no", "yes"]
    assert three.from_scores([[1, 1, 0], [0, 1, 1], [-3, -2, -1]]).tolist() == [10, 20, 30]
    for labels, scores in ((three, [0.1, 0.2]), (two, [[1, 2, 3]]), (two, [[[1.0]]])):
        with pytest.raises(ValueError, match="scores"):
            labels.from_scores(scores)


@given(arrays.arrays(np.float64, (5, 4), elements=st.integers(-2, 2).map(float)))
def test_the_winner_is_the_first_of_the_largest(scores: np.ndarray) -> None:
    for row, code in zip(scores, winners(scores), strict=True):
        assert row[code] == max(row)
        assert all(score < row[code] for score in row[:code])


def test_codes_outside_are_refused() -> None:
    for codes in ([-1], [2]):
        with pytest.raises(ValueError, match="0 and 1"):
            Labels.of([0, 1]).decode(codes)


def test_labels_are_values() -> None:
    one = Labels.of(["a", "b"])
    same = Labels(np.array(["a", "b"]))
    assert one == same
    assert hash(one) == hash(same)
    for other in (Labels(np.array(["b", "a"])), Labels(np.array(["a", "b"], object)), Labels.of(["a", "c"]), "a"):
        assert one != other
    with pytest.raises(ValueError, match="read-only"):
        one.classes[0] = "c"


finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8)  # NumPy drops zeros at the end of a text
kinds = st.sampled_from([np.int8, np.uint64, np.int32, ">i4", np.bool_, np.float32, np.float64, "U", object])


@st.composite
def some_labels(draw: Any) -> Labels:
    dtype: Any = draw(kinds)
    kind = np.dtype(dtype).kind
    if kind in "iu":
        info = np.iinfo(dtype)
        values: Any = st.integers(int(info.min), int(info.max))
    else:
        values = {
            "b": st.booleans(),
            "f": finite if dtype == np.float64 else st.floats(width=32, allow_nan=False, allow_infinity=False),
            "U": text,
            "O": st.one_of(st.booleans(), st.integers(), finite, text),
        }[kind]
    return Labels(np.array(draw(st.lists(values, min_size=2, max_size=6, unique=True)), dtype))


@settings(max_examples=300, deadline=None)
@given(some_labels())
def test_a_record_gives_the_same_labels_back(labels: Labels) -> None:
    again = Labels.from_dict(json.loads(json.dumps(labels.to_dict())))
    assert again == labels
    assert again.classes.dtype == labels.classes.dtype


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.none(),
        st.fixed_dictionaries(
            {
                "dtype": st.one_of(st.sampled_from(["<i8", "|b1", "<U3", "|O", "<f4", "|V8", "<U99999"]), st.text()),
                "values": st.one_of(st.lists(st.one_of(st.none(), st.integers(), finite, st.text()), max_size=4), text),
            }
        ),
    )
)
def test_any_other_record_is_refused_or_read_as_it_is(record: Any) -> None:
    try:
        labels = Labels.from_dict(record)
    except ValueError:
        return
    assert labels.to_dict() == record


def test_a_label_that_is_too_large_for_its_type_is_refused() -> None:
    with pytest.raises(ValueError, match="<f4"):
        Labels.from_dict({"dtype": "<f4", "values": [0.0, 3.4028235677973366e38]})


def test_many_wide_labels_from_a_small_file_are_refused() -> None:
    values = [str(i) for i in range(1000)]
    with pytest.raises(ValueError, match="memory"):
        Labels.from_dict({"dtype": "<U99999", "values": values})
    assert Labels.from_dict({"dtype": "<U3", "values": values}).n_classes == 1000


@pytest.mark.parametrize("different", [1, 2, _FEW, _FEW + 1, 40])
@pytest.mark.parametrize("late", [False, True])
def test_labels_are_counted_as_numpy_counts_them(different: int, late: bool, rng: np.random.Generator) -> None:
    y = rng.choice([f"class {i}" for i in range(different)], 3 * _FIRST_LABELS)
    if late:
        y[-3:] = ["a first", "class 0", "z last"]
    for labels in (y, np.arange(len(y)) % 7, y[:0]):
        for mine, theirs in zip(count_labels(labels), np.unique(labels, return_counts=True), strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
