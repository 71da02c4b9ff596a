"""One self-contained page about a model: it makes no request, needs no script, and escapes all user input."""

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from abnet import __version__
from abnet.certificates.certificate import Certificate
from abnet.explanation.background import ExplanationPlan
from abnet.export.js_model import js_library, js_record, script_json
from abnet.model.model import FittedClassifier, Model, model_of
from abnet.report.certificate_section import Peer, certificate_section, peers_of
from abnet.report.columns_section import columns_section
from abnet.report.documentation import check_certificates, documentation_section
from abnet.report.estimates_section import estimates_section
from abnet.report.form_fields import form_fields, medoid
from abnet.report.importance_section import explain_answers, importance_section, page_plan
from abnet.report.learning_section import learning_section
from abnet.report.markup import rendered
from abnet.report.measures import GivenRows, measure_rows
from abnet.report.reproduction_section import reproduction_section
from abnet.report.stated_facts import About, about_from
from abnet.report.summary_section import about_rows, summary_section
from abnet.report.theory_section import theory_section
from abnet.tables.labels import Labels
from abnet.utils.atomic import atomic_path
from abnet.utils.coded_rows import dense
from abnet.utils.natural_order import natural_order
from abnet.utils.progress import report_progress
from abnet.utils.wording import shortened

__all__ = ["report_page", "write_report"]


