"""What is explained, a probability or a score, and how its numbers are written."""

from typing import Literal

from abnet.model.model import Model
from abnet.utils.wording import percentage_points

__all__ = ["Unit", "change_text", "error_text", "explained_unit", "quantity_name", "value_text"]

Unit = Literal["probability", "score"]


def explained_unit(model: Model) -> Unit:
    """Probabilities are explained where a model has them, and scores elsewhere."""
    if model.predictor.shares:
        return "probability"
    return "score"


def quantity_name(class_name: str, unit: Unit) -> str:
    """What is explained for one class.

    Examples
    --------
    >>> quantity_name("yes", "probability"), quantity_name("yes", "score")
    ('P(yes)', 'score for yes')
    """
    if unit == "probability":
        return f"P({class_name})"
    return f"score for {class_name}"


def value_text(value: float, unit: Unit) -> str:
    """A probability in percent, or a score.

    Examples
    --------
    >>> value_text(0.978, "probability"), value_text(0.5, "score")
    ('97.8%', '0.500')
    """
    if unit == "probability":
        return f"{100 * value:.1f}%"
    return f"{round(value, 3) + 0.0:.3f}"  # + 0.0 turns -0.0 into 0.0


def change_text(change: float, unit: Unit) -> str:
    """A change of a probability or a score, with its sign.

    Examples
    --------
    >>> change_text(-0.0312, "probability"), change_text(0.5, "score")
    ('-3.1%', '+0.500')
    """
    if unit == "probability":
        return f"{percentage_points(change)}%"
    return f"{round(change, 3) + 0.0:+.3f}"


def error_text(error: float, unit: Unit) -> str:
    """A standard error, as it stands behind the value that it belongs to.

    Examples
    --------
    >>> error_text(0.0123, "probability"), error_text(0.0123, "score")
    ('± 1.2', '± 0.012')
    """
    if unit == "probability":
        return f"± {100 * error:.1f}"
    return f"± {error:.3f}"
