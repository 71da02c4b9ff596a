"""What holds for any rows and any labels."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import abnet

FEW_EPOCHS: dict[str, Any] = {"max_iter": 2, "random_state": 0}
SMALL: dict[str, Any] = {"hidden_layer_sizes": (2,), **FEW_EPOCHS}
# Widths, batches and columns as in test_every_classifier.py where they can be: each new shape costs a compilation.
MAKERS: dict[str, Any] = {
    "ABNet": lambda: abnet.ABNetClassifier(**SMALL),
    "ABNet, trained": lambda: abnet.ABNetClassifier(**SMALL, posterior="train"),
    "ABNet, ancestral": lambda: abnet.ABNetClassifier(**SMALL, aggregation="ancestral", n_samples=5),
    "PBGNet": lambda: abnet.PBGNetClassifier(**SMALL),
    "PBGNet, sampled": lambda: abnet.PBGNetClassifier((3, 3), **FEW_EPOCHS, aggregation="sampled", n_samples=2),
    "EBP": lambda: abnet.EBPClassifier(**SMALL),
    "BinaryConnect": lambda: abnet.BinaryConnectClassifier((6,), **FEW_EPOCHS, batch_size=4),
    "BNN": lambda: abnet.BNNClassifier((8,), **FEW_EPOCHS, batch_size=4),
}
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

RNG = np.random.default_rng(7)
TARGETS = RNG.integers(0, 2, 50)
COLUMNS = 5
X = RNG.normal(size=(50, COLUMNS)) + TARGETS[:, None]


@pytest.fixture(scope="module", params=MAKERS)
def fitted(request: pytest.FixtureRequest) -> Any:
    return fitted_to_codes(request.param)


ROWS = arrays(np.float64, st.tuples(st.integers(1, 12), st.just(COLUMNS)), elements=st.floats(-1e4, 1e4, width=32))


@QUICK
@given(rows=ROWS, data=st.data())
def test_a_row_is_labelled_alone_and_in_its_place(fitted: Any, rows: np.ndarray, data: st.DataObject) -> None:
    labels = fitted.predict(rows)
    scores = fitted.decision_function(rows)
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    np.testing.assert_allclose(fitted.decision_function(rows[order]), scores[order], rtol=1e-12, atol=1e-12)
    sure = np.abs(scores) > 1e-9 * np.max(np.abs(scores), initial=1)  # the last bit may depend on the neighbours
    np.testing.assert_array_equal(fitted.predict(rows[order])[sure[order]], labels[order][sure[order]])
    for i in np.flatnonzero(sure):
        assert fitted.predict(rows[[i]])[0] == labels[i]


@QUICK
@given(rows=ROWS)
def test_labels_scores_and_shares_agree(fitted: Any, rows: np.ndarray) -> None:
    scores = fitted.decision_function(rows)
    np.testing.assert_array_equal(fitted.predict(rows), fitted.classes_[(scores >= 0).astype(int)])
    if hasattr(fitted, "predict_proba"):
        shares = fitted.predict_proba(rows)
        assert np.all((shares >= 0) & (shares <= 1))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_allclose(shares[:, 1] - shares[:, 0], scores, atol=1e-12)


TWO_LABELS = st.one_of(
    st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=2, unique=True),
    st.lists(st.text("abcxyz ", min_size=1, max_size=6), min_size=2, max_size=2, unique=True),
    st.lists(st.integers(-50, 50).map(lambda k: k / 1.0), min_size=2, max_size=2, unique=True),
    st.just([False, True]),
)


@cache
def fitted_to_codes(name: str) -> Any:
    return MAKERS[name]().fit(X, TARGETS)


@pytest.mark.parametrize("name", ["ABNet", "ABNet, trained", "PBGNet", "EBP"])
@FEW
@given(labels=TWO_LABELS)
def test_names_of_the_classes_do_not_matter(name: str, labels: list[Any]) -> None:
    """The smaller label takes the place of 0 and the larger that of 1; nothing else depends on them."""
    named = np.array(sorted(labels))
    plain = fitted_to_codes(name)
    other = MAKERS[name]().fit(X, named[TARGETS])
    np.testing.assert_array_equal(other.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(other.predict(X), named[plain.predict(X)])
    np.testing.assert_array_equal(other.classes_, named)


@FEW
@given(
    n=st.integers(12, 50),
    seed=st.integers(0, 2**31),
    fraction=st.floats(0.1, 0.9),
    way=st.sampled_from([{}, {"posterior": "train"}, {"prior": "init"}, {"objective": "loss"}]),
)
def test_every_row_is_a_bound_row_or_not(n: int, seed: int, fraction: float, way: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    rows = rng.normal(size=(n, COLUMNS))
    settings: dict[str, Any] = {"max_iter": 1, "prior_fraction": fraction, "random_state": seed, **way}
    clf = abnet.ABNetClassifier((2,), classes=[0, 1], **settings).fit(rows, y)  # the first part may lack one
    assert sorted([*clf.bound_rows_, *clf.other_rows_]) == list(range(n))
    assert clf.certificate_ is not None
    assert clf.certificate_.facts.n_rows == len(clf.bound_rows_) > 0
    if sum(clf.certificate_.facts.class_errors) is not None:
        wrong = clf.predict(rows[clf.bound_rows_]) != y[clf.bound_rows_]
        assert sum(clf.certificate_.facts.class_errors) == wrong.sum()