def write_report(
    model: Model | FittedClassifier,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    owner: str | None = None,
    purpose: str | None = None,
    card: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    certificates: Sequence[Certificate] = (),
    rivals: Sequence[Any] = (),
    form: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Write one HTML page about a model: its certificate, importance of columns, training, and how to reproduce it.

    The page makes no request, is readable without JavaScript, and prints. With JavaScript, a form takes a row and
    computes label, probabilities and explanation in the page.

    Parameters
    ----------
    model : Model or fitted classifier
        ``abnet.load(path)``, or what `fit` returned.
    path : path
        The page; an existing file is replaced in one step.
    X, y : table or array, and labels, optional
        Rows that the model was not trained on. With them, the page has estimates of calibration, confusion and risk at
        every coverage. A label that the model does not know counts as an error.
    title, owner, purpose : str, optional
        Heading of the page; who is accountable for the model; what it is for. They are shown unchanged at the head of
        the page, instead of those of the card.
    card : path or mapping, optional
        More facts that only people know, such as the date, human oversight, the source of the data and signatures: a
        TOML file, or its content. ``abnet report MODEL --card-template`` prints one to fill in.
    certificates : sequence of Certificate
        Further certificates of this model, for example from ``abnet certify MODEL TABLE --by COLUMN``.
    rivals : sequence of dict
        Other models, as ``abnet compare --json`` lists them under ``contenders``: ``name``, ``bound``, ``test_error``.
        By default those that `abnet fit` compared with.
    form : bool
        Whether the page has the form. It then holds the model, and the training rows that the model keeps for
        explanations.
    progress : callable, optional
        Called with the share that is done, between 0 and 1.

    Returns
    -------
    pathlib.Path
        Path of the page.

    Examples
    --------
    >>> import tempfile
    >>> from abnet.model.predictors.compact import Compact
    >>> net = Model(Compact(np.array([[[2.0, 1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> page = write_report(net, Path(tempfile.mkdtemp()) / "report.html", [[1.0, 0.0], [-1.0, 2.0]], [1, -1])
    >>> "<h1>" in page.read_text(encoding="utf-8")
    True
    """
    fitted = model_of(model)
    if (X is None) != (y is None):
        raise ValueError("X and y go together: rows with their labels, or neither.")
    given = None
    if X is not None:
        prepared = dense(fitted.prepare(X))
        given = measure_rows(fitted, prepared, _codes(fitted.labels, y, len(prepared)))
    about = about_from(card, title=title, owner=owner, purpose=purpose)
    page = report_page(
        fitted,
        given,
        about=about,
        certificates=certificates,
        rivals=peers_of(list(rivals)),
        form=form,
        progress=progress,
    )
    target = Path(path)
    with atomic_path(target) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return target


def _codes(labels: Labels, y: Any, n: int) -> NDArray[np.intp]:
    given = np.asarray(y)
    if given.shape != (n,):
        raise ValueError(f"y has the shape {given.shape}, but X has {n} rows: give one label for each.")
    codes = labels.encode(given)
    if (codes < 0).all():
        raise ValueError(f"no label of y is one that the model knows: {', '.join(labels.names[:8])}.")
    return codes


def report_page(
    model: Model,
    given: GivenRows | None = None,
    *,
    about: About | None = None,
    certificates: Sequence[Certificate] = (),
    rivals: Sequence[Peer] = (),
    form: bool = True,
    progress: Callable[[float], None] | None = None,
) -> str:
    """The HTML of a report; parameters as for `write_report`, with rows that are prepared and measured."""
    if about is None:
        about = About()
    check_certificates(model, certificates)
    measures = None
    if given is not None:
        measures = given.measures
    report_progress("What moves the answers")
    plan = page_plan(model, given)
    explanation = explain_answers(model, plan, given, progress)
    report_progress("Drawing the page")
    peers = tuple(rivals)
    if not peers:
        peers = peers_of([msgspec.structs.asdict(rival) for rival in model.card.rivals])
    trial = _Form(Markup(), Markup(), "")
    if form:
        trial = _form(model, plan)
    sections = [
        ("summary", "Summary", summary_section(model, peers, measures, explanation, certificates)),
        ("promise", "What is certified", certificate_section(model)),
        ("estimates", "What was measured", estimates_section(model, measures)),
        ("file", "For the files", documentation_section(model, about, certificates)),
        ("moves", "What moves its answers", importance_section(model, explanation, given=given is not None)),
        ("try", "Try a row", trial.body),
        ("learning", "How it was trained", learning_section(model.card.curves)),
        ("columns", "What it reads", columns_section(model)),
        ("repeat", "How to reproduce it", reproduction_section(model)),
        ("theory", "For readers of the theory", theory_section(model, explanation, given=given is not None)),
    ]
    if progress is not None:
        progress(1.0)
    style = _asset("page.css")
    page = rendered(
        "page.html",
        heading=shortened(_heading(model, about), 200),
        lead=_lead(model),
        about=about_rows(about, model),
        version=__version__,
        sections=[{"ident": ident, "title": title, "body": body} for ident, title, body in sections if body],
        style=Markup(style),
        style_hash=_hashed(style),
        script=Markup(trial.script),
        script_hash=_hashed(trial.script),
        data=trial.data,
    )
    return str(page)


def _heading(model: Model, about: About) -> str:
    if about.title:
        return about.title
    if model.card.target is not None:
        return f"A classifier of “{model.card.target}”"
    return "A classifier"


def _lead(model: Model) -> str:
    """The first sentence of the page, with the first classes in natural order."""
    names = [model.labels.names[place] for place in natural_order(model.labels.names)]
    listed = ", ".join(f"“{shortened(name, 60)}”" for name in names[:6])
    if len(names) > 6:
        listed += f" and {len(names) - 6} more"
    return f"It predicts one of {len(names)} classes: {listed}."


def _hashed(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


@cache
def _asset(name: str) -> str:
    """A file of this package, without its comments: they would only make the page larger."""
    return _without_comments(files("abnet.report").joinpath(name).read_text(encoding="utf-8"))


def _without_comments(text: str) -> str:
    return re.sub(r"^\s*/\*.*?\*/\n?", "", text, flags=re.DOTALL | re.MULTILINE)


class _Form(NamedTuple):
    """The form, the data that its script reads, and the script."""

    body: Markup
    data: Markup
    script: str


def _form(model: Model, plan: ExplanationPlan | None) -> _Form:
    """The form of a model; for a model that the page cannot compute, the reason."""
    try:
        record = js_record(model)
    except ValueError as error:
        return _Form(rendered("form.html", refused=str(error)), Markup(), "")
    typical = None
    start = ""
    if plan is not None:
        typical = medoid(plan.background)
        start = "It begins with a typical row."
    plan_record = None
    if plan is not None and plan.columns.original:
        plan_record = plan.to_dict()
    page = {
        "model": record,
        "plan": plan_record,
        "fields": form_fields(model, typical),
        "order": natural_order(model.labels.names),
    }
    data = Markup('<script type="application/json" id="abnet-data">{}</script>').format(Markup(script_json(page)))
    scripts = [_without_comments(js_library()), _without_comments(js_library("explain")), _asset("form.js")]
    return _Form(rendered("form.html", refused="", start=start), data, "\n".join(scripts))
