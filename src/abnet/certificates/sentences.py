"""Statements in plain English: one sentence for each quantity, and one paragraph of assumptions.

A new kind of statement needs a bound in `abnet.bounds`, an entry in `SENTENCES` and a test.
"""

import re
from collections.abc import Callable, Sequence
from html import escape

from abnet.certificates.certificate import Certificate, Facts
from abnet.certificates.decision import Decision
from abnet.certificates.from_evidence import NO_ANSWER
from abnet.certificates.rule_rates import OF_RULE
from abnet.certificates.statement import Statement
from abnet.utils.natural_order import natural_order
from abnet.utils.text_layout import aligned, paragraphs
from abnet.utils.wording import confidence, figure_up, number_of, percent, percent_down, percent_up, shortened, stated

__all__ = [
    "SENTENCES",
    "as_html",
    "assumptions",
    "balanced_words",
    "counted_row",
    "decision_sentence",
    "describe",
    "fitted_html",
    "rule_table",
    "said",
    "sentence",
    "table",
]


def counted_row(facts: Facts, kind: str = "row") -> str:
    """What the rows (or groups) behind a certificate are called: held out only if training did not use them.

    A posterior is trained on its bound rows, and without a first part all rows are bound rows.
    """
    held_out = not facts.trained and facts.source in ("split", "test set")
    return f"held-out {kind}" if held_out else f"bound {kind}"


def _bound(s: Statement) -> str:
    """The value as it is printed: upper bounds are rounded up, lower bounds down."""
    assert s.value is not None
    return f"{s.side} {percent_up(s.value) if s.side == 'at most' else percent_down(s.value)}"


def _error(s: Statement) -> str:
    if s.rule.get("answers") == "or none":
        where = "{new}" if s.name is None else f"new rows {'with' if s.of == 'population' else 'of class'} {s.name}"
        return f"the share of wrong answers and rows without an answer on {where} is {_bound(s)}"
    voted = " of the plain vote" if s.rule.get("answers") == "vote" else ""
    subject = {
        "predict": "the error rate on {new}",
        "vote": "the error rate of the plain vote (the most likely class) on {new}",
        "class": f"the error rate{voted} on new rows of class {s.name}",
        "population": f"the error rate on new rows with {s.name}",
        "answered rows": "the error rate among answered rows of {new}",
        OF_RULE: "the error rate on {new}",
        "drawn network": "the error rate of this drawn network on {new}",
    }.get(s.of, f"the error rate of {s.of}")
    if s.of == "answered rows" and "limit" in s.counted:  # the target rate
        return f"{subject} is at most {stated(s.value or 0.0)}"
    return f"{subject} is {_bound(s)}"


def _gibbs(s: Statement) -> str:
    where = "{new}" if s.name is None else f"new rows of class {s.name}"
    return f"the error rate of one {{draw}} drawn from the posterior (the Gibbs risk) on {where} is {_bound(s)}"


def _difference(s: Statement) -> str:
    a, b = s.rule.get("a", "A"), s.rule.get("b", "B")
    assert s.value is not None
    if s.of == "the better model":
        return f"{a} has a lower error rate than {b} on {{new}}"
    if s.value < 0.0:
        return f"the error rate of {a} on {{new}} is at least {_points(percent_down(-s.value))} below that of {b}"
    return f"the error rate of {a} on {{new}} is at most {_points(percent_up(s.value))} above that of {b}"


def _points(percent: str) -> str:
    """A difference of two rates: 1.9% is 1.9 percentage points."""
    return f"{percent.removesuffix('%')} percentage points"


def _rate(s: Statement) -> str:
    answer = s.rule.get("answer", "?")
    return f"the share of new rows of class {s.name} that get the answer {answer} is {_bound(s)}"


def _cost(s: Statement) -> str:
    assert s.value is not None
    return f"the expected cost of a row of {{new}} is at most {figure_up(s.value)}"


def _other(s: Statement) -> str:
    return f"the {s.quantity} of {' '.join(filter(None, (s.of, s.name)))} is {_bound(s)}"


def _asked(text: str) -> Callable[[Statement], str]:
    """A sentence about a target rate, which is printed as the user gave it, or about a lower limit."""
    return lambda s: text.format(name=s.name, rate=(stated if "rate" in s.counted else percent_down)(s.value or 0.0))


