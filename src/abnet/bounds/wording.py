"""A certificate in plain English, with every percentage rounded to the safe side."""

import textwrap
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

from abnet.bounds.certificate import Certificate, ClassCertificate

__all__ = ["PREMISES", "confidence", "describe", "percent", "percent_up", "vacuous"]

_WIDTH = 100


def describe(certificate: Certificate, classes: tuple[str, str]) -> str:
    """Write the sentences that a certificate allows, and no more."""
    sections = [
        _vote(certificate),
        _gibbs(certificate),
        _jointly(certificate),
        _per_class(certificate, classes),
        _assumptions(certificate),
    ]
    return "\n\n".join(textwrap.fill(section, _WIDTH) for section in sections if section)


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


def _vote(c: Certificate) -> str:
    if c.vote_error_bound is None:
        return "There is no certificate for `predict`: no bound covers the way it votes."
    promise = f"With {confidence(c.delta)} confidence, {_subject(c)} is at most {percent_up(c.vote_error_bound)}"
    return f"{promise} ({_reason(c)}).{vacuous(c.vote_error_bound)}"


def _subject(c: Certificate) -> str:
    if c.monte_carlo and c.monte_carlo.vote == "fresh paths":
        return "the error of `predict` on new data from the same source, averaged over its random paths,"
    return "the error of `predict` on new data from the same source"


def _reason(c: Certificate) -> str:
    n, seen = f"{c.n_examples:,}", f"{percent(c.empirical_gibbs_risk)}"
    if c.vote_method == "test set":
        return f"test-set bound: {c.vote_errors:,} errors on {n} examples that had no part in learning"
    if c.monte_carlo and c.monte_carlo.vote == "fixed paths":
        what = "tandem risk" if c.vote_method == "tandem, fixed paths" else "Gibbs risk"
        return (
            f"from the bound on the {what}, with a factor for predicting by {c.monte_carlo.vote_paths:,} sampled paths "
            f"that were drawn once and kept; the Gibbs risk was {seen} on the {n} bound examples"
        )
    if c.vote_method == "tandem":
        return f"tandem bound: how often two {_what(c)}s drawn at random were both wrong on the {n} bound examples"
    return f"twice the bound on the Gibbs risk, which was {seen} on the {n} bound examples"


def _gibbs(c: Certificate) -> str:
    seen = f"{percent(c.empirical_gibbs_risk)} on the {c.n_examples:,} bound examples"
    if c.monte_carlo:
        seen += f", sampled with {c.monte_carlo.n_paths:,} paths for each, which the bound allows for"
    return (
        f"With {confidence(c.delta)} confidence, the error of one {_what(c)} drawn at random from the learned "
        f"distribution (the Gibbs risk) is at most {percent_up(c.gibbs_risk_bound)} on new data from the same source "
        f"(it was {seen})."
        f"{vacuous(c.gibbs_risk_bound)}"
        f"{_mean_field_note(c)}"
    )


def _what(c: Certificate) -> str:
    return "mean-field tree" if c.drawn == "mean field" else "network"


def _mean_field_note(c: Certificate) -> str:
    if c.drawn == "network":
        return ""
    return (
        " In a mean-field tree every neuron reads its own draw of the layer below: this is not the error of a network "
        "that `draw_network` returns."
    )


def vacuous(bound: float) -> str:
    """Say plainly where a bound says nothing."""
    if bound >= 1.0:
        return " This says nothing: no error exceeds 100 %."
    if bound >= 0.5:
        return " This says nothing of use: tossing a coin errs in 50 % of cases."
    return ""


def _jointly(c: Certificate) -> str:
    if c.vote_error_bound is None:
        return ""
    sure = confidence(c.delta)
    return f"Each of these two statements holds with {sure} confidence by itself, not both at once."


def _per_class(c: Certificate, classes: tuple[str, str]) -> str:
    if not c.per_class:
        return ""
    names = dict(zip((-1, 1), classes, strict=True))
    parts = "; ".join(f"class {names[part.label]}: {_class(part)}" for part in c.per_class)
    pairs = "both Gibbs risks" if c.vote_error_bound is None else "both errors of `predict`, or both Gibbs risks"
    return f"By class, with {confidence(c.delta)} confidence for {pairs}: {parts}.{_balanced(c)}"


def _class(part: ClassCertificate) -> str:
    if part.n_examples == 0:
        return "no examples, so nothing is known"
    gibbs = f"Gibbs risk at most {percent_up(part.gibbs_risk_bound)} ({part.n_examples:,} examples)"
    if part.vote_error_bound is None:
        return gibbs
    return f"error of `predict` at most {percent_up(part.vote_error_bound)}, {gibbs}"


def _balanced(c: Certificate) -> str:
    if c.balanced_vote_bound is None:
        return ""
    return f" The balanced error of `predict` is then at most {percent_up(c.balanced_vote_bound)}."


def _assumptions(c: Certificate) -> str:
    chosen = "" if c.n_candidates == 1 else f" The choice among {c.n_candidates:,} candidates is paid for."
    return (
        f"This assumes that the {c.n_examples:,} bound examples and the new data are independent draws from one "
        f"source, and that {PREMISES[c.prior, c.posterior]}.{chosen} Every example counts once: sample weights did not "
        "enter."
    )


PREMISES = {
    ("init", "train"): "the random start of learning, and any preparation of the data, did not depend on them",
    ("init", "frozen"): "nothing in the model depends on them",
    ("split", "train"): "the prior, and any preparation of the data, were learned from other examples alone",
    ("split", "frozen"): "the model, and any preparation of the data, were learned from other examples alone",
    ("hold-out", "frozen"): "the model was finished, and chosen, without looking at them",
}
