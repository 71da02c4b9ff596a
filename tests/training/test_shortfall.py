"""Networks that fall short: a note where they make clearly more errors than their teachers, and none by chance."""

import warnings
from typing import Any

import numpy as np
import pytest

from abnet import CertifiedClassifier
from abnet.tables.notes import NoteWarning
from abnet.training import mixture_learning
from abnet.training.shortfall import Shortfall, shortfall


def test_the_facts_of_the_note() -> None:
    note = Shortfall(networks=30, teachers=12, n_rows=120).note
    assert note.rows == 120
    assert {note.facts["networks"], note.facts["teachers"]} == {"25%", "10%"}
    assert all(fact in str(note) for fact in ("120", "25%", "10%"))


def test_equally_good_models_are_rarely_called_worse() -> None:
    """Errors of both are drawn at the same rate: at most one in a hundred comparisons may say anything."""
    rng = np.random.default_rng(0)
    n_notes = 0
    for _ in range(3_000):
        wrong = (rng.random((2, 200)) < 0.2).astype(np.intp)
        n_notes += shortfall(wrong[0], wrong[1], np.zeros(200, np.intp)) is not None
    assert n_notes <= 45  # one in a hundred gives at most 45 but for one chance in a thousand


def test_clearly_worse_networks_are_found() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(300):
        wrong = (rng.random((2, 300)) < np.array([[0.3], [0.15]])).astype(np.intp)
        found += shortfall(wrong[0], wrong[1], np.zeros(300, np.intp)) is not None
    assert found >= 270


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_fit_says_so(as_frame: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=80) > 0).astype(int)
    monkeypatch.setattr(mixture_learning, "shortfall", lambda *_: Shortfall(9, 2, 20))
    table: Any = X
    if as_frame:
        import polars as pl

        table = pl.DataFrame(X, schema=["a", "b", "c"])
    classifier = CertifiedClassifier(teacher="linear", max_iter=2, random_state=0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        classifier.fit(table, y)
    codes = [warning.message.note.code for warning in seen if isinstance(warning.message, NoteWarning)]
    assert codes == ["networks fall short"]
    stored = [note.code for note in classifier.model_.preparation.notes]
    assert ("networks fall short" in stored) == as_frame
