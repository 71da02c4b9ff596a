"""The first page: the promise as one number, the decision rule, what to watch out for, and what moves the answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from abnet.certificates.certificate import Certificate
from abnet.certificates.rule_rates import OF_RULE, extreme
from abnet.certificates.sentences import assumptions, balanced_words, rule_table, sentence
from abnet.certificates.statement import Statement
from abnet.explanation.model_explanation import ModelExplanation
from abnet.explanation.units import value_text
from abnet.model.model import Model
from abnet.report.estimates import fitted_warning
from abnet.report.markup import rendered, short, table, with_code
from abnet.report.measures import RowMeasures
from abnet.report.moves import direction_text
from abnet.report.promise import Peer, better_peers, weak_classes
from abnet.report.svg import Bar, bar_chart
from abnet.tables.notes import Note, named_option, note_lines
from abnet.utils.wording import confidence, figure_up, number_of, percent, percent_down, percent_up, stated

__all__ = ["About", "about_rows", "summary_section"]

DRIVERS = 5
"""Columns that the first page names."""
MOST_LISTED = 3
"""Classes or models that a warning names."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What people say about a model, for the head of its report; every field is optional.

    Attributes
    ----------
    title, owner, purpose, date, data : str or None
        Heading; who is accountable for the model; what it is for; a date; a description of the data.
    """

    title: str | None = None
    owner: str | None = None
    purpose: str | None = None
    date: str | None = None
    data: str | None = None


def about_rows(about: About, model: Model) -> list[tuple[str, str]]:
    """Lines for the head of the page; what nobody stated is said to be missing."""
    card = model.card
    rows = [("Intended use", about.purpose or "not stated"), ("Owner", about.owner or "not stated")]
    rows += [("Date", about.date)] if about.date else []
    known = [] if card.n_training_rows is None else [number_of(card.n_training_rows, "row")]
    known += [f"{number_of(card.n_unlabelled_rows, 'row')} without a label left out"] if card.n_unlabelled_rows else []
    known += [] if card.target is None else [f"predicted column “{short(card.target, 60)}”"]
    known += [] if card.data_fingerprint is None else [f"fingerprint {card.data_fingerprint[:8]}"]
    data = ". ".join(filter(None, (about.data, ", ".join(known))))
    rows += [("Data", data)] if data else []
    rows += [("Method", card.recipe[:300])] if card.recipe else []
    return [(name, short(text, 600)) for name, text in rows]


def summary_section(
    model: Model, peers: tuple[Peer, ...], measures: RowMeasures | None, found: ModelExplanation | None
) -> Markup:
    """One page for people accountable for the model."""
    c = model.certificate_
    bars, doubts = _bars(c, peers, measures, _plain_vote(model)), _doubts(model)
    alarming = any(map(_alarming, model.preparation.notes))
    return rendered(
        "summary.html", **_headline(model), decision=_decision(model), alarming=alarming,
        warnings=[*doubts, *_warnings(model, peers, measures)],
        bars=bar_chart(bars, "Error rates of this model and others") if bars else None,
        bars_words=_bars_words(bars, peers), drivers=_drivers(model, found),
        assumptions=None if c is None else with_code(assumptions(c)),
    )  # fmt: skip


def _headline(model: Model) -> dict[str, Any]:
    c = model.certificate_
    bound = None if c is None else c.vote_error_bound
    if c is None:
        estimate = model.card.bound_estimate
        figure = "" if estimate is None else f" An estimate of the bound is {percent(estimate)}."
        words = f"Nothing is promised about its error on new data.{figure}"
        return {"number": None, "verdict": "No certificate.", "verdict_words": words}
    if bound is None:
        words = "No theorem covers the way it votes; the details say what is certified."
        return {"number": None, "verdict": "No certificate for its answers.", "verdict_words": words}
    grouped = c.facts.n_groups is not None
    where = "a new group, averaged over its rows," if grouped else "new data"
    goal = _goal(model)
    if goal is not None:
        return _goal_headline(goal, c, where)
    plain = _plain_vote(model)
    majority = c.majority_class_error
    beside = (
        ""
        if majority is None
        else f" Always answering the most common class would be wrong on {percent(majority)} of them."
    )
    words = (
        f"error rate{plain} (upper bound) on {where} from the same source, with {confidence(c.facts.delta)} "
        f"confidence; {percent(c.empirical_error)} of {number_of(c.facts.n_rows, 'counted row')} were wrong.{beside}"
    )
    return {"number": percent_up(bound), "number_words": words}


def _goal(model: Model) -> Statement | None:
    """What is promised of a decision that is not the plain vote; None where nothing is."""
    c = model.certificate_
    if c is None or model.decision.kind == "argmax":
        return None
    return next((s for s in c.statements if "threshold" in s.rule and s.value is not None), None)


def _goal_headline(goal: Statement, c: Certificate, where: str) -> dict[str, Any]:
    """The promise of the decision as one number, and what the plain vote would reach."""
    value, name = goal.value or 0.0, short(goal.name or "", 60)
    what = {
        "recall": f"recall of {name} (lower bound): the share of {name} rows that the decision rule finds",
        "precision": f"precision for {name} (lower bound): the share of rows called {name} that are {name}",
        "error": "error rate among answered rows (upper bound)",
        "cost": "expected cost of a row under the decision rule (upper bound)",
    }.get(goal.quantity, f"{goal.quantity} of the decision rule ({goal.side})")
    counted = goal.counted
    seen = f"; {counted['failures']:,} of {counted['trials']:,} counted rows failed" if "failures" in counted else ""
    covered = next((s for s in c.statements if s.quantity == "coverage" and s.value is not None), None)
    answered = "" if covered is None else f" At least {percent_down(covered.value or 0.0)} of the rows are answered."
    plain = "" if c.vote_error_bound is None else (
        f" Without the rule, the plain vote errs on at most {percent_up(c.vote_error_bound)}."
    )  # fmt: skip
    apart = " Each of these statements holds with its own confidence." if answered or plain else ""
    promised = f"{what}, on {where} from the same source, with {confidence(goal.delta)} confidence{seen}."
    words = f"{promised}{answered}{plain}{apart}"
    return {"number": figure_up(value) if goal.quantity == "cost" else stated(value), "number_words": words}


def _plain_vote(model: Model) -> str:
    """What bounds on the error are about where answers follow another decision."""
    return "" if model.decision.kind == "argmax" else " of the plain vote"


# The decision


def _decision(model: Model) -> dict[str, Any] | None:
    """The rule by which rows are answered, and what is promised of it; None for the plain vote."""
    if model.decision.kind == "argmax":
        return None
    c = model.certificate_
    if c is None:
        return {"rule": _rule(model), "promises": [], "table": ""}
    promises = [with_code(sentence(s, c.facts)) for s in c.statements if _about_decision(s)]
    header, *lines = rule_table(c)
    shown = table(header, lines, caption="What the rule reaches") if lines else ""
    return {"rule": _rule(model), "promises": promises, "table": shown}


def _about_decision(statement: Any) -> bool:
    return ("threshold" in statement.rule and statement.of != OF_RULE) or statement.quantity == "coverage"


def _rule(model: Model) -> str:
    """The decision in words, with its threshold as a score and, where it has one, as a probability."""
    decision, names = model.decision, model.labels.names
    threshold = float(decision.threshold or 0.0)
    if decision.kind == "cut":
        positive = int(decision.positive or 0)
        share = _probability(model, threshold if positive == 1 else -threshold, positive)
        return (
            f"The model answers {short(names[positive], 60)} if the score for {short(names[positive], 60)} is above "
            f"{threshold!r}{share}, and {short(names[1 - positive], 60)} otherwise."
        )
    if threshold < 0.0:  # below every sureness
        return "The model answers every row: the goal is met without leaving any to a person."
    if model.n_classes == 2:
        what = f"the absolute value of its score is above {threshold!r}{_probability(model, threshold, 1)}"
    else:
        what = f"the largest score of a class is above {threshold!r}"
    return f"The model answers a row only if {what}. It gives no answer to other rows: they go to a person."


def _probability(model: Model, score: float, code: int) -> str:
    """The probability that a score stands for, in brackets."""
    if not model.predictor.shares or abs(score) > 1:
        return ""
    return f" (a probability above {percent(float(model.probabilities_from_scores(np.array([score]))[0, code]))})"


# Warnings


def _alarming(note: Note) -> bool:
    """Whether the certificate may be about something else than it seems; a row number that was left out is no doubt."""
    return note.severity == "leak" and note.code != "identifier"


def _doubts(model: Model) -> list[str]:
    """Columns that give the label away or say which rows belong together, then those that were left out."""
    notes = [note for note in model.preparation.notes if note.severity == "leak" or note.left_out]
    notes.sort(key=lambda note: not _alarming(note))
    lines = note_lines(notes, most=len(notes), spell=named_option)
    return [short(f"{line[0].upper()}{line[1:]}.", 600) for line in lines]


def _warnings(model: Model, peers: tuple[Peer, ...], measures: RowMeasures | None) -> list[str]:
    c, plain = model.certificate_, _plain_vote(model)
    # Of a decision with a cut, the bounds of the plain vote by class say nothing about the answers.
    weak = _one_sided(model, measures) if model.decision.kind == "cut" else _weak(c, plain)
    made = [*_not_met(model), *_extreme(model), *_useless(c), *_better(c, peers, plain), *weak]
    if measures is not None and measures.were_fitted:
        made.append(fitted_warning(measures))
    return made


def _not_met(model: Model) -> list[str]:
    """Goals that could not be certified: the model then answers by its plain vote."""
    c = model.certificate_
    missed = [] if c is None else [s for s in c.statements if s.value is None and "threshold" in s.rule]
    return [f"{sentence(s, c.facts)} The model answers by its plain vote." for s in missed if c is not None]


def _extreme(model: Model) -> list[str]:
    """A certified target whose rule decides nearly all rows in the same way."""
    c, goal = model.certificate_, _goal(model)
    found = None if c is None or goal is None or goal.quantity == "cost" else extreme(c.statements)
    return [] if found is None else [found]


def _one_sided(model: Model, measures: RowMeasures | None) -> list[str]:
    """What a certified recall or precision leaves open, with an estimate where rows were given."""
    goal, names = _goal(model), model.labels.names
    if goal is None or goal.quantity not in ("recall", "precision"):
        return []
    positive = int(model.decision.positive or 0)
    name, other = short(names[positive], 60), short(names[1 - positive], 60)
    truth, answer = (1 - positive, positive) if goal.quantity == "recall" else (positive, 1 - positive)
    what = f"{other} rows are called {name}" if goal.quantity == "recall" else f"{name} rows are missed"
    seen = ""
    if measures is not None and measures.confusion[truth].sum():
        wrong, total = int(measures.confusion[truth, answer]), int(measures.confusion[truth].sum())
        seen = f" On the rows given it was {wrong:,} of {total:,} ({percent(wrong / total)}; an estimate)."
    return [f"Nothing is certified about how many {what}.{seen}"]


def _useless(c: Certificate | None) -> list[str]:
    if c is None or c.vote_error_bound is None or c.majority_class_error is None:
        return []
    if c.vote_error_bound <= c.majority_class_error:
        return []
    majority = percent(c.majority_class_error)
    said = (
        f"The bound is no better than always answering the most common class, which is wrong on {majority} of the rows."
    )
    return [" ".join([said, *balanced_words(c)])]


def _better(c: Certificate | None, peers: tuple[Peer, ...], plain: str) -> list[str]:
    found = better_peers(c, peers)
    if not found or c is None or c.vote_error_bound is None:
        return []
    listed = [f"{short(peer.name, 60)} (at most {percent_up(peer.bound or 0.0)})" for peer in found[:MOST_LISTED]]
    own, has, it = percent_up(c.vote_error_bound), "has a lower bound", "that its error rate is lower"
    if len(found) > 1:
        has, it = "have lower bounds", "that their error rates are lower"
    return [f"{_and(listed, len(found))} {has} than this model ({own}{plain}). This does not show {it}."]


def _weak(c: Certificate | None, plain: str) -> list[str]:
    found = sorted(weak_classes(c), key=lambda part: -(part.vote_error_bound or 0.0))
    if not found or c is None or c.vote_error_bound is None:
        return []
    overall = percent_up(c.vote_error_bound)
    if len(found) == len(c.per_class):
        least, most = (percent_up(part.vote_error_bound or 0.0) for part in (found[-1], found[0]))
        few = f"The bounds per class{plain} rest on few rows each"
        return [f"{few}: they range from {least} to {most}, much higher than the {overall} for all classes."]
    overall = f"much higher than the {overall} for all classes."
    if len(found) == 1:
        one = found[0]
        bound, wrong = percent_up(one.vote_error_bound or 0.0), f"{one.vote_errors:,} of {one.n_examples:,} wrong"
        return [f"For class {short(one.label, 60)} the bound{plain} is {bound} ({wrong}), {overall}"]
    listed = [
        f"{short(part.label, 60)} ({percent_up(part.vote_error_bound or 0.0)}; {part.vote_errors:,} of "
        f"{part.n_examples:,} wrong)"
        for part in found[:MOST_LISTED]
    ]
    return [f"For classes {_and(listed, len(found))} the bounds{plain} are {overall}"]


def _and(listed: list[str], count: int) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> _and(["a"], 1), _and(["a", "b"], 2), _and(["a", "b"], 5)
    ('a', 'a and b', 'a, b and 3 more')
    """
    if count > len(listed):
        return f"{', '.join(listed)} and {count - len(listed)} more"
    return " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))


