"""A fit that trains on the past and certifies on the latest rows: arrays, frames, streams and the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import abnet
from abnet import ABNetClassifier, CertifiedClassifier, PBGNetClassifier, fit_table
from abnet.certificates.goals import TargetError
from abnet.cli.app import app
from abnet.tables import TableError
from abnet.utils.errors import ParameterError

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 2)).round(3)
WEEK = RNG.integers(0, 40, N)
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=N) > 0, "yes", "no")
DATES = np.datetime64("2024-01-01") + 7 * WEEK
SMALL: dict[str, Any] = {"max_iter": 4, "random_state": 0}


def small(**options: Any) -> CertifiedClassifier:
    return CertifiedClassifier((3,), **{"preprocessor": "standardise", **SMALL, **options})


@pytest.fixture(scope="module")
def fitted() -> Any:
    return small().fit(X, Y, time=DATES)


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return pl.DataFrame({"when": DATES.astype(str), "a": X[:, 0], "b": X[:, 1], "y": Y})


def test_past_and_future(fitted: Any) -> None:
    last = DATES[fitted.other_rows_].max()
    assert last < DATES[fitted.bound_rows_].min()
    assert fitted.certificate_.facts.period == fitted.model_.card.period == f"after {last}"
    words = " ".join(str(fitted.certificate_).split())
    assert f"if the future is like the rows after {last}" in words
    assert f"{len(fitted.bound_rows_)} rows after {last}" in words


def test_the_certificate_counts_the_latest_rows(fitted: Any) -> None:
    later = DATES[fitted.other_rows_].max() < DATES
    errors = int(np.sum(fitted.predict(X[later]) != Y[later]))
    facts = fitted.certificate_.facts
    assert (facts.errors_of(None), facts.n_rows) == (errors, int(later.sum()))
    assert fitted.draw_network().certificate.facts.period == facts.period
    confusion = fitted.confusion(X, Y, fitted=True)
    assert (confusion.facts.n_rows, confusion.facts.period) == (facts.n_rows, facts.period)


def test_the_order_of_the_file_does_not_matter(fitted: Any) -> None:
    for order in (np.argsort(WEEK, kind="stable"), np.argsort(Y, kind="stable")):
        other = small().fit(X[order], Y[order], time=DATES[order])
        assert other.model_.digest == fitted.model_.digest
        assert other.certificate_ == fitted.certificate_


def test_later_rows_teach_nothing(fitted: Any) -> None:
    """Training, early stopping and the preparation see the past only: other cells and labels leave the model as it is.

    The order of the past is keyed by the rows of the past.
    """
    later = DATES[fitted.other_rows_].max() < DATES
    changed = X.copy()
    changed[later] += 5.0
    labels = Y.copy()
    labels[later] = np.where(Y[later] == "yes", "no", "yes")
    other = small().fit(changed, labels, time=DATES)
    assert other.model_.digest == fitted.model_.digest
    assert other.certificate_ != fitted.certificate_


def test_a_column_of_a_frame_is_not_a_feature(table: pl.DataFrame) -> None:
    options: dict[str, Any] = {"preprocessor": "table"}
    rows = table.drop("y")
    named = small(**options).fit(rows, Y, time="when")
    beside = small(**options).fit(rows.drop("when"), Y, time=rows["when"])
    assert named.model_.digest == beside.model_.digest
    assert list(named.feature_names_in_) == ["a", "b"]
    assert named.certificate_ == beside.certificate_
    np.testing.assert_array_equal(named.predict(rows), named.predict(rows.drop("when")))
    in_pandas = pd.DataFrame({"when": pd.to_datetime(DATES), "a": X[:, 0], "b": X[:, 1]})
    assert small(**options).fit(in_pandas, Y, time="when").certificate_ == named.certificate_
    with pytest.raises(ParameterError, match="'day'"):
        small(**options).fit(rows, Y, time="day")


@pytest.mark.parametrize(
    "classifier", [ABNetClassifier((2,), **SMALL), ABNetClassifier((2,), posterior="train", **SMALL),
                   PBGNetClassifier((2,), **SMALL)]
)  # fmt: skip
def test_the_papers_networks(classifier: Any) -> None:
    made = classifier.fit(X, Y, time=WEEK)
    assert WEEK[made.other_rows_].max() < WEEK[made.bound_rows_].min()
    assert made.certificate_.facts.period == f"with time after {WEEK[made.other_rows_].max()}"


@pytest.mark.parametrize("options", [{"prior": "init"}, {"objective": "loss"}])
def test_without_a_first_part_there_is_no_past(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="time"):
        ABNetClassifier((2,), **options, **SMALL).fit(X, Y, time=WEEK)


def test_groups() -> None:
    """Groups that end before others begin can be split by time; a group with rows on both sides is refused."""
    visits: Any = small().fit(X, Y, groups=WEEK // 4, time=WEEK)
    groups = WEEK // 4
    assert not set(groups[visits.other_rows_]) & set(groups[visits.bound_rows_])
    assert visits.certificate_.facts.period is not None
    assert visits.certificate_.facts.n_groups == len(set(groups[visits.bound_rows_]))
    with pytest.raises(ValueError, match="both sides"):
        small().fit(X, Y, groups=np.arange(N) % 30, time=WEEK)


def test_what_is_no_time() -> None:
    with pytest.raises(TableError, match="data row 3"):
        small().fit(X, Y, time=[*DATES[:2].astype(str), "soon", *DATES[3:].astype(str)])
    with pytest.raises(ValueError, match="inconsistent"):
        small().fit(X, Y, time=WEEK[:-1])


def test_a_goal_is_about_the_period() -> None:
    """Thresholds come from validation rows of the past, and the latest rows test them."""
    made: Any = small(decision=TargetError(0.2)).fit(X, Y, time=WEEK)
    assert made.model_.decision.kind == "abstain"
    assert WEEK[made.other_rows_].max() < WEEK[made.bound_rows_].min()
    assert "if the future is like" in made.certificate_.statements[-1].sentence(made.certificate_.facts)


def test_a_stream_has_the_split_of_the_same_rows_in_memory(table: pl.DataFrame) -> None:
    most = 150
    pieces = (table.slice(start, 37) for start in range(0, N, 37))
    streamed: Any = fit_table(pieces, "y", estimator=ABNetClassifier((2,), **SMALL), max_learn_rows=most, time="when")
    # The stream's past ends earlier than a share of most / N, if there may be no room for another week.
    fraction = 1 - streamed.certificate_.facts.n_rows / N
    whole: Any = fit_table(
        table, "y", estimator=ABNetClassifier((2,), prior_fraction=fraction, **SMALL), max_learn_rows=N, time="when"
    )
    assert streamed.certificate_.facts.period == whole.certificate_.facts.period
    assert streamed.certificate_.facts == whole.certificate_.facts
    assert streamed.certificate_.vote_error_bound == whole.certificate_.vote_error_bound
    assert streamed.certificate_.gibbs_risk_bound == pytest.approx(whole.certificate_.gibbs_risk_bound, rel=1e-12)
    assert streamed.model_.digest == whole.model_.digest
    assert len(whole.other_rows_) <= most
    assert streamed.model_.card.time == "when"


def test_roles_of_the_column(table: pl.DataFrame) -> None:
    for options in ({"time": "y"}, {"time": "when", "drop": ["when"]}, {"time": "when", "group": "when"}):
        with pytest.raises(ParameterError):
            fit_table(table, "y", estimator=small(), **options)
    with pytest.raises(ParameterError, match="no column"):
        fit_table(table, "y", estimator=small(), time="day")
    with pytest.raises(ParameterError, match="quantiles"):
        fit_table(table.drop("y"), "a", estimator=small(), time="when", bins=2)


def test_from_the_command_line(table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    model = tmp_path / "m.abnet"
    table.write_csv(path)
    options = ["--random-state", "0", "--hidden-layer-sizes", "3", "--max-iter", "4", "--json", "-q"]
    fit = CliRunner().invoke(app, ["fit", str(path), "--target", "y", "--time", "when", "-o", str(model), *options])
    assert fit.exit_code == 0, fit.output
    loaded: Any = abnet.load(model)
    period = loaded.certificate.facts.period
    assert json.loads(fit.stdout)["certificate"]["facts"]["period"] == period
    assert loaded.card.time == "when"
    shown = CliRunner().invoke(app, ["inspect", str(model)])
    assert f"certified on rows {period}" in " ".join(shown.stdout.split())
    # A later table is a test set like any other, with or without the column.
    for frame in (table, table.drop("when")):
        frame = frame.with_columns(a=pl.col("a") + 0.0001)
        frame.write_csv(tmp_path / "later.csv")
        result = CliRunner().invoke(app, ["certify", str(model), str(tmp_path / "later.csv"), "--json"])
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["certificate"]["facts"].get("period") is None
