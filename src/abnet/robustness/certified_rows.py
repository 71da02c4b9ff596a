"""`robustness`: rows under a tolerance, with a certificate if they have labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.certificates.certificate import Certificate
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.judged_answers import Judged, judge_answers
from abnet.certificates.statements.tolerated_error import ToleratedError
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import find_fitted, refuse_fitted
from abnet.model.digest import belonging
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.robustness.branch_and_bound import NODES
from abnet.robustness.robust_rows import RobustRows, robust_rows

__all__ = ["Robustness", "certify_tolerance", "robustness"]


@dataclass(frozen=True)
class Robustness:
    """Rows under a tolerance, and what is certified about new ones.

    Attributes
    ----------
    rows : RobustRows
    certificate : Certificate or None
        None without labels.
    """

    rows: RobustRows
    certificate: Certificate | None = None

    def describe(self) -> str:
        """The rows, and what is certified, in plain English."""
        if self.certificate is None:
            return self.rows.describe()
        return f"{self.rows.describe()}\n\n{self.certificate.describe()}"

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        certificate = None
        if self.certificate is not None:
            certificate = self.certificate.to_dict()
        return {**self.rows.to_dict(), "certificate": certificate}


def robustness(
    model: Model | FittedClassifier,
    X: Any,
    y: ArrayLike | None = None,
    *,
    tolerance: str | float | Mapping[str, str | float] = "",
    free: Sequence[str] = (),
    nodes: int = NODES,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> Robustness:
    """Decide for every row whether its label can change within a tolerance, and certify the error rate under it.

    Parameters
    ----------
    model, tolerance, free, nodes
        As for `abnet.robustness.robust_rows.robust_rows`.
    X : table or array
        Rows held out from training, if there are labels.
    y : array-like, optional
        Labels. The certificate counts a row unless its answer is right and provably cannot change.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models and tolerances compared on these rows; declare them before you look at the rows.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.

    Examples
    --------
    >>> from abnet.model.predictors.compact import Compact
    >>> model = Model(Compact(np.array([[[9.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> found = robustness(model, X, np.where(X[:, 0] > 0, 1, -1), tolerance=0.1)
    >>> found.rows.count("flipped"), round(found.certificate.statements[0].value, 3)
    (14, 0.107)
    """
    loaded = model_of(model)
    seen = None
    if y is not None:
        seen = find_fitted(model, X, y)
        refuse_fitted(seen, instead="Certify on other rows.")
        check_groups(model, X, None)
    rows = robust_rows(loaded, X, tolerance=tolerance, free=free, nodes=nodes)
    if y is None:
        return Robustness(rows)
    judged = judge_answers(y, [row.answer for row in rows.rows], known=loaded.classes_.tolist())
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    return Robustness(rows, certify_tolerance(loaded, judged, rows, terms))


def certify_tolerance(model: Model, judged: Judged, rows: RobustRows, terms: Terms) -> Certificate:
    """The certificate of a tolerance, from rows that took no part in the model.

    Parameters
    ----------
    model : Model
    judged : Judged
        The answers to the rows as they are, and the labels.
    rows : RobustRows
        The same rows under the tolerance.
    terms : Terms
    """
    seen = observe(judged.answers, judged.truth, judged.names)
    statement = ToleratedError.from_counts(
        errors=int(judged.wrong.sum()),
        unproved=int(np.sum(~judged.wrong & ~rows.fixed)),
        n=len(judged.wrong),
        tolerance=str(rows.tolerance),
        delta=terms.delta,
        n_candidates=terms.n_candidates,
    )
    return belonging(Certificate(statements=(statement,), facts=Facts.of(seen, terms)), model)
