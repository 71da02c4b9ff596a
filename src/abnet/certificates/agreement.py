"""What the facts of a certificate say about its statements: a certificate that contradicts itself is refused.

A statement by itself can be recomputed (`Statement.check`). Together with the facts, more is known: its share of δ, the
number of candidates, how many rows were counted and how many of them were wrong. `RULES` has one rule for each kind of
statement that this library makes; it compares the statement with all that the facts determine.

What the facts do not determine is not checked: the Gibbs losses behind an empirical risk, a density ratio, the costs of
rows, the target of a goal. That is the arithmetic of a certificate, not its truth: files are not signed.
"""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from abnet.bounds.shares import share_of_a_limit, shares_by_count
from abnet.certificates.rule_rates import OF_RULE
from abnet.certificates.statement import Statement

if TYPE_CHECKING:
    from abnet.certificates.certificate import Certificate

__all__ = ["RULES", "check_agreement", "rule"]

Rule = Callable[[Statement, "Certificate"], None]

RULES: dict[tuple[str, str], Rule] = {}
"""The rule of each kind of statement, by its quantity and its subject (`of`)."""

_SUM_TOLERANCE = 1e-9  # sums over classes are added in another order than the sum over all rows

_SIGN_TOLERANCE = 1e-6  # a score as close to 0 as this may have either sign

_NAMED = ("class", "population", OF_RULE)

_OF_GROUPS = (("error", "predict"), ("Gibbs risk", "draw"))
"""Statements that may be about a new group; all others count rows."""

_LOWER = ("clopper_pearson_lower", "rate_of_successes")


def rule(quantity: str, *subjects: str) -> Callable[[Rule], Rule]:
    """Register the rule of statements about this quantity; a decorator."""

    def register(function: Rule) -> Rule:
        RULES.update({(quantity, of): function for of in subjects})
        return function

    return register


def check_agreement(certificate: "Certificate") -> None:
    """Raise a ValueError if a statement contradicts the facts or another statement; it names both numbers.

    Examples
    --------
    >>> import msgspec
    >>> from abnet.certificates.from_evidence import Terms, certify
    >>> from abnet.certificates.evidence import observe
    >>> made = certify(observe([0] * 99 + [1], [0] * 100, ("no", "yes")), Terms(source="test set"))
    >>> check_agreement(made)
    >>> others = msgspec.structs.replace(made.facts, n_rows=400, class_rows=(400, 0))
    >>> check_agreement(msgspec.structs.replace(made, facts=others))
    Traceback (most recent call last):
    ValueError: the error of predict has n = 100, but by the facts it is 400.
    """
    facts = certificate.facts
    if not facts.trained and facts.kl != 0.0:
        raise ValueError(f"the facts: kl is {facts.kl}, but must be 0 for a model that was not trained on these rows.")
    if facts.trained and facts.source == "test set":
        raise ValueError("the facts: the posterior was trained on these rows, so they cannot be a test set.")
    if facts.n_groups is not None and facts.n_groups > facts.n_rows:
        raise ValueError(f"the facts: there are {facts.n_groups} groups, but only {facts.n_rows} rows.")
    seen = set()
    for s in certificate.statements:
        agrees = RULES.get((s.quantity, s.of))
        if agrees is None:
            raise ValueError(f"the {s.about}: this version has no statement of this kind.")
        if s.about in seen:
            raise ValueError(f"the {s.about} is stated twice.")
        seen.add(s.about)
        _same(s, "side", s.side, "at least" if s.method in _LOWER else "at most")
        if s.of not in _NAMED:
            _same(s, "name", s.name, None)
        if (s.quantity, s.of) not in _OF_GROUPS:
            _same(s, "n_groups", None, facts.n_groups)
        agrees(s, certificate)
    _check_decision(certificate)


# The rules


