"""`certify`: a certificate for any fitted classifier, from rows held out from its training and selection."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates import from_evidence
from abnet.certificates.certificate import Certificate
from abnet.certificates.copied_rows import warn_of_regular_copies
from abnet.certificates.estimate import Estimate
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.grouped_rows import check_groups
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly
from abnet.certificates.judged_answers import AnyModel, Judged, answers_of, count_answers, judge_model
from abnet.certificates.keyed_order import bet_keys, row_order
from abnet.certificates.random_seed import RandomState, drawn_seed
from abnet.certificates.recorded_model import RecordedModel
from abnet.certificates.region_counts import HasRegions, LocatedRows
from abnet.certificates.requests import Gaps, Requests, split_populations
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.statements.confusion_rate import confusion_rates
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import estimate_error, find_fitted, refuse_fitted
from abnet.utils.caller_rows import take_column

__all__ = ["certify", "certify_judged", "confusion_of"]

_NOTHING_MORE = Requests()


def certify(
    model: AnyModel,
    X: Any,
    y: ArrayLike,
    *,
    delta: float = 0.05,
    n_candidates: int = 1,
    groups: ArrayLike | str | None = None,
    by: ArrayLike | str | Gaps | None = None,
    mix: Mapping[Any, float] | None = None,
    new_rows: Any = None,
    joint: JointNames | None = None,
    allow_training_rows: bool = False,
    random_state: RandomState = None,
) -> Certificate | Estimate:
    """Certify any fitted classifier on a test set.

    Counts the errors on rows held out from training and selection, and bounds the error rate by Clopper-Pearson. An
    exception, a missing answer and a label that the model does not know count as errors. The prediction for a row must
    not depend on the other rows of a batch; this is tested on about 20 rows.

    Parameters
    ----------
    model : object with ``predict``, or callable
        Maps rows to labels.
    X : array, sparse matrix, frame or list (n rows)
    y : array-like (n,)
        Labels.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number K of models among which you choose with these rows.
    groups : array-like (n,) or str, optional
        Group of each row, such as a patient, or the frame's column with the groups. The bound is then about the error
        rate on a new group, averaged over its rows. No row of these groups may have been used to train or select the
        model.
    by : array-like (n,), str or Gaps, optional
        Population of each row, or the frame's column with the populations. Each population gets a bound, and these
        bounds hold jointly. With `abnet.Gaps` they are groups: their rates get limits on both sides, and the largest
        gap between two groups a bound.
    mix : dict, optional
        Shares of the classes in the new data, such as ``{"fraud": 0.01}``, known before you look at these rows; one
        class may be left out. Adds a bound on the error rate at this mix, which assumes that the rows within each class
        look as before.
    new_rows : rows like X, optional
        Unlabelled rows of the new data. Adds a bound on the error rate there, under the same assumption, and limits of
        the shares of the classes.
    joint : sequence of str or dict, optional
        Names of statements that are to hold jointly: "error rate", "classes", "populations", "regions". They share δ
        equally; a dict has the share of each, such as ``{"error rate": 0.5, "classes": 0.5}``. By default each
        statement (or family of statements, such as those about all classes) holds by itself.
    allow_training_rows : bool
        Whether to accept training rows of an abnet model; the result is then an estimate without a guarantee. By
        default they raise an error (`abnet.certificates.fitted_rows.FittedRows` explains how they are detected).
    random_state : int, optional
        Seed for the order in which the betting bound reads the groups; drawn anew by default. Trying several seeds is
        choosing among candidates.

    Returns
    -------
    Certificate
        With ``vote_error_bound`` for all rows and ``per_class``, or, with `groups`, for a new group; `Estimate` with
        `allow_training_rows`. Both have ``describe()``, ``to_dict()`` and ``save(path)``.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains. Its training rows count, and the
        bound rows of its fit if they were used to choose among models or to find a decision.
    NotLabelShiftError
        A ValueError: no shares of the classes explain the answers on `new_rows`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:300], y[:300])
    >>> certificate = certify(tree, X[300:], y[300:])
    >>> sum(certificate.facts.class_errors), certificate.facts.n_rows, round(certificate.vote_error_bound, 3)
    (29, 269, 0.144)
    """
    if groups is not None and by is not None:
        raise ValueError("pass groups or by, not both: there is no bound for populations of groups.")
    populations, gaps = split_populations(by)
    columns: dict[str, Any] = {"groups": take_column(X, groups), "by": take_column(X, populations)}
    seen = find_fitted(model, X, y)
    if allow_training_rows:
        if groups is not None or by is not None or mix is not None or new_rows is not None:
            raise ValueError("an estimate is about all rows: leave out groups, by, mix and new_rows.")
        return estimate_error(judge_model(model, X, y).wrong, seen)
    refuse_fitted(seen)
    if groups is None:
        check_groups(model, X, "groups")
    judged = judge_model(model, X, y)
    hashes = row_hashes(X, y)
    if groups is None:
        warn_of_regular_copies(
            hashes, [judged.names[code] if code < len(judged.names) else "" for code in judged.truth]
        )
    order = row_order(hashes, drawn_seed(random_state), columns["groups"])
    recorded = getattr(model, "model_", model)
    regions = None
    if isinstance(recorded, HasRegions):
        regions = recorded.located(X)
    terms = Terms(delta=delta, n_candidates=n_candidates, source="test set")
    new_answers = None
    if new_rows is not None:
        new_answers = _new_answers(model, new_rows, judged)
    requests = Requests(gaps=gaps, mix=mix, new_answers=new_answers)
    made = certify_judged(judged, terms, order, regions=regions, requests=requests, joint=joint, **columns)
    if isinstance(recorded, RecordedModel):
        return msgspec.structs.replace(made, model=recorded.digest)
    return made


def _new_answers(model: AnyModel, X: Any, judged: Judged) -> tuple[int, ...]:
    """How often each answer is given on unlabelled rows, which the model must not have been fitted on."""
    check_groups(model, X, None)
    answers = answers_of(model, X)
    # Rows of a fit are recognised with their labels, and most of them are answered with their label.
    refuse_fitted(find_fitted(model, X, answers), instead="Unlabelled rows must be new to the model, too.")
    return count_answers(answers, judged.classes)


def certify_judged(
    judged: Judged,
    terms: Terms,
    order: NDArray[np.intp],
    *,
    groups: ArrayLike | None = None,
    by: ArrayLike | None = None,
    regions: LocatedRows | None = None,
    requests: Requests = _NOTHING_MORE,
    joint: JointNames | None = None,
) -> Certificate:
    """`certify` for given answers.

    Parameters
    ----------
    judged : Judged
    terms : Terms
    order : int array (n,)
        The order in which the betting bound reads the groups (`abnet.certificates.keyed_order.row_order`).
    groups, by
        As for `certify`.
    regions : LocatedRows, optional
        Region of each row.
    joint : sequence of str or dict, optional
        Statements that hold jointly.
    requests : Requests
        What to state besides error rates.

    Examples
    --------
    >>> from abnet.certificates.judged_answers import judge_answers
    >>> judged = judge_answers([0, 1] * 50, [0] * 100)
    >>> round(certify_judged(judged, Terms(source="test set"), np.arange(100)).vote_error_bound, 3)
    0.586
    """
    seen = observe(
        judged.answers,
        judged.truth,
        judged.names,
        groups=groups,
        populations=by,
        keys=bet_keys(order),
        regions=regions,
    )

    def made(makes: Makes) -> Certificate:
        return from_evidence.certify(seen, replace(terms, delta=makes.delta), requests)

    return hold_jointly(made, terms.delta, joint)


def confusion_of(judged: Judged, terms: Terms, *, others: bool = True) -> Certificate:
    """Confusion matrix, with limits on every rate that hold jointly.

    Parameters
    ----------
    judged : Judged
    terms : Terms
    others : bool
        Whether the model may give answers other than these labels, or no answer. If not, the limits are tighter.

    Examples
    --------
    >>> from abnet.certificates.judged_answers import judge_answers
    >>> print(confusion_of(judge_answers([0, 1] * 50, [0] * 100), Terms(source="test set")))  # doctest: +ELLIPSIS
    class                   0                1    other or none
    0      50 (89.6% to 100%)  0 (0% to 10.4%)  0 (0% to 10.4%)
    1      50 (89.6% to 100%)  0 (0% to 10.4%)  0 (0% to 10.4%)
    ...
    """
    seen = observe(judged.answers, judged.truth, judged.names)
    rates = confusion_rates(seen, terms, others=others)
    return Certificate(statements=tuple(rates), facts=Facts.of(seen, terms))
