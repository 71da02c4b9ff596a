"""What is certified, overall and by class, and what other models reach."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from abnet.certificates.certificate import Certificate, ClassBounds
from abnet.certificates.describe import main_table, sentences
from abnet.model.model import Model
from abnet.report.markup import html_table, rendered, with_code
from abnet.utils.natural_order import natural_order

__all__ = ["Peer", "better_peers", "peers_of", "certificate_section", "weak_classes"]


@dataclass(frozen=True)
class Peer:
    """Another model's figures, from `abnet compare` or `abnet fit`.

    Attributes
    ----------
    name : str
    bound : float or None
        Upper bound on its error rate.
    seen : float or None
        Its error rate on the rows that the bound counts.
    tested : float or None
        Its error rate on separate test rows.
    """

    name: str
    bound: float | None
    seen: float | None = None
    tested: float | None = None


def peers_of(records: Any) -> tuple[Peer, ...]:
    """Other models from plain records, such as the ``contenders`` of ``abnet compare --json``, skipping other values.

    Examples
    --------
    >>> peers_of([{"name": "forest", "bound": 0.1, "test_error": 0.05}, {"name": "abnet fit", "is_fit": True}, 3])
    (Peer(name='forest', bound=0.1, seen=None, tested=0.05),)
    """
    if not isinstance(records, list | tuple):
        return ()
    peers = []
    for record in records:
        if not isinstance(record, Mapping) or not isinstance(record.get("name"), str) or record.get("is_fit"):
            continue
        peer = Peer(
            name=record["name"],
            bound=_rate(record.get("bound")),
            seen=_error_rate(record.get("errors"), record.get("n_examples")),
            tested=_rate(record.get("test_error")),
        )
        if peer.bound is not None or peer.seen is not None or peer.tested is not None:
            peers.append(peer)
    return tuple(peers)


def _error_rate(errors: Any, n: Any) -> float | None:
    if isinstance(errors, int) and isinstance(n, int) and n > 0:
        return _rate(errors / n)
    return None


def _rate(value: Any) -> float | None:
    """A number between 0 and 1; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if not 0 <= value <= 1:
        return None
    return float(value)


def better_peers(c: Certificate | None, peers: tuple[Peer, ...]) -> list[Peer]:
    """Models with a lower bound than this model, the lowest first.

    Examples
    --------
    >>> from abnet.certificates.from_evidence import certify
    >>> from abnet.certificates.terms import Terms
    >>> from abnet.certificates.evidence import observe
    >>> made = certify(observe([0] * 90 + [1] * 10, [0] * 100, ("no", "yes")), Terms(source="test set"))
    >>> [peer.name for peer in better_peers(made, (Peer("linear", 0.1, 0.05), Peer("tree", 0.3, 0.2)))]
    ['linear']
    """
    if c is None or c.vote_error_bound is None:
        return []
    better = [peer for peer in peers if peer.bound is not None and peer.bound < c.vote_error_bound]
    return sorted(better, key=lambda peer: peer.bound or 0.0)


def weak_classes(c: Certificate | None) -> list[ClassBounds]:
    """Classes whose bound is much higher than the overall one: at least twice as large, and at least 5 points above."""
    if c is None or c.vote_error_bound is None:
        return []
    limit = max(2 * c.vote_error_bound, c.vote_error_bound + 0.05)
    return [part for part in c.per_class if part.vote_error_bound is not None and part.vote_error_bound >= limit]


def certificate_section(model: Model) -> Markup:
    """All statements in words, and a table by class."""
    c = model.certificate_
    if c is None:
        sentence = (
            "No theorem covers the way this model was trained, so nothing is promised about its error on new data."
        )
        return rendered("certificate.html", sentences=[sentence], classes="", marked=False)
    shown = [with_code(text) for text in sentences(c, details=c.vote_error_bound is None)]
    classes, marked = _by_class(c)
    return rendered("certificate.html", sentences=shown, classes=classes, marked=bool(marked))


def _by_class(c: Certificate) -> tuple[Markup, list[int]]:
    """The certificate by class, in natural order, and the numbers of the lines with weak classes."""
    header, overall, *lines = main_table(c)
    rows = [overall, *lines]
    marked = []
    if lines:
        marked = _weak_lines(c)
    for line in marked:
        name, bound, *others = rows[line]
        rows[line] = [name, f"{bound} (much higher)", *others]
    return html_table(header, rows, caption="The certificate by class", marked=marked), marked


def _weak_lines(c: Certificate) -> list[int]:
    """Numbers of the lines with weak classes; none if all classes are weak, because none would stand out."""
    weak = {part.label for part in weak_classes(c)}
    if len(weak) == len(c.per_class):
        return []
    labels = [part.label for part in c.per_class]
    lines = enumerate(natural_order(labels), start=1)  # line 0 is the overall bound
    return [line for line, place in lines if labels[place] in weak]