SENTENCES: dict[str, Callable[[Statement], str]] = {
    "error": _error,
    "Gibbs risk": _gibbs,
    "cost": _cost,
    "coverage": lambda s: f"the share of rows of {{new}} that are answered is {_bound(s)}",
    "recall": _asked("at least {rate} of new rows of class {name} are predicted as {name}"),
    "precision": _asked("at least {rate} of new rows predicted as {name} are of class {name}"),
    "flagged": lambda s: f"the share of rows of {{new}} that are predicted as {s.name} is {_bound(s)}",
    "specificity": _asked("at least {rate} of new rows of other classes than {name} are not predicted as {name}"),
    "difference": _difference,
    "rate": _rate,
}
"""Maps a statement's quantity to its main clause; ``{new}`` and ``{draw}`` are filled in from the facts."""


def sentence(statement: Statement, facts: Facts) -> str:
    """One statement as a sentence.

    Examples
    --------
    >>> from abnet.certificates.from_evidence import Terms, certify
    >>> from abnet.certificates.evidence import observe
    >>> made = certify(observe([0] * 99 + [1], [0] * 100, ("no", "yes")), Terms(source="test set"))
    >>> print(sentence(made.statements[0], made.facts))
    With 95% confidence, the error rate on new data is at most 4.7% (1 error on 100 held-out rows).
    """
    if statement.value is None:
        return _nothing(statement, facts)
    new = "new data" if facts.n_groups is None else "a new group, averaged over its rows,"
    draw = "network" if facts.drawn == "network" else "PBGNet tree"
    clause = SENTENCES.get(statement.quantity, _other)(statement).replace("{new}", new).replace("{draw}", draw) + _if(
        statement, len(facts.classes)
    )
    return f"With {confidence(statement.delta)} confidence, {clause}{_seen(statement, facts)}."


def _if(s: Statement, n_classes: int) -> str:
    """The decision that a statement is about; the printed threshold reads back as exactly the certified one."""
    threshold = s.rule.get("threshold")
    if threshold is None:
        return ""
    name = s.rule.get("called")
    if name is None and isinstance(threshold, float) and threshold < 0.0:  # the confidence is never below 0
        return ", if every row is answered"
    if name is None:
        sure = "with |score|" if n_classes == 2 else "whose score for the answer is"
        return f", if rows {sure} above {threshold!r} are answered"
    return f", if rows whose score for {name} is above {threshold!r} are predicted as {name}"


def decision_sentence(decision: Decision, names: Sequence[str]) -> str:
    """The decision rule of a model as a sentence, for users of exported models.

    Examples
    --------
    >>> decision_sentence(Decision(kind="cut", threshold=0.3, positive=0), ("ill", "well"))
    'Rows whose score for ill is above 0.3 are answered ill, all others well.'
    """
    if decision.kind == "cut":
        yes = int(decision.positive or 0)
        name, other = names[yes], names[1 - yes]
        return f"Rows whose score for {name} is above {decision.threshold!r} are answered {name}, all others {other}."
    sure = "the absolute value of the score" if len(names) == 2 else "the largest score"
    if decision.kind == "abstain" and (decision.threshold or 0.0) >= 0.0:
        condition = f"{sure} is above {decision.threshold!r}"
        return f"A row is answered with the most likely class if {condition}; other rows get no answer."
    return "Every row is answered with the most likely class."


_GOALS = {"recall": "A recall", "precision": "A precision", "specificity": "A specificity", "error": "An error rate"}


def _nothing(s: Statement, facts: Facts) -> str:
    if s.quantity == "difference":
        a, b = s.rule.get("a", "A"), s.rule.get("b", "B")
        alone = _alone(s)
        shown = f"{confidence(s.delta)} confidence that {a} has a lower error rate than {b}"
        return f"These rows do not show with {shown} ({alone})."
    target = s.counted.get("rate", s.counted.get("limit"))
    what = _GOALS.get(s.quantity, f"The {s.quantity}")
    asked = f" of {s.side} {stated(target)}" if isinstance(target, float) else ""
    asked += "" if s.name is None else f" for {s.name}"
    asked += " among answered rows" if s.of == "answered rows" else ""
    failures, trials = _whole(s.counted["failures"]), _whole(s.counted["trials"])
    counted = f"{number_of(failures, 'failure')} in {number_of(trials, 'row')}"
    needed = (
        "The failure rate is too high: more rows would not help."
        if s.rows_needed is None
        else f"About {number_of(s.rows_needed, counted_row(facts))} would be needed."
    )
    return f"{what}{asked} could not be certified with {confidence(s.delta)} confidence ({counted}). {needed}"


