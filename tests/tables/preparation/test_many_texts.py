"""Text with many values: taken in as what helps on rows kept aside, and left out otherwise."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge

from abnet import ABNetClassifier
from abnet.tables.columns import HashedColumn
from abnet.tables.columns.hashed import tokens_of
from abnet.tables.many_texts import gains, unexplained
from abnet.tables.preparation import TablePreparation, preparation_from_dict, preparation_to_dict
from abnet.tables.table import as_table

N = 400
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
NOUNS = ["wine", "glass", "bottle", "cork", "grape", "cellar", "label", "hill", "sun", "rain"]


def sentence(i: int, word: str) -> str:
    return f"{RNG.choice(NOUNS)} and {RNG.choice(NOUNS)} were {word}, said {RNG.choice(NOUNS)} {i}"


REVIEWS = [sentence(i, ["awful", "lovely"][y]) for i, y in enumerate(Y)]
CHATTER = [sentence(i, str(RNG.choice(["awful", "lovely"]))) for i in range(N)]
CODES = [f"{['kx', 'qz'][y]}{chr(97 + RNG.integers(26))}{RNG.integers(9)}{RNG.integers(9)}" for y in Y]
X = RNG.normal(size=N).round(2)


def fitted(texts: list[str], y: Any = Y, **options: Any) -> TablePreparation:
    return TablePreparation(**options).fit({"x": X, "t": texts}, y)


def kinds(preparation: TablePreparation) -> list[str]:
    return [column.kind for column in preparation.map_.columns]


def test_the_commonest_words_are_taken_in_where_they_help() -> None:
    preparation = fitted(REVIEWS)
    assert kinds(preparation) == ["numeric", "words"]
    assert {"t has 'lovely'", "t has 'awful'"} <= set(preparation.get_feature_names_out())
    (note,) = preparation.notes_
    assert (note.code, note.facts["values"]) == ("words", 400)


def test_hashed_words_and_characters_are_taken_in_where_they_help() -> None:
    preparation = fitted(CODES)
    assert kinds(preparation) == ["numeric", "hashed"]
    assert preparation.notes_[0].code == "hashed"
    features = preparation.transform({"x": X, "t": CODES})[:, 1:]
    assert set(np.unique(features)) == {0.0, 1.0}
    new = preparation.transform({"x": [0, 0], "t": ["kxa77", "qza77"]})[:, 1:]
    assert (new[0] != new[1]).any()


def test_many_words_that_say_a_little_each_help_together() -> None:
    """A hundred words lean to a label, none of them by much; beside labels by chance they are left out."""
    rng = np.random.default_rng(2)
    words = np.array([f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(100)])
    has = rng.random((900, 100)) < 0.15
    y = (has @ rng.normal(size=100) + rng.normal(size=900) > 0).astype(int)
    table = {"x": rng.normal(size=900), "t": [" ".join(words[row]) for row in has]}
    chance = rng.permutation(y)
    assert kinds(TablePreparation().fit(table, y)) == ["numeric", "words"]
    assert kinds(TablePreparation().fit(table, chance)) == ["numeric"]


def test_text_that_does_not_help_is_left_out_with_a_note_and_taken_in_if_asked_for() -> None:
    preparation = fitted(CHATTER)
    assert kinds(preparation) == ["numeric"]
    (note,) = preparation.notes_
    assert (note.code, note.facts["values"]) == ("text that does not help", 400)
    assert "use='t'" in str(note)
    assert len(kinds(fitted(CHATTER, use="t"))) == 2


def test_text_that_says_what_another_column_says_is_no_help() -> None:
    table = {"x": Y + 0.01 * X, "t": REVIEWS}
    assert [column.name for column in TablePreparation().fit(table, Y).map_.columns] == ["x"]


def test_one_of_two_texts_that_say_the_same_is_enough() -> None:
    preparation = TablePreparation().fit({"one": REVIEWS, "two": REVIEWS}, Y)
    assert [column.name for column in preparation.map_.columns] == ["one"]


def test_a_count_of_the_rows_inside_a_text_does_not_tell_the_label_of_a_sorted_table() -> None:
    names = [f"row {i // 2 * 2:04d} of the table" for i in range(N)]
    assert kinds(fitted(names, np.sort(Y))) == ["numeric"]
    assert tokens_of("row 0017") == tokens_of("row 4321")


def test_several_classes_and_any_labels_are_taken() -> None:
    for labels in (np.array(["no", "yes"])[Y], Y.astype(float), 2.0 * Y - 1, np.where(np.arange(N) % 3, Y, 2)):
        assert kinds(fitted(REVIEWS, labels)) == ["numeric", "words"]


def test_without_labels_nothing_is_judged() -> None:
    assert kinds(fitted(CHATTER, None)) == ["numeric", "words"]
    assert kinds(fitted(CODES, None)) == ["numeric", "text"]


@pytest.mark.parametrize("texts", [REVIEWS, CODES], ids=["words", "hashed"])
def test_the_choice_repeats_in_every_library_and_is_stored(texts: list[str]) -> None:
    table = {"x": X, "t": [*texts[:-1], None]}
    preparation = TablePreparation().fit(table, Y)
    frame = pl.DataFrame(table)
    assert TablePreparation().fit(frame, Y).map_ == preparation.map_
    again = preparation_from_dict(preparation_to_dict(preparation))
    assert again == preparation.map_
    assert again.transform(frame).tobytes() == preparation.transform(table).tobytes()
    parts = [again.transform(frame[i]) for i in range(20)]
    assert np.vstack(parts).tobytes() == again.transform(frame[:20]).tobytes()


def test_no_bound_row_plays_a_part(split_as: Callable[..., None]) -> None:
    """Texts and labels of the bound rows may be anything: what becomes of the column does not change."""
    table = pl.DataFrame({"x": X, "t": REVIEWS})
    split_as(table, Y)
    settings: dict[str, Any] = {"preprocessor": TablePreparation(), "max_iter": 1, "random_state": 0}
    one = ABNetClassifier((2,), **settings).fit(table, Y)
    turned = Y.copy()
    texts = list(REVIEWS)
    turned[one.bound_rows_] = 1 - Y[one.bound_rows_]
    for row in one.bound_rows_:
        texts[row] = CHATTER[row]
    other = ABNetClassifier((2,), **settings).fit(table.with_columns(t=pl.Series(texts)), turned)
    assert preparation_to_dict(one.preprocessor_) == preparation_to_dict(other.preprocessor_)
    assert kinds(one.preprocessor_) == ["numeric", "words"]


def test_gains_are_those_of_ridge_regression_on_the_other_folds_with_the_better_of_two_penalties() -> None:
    features = RNG.normal(size=(N, 3)).astype(np.float32)
    targets = np.eye(2)[Y]
    left = unexplained([features[:, :1]], targets)
    gain, rest = gains(features[:, 1:], left)
    rests = {alpha: left.copy() for alpha in (10.0, 100.0)}
    for alpha, fold in itertools.product(rests, np.array_split(np.arange(N), 5)):
        others = np.setdiff1d(np.arange(N), fold)
        model = Ridge(alpha=alpha, solver="svd").fit(features[others, 1:].astype(float), left[others])
        rests[alpha][fold] -= model.predict(features[fold, 1:].astype(float))
    expected = min(rests.values(), key=lambda rest: float((rest**2).sum()))
    np.testing.assert_allclose(rest, expected, atol=1e-6)
    np.testing.assert_allclose(gain, (left**2).sum(1) - (expected**2).sum(1), atol=1e-6)


def test_noise_is_taken_in_seldom() -> None:
    """A gain of two standard errors is asked for, and 64 features that say nothing lose by being fitted."""
    rng = np.random.default_rng(1)
    taken = 0
    for _ in range(40):
        left = unexplained([], np.eye(2)[rng.integers(0, 2, 200)])
        gain, _ = gains(rng.integers(0, 2, (200, 64)).astype(np.float32), left)
        taken += gain.mean() > 2 * gain.std() / np.sqrt(200)
    assert taken <= 2


@pytest.mark.parametrize("change", [{"buckets": 0}, {"buckets": 64.0}, {"buckets": True}, {"missing": 1}, {"more": 1}])
def test_a_tampered_record_is_a_value_error(change: dict[str, Any]) -> None:
    record = preparation_to_dict(fitted(CODES))
    record["columns"][1] |= change
    with pytest.raises(ValueError, match="preparation"):
        preparation_from_dict(record)


def test_missing_text_has_a_feature_of_its_own() -> None:
    column = HashedColumn("t", 4, True)
    assert column.encode(as_table({"t": ["", None]}))[0].tolist() == [[0, 0, 0, 0, 1]] * 2
