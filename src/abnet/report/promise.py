"""The first part of a report: what is promised, beside other models, and how to make it again."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from abnet.certificates.certificate import Certificate
from abnet.certificates.sentences import assumptions, said, table
from abnet.model.card import Card
from abnet.model.file import VERSION, config_text, digest
from abnet.model.model import Model
from abnet.report.measures import RowMeasures
from abnet.report.svg import Bar, bar_chart
from abnet.words import confidence, percent, percent_up

__all__ = ["Peer", "certificate_section", "html_table", "peers_of", "repeat_section", "settings_text"]


@dataclass(frozen=True)
class Peer:
    """Another model's figures, from `abnet compare` or `abnet fit`.

    Attributes
    ----------
    name : str
    bound : float or None
        Certified limit of its error.
    seen : float or None
        Its error on the rows that it was judged on.
    """

    name: str
    bound: float | None
    seen: float | None


def peers_of(records: Any) -> tuple[Peer, ...]:
    """Other models from plain records, such as the ``contenders`` of ``abnet compare --json``; what is none is skipped.

    Examples
    --------
    >>> peers_of([{"name": "forest", "bound": 0.1, "test_error": 0.05}, {"name": "abnet fit", "is_fit": True}, 3])
    (Peer(name='forest', bound=0.1, seen=0.05),)
    """
    found = []
    for record in records if isinstance(records, list | tuple) else []:
        if not isinstance(record, Mapping) or not isinstance(record.get("name"), str) or record.get("is_fit"):
            continue
        seen, errors, n = _rate(record.get("test_error")), record.get("errors"), record.get("n_examples")
        if seen is None and isinstance(errors, int) and isinstance(n, int) and n > 0:
            seen = _rate(errors / n)
        bound = _rate(record.get("bound"))
        if bound is not None or seen is not None:
            found.append(Peer(record["name"], bound, seen))
    return tuple(found)


def _rate(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if number and 0 <= value <= 1 else None


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, left: int = 1) -> str:
    """A table of texts, all escaped; the first `left` columns flush left.

    Examples
    --------
    >>> html_table(["", "n"], [["<b>", "1"]], caption="Rows").count("&lt;b&gt;")
    1
    """

    def cells(tag: str, line: Sequence[str]) -> str:
        kinds = [_kind(cell, place < left) for place, cell in enumerate(line)]
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, line, strict=True))

    body = "\n".join(f"<tr>{cells('td', line)}</tr>" for line in rows)
    head = f"<thead><tr>{cells('th', header)}</tr></thead>" if any(header) else ""
    return f"<table><caption>{escape(caption)}</caption>{head}<tbody>\n{body}\n</tbody></table>"


def _kind(cell: str, left: bool) -> str:
    names = ["text"] * left + ["word"] * (cell != "" and not cell.strip("+−"))
    return f' class="{" ".join(names)}"' if names else ""


# The certificate


def certificate_section(model: Model, peers: Sequence[Peer], measures: RowMeasures | None) -> str:
    """What is promised, in words and as bars."""
    c = model.certificate_
    bound = None if c is None else c.vote_error_bound
    if c is None:
        estimate = _rate(model.card.bound_estimate)
        figure = "" if estimate is None else f" The bound would be {percent(estimate)}; that is an estimate."
        head = (
            '<p class="verdict"><strong>No certificate.</strong> No theorem covers the way this model was learned, so '
            f"that nothing is promised about its error on new data.{figure}</p>"
        )
    elif bound is None:
        head = '<p class="verdict"><strong>No certificate for its answers.</strong></p>'
    else:
        head = (
            f'<p class="figure"><span class="number">{escape(percent_up(bound))}</span> '
            f"<span>error rate (upper bound) on {_where(c)} from the same source, with "
            f"{escape(confidence(c.facts.delta))} confidence</span></p>"
        )
    words = "" if c is None else "".join(f"<p>{_marked(text)}</p>" for text in said(c, details=bound is None))
    lines = "" if c is None else _lines(c)
    rests = "" if c is None else f"<h3>What it rests on</h3><p>{_marked(assumptions(c))}</p>"
    return f"{head}\n{words}\n{_bars(model, peers, measures)}\n{lines}\n{rests}"


def _where(c: Certificate) -> str:
    """What the promise is about."""
    grouped = c.facts.n_groups is not None
    return "a new group, averaged over its rows, and on no single rows," if grouped else "new data"


def _marked(text: str) -> str:
    """A sentence as HTML, its names of code as such."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def _bars(model: Model, peers: Sequence[Peer], measures: RowMeasures | None) -> str:
    c, bars = model.certificate_, []
    base = None if c is None else c.majority_class_error
    if c is not None and c.vote_error_bound is not None:
        grouped = c.facts.n_groups is not None
        name = f"this model: upper bound{' for a new group' * grouped}"
        bars.append(_limit(name, c.vote_error_bound, c.empirical_error, "main"))
    if measures is not None:
        text = f"{percent(measures.error)}, an estimate"
        bars.append(Bar("this model: error on the rows given", text, measures.error, "second"))
        base = measures.base_rate if base is None else base
    bars += [_peer(peer) for peer in peers]
    if base is not None:
        bars.append(Bar("always the commonest class (majority-class error)", percent(base), base, "plain"))
    if not bars:
        return ""
    drawn = bar_chart(bars, "Error of this model beside others")
    others = (
        "Limits of other models hold each by itself: choosing the smallest after looking is not covered."
        if peers
        else "No other model was compared; <code>abnet compare</code> does that, and its results can be put here."
    )
    ticks = " A tick is the error that was seen." if any(bar.mark is not None for bar in bars) else ""
    words = f"A bar is a limit or a rate of error; shorter is better.{ticks} {others}"
    return f"<figure>{drawn}<figcaption>{words}</figcaption></figure>"


