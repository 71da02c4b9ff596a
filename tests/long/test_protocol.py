"""The paper's protocol on one split of each data set: bounds of ABNet, errors of the comparison methods."""

import os

import pytest

from abnet.paper import Result, Setting
from abnet.paper.protocol import LEARNING_RATES
from abnet.paper.runs.group_training import run_group
from abnet.paper.runs.setting_groups import SettingGroup

pytestmark = pytest.mark.skipif("ABNET_DATA" not in os.environ, reason="set ABNET_DATA to the folder of the data files")


def train(dataset: str, model: str, sizes: tuple[int, ...]) -> list[Result]:
    rates: tuple[float | None, ...] = LEARNING_RATES
    if model == "EBP":
        rates = (None,)
    return run_group(SettingGroup(tuple(Setting(dataset, model, sizes, rate, 0) for rate in rates)), data_dir=None)


@pytest.mark.parametrize(
    ("dataset", "sizes", "limit"),
    [
        ("adult", (2,), 0.212),
        ("mnist17", (2,), 0.038),
        ("mnist49", (2,), 0.137),
        ("mnist56", (2,), 0.087),
        ("mnistLH", (4, 4, 4), 0.165),
    ],
)
def test_bound_of_abnet_with_a_random_prior(dataset: str, sizes: tuple[int, ...], limit: float) -> None:
    best = min(train(dataset, "ABNet", sizes), key=lambda result: result.score)
    print(f"{dataset} {sizes}: bound {best.bound:.4f}, test error {best.test_error:.4f}")
    assert best.score <= limit


@pytest.mark.parametrize(
    ("dataset", "model", "width", "limit"),
    [
        ("mnist17", "EBP", 10, 0.010),
        ("mnist17", "BC", 10, 0.014),
        ("mnist17", "BNN", 10, 0.014),
        ("mnistLH", "EBP", 100, 0.035),
        ("mnistLH", "BC", 100, 0.034),
        ("mnistLH", "BNN", 100, 0.045),
    ],
)
def test_error_of_the_comparison_methods(dataset: str, model: str, width: int, limit: float) -> None:
    best = min(train(dataset, model, (width,)), key=lambda result: result.score)
    print(f"{dataset} {model} {width}: test error {best.test_error:.4f}, sign network {best.map_test_error:.4f}")
    assert best.test_error <= limit