# Other models, and the columns


def _bars(c: Certificate | None, peers: tuple[Peer, ...], measures: RowMeasures | None, plain: str) -> list[Bar]:
    bars, base = [], None if c is None else c.majority_class_error
    if c is not None and c.vote_error_bound is not None:
        name = f"this model: upper bound{plain}{' for a new group' if c.facts.n_groups is not None else ''}"
        bars.append(_limit(name, c.vote_error_bound, c.empirical_error, "main"))
    if measures is not None:
        text = f"{percent(measures.error)} (estimate)"
        bars.append(Bar("this model: error on the rows given", text, measures.error, "second"))
        base = measures.base_rate if base is None else base
    bars += [_peer(peer) for peer in peers]
    if base is not None:
        bars.append(Bar("always the most common class (majority-class error)", percent(base), base, "plain"))
    return bars


def _limit(name: str, bound: float, seen: float | None, style: str) -> Bar:
    text = f"at most {percent_up(bound)}" + ("" if seen is None else f" (seen: {percent(seen)})")
    return Bar(name, text, bound, style, mark=seen)


def _peer(peer: Peer) -> Bar:
    name = short(peer.name, 120)
    if peer.bound is None:
        rate = peer.tested or peer.seen or 0.0
        return Bar(name, f"{percent(rate)} (estimate)", rate, "other")
    bar = _limit(name, peer.bound, peer.seen, "other")
    return bar if peer.tested is None else replace(bar, text=f"{bar.text} (test rows: {percent(peer.tested)})")


def _bars_words(bars: Sequence[Bar], peers: tuple[Peer, ...]) -> Markup:
    ticks = " A tick marks the error rate seen." if any(bar.mark is not None for bar in bars) else ""
    others = (
        Markup("Each bound holds by itself: choosing the model with the smallest after looking is not covered.")
        if peers
        else Markup(
            "No other model was compared; <code>abnet compare</code> does that, and its results can be shown here."
        )
    )
    return Markup("A bar shows an upper bound or an error rate; shorter is better.{} {}").format(ticks, others)


def _drivers(model: Model, found: ModelExplanation | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    listed = []
    for one in found.ranked()[:DRIVERS]:
        if one.contribution > 0:
            moved = f"moves {found.quantity} by {value_text(one.contribution, found.unit)} on average"
            listed.append((short(one.column, 60), ", ".join(filter(None, (moved, direction_text(model, one, found))))))
    return listed
