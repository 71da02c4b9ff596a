"""How to make a model again: the command or call, and fingerprints of data, settings and model."""

import hashlib
import json
from typing import Any

from markupsafe import Markup

from abnet.model.card import Card
from abnet.model.file import VERSION, config_text, digest
from abnet.model.model import Model
from abnet.report.markup import rendered, table

__all__ = ["repeat_section", "settings_text"]


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


def repeat_section(model: Model) -> Markup:
    """Fingerprints, and the command or call that makes the model again."""
    facts = table(["", ""], _facts(model), caption="Fingerprints and facts", left=2)
    return rendered("repeat.html", command=model.card.command, call=settings_text(model.card), facts=facts)


def _facts(model: Model) -> list[list[str]]:
    card = model.card
    plain: dict[str, Any] = {"model": type(model.predictor).__name__, "recipe": card.recipe}
    plain["layers"] = "-".join(map(str, card.sizes))
    plain["rows trained and certified on"] = card.n_training_rows
    plain["further held-out rows"] = card.n_counted_rows
    plain["rows left out, without a label"] = card.n_unlabelled_rows
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
