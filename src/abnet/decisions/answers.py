"""Answers by a threshold that was certified: labels with gaps, targets for one class, costs.

Thresholds are fixed by known rows, which are not bound rows, and certified on bound rows; `certify_scores` divides the
rows of a model that lives elsewhere.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abnet.certificates.split import Split, drawn_seed, row_hashes
from abnet.checks import count, level
from abnet.decisions.abstain import Abstention, RiskCoverage, abstention, risk_coverage, score_thresholds
from abnet.decisions.costs import CostCertificate, certify_costs, cheapest_threshold, cost_table, row_costs
from abnet.decisions.targets import TargetThreshold, precision_grid, recall_grid, target_precision, target_recall
from abnet.model.card import Card

__all__ = [
    "Decision",
    "abstention_records",
    "answered",
    "certify_scores",
    "decided_codes",
    "decision_from",
    "decision_of",
    "decision_texts",
    "labels_or_none",
    "meet_costs",
    "meet_target",
    "sureness",
    "threshold_of",
]

Decision = TargetThreshold | CostCertificate
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


# Their number costs nothing, and a finer grid ends closer to the target.
_THRESHOLDS = 100


def sureness(scores: ArrayLike) -> Floats:
    """How sure a model is of each row: ``|F(x)|`` for two classes, the largest share of the vote for several.

    Examples
    --------
    >>> sureness([-0.5, 0.2]), sureness([[0.2, 0.7, 0.1]])
    (array([0.5, 0.2]), array([0.7]))
    """
    values = np.asarray(scores, dtype=np.float64)
    return np.abs(values) if values.ndim == 1 else np.asarray(values.max(axis=1))


def answered(scores: ArrayLike, threshold: float | None) -> Bools:
    """Which rows are answered; none where nothing could be certified.

    Examples
    --------
    >>> answered([-0.5, 0.2], 0.3), answered([0.9], None)
    (array([ True, False]), array([False]))
    """
    sure = sureness(scores)
    return np.zeros(len(sure), dtype=bool) if threshold is None else sure > threshold


def labels_or_none(labels: ArrayLike, scores: ArrayLike, threshold: float | None) -> NDArray[Any]:
    """Labels as objects, None for rows that are not answered: what `predict_or_abstain` returns.

    Examples
    --------
    >>> labels_or_none(["no", "yes"], [-0.5, 0.2], 0.3)
    array(['no', None], dtype=object)
    """
    out = np.empty(len(np.asarray(labels)), dtype=object)
    out[:] = np.asarray(labels).tolist()
    out[~answered(scores, threshold)] = None
    return out


def threshold_of(card: Card) -> float | None:
    """The threshold to abstain by on the card of a model; ValueError if it was fitted without a target.

    Examples
    --------
    >>> threshold_of(Card())
    Traceback (most recent call last):
    ValueError: the model was fitted without target_error, so that it knows no threshold to abstain by.
    """
    if card.abstention is None:
        raise ValueError("the model was fitted without target_error, so that it knows no threshold to abstain by.")
    return Abstention.from_dict(card.abstention).threshold


def abstention_records(
    validation_scores: ArrayLike,
    bound_scores: ArrayLike,
    bound_wrong: ArrayLike,
    target: float,
    delta: float = 0.05,
    *,
    n_candidates: int = 1,
    n_thresholds: int = 20,
) -> tuple[Abstention, RiskCoverage]:
    """``abstention_`` and ``risk_coverage_`` of a classifier that never learned from the bound rows.

    Parameters
    ----------
    validation_scores : array (m,) or (m, K)
        Scores of validation rows of the first part, which fix the thresholds; never of bound rows.
    bound_scores : array (n,) or (n, K)
        Scores of the bound rows.
    bound_wrong : array of bool (n,)
        Where the answer would be wrong.
    target, delta : float
        The error to be certified among answered rows, and the probability with which that may fail.
    n_candidates, n_thresholds : int
        Models judged on the same rows, and how many thresholds are tried.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> F, noise = rng.uniform(-1, 1, 4000), rng.uniform(-1, 1, 4000)
    >>> made, curve = abstention_records(F[:1000], F[1000:], (np.abs(F) < np.abs(noise) ** 3)[1000:], target=0.1)
    >>> made.threshold is not None, made.error_bound, len(curve.thresholds)
    (True, 0.1, 20)
    """
    known, seen = sureness(validation_scores), sureness(bound_scores)
    share = delta / n_candidates
    thresholds = score_thresholds(known, len(seen), target, share, n_thresholds=n_thresholds)
    made = abstention(seen, bound_wrong, thresholds, target, delta, n_candidates=n_candidates)
    return made, risk_coverage(seen, bound_wrong, thresholds, delta, n_candidates=n_candidates)


def meet_target(
    known: tuple[Floats, Bools],
    bound: tuple[Floats, Bools],
    *,
    recall: float | None = None,
    precision: float | None = None,
    positive_class: str | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> TargetThreshold:
    """Certify a threshold that meets a target of recall, or of precision, for the positive class.

    Parameters
    ----------
    known : pair of arrays (m,)
        Scores of rows of the first part, and whether each is positive: they fix the thresholds and their order.
    bound : pair of arrays (n,)
        The same of the bound rows.
    recall, precision : float, optional
        One of them.
    positive_class : str, optional
        The name of the positive class, for the record.
    delta : float
        Probability with which the promise may fail.
    n_candidates : int
        Number K of models judged on the same rows.

    Examples
    --------
    >>> scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    >>> meet_target((scores, positive), (scores, positive), precision=0.9).threshold is not None
    True
    """
    if recall is not None:
        grid = recall_grid(*known, recall, n_thresholds=_THRESHOLDS)
        made = target_recall(*bound, grid, recall, delta, n_candidates=n_candidates)
        return replace(made, positive_class=positive_class)
    target = level("precision", precision)
    share = delta / count("n_candidates", n_candidates)
    grid = precision_grid(*known, len(bound[0]), target, share, n_thresholds=_THRESHOLDS)
    made = target_precision(*bound, grid, target, delta, n_candidates=n_candidates)
    return replace(made, positive_class=positive_class)


def meet_costs(
    known: tuple[Floats, Bools],
    bound: tuple[Floats, Bools],
    costs: ArrayLike,
    *,
    usual: float | None = None,
    unknown: Bools | None = None,
    positive_class: str | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
    order: ArrayLike | None = None,
) -> CostCertificate:
    """Take the threshold that is cheapest on known rows, and certify its expected cost on bound rows.

    Parameters
    ----------
    known, bound, positive_class, delta, n_candidates
        As for `meet_target`.
    costs : array-like (2, 2)
        Truth by answer, negative class first.
    usual : float, optional
        The threshold by which the model's probabilities decide, which another one has to beat clearly.
    unknown : array (n,), optional
        Bound rows whose label is neither class: they cost as much as anything can.
    order : int array (n,), optional
        The order in which the bound rows are bet on, as for `certify_costs`.

    Examples
    --------
    >>> scores, positive = np.linspace(-1.0, 1.0, 400), np.arange(400) >= 200
    >>> certificate = meet_costs((scores, positive), (scores, positive), [[0, 1], [10, 0]])
    >>> certificate.mean_cost, round(certificate.cost_bound, 3)
    (0.0, 0.084)
    """
    table = cost_table(costs, ["negative", "positive"])
    threshold = cheapest_threshold(*known, table, usual=usual)
    scores, positive = bound
    each = row_costs(positive.astype(int), (scores > threshold).astype(int), table)
    if unknown is not None:
        each = np.where(unknown, table.max(), each)
    return certify_costs(
        each, float(table.max()), delta, n_candidates=n_candidates, threshold=threshold, positive_class=positive_class,
        order=order,
    )  # fmt: skip


def decision_from(record: Mapping[str, Any]) -> Decision:
    """Read what ``to_dict`` of a target or of costs wrote."""
    return TargetThreshold.from_dict(record) if "kind" in record else CostCertificate.from_dict(record)


def decision_of(card: Card) -> tuple[int, Decision]:
    """The place of the positive class in a stored model, and what was certified; ValueError if there is nothing.

    Examples
    --------
    >>> decision_of(Card())
    Traceback (most recent call last):
    ValueError: the model was fitted without target_recall, target_precision or costs, so that it knows no threshold.
    """
    if card.decision is None:
        raise ValueError(
            "the model was fitted without target_recall, target_precision or costs, so that it knows no threshold."
        )
    stored = card.decision
    if set(stored) != {"positive", "record"}:
        raise ValueError("the model's record of its threshold is damaged.")
    return count("positive", stored["positive"], least=0), decision_from(stored["record"])


def decision_texts(card: Card) -> list[str]:
    """What a stored model promises of answers by a threshold: abstaining, a target or costs, in words."""
    texts = []
    if card.abstention is not None:
        texts.append(Abstention.from_dict(card.abstention).describe())
    if card.decision is not None:
        texts.append(decision_of(card)[1].describe())
    return texts


def decided_codes(card: Card, scores: ArrayLike, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Classes by the certified threshold; as they are where costs of several classes are certified without one.

    Parameters
    ----------
    card : Card
        Of the model.
    scores : array (n,) or (n, K)
    codes : array (n,)
        The classes that ``predict`` answers.
    """
    positive, decision = decision_of(card)
    if decision.threshold is None:
        if isinstance(decision, TargetThreshold):
            of = "" if decision.positive_class is None else f" for {decision.positive_class}"
            raise ValueError(
                f"a {decision.kind} of {decision.target:g}{of} could not be certified when the model was fitted: there "
                "is no threshold."
            )
        return codes
    called = _towards(np.asarray(scores, np.float64), positive) > decision.threshold
    return np.where(called, positive, 1 - positive)


