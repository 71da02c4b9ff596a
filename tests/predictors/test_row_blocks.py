import numpy as np
import pytest

from abnet.predictors.binary_network import map_rows


@pytest.mark.parametrize("n", [0, 1, 4, 7])
def test_blocks_join_to_the_whole_in_float64(n: int) -> None:
    X = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    seen: list[np.ndarray] = []
    result = map_rows(lambda x: (seen.append(x), x.sum(1))[1], X, columns=2, rows=3)  # type: ignore[func-returns-value]
    np.testing.assert_array_equal(result, X.sum(1))
    assert [len(block) for block in seen] == [min(3, n - i) for i in range(0, n, 3)]
    assert all(block.dtype == np.float64 for block in seen)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (2, 2, 2)])
def test_other_shapes_are_refused_by_name(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"X must have shape \(rows, 2\)"):
        map_rows(lambda x: x.sum(1), np.zeros(shape), columns=2)
