"""One self-contained page about a model: no request, no need for script, and nothing of the user's but as text."""

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from abnet import __version__
from abnet.atomic import atomic_path
from abnet.explanation.background import ExplanationPlan
from abnet.export.js_model import js_library, js_record, script_json
from abnet.labels import Labels
from abnet.model.model import Model
from abnet.preparation.coded import CodedMap
from abnet.preparation.columns import DateColumn, NumericColumn, TextColumn
from abnet.preparation.scalers import MinMaxMap, StandardMap
from abnet.preparation.table_map import TableMap
from abnet.report.evidence import columns_section, curves_section, estimates_section, moves_of, moves_section, page_plan
from abnet.report.measures import GivenRows, measure_rows
from abnet.report.order import natural_order
from abnet.report.promise import Peer, certificate_section, peers_of, repeat_section

__all__ = ["report_page", "write_report"]


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    rivals: Sequence[Any] = (),
    form: bool = True,
) -> Path:
    """Write one HTML page about a model: its certificate, what moves it, how it learned, how to make it again.

    The page makes no request, is readable without JavaScript, and prints. With it, a form takes a row and computes
    label, probabilities and explanation in the page.

    Parameters
    ----------
    model : Model or fitted classifier
        ``abnet.load(path)``, or what `fit` returned.
    path : path
        The page; a file of that name is replaced in one step.
    X, y : table or array, and labels, optional
        Rows that the model was not fitted on: with them the page has estimates of calibration, confusion and risk at
        every coverage. A label that the model does not know is an error.
    title : str, optional
        Heading of the page.
    rivals : sequence of dict
        Other models, as ``abnet compare --json`` lists them under ``contenders``: ``name``, ``bound``, ``test_error``.
        By default those that `abnet fit` met.
    form : bool
        Whether the page has the form. It then holds the model, and the rows of the training table that the model keeps
        for explanations.

    Returns
    -------
    pathlib.Path
        Where the page is.

    Examples
    --------
    >>> import tempfile
    >>> from abnet.predictors.table import Table
    >>> net = Model(Table(np.array([[[2.0, 1.0]]]), np.zeros((1, 1)), np.array([[-1.0, 1.0]])))
    >>> page = write_report(net, Path(tempfile.mkdtemp()) / "report.html", [[1.0, 0.0], [-1.0, 2.0]], [1, -1])
    >>> "<h1>" in page.read_text(encoding="utf-8")
    True
    """
    fitted = getattr(model, "model_", model)
    if not isinstance(fitted, Model):
        raise TypeError(f"a report is about a model of this library, fitted or loaded; got a {type(model).__name__}.")
    if (X is None) != (y is None):
        raise ValueError("X and y go together: rows with their labels, or neither.")
    given = None
    if X is not None:
        prepared = _dense(fitted.prepare(X))
        given = measure_rows(fitted, prepared, _codes(fitted.labels, y, len(prepared)))
    page = report_page(fitted, given, title=title, rivals=peers_of(list(rivals)), form=form)
    target = Path(path)
    with atomic_path(target) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return target


def _dense(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


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
    title: str | None = None,
    rivals: Sequence[Peer] = (),
    form: bool = True,
) -> str:
    """The HTML of a report; parameters as for `write_report`, with rows that are prepared and measured."""
    measures = None if given is None else given.measures
    plan = page_plan(model, given)
    moves = moves_of(model, plan, given)
    peers = tuple(rivals) or peers_of([msgspec.structs.asdict(rival) for rival in model.card.rivals])
    target = model.card.target
    heading = title or (f"A classifier of “{target}”" if target is not None else "A classifier")
    sections = [
        _Section("promise", "What is promised", certificate_section(model, peers, measures)),
        _Section("estimates", "What was measured", estimates_section(model, measures)),
        _Section("moves", "What moves its answers", moves_section(model, moves, given=given is not None)),
    ]
    embedded = _form(model, plan) if form else _Form("<p>This page was made without the form.</p>")
    if form:
        sections.append(_Section("try", "Try a row", embedded.body))
    sections += [
        _Section("learning", "How it learned", curves_section(model.card.curves)),
        _Section("columns", "What it reads", columns_section(model)),
        _Section("repeat", "How to make it again", repeat_section(model)),
    ]
    return _whole(heading, _lead(model), sections, embedded)


@dataclass(frozen=True)
class _Section:
    ident: str
    title: str
    body: str


@dataclass(frozen=True)
class _Form:
    """HTML of the form, the data that its script reads, and the script."""

    body: str
    data: str = ""
    script: str = ""


