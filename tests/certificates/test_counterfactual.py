"""The share of answers that depend on one column: what is counted, what is refused, and the promise."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

import abnet
from abnet.certificates.certificate import Certificate
from abnet.certificates.statements.counterfactual_share import CounterfactualShare
from abnet.utils.errors import ParameterError, TrainingRowsError
from broken_promise import breaks

DELTA = 0.2
REPETITIONS = 140
N = 200


def depends(X: Any) -> NDArray[Any]:
    """Answers that depend on the first column where the second is below .1."""
    return X[:, 0] * (X[:, 1] < 0.1)


def draw(rng: np.random.Generator) -> NDArray[np.float64]:
    return np.column_stack([rng.integers(2, size=N), rng.random(N)]).astype(float)


def share(made: Certificate) -> CounterfactualShare:
    (statement,) = made.each(CounterfactualShare)
    return statement


def test_the_share_is_bounded_as_promised(rng: np.random.Generator) -> None:
    """The mutant takes the observed share, the trap the column among ten that changes fewest answers here."""
    failures = dict.fromkeys(("certified", "observed", "chosen"), 0)
    for _ in range(REPETITIONS):
        made = share(abnet.certify_counterfactual(depends, draw(rng), 0, values=[0.0, 1.0], delta=DELTA))
        failures["certified"] += (made.value or 0.0) < 0.1
        failures["observed"] += made.changed / made.n < 0.1
        changed = int(rng.binomial(N, 0.1, size=10).min())
        chosen = CounterfactualShare.from_counts(column="x", values=("0", "1"), changed=changed, n=N, delta=DELTA)
        failures["chosen"] += (chosen.value or 0.0) < 0.1
    broken = {name for name, number in failures.items() if breaks(number, REPETITIONS, DELTA)}
    assert broken == {"observed", "chosen"}


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_rows_are_counted_in_any_form(rng: np.random.Generator, kind: str) -> None:
    X = draw(rng)
    expected = int(np.sum(X[:, 1] < 0.1))
    columns = {"sex": X[:, 0], "x": X[:, 1]}
    forms: dict[str, Any] = {"array": X, "pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns)}

    def model(rows: Any) -> NDArray[Any]:
        if kind == "array":
            return depends(rows)
        return depends(np.column_stack([np.asarray(rows["sex"]), np.asarray(rows["x"])]))

    column: str | int = 0
    if kind != "array":
        column = "sex"
    made = abnet.certify_counterfactual(model, forms[kind], column, values=[0.0, 1.0])
    assert (share(made).changed, share(made).n) == (expected, N)
    assert Certificate.from_dict(made.to_dict()) == made


def test_a_failing_answer_is_another_answer() -> None:
    def model(X: Any) -> NDArray[Any]:
        if ((X[:, 0] > 1) & (X[:, 1] < 15)).any():
            raise ValueError("unknown code")
        return np.zeros(len(X))

    rows = np.column_stack([np.zeros(40), np.arange(40.0)])
    assert share(abnet.certify_counterfactual(model, rows, 0, values=[0.0, 2.0])).changed == 15


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, pd.DataFrame]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": rng.normal(size=400), "sex": rng.choice(["f", "m"], 400), "smokes": rng.random(400) < 0.5}
    )
    y = np.where(frame["x"] + (frame["sex"] == "m") > 0.5, "ill", "well")
    options: dict[str, Any] = {"teacher": None, "max_iter": 20}
    return abnet.CertifiedClassifier((4,), **options, random_state=0).fit(frame[:200], y[:200]), frame


@pytest.mark.parametrize(("column", "values"), [("sex", ("f", "m")), ("smokes", (False, True))])
def test_an_abnet_model_knows_the_values(
    fitted: tuple[Any, pd.DataFrame], column: str, values: tuple[Any, ...]
) -> None:
    clf, frame = fitted
    new = frame[200:]
    made = abnet.certify_counterfactual(clf, new, column)
    own = clf.predict(new)
    others = [clf.predict(new.assign(**{column: value})) for value in values]
    assert share(made).changed == int(np.any([own != other for other in others], axis=0).sum())
    assert share(made).values == tuple(map(str, values))
    assert made.model == clf.model_.digest


def test_what_nobody_declared_is_refused(fitted: tuple[Any, pd.DataFrame]) -> None:
    clf, frame = fitted
    with pytest.raises(ParameterError, match="'x'"):
        abnet.certify_counterfactual(clf, frame[200:], "x")
    with pytest.raises(ParameterError, match="values"):
        abnet.certify_counterfactual(depends, np.zeros((9, 2)), 0)


def test_training_rows_are_recognised_without_labels(fitted: tuple[Any, pd.DataFrame]) -> None:
    clf, frame = fitted
    with pytest.raises(TrainingRowsError):
        abnet.certify_counterfactual(clf, frame[:200], "sex")
