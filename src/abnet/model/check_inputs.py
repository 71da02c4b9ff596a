"""`check_inputs`: do the rows of a table look like the training rows of a model? No labels are needed."""

from dataclasses import dataclass
from typing import Any

from abnet.model.table_rows import InputWatch, ModelOrPath, as_model, frames_of, prepared
from abnet.tables.preparation.input_shift import ColumnCheck, number_of_tests, shifted
from abnet.tables.table import as_table
from abnet.tables.table_errors import listed
from abnet.tables.unseen import Unseen, merge
from abnet.utils.parameters import check_fraction
from abnet.utils.progress import report_progress
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.wording import confidence, number_of, percent

__all__ = ["CheckedInputs", "check_inputs"]

ALPHA = 0.01
"""Default probability of a false alarm for one table."""

WORDS = {
    "missing": "more missing",
    "unseen": "a new category",
    "outside": "outside the range",
    "lower quarter": "too few low",
    "upper quarter": "too few high",
}
"""What each test finds."""


@dataclass(frozen=True)
class CheckedInputs:
    """The columns of a table, compared with the training rows.

    Attributes
    ----------
    n_rows : int
    columns : tuple of ColumnCheck
        All columns that the model uses.
    alpha : float
        Maximum probability that any column is found to differ although the rows are like the training rows.
    """

    n_rows: int
    columns: tuple[ColumnCheck, ...]
    alpha: float

    @property
    def differing(self) -> tuple[ColumnCheck, ...]:
        """The columns that differ."""
        return tuple(shifted(self.columns, self.alpha))

    @property
    def alarm(self) -> bool:
        """Whether any column differs."""
        return bool(self.differing)

    def sentence(self) -> str:
        """The result in one sentence."""
        if not self.columns:
            return "The model stores nothing about its training inputs."
        all_columns = f"of {number_of(len(self.columns), 'column')} in {number_of(self.n_rows, 'row')}"
        differing = self.differing
        if not differing:
            return f"Inputs: none {all_columns} differs from the training rows."
        count = f"{len(differing)} {all_columns} differ"
        if len(differing) == 1:
            count = f"1 {all_columns} differs"
        names = listed([check.name for check in differing], most=5)
        return f"Inputs: {count} from the training rows, with {confidence(self.alpha)} confidence: {names}."

    def describe(self) -> str:
        """The result, with a line for every column that differs."""
        if not self.alarm:
            return paragraphs(self.sentence())
        header = ["column", "missing", "unseen", "outside", "here", "training", "finding"]
        lines = [header, *map(self._line, self.differing)]
        return f"{paragraphs(self.sentence())}\n\n{aligned(lines)}"

    def _line(self, check: ColumnCheck) -> list[str]:
        n_rows = max(self.n_rows, 1)
        here, training = check.ranges() or ("", "")
        findings = check.differs(self.alpha / number_of_tests(self.columns))
        return [
            check.name,
            percent(check.counts.n_missing / n_rows),
            percent(check.n_unseen / n_rows),
            percent(check.counts.n_outside / n_rows),
            here,
            training,
            ", ".join(WORDS[finding] for finding in findings),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        level = self.alpha / max(number_of_tests(self.columns), 1)
        columns = [{**check.to_dict(), "differs": check.differs(level)} for check in self.columns]
        return {"alarm": self.alarm, "alpha": self.alpha, "n_rows": self.n_rows, "columns": columns}


def check_inputs(model: ModelOrPath, table: Any, *, alpha: float = ALPHA) -> CheckedInputs:
    """Compare every column of a table with the training rows of a model; labels are not needed.

    For each column, exact tests compare the number of missing and unreadable cells, of cells with a new category, of
    numbers outside the training range, and of numbers in the lower and upper quarter of the training values.

    Parameters
    ----------
    model : path, Model or fitted classifier
    table : path, frame, or iterable of frames
    alpha : float
        Maximum probability that any column is found to differ, if the rows and the training rows are exchangeable
        (for example, independent draws from the same source). It holds for one table: if you check k tables, pass
        alpha/k.

    Examples
    --------
    >>> import numpy as np
    >>> from abnet.model.card import Card
    >>> from abnet.model.model import Model
    >>> from abnet.model.predictors.compact import Compact
    >>> from abnet.tables.preparation.training_inputs import TrainingInputs
    >>> training = TrainingInputs.of_array(["ltv"], np.linspace(20.0, 100.0, 300)[:, None])
    >>> network = Compact(np.ones((1, 1, 1)), np.zeros((1, 1)), np.array([[-1.0, 1.0]]))
    >>> model = Model(network, feature_names=("ltv",), card=Card(training_inputs=training))
    >>> print(check_inputs(model, {"ltv": np.linspace(20.0, 99.0, 50)}).describe())
    Inputs: none of 1 column in 50 rows differs from the training rows.
    >>> check_inputs(model, {"ltv": np.linspace(0.2, 0.99, 50)}).differing[0].name
    'ltv'
    """
    check_fraction("alpha", alpha)
    loaded = as_model(model)
    watch = InputWatch(loaded)
    unseen: list[Unseen] = []
    n_rows = 0
    for batch in frames_of(table, progress=lambda share: report_progress("Reading the rows", share)):
        read = prepared(loaded, as_table(batch, before=n_rows))
        watch.add(read)
        unseen = merge([*unseen, *read.unseen])
        n_rows += batch.height
    return CheckedInputs(n_rows, tuple(watch.check(unseen)), alpha)
