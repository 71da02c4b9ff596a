"""`robust_table`: the rows of a table under a tolerance."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import refuse_fitted
from abnet.model.labelled_table import judge_model_rows
from abnet.model.model import Model
from abnet.model.table_rows import ModelOrPath, as_model, whole_table
from abnet.robustness.branch_and_bound import NODES
from abnet.robustness.certified_rows import Robustness, certify_tolerance
from abnet.robustness.robust_rows import robust_rows
from abnet.tables.model_labels import true_labels
from abnet.tables.table import as_table
from abnet.utils.atomic import atomic_path
from abnet.utils.parameters import check_fraction, check_positive
from abnet.utils.progress import report_progress

if TYPE_CHECKING:
    import polars

__all__ = ["RobustTable", "robust_table"]


@dataclass(frozen=True)
class RobustTable:
    """The rows of a table under a tolerance.

    Attributes
    ----------
    found : Robustness
    notes : tuple of str
    output : str or None
        The CSV file that was written.
    """

    found: Robustness
    notes: tuple[str, ...] = ()
    output: str | None = None

    def describe(self) -> str:
        """The rows, and what is certified, in plain English."""
        return self.found.describe()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**self.found.to_dict(), "output": self.output}


def robust_table(
    model: ModelOrPath,
    table: Any,
    *,
    tolerance: str | float | Mapping[str, str | float] = "",
    free: Sequence[str] = (),
    truth: str | None = None,
    nodes: int = NODES,
    output: str | os.PathLike[str] | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> RobustTable:
    """Decide for every row of a table whether its label can change within a tolerance; certify if there are labels.

    Parameters
    ----------
    model : path, Model or fitted classifier
    table : path, frame, or iterable of frames
        If it has labels: rows held out from training. Rows without a label are then left out.
    tolerance, free, nodes
        As for `abnet.robustness.robust_rows.robust_rows`.
    truth : str, optional
        Column with the labels; by default the one that the model predicts, if the table has it.
    output : path, optional
        CSV file with a line for each row: its answer, whether it can change, and a point where it does.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models and tolerances compared on these rows.
    """
    check_fraction("delta", delta)
    check_positive("n_candidates", n_candidates, whole=True)
    loaded = as_model(model)
    frame = whole_table(table)
    notes: list[str] = []
    judged = None
    target = truth or loaded.card.target
    if truth is not None or target in frame.columns:
        judged = judge_model_rows(loaded, frame, truth=truth)
        judged.check_alone(loaded)
        refuse_fitted(judged.fitted_rows, instead="Certify on other rows.")
        frame = _labelled(loaded, frame, str(target))
        notes += judged.notes
    report_progress("Cells within the tolerance")
    rows = robust_rows(loaded, frame, tolerance=tolerance, free=free, nodes=nodes)
    certificate = None
    if judged is not None:
        terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
        certificate = certify_tolerance(loaded, judged.judged(), rows, terms)
    name = None
    if output is not None:
        name = os.fspath(output)
        with atomic_path(output) as temporary:
            temporary.write_text(rows.to_csv(), encoding="utf-8", newline="")
    return RobustTable(Robustness(rows, certificate), tuple(notes), name)


def _labelled(loaded: Model, frame: "polars.DataFrame", target: str) -> "polars.DataFrame":
    """The rows that have a label."""
    labels = true_labels(as_table(frame), target, loaded.card.cuts)
    return frame.filter([label is not None for label in labels])
