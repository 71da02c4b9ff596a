"""`certify_table`, `certify_predictions` and `certify_mix`: certificates from the labelled rows of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import certify_judged, confusion_of
from abnet.certificates.certify_own_decision import about_the_decision
from abnet.certificates.decision import ARGMAX
from abnet.certificates.estimate import Estimate
from abnet.certificates.goals import Costs, Goal
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly, joint_shares
from abnet.certificates.judged_answers import Judged, count_answers
from abnet.certificates.keyed_order import row_order
from abnet.certificates.prediction_sets import SetRows, set_statements
from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.requests import Gaps, Requests, split_populations
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.scores import certify_scores
from abnet.certificates.set_rule import Sets
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import estimate_error, refuse_fitted
from abnet.model.digest import belonging
from abnet.model.labelled_table import (
    JudgedTable,
    given_answers,
    judge_model_rows,
    judge_predictions,
    new_answers,
)
from abnet.model.table_rows import ModelOrPath, as_model
from abnet.tables import TableError
from abnet.tables.named_columns import label_text
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.parameters import check_fraction, check_positive

__all__ = ["CertifiedTable", "certify_mix", "certify_predictions", "certify_table"]


@dataclass(frozen=True)
class CertifiedTable:
    """A certificate, or an estimate, with the rows from which it was computed.

    Attributes
    ----------
    made : Certificate or Estimate
    unlabelled : int
        Number of rows without a label, which are left out.
    fitted_rows : int or None
        Number of rows with the same values and label as training rows; None if the model does not store its training
        rows' filter.
    notes : tuple of str
    judged : Judged
        Labels and answers of the rows.
    terms : Terms
    """

    made: Certificate | Estimate
    unlabelled: int
    fitted_rows: int | None
    notes: tuple[str, ...]
    judged: Judged = field(repr=False)
    terms: Terms = field(repr=False)
    ours: bool = field(default=False, repr=False)

    @property
    def kind(self) -> Literal["certificate", "estimate"]:
        """What `made` is."""
        if isinstance(self.made, Certificate):
            return "certificate"
        return "estimate"

    def describe(self) -> str:
        """Describe in plain English what is certified."""
        return self.made.describe()

    def confusion(self) -> Certificate:
        """Confusion matrix, with limits that hold jointly; it is a statement separate from the certificate."""
        # An abnet model answers with labels that it knows, unless it abstains; another model may return anything.
        return confusion_of(self.judged, self.terms, others=not self.ours)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {self.kind: self.made.to_dict(), "unlabelled": self.unlabelled, "fitted_rows": self.fitted_rows}


def certify_table(
    model: ModelOrPath,
    table: Any,
    *,
    truth: str | None = None,
    by: str | Gaps | None = None,
    group: str | None = None,
    goal: Goal | None = None,
    sets: Sets | None = None,
    joint: JointNames | None = None,
    aside: float | None = None,
    random_state: int | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
    allow_training_rows: bool = False,
    allow_shift: bool = True,
) -> CertifiedTable:
    """Certify an abnet model on labelled rows that were held out from training.

    Parameters
    ----------
    model : path, Model or fitted classifier
    table : path, frame, or iterable of frames
        Rows held out from training and selection. Rows without a label are left out.
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    by : str or Gaps, optional
        Column with populations; their bounds hold jointly. With `abnet.Gaps` they are groups: their rates get limits on
        both sides, and the largest gap between two groups a bound.
    group : str, optional
        Column with the group of each row; the certificate is then about a new group.
    goal : Goal, optional
        Certify a threshold for this goal: `TargetError`, `TargetRecall`, `TargetSpecificity`, `TargetPrecision` or
        `Costs`.
    sets : Sets, optional
        Find prediction sets with these rows, and certify how often they miss the true class
        (`abnet.prediction_sets`). `predict_table` takes them from the saved certificate.
    joint : sequence of str or dict, optional
        Names of statements that are to hold jointly, as for `abnet.certify`.
    aside : float, optional
        For `Costs`: fraction of the rows, chosen at random, that fixes the threshold; by default 0.3.
    random_state : int, optional
        Seed for choosing these rows and for the order in which betting bounds read the rows; drawn anew by default.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models among which you choose with these rows.
    allow_training_rows : bool
        Whether to accept training rows; the result is then an estimate without a guarantee.
    allow_shift : bool
        Whether to accept a numeric column far outside its training range in most rows, as for `predict_table`.

    Raises
    ------
    TrainingRowsError
        A ValueError: the model was fitted on more of the rows than chance explains.
    """
    wanted = _Wanted.of(
        by,
        goal=goal,
        group=group,
        sets=sets,
        joint=joint,
        aside=aside,
        random_state=random_state,
        terms=_terms(delta, n_candidates),
    )
    wanted.check()
    if allow_training_rows and (by or group or goal is not None or sets is not None or joint is not None):
        raise ParameterError(
            "{} gives only an estimate of the error: leave out targets, costs, sets, groups and populations.",
            Parameter("allow_training_rows"),
        )
    loaded = as_model(model)
    goal_label = None
    if goal is not None:
        goal_label = _label_of_scores(goal, loaded.labels.names)
        wanted = replace(wanted, positive=goal_label or None)
    rows = judge_model_rows(
        loaded,
        table,
        truth=truth,
        columns=wanted.columns,
        scored=goal_label,
        probabilities=sets is not None,
        allow_shift=allow_shift,
    )
    if group is None:
        rows.check_alone(loaded)
    if allow_training_rows:
        return wanted.outcome(estimate_error(rows.judged().wrong, rows.fitted_rows), rows)
    refuse_fitted(rows.fitted_rows)
    if rows.decision.kind == "cut" and rows.promised is not None and rows.promised.each(CostBound):
        rows.further_notes.append(
            "the model was fitted with costs, and every error counts the same here; give the costs again"
        )
    made = wanted.certified(rows)
    if goal is not None or not isinstance(made.made, Certificate):
        return made  # the certified threshold is not that of the model
    return replace(made, made=belonging(made.made, loaded))


def certify_predictions(
    table: Any,
    *,
    truth: str,
    prediction: str | None = None,
    score: str | None = None,
    by: str | Gaps | None = None,
    group: str | None = None,
    goal: Goal | None = None,
    positive_class: str | None = None,
    joint: JointNames | None = None,
    aside: float | None = None,
    random_state: int | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
) -> CertifiedTable:
    """Certify the answers of any model, given in a column of a table beside the labels.

    Parameters
    ----------
    table : path, frame, or iterable of frames
    truth : str
        Column with the labels.
    prediction : str, optional
        Column with the model's answers; a missing answer counts as an error.
    score : str, optional
        Column with the model's scores, for a goal: its confidence in the answer (`TargetError`), or the score of the
        positive class.
    positive_class : str, optional
        The class that the scores belong to, for `Costs`.
    by, group, goal, joint, aside, random_state, delta, n_candidates
        As for `certify_table`.

    Examples
    --------
    >>> table = {"truth": ["ill", "well"] * 50, "answer": ["ill"] * 100}
    >>> made = certify_predictions(table, truth="truth", prediction="answer").made
    >>> round(made.vote_error_bound, 3)
    0.586
    """
    wanted = _Wanted.of(
        by,
        goal=goal,
        positive=positive_class,
        group=group,
        joint=joint,
        aside=aside,
        random_state=random_state,
        terms=_terms(delta, n_candidates),
    )
    wanted.check()
    if truth in (prediction, score):
        raise ParameterError(
            "column {!r} cannot be both the {} and the model's answer or score: name another column.",
            truth,
            Parameter("truth"),
        )
    needs_prediction = goal is None or goal.needs_confidence
    if (score is not None) != (goal is not None) or (needs_prediction and prediction is None):
        raise ParameterError(
            "{} needs a target or costs; a target error and a plain certificate need {}.",
            Parameter("score"),
            Parameter("prediction"),
        )
    rows = judge_predictions(table, truth=truth, prediction=prediction, score=score, columns=wanted.columns)
    return wanted.certified(rows)


def certify_mix(
    model: ModelOrPath | None,
    table: Any,
    *,
    mix: Mapping[str, float] | None = None,
    new_rows: Any = None,
    truth: str | None = None,
    prediction: str | None = None,
    delta: float = 0.05,
    n_candidates: int = 1,
    allow_shift: bool = True,
) -> CertifiedTable:
    """Certify the error rate on new data with another class mix, known or seen in unlabelled rows.

    This assumes label shift: only the shares of the classes change, and the rows within each class look as before.

    Parameters
    ----------
    model : path, Model or fitted classifier, or None
        None for another model, whose answers are in the column `prediction` of both tables.
    table : path, frame, or iterable of frames
        Labelled rows held out from training and selection. Rows without a label are left out.
    mix : dict, optional
        Shares of the classes in the new data, known before you look at the rows; one class may be left out.
    new_rows : path, frame, or iterable of frames, optional
        Unlabelled rows of the new data, in place of `mix`.
    truth : str, optional
        Column with the labels; by default the one that the model predicts.
    prediction : str, optional
        Column with the answers of another model.
    delta : float
        Maximum probability that the certificate is false.
    n_candidates : int
        Number of models (or mixes) among which you choose with these rows.
    allow_shift : bool
        Whether to accept a numeric column far outside its training range in most rows, as for `predict_table`.

    Raises
    ------
    NotLabelShiftError
        A ValueError: no shares of the classes explain the answers on `new_rows`.

    Examples
    --------
    >>> table = {"truth": ["fraud"] * 20 + ["ok"] * 380, "answer": ["fraud"] * 15 + ["ok"] * 385}
    >>> made = certify_mix(None, table, mix={"fraud": 0.01}, truth="truth", prediction="answer").made
    >>> made.statements[-1].about, round(made.statements[-1].value, 3)
    ('error rate at the given class mix', 0.02)
    """
    if (mix is None) == (new_rows is None):
        raise ParameterError("give either {} or {}.", Parameter("mix"), Parameter("new_rows"))
    if (model is None) != (prediction is not None):
        raise ParameterError("give either a model or {}, the column with its answers.", Parameter("prediction"))
    new: list[str | None] = []
    if model is None:
        assert prediction is not None
        if truth is None:
            raise ParameterError("{} names the column with the labels.", Parameter("truth"))
        rows = judge_predictions(table, truth=truth, prediction=prediction)
        if new_rows is not None:
            new = given_answers(new_rows, prediction)
    else:
        loaded = as_model(model)
        rows = judge_model_rows(loaded, table, truth=truth, allow_shift=allow_shift)
        rows.check_alone(loaded)
        refuse_fitted(rows.fitted_rows)
        if new_rows is not None:
            new = new_answers(loaded, new_rows, allow_shift=allow_shift)
    judged = rows.judged()
    shares = None
    if mix is not None:
        shares = {label_text(str(label)): share for label, share in mix.items()}
    answers = None
    if new_rows is not None:
        if not new:
            raise TableError("the table of new rows is empty, so nothing is known of its class mix.")
        answers = count_answers(new, judged.classes)
    requests = Requests(mix=shares, new_answers=answers, others=not rows.answers_known_labels)
    made = _Wanted(terms=_terms(delta, n_candidates), requests=requests).certified(rows)
    if model is None or not isinstance(made.made, Certificate):
        return made
    return replace(made, made=belonging(made.made, loaded))


def _terms(delta: float, n_candidates: int) -> Terms:
    """The terms of a certificate from a test set."""
    check_positive("n_candidates", n_candidates, whole=True)
    check_fraction("delta", delta)
    return Terms(delta=delta, n_candidates=n_candidates, source="test set")


def _label_of_scores(goal: Goal, names: tuple[str, ...]) -> str:
    """The label that the scores belong to; empty if they are the model's confidence."""
    if goal.needs_confidence:
        return ""
    if goal.positive_label is not None:
        return label_text(str(goal.positive_label))
    return label_text(names[-1])


