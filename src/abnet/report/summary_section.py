"""The first page: the certificate as one number, the decision rule, warnings, and the columns that matter most."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from abnet.certificates.certificate import Certificate
from abnet.certificates.describe import assumptions, balanced_error_sentences, rule_table
from abnet.certificates.rates_of_cut import first_warning
from abnet.certificates.statements.goal_statement import GoalStatement
from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.units import value_text
from abnet.model.model import Model
from abnet.report.certificate_section import Peer, better_peers, weak_classes
from abnet.report.estimates_section import fitted_warning
from abnet.report.further_certificates import further_certificates
from abnet.report.importance_section import direction_text
from abnet.report.markup import html_table, rendered, with_code
from abnet.report.measures import RowMeasures
from abnet.report.stated_facts import About
from abnet.report.svg import Bar, bar_chart
from abnet.tables.note_sentences import named_option
from abnet.tables.notes import Note, note_lines
from abnet.utils.wording import confidence, number_of, percent, percent_up, shortened

__all__ = ["about_rows", "summary_section"]

DRIVERS = 5
"""Maximum number of columns that the first page names."""
MOST_LISTED = 3
"""Maximum number of classes or models that a warning names."""


def about_rows(about: About, model: Model) -> list[tuple[str, str]]:
    """Lines for the head of the page: names and texts."""
    rows = [("Intended use", about.purpose or "not stated"), ("Owner", about.owner or "not stated")]
    if about.date:
        rows.append(("Date", about.date))
    data = ". ".join(filter(None, (about.data, ", ".join(_data_facts(model)))))
    if data:
        rows.append(("Data", data))
    return [(name, shortened(text, 600)) for name, text in rows]


def _data_facts(model: Model) -> list[str]:
    """What the model's card says about the training table."""
    card = model.card
    facts = []
    if card.n_training_rows is not None:
        facts.append(number_of(card.n_training_rows, "row"))
    if card.n_unlabelled_rows:
        facts.append(f"{number_of(card.n_unlabelled_rows, 'row')} without a label left out")
    if card.target is not None:
        facts.append(f"predicted column “{shortened(card.target, 60)}”")
    if card.data_fingerprint is not None:
        facts.append(f"fingerprint {card.data_fingerprint[:8]}")
    return facts


def summary_section(
    model: Model,
    peers: tuple[Peer, ...],
    measures: RowMeasures | None,
    explanation: ModelExplanation | None,
    certificates: Sequence[Certificate] = (),
) -> Markup:
    """One page for people accountable for the model."""
    certificate = model.certificate_
    of_vote = _of_plain_vote(model)
    assumed = None
    if certificate is not None:
        assumed = with_code(assumptions(certificate))
    return rendered(
        "summary.html",
        **_headline(model),
        decision=_decision(model),
        others=further_certificates(certificates),
        alarming=any(map(_is_alarming, model.preparation.notes)),
        warnings=[*_column_warnings(model), *_dropped_rows(model), *_warnings(model, peers, measures)],
        bounds=_bounds_compared(certificate, peers, of_vote),
        words_of_bounds=_words_of_bounds(peers),
        rates=_rates_compared(certificate, peers, measures, of_vote),
        drivers=_drivers(model, explanation),
        assumptions=assumed,
    )


# The headline


def _headline(model: Model) -> dict[str, Any]:
    """The certificate as one number, or a verdict if there is no number."""
    certificate = model.certificate_
    if certificate is None:
        words = "Nothing is promised about its error on new data."
        if model.card.bound_estimate is not None:
            words += f" An estimate of the bound is {percent(model.card.bound_estimate)}."
        return {"number": None, "verdict": "No certificate.", "verdict_words": words}
    if certificate.vote_error_bound is None:
        words = "No theorem covers the way it votes; the details say what is certified."
        return {"number": None, "verdict": "No certificate for its answers.", "verdict_words": words}
    goal = _goal(model)
    if goal is not None:
        return _goal_headline(goal, certificate)
    facts = certificate.facts
    words = (
        f"error rate{_of_plain_vote(model)} (upper bound) on {_new_data(certificate)} from the same source, with "
        f"{confidence(facts.delta)} confidence; {percent(certificate.empirical_error)} of "
        f"{number_of(facts.n_rows, 'counted row')} were wrong."
    )
    majority = percent(certificate.majority_class_error)
    words += f" Always answering the most common class would be wrong on {majority} of them."
    return {"number": percent_up(certificate.vote_error_bound), "number_words": words}


