"""The paper: its data sets, its protocol, and its Table 1 and figures reproduced.

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.paper.data.datasets import Dataset, load, names
    from abnet.paper.figures.figure1 import architecture_figure
    from abnet.paper.figures.figure2 import fig2
    from abnet.paper.figures.figure3 import fig3
    from abnet.paper.figures.figure4 import fig4
    from abnet.paper.figures.figure_width import fig_width
    from abnet.paper.protocol import Protocol, protocol_of
    from abnet.paper.reproduction.exact_pbgnet import exact_pbgnet
    from abnet.paper.reproduction.grids import fig4_grid, select, table1_grid
    from abnet.paper.reproduction.reproduced import Reproduced
    from abnet.paper.reproduction.results_folder import renew_page
    from abnet.paper.reproduction.run_exchange import export_runs, import_runs
    from abnet.paper.reproduction.table1 import status, table1
    from abnet.paper.reproduction.table1_comparison import TableComparison
    from abnet.paper.reproduction.table1_rows import paper_table
    from abnet.paper.reproduction.variants import variants
    from abnet.paper.runs.group_training import run
    from abnet.paper.runs.published_runs import read_runs
    from abnet.paper.runs.run_key import NUMERICS_VERSION
    from abnet.paper.runs.run_result import Result
    from abnet.paper.runs.run_setting import MODELS, VARIANTS, Setting, Variant
    from abnet.paper.runs.run_store import RunStore, StoreError
    from abnet.paper.runs.sweeping import SweepReport, sweep

__all__ = [
    "Dataset",
    "MODELS",
    "NUMERICS_VERSION",
    "Protocol",
    "Reproduced",
    "Result",
    "RunStore",
    "Setting",
    "StoreError",
    "SweepReport",
    "TableComparison",
    "VARIANTS",
    "Variant",
    "architecture_figure",
    "exact_pbgnet",
    "export_runs",
    "fig2",
    "fig3",
    "fig4",
    "fig4_grid",
    "fig_width",
    "import_runs",
    "load",
    "names",
    "paper_table",
    "protocol_of",
    "read_runs",
    "renew_page",
    "run",
    "select",
    "status",
    "sweep",
    "table1",
    "table1_grid",
    "variants",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.paper.protocol": ["Protocol", "protocol_of"],
        "abnet.paper.data.datasets": ["Dataset", "load", "names"],
        "abnet.paper.figures.figure1": ["architecture_figure"],
        "abnet.paper.reproduction.exact_pbgnet": ["exact_pbgnet"],
        "abnet.paper.reproduction.grids": ["fig4_grid", "select", "table1_grid"],
        "abnet.paper.reproduction.table1_comparison": ["TableComparison"],
        "abnet.paper.reproduction.table1_rows": ["paper_table"],
        "abnet.paper.runs.run_key": ["NUMERICS_VERSION"],
        "abnet.paper.runs.run_result": ["Result"],
        "abnet.paper.runs.run_setting": ["MODELS", "Setting", "VARIANTS", "Variant"],
        "abnet.paper.runs.published_runs": ["read_runs"],
        "abnet.paper.figures.figure2": ["fig2"],
        "abnet.paper.figures.figure3": ["fig3"],
        "abnet.paper.figures.figure4": ["fig4"],
        "abnet.paper.figures.figure_width": ["fig_width"],
        "abnet.paper.reproduction.table1": ["status", "table1"],
        "abnet.paper.reproduction.variants": ["variants"],
        "abnet.paper.reproduction.reproduced": ["Reproduced"],
        "abnet.paper.reproduction.run_exchange": ["export_runs", "import_runs"],
        "abnet.paper.runs.sweeping": ["SweepReport", "sweep"],
        "abnet.paper.reproduction.results_folder": ["renew_page"],
        "abnet.paper.runs.group_training": ["run"],
        "abnet.paper.runs.run_store": ["RunStore", "StoreError"],
    },
)
