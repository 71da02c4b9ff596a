"""`certify`: a certificate for any fitted classifier, from rows that had no part in making it."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.certificate import Certificate
from abnet.bounds.certificate_file import read_record
from abnet.bounds.certify import certify_test_set, of_classifier
from abnet.certificates.split import row_hashes, row_order
from abnet.decisions.abstain import Abstention
from abnet.decisions.compare_errors import ErrorComparison, compare_wrong
from abnet.decisions.costs import CostCertificate
from abnet.decisions.groups import PopulationErrors, certify_groups, errors_by, grouped_risk
from abnet.decisions.outside import Judged, judge_model
from abnet.decisions.row_by_row import take_column
from abnet.decisions.targets import TargetThreshold
from abnet.decisions.training_rows import ErrorEstimate, estimate_error, find_fitted, refuse_fitted

__all__ = ["AnyCertificate", "certify", "certify_judged", "compare_errors", "load_certificate", "not_recomputed"]

AnyCertificate = Certificate | PopulationErrors | Abstention | TargetThreshold | CostCertificate


def certify(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    delta: float = 0.05,
    n_candidates: int = 1,
    groups: ArrayLike | str | None = None,
    by: ArrayLike | str | None = None,
    allow_training_rows: bool = False,
) -> Certificate | PopulationErrors | ErrorEstimate:
    """Certify a finished classifier, ours or anybody's, on a test set.

    The errors on rows that had no part in making or choosing the model are counted, and bounded by Clopper and
    Pearson. An exception, a missing answer and a label that the model does not know are errors. ``predict`` has to
    answer each row by itself as it does among others, which is tried on some 20 rows.

    Parameters
    ----------
    model : object with ``predict``, or callable
        From rows to labels.
    X : array, sparse matrix, frame or list (n rows)
    y : array-like (n,)
        Labels.
    delta : float
        Probability with which the certificate may be false.
    n_candidates : int
        Number K of models among which you choose by means of these rows.
    groups : array-like (n,) or str, optional
        Which rows belong together, such as those of one patient, or the frame's column that says so: the error of a new
        group, averaged over its rows. No row of these groups may have had a part in making the model.
    by : array-like (n,) or str, optional
        Each row's population, or the frame's column that names it: the errors of all of them at once.
    allow_training_rows : bool
        Rows that one of our models learned from are refused otherwise (how they are told:
        `abnet.certificates.fitted_rows.FittedRows`). With True the result is an estimate, which promises nothing.

    Returns
    -------
    Certificate
        With ``vote_error_bound`` for all rows and ``per_class``, or, with `groups`, for a new group; `PopulationErrors`
        with `by`; `ErrorEstimate` with `allow_training_rows`. Each has ``describe()``, ``to_dict()`` and
        ``save(path)``.

    Raises
    ------
    TrainingRowsError
        A ValueError: more rows than chance explains are rows that the model learned from.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:300], y[:300])
    >>> certificate = certify(tree, X[300:], y[300:])
    >>> certificate.vote_errors, certificate.n_examples, round(certificate.vote_error_bound, 3)
    (29, 269, 0.144)
    """
    if groups is not None and by is not None:
        raise ValueError("give groups or by, not both: no bound for populations of groups is offered.")
    columns: dict[str, Any] = {"groups": take_column(X, groups), "by": take_column(X, by)}
    seen = find_fitted(model, X, y)
    if allow_training_rows:
        if groups is not None or by is not None:
            raise ValueError("an estimate is made of all rows alike: leave out groups and by.")
        return estimate_error(judge_model(model, X, y).wrong, seen)
    refuse_fitted(seen)
    judged = judge_model(model, X, y)
    order = row_order(row_hashes(X, y), groups=columns["groups"])
    return certify_judged(judged, delta=delta, n_candidates=n_candidates, order=order, **columns)


def certify_judged(
    judged: Judged,
    *,
    delta: float = 0.05,
    n_candidates: int = 1,
    groups: ArrayLike | None = None,
    by: ArrayLike | None = None,
    order: ArrayLike | None = None,
) -> Certificate | PopulationErrors:
    """`certify` for answers that are at hand already; arguments as there.

    `order` is the order in which the rows are bet on, by what they hold (`abnet.certificates.row_order`); by default
    one is drawn.

    Examples
    --------
    >>> from abnet.decisions.outside import judge_answers
    >>> round(certify_judged(judge_answers([0, 1] * 50, [0] * 100)).vote_error_bound, 3)
    0.586
    """
    options: dict[str, Any]
    if groups is not None:
        risk = grouped_risk(judged.wrong, groups)
        options = {"delta": delta, "n_candidates": n_candidates, "prior": "test set", "order": order}
        return replace(certify_groups(risk, groups, judged.wrong, **options), class_names=judged.names)
    if by is not None:
        return errors_by(judged.wrong, by, delta, n_candidates=n_candidates)
    # A deterministic classifier is a posterior of one point: its Gibbs losses are its errors.
    losses = judged.wrong.astype(np.float64)
    options = {"delta": delta, "n_candidates": n_candidates, "n_classes": len(judged.names), "order": order}
    certificate = certify_test_set(losses, judged.codes, judged.wrong, **options)
    return replace(of_classifier(certificate), class_names=judged.names)


def compare_errors(a: Any, b: Any, X: Any, y: ArrayLike, *, delta: float = 0.05, n_candidates: int = 1) -> Any:
    """Compare two classifiers on the same rows, which had no part in making either.

    Parameters
    ----------
    a, b : objects with ``predict``, or callables
    X, y, delta
        As for `certify`.
    n_candidates : int
        Number of pairs, or of directions, judged on the same rows.

    Returns
    -------
    ErrorComparison
        With ``difference_bound`` on the difference of the errors, and ``a_is_better``.

    Examples
    --------
    >>> X, y = np.arange(200.0)[:, None], np.arange(200) % 2
    >>> result = compare_errors(lambda X: X[:, 0].astype(int) % 2, lambda X: np.zeros(len(X), int), X, y)
    >>> result.a_is_better, round(result.difference_bound, 3)
    (True, -0.41)
    """
    for model in (a, b):
        refuse_fitted(find_fitted(model, X, y), instead="Compare on others.")
    one, other = judge_model(a, X, y), judge_model(b, X, y)
    result: ErrorComparison = compare_wrong(one.wrong, other.wrong, delta, n_candidates=n_candidates)
    return result


def load_certificate(path: str | os.PathLike[str]) -> AnyCertificate:
    """Read a certificate that ``save`` wrote; its bounds are computed again from what was observed.

    `Certificate.check` says which bounds were recomputed, and which could not be, for want of the single losses.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        If the file holds no certificate, or one that does not follow from its own observations.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "certificate.json"
    >>> made = certify(lambda X: [0] * len(X), np.zeros((30, 1)), [0] * 29 + [1])
    >>> made.save(file)
    >>> load_certificate(file) == made
    True
    """
    kind, record = read_record(path)
    try:
        return _read(kind, record)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def not_recomputed(certificate: AnyCertificate) -> list[str]:
    """Bounds that cannot be computed again from the record, since bets depend on the single losses.

    Of these it is known only that they are no smaller than they can be.

    Examples
    --------
    >>> not_recomputed(certify(lambda X: [0] * len(X), np.zeros((30, 1)), [0] * 29 + [1]))
    []
    """
    if isinstance(certificate, CostCertificate):
        return ["cost_bound"]
    checked = certificate.check() if isinstance(certificate, Certificate) else {}
    return [name for name, how in checked.items() if how == "attainable"]


def _read(kind: str, record: dict[str, Any]) -> AnyCertificate:
    if kind == "errors":
        certificate = Certificate.from_dict(record)
        certificate.check()
        return certificate
    kinds: dict[str, Any] = {
        "populations": PopulationErrors, "abstention": Abstention, "target": TargetThreshold, "costs": CostCertificate,
    }  # fmt: skip
    if kind not in kinds:
        raise ValueError(f"a certificate of the unknown kind {kind[:40]!r}.")
    made: AnyCertificate = kinds[kind].from_dict(record)
    return made
