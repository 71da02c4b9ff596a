"""For a risk officer's files: facts that abnet knows, facts that people state, and what nobody has stated."""

from collections.abc import Sequence
from typing import get_args

from markupsafe import Markup, escape

from abnet.certificates.certificate import Certificate
from abnet.certificates.monitor import Quantity
from abnet.model.file import file_size
from abnet.model.model import Model
from abnet.model.monitor_table import ALPHA, UnwatchableError, certified_error
from abnet.model.predictors.compact import Compact
from abnet.report.further_certificates import further_certificates
from abnet.report.markup import html_table, rendered, with_code
from abnet.report.stated_facts import About
from abnet.tables.named_columns import label_text
from abnet.utils.wording import confidence, number_of, percent, percent_down, percent_up, shortened

__all__ = ["check_certificates", "documentation_section"]

LONGEST = 2000
"""Maximum number of characters of a stated fact on the page."""

QUESTIONS = {
    "purpose": "Intended use",
    "out_of_scope": "Out of scope",
    "oversight": "Human oversight",
    "metric": "Measure and why",
    "source": "Source of the data",
    "period": "Period of the data",
    "inclusion": "Which cases were included",
    "labelling": "Labelling",
    "excluded": "Exclusions",
    "monitoring": "Monitoring",
    "deployment": "Deployment",
    "owner": "Owner",
}
"""What the page asks people for, by field of `About`."""


def check_certificates(model: Model, certificates: Sequence[Certificate]) -> None:
    """Raise a ValueError if a certificate is not about this model."""
    for certificate in certificates:
        if certificate.model is None or certificate.model != model.digest:
            raise ValueError(
                "a certificate is about another model, about a threshold that this model does not use, or does not "
                "name its model: make it with `abnet certify` from this model file, without a target or costs."
            )


def documentation_section(model: Model, about: About, certificates: Sequence[Certificate] = ()) -> Markup:
    """Everything that a file about the model should hold, with the facts that nobody has stated named at the end."""
    return rendered(
        "documentation.html",
        facts=_facts(model, about),
        others=further_certificates(certificates),
        history=_history(model, about),
        signatures=_signatures(about),
        missing=[name for field, name in QUESTIONS.items() if not getattr(about, field)],
    )


def _facts(model: Model, about: About) -> list[tuple[str, Markup]]:
    """Names and texts: what people state, followed by what abnet knows about the same topic."""
    known = {
        "oversight": _unanswered(model),
        "excluded": _left_out(model),
        "monitoring": _monitoring(model),
        "deployment": _size(model),
    }
    facts = []
    for field, name in QUESTIONS.items():
        parts = []
        stated = getattr(about, field)
        if stated:
            parts.append(escape(shortened(stated.strip(), LONGEST)))
        own = known.get(field)
        if own:
            parts.append(escape(own))
        if parts:
            facts.append((name, Markup(" ").join(parts)))
    return facts


def _unanswered(model: Model) -> str | None:
    """Whether rows may stay without an answer."""
    if model.decision.kind == "abstain":
        return "The model gives no answer to rows on which it is not sure enough; a person decides on them."
    return "The model answers every row."


def _left_out(model: Model) -> str | None:
    """Rows and columns of the table that the model does not use."""
    parts = []
    if model.card.n_unlabelled_rows:
        parts.append(f"{number_of(model.card.n_unlabelled_rows, 'row')} of the table had no label and were left out.")
    columns = sorted({name for note in model.preparation.notes if note.left_out for name in note.columns})
    if columns:
        listed = ", ".join(shortened(name, 60) for name in columns[:20])
        more = ""
        if len(columns) > 20:
            more = f" and {len(columns) - 20} more"
        parts.append(f"Columns left out: {listed}{more}.")
    return " ".join(parts) or None


def _monitoring(model: Model) -> Markup | None:
    """What `abnet monitor` does with this model by default, and with the rate of its decision rule."""
    certificate = model.certificate_
    if certificate is None:
        return None
    words = []
    error = _watched(model, "error", None)
    if error is not None:
        words.append(
            "`abnet monitor` raises an alarm when labelled rows contradict an error rate of at most "
            f"{percent_up(error)}."
        )
    if model.decision.positive is not None:
        label = label_text(model.labels.names[model.decision.positive])
        for quantity in get_args(Quantity):
            missed = None
            if quantity != "error":
                missed = _watched(model, quantity, label)
            if missed is not None:
                words.append(
                    f"With `--{quantity} certified` it watches a {quantity} of at least {percent_down(1.0 - missed)}."
                )
    if not words:
        return None
    words.append(
        f"The probability of ever raising a false alarm is at most {percent(ALPHA)} (`--alpha`), besides the "
        f"{percent(certificate.facts.delta)} of the certificate. `abnet monitor --inputs` compares new rows with the "
        "training rows, without labels."
    )
    return with_code(" ".join(words))


def _watched(model: Model, quantity: Quantity, label: str | None) -> float | None:
    """The share of errors that a monitor watches by default; None if nothing is promised."""
    try:
        return certified_error(model, quantity, label)
    except UnwatchableError:
        return None


def _size(model: Model) -> str:
    """Size of the deployed form, and the arithmetic of an answer; no measured time, so that a page can be repeated."""
    parts = []
    size = file_size(model)
    if size is None:
        n_bytes = sum(array.nbytes for array in model.predictor.arrays().values())
        parts.append(f"The network consists of {n_bytes / 1000:,.0f} kB of numbers.")
    else:
        parts.append(f"The model file has {size / 1000:,.0f} kB.")
    if isinstance(model.predictor, Compact):
        n_numbers = sum(array.size for array in model.predictor.arrays().values())
        parts.append(
            f"An answer takes at most about {n_numbers:,} multiplications and as many additions after the columns are "
            "read, whatever the row: the network uses each of its numbers once."
        )
    parts.append("Prediction needs NumPy, or a C compiler.")
    return " ".join(parts)


def _history(model: Model, about: About) -> Markup | None:
    """Earlier certificates of the same purpose, and this one."""
    if not about.previous:
        return None
    lines = []
    for earlier in about.previous:
        bound = "not stated"
        if earlier.error_bound is not None:
            bound = percent_up(earlier.error_bound)
        lines.append([earlier.date, bound, earlier.change])
    certificate = model.certificate_
    if certificate is not None and certificate.vote_error_bound is not None:
        bound = f"{percent_up(certificate.vote_error_bound)} ({confidence(certificate.facts.delta)} confidence)"
        lines.append([about.date or "this model", bound, "the model of this page"])
    return html_table(["date", "error rate (upper bound)", "change"], lines, caption="Change history", left=3)


def _signatures(about: About) -> Markup | None:
    if not about.signatures:
        return None
    lines = [[signature.name, signature.role, signature.date] for signature in about.signatures]
    return html_table(["name", "role", "date"], lines, caption="Accepted by", left=3)
