"""A certificate in plain English and, escaped, as notebooks show it; every bound is rounded up."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from html import escape
from typing import Any

from abnet.bounds.certificate import Certificate
from abnet.bounds.vote import DrawnCertificate
from abnet.words import number_of

__all__ = [
    "BoundLine",
    "InNotebooks",
    "aligned",
    "assumptions",
    "certificate_html",
    "confidence",
    "describe",
    "filled",
    "fitted_html",
    "percent",
    "percent_up",
    "sentences",
    "table",
]


_WIDTH = 100
_LONGEST_NAME = 40


@dataclass(frozen=True)
class BoundLine:
    """One line of the table: about all classes, about one class, or about a drawn network.

    Attributes
    ----------
    name : str
        What the line is about.
    error_bound : float or None
        Bound on the error of ``predict``, or of the drawn network; None where there is none.
    errors : int or None
        Errors seen, where they were counted.
    n_rows : int
        Bound rows of the line.
    base_rate : float or None
        Error of always answering the commonest class of the bound rows; None for one class.
    gibbs_risk_bound : float or None
        Bound on the Gibbs risk; None for a drawn network.
    """

    name: str
    error_bound: float | None
    errors: int | None
    n_rows: int
    base_rate: float | None = None
    gibbs_risk_bound: float | None = None


def describe(
    certificate: Certificate | DrawnCertificate, *, details: bool = False, classes: Sequence[str] | None = None
) -> str:
    """Write what a certificate allows, and no more; `classes` are other names of its classes."""
    if classes is not None and isinstance(certificate, Certificate):
        certificate = replace(certificate, class_names=tuple(classes))
    promise = sentences(certificate)
    more = sentences(certificate, details=details)[len(promise) :]
    paragraphs = [filled(" ".join(part)) for part in (promise, more, assumptions(certificate)) if part]
    return "\n\n".join([aligned(_cells(certificate, details)), *paragraphs])


def table(certificate: Certificate | DrawnCertificate) -> list[BoundLine]:
    """The numbers of a certificate: a line for all classes, then one for each.

    Examples
    --------
    >>> from abnet.bounds import certify_frozen
    >>> certificate = certify_frozen([0.1] * 4, [0, 0, 0, 1], [False] * 3 + [True], delta=0.05, prior="split")
    >>> [(line.name, line.errors, line.n_rows, line.base_rate) for line in table(certificate)]
    [('all classes', 1, 4, 0.25), ('class negative', 0, 3, None), ('class positive', 1, 1, None)]
    """
    c = certificate
    if isinstance(c, DrawnCertificate):
        return [BoundLine("drawn network", c.error_bound, c.errors, c.n_examples)]
    name = "all classes" if c.groups is None else "a new group"
    whole = BoundLine(name, c.vote_error_bound, c.vote_errors, c.n_examples, c.base_rate, c.gibbs_risk_bound)
    parts = (
        BoundLine(
            f"class {name}", part.vote_error_bound, part.vote_errors, part.n_examples, None, part.gibbs_risk_bound
        )
        for name, part in zip(c.class_names, c.per_class, strict=False)
    )
    return [whole, *parts]


def sentences(certificate: Certificate | DrawnCertificate, *, details: bool = False) -> list[str]:
    """What is promised: at most three sentences, and with `details` those about the Gibbs risk."""
    if isinstance(certificate, DrawnCertificate):
        return _drawn(certificate)
    c = certificate
    if c.vote_error_bound is None:
        return ["There is no certificate for `predict`: no bound covers the way it votes.", *_gibbs(c)]
    more = [*_gibbs(c), _jointly(c)] if details and c.drawn != "classifier" else []
    return [_promise(c), *_judgement(c.vote_error_bound, c), *_by_class(c), *more]


def assumptions(certificate: Certificate | DrawnCertificate) -> list[str]:
    """What the promise rests on, in sentences."""
    c = certificate
    if isinstance(c, Certificate) and c.n_groups is not None:
        return _assumptions_of_groups(c, c.n_groups)
    drawn = isinstance(c, DrawnCertificate)
    last = ", and that the network was drawn once, not picked among several draws" if drawn else ""
    link = "," if drawn else ", and"
    choice = f"The choice among {c.n_candidates:,} candidates is accounted for by a union bound."
    return [
        f"This assumes that the {number_of(c.n_examples, 'bound row')} and the new data are independent draws from one "
        f"source{link} that {_PREMISES[c.prior, c.posterior]}{last}.",
        *([choice] if c.n_candidates > 1 else []),
        "Every row counts once: sample weights were not used.",
    ]


def _assumptions_of_groups(c: Certificate, n_groups: int) -> list[str]:
    choice = f"The choice among {c.n_candidates:,} candidates is accounted for by a union bound."
    return [
        f"This assumes that the {number_of(n_groups, 'group')} of bound rows and the new groups are independent draws "
        f"from one source, and that {_GROUP_PREMISES[c.prior, c.posterior]}.",
        "It says nothing about new rows of groups that the model has learned from.",
        *([choice] if c.n_candidates > 1 else []),
        "Every group counts the same, whatever its number of rows.",
    ]


def percent_up(bound: float) -> str:
    """Write a bound as a percentage, rounded up.

    Examples
    --------
    >>> percent_up(0.04001), percent_up(0.001201), percent_up(1.0)
    ('4.1 %', '0.13 %', '100 %')
    """
    return _percent(bound, ROUND_CEILING)


def percent(rate: float) -> str:
    """Write an observed rate as a percentage, rounded to nearest.

    Examples
    --------
    >>> percent(0.04001), percent(0.0)
    ('4 %', '0 %')
    """
    return _percent(rate, ROUND_HALF_EVEN)


def _percent(rate: float, rounding: str) -> str:
    digits = Decimal("0.1") if rate >= 0.01 else Decimal("0.01")
    return f"{_plain((Decimal(rate) * 100).quantize(digits, rounding=rounding))} %"


def confidence(delta: float) -> str:
    """Write 1-δ as a percentage, rounded down."""
    # The decimal that the user wrote, so that 0.05 gives 95 and not 94.9999; at most four places, rounded down.
    with localcontext() as context:
        context.prec = 400  # the default 28 digits would round 1 - 1e-300 up to 1
        sure = (1 - Decimal(repr(delta))) * 100
    return f"{_plain(sure.quantize(Decimal('0.0001'), rounding=ROUND_FLOOR))} %"


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _cells(certificate: Certificate | DrawnCertificate, details: bool) -> list[list[str]]:
    """The table as text, header first, without the columns that are not wanted or not known."""
    lines = table(certificate)
    drawn = isinstance(certificate, DrawnCertificate)
    gibbs = not drawn and (details or lines[0].error_bound is None)
    wanted = [True, True, True, lines[0].base_rate is not None, gibbs]
    error = "error, at most" if drawn else "error of predict, at most"
    rows = [["", error, "errors seen", "base rate", "Gibbs risk, at most"], *map(_line_cells, lines)]
    return [[cell for cell, want in zip(row, wanted, strict=True) if want] for row in rows]


def _line_cells(line: BoundLine) -> list[str]:
    name = " ".join(line.name.split())
    name = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    seen = "not counted" if line.errors is None else f"{line.errors:,} of {line.n_rows:,}"
    return [
        name,
        "no bound" if line.error_bound is None else percent_up(line.error_bound),
        seen if line.n_rows else "no rows",
        "" if line.base_rate is None else percent(line.base_rate),
        "" if line.gibbs_risk_bound is None else percent_up(line.gibbs_risk_bound),
    ]


def aligned(rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table as text: columns of equal width, the first `left` flush left, the others flush right.

    Examples
    --------
    >>> print(aligned([["", "error"], ["class no", "3 %"]]))
              error
    class no    3 %
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    pads = [*[str.ljust] * left, *[str.rjust] * (len(widths) - left)]
    lines = ([pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def filled(text: str) -> str:
    """A paragraph as lines of a page, where no line begins with the sign of a percentage."""
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return textwrap.fill(whole, _WIDTH, break_on_hyphens=False).replace("\N{NO-BREAK SPACE}%", " %")


def _promise(c: Certificate) -> str:
    fresh = c.monte_carlo is not None and c.monte_carlo.vote == "fresh paths"
    mean = ", averaged over its random paths," if fresh else ""
    return (
        f"With {confidence(c.delta)} confidence, the error of `predict` on {_new(c)}{mean} is "
        f"at most {percent_up(c.vote_error_bound or 0.0)} ({_reason(c)})."
    )


def _new(c: Certificate) -> str:
    """What the promise is about."""
    if c.groups is None:
        return "new data from the same source"
    return "a new group from the same source, averaged over its rows,"


def _reason(c: Certificate) -> str:
    if c.vote_method == "test set" and c.n_groups is not None:
        where = f"{number_of(c.n_groups, 'group')} with {number_of(c.n_examples, 'row')}"
        return f"test-set bound: {percent(c.empirical_error or 0.0)} on {where}, which had no part in learning"
    if c.vote_method == "test set":
        seen = f"{number_of(c.vote_errors or 0, 'error')} on {number_of(c.n_examples, 'bound row')}"
        return f"test-set bound: {seen}, which had no part in learning"
    order = "first" if (c.vote_method or "").startswith("twice Gibbs") else "second"
    bound = f"{order}-order PAC-Bayes bound"
    if c.monte_carlo and c.monte_carlo.vote == "fixed paths":
        return f"{bound} on a vote of {c.monte_carlo.vote_paths:,} sampled paths, drawn once and kept"
    if order == "first":
        return f"{bound}: twice the error of one {_what(c)} drawn at random"
    return f"{bound}: four times the chance that two {_what(c)}s drawn at random both err"


def _judgement(bound: float, c: Certificate) -> list[str]:
    """One sentence where a bound on the error of `predict` is of no use, or of less use than it looks."""
    guess, base = 1.0 - 1.0 / len(c.class_names), c.base_rate
    if base is None or bound <= base:
        return _vacuous(bound, guess)
    vacuous = "This bound is vacuous, and it exceeds" if bound >= guess else "This bound exceeds"
    commonest = max(c.per_class, key=lambda part: part.n_examples).label
    answer = c.class_names[commonest]
    return [f"{vacuous} the base rate: always answering {answer} errs on {percent(base)} of the bound rows."]


def _vacuous(bound: float, guess: float) -> list[str]:
    if bound >= 1.0:
        return ["This bound is vacuous."]
    if bound >= guess:
        return [f"This bound is vacuous: a guess at random errs in {percent(guess)} of cases."]
    return []


def _by_class(c: Certificate) -> list[str]:
    if c.balanced_vote_bound is None:
        return []
    return [
        f"The bounds of the single classes hold all at once with {confidence(c.delta)} confidence, but not together "
        "with the one for all classes; the balanced error, which is the mean over the classes, is then at most "
        f"{percent_up(c.balanced_vote_bound)}."
    ]


def _gibbs(c: Certificate) -> list[str]:
    where = f" of {number_of(c.n_groups, 'group')}" if c.n_groups is not None else ""
    seen = f"{percent(c.empirical_gibbs_risk)} on {number_of(c.n_examples, 'bound row')}{where}"
    if c.monte_carlo:
        seen += f", sampled with {number_of(c.monte_carlo.n_paths, 'path')} for each, which the bound allows for"
    risk = (
        f"With {confidence(c.delta)} confidence, the error of one {_what(c)} drawn at random from the learned "
        f"distribution (the Gibbs risk) is at most {percent_up(c.gibbs_risk_bound)} on {_new(c).rstrip(',')} "
        f"(it was {seen})."
    )
    return [risk, *_vacuous(c.gibbs_risk_bound, 1.0 - 1.0 / len(c.class_names)), *_mean_field_note(c)]


def _what(c: Certificate) -> str:
    return "mean-field tree" if c.drawn == "mean field" else "network"


def _mean_field_note(c: Certificate) -> list[str]:
    if c.drawn == "network":
        return []
    return [
        "In a mean-field tree every neuron reads its own draw of the layer below: this is not the error of a network "
        "that `draw_network` returns."
    ]


def _jointly(c: Certificate) -> str:
    return (
        f"The bounds on `predict` and on the Gibbs risk each hold with {confidence(c.delta)} confidence by themselves, "
        "not both at once."
    )


def _drawn(c: DrawnCertificate) -> list[str]:
    promise = (
        f"With {confidence(c.delta)} confidence, the error of this one drawn network on new data from the same source "
        f"is at most {percent_up(c.error_bound)} ({c.method} bound: {number_of(c.errors, 'error')} on "
        f"{number_of(c.n_examples, 'bound row')})."
    )
    return [
        promise,
        *_vacuous(c.error_bound, 0.5),
        "It holds by itself, not together with the certificate of the vote.",
    ]


_PREMISES = {
    ("init", "train"): "the random start of learning, and any preparation of the data, did not depend on them",
    ("init", "frozen"): "nothing in the model depends on them",
    ("split", "train"): "the prior, and any preparation of the data, were learned from other rows alone",
    ("split", "frozen"): "the model, and any preparation of the data, were learned from other rows alone",
    ("test set", "frozen"): "the model was finished, and chosen, without looking at them",
}

_GROUP_PREMISES = {
    ("init", "train"): "the random start of learning, and any preparation of the data, did not depend on them",
    ("init", "frozen"): "nothing in the model depends on them",
    ("split", "train"): "the prior, and any preparation of the data, were learned from other groups alone",
    ("split", "frozen"): "the model, and any preparation of the data, were learned from other groups alone",
    ("test set", "frozen"): "the model was finished, and chosen, without looking at any row of them",
}

_STYLE = "border-left: 3px solid currentColor; padding: 0.2em 0 0.2em 0.8em; max-width: 48em"


def certificate_html(certificate: Any) -> str:
    """The words of a certificate as paragraphs, its table as it stands.

    Parameters
    ----------
    certificate : Certificate or DrawnCertificate
        Or anything whose ``str()`` is text.

    Examples
    --------
    >>> certificate_html("At most 3 % <b>.")
    '<div style="...">\\n<p>At most 3 % &lt;b&gt;.</p>\\n</div>'
    """
    blocks = [block for block in re.split(r"\n\s*\n", str(certificate).strip("\n")) if block.strip()]
    body = "\n".join(_table(block) if re.search(r"\S {2,}\S", block) else _paragraph(block) for block in blocks)
    return f'<div style="{_STYLE}">\n{body}\n</div>'


def _table(block: str) -> str:
    return f"<pre>{escape(block)}</pre>"


def _paragraph(block: str) -> str:
    return f"<p>{escape(' '.join(block.split()))}</p>"


class InNotebooks:
    """A record that notebooks show as its ``str()``, escaped."""

    def _repr_html_(self) -> str:
        return certificate_html(self)


def fitted_html(parameters: str, certificate: Any = None, recipe: str = "") -> str:
    """What scikit-learn shows of an estimator, which is HTML already, and below it what came out of the fit.

    Parameters
    ----------
    parameters : str
        HTML.
    certificate : Certificate, optional
    recipe : str
        How the model was made, in a line.

    Examples
    --------
    >>> fitted_html("<div>ABNetClassifier()</div>")
    '<div>ABNetClassifier()</div>'
    >>> print(fitted_html("<div>ABNetClassifier()</div>", recipe="8 networks of 8 neurons"))
    <div>ABNetClassifier()</div>
    <p>Made as 8 networks of 8 neurons.</p>
    """
    made = [f"<p>Made as {escape(recipe)}.</p>"] if recipe else []
    return "\n".join([parameters, *made, *([] if certificate is None else [certificate_html(certificate)])])