def _towards(scores: Floats, positive: int) -> Floats:
    return scores if positive == 1 else -scores


def certify_scores(
    scores: ArrayLike,
    y: ArrayLike,
    *,
    answers: ArrayLike | None = None,
    positive: Any = None,
    target_error: float | None = None,
    target_recall: float | None = None,
    target_precision: float | None = None,
    costs: Any = None,
    delta: float = 0.05,
    n_candidates: int = 1,
    aside: float = 0.3,
    random_state: int | None = None,
) -> Abstention | Decision:
    """Certify a decision by the scores of any model, on rows that had no part in making it.

    A random share of the rows is set aside: it fixes the thresholds. The other rows are the bound rows. Which rows
    these are depends on their scores, labels and answers, not on their places (`abnet.certificates.Split`).

    Parameters
    ----------
    scores : array-like (n,)
        For `target_error` how sure the model is of its answer, not negative; otherwise how much speaks for `positive`.
    y : array-like (n,)
        Labels.
    answers : array-like (n,), optional
        The model's answers, for `target_error`.
    positive : label, optional
        The class that recall, precision and costs are about; any other label is negative.
    target_error, target_recall, target_precision : float, optional
        Error among answered rows at most, recall or precision at least; or `costs`: exactly one of the four.
    costs : array-like (2, 2) or mapping, optional
        Truth by answer, negative class first; or from pairs of "negative" and "positive" to a cost. From pairs of
        labels, `positive` and one other: a row with any other label then costs as much as anything can.
    delta : float
        Probability with which the promise may fail.
    n_candidates : int
        Number of models among which you choose by means of these rows.
    aside : float
        Share of the rows that fix the thresholds.
    random_state : int, optional
        Decides which rows; fixed before looking, as trying several is choosing among candidates. By default it is drawn
        afresh.

    Returns
    -------
    Abstention, TargetThreshold or CostCertificate

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(2000) < 0.3
    >>> made = certify_scores(rng.normal(size=2000) + 3 * ill, np.where(ill, "ill", "well"), positive="ill",
    ...                       target_recall=0.9)
    >>> made.kind, made.threshold is not None, made.n_rows
    ('recall', True, 1400)
    """
    wanted = {"target_error": target_error, "target_recall": target_recall, "target_precision": target_precision,
              "costs": costs}  # fmt: skip
    given = [name for name, value in wanted.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"give one of {', '.join(wanted)}; got {' and '.join(given) or 'none'}.")
    s, labels = np.asarray(scores, np.float64), np.asarray(y)
    if s.ndim != 1 or labels.shape != s.shape or len(s) < 2:
        raise ValueError(f"scores and y must be vectors of two or more rows; got {s.shape} and {labels.shape}.")
    hashes = row_hashes({"score": s, **({} if answers is None else {"answer": np.asarray(answers)})}, labels)
    split = Split.of(hashes, level("aside", aside), drawn_seed(random_state))
    known, bound = split.first, split.counted
    terms: Any = {"delta": delta, "n_candidates": n_candidates}
    if target_error is not None:
        if answers is None:
            raise ValueError("target_error needs the model's answers beside its scores.")
        if s.min() < 0.0:
            raise ValueError("scores must not be negative for target_error: they say how sure the model is.")
        wrong = np.asarray(answers) != labels
        return abstention_records(s[known], s[bound], wrong[bound], target_error, **terms)[0]
    if positive is None or not np.any(labels == positive):
        raise ValueError(f"positive must be one of the labels; got {positive!r}.")
    is_positive = np.asarray(labels == positive, np.bool_)
    parts = ((s[known], is_positive[known]), (s[bound], is_positive[bound]))
    terms["positive_class"] = str(positive)
    if costs is None:
        return meet_target(*parts, recall=target_recall, precision=target_precision, **terms)
    table, negative = _costs_of_labels(costs, positive)
    unknown = np.zeros(len(s), np.bool_)
    if negative is not None:
        unknown = ~is_positive & np.array([str(label) != negative for label in labels.tolist()])
    some = known[~unknown[known]]  # what a row costs whatever is answered decides nothing
    if not len(some):
        raise ValueError(f"no row that was set aside is {positive} or {negative}, so that no threshold can be found.")
    terms["order"] = np.arange(len(bound))  # that of the split
    return meet_costs((s[some], is_positive[some]), parts[1], table, unknown=unknown[bound], **terms)


def _costs_of_labels(costs: Any, positive: Any) -> tuple[Floats, str | None]:
    """A table, negative class first, and the label of that class; None where every label but one is negative."""
    generic = ["negative", "positive"]
    if not isinstance(costs, Mapping):
        return cost_table(costs, generic), None
    names = {str(label) for pair in costs if isinstance(pair, tuple) for label in pair}
    if str(positive) not in names and names <= set(generic):
        return cost_table(costs, generic), None
    others = sorted(names - {str(positive)})
    if str(positive) not in names or len(others) != 1:
        raise ValueError(
            f"costs must name two labels, {positive} and one other, truth and answer; they name "
            f"{', '.join(sorted(names))}."
        )
    return cost_table(costs, [others[0], str(positive)]), others[0]
