"""The paper's experiments: grids, sweeps, the run store, Table 1 and the figures."""

from abnet.experiments.protocol import NUMERICS_VERSION, key
from abnet.experiments.result import Result
from abnet.experiments.setting import (
    MODELS,
    Setting,
    SettingGroup,
    fig4_grid,
    groups_of,
    select,
    table1_grid,
)
from abnet.experiments.store import RunStore, StoredRun, StoreError
from abnet.experiments.sweep import SweepReport, sweep

__all__ = [
    "MODELS",
    "NUMERICS_VERSION",
    "Result",
    "RunStore",
    "Setting",
    "SettingGroup",
    "StoreError",
    "StoredRun",
    "SweepReport",
    "fig4_grid",
    "groups_of",
    "key",
    "select",
    "sweep",
    "table1_grid",
]
