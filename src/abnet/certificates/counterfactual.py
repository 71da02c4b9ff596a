"""`certify_counterfactual`: how many answers depend on the value of one column, from rows without labels."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from abnet.certificates.certificate import Certificate
from abnet.certificates.facts import Facts
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.judged_answers import AnyModel, answers_of
from abnet.certificates.recorded_model import RecordedModel
from abnet.certificates.statements.counterfactual_share import CounterfactualShare
from abnet.certificates.training_rows import find_fitted, refuse_fitted
from abnet.utils.caller_rows import n_rows_of, with_value
from abnet.utils.checks import count, level
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["HasColumnValues", "certify_counterfactual"]

NO_LABELS = "rows without labels"
"""Class name of rows that are counted without their labels."""


@runtime_checkable
class HasColumnValues(Protocol):
    """A model that knows the values of a column from training, such as `abnet.Model`."""

    def column_values(self, column: Any, /) -> tuple[Any, ...] | None:
        """The values of a column of categories, or of yes and no; None for any other column."""
        ...


def certify_counterfactual(
    model: AnyModel,
    X: Any,
    column: str | int,
    *,
    values: Sequence[Any] | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> Certificate:
    """Certify how many new rows get another answer if only one column is changed; needs no labels.

    Every row is answered as it is, and with each of the values in the column. A row counts if one of these answers
    differs, or is missing.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Maps rows to labels.
    X : frame, dict of columns, or array (n rows)
        Rows held out from training and selection.
    column : str or int
        Name, or for an array the index of the column, declared before you look at the rows.
    values : sequence, optional
        The values to try, fixed without these rows; by default the values that an abnet model knows from training.
        Values taken from these rows would be chosen by them.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models (or columns) among which you choose with these rows.

    Returns
    -------
    Certificate
        With one statement, `abnet.certificates.statements.counterfactual_share.CounterfactualShare`.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.

    Examples
    --------
    >>> X = {"age": list(range(100)), "sex": ["f", "m"] * 50}
    >>> def predict(X):
    ...     return ["yes" if age > 97 and sex == "m" else "no" for age, sex in zip(X["age"], X["sex"])]
    >>> import pandas as pd
    >>> made = certify_counterfactual(predict, pd.DataFrame(X), "sex", values=["f", "m"])
    >>> made.statements[0].changed, round(made.statements[0].value, 3)
    (2, 0.062)
    """
    recorded = getattr(model, "model_", model)
    if values is None and isinstance(recorded, HasColumnValues):
        values = recorded.column_values(column)
    if values is None:
        raise ParameterError(
            "{} must list two or more values of column {!r}, fixed without these rows: the model does not know them.",
            Parameter("values"),
            column,
        )
    if len(values) < 2:
        raise ParameterError(
            "the answers are compared with two or more values of column {!r}, fixed without these rows; got {}.",
            column,
            len(values),
        )
    check_groups(model, X, None)
    answers = answers_of(model, X)
    # Rows of a fit are recognised with their labels, and most of them are answered with their label.
    refuse_fitted(find_fitted(model, X, answers), instead="Use others.")
    changes = [False] * n_rows_of(X)
    for value in values:
        others = answers_of(model, with_value(X, column, value))
        changes = [changed or answer != other for changed, answer, other in zip(changes, answers, others, strict=True)]
    n = len(changes)
    made = CounterfactualShare.from_counts(
        column=str(column),
        values=tuple(map(str, values)),
        changed=sum(changes),
        n=n,
        delta=level("delta", delta),
        n_candidates=count("n_candidates", n_candidates),
    )
    facts = Facts(
        n_rows=n,
        classes=(NO_LABELS,),
        class_rows=(n,),
        class_errors=(0,),
        source="test set",
        delta=delta,
        n_candidates=n_candidates,
    )
    certificate = Certificate(statements=(made,), facts=facts)
    if isinstance(recorded, RecordedModel):
        return msgspec.structs.replace(certificate, model=recorded.digest)
    return certificate
