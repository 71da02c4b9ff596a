"""Losses reduced to means, whole and by class, at once and in blocks."""

import numpy as np
import pytest

from abnet.bounds import SampledRisk, certify_trained_sampled
from abnet.bounds.rules import ExactRisk, VoteErrors, class_codes

RISKS = np.array([0.1, 0.4, 0.0, 1.0, 0.5])
CODES = np.array([1, 0, 1, 3, 0])


def test_exact_risk_is_the_mean_and_the_mean_square() -> None:
    risk = ExactRisk.from_values(RISKS, CODES)
    zero, one, two, three = risk.by_class
    assert two is None
    for part, values in [(risk, RISKS), (zero, RISKS[[1, 4]]), (one, RISKS[[0, 2]]), (three, RISKS[[3]])]:
        assert part is not None
        assert part.n_examples == len(values)
        assert part.mean == pytest.approx(sum(values) / len(values))
        assert part.pair_mean == pytest.approx(sum(value**2 for value in values) / len(values))


def test_exact_risk_does_not_depend_on_the_order_of_rows() -> None:
    values = np.random.default_rng(5).beta(0.2, 3.0, 999)
    signs = np.ones(999)
    assert ExactRisk.from_values(values, signs) == ExactRisk.from_values(values[::-1], signs)


def test_sampled_risk_pairs_each_path_at_most_once() -> None:
    values = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1], [1, 1, 0, 1, 1]])
    risk = SampledRisk.from_values(values, [1, 1, 1])
    assert risk.mean == pytest.approx(values.sum() / 15)
    assert risk.pair_mean == pytest.approx((1 + 0 + 0 + 0 + 0 + 1) / 6)
    assert risk.by_class == (None, SampledRisk(risk.mean, risk.pair_mean, 3, 5))


def test_one_path_makes_no_pairs() -> None:
    risk = SampledRisk.from_values([[0.0], [1.0]], [1, -1])
    assert risk.pair_mean is None
    assert certify_trained_sampled(risk, 1.0, delta=0.05, prior="init", vote="expectation").tandem_bound == 1.0


def test_blocks_merge_to_the_whole() -> None:
    rng = np.random.default_rng(2)
    values, codes = rng.random((37, 6)) < 0.3, rng.integers(0, 3, 37)
    whole = SampledRisk.from_values(values, codes)
    blocks = np.array_split(np.arange(37), 8)
    merged = SampledRisk.merge(SampledRisk.from_values(values[i], codes[i], 3) for i in blocks)
    for part, other in zip(whole.by_class, merged.by_class, strict=True):
        assert part is not None
        assert other is not None
        assert other.n_examples == part.n_examples
        assert other.mean == pytest.approx(part.mean)
    assert merged.mean == pytest.approx(whole.mean)
    assert merged.pair_mean == pytest.approx(whole.pair_mean)
    assert (merged.n_examples, merged.n_paths) == (37, 6)


def test_blocks_with_different_paths_do_not_merge() -> None:
    with pytest.raises(ValueError, match=r"number of paths; got \[2, 3\]"):
        SampledRisk.merge([SampledRisk(0.1, 0.0, 5, 2), SampledRisk(0.1, 0.0, 5, 3)])


def test_blocks_with_different_classes_do_not_merge() -> None:
    blocks = [SampledRisk.from_values([[0.0]], [2]), SampledRisk.from_values([[0.0]], [0])]
    with pytest.raises(ValueError, match=r"number of classes; got \[2, 3\]"):
        SampledRisk.merge(blocks)


def test_vote_errors_are_counted_by_class() -> None:
    wrong = np.array([True, True, False, True, False])
    assert VoteErrors.from_values(wrong, CODES, 5) == VoteErrors(3, (1, 1, 0, 1, 0))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1, 1.1])
def test_a_loss_out_of_range_is_named_by_its_row(bad: float) -> None:
    with pytest.raises(ValueError, match="row 3"):
        ExactRisk.from_values([0.0, 1.0, 0.5, bad], [1, 1, -1, -1])
    with pytest.raises(ValueError, match="row 1"):
        SampledRisk.from_values([[0.0, 1.0], [0.5, bad]], [1, -1])


def test_rounding_beyond_the_interval_is_clipped() -> None:
    assert ExactRisk.from_values([-1e-12, 1.0 + 1e-12], [1, -1]).mean == 0.5


@pytest.mark.parametrize(
    "codes",
    [[1, -1], [1, -1, 0], [-2, 1, 1], [0.5, 1, 1], [np.inf, 1, 1], ["a", "b", "a"], [True, False, True], [0, 1, 3]],
)
def test_codes_must_be_one_class_for_each_example(codes: list[int]) -> None:
    with pytest.raises(ValueError, match="codes must"):
        ExactRisk.from_values([0.1, 0.2, 0.3], codes, 3)


@pytest.mark.parametrize("signs", [[-1, 1, 1], [1, 1, 1], [-1, -1, -1]])
@pytest.mark.parametrize("dtype", [float, int, np.int8, np.float32])
def test_signs_are_two_classes(signs: list[int], dtype: type) -> None:
    codes, n_classes = class_codes(np.array(signs, dtype), 3)
    assert (codes.tolist(), n_classes) == ([max(sign, 0) for sign in signs], 2)


def test_one_code_still_means_two_classes() -> None:
    assert class_codes([0, 0], 2)[1] == 2
    with pytest.raises(ValueError, match="n_classes must be at least 2"):
        class_codes([0, 0], 2, 1)


def test_there_must_be_an_example() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        ExactRisk.from_values([], [])


def test_wrong_must_be_boolean() -> None:
    with pytest.raises(ValueError, match="boolean"):
        VoteErrors.from_values([0, 1], [1, -1])


@pytest.mark.parametrize("arguments", [(0.1, None, 5, 2), (0.1, 0.1, 5, 1), (1.1, 0.1, 5, 2), (0.1, 0.1, 0, 2)])
def test_sampled_risk_refuses_contradictions(arguments: tuple[float, float | None, int, int]) -> None:
    with pytest.raises(ValueError, match="must"):
        SampledRisk(*arguments)
