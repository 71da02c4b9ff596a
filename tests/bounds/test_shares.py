"""Shares of δ add up to no more than δ, and every bound that is divided takes its δ from them."""

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abnet import bounds
from abnet.bounds import shares

deltas = st.floats(1e-300, 1.0, exclude_max=True)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(deltas, st.integers(1, 50))
def test_shares_add_up_to_delta(delta: float, n_classes: int) -> None:
    assert 2 * shares.share_of_two(delta) == pytest.approx(delta)
    assert sum(shares.shares_by_count([7] * n_classes, delta)) == pytest.approx(delta)
    for spent, left in (shares.share_for_sampling(delta), shares.share_for_fixed_paths(delta)):
        assert spent == pytest.approx(delta / 10)
        assert spent + left == pytest.approx(delta)


@pytest.mark.parametrize("delta", [0.0, 1.0, float("nan"), "0.05", True])
def test_what_is_no_delta_has_no_shares(delta: float) -> None:
    for share in (shares.share_of_two, shares.share_for_sampling, shares.share_for_fixed_paths):
        with pytest.raises(ValueError, match=r"^delta"):
            share(delta)
    with pytest.raises(ValueError, match=r"^delta"):
        shares.shares_by_count([3, 4], delta)


def _is_delta(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):  # level("delta", delta)
        return any(isinstance(part, ast.Constant) and part.value == "delta" for part in node.args)
    return getattr(node, "attr", getattr(node, "id", "")) == "delta"


def _divisions(path: Path) -> list[str]:
    """Expressions that multiply or divide δ by a number."""
    found = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.BinOp)]
    pairs = [(node, {type(node.left), type(node.right)}) for node in found if isinstance(node.op, (ast.Div, ast.Mult))]
    return [
        ast.unparse(node)
        for node, kinds in pairs
        if ast.Constant in kinds and (_is_delta(node.left) or _is_delta(node.right))
    ]


def test_no_other_module_divides_delta_by_a_number() -> None:
    found = {path.name: _divisions(path) for path in Path(shares.__file__).parent.glob("*.py")}
    assert found.pop("shares.py") == ["level('delta', delta) / 2.0"]
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_the_vote_bound_is_the_smaller_of_two_at_half_of_delta() -> None:
    first = bounds.twice_gibbs_bound(0.1, 3.0, 500, 0.02)
    second = bounds.tandem_bound(0.02, 3.0, 500, 0.02)
    assert bounds.vote_bound(0.1, 0.02, 3.0, 500, 0.04) == min(first, second)


def test_a_class_without_rows_gets_no_share() -> None:
    """Of three classes with rows in two, each has half of δ as if the third were not there."""
    assert shares.shares_by_count([40, 0, 40], 0.05)[1] == 0.0
    assert shares.shares_by_count([40, 0, 40], 0.05)[0] == pytest.approx(0.025)
    assert shares.shares_by_count([0, 30], 0.05) == pytest.approx([0.0, 0.05])
