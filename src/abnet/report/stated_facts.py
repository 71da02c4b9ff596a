"""What only people know about a model: its purpose, its data, who watches it and who signed. Read from a TOML file."""

import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from abnet.model.model import Model

__all__ = ["About", "Certified", "Signature", "about_from", "about_template"]


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person who accepts the model for its intended use."""

    name: str
    role: str = ""
    date: str = ""


class Certified(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An earlier model for the same purpose: when it was certified, with which bound, and why it was replaced."""

    date: str
    error_bound: float | None = None
    change: str = ""


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What people state about a model, for its report; every field is optional.

    Attributes
    ----------
    title : str or None
        Heading of the report.
    owner : str or None
        Who is accountable for the model.
    date : str or None
        Date of the report.
    purpose : str or None
        Intended use: for which decision, on which cases, in whose hands.
    out_of_scope : str or None
        Uses that the model is not meant for.
    oversight : str or None
        Who decides on rows without an answer, and who may overrule an answer.
    metric : str or None
        Which error matters here, and why the certified one is the right measure.
    data : str or None
        Description of the data.
    source, period, inclusion, labelling, excluded : str or None
        Where the rows come from; when they were recorded; which cases were included; who labelled them and how; which
        rows were dropped before, and why.
    monitoring : str or None
        Who runs ``abnet monitor``, how often, and what happens after an alarm.
    deployment : str or None
        Where the model runs, and how long an answer may take.
    previous : tuple of Certified
        Earlier models for the same purpose, the oldest first.
    signatures : tuple of Signature
        Who accepted the model.
    """

    title: str | None = None
    owner: str | None = None
    date: str | None = None
    purpose: str | None = None
    out_of_scope: str | None = None
    oversight: str | None = None
    metric: str | None = None
    data: str | None = None
    source: str | None = None
    period: str | None = None
    inclusion: str | None = None
    labelling: str | None = None
    excluded: str | None = None
    monitoring: str | None = None
    deployment: str | None = None
    previous: tuple[Certified, ...] = ()
    signatures: tuple[Signature, ...] = ()


def about_from(card: Any = None, **stated: str | None) -> About:
    """What a card says, with single facts that are stated besides taking precedence.

    Parameters
    ----------
    card : path, mapping or None
        A TOML file in the form of `about_template`, or its content. Empty texts count as not stated.
    **stated
        Fields of `About`; None leaves the one of the card.

    Examples
    --------
    >>> about = about_from({"owner": "Clinic", "date": "2026-01-31", "purpose": ""}, owner="Ward 3")
    >>> about.owner, about.date, about.purpose
    ('Ward 3', '2026-01-31', None)
    """
    record: Mapping[str, Any] = {}
    place = "the card"
    if isinstance(card, Mapping):
        record = card
    elif card is not None:
        place = os.fspath(card)
        try:
            record = msgspec.toml.decode(Path(card).read_bytes())
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{place} is not a TOML file: {error}.") from error
    facts = {name: _as_text(value) for name, value in record.items() if value != ""}
    for name, value in stated.items():
        if value is not None:
            facts[name] = value
    try:
        return msgspec.convert(facts, About)
    except msgspec.ValidationError as error:
        known = ", ".join(About.__struct_fields__)
        raise ValueError(f"{place}: {error}. A card has the fields {known}.") from error


def _as_text(value: Any) -> Any:
    """Dates of a TOML file as texts; anything else as it is."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _as_text(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_text(part) for part in value]
    return value


TEMPLATE = """\
# What only people know about this model. Fill in what applies: `abnet report MODEL --card FILE` names what is missing.

title = {title}
owner = ""         # who is accountable for the model
date = ""          # of the report

purpose = ""       # intended use: for which decision, on which cases, in whose hands
out_of_scope = ""  # what it must not be used for
oversight = ""     # who decides on rows without an answer, and who may overrule an answer
metric = ""        # which error matters here, and why the certified one is the right measure

data = ""          # the table in a few words
source = ""        # where the rows come from
period = ""        # when they were recorded
inclusion = ""     # which cases were included
labelling = ""     # who labelled them, and how
excluded = ""      # rows dropped before the table was made, and why

monitoring = ""    # who runs `abnet monitor`, how often, and what happens after an alarm
deployment = ""    # where the model runs, and how long an answer may take

# Earlier models for the same purpose, the oldest first:
# [[previous]]
# date = "2025-01-31"
# error_bound = 0.062
# change = "Replaced because the laboratory changed its device."

# Who accepted the model:
# [[signatures]]
# name = ""
# role = ""
# date = ""
"""


def about_template(model: Model) -> str:
    """A card to fill in, as the text of a TOML file."""
    title = ""
    target = model.card.target
    if target is not None:
        title = f"A classifier of {target}"
    return TEMPLATE.format(title=msgspec.json.encode(title).decode("utf-8"))