@rule("error", "predict", "vote", "class", "drawn network")
def _error(s: Statement, c: "Certificate") -> None:
    f = c.facts
    place = _class_of(s, c)
    rows, errors = (f.n_rows, sum(f.class_errors)) if place is None else (f.class_rows[place], f.class_errors[place])
    _terms(s, c)
    methods: dict[str, dict[str, Any]] = {"clopper_pearson_bound": {"n": rows, "errors": errors}}
    if s.of == "drawn network" and f.trained:
        methods = {"drawn_network_bound": {"n": rows, "errors": errors}}
    elif f.trained:
        counted = {"n": _units(s, c), "kl": f.kl, "n_paths": f.n_paths, "kept_paths": f.vote_paths}
        methods = {"trained_vote_bound": counted}
    elif f.n_groups is not None:
        methods = {"group_error_bound": {}}
    _method(s, methods)
    if s.method == "group_error_bound":
        sizes, wrong = _numbers(s, "rows"), _numbers(s, "errors")
        _same(s, "number of groups", len(sizes), f.n_groups)
        _same(s, "number of groups", len(wrong), f.n_groups)
        _same(s, "rows", sum(sizes), rows)
        _same(s, "errors", sum(wrong), errors)
        if any(not 0 <= k <= n for k, n in zip(wrong, sizes, strict=True)):
            raise ValueError(f"the {s.about}: a group has more errors than rows.")
    if s.method == "trained_vote_bound":
        if s.counted.get("tandem") is not None:
            _check_mean(s, c, "tandem")
            _check_orders(s, rows, errors if f.n_groups is None else None)
        _same_as(s, c.find("Gibbs risk", "draw" if place is None else "class", s.name), _LEARNED)
    _answers(s, c)


@rule("Gibbs risk", "draw", "class")
def _gibbs(s: Statement, c: "Certificate") -> None:
    f, n = c.facts, _units(s, c)
    _terms(s, c)
    if f.trained:
        _method(s, {"trained_gibbs_bound": {"n": n, "kl": f.kl, "n_paths": f.n_paths}})
    else:
        _method(s, {"mean_by_betting": {"n": n}, "gibbs_bound_frozen": {"n": n}})
    if s.method == "mean_by_betting" and f.n_paths is not None:
        raise ValueError(f"the {s.about}: betting needs exact losses, but the facts say {f.n_paths} paths.")
    _rule(s, {})
    _check_mean(s, c, "risk", "mean", "empirical_risk")


@rule("error", "population")
def _population(s: Statement, c: "Certificate") -> None:
    _terms(s, c)
    _method(s, {"clopper_pearson_bound": {}})
    family = _family(s, c)
    _same(s, "rows of all populations", sum(int(_number(p, "n")) for p in family), c.facts.n_rows)
    _same(s, "errors of all populations", sum(int(_number(p, "errors")) for p in family), sum(c.facts.class_errors))
    _answers(s, c)


@rule("rate", "class")
def _rate(s: Statement, c: "Certificate") -> None:
    f, place = c.facts, _class_of(s, c)
    _terms(s, c)
    assert place is not None
    rows, errors = f.class_rows[place], f.class_errors[place]
    field = "errors" if s.side == "at most" else "successes"
    _method(s, {"clopper_pearson_bound": {"n": rows}, "clopper_pearson_lower": {"n": rows}})
    counts: dict[tuple[str, str], float] = {
        (p.side, str(p.rule.get("answer"))): _number(p, "errors" if p.side == "at most" else "successes")
        for p in _family(s, c)
        if p.name == s.name
    }
    answer, other = str(s.rule.get("answer")), "at least" if s.side == "at most" else "at most"
    _rule(s, {"answer": answer})
    _same(s, "count", _number(s, field), counts.get((other, answer)))
    _same(s, "count over all answers", sum(k for (side, _), k in counts.items() if side == s.side), rows)
    right = sum(k for (side, said), k in counts.items() if side == s.side and said == s.name)
    _same(s, f"count of the answer {s.name}", right, rows - errors)


@rule("error", "answered rows")
def _answered(s: Statement, c: "Certificate") -> None:
    f, errors = c.facts, sum(c.facts.class_errors)
    _terms(s, c)
    _method(s, {"limit_of_failures": {}, "clopper_pearson_bound": {}})
    _rule(s, {"threshold": s.rule.get("threshold")})
    if s.method == "limit_of_failures":  # the facts count the vote, without abstaining
        wrong, answered = _number(s, "failures"), _number(s, "trials")
        _at_most(s, "failures", wrong, errors)
        _at_most(s, "right answers", answered - wrong, f.n_rows - errors)
        if s.value is not None and c.find("coverage", "predict") is None:
            raise ValueError(f"the {s.about} has no coverage beside it.")
    else:  # the facts count rows without an answer as errors
        wrong, answered = _number(s, "errors"), _number(s, "n")
        _same(s, "wrong and missing answers", wrong + f.n_rows - answered, errors)