def _alone(s: Statement) -> str:
    """The rows on which two models differ."""
    a, b = s.rule.get("a", "A"), s.rule.get("b", "B")
    only_a, only_b = _whole(s.counted["only_a"]), _whole(s.counted["only_b"])
    return f"only {a} is wrong on {number_of(only_a, 'row')}, only {b} on {number_of(only_b, 'row')}"


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value


def _seen(s: Statement, facts: Facts) -> str:
    """The counts behind a statement, in brackets."""
    c = s.counted
    held = counted_row(facts)
    if s.rule.get("answers") == "or none" and s.method == "clopper_pearson_bound":
        return f" ({_whole(c['errors']):,} of {number_of(_whole(c['n']), held)})"
    if s.quantity == "flagged":
        return f" ({_whole(c['errors']):,} of {number_of(_whole(c['n']), held)})"
    if s.method == "clopper_pearson_bound" and s.quantity == "error":
        return f" ({number_of(_whole(c['errors']), 'error')} on {number_of(_whole(c['n']), held)})"
    if s.method == "group_error_bound":
        rows, errors = c["rows"], c["errors"]
        assert isinstance(rows, list)
        assert isinstance(errors, list)
        rate = sum(k / n for k, n in zip(errors, rows, strict=True)) / len(rows)
        return f" ({percent(rate)} on {number_of(len(rows), counted_row(facts, 'group'))})"
    if s.method == "trained_vote_bound":
        return " (PAC-Bayes bound on the vote)"
    if s.quantity == "Gibbs risk":
        mean = c.get("risk", c.get("mean", c.get("empirical_risk")))
        assert isinstance(mean, float)
        return f" ({percent(mean)} on {number_of(_whole(c['n']), held if facts.n_groups is None else 'group')})"
    if s.method == "drawn_network_bound":
        return f" ({number_of(_whole(c['errors']), 'error')} on {number_of(_whole(c['n']), held)})"
    if s.quantity == "difference":
        return f" ({_alone(s)})"
    if s.quantity == "cost":
        mean, largest = c["mean"], c["largest"]
        assert isinstance(mean, float)
        assert isinstance(largest, float)
        return f" (mean {mean * largest:.4g} on {number_of(_whole(c['n']), held)}; the largest cost is {largest:g})"
    if s.quantity in ("coverage", "recall", "precision") and "successes" in c:
        return f" ({_whole(c['successes']):,} of {number_of(_whole(c['n']), held)})"
    if "failures" in c:
        return f" ({number_of(_whole(c['failures']), 'failure')} in {number_of(_whole(c['trials']), held)})"
    return ""


_PREMISES = {
    ("split", False): "The model and its preprocessing were learned from other rows only",
    ("split", True): "The prior and the preprocessing were learned from other rows only",
    ("init", False): "Nothing in the model depends on these rows",
    ("init", True): "The prior is the random initialisation, and the preprocessing does not depend on these rows",
    ("given", False): "It also assumes that the given prior (the model) was fixed before these rows were seen",
    ("given", True): "It also assumes that the given prior was fixed before these rows were seen",
}
"""What holds for rows of a fit, by their source and whether the posterior was trained on them."""


