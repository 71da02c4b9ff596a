"""`certify_table` and `certify_predictions`: certificates from the labelled rows of a table."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from abnet.certificates.certificate import Certificate
from abnet.certificates.certify_model import certify_judged, confusion_of
from abnet.certificates.certify_own_decision import about_the_decision
from abnet.certificates.decision import ARGMAX
from abnet.certificates.estimate import Estimate
from abnet.certificates.goals import Goal
from abnet.certificates.joint_shares import JointNames, Makes, hold_jointly, joint_shares
from abnet.certificates.judged_answers import Judged
from abnet.certificates.keyed_order import row_order
from abnet.certificates.prediction_sets import SetRows, set_statements
from abnet.certificates.random_seed import drawn_seed
from abnet.certificates.row_hashing import row_hashes
from abnet.certificates.scores import certify_scores
from abnet.certificates.set_rule import Sets
from abnet.certificates.statements.cost_bound import CostBound
from abnet.certificates.terms import Terms
from abnet.certificates.training_rows import estimate_error, refuse_fitted
from abnet.model.digest import belonging
from abnet.model.labelled_table import JudgedTable, judge_model_rows, judge_predictions
from abnet.model.table_rows import ModelOrPath, as_model
from abnet.tables.named_columns import label_text
from abnet.utils.errors import Parameter, ParameterError
from abnet.utils.parameters import check_fraction, check_positive

__all__ = ["CertifiedTable", "certify_predictions", "certify_table"]


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
    by: str | None = None,
    group: str | None = None,
    goal: Goal | None = None,
    sets: Sets | None = None,
    joint: JointNames | None = None,
    aside: float = 0.3,
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
    by : str, optional
        Column with populations; their bounds hold jointly.
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
    aside : float
        Fraction of the rows, chosen at random, that fixes the thresholds of a goal.
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
    wanted = _Wanted(goal, None, by, group, aside, random_state, _terms(delta, n_candidates), sets, joint)
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
    if rows.decision != ARGMAX and rows.promised is not None and rows.promised.each(CostBound):
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
    by: str | None = None,
    group: str | None = None,
    goal: Goal | None = None,
    positive_class: str | None = None,
    joint: JointNames | None = None,
    aside: float = 0.3,
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
    terms = _terms(delta, n_candidates)
    wanted = _Wanted(goal, positive_class, by, group, aside, random_state, terms, joint=joint)
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

    goal: Goal | None
    positive: str | None
    by: str | None
    group: str | None
    aside: float
    random_state: int | None
    terms: Terms
    sets: Sets | None = None
    joint: JointNames | None = None

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
        check_fraction("aside", self.aside)
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
            ours=bool(rows.known) and rows.decision.kind != "abstain",
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
            certificate = certify_judged(judged, terms, order, groups=groups, by=by, regions=rows.regions)
            if rows.decision != ARGMAX:
                certificate = about_the_decision(certificate, judged, rows.decision, rows.promised, terms)
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