def _new_data(certificate: Certificate) -> str:
    """What the bounds are about: new rows, or rows of a new group; of a period, if there is one."""
    facts = certificate.facts
    if facts.period is None:
        return facts.new_data
    return f"{facts.new_data} like the rows {facts.period},"


def _goal(model: Model) -> GoalStatement | None:
    """The certified goal of a decision that is not the plain vote; None if there is none."""
    certificate = model.certificate_
    if certificate is None or model.decision.kind == "argmax":
        return None
    certified = (goal for goal in certificate.each(GoalStatement) if goal.value is not None)
    return next(certified, None)


def _goal_headline(goal: GoalStatement, certificate: Certificate) -> dict[str, Any]:
    """The goal of the decision as one number, and what the plain vote would reach."""
    goal_text = (
        f"{goal.headline}, on {_new_data(certificate)} from the same source, with {confidence(goal.delta)} "
        f"confidence{goal.headline_counts}."
    )
    others = [statement.headline_note for statement in certificate.statements if statement.headline_note is not None]
    if certificate.vote_error_bound is not None:
        bound = percent_up(certificate.vote_error_bound)
        others.append(f"Without the rule, the plain vote errs on at most {bound}.")
    if others:
        others.append("Each of these statements holds with its own confidence.")
    return {"number": goal.headline_value, "number_words": " ".join([goal_text, *others])}


def _of_plain_vote(model: Model) -> str:
    """What error bounds are about, if answers follow another decision than the plain vote."""
    if model.decision.kind == "argmax":
        return ""
    return " of the plain vote"


# The decision


def _decision(model: Model) -> dict[str, Any] | None:
    """The rule by which rows are answered, and what is certified about it; None for the plain vote."""
    if model.decision.kind == "argmax":
        return None
    certificate = model.certificate_
    if certificate is None:
        return {"rule": _rule(model), "promises": [], "table": ""}
    promises = []
    for statement in certificate.statements:
        if statement.about_decision:
            promises.append(with_code(statement.sentence(certificate.facts)))
    header, *lines = rule_table(certificate)
    rates: Markup | str = ""
    if lines:
        rates = html_table(header, lines, caption="What the rule reaches")
    return {"rule": _rule(model), "promises": promises, "table": rates}


def _rule(model: Model) -> str:
    """The decision in words, with its threshold as a score and, if the model has probabilities, as a probability."""
    if model.decision.costs is not None:
        names = [shortened(name, 60) for name in model.labels.names]
        return model.decision.sentence(names)
    threshold = float(model.decision.threshold or 0.0)
    if model.decision.kind == "cut":
        return _cut_rule(model, threshold)
    if threshold < 0.0:  # every row has a larger score
        return "The model answers every row: the goal is met without leaving any to a person."
    if model.n_classes == 2:
        condition = f"the absolute value of its score is above {threshold!r}{_probability(model, threshold, 1)}"
    else:
        condition = f"the largest score of a class is above {threshold!r}"
    return f"The model answers a row only if {condition}. It gives no answer to other rows: they go to a person."


def _cut_rule(model: Model, threshold: float) -> str:
    positive = int(model.decision.positive or 0)
    name = shortened(model.labels.names[positive], 60)
    other = shortened(model.labels.names[1 - positive], 60)
    if positive == 1:
        score = threshold
    else:
        score = -threshold
    probability = _probability(model, score, positive)
    return (
        f"The model answers {name} if the score for {name} is above {threshold!r}{probability}, and {other} otherwise."
    )


def _probability(model: Model, score: float, code: int) -> str:
    """The probability that a score stands for, in brackets; empty if there is none."""
    if not model.predictor.shares or abs(score) > 1:
        return ""
    probability = model.probabilities_from_scores(np.array([score]))[0, code]
    return f" (a probability above {percent(float(probability))})"


# Warnings


class _Warning(NamedTuple):
    """A warning, and the name of its kind, which stands in the page as ``data-warning``."""

    kind: str
    text: str


def _is_alarming(note: Note) -> bool:
    """Whether the certificate may not mean what it seems to mean; identifiers were left out and raise no doubt."""
    return note.severity == "leak" and note.code != "identifier"


def _column_warnings(model: Model) -> list[_Warning]:
    """Columns that leak the label or say which rows belong together, then columns that were left out."""
    notes = [note for note in model.preparation.notes if note.severity == "leak" or note.left_out]
    notes.sort(key=lambda note: not _is_alarming(note))
    lines = note_lines(notes, most=len(notes), spell=named_option)
    return [_Warning("columns", shortened(f"{line[0].upper()}{line[1:]}.", 600)) for line in lines]