def assumptions(certificate: Certificate) -> str:
    """The assumptions of the statements, as a paragraph."""
    f = certificate.facts
    units = number_of(f.n_rows, "row") if f.n_groups is None else number_of(f.n_groups, "group")
    two = certificate.find("difference", "two models") is not None
    assumed = [f"that the {units} counted and the new data are independent draws from the same source"]
    if two:
        assumed.append("that both models were trained and chosen without these rows")
        assumed.append("that the model tested as the better one was named before looking at them")
    elif f.source == "test set":
        assumed.append("that the model was trained and chosen without these rows")
    *most, last = assumed
    parts = [f"This assumes {', '.join(most)} and {last}." if most else f"This assumes {last}."]
    if f.source != "test set":
        parts.append(f"{_PREMISES[f.source, f.trained]}.")
    if any("threshold" in s.rule for s in certificate.statements):
        parts.append("The candidate thresholds were fixed on other rows.")
    if certificate.find("error", "drawn network") is not None:
        parts.append("The network was drawn once, not picked among several draws.")
    if f.n_groups is not None:
        parts.append("Every group counts the same, whatever its size. Groups seen in training are not covered.")
    if f.n_candidates > 1:
        parts.append(f"The bounds account for the choice among {number_of(f.n_candidates, 'candidate')}.")
    if f.n_groups is None:
        parts.append(
            f"The bound counts every {counted_row(f).removeprefix('bound ')} once; sample weights affect training only."
        )
    return " ".join(parts)


def table(certificate: Certificate, *, details: bool = False) -> list[list[str]]:
    """The main numbers as the cells of a table: one line for all rows, then one for each class in natural order.

    For a network trained through the bound on its Gibbs risk, that bound comes first.
    """
    c, f = certificate, certificate.facts
    plain = "plain vote" if c.find("error", "vote") is not None else ""
    head = [plain, "error rate (upper bound)", "errors seen", "majority-class error"]
    if _abstains(c):
        head[1:3] = ["wrong or no answer (upper bound)", "seen"]
    majority = c.majority_class_error
    rows = [["all classes" if f.n_groups is None else "a new group", _cell(c.vote_error_bound), _errors(
        sum(f.class_errors), f.n_rows), "" if majority is None else percent(majority)]]  # fmt: skip
    parts = c.per_class
    parts = tuple(parts[place] for place in natural_order([part.label for part in parts]))
    for part in parts:
        rows.append(
            [
                f"class {_short(part.label)}",
                _cell(part.vote_error_bound),
                _errors(part.vote_errors, part.n_examples),
                "",
            ]
        )
    if details or _gibbs_first(c):
        place = 1 if _gibbs_first(c) else len(head)
        head.insert(place, "Gibbs risk (upper bound)")
        for row, bound in zip(rows, [c.gibbs_risk_bound, *(p.gibbs_risk_bound for p in parts)], strict=True):
            row.insert(place, _cell(bound))
    return [head, *rows]


def _abstains(c: Certificate) -> bool:
    """Whether rows without an answer count as errors of a model that abstains."""
    return any(s.rule.get("answers") == "or none" for s in c.statements)


def _gibbs_first(c: Certificate) -> bool:
    """Whether the Gibbs risk comes first: for a network trained through its bound, as in the paper."""
    return c.facts.trained and c.gibbs_risk_bound is not None


def _cell(bound: float | None) -> str:
    return "none" if bound is None else percent_up(bound)


def _errors(errors: int, n: int) -> str:
    return f"{errors:,} of {n:,}" if n else "no rows"


def _short(name: str, most: int = 40) -> str:
    return shortened(" ".join(name.split()), most)


def describe(certificate: Certificate, *, details: bool = False) -> str:
    """A table of the main numbers, the statements as sentences, and what they assume.

    Parameters
    ----------
    certificate : Certificate
    details : bool
        Whether to include the Gibbs risk, which is about one network drawn at random, if there is a bound for
        ``predict``.
    """
    c = certificate
    rates = [s for s in c.statements if s.quantity == "rate"]
    of_model = ("predict", "vote", "draw", "class", "drawn network")
    whole = any(s.quantity in ("error", "Gibbs risk") and s.of in of_model for s in c.statements)
    beside = rule_table(c)
    tables = [beside] if len(beside) > 1 else []
    tables += [table(c, details=details)] if whole else []
    tables += [_confusion(rates)] if rates else []
    words = paragraphs(" ".join(said(c, details=details)), assumptions(c))
    return "\n\n".join([*(aligned(lines, least=3) for lines in tables), words])