def _lead(model: Model) -> str:
    names = model.labels.names
    listed = ", ".join(f"“{_cut(name)}”" for name in names[:6]) + (
        f" and {len(names) - 6} more" if len(names) > 6 else ""
    )
    recipe = model.card.recipe
    made = f" Made as {recipe[:300]}." if isinstance(recipe, str) else ""
    return f"It tells {len(names)} classes apart: {listed}.{made}"


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _whole(heading: str, lead: str, sections: Sequence[_Section], form: _Form) -> str:
    style, scripts = _asset("page.css"), form.script
    policy = (
        f"default-src 'none'; style-src '{_hashed(style)}'; script-src {_quoted(scripts)}; base-uri 'none'; "
        "form-action 'none'"
    )
    links = "".join(f'<li><a href="#{section.ident}">{escape(section.title)}</a></li>' for section in sections)
    body = "\n".join(
        f'<section id="{section.ident}" aria-labelledby="{section.ident}-h">\n<h2 id="{section.ident}-h">'
        f"{escape(section.title)}</h2>\n{_unbroken(section.body)}\n</section>"
        for section in sections
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{escape(_cut(heading, 120))}</title>
<style>{style}</style>
</head>
<body>
<header>
<p class="kind">Model report</p>
<h1>{escape(_cut(heading, 200))}</h1>
<p class="lead">{escape(lead)}</p>
<nav aria-label="Contents"><ul>{links}</ul></nav>
</header>
<main>
{body}
</main>
<footer>
<p>Written by abnet {escape(__version__)}. A certificate is a promise; everything called an estimate is none.</p>
</footer>
{form.data}
{f"<script>{scripts}</script>" if scripts else ""}
</body>
</html>
"""


def _unbroken(text: str) -> str:
    """No line that begins with the sign of a percentage."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)


def _hashed(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _quoted(script: str) -> str:
    return f"'{_hashed(script)}'" if script else "'none'"


@cache
def _asset(name: str) -> str:
    """A file of this package, without its comments: a page need not carry them."""
    text = files("abnet.report").joinpath(name).read_text(encoding="utf-8")
    return _bare(text)


def _bare(text: str) -> str:
    return re.sub(r"^\s*/\*.*?\*/\n?", "", text, flags=re.DOTALL | re.MULTILINE)


# The form


def _form(model: Model, plan: ExplanationPlan | None) -> _Form:
    try:
        record = js_record(model)
    except ValueError as error:
        return _Form(f"<p>There is no form for this model: {escape(str(error))}</p>")
    threshold = model.decision.threshold if model.decision.kind == "abstain" else None
    page = {
        "model": record, "plan": None if plan is None or not plan.columns.original else plan.to_dict(),
        "fields": _fields(model), "threshold": threshold, "order": natural_order(model.labels.names),
    }  # fmt: skip
    body = (
        '<noscript><p class="note">With JavaScript on, a form here takes a row and computes its label, probabilities '
        "and explanation. Nothing leaves this page.</p></noscript>\n"
        '<div id="abnet-form" hidden><p>Fill in a row: its answer is computed in this page, and nothing leaves it. An '
        'empty field is a missing value.</p><form autocomplete="off"></form>'
        '<div id="abnet-answer" class="answer" aria-live="polite"></div></div>'
    )
    data = f'<script type="application/json" id="abnet-data">{script_json(page)}</script>'
    parts = [_bare(js_library()), _bare(js_library("explain")), _asset("form.js")]
    return _Form(body, data, "\n".join(parts))


def _fields(model: Model) -> list[dict[str, Any]]:
    """What the form asks for: a field for each column, with a usual value."""
    preparation: Any = model.preparation
    base = preparation.base if isinstance(preparation, CodedMap) else preparation
    if isinstance(base, TableMap):
        return [_field(column) for column in base.columns]
    n = model.n_inputs if base is None else base.n_features_in
    names = model.feature_names or [f"column {place}" for place in range(1, n + 1)]
    usual: Sequence[float] = [0.0] * n
    if isinstance(base, StandardMap):
        usual = base.mean
    elif isinstance(base, MinMaxMap):
        usual = [(0.5 - shift) / scale for scale, shift in zip(base.scale, base.shift, strict=True)]
    return [
        {"name": name, "type": "number", "usual": _rounded(value)} for name, value in zip(names, usual, strict=True)
    ]


def _field(column: Any) -> dict[str, Any]:
    if isinstance(column, NumericColumn):
        form = column.form
        unit = "seconds" if form.duration else (form.before or form.after).strip()
        if form.offset:
            return {"name": column.name, "type": "whole", "usual": str(form.offset + round(column.fill)), "unit": unit}
        return {"name": column.name, "type": "number", "usual": _rounded(column.fill), "unit": unit}
    if isinstance(column, DateColumn):
        timed = column.fill != round(column.fill)
        return {"name": column.name, "type": "time" if timed else "date", "usual": column.fill}
    if isinstance(column, TextColumn):
        known = [*column.categories, *(column.rare or ())]
        return {"name": column.name, "type": "choice", "choices": known, "usual": column.categories[0] if known else ""}
    return {"name": column.name, "type": "truth" if column.kind == "boolean" else "text", "usual": ""}


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