@rule("coverage", "predict")
def _coverage(s: Statement, c: "Certificate") -> None:
    # The threshold is the best of several that passed on the same rows.
    thresholds = s.rule.get("thresholds", 1)
    _terms(s, c, candidates=c.facts.n_candidates * int(thresholds))
    _method(s, {"clopper_pearson_lower": {"n": c.facts.n_rows}})
    errors = c.find("error", "answered rows")
    by_test = errors is not None and errors.method == "limit_of_failures"
    _rule(s, {"thresholds": thresholds} if by_test else {})
    answered = 0 if errors is None else _number(errors, "trials" if by_test else "n")
    _same(s, "successes", _number(s, "successes"), answered)


@rule("recall", "class")
@rule("precision", "class")
def _target(s: Statement, c: "Certificate") -> None:
    f, place = c.facts, _class_of(s, c)
    assert place is not None
    rows, right = f.class_rows[place], f.class_rows[place] - f.class_errors[place]
    _terms(s, c)
    methods: dict[str, dict[str, Any]] = {"rate_of_successes": {}}
    if _fixed_before(c):
        methods["clopper_pearson_lower"] = {}
    _method(s, methods)
    _rule(s, {"threshold": s.rule.get("threshold"), "called": str(s.name)})
    if s.method == "rate_of_successes":
        total, found = _number(s, "trials"), _number(s, "trials") - _number(s, "failures")
    else:
        total, found = _number(s, "n"), _number(s, "successes")
    if s.quantity == "recall":
        _same(s, "rows", total, rows)
    if s.value is None or c.find("error", "vote") is not None:  # the facts count the vote
        _at_most(s, "right answers", found, rows)
        _at_most(s, "rows called so", total, f.n_rows)
        return
    _same(s, "right answers", found, right)
    if s.quantity == "precision":
        others = sum(f.class_errors) - f.class_errors[place]
        if len(f.classes) == 2:
            _same(s, "wrong answers", total - found, others)
        else:  # rows with a label that the model does not know are errors whatever they are called
            _at_most(s, "wrong answers", total - found, others)


@rule("recall", OF_RULE)
@rule("precision", OF_RULE)
@rule("flagged", OF_RULE)
@rule("error", OF_RULE)
def _of_cut(s: Statement, c: "Certificate") -> None:
    """What a cut costs: all counts follow from the rows above the threshold and the positive rows among them."""
    f = c.facts
    called = s.rule.get("called")
    if called not in f.classes:
        raise ValueError(f"the {s.about}: the facts have no class {called!r}.")
    _same(s, "name", s.name, None if s.quantity == "error" else called)
    thresholds = s.rule.get("thresholds", 1)
    _terms(s, c, candidates=f.n_candidates * int(thresholds))
    more = {"thresholds": thresholds} if "thresholds" in s.rule else {}
    _rule(s, {"threshold": s.rule.get("threshold"), "called": called, **more})
    positive = f.class_rows[f.classes.index(str(called))]
    flagged = c.find("flagged", OF_RULE, str(called))
    if flagged is None:
        raise ValueError(f"the {s.about} has no share of the rows called {called} beside it.")
    _same(s, "thresholds", thresholds, flagged.rule.get("thresholds", 1))
    above = _number(flagged, "errors")
    found = _found_by_cut(c, str(called), above)
    if found is not None:
        _at_most(s, "rows found", found, min(above, positive))
    if s.quantity == "flagged":
        _method(s, {"clopper_pearson_bound": {"n": f.n_rows}})
    elif s.quantity == "error":
        _method(s, {"clopper_pearson_bound": {"n": f.n_rows}})
        if found is not None:
            wrong = above + positive - 2 * found
            unknown = sum(f.class_rows[2:])  # rows with a label that the model does not know are errors either way
            _at_most(s, "least number of errors", wrong, _number(s, "errors"))
            _at_most(s, "errors", _number(s, "errors"), wrong + unknown)
    else:
        among = positive if s.quantity == "recall" else above
        _method(s, {"clopper_pearson_lower": {"n": among}})
        if found is not None:
            _same(s, "successes", _number(s, "successes"), found)


def _found_by_cut(c: "Certificate", called: str, above: float) -> float | None:
    """Positive rows above the threshold, by the goal's own statement or by the first one beside it; None if unknown."""
    for quantity in ("recall", "precision"):
        goal = c.find(quantity, "class", called)
        if goal is None:
            continue
        if c.find("recall" if quantity == "precision" else "precision", "class", called) is not None:
            raise ValueError(f"the {goal.about} stands beside another goal, but a decision has one.")
        tested = goal.method == "rate_of_successes"
        if quantity == "precision":
            _same(goal, "rows called so", _number(goal, "trials" if tested else "n"), above)
        return _number(goal, "trials") - _number(goal, "failures") if tested else _number(goal, "successes")
    for quantity in ("recall", "precision"):
        beside = c.find(quantity, OF_RULE, called)
        if beside is not None:
            return _number(beside, "successes")
    return None


