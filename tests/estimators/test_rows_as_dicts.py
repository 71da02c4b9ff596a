"""A fitted classifier takes rows as dicts, as its model does."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abnet import ABNetClassifier, CertifiedClassifier

RNG = np.random.default_rng(0)
FRAME = pl.DataFrame({"age": RNG.normal(40, 10, 120), "city": RNG.choice(["Oslo", "Lima", "Rome"], 120)})
LABELS = np.where((FRAME["age"] > 40).to_numpy() ^ (FRAME["city"] == "Oslo").to_numpy(), "yes", "no")


@pytest.fixture(scope="module")
def classifier() -> CertifiedClassifier:
    return CertifiedClassifier((2,), n_estimators=2, max_iter=1, random_state=0).fit(FRAME, LABELS)


@pytest.mark.parametrize("method", ["predict", "vote", "predict_proba", "predict_log_proba", "decision_function"])
def test_every_method_of_a_table(method: str, classifier: CertifiedClassifier) -> None:
    """In any order, with columns that the model does not read."""
    rows = [{"id": place, "city": row["city"], "age": row["age"]} for place, row in enumerate(FRAME.to_dicts())]
    expected = getattr(classifier, method)(FRAME)
    found = getattr(classifier, method)
    np.testing.assert_array_equal(found(rows), expected)
    np.testing.assert_array_equal(found(rows[3]), expected[3:4])


def test_cells_of_several_types(classifier: CertifiedClassifier) -> None:
    rows: list[dict[str, Any]] = [{"age": 31, "city": "Oslo"}, {"age": 40.5, "city": None}, {"age": None, "city": "X"}]
    with pytest.warns(UserWarning, match="city"):
        found = classifier.predict(rows)
    with pytest.warns(UserWarning, match="city"):
        expected = classifier.predict(pl.DataFrame({"age": [31.0, 40.5, None], "city": ["Oslo", None, "X"]}))
    assert found.tolist() == expected.tolist()
    assert classifier.explain(rows[:1])[0].label == found[0]


@pytest.mark.parametrize(
    ("rows", "told"), [([{"age": 3}], "row 0 .*'city'"), ([], "rows"), ([{"age": 3, "city": "Oslo"}, 7], "row 1")]
)
def test_what_is_wrong_is_named(rows: Any, told: str, classifier: CertifiedClassifier) -> None:
    with pytest.raises(ValueError, match=told):
        classifier.predict(rows)


def test_an_empty_row_is_called_empty(classifier: CertifiedClassifier) -> None:
    with pytest.raises(ValueError, match=r"empty.*'age', 'city'"):
        classifier.model_.predict({})


def test_columns_of_numbers() -> None:
    frame = pl.DataFrame({"b": RNG.normal(size=60), "a": RNG.normal(size=60)})
    clf = ABNetClassifier((2,), max_iter=1, random_state=0).fit(frame.to_pandas(), frame["a"] > 0)
    expected = clf.decision_function(frame.to_pandas())
    np.testing.assert_allclose(clf.decision_function(frame.select("a", "b").to_dicts()), expected, rtol=1e-6)


@pytest.mark.parametrize("preprocessor", ["table", "standardise"])
def test_frames_in_any_order_with_further_columns(preprocessor: str) -> None:
    """As a loaded model takes them: columns are found by name, and one that is absent is named."""
    frame = pd.DataFrame(RNG.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = (frame["a"] > 0).to_numpy()
    settings: Any = {"max_iter": 1, "random_state": 0}
    clf = ABNetClassifier((2,), preprocessor=preprocessor, **settings).fit(frame, y)
    other = frame[["c", "a", "b"]].assign(id=range(80))
    np.testing.assert_array_equal(clf.decision_function(other), clf.decision_function(frame))
    np.testing.assert_array_equal(clf.decision_function(pl.from_pandas(other)), clf.decision_function(frame))
    np.testing.assert_array_equal(clf.decision_function(other), clf.model_.decision_function(other))
    with pytest.raises(ValueError, match="'b'"):
        clf.predict(other.drop(columns="b"))