def _limit(name: str, bound: float, seen: float | None, style: str) -> Bar:
    text = f"at most {percent_up(bound)}" + ("" if seen is None else f" (seen: {percent(seen)})")
    return Bar(name, text, bound, style, mark=seen)


def _peer(peer: Peer) -> Bar:
    if peer.bound is None:
        return Bar(peer.name, f"{percent(peer.seen or 0.0)}, an estimate", peer.seen or 0.0, "other")
    return _limit(peer.name, peer.bound, peer.seen, "other")


def _lines(c: Certificate) -> str:
    head, *rows = table(c)
    return html_table(head, rows, caption="The certificate by class")


# Making it again


def settings_text(card: Card) -> str | None:
    """The call that makes the model again, from its stored settings; None where the file does not say.

    Examples
    --------
    >>> settings_text(Card(estimator="ABNetClassifier", settings={"delta": "0.01"}, seed=7))
    'ABNetClassifier(delta=0.01, random_state=7)'
    """
    if card.settings is None or card.estimator is None:
        return None
    settings = {**card.settings, **({} if card.seed is None else {"random_state": str(card.seed)})}
    return f"{card.estimator}({', '.join(f'{key}={value}' for key, value in sorted(settings.items()))})"


def repeat_section(model: Model) -> str:
    """Fingerprints, and the command or call that makes the model again."""
    command, call = model.card.command, settings_text(model.card)
    how = []
    if command is not None:
        how.append(f"<p>On the same table:</p><pre>{escape(command)}</pre>")
    if call is not None:
        how.append(f"<p>{'Or in' if how else 'In'} Python, on the same rows:</p><pre>{escape(call)}</pre>")
    if not how:
        how.append("<p>This file does not say how the model was made: it was not fitted by a classifier of abnet.</p>")
    return f"{''.join(how)}\n{html_table(['', ''], _facts(model), caption='Fingerprints and facts', left=2)}"


def _facts(model: Model) -> list[list[str]]:
    card = model.card
    plain: dict[str, Any] = {"model": type(model.predictor).__name__, "recipe": card.recipe}
    plain["layers"] = "-".join(map(str, card.sizes))
    plain["rows fitted and certified"] = card.n_training_rows
    plain["further rows counted"] = card.n_counted_rows
    plain["written by"] = None if card.version is None else f"abnet {card.version}"
    plain["fingerprint of the data"] = card.data_fingerprint
    if card.settings is not None:
        text = json.dumps(card.settings, sort_keys=True)
        plain["fingerprint of the settings"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    plain["fingerprint of the model"] = _digest(model)
    shown = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in plain.items() if value}
    return [[name, value[:300]] for name, value in shown.items()]


def _digest(model: Model) -> str | None:
    """The digest that a model file of this model has; None where it cannot be stored."""
    try:
        return digest(model.predictor.arrays(), VERSION, config_text(model))
    except (ValueError, AttributeError, TypeError):
        return None