@rule("cost", "predict")
def _cost(s: Statement, c: "Certificate") -> None:
    _terms(s, c)
    _method(s, {"cost_bound": {"n": c.facts.n_rows}})
    if s.rule:
        _rule(s, {"threshold": s.rule.get("threshold"), "called": c.facts.classes[1]})


@rule("difference", "two models", "the better model")
def _difference(s: Statement, c: "Certificate") -> None:
    errors, n = sum(c.facts.class_errors), c.facts.n_rows  # of the first model
    _terms(s, c)
    better = s.of == "the better model"
    _method(s, {"sign_test": {}} if better else {"difference_bound": {"n": n}})
    _rule(s, {"a": s.rule.get("a"), "b": s.rule.get("b")})
    _at_most(s, "errors of the first model alone", _number(s, "only_a"), errors)
    _at_most(s, "errors of the second model alone", _number(s, "only_b"), n - errors)
    _same_as(s, c.find("difference", "two models" if better else "the better model"), ("only_a", "only_b"))


# What they have in common


_LEARNED = ("risk", "n", "kl", "n_paths", "expected_risk", "expected_kl")

_FAMILIES = {
    ("error", "class"): "classes", ("Gibbs risk", "class"): "classes, Gibbs risk",
    ("error", "population"): "populations", ("rate", "class"): "confusion",
}  # fmt: skip


def _terms(s: Statement, c: "Certificate", candidates: int | None = None) -> None:
    """Check δ, the number of candidates, and with which others the statement holds jointly."""
    _same(s, "n_candidates", s.n_candidates, c.facts.n_candidates if candidates is None else candidates)
    _same(s, "jointly", s.jointly, _FAMILIES.get((s.quantity, s.of)))
    share = _share(s, c)
    if not math.isclose(s.delta, share, rel_tol=1e-12):
        part = "" if s.jointly is None else f", its part of {c.facts.delta}"
        raise ValueError(f"the {s.about} has delta = {s.delta}, but by the facts it is {share}{part}.")


def _share(s: Statement, c: "Certificate") -> float:
    """The δ of a statement: its part, if several hold jointly. The parts add up to at most the δ of the facts."""
    f = c.facts
    if s.of == "population":
        family = _family(s, c)
        shares = shares_by_count([int(_number(p, "n")) for p in family], f.delta)
        return shares[[p.about for p in family].index(s.about)]
    if s.jointly is None:
        return f.delta
    share = shares_by_count(f.class_rows, f.delta)[_class_of(s, c) or 0]
    if s.quantity != "rate":
        return share
    return share_of_a_limit(share, len({p.rule.get("answer") for p in _family(s, c) if p.name == s.name}))


def _family(s: Statement, c: "Certificate") -> list[Statement]:
    return [p for p in c.statements if p.jointly == s.jointly and (p.quantity, p.of) == (s.quantity, s.of)]


def _class_of(s: Statement, c: "Certificate") -> int | None:
    """The place of the class that a statement is about, among the classes of the facts; None for all classes."""
    if s.of != "class":
        return None
    if s.name not in c.facts.classes:
        raise ValueError(f"the {s.about}: the facts have no class {s.name!r}.")
    return c.facts.classes.index(s.name)


def _units(s: Statement, c: "Certificate") -> int:
    """Independent draws: groups, or rows."""
    place = _class_of(s, c)
    if place is not None:
        return c.facts.class_rows[place]
    return c.facts.n_rows if c.facts.n_groups is None else c.facts.n_groups


def _method(s: Statement, known: dict[str, dict[str, Any]]) -> None:
    """Check the bound and what the facts say about its arguments."""
    if s.method not in known:
        raise ValueError(f"the {s.about} uses {s.method}, but by the facts it needs {' or '.join(known)}.")
    for field, value in known[s.method].items():
        _same(s, field, s.counted.get(field), value)