def said(certificate: Certificate, *, details: bool = False) -> list[str]:
    """The statements as sentences, and which of them hold jointly."""
    c = certificate
    beside = [s for s in c.statements if s.of == OF_RULE]  # in a table of their own
    shown = [s for s in c.statements if s.jointly is None and (details or _is_main(s, c)) and s not in beside]
    if _gibbs_first(c):
        shown.sort(key=lambda s: s.quantity != "Gibbs risk")
    made = [*(sentence(s, c.facts) for s in shown), *_judged(c), *_joint(c, details=details)]
    if c.vote_error_bound is None and c.find("Gibbs risk", "draw") is not None:
        made.insert(int(_gibbs_first(c)), "There is no certificate for `predict`: no theorem covers its voting rule.")
    if beside:
        n = max(s.n_candidates for s in beside) // c.facts.n_candidates
        paid = f", and accounts for the choice among {n:,} thresholds" if n > 1 else ""
        made.append(
            f"Each bound in the table of the decision rule holds with {confidence(c.facts.delta)} confidence{paid}."
        )
    if len(shown) + len(beside) > 1:
        made.append("Each of these statements holds with its own confidence; they do not hold jointly.")
    return made


def rule_table(certificate: Certificate) -> list[list[str]]:
    """What a certified decision rule reaches, as the cells of a table; only a header if there is none.

    Examples
    --------
    >>> from abnet.certificates.from_evidence import Terms, facts_of
    >>> from abnet.certificates.evidence import observe
    >>> from abnet.certificates.rule_rates import rates_of_rule
    >>> cut, classes = Decision(kind="cut", threshold=0.3, positive=1), ("well", "ill")
    >>> made = rates_of_rule(cut, [20, 90, 0], [200, 100, 0], classes, delta=0.05, n_candidates=1)
    >>> facts = facts_of(observe([1] * 300, [0] * 200 + [1] * 100, classes), Terms())
    >>> for line in rule_table(Certificate(statements=tuple(made), facts=facts)):
    ...     print(*line, sep=" | ")
    decision rule | bound | seen
    recall of ill | at least 83.6% | 90 of 100 (90%)
    precision for ill | at least 74.6% | 90 of 110 (81.8%)
    rows predicted as ill | at most 41.5% | 110 of 300 (36.7%)
    error rate | at most 13.4% | 30 of 300 (10%)
    """
    c = certificate
    beside = [s for s in c.statements if s.of == OF_RULE]
    goals = [s for s in c.statements if beside and s.of == "class" and s.quantity in ("recall", "precision")]
    errors = [s for s in c.statements if beside and (s.quantity, s.of) == ("error", "predict") and s.rule]
    lines = [["decision rule", "bound", "seen"]]
    for s in [*goals, *beside, *errors]:
        name = _short(s.name or "")
        what = {
            "recall": f"recall of {name}", "precision": f"precision for {name}",
            "flagged": f"rows predicted as {name}", "error": "error rate",
        }[s.quantity]  # fmt: skip
        count, n = _right_or_wrong(s)
        asked = f"at least {stated(s.value or 0.0)}" if "rate" in s.counted else _bound(s)
        lines.append([what, asked, f"{count:,} of {n:,} ({percent(count / n)})"])
    return lines


def _right_or_wrong(s: Statement) -> tuple[int, int]:
    """The count behind a rate of a decision rule, and of how many rows."""
    c = s.counted
    if "failures" in c:
        return _whole(c["trials"]) - _whole(c["failures"]), _whole(c["trials"])
    return _whole(c.get("successes", c.get("errors"))), _whole(c["n"])


def _confusion(rates: list[Statement]) -> list[list[str]]:
    """Confusion matrix, true class by answer: number of rows, and the limits of their share."""
    names, answers = (list(dict.fromkeys(v)) for v in ((s.name or "" for s in rates), (_answer(s) for s in rates)))
    names, answers = ([found[place] for place in natural_order(found)] for found in (names, answers))
    answers.sort(key=NO_ANSWER.__eq__)
    limits = {(s.name, _answer(s), s.side): s for s in rates}
    lines = [["class", *answers]]
    for name in names:
        cells = []
        for answer in answers:
            low, high = limits[name, answer, "at least"], limits[name, answer, "at most"]
            share = f"{percent_down(low.value or 0.0)} to {percent_up(high.value or 0.0)}"
            cells.append(f"{_whole(high.counted['errors']):,} ({share})")
        lines.append([_short(name), *cells])
    return lines


def _answer(s: Statement) -> str:
    return str(s.rule["answer"])