@dataclass(frozen=True)
class _Wanted:
    """What to certify: a threshold for a goal, prediction sets, populations, groups, or the error rate of all rows."""

    terms: Terms
    sets: Sets | None = None
    joint: JointNames | None = None
    goal: Goal | None = None
    positive: str | None = None
    by: str | None = None
    group: str | None = None
    aside: float | None = None
    random_state: int | None = None
    requests: Requests = field(default_factory=Requests)

    @classmethod
    def of(cls, by: str | Gaps | None, **wanted: Any) -> "_Wanted":
        """With the populations, or the groups of which gaps are requested; labels of tables are text."""
        column, gaps = split_populations(by)
        if gaps is not None:
            if not isinstance(column, str):
                raise ParameterError("{} must name a column of the table.", Parameter("by"))
            if gaps.positive is not None:
                gaps = replace(gaps, positive=label_text(str(gaps.positive)))
        return cls(by=column, requests=Requests(gaps=gaps), **wanted)

    @property
    def columns(self) -> dict[str, str]:
        """Columns to keep, by the parameter that names each."""
        columns = {}
        if self.by is not None:
            columns["by"] = self.by
        if self.group is not None:
            columns["group"] = self.group
        return columns

    def check(self) -> None:
        """Raise a ParameterError for options that cannot be combined."""
        if self.aside is not None:
            check_fraction("aside", self.aside)
            if not isinstance(self.goal, Costs):
                raise ParameterError("{} is for costs only: leave it out.", Parameter("aside"))
        by = Parameter("by")
        group = Parameter("group")
        if len(self.columns) > 1:
            raise ParameterError("use {} or {}, not both: there is no bound for populations of groups.", by, group)
        if self.goal is not None and self.columns:
            raise ParameterError("a target or costs count single rows: leave out {} and {}.", by, group)
        if self.sets is not None and self.group is not None:
            raise ParameterError("{} count single rows: leave out {}.", Parameter("sets"), group)
        if self.sets is not None and self.goal is not None:
            raise ParameterError("a target or costs set some rows aside: leave out {}.", Parameter("sets"))
        joint_shares(self.joint)

    def certified(self, rows: JudgedTable) -> CertifiedTable:
        """The requested certificate."""
        if self.goal is None:
            return self.outcome(self._errors(rows), rows)
        return self.outcome(self._decision(rows, self.goal), rows)

    def outcome(self, made: Certificate | Estimate, rows: JudgedTable) -> CertifiedTable:
        """The result as a `CertifiedTable`."""
        n_fitted = None
        if rows.fitted_rows is not None:
            n_fitted = rows.fitted_rows.found
        return CertifiedTable(
            made,
            rows.unlabelled,
            n_fitted,
            rows.notes,
            rows.judged(),
            self.terms,
            ours=rows.answers_known_labels,
        )

    def _errors(self, rows: JudgedTable) -> Certificate:
        """The certificate of the error rate."""
        groups = None
        if self.group is not None:
            groups = rows.groups(self.group)
        by = None
        if self.by is not None:
            by = rows.populations(self.by)
        shown = {"truth": np.array(rows.truth, object), "answer": np.array(rows.answers, object)}
        judged = rows.judged()
        order = row_order(row_hashes(shown), drawn_seed(self.random_state), groups)
        set_rows = None
        if self.sets is not None:
            set_rows = SetRows(np.concatenate(rows.probabilities), judged.truth, rows.known)

        def made(makes: Makes) -> Certificate:
            terms = replace(self.terms, delta=makes.delta)
            certificate = certify_judged(
                judged, terms, order, groups=groups, by=by, regions=rows.regions, requests=self.requests
            )
            if rows.decision != ARGMAX:
                certificate = about_the_decision(certificate, judged, rows.decision, rows.promised, terms, order)
            if self.sets is not None and set_rows is not None:
                certificate = certificate.adding(set_statements(set_rows, self.sets, terms, makes))
            return certificate

        return hold_jointly(made, self.terms.delta, self.joint)

    def _decision(self, rows: JudgedTable, goal: Goal) -> Certificate:
        """The certificate of a decision for the goal."""
        rows.judged()  # refuses a table without labels
        positive = None
        if self.positive is not None:
            positive = label_text(self.positive)
        goal = goal.relabelled(lambda label: label_text(str(label)))
        rows.further_notes += goal.check_labels(rows.truth, rows.known, positive)
        return certify_scores(
            rows.scores,
            rows.truth,
            goal,
            answers=np.array(rows.answers, object),
            positive=positive,
            aside=self.aside,
            joint=self.joint,
            random_state=self.random_state,
            delta=self.terms.delta,
            n_candidates=self.terms.n_candidates,
        )