def _answers(s: Statement, c: "Certificate") -> None:
    """Check which answers are counted: those of a vote, of a decision that may abstain, or above a threshold."""
    voted = c.find("error", "vote") is not None
    abstains = any(p.rule.get("answers") == "or none" for p in c.statements)
    known: dict[str, Any] = {}
    if abstains or (c.find("coverage", "predict") is not None and not voted):
        known = {"answers": "or none"}
    elif voted and s.of == "class":
        known = {"answers": "vote"}
    elif s.of == "predict" and "threshold" in s.rule and _fixed_before(c):
        known = {"threshold": s.rule["threshold"], "called": s.rule.get("called")}
        if known["called"] not in c.facts.classes:
            raise ValueError(f"the {s.about}: the facts have no class {known['called']!r}.")
    _rule(s, known)


def _fixed_before(c: "Certificate") -> bool:
    """Whether the decision was fixed before the rows were seen: a goal that is met on them is tested, not counted."""
    tested = any(s.method in ("rate_of_successes", "limit_of_failures") for s in c.statements)
    return not tested and c.find("error", "vote") is None and c.find("cost", "predict") is None


def _rule(s: Statement, known: dict[str, Any]) -> None:
    if s.rule != known:
        raise ValueError(f"the {s.about} is about the decision {s.rule}, but the certificate about {known}.")


def _check_orders(s: Statement, rows: int, errors: int | None) -> None:
    """Compare the risk, the tandem risk and the errors of the vote: where it errs, at least half of the posterior
    does."""
    if "expected_tandem" in s.counted:
        _at_most(s, "expected_tandem", _number(s, "expected_tandem"), _number(s, "expected_risk"))
    if s.counted.get("n_paths") is not None or s.counted.get("kept_paths") is not None:
        return  # sampled
    risk, tandem = _number(s, "risk"), _number(s, "tandem")
    _at_most(s, "tandem", tandem, risk + _SUM_TOLERANCE)
    if tandem < risk**2 - _SUM_TOLERANCE:
        raise ValueError(f"the {s.about} has tandem = {tandem}, but with risk = {risk} it is at least {risk**2}.")
    if errors is not None and errors / rows > min(2.0 * risk, 4.0 * tandem) + _SIGN_TOLERANCE:
        raise ValueError(
            f"the {s.about} has risk = {risk} and tandem = {tandem}, but by the facts {errors} of {rows} votes err."
        )


def _check_decision(c: "Certificate") -> None:
    """A certificate is about one decision."""
    for field in ("threshold", "called"):
        about = [s for s in c.statements if field in s.rule]
        for s in about[1:]:
            if s.rule[field] != about[0].rule[field]:
                raise ValueError(
                    f"the {s.about} has {field} = {s.rule[field]}, but the {about[0].about} has {about[0].rule[field]}."
                )


def _check_mean(s: Statement, c: "Certificate", *fields: str) -> None:
    """The mean over all rows follows from the means over the rows of each class; a bound may name it otherwise."""
    parts = [p for p in c.statements if p.quantity == s.quantity and p.of == "class"]
    if s.name is not None or not parts:
        return
    said, n = _first(s, fields), _number(s, "n")
    mean = math.fsum(_first(p, fields) * _number(p, "n") for p in parts) / n
    if not math.isclose(mean, said, rel_tol=_SUM_TOLERANCE, abs_tol=_SUM_TOLERANCE):
        raise ValueError(f"the {s.about} counts a mean of {said}, but by the classes it is {mean}.")


def _first(s: Statement, fields: Iterable[str]) -> float:
    return _number(s, next((field for field in fields if field in s.counted), "mean"))


def _same_as(s: Statement, other: Statement | None, fields: Iterable[str]) -> None:
    if other is None:
        return
    for field in fields:
        said, known = s.counted.get(field), other.counted.get(field)
        if said != known:
            raise ValueError(f"the {s.about} has {field} = {said}, but the {other.about} has {known}.")


def _number(s: Statement, field: str) -> float:
    value = s.counted.get(field)
    if not isinstance(value, int | float):
        raise ValueError(f"the {s.about}: the number {field!r} is missing.")
    return value


def _numbers(s: Statement, field: str) -> list[int | float]:
    value = s.counted.get(field)
    if not isinstance(value, list):
        raise ValueError(f"the {s.about}: the list {field!r} is missing.")
    return value


def _same(s: Statement, what: str, said: Any, known: Any) -> None:
    if said != known:
        raise ValueError(f"the {s.about} has {what} = {said}, but by the facts it is {known}.")


def _at_most(s: Statement, what: str, said: float, known: float) -> None:
    if said > known:
        raise ValueError(f"the {s.about} has {what} = {said}, but by the facts it is at most {known}.")
