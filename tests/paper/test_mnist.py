import struct

import numpy as np
import pytest

from abnet.paper.data.readers import read_idx


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def test_any_number_of_axes_is_read() -> None:
    for shape in [(5,), (2, 3), (4, 2, 3)]:
        array = np.arange(np.prod(shape)).reshape(shape)
        assert np.array_equal(read_idx(idx(array)), array)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"\x00\x00\x08", b"\x00\x00\x08\x03", b"\x00\x00\x0d\x01\x00\x00\x00\x01aaaa", b"PK\x03\x04"],
)
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="IDX"):
        read_idx(content)


def test_one_byte_too_few_or_too_many_is_refused() -> None:
    whole = idx(np.arange(6).reshape(2, 3))
    for content in (whole[:-1], whole + b"\x00"):
        with pytest.raises(ValueError, match="IDX"):
            read_idx(content)