def _dropped_rows(model: Model) -> list[_Warning]:
    """Rows of the table that had no part in the model or its certificate."""
    dropped = model.card.n_unlabelled_rows
    if not dropped:
        return []
    rows = number_of(dropped, "row")
    text = f"{rows} without a label left out: the certificate is about rows like those that had one."
    return [_Warning("dropped rows", text)]


def _warnings(model: Model, peers: tuple[Peer, ...], measures: RowMeasures | None) -> list[_Warning]:
    certificate = model.certificate_
    warnings: list[_Warning] = []
    if certificate is not None:
        of_vote = _of_plain_vote(model)
        warnings += _missed_goals(certificate)
        warnings += _one_sided_rule(model, certificate)
        warnings += _useless_bound(certificate)
        warnings += _better_models(certificate, peers, of_vote)
        # If a threshold decides, bounds of the plain vote by class say nothing about the answers.
        if model.decision.kind != "cut":
            warnings += _weak_classes(certificate, of_vote)
    if model.decision.kind == "cut":
        warnings += _uncertified_side(model, measures)
    if measures is not None and measures.were_fitted:
        warnings.append(_Warning("training rows", fitted_warning(measures)))
    return warnings


def _missed_goals(certificate: Certificate) -> list[_Warning]:
    """Goals that could not be certified: the model then answers by its plain vote."""
    warnings = []
    for goal in certificate.each(GoalStatement):
        if goal.value is None:
            missed = goal.sentence(certificate.facts)
            warnings.append(_Warning("missed goal", f"{missed} The model answers by its plain vote."))
    return warnings


def _one_sided_rule(model: Model, certificate: Certificate) -> list[_Warning]:
    """A certified goal whose rule decides nearly all rows in the same way."""
    if _goal(model) is None:
        return []
    warning = first_warning(certificate.statements)
    if warning is None:
        return []
    return [_Warning("one-sided rule", warning)]


def _uncertified_side(model: Model, measures: RowMeasures | None) -> list[_Warning]:
    """The errors that a certified rate of a cut does not limit, with an estimate if labelled rows are given."""
    goal = _goal(model)
    if goal is None or goal.leaves_open is None:
        return []
    positive = int(model.decision.positive or 0)
    negative = 1 - positive
    name = shortened(model.labels.names[positive], 60)
    other = shortened(model.labels.names[negative], 60)
    if goal.leaves_open == "false alarms":
        truth = negative
        answer = positive
        what = f"{other} rows are called {name}"
    else:
        truth = positive
        answer = negative
        what = f"{name} rows are missed"
    warning = f"Nothing is certified about how many {what}."
    if measures is not None:
        wrong = int(measures.confusion[truth, answer])
        total = int(measures.confusion[truth].sum())
        if total:
            rate = percent(wrong / total)
            warning += f" On the rows given it was {wrong:,} of {total:,} ({rate}; an estimate)."
    return [_Warning("uncertified side", warning)]


def _useless_bound(certificate: Certificate) -> list[_Warning]:
    """A bound that is no better than always answering the most common class."""
    bound = certificate.vote_error_bound
    majority = certificate.majority_class_error
    if bound is None or bound <= majority:
        return []
    warning = (
        "The bound is no better than always answering the most common class, which is wrong on "
        f"{percent(majority)} of the rows."
    )
    return [_Warning("useless bound", " ".join([warning, *balanced_error_sentences(certificate)]))]


def _better_models(certificate: Certificate, peers: tuple[Peer, ...], of_vote: str) -> list[_Warning]:
    """Other models with a lower bound."""
    better = better_peers(certificate, peers)
    if not better or certificate.vote_error_bound is None:
        return []
    names = [f"{shortened(peer.name, 60)} (at most {percent_up(peer.bound or 0.0)})" for peer in better[:MOST_LISTED]]
    listing = _listing(names, len(better))
    own = f"{percent_up(certificate.vote_error_bound)}{of_vote}"
    if len(better) == 1:
        claim = f"{listing} has a lower bound than this model ({own})."
        return [_Warning("better models", f"{claim} This does not show that its error rate is lower.")]
    claim = f"{listing} have lower bounds than this model ({own})."
    return [_Warning("better models", f"{claim} This does not show that their error rates are lower.")]


