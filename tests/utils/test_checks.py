"""Every check returns what it allows and names what it refuses."""

import math
from typing import Any

import numpy as np
import pytest

from abnet.utils import checks
from abnet.utils.checks import Check

EACH: dict[str, tuple[Check, list[Any], list[Any]]] = {
    "real": (checks.real, [0, -1.5, math.inf, np.float32(2)], [math.nan, "1", None, True, np.True_, [1], np.ones(2)]),
    "finite": (checks.finite, [0, -1.5, np.int8(3)], [math.inf, -math.inf, math.nan, "1", 10**400]),
    "nonnegative": (checks.nonnegative, [0, 3, math.inf], [-1, -1e-300, math.nan]),
    "positive": (checks.positive, [1, 0.1, np.float64(3)], [0, -1, math.inf, "many", None]),
    "probability": (checks.probability, [0, 1, 0.5], [-0.1, 1.1, math.nan]),
    "between": (checks.between(-2, 3), [-1.9, 0, 2], [-2, 3, 5, "0"]),
    "level": (checks.level, [0.5, 1e-300], [0, 1, -1, 2.0, True]),
    "count": (checks.count, [1, np.int64(7)], [0, -1, 1.0, "1", True, None]),
    "tally": (checks.tally, [0, 5], [-1, 0.0]),
    "boolean": (checks.boolean, [True, False], [1, 0, "yes", None]),
    "text": (checks.text, ["", "a"], [1, None, b"a"]),
    "one_of": (
        checks.one_of("a", None, 1),
        ["a", None, 1, np.str_("a")],
        ["b", True, 1.0, ["a"], np.array(["a", "b"])],
    ),
}
each_check = pytest.mark.parametrize(("check", "allowed", "refused"), EACH.values(), ids=EACH.keys())


@each_check
def test_a_check_returns_what_it_allows(check: Check, allowed: list[Any], refused: list[Any]) -> None:
    assert [check("x", value) for value in allowed] == allowed


@each_check
def test_a_check_names_what_it_refuses(check: Check, allowed: list[Any], refused: list[Any]) -> None:
    for value in refused:
        with pytest.raises(ValueError, match=r"^table\.x .*got "):
            check("table.x", value)


def test_numbers_come_back_plain() -> None:
    assert type(checks.real("x", np.float32(0.5))) is float
    assert type(checks.count("x", np.int64(5))) is int
    assert math.copysign(1.0, checks.real("x", -0.0)) == 1.0


def test_a_long_value_is_cut_short() -> None:
    with pytest.raises(ValueError, match="…") as error:
        checks.text("x", ["value"] * 1000)
    assert len(str(error.value)) < 200


def test_lists_name_the_place_of_a_wrong_item() -> None:
    assert checks.list_of(checks.tally)("x", [1, 2]) == (1, 2)
    for value, name in (([1, -2], r"x\[1\]"), ("12", "x"), ((1, 2), "x")):
        with pytest.raises(ValueError, match=f"^{name}"):
            checks.list_of(checks.tally)("x", value)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "^point "),
        ({"x": 1}, r"^point .*\['name'\]"),
        ({"x": 1, "name": "p", 7: 0}, r"\['7'\]"),
        ({"x": "1", "name": "p"}, r"^point\.x "),
    ],
)
def test_a_record_has_exactly_its_fields(record: Any, message: str) -> None:
    assert checks.fields("point", {"name": "p", "x": 1}, x=checks.real, name=checks.text) == {"x": 1.0, "name": "p"}
    with pytest.raises(ValueError, match=message):
        checks.fields("point", record, x=checks.real, name=checks.text)
