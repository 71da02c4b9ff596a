"""Work shared among cores."""

import time

import pytest

from abnet.rows import MOST, cores, mapped


@pytest.mark.parametrize("threads", [1, 3])
def test_answers_come_in_order(threads: int) -> None:
    def slow(number: int) -> int:
        time.sleep(0.01 * (number == 0))
        return number * number

    assert mapped(slow, range(20), threads) == [number * number for number in range(20)]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_error_of_the_first_item_is_raised(threads: int) -> None:
    def fail(number: int) -> int:
        time.sleep(0.01 * (number == 1))
        if number:
            raise ValueError(f"item {number}")
        return number

    with pytest.raises(ValueError, match="item 1"):
        mapped(fail, range(5), threads)


def test_the_environment_limits_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert 1 <= cores() <= MOST
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert cores() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert 1 <= cores() <= MOST
