"""Tables larger than memory: some rows train, all others are read in blocks and certify."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import abnet
from abnet import ABNetClassifier, CertifiedClassifier, PBGNetClassifier, fit_table
from abnet.bounds import clopper_pearson_bound
from abnet.bounds.betting import betting_bound
from abnet.certificates import row_hashes, row_order
from abnet.certificates.copied_rows import CopiesInStream
from abnet.certificates.goals import Costs, TargetError
from abnet.estimators import held_out_blocks
from abnet.tables import TableError
from abnet.tables.loaded_rows import load_rows
from abnet.tables.notes import NoteWarning
from abnet.tables.preparation import TablePreparation, UnseenWarning
from abnet.tables.target_bins import bin_names
from abnet.utils.errors import ParameterError, TrainingRowsError

SMALL: Any = {"hidden_layer_sizes": (2,), "max_iter": 4, "random_state": 0}
N = 3000
MOST = 250


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=N).round(3)
    labels = np.where(x + 0.5 * rng.normal(size=N) > 0, "up", "down")
    return pl.DataFrame({"x": x, "city": rng.choice(["Oslo", "Bergen"], N), "note": "same", "y": labels})


def pieces(frame: pl.DataFrame, size: int = 257) -> Iterator[pl.DataFrame]:
    return (frame.slice(start, size) for start in range(0, frame.height, size))


@pytest.fixture(scope="module")
def fitted(frame: pl.DataFrame) -> Any:
    return fit_table(pieces(frame), "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)


def test_the_certificate_is_what_the_other_rows_show(frame: pl.DataFrame, fitted: Any) -> None:
    """Which rows were counted follows from what they hold; their errors are counted again here, one by one."""
    counted = frame.filter(~learning(frame))
    assert counted.height == N - MOST
    answers = fitted.predict(counted.drop("y"))
    labels = counted["y"].to_numpy()
    errors = sum(a != b for a, b in zip(answers, labels, strict=True))
    certificate = fitted.certificate_
    assert (sum(certificate.facts.class_errors), certificate.facts.n_rows) == (errors, N - MOST)
    assert certificate.vote_error_bound == clopper_pearson_bound(errors, N - MOST, 0.05)
    shares = fitted.predict_proba(counted.drop("y"))
    losses = 1 - shares[np.arange(len(labels)), (labels == "up").astype(int)]
    assert certificate.empirical_gibbs_risk == pytest.approx(losses.mean(), rel=1e-11)
    in_order = order(frame)[MOST:]
    in_order = np.searchsorted(np.sort(in_order), in_order)
    assert certificate.gibbs_risk_bound == pytest.approx(betting_bound(losses[in_order], 0.05), rel=1e-9)
    assert [part.n_examples for part in certificate.per_class] == [np.sum(labels == c) for c in ("down", "up")]
    assert certificate.facts.classes == ("down", "up")


def test_the_rows_that_count_teach_nothing(frame: pl.DataFrame, fitted: Any, split_as: Any) -> None:
    learns = learning(frame)
    split_as(frame.drop("y"), signs(frame))
    opposite = pl.col("y").replace_strict({"up": "down", "down": "up"})
    changed = frame.with_columns(
        y=pl.when(pl.lit(learns)).then("y").otherwise(opposite),
        city=pl.when(pl.lit(learns)).then("city").otherwise(pl.lit("Tromsø")),
    )
    with pytest.warns(UnseenWarning, match="'Tromsø'"):
        other = fit_table(changed, "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)
    for name, array in fitted.model_.predictor.arrays().items():
        assert array.tobytes() == other.model_.predictor.arrays()[name].tobytes()
    assert other.certificate_ is not None
    assert sum(other.certificate_.facts.class_errors) > sum(fitted.certificate_.facts.class_errors)


def test_every_way_to_give_a_table(frame: pl.DataFrame, fitted: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame.write_csv(path)
    frame.write_parquet(path.with_suffix(".parquet"))
    in_pandas = [pd.DataFrame(piece.to_dict(as_series=False)) for piece in pieces(frame, 900)]
    for table in (path, str(path.with_suffix(".parquet")), frame, list(pieces(frame)), iter(in_pandas)):
        again = fit_table(table, "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)
        mine = again.certificate_
        theirs = fitted.certificate_
        assert mine is not None
        assert mine.facts == theirs.facts
        assert mine.gibbs_risk_bound == pytest.approx(theirs.gibbs_risk_bound, rel=1e-9)  # sums of other batches


def test_the_model_file_has_the_certificate(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.abnet")
    loaded = abnet.load(tmp_path / "m.abnet")
    assert loaded.certificate_ == fitted.certificate_
    assert loaded.card.n_counted_rows == N - MOST
    assert "prior_fraction" not in (loaded.card.settings or {})  # nobody has set it


def test_a_small_table_is_fitted_as_ever(frame: pl.DataFrame) -> None:
    from abnet.tables.preparation import TablePreparation

    some = frame.head(300)
    ours = fit_table(some, "y", estimator=ABNetClassifier(**SMALL))
    usual = ABNetClassifier(**SMALL, preprocessor=TablePreparation()).fit(some.drop("y"), some["y"].to_numpy())
    assert ours.certificate_ is not None
    assert usual.certificate_ is not None
    assert ours.certificate_.statements == usual.certificate_.statements
    assert ours.certificate_.facts == usual.certificate_.facts
    assert np.array_equal(ours.bound_rows_, usual.bound_rows_)


def test_columns_may_be_dropped(frame: pl.DataFrame) -> None:
    clf = fit_table(frame, "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST, drop=["city"])
    assert [column.name for column in clf.model_.preparation.columns] == ["x"]
    with pytest.raises(TableError, match=r"drop.*'town'"):
        fit_table(frame, "y", drop=["town"])


def order(frame: pl.DataFrame) -> NDArray[np.intp]:
    """The rows in the order of their hashes."""
    return row_order(row_hashes(frame.drop("y"), signs(frame)), 0)


def signs(frame: pl.DataFrame) -> NDArray[np.float64]:
    """The labels as they are hashed."""
    return np.where(frame["y"] == "up", 1.0, -1.0)


def learning(frame: pl.DataFrame) -> NDArray[np.bool_]:
    """Which rows learn: the first in the order of their hashes."""
    return np.isin(np.arange(N), order(frame)[:MOST])


def test_counted_rows_that_choose_among_models_cannot_certify_the_choice(frame: pl.DataFrame, fitted: Any) -> None:
    """As in a fit in memory: the rows of a choice are used up, and those of a single model are not."""
    counted = frame.filter(~learning(frame))
    again: Any = abnet.certify_table(fitted.model_, counted, truth="y").made
    assert again.facts.n_rows == N - MOST
    chosen = ABNetClassifier(**SMALL, n_candidates=2)
    model = fit_table(pieces(frame), "y", estimator=chosen, max_learn_rows=MOST).model_
    for given in (counted, counted.head(300), frame.filter(learning(frame))):
        with pytest.raises(TrainingRowsError):
            abnet.certify_table(model, given, truth="y")
    new = frame.with_columns(pl.col("x") + 0.0005)
    other: Any = abnet.certify_table(model, new, truth="y").made
    assert other.facts.n_rows == N


def relabelled(frame: pl.DataFrame, label: str, count: int) -> tuple[pl.DataFrame, NDArray[np.intp]]:
    """The table with another label in some of the rows that are counted, and those rows."""
    rows = np.flatnonzero(~learning(frame))[-count:]
    labels = frame["y"].to_list()
    for row in rows:
        labels[row] = label
    return frame.with_columns(y=pl.Series(labels)), rows


@pytest.mark.parametrize("most", [600, 10**6])
def test_copies_are_told_though_the_rows_are_not_kept(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Six copies of each row, in any order: of the rows that learn, some have one copy there and others three."""
    monkeypatch.setattr(held_out_blocks, "CopiesInStream", lambda owners: CopiesInStream(owners, most))
    repeated = pl.concat([frame.unique("x", maintain_order=True).head(500)] * 6)
    table = repeated.sample(fraction=1.0, shuffle=True, seed=0)
    with pytest.warns(UserWarning, match="class down .*6 times"):
        fit_table(pieces(table), "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)


def test_a_missing_label_among_the_counted_rows_is_named(frame: pl.DataFrame, split_as: Any) -> None:
    split_as(frame.drop("y"), signs(frame))
    table, rows = relabelled(frame, "", 1)
    with pytest.raises(TableError, match=f"data row {rows[0] + 1}"):
        fit_table(table, "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST, missing_label="error")
    with pytest.warns(NoteWarning, match="1 row"):
        clf = fit_table(table, "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)
    assert clf.certificate_ is not None
    assert clf.certificate_.facts.n_rows == N - MOST - 1


def test_a_label_first_met_among_the_counted_rows_is_an_error(frame: pl.DataFrame, fitted: Any, split_as: Any) -> None:
    """Neither dropped nor refused: every answer to it errs, and that is said."""
    split_as(frame.drop("y"), signs(frame))
    table, rows = relabelled(frame, "sideways", 30)
    with pytest.warns(UserWarning, match="30 held-out rows"):
        clf = fit_table(table, "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)
    was = frame[rows.tolist()]
    right = np.sum(fitted.predict(was.drop("y")) == was["y"].to_numpy())
    certificate: Any = clf.certificate_
    assert certificate.facts.n_rows == N - MOST
    assert sum(certificate.facts.class_errors) == sum(fitted.certificate_.facts.class_errors) + right
    assert certificate.facts.classes == ("down", "up", "another label")
    assert [part.vote_errors for part in certificate.per_class][-1] == 30
    assert certificate.empirical_gibbs_risk > fitted.certificate_.empirical_gibbs_risk
    certificate.check()


@pytest.mark.parametrize(
    "settings",
    [{"prior": "init"}, {"posterior": "train"}, {"objective": "loss"}],
    ids=str,
)
def test_what_needs_all_rows_in_memory_is_refused(frame: pl.DataFrame, settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="memory"):
        fit_table(frame, "y", estimator=ABNetClassifier(**SMALL, **settings), max_learn_rows=MOST)


class Relative(TablePreparation):
    """Numbers relative to the other rows: what is counted in blocks is not what `predict` says of a row."""

    def transform(self, X: Any) -> Any:
        features = super().transform(X)
        return features - features.mean(axis=0)


@pytest.mark.parametrize("preprocessor", [StandardScaler(), Relative()])
def test_what_may_not_map_row_by_row_is_refused_where_rows_are_counted(frame: pl.DataFrame, preprocessor: Any) -> None:
    given = ABNetClassifier(**SMALL, preprocessor=preprocessor)
    with pytest.raises(ParameterError, match=r"preprocessor.*'auto'"):
        fit_table(frame, "y", estimator=given, max_learn_rows=MOST)


def test_wrong_use(frame: pl.DataFrame) -> None:
    with pytest.raises(ParameterError, match="max_learn_rows"):
        fit_table(frame, "y", max_learn_rows=0)
    with pytest.raises(TypeError, match="path"):
        fit_table(3, "y")
    with pytest.raises(TypeError, match="LogisticRegression"):
        fit_table(frame, "y", estimator=LogisticRegression())


def test_a_classifier_without_the_parameter_classes_takes_a_cut_target(frame: pl.DataFrame) -> None:
    numbers = frame.head(200).drop("y")
    small = PBGNetClassifier((2,), max_iter=1, random_state=0)
    with pytest.warns(NoteWarning):
        clf = fit_table(numbers, numbers.columns[0], estimator=small, bins=(0.0,))
    assert clf.classes_.tolist() == sorted(bin_names((0.0,)))


MIXTURE: Any = {**SMALL, "n_estimators": 2, "teacher": None, "preprocessor": TablePreparation()}


@pytest.mark.parametrize("target_error", [None, 0.3])
def test_prepared_rows_take_the_place_of_the_frame(frame: pl.DataFrame, target_error: float | None) -> None:
    part = load_rows(lambda: [frame], "y", max_learn_rows=N, share=0.5, seed=0)
    whole = part.X.clone()
    goal = None if target_error is None else TargetError(target_error)
    classifier = CertifiedClassifier(decision=goal, **MIXTURE)
    features = classifier._fit(part.X, part.y, emptied=True).rows.features
    parts = (classifier.other_rows_, features.first), (classifier.bound_rows_, features.bound)
    for rows, prepared in parts:
        np.testing.assert_array_equal(prepared, classifier.preprocessor_.transform(whole[rows]))
    assert part.X.width == 0
    assert frame.width == 4


def test_one_network_takes_the_place_of_the_frame_too(frame: pl.DataFrame) -> None:
    part = load_rows(lambda: [frame], "y", max_learn_rows=N, share=0.5, seed=0)
    classifier = ABNetClassifier(**SMALL, preprocessor=TablePreparation())
    features = classifier._fit(part.X, part.y, emptied=True).rows.features
    assert len(features.first) + len(features.bound) == N
    assert part.X.width == 0


@pytest.mark.parametrize("most", [MOST, N])
def test_the_frames_of_the_caller_are_not_touched(frame: pl.DataFrame, most: int) -> None:
    given = frame.clone()
    fit_table([given], "y", estimator=CertifiedClassifier(**MIXTURE), max_learn_rows=most)
    assert given.equals(frame)


MANY: Any = {"n_estimators": 2, "teacher": None, "max_iter": 3, "random_state": 0}
ALIKE: dict[str, Any] = {
    "mixture with codes": CertifiedClassifier((2,), codes="thermometer", **MANY),
    "wide members": CertifiedClassifier((20,), **MANY),
    "one of three models": CertifiedClassifier((2,), n_candidates=3, **MANY),
    "abstaining": CertifiedClassifier((2,), decision=TargetError(0.15), **MANY),
    "costs": CertifiedClassifier((2,), decision=Costs({("up", "down"): 1.0, ("down", "up"): 4.0}), **MANY),
    "one network": ABNetClassifier(**SMALL),
    "paths": ABNetClassifier(**SMALL, aggregation="ancestral", n_samples=10),
}


def plain(value: Any) -> Any:
    """Plain values in which floats that differ by rounding are equal."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-8)
    return value


@pytest.mark.parametrize("estimator", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("several", [False, True])
def test_rows_in_blocks_give_what_rows_in_memory_give(
    frame: pl.DataFrame, estimator: Any, several: bool, tmp_path: Path
) -> None:
    """The same split, model, decision, certificate, drawn network and rows that may not certify again."""
    if several:
        if isinstance(estimator, ABNetClassifier) or getattr(estimator, "decision", None) is not None:
            pytest.skip("for two classes")
        third = pl.when(pl.col("x").abs() < 0.2).then(pl.lit("level")).otherwise("y")
        frame = frame.with_columns(y=third)
    whole: Any = fit_table(frame, "y", estimator=estimator, output=tmp_path / "whole")
    parts: Any = fit_table(pieces(frame), "y", estimator=estimator, output=tmp_path / "parts", max_learn_rows=N - 1)
    assert not hasattr(parts, "bound_rows_")
    for name, array in whole.model_.predictor.arrays().items():
        np.testing.assert_array_equal(parts.model_.predictor.arrays()[name], array)
    assert parts.model_.decision == whole.model_.decision
    sampled = getattr(estimator, "aggregation", None) == "ancestral"  # other paths are drawn for other blocks
    if sampled:
        risk = whole.certificate_.empirical_gibbs_risk
        assert parts.certificate_.vote_error_bound == whole.certificate_.vote_error_bound
        assert parts.certificate_.empirical_gibbs_risk == pytest.approx(risk, abs=0.01)
    else:
        assert parts.certificate_.to_dict() == plain(whole.certificate_.to_dict())
    assert parts.draw_network().certificate == whole.draw_network().certificate
    mine = parts.model_.card
    theirs = whole.model_.card
    assert (mine.n_training_rows, mine.n_counted_rows, theirs.n_training_rows) == (N // 2, N // 2, N) or several
    for name in (
        "recipe",
        "parameters",
        "row_filter",
        "rivals",
        "training_inputs",
        "background",
        "trade_offs",
        "sizes",
    ):
        assert getattr(mine, name) == getattr(theirs, name), name


def test_a_stream_of_few_different_rows_names_its_whole_table(frame: pl.DataFrame) -> None:
    """Every new row equals a training row here, so only the fingerprint of all rows can tell that they are reused."""
    few = frame.select(a=pl.col("x") > 0, b=pl.col("x").abs() > 0.5, y="y")
    model = fit_table(pieces(few), "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST).model_
    for reused in (few, few.sample(fraction=1.0, shuffle=True, seed=1), few.filter(learning(few))):
        with pytest.raises(TrainingRowsError):
            abnet.certify_table(model, reused, truth="y")
    other: Any = abnet.certify_table(model, few.head(N - 1), truth="y").made
    assert other.facts.n_rows == N - 1


@pytest.mark.parametrize("most", [400, 10**6])
def test_many_copies_of_measured_rows_are_told_though_the_rows_are_not_kept(
    frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(held_out_blocks, "CopiesInStream", lambda owners: CopiesInStream(owners, most))
    rng = np.random.default_rng(1)
    measured = pl.DataFrame({"y": frame["y"], **{name: rng.normal(size=N) for name in "uvw"}})
    table = pl.concat([measured, measured.head(800)]).sample(fraction=1.0, shuffle=True, seed=0)
    with pytest.warns(UserWarning, match="copies"):
        fit_table(pieces(table), "y", estimator=ABNetClassifier(**SMALL), max_learn_rows=MOST)
