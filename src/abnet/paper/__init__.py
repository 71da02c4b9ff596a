"""The paper: its data sets, its protocol, and its Table 1 and figures reproduced.

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.paper.datasets import Dataset, load, names
    from abnet.paper.figure1 import architecture_figure
    from abnet.paper.grids import fig4_grid, select, table1_grid
    from abnet.paper.group_training import run
    from abnet.paper.published_runs import read_runs
    from abnet.paper.reproduce_certificates import certificates, multiclass
    from abnet.paper.reproduce_figures import fig2, fig3, fig4
    from abnet.paper.reproduce_table1 import status, table1
    from abnet.paper.reproduce_variants import variants
    from abnet.paper.reproduced import Reproduced
    from abnet.paper.results_folder import renew_page
    from abnet.paper.run_exchange import export_runs, import_runs
    from abnet.paper.run_key import NUMERICS_VERSION
    from abnet.paper.run_result import Result
    from abnet.paper.run_setting import MODELS, VARIANTS, Setting
    from abnet.paper.run_store import RunStore, StoreError
    from abnet.paper.sweeping import SweepReport, sweep
    from abnet.paper.table1_comparison import TableComparison
    from abnet.paper.table1_rows import paper_table

__all__ = [
    "Dataset",
    "MODELS",
    "NUMERICS_VERSION",
    "Reproduced",
    "Result",
    "RunStore",
    "Setting",
    "StoreError",
    "SweepReport",
    "TableComparison",
    "VARIANTS",
    "architecture_figure",
    "certificates",
    "export_runs",
    "fig2",
    "fig3",
    "fig4",
    "fig4_grid",
    "import_runs",
    "load",
    "multiclass",
    "names",
    "paper_table",
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
        "abnet.paper.datasets": ["Dataset", "load", "names"],
        "abnet.paper.figure1": ["architecture_figure"],
        "abnet.paper.grids": ["fig4_grid", "select", "table1_grid"],
        "abnet.paper.table1_comparison": ["TableComparison"],
        "abnet.paper.table1_rows": ["paper_table"],
        "abnet.paper.run_key": ["NUMERICS_VERSION"],
        "abnet.paper.run_result": ["Result"],
        "abnet.paper.run_setting": ["MODELS", "Setting", "VARIANTS"],
        "abnet.paper.published_runs": ["read_runs"],
        "abnet.paper.reproduce_certificates": ["certificates", "multiclass"],
        "abnet.paper.reproduce_figures": ["fig2", "fig3", "fig4"],
        "abnet.paper.reproduce_table1": ["status", "table1"],
        "abnet.paper.reproduce_variants": ["variants"],
        "abnet.paper.reproduced": ["Reproduced"],
        "abnet.paper.run_exchange": ["export_runs", "import_runs"],
        "abnet.paper.sweeping": ["SweepReport", "sweep"],
        "abnet.paper.results_folder": ["renew_page"],
        "abnet.paper.group_training": ["run"],
        "abnet.paper.run_store": ["RunStore", "StoreError"],
    },
)
