"""Planned numbers of rows: against a search over all numbers, and as a promise where the rates are known."""

import json
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtr
from typer.testing import CliRunner

import abnet
from abnet.bounds.clopper_pearson import clopper_pearson_bound
from abnet.bounds.prediction_sets import set_rank
from abnet.certificates.planning import rows_needed, trials_for_limit
from abnet.cli.app import app
from abnet.utils.errors import ParameterError


def power_at(n: int, rate: float, limit: float, delta: float) -> float:
    """Probability that n trials certify the limit."""
    allowed = set_rank(n, limit, delta)
    if allowed is None:
        return 0.0
    return float(bdtr(allowed, n, rate))


@pytest.mark.parametrize(
    ("rate", "limit", "delta", "power"),
    [
        (0.02, 0.05, 0.05, 0.9),
        (0.1, 0.2, 0.01, 0.8),
        (0.0, 0.1, 0.05, 0.9),
        (0.3, 0.5, 0.1, 0.7),
        (0.01, 0.02, 0.05, 0.5),
        (0.5, 0.9, 0.05, 0.9),
    ],
)
def test_result_is_the_first_number_from_which_on_the_power_suffices(
    rate: float, limit: float, delta: float, power: float
) -> None:
    found = trials_for_limit(rate, limit, delta, power)
    too_weak = [n for n in range(1, 1000) if power_at(n, rate, limit, delta) < power]
    assert found == max(too_weak) + 1


@pytest.mark.parametrize(("rate", "expected"), [(0.02, 361), (0.03, 900), (0.04, 3871)])
def test_figures(rate: float, expected: int) -> None:
    """One row less has too little power; a lucky smaller number may have enough."""
    assert trials_for_limit(rate, 0.05) == expected
    assert power_at(expected - 1, rate, 0.05, 0.05) < 0.9 <= power_at(expected, rate, 0.05, 0.05)


def test_what_cannot_be_certified_is_not_planned() -> None:
    assert trials_for_limit(0.05, 0.05) is None
    assert trials_for_limit(0.0499999, 0.05) is None
    assert trials_for_limit(0.0499, 0.05) is not None
    assert rows_needed(6, 60, 100, 0.05, 0.05) is None


@pytest.mark.parametrize("share", [1.0, 0.2])
def test_planned_rows_certify_as_often_as_promised(rng: np.random.Generator, share: float) -> None:
    """A quarter of the rows certifies far less often."""
    made = abnet.plan(target_error=0.1, expected_error=0.05, share=share, power=0.8)
    for rows, certifies in ((made.rows, True), (made.rows // 4, False)):
        passed = 0
        for _ in range(300):
            n = int(rng.binomial(rows, share))
            passed += clopper_pearson_bound(int(rng.binomial(n, 0.05)), n, 0.05) <= 0.1
        assert (passed > 0.75 * 300) == certifies


def test_recall_and_precision_count_failures() -> None:
    error = abnet.plan(target_error=0.1, expected_error=0.05, share=0.3)
    recall = abnet.plan(target_recall=0.9, expected_recall=0.95, share=0.3)
    precision = abnet.plan(target_precision=0.9, expected_precision=0.95, share=0.3)
    assert (error.rows, error.counted) == (recall.rows, recall.counted) == (precision.rows, precision.counted)
    assert error.rows * 0.3 > error.counted == trials_for_limit(0.05, 0.1, 0.05, 0.95)


def test_more_candidates_power_and_confidence_need_more_rows() -> None:
    rates: dict[str, Any] = {"target_error": 0.05, "expected_error": 0.03}
    plain = abnet.plan(**rates).rows
    assert abnet.plan(**rates, n_candidates=4).rows == abnet.plan(**rates, delta=0.0125).rows > plain
    assert abnet.plan(**rates, power=0.99).rows > plain


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ({}, "exactly one"),
        ({"target_error": 0.1, "target_recall": 0.9}, "exactly one"),
        ({"target_error": 0.1}, "expected_error"),
        ({"target_error": 0.1, "expected_error": 0.2}, "not better"),
        ({"target_recall": 0.9, "expected_recall": 0.8}, "not better"),
        ({"target_error": 0.1, "expected_error": 0.05, "expected_recall": 0.9}, "target_recall"),
        ({"target_error": 1.5, "expected_error": 0.05}, "target_error"),
        ({"target_error": 0.1, "expected_error": 0.05, "share": 0.0}, "share"),
        ({"target_error": 0.1, "expected_error": 0.05, "power": 1.0}, "power"),
        ({"target_error": 0.05, "expected_error": 0.0499999}, "billion"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], fact: str) -> None:
    with pytest.raises((ParameterError, ValueError), match=fact):
        abnet.plan(**arguments)


def test_command_prints_what_the_function_returns() -> None:
    options = ["plan", "--target-recall", "0.9", "--expected-recall", "0.95", "--share", "0.1"]
    made = abnet.plan(target_recall=0.9, expected_recall=0.95, share=0.1)
    text = CliRunner().invoke(app, options)
    assert text.stdout.strip() == str(made)
    assert f"{made.rows:,}" in str(made)
    assert json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout) == made.to_dict()
    assert CliRunner().invoke(app, ["plan", "--target-error", "0.05"]).exit_code == 2


def test_small_and_close_rates_are_not_rounded() -> None:
    """A target of 1e-7 is not 0%, and 4.99% is not 5%."""
    assert "0.00001%" in str(abnet.plan(target_error=1e-7, expected_error=1e-8))
    assert "4.99%" in str(abnet.plan(target_error=0.05, expected_error=0.0499))


@pytest.mark.parametrize(("option", "value"), [("--power", "1"), ("--delta", "0"), ("--n-candidates", "0")])
def test_command_names_a_wrong_option(option: str, value: str) -> None:
    result = CliRunner().invoke(app, ["plan", "--target-error", "0.1", "--expected-error", "0.05", option, value])
    assert result.exit_code == 2
    assert option in result.stderr