def _is_main(s: Statement, c: Certificate) -> bool:
    gibbs_first = c.facts.trained and s.quantity == "Gibbs risk"
    return s.quantity != "Gibbs risk" or gibbs_first or c.vote_error_bound is None


def _judged(c: Certificate) -> list[str]:
    """A sentence for bounds that are of little use."""
    bound, majority = c.vote_error_bound, c.majority_class_error
    if bound is None or majority is None or bound <= majority or _abstains(c):
        return []
    f = c.facts
    commonest = f.classes[max(range(len(f.classes)), key=lambda code: f.class_rows[code])]
    made = [
        f"This bound exceeds the majority-class error: always answering {commonest} is wrong on {percent(majority)} of "
        "the counted rows."
    ]
    return [*made, *balanced_words(c)]


def balanced_words(c: Certificate) -> list[str]:
    """That the balanced error rate is certified below that of constant answers, if it is.

    A model for rare classes gives up some of the overall error rate for that, on purpose.
    """
    bound, constant = c.balanced_error_bound, 1.0 - 1.0 / max(len(c.per_class), 1)
    if bound is None or bound >= constant:
        return []
    return [
        f"Its balanced error rate is at most {percent_up(bound)}; that of any constant answer is {percent(constant)}."
    ]


def _joint(c: Certificate, *, details: bool) -> list[str]:
    made = []
    sure = confidence(c.facts.delta)
    errors = any(s.jointly == "classes" for s in c.statements)
    risks = any(s.jointly == "classes, Gibbs risk" for s in c.statements) and (details or _gibbs_first(c))
    if errors:
        balanced = c.balanced_error_bound
        bounded = balanced is not None and not _abstains(c)
        more = f" and bound the balanced error rate by {percent_up(balanced or 0.0)}" if bounded else ""
        which = "error bounds" if risks else "bounds"
        made.append(
            f"The {which} per class hold jointly with {sure} confidence{more}; the overall bound is a separate "
            "statement."
        )
    if risks:
        apart = ", but not together with the error bounds" if errors else ""
        made.append(f"The Gibbs risk bounds per class hold jointly with {sure} confidence{apart}.")
    if any(s.jointly == "confusion" for s in c.statements):
        made.append(
            "The table counts the rows of each class by answer. The ranges in brackets bound their share among new "
            f"rows; they hold jointly with {sure} confidence."
        )
    populations = [s for s in c.statements if s.jointly == "populations"]
    if populations:
        parts = "; ".join(f"{s.name} {percent_up(s.value or 0.0)}{_seen(s, c.facts)}" for s in populations)
        what = "share of wrong answers and rows without an answer" if _abstains(c) else "error rate"
        made.append(
            f"These upper bounds on the {what} on new rows hold jointly with {sure} confidence, as a statement of "
            f"their own: {parts}."
        )
    return made


def fitted_html(parameters: str, certificate: Certificate | None = None, recipe: str = "") -> str:
    """Append the result of the fit to scikit-learn's HTML display of an estimator.

    Examples
    --------
    >>> print(fitted_html("<div>ABNetClassifier()</div>", recipe="8 networks of 8 neurons"))
    <div>ABNetClassifier()</div>
    <p>Made as 8 networks of 8 neurons.</p>
    """
    made = [f"<p>Made as {escape(recipe)}.</p>"] if recipe else []
    return "\n".join([parameters, *made, *([] if certificate is None else [as_html(certificate)])])


_STYLE = "border-left: 3px solid currentColor; padding: 0.2em 0 0.2em 0.8em; max-width: 48em"


def as_html(shown: object) -> str:
    """The text as HTML paragraphs for a notebook, escaped.

    Examples
    --------
    >>> as_html("At most 3% <b>.")
    '<div style="...">\\n<p>At most 3% &lt;b&gt;.</p>\\n</div>'
    """
    blocks = [block for block in re.split(r"\n\s*\n", str(shown).strip("\n")) if block.strip()]
    body = "\n".join(_block(block) for block in blocks)
    return f'<div style="{_STYLE}">\n{body}\n</div>'


def _block(block: str) -> str:
    if re.search(r"\S {2,}\S", block):
        return f"<pre>{escape(block)}</pre>"
    return f"<p>{escape(' '.join(block.split()))}</p>"
