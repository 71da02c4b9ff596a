"""How to reproduce a model: the command or call, and fingerprints of data, settings and model."""

import hashlib
import json
from typing import Any

from markupsafe import Markup

from abnet.model.card import Card
from abnet.model.file import VERSION, config_text, digest
from abnet.model.model import Model
from abnet.report.markup import html_table, rendered

__all__ = ["reproduction_section", "settings_text"]


def settings_text(card: Card) -> str | None:
    """The call that reproduces the model, from its stored settings; None if the file does not say.

    Examples
    --------
    >>> settings_text(Card(estimator="ABNetClassifier", settings={"delta": "0.01"}, seed=7))
    'ABNetClassifier(delta=0.01, random_state=7)'
    """
    if card.settings is None or card.estimator is None:
        return None
    settings = dict(card.settings)
    if card.seed is not None:
        settings["random_state"] = str(card.seed)
    arguments = ", ".join(f"{name}={value}" for name, value in sorted(settings.items()))
    return f"{card.estimator}({arguments})"


def reproduction_section(model: Model) -> Markup:
    """Fingerprints, and the command or call that reproduces the model."""
    facts = html_table(["", ""], _facts(model), caption="Fingerprints and facts", left=2)
    return rendered("reproduction.html", command=model.card.command, call=settings_text(model.card), facts=facts)


def _facts(model: Model) -> list[list[str]]:
    """Names and values of all facts that are known."""
    card = model.card
    facts: dict[str, Any] = {
        "rows trained and certified on": card.n_training_rows,
        "further held-out rows": card.n_counted_rows,
        "rows left out, without a label": card.n_unlabelled_rows,
    }
    if card.version is not None:
        facts["written by"] = f"abnet {card.version}"
    facts["fingerprint of the data"] = card.data_fingerprint
    if card.settings is not None:
        text = json.dumps(card.settings, sort_keys=True)
        facts["fingerprint of the settings"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    facts["fingerprint of the model"] = _digest(model)
    lines = []
    for name, value in facts.items():
        if not value:
            continue
        if isinstance(value, int):
            value = f"{value:,}"
        lines.append([name, value[:300]])
    return lines


def _digest(model: Model) -> str | None:
    """The digest in a file of this model; None if the model cannot be stored."""
    try:
        return digest(model.predictor.arrays(), VERSION, config_text(model))
    except (ValueError, AttributeError, TypeError):
        return None
