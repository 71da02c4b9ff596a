"""Groups of settings, and a fixture with which they train for a few epochs."""

from dataclasses import replace

import pytest

from abnet.paper import Setting
from abnet.paper.protocol import protocol_of
from abnet.paper.runs import group_training
from abnet.paper.runs.setting_groups import SettingGroup

RATES = (0.1, 0.00001)  # the second stops at once, as nothing improves


@pytest.fixture
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_training, "protocol_of", lambda s: replace(protocol_of(s), max_epochs=12, patience=2))


def group(sizes: tuple[int, ...], models: tuple[str, ...], rates: tuple[float, ...] = RATES) -> SettingGroup:
    return SettingGroup(tuple(Setting("circles", model, sizes, rate, 0) for model in models for rate in rates))
