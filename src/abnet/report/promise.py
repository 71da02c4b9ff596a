"""What is promised, class by class, and what other models are known to reach."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from abnet.certificates.certificate import Certificate, ClassBounds
from abnet.certificates.sentences import said
from abnet.certificates.sentences import table as certificate_table
from abnet.model.model import Model
from abnet.report.markup import rendered, table, with_code
from abnet.utils.natural_order import natural_order

__all__ = ["Peer", "better_peers", "peers_of", "promise_section", "weak_classes"]


@dataclass(frozen=True)
class Peer:
    """Another model's figures, from `abnet compare` or `abnet fit`.

    Attributes
    ----------
    name : str
    bound : float or None
        Certified limit of its error.
    seen : float or None
        Its error on the rows that the bound counts.
    tested : float or None
        Its error on other rows, set aside for a test.
    """

    name: str
    bound: float | None
    seen: float | None = None
    tested: float | None = None


def peers_of(records: Any) -> tuple[Peer, ...]:
    """Other models from plain records, such as the ``contenders`` of ``abnet compare --json``; what is none is skipped.

    Examples
    --------
    >>> peers_of([{"name": "forest", "bound": 0.1, "test_error": 0.05}, {"name": "abnet fit", "is_fit": True}, 3])
    (Peer(name='forest', bound=0.1, seen=None, tested=0.05),)
    """
    found = []
    for record in records if isinstance(records, list | tuple) else []:
        if not isinstance(record, Mapping) or not isinstance(record.get("name"), str) or record.get("is_fit"):
            continue
        errors, n = record.get("errors"), record.get("n_examples")
        seen = _rate(errors / n) if isinstance(errors, int) and isinstance(n, int) and n > 0 else None
        bound, tested = _rate(record.get("bound")), _rate(record.get("test_error"))
        if bound is not None or seen is not None or tested is not None:
            found.append(Peer(record["name"], bound, seen, tested))
    return tuple(found)


def _rate(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if number and 0 <= value <= 1 else None


def better_peers(c: Certificate | None, peers: tuple[Peer, ...]) -> list[Peer]:
    """Models whose certified error is lower than this model's, the lowest first.

    Examples
    --------
    >>> from abnet.certificates.from_evidence import Terms, certify
    >>> from abnet.certificates.evidence import observe
    >>> made = certify(observe([0] * 90 + [1] * 10, [0] * 100, ("no", "yes")), Terms(source="test set"))
    >>> [peer.name for peer in better_peers(made, (Peer("linear", 0.1, 0.05), Peer("tree", 0.3, 0.2)))]
    ['linear']
    """
    bound = None if c is None else c.vote_error_bound
    if bound is None:
        return []
    found = [peer for peer in peers if peer.bound is not None and peer.bound < bound]
    return sorted(found, key=lambda peer: peer.bound or 0.0)


def weak_classes(c: Certificate | None) -> list[ClassBounds]:
    """Classes whose bound is much worse than the one for all: at least twice as large, and 5 points above it."""
    bound = None if c is None else c.vote_error_bound
    if c is None or bound is None:
        return []
    limit = max(2 * bound, bound + 0.05)
    return [part for part in c.per_class if part.vote_error_bound is not None and part.vote_error_bound >= limit]


def promise_section(model: Model) -> Markup:
    """All statements in words, and a table by class."""
    c = model.certificate_
    if c is None:
        sentence = (
            "No theorem covers the way this model was trained, so nothing is promised about its error on new data."
        )
        return rendered("promise.html", sentences=[sentence], classes="", marked=False)
    shown, marked = _by_class(c)
    sentences = [with_code(text) for text in said(c, details=c.vote_error_bound is None)]
    return rendered("promise.html", sentences=sentences, classes=shown, marked=bool(marked))


def _by_class(c: Certificate) -> tuple[Markup, list[int]]:
    """The certificate by class, in natural order, and the lines of the weak ones."""
    header, overall, *lines = certificate_table(c)
    weak = {part.label for part in weak_classes(c)}
    order = natural_order([part.label for part in c.per_class]) if lines else []
    some = len(weak) < len(c.per_class)  # where all are, none stands out
    marked = [1 + line for line, place in enumerate(order) if some and c.per_class[place].label in weak]
    rows = [overall, *lines]
    for line in marked:
        rows[line] = [rows[line][0], f"{rows[line][1]} (much higher)", *rows[line][2:]]
    return table(header, rows, caption="The certificate by class", marked=marked), marked
