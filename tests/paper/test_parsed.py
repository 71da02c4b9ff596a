import pickle
from pathlib import Path

import numpy as np

from abnet.paper.data.originals import recall, remember
from abnet.paper.data.readers import Parsed

PARSED = Parsed(np.eye(3, 2, dtype=np.uint8), np.array([1, -1, 1], np.int8), np.array(["a", "ß"]))


def test_arrays_come_back_with_their_types(tmp_path: Path) -> None:
    remember(PARSED, tmp_path / "new" / "folder", "key")
    back = recall(tmp_path / "new" / "folder", "key")
    assert back is not None
    for ours, theirs in zip(PARSED, back, strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    assert not list(tmp_path.rglob("*.part"))


def test_absent_or_unfitting_arrays_are_none(tmp_path: Path) -> None:
    assert recall(tmp_path, "key") is None
    remember(PARSED._replace(y=np.zeros(7)), tmp_path, "key")
    assert recall(tmp_path, "key") is None


def test_a_pickle_in_the_cache_is_never_loaded(tmp_path: Path) -> None:
    remember(PARSED, tmp_path, "key")
    (tmp_path / "key.y.npy").write_bytes(pickle.dumps(PARSED.y))
    assert recall(tmp_path, "key") is None
    np.save(tmp_path / "key.y.npy", np.array([1, 2, 3], object), allow_pickle=True)
    assert recall(tmp_path, "key") is None
