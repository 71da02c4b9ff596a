"""The golden vectors: what the library computes, and what a reader of docs/model-format.md computes from the file."""

import json
from typing import Any

import numpy as np
import pytest

from export.vectors import PATH, golden_vectors

if not PATH.exists():
    pytest.skip("the vectors are in the repository, not in the wheel", allow_module_level=True)

from export import by_the_book


def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))["models"]
    return found


def test_the_library_computes_what_the_file_says() -> None:
    everything, made = json.loads(PATH.read_text(encoding="utf-8")), json.loads(json.dumps(golden_vectors()))
    assert everything["grammar"] == made["grammar"]
    known, found = everything["models"], made["models"]
    assert list(known) == list(found)
    for name in known:
        assert known[name]["config"] == found[name]["config"], name
        assert known[name]["rows"] == found[name]["rows"], name
        assert known[name]["labels"] == found[name]["labels"], name
        for part in ("features", "scores"):
            np.testing.assert_allclose(found[name][part], known[name][part], rtol=1e-6, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("name", stored())
def test_the_page_is_enough_to_write_the_predictor_again(name: str) -> None:
    vector = stored()[name]
    config = vector["config"]
    for place, row in enumerate(vector["rows"]):
        x = [by_the_book.single(value) for value in by_the_book.prepared(config["preparation"], row)]
        np.testing.assert_allclose(x, vector["features"][place], rtol=2e-7, atol=1e-12)
        found = by_the_book.scores(config["kind"], vector["arrays"], x)
        np.testing.assert_allclose(found, np.atleast_1d(vector["scores"][place]), rtol=0, atol=1e-12)
        assert config["classes"]["values"][by_the_book.code(found)] == vector["labels"][place]
        if vector["probabilities"] is not None:
            shares = by_the_book.probabilities(found, config.get("calibration"))
            np.testing.assert_allclose(shares, vector["probabilities"][place], rtol=0, atol=1e-12)


def test_the_vectors_tell_classes_apart() -> None:
    assert all(len(set(vector["labels"])) > 1 for vector in stored().values())
