"""The paper's experiments: grids, sweeps, the run store, Table 1 and the figures."""

from abnet.experiments.grid import fig4_grid, groups_of, select, table1_grid
from abnet.experiments.protocol import NUMERICS_VERSION, key
from abnet.experiments.result import Result
from abnet.experiments.setting import MODELS, Group, Setting
from abnet.experiments.store import Run, RunStore, StoreError
from abnet.experiments.sweep import SweepReport, sweep

__all__ = [
    "MODELS",
    "NUMERICS_VERSION",
    "Group",
    "Result",
    "Run",
    "RunStore",
    "Setting",
    "StoreError",
    "SweepReport",
    "fig4_grid",
    "groups_of",
    "key",
    "select",
    "sweep",
    "table1_grid",
]
