"""A certificate names its model, by a digest of everything that predicts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import abnet
from abnet.certificates.decision import Decision
from abnet.model.calibration import Calibration
from abnet.model.card import Card
from abnet.model.digest import model_digest
from abnet.model.model import Model
from abnet.model.predictors.compact import Compact
from abnet.tables.labels import Labels
from abnet.tables.preparation import MinMaxMap
from model.every_kind import ALL, certificate
from model.every_kind import model as stored

TABLE = Compact(np.ones((1, 1, 2)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))


@pytest.mark.parametrize("kind", ALL)
def test_it_is_the_same_after_saving_and_loading(kind: str, tmp_path: Path) -> None:
    made = stored(kind)
    made.save(tmp_path / "model.abnet")
    loaded = abnet.load(tmp_path / "model.abnet")
    assert model_digest(made) == model_digest(loaded)
    assert loaded.certificate == made.certificate
    assert loaded.certificate is not None
    assert loaded.certificate.model == model_digest(loaded)


def test_whole_numbers_and_floats_have_one_digest(tmp_path: Path) -> None:
    scaled: Any = MinMaxMap(scale=(1, 2), shift=(0, 0), limits=(0, 1))
    made = Model(TABLE, preparation=scaled)
    made.save(tmp_path / "model.abnet")
    assert model_digest(abnet.load(tmp_path / "model.abnet")) == model_digest(made)


@pytest.mark.parametrize(
    "change",
    [
        {"predictor": Compact(np.full((1, 1, 2), 1.0 + 1e-15), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))},
        {"labels": Labels(np.array([1, -1]))},
        {"preparation": MinMaxMap(scale=(1.0, 2.0), shift=(0.0, 0.0), limits=None)},
        {"feature_names": ("b", "a")},
        {"calibration": Calibration(2.0, 0.01)},
        {"decision": Decision(kind="abstain", threshold=0.1)},
        {"decision": Decision(kind="cut", threshold=0.1, positive=1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_all_that_predicts_changes_it(change: dict[str, Any], tmp_path: Path) -> None:
    plain = Model(TABLE, feature_names=("a", "b"), certificate=certificate())
    other = replace(plain, **change)
    assert model_digest(other) != model_digest(plain) == model_digest(replace(plain, card=Card(seed=3)))
    with pytest.raises(ValueError, match=str(model_digest(plain))):
        other.save(tmp_path / "model.abnet")


def test_a_file_with_the_certificate_of_another_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Model(TABLE, certificate=msgspec.structs.replace(certificate(), model="0" * 64))
    with monkeypatch.context() as patch:
        patch.setattr("abnet.model.file.check_promise", lambda model, certificate: None)
        made.save(tmp_path / "model.abnet")
    with pytest.raises(ValueError, match="0" * 64):
        abnet.load(tmp_path / "model.abnet")
