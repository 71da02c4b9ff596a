"""Work shared among cores."""

import time

import pytest

from abnet.utils.threads import MOST, cores, parallel_map


@pytest.mark.parametrize("threads", [1, 3])
def test_answers_come_in_order(threads: int) -> None:
    def slow(number: int) -> int:
        time.sleep(0.01 * (number == 0))
        return number * number

    assert parallel_map(slow, range(20), threads) == [number * number for number in range(20)]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_error_of_the_first_item_is_raised(threads: int) -> None:
    def fail(number: int) -> int:
        time.sleep(0.01 * (number == 1))
        if number:
            raise ValueError(f"item {number}")
        return number

    with pytest.raises(ValueError, match="item 1"):
        parallel_map(fail, range(5), threads)


def test_the_environment_limits_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert 1 <= cores() <= MOST
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert cores() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert 1 <= cores() <= MOST


def blas_threads() -> set[int]:
    from threadpoolctl import threadpool_info

    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_matrix_products_have_one_thread_beside_ours_and_get_theirs_back() -> None:
    from threadpoolctl import threadpool_limits

    from abnet.utils.threads import parallel_map

    seen: list[set[int]] = []

    def nested(depth: int) -> None:
        seen.append(blas_threads())
        if depth:
            parallel_map(nested, [depth - 1] * 2, 2)
            seen.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        parallel_map(nested, [2, 1, 0], 2)
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError):
            parallel_map(lambda x: 1 / x, [1, 0, 2], 2)
        assert blas_threads() == before
    assert len(seen) > 9
    assert all(found == {1} for found in seen)
