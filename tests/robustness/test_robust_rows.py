"""Rows under a tolerance, in the columns of a table: no attack flips a certified row, and every reported flip flips."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from abnet import CertifiedClassifier, Costs
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.robustness.robust_rows import RobustRows, robust_rows
from abnet.tables.columns import NumericColumn
from abnet.tables.preparation import StandardMap
from robustness.networks import random_model

N = 400
TOLERANCE: dict[str, str | float] = {"age": 4, "income": "10%", "size": "20%sd"}


def table(rng: np.random.Generator, n: int = N) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": np.exp(rng.normal(7, 1, n)).round(2),
            "size": rng.normal(size=n).round(3),
            "city": rng.choice(["Oslo", "Rome", "Lima"], n),
            "member": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    return frame


def labels(frame: pd.DataFrame, rng: np.random.Generator) -> NDArray[np.str_]:
    score = (
        (frame["age"] - 50) / 10 + np.log(frame["income"]) - 7 + (frame["city"] == "Rome") - (frame["member"] == "yes")
    )
    return np.where(score + 0.5 * rng.normal(size=len(frame)) > 0, "ill", "well")


@pytest.fixture(scope="module")
def fitted() -> Model:
    rng = np.random.default_rng(3)
    frame = table(rng)
    classifier = CertifiedClassifier((3,), n_estimators=2, codes="thermometer", max_iter=30, random_state=0)
    return classifier.fit(frame, labels(frame, rng)).model_


def attacked(frame: pd.DataFrame, rng: np.random.Generator, model: Model, free: tuple[str, ...]) -> pd.DataFrame:
    """Random points and corners of the tolerance, computed from the cells."""
    found = frame.copy()
    sizes_column = next(column for column in model.preparation.columns if column.name == "size")
    assert isinstance(sizes_column, NumericColumn)
    sd = float(sizes_column.scale or 0.0)
    sizes: dict[str, Any] = {"age": 4.0, "income": 0.1 * frame["income"], "size": 0.2 * sd}
    corner = rng.random() < 0.5
    for name, size in sizes.items():
        away = rng.uniform(-1, 1, len(frame))
        if corner:
            away = rng.choice([-1.0, 1.0], len(frame))
        found[name] = frame[name] + size * away
    if "city" in free:
        found["city"] = rng.choice(["Oslo", "Rome", "Lima", "Cairo"], len(frame))
    if "member" in free:
        found["member"] = rng.choice(["yes", "no"], len(frame))
    return found


@pytest.mark.parametrize("free", [(), ("city", "member")])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_attack_flips_a_certified_row(fitted: Model, free: tuple[str, ...], seed: int) -> None:
    rng = np.random.default_rng([seed, 8])
    frame = table(rng, 150)
    found = robust_rows(fitted, frame, tolerance=TOLERANCE, free=free)
    assert min(found.count("robust"), found.count("flipped")) > 5
    answers = fitted.predict(frame)
    assert [row.answer for row in found.rows] == answers.tolist()
    for _ in range(60):
        changed = fitted.predict(attacked(frame, rng, fitted, free)) != answers
        assert not changed[found.fixed].any()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_reported_point_flips_its_row(fitted: Model, seed: int) -> None:
    rng = np.random.default_rng([seed, 9])
    frame = table(rng, 120)
    found = robust_rows(fitted, frame, tolerance=TOLERANCE, free=("city",))
    for place, row in enumerate(found.rows):
        if row.changed is None:
            continue
        other = frame.iloc[[place]].copy()
        for name, cell in row.changed.items():
            other[name] = cell
        assert fitted.predict(other)[0] != row.answer
        for name, cell in row.changed.items():
            if name == "age":
                assert abs(float(cell) - frame["age"].iloc[place]) <= 4 + 1e-9


def test_missing_cells_stay_missing(fitted: Model) -> None:
    frame = table(np.random.default_rng(1), 40)
    found = robust_rows(fitted, frame, tolerance={"size": "300%sd"})
    for row, missing in zip(found.rows, frame["size"].isna(), strict=True):
        if missing:
            assert row.verdict == "robust"


def test_without_a_tolerance_every_row_is_robust(rng: np.random.Generator) -> None:
    model = random_model(rng, 2, 1, 2)
    found = robust_rows(model, rng.normal(size=(30, 2)), tolerance=0)
    assert found.fixed.all()


def test_exports(fitted: Model) -> None:
    found = robust_rows(fitted, table(np.random.default_rng(2), 30), tolerance="age=4,*=10%sd", free=("city",))
    record = found.to_dict()
    assert record["robust"] + record["flipped"] + record["open"] == 30
    assert record["tolerance"] == {"age": "4", "*": "10%sd"}
    assert len(found.to_csv().splitlines()) == 31
    assert isinstance(found, RobustRows)


@pytest.mark.parametrize(
    ("tolerance", "free", "said"),
    [
        ({"agee": 1}, (), "agee"),
        ({"city": 1}, (), "city"),
        ({}, ("age",), "age"),
        ("age", (), "age"),
        ({"age": -1}, (), "-1"),
        ({"city": 1}, ("city",), "city"),
    ],
)
def test_what_is_not_supported_is_named(
    fitted: Model, tolerance: dict[str, float], free: tuple[str, ...], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        robust_rows(fitted, table(np.random.default_rng(2), 5), tolerance=tolerance, free=free)


def test_what_cannot_be_computed_is_never_robust() -> None:
    """Tolerances beyond the range of float32 leave rows open or flipped; rows without an answer are refused."""
    model = Model(Compact(np.array([[[3.0, 0.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    for row, tolerance in (([0.5, 1.0], {"x0": 1e39}), ([3e38, 1.0], {"x0": "150%"}), ([3e38, 1.0], {"x0": "50%"})):
        found = robust_rows(model, np.array([row]), tolerance=tolerance)
        assert found.rows[0].verdict != "robust"
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="row 1"):
            robust_rows(model, np.array([[0.5, 1.0], [value, 1.0]]), tolerance=0.1)


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (1e9, 1e-3), (1e6, 1e-2), (-3e-7, 1e-9)])
def test_a_point_is_printed_with_enough_digits_to_flip(mean: float, deviation: float) -> None:
    """Twelve digits of a number near a billion say nothing of its thousandths."""
    predictor = Compact(np.array([[[40.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    model = Model(predictor, preparation=StandardMap((mean,), (deviation,)))
    rows = mean + deviation * np.random.default_rng(3).normal(size=(60, 1))
    found = robust_rows(model, rows, tolerance=0.3 * deviation)
    flipped = [(place, row) for place, row in enumerate(found.rows) if row.changed is not None]
    assert len(flipped) > 5
    for place, row in flipped:
        assert row.changed is not None
        (cell,) = row.changed.values()
        read = float(repr(float(cell)))
        assert model.predict(np.array([[read]]))[0] != row.answer
        assert abs(read - rows[place, 0]) <= 0.3 * deviation + 2.0 * np.spacing(abs(mean) + deviation)


def test_a_decision_is_named_as_the_reason() -> None:
    """A model fitted with costs was told to fit without a target."""
    rng = np.random.default_rng(3)
    frame = table(rng)
    goal = Costs({("ill", "well"): 5.0, ("well", "ill"): 1.0})
    clf = CertifiedClassifier((3,), decision=goal, max_iter=5, random_state=0).fit(frame, labels(frame, rng))
    with pytest.raises(ValueError, match="without costs"):
        robust_rows(clf, frame, tolerance="age=1")