def _weak_classes(certificate: Certificate, of_vote: str) -> list[_Warning]:
    """Classes whose bound is much higher than the one for all classes, the highest first."""
    weak = sorted(weak_classes(certificate), key=lambda part: -(part.vote_error_bound or 0.0))
    if not weak or certificate.vote_error_bound is None:
        return []
    overall = f"much higher than the {percent_up(certificate.vote_error_bound)} for all classes."
    bounds = [percent_up(part.vote_error_bound or 0.0) for part in weak]
    wrong = [f"{part.vote_errors:,} of {part.n_examples:,} wrong" for part in weak]
    names = [shortened(part.label, 60) for part in weak]
    if len(weak) == len(certificate.per_class):
        few = f"The bounds per class{of_vote} rest on few rows each"
        return [_Warning("weak classes", f"{few}: they range from {bounds[-1]} to {bounds[0]}, {overall}")]
    if len(weak) == 1:
        claim = f"For class {names[0]} the bound{of_vote} is {bounds[0]} ({wrong[0]}), {overall}"
        return [_Warning("weak classes", claim)]
    parts = [f"{name} ({bound}; {errors})" for name, bound, errors in zip(names, bounds, wrong, strict=True)]
    listing = _listing(parts[:MOST_LISTED], len(weak))
    return [_Warning("weak classes", f"For classes {listing} the bounds{of_vote} are {overall}")]


def _listing(names: list[str], count: int) -> str:
    """The first of `count` names, as part of a sentence.

    Examples
    --------
    >>> _listing(["a"], 1), _listing(["a", "b"], 2), _listing(["a", "b"], 5)
    ('a', 'a and b', 'a, b and 3 more')
    """
    if count > len(names):
        return f"{', '.join(names)} and {count - len(names)} more"
    if count == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


# Other models, and the columns


def _bounds_compared(certificate: Certificate | None, peers: tuple[Peer, ...], of_vote: str) -> Markup | None:
    """Upper bounds of this model and of others; plain error rates never share an axis with them."""
    bars = []
    if certificate is not None and certificate.vote_error_bound is not None:
        name = f"this model{_vote_in_brackets(of_vote)}"
        if certificate.facts.n_groups is not None:
            name += ", for a new group"
        bars.append(Bar(name, f"at most {percent_up(certificate.vote_error_bound)}", certificate.vote_error_bound))
    for peer in peers:
        if peer.bound is not None:
            bars.append(Bar(shortened(peer.name, 120), f"at most {percent_up(peer.bound)}", peer.bound, "other"))
    if not bars:
        return None
    return bar_chart(bars, "Upper bounds on the error rate")


def _rates_compared(
    certificate: Certificate | None, peers: tuple[Peer, ...], measures: RowMeasures | None, of_vote: str
) -> Markup | None:
    """Error rates that were counted, for this model, for others and for always answering the most common class."""
    bars = []
    majority = None
    if certificate is not None:
        majority = certificate.majority_class_error
        name = f"this model{_vote_in_brackets(of_vote)}, held-out rows"
        bars.append(_rate_bar(name, certificate.empirical_error, "main", rows="held-out"))
    if measures is not None:
        bars.append(_rate_bar("this model, rows given", measures.error, "second", rows="given"))
        if majority is None:
            majority = measures.base_rate
    for peer in peers:
        name = shortened(peer.name, 120)
        if peer.seen is not None:
            bars.append(_rate_bar(f"{name}, held-out rows", peer.seen, "other", rows="held-out"))
        if peer.tested is not None:
            bars.append(_rate_bar(f"{name}, test rows", peer.tested, "other", rows="test"))
    if majority is not None:
        bars.append(_rate_bar("always the most common class (majority-class error)", majority, "plain"))
    if not bars:
        return None
    return bar_chart(bars, "Error rates that were counted")


def _vote_in_brackets(of_vote: str) -> str:
    """After the name of a bar: whose answers it shows, if they are not those of the decision rule."""
    if of_vote:
        return " (plain vote)"
    return ""


def _rate_bar(name: str, rate: float, style: str, *, rows: str = "") -> Bar:
    """A bar of an error rate, and the rows on which it was counted."""
    return Bar(name, percent(rate), rate, style, rows=rows)


def _words_of_bounds(peers: tuple[Peer, ...]) -> Markup:
    if peers:
        return Markup("Each bound holds by itself: choosing the model with the smallest after looking is not covered.")
    return Markup(
        "No other model was compared; <code>abnet compare</code> does that, and its results can be shown here."
    )


def _drivers(model: Model, explanation: ModelExplanation | None) -> list[tuple[str, str]]:
    """The columns that move the answers most, each with how much and in which direction."""
    if explanation is None:
        return []
    drivers = []
    for column in explanation.ranked()[:DRIVERS]:
        if column.contribution > 0:
            size = value_text(column.contribution, explanation.unit)
            text = f"moves {explanation.quantity} by {size} on average"
            direction = direction_text(model, column, explanation)
            if direction:
                text += f", {direction}"
            drivers.append((shortened(column.column, 60), text))
    return drivers
