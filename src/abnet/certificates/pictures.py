"""Figures of a monitor's evidence."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from abnet.bounds.anytime import log_evidence
from abnet.certificates.monitor import Quantity, promise
from abnet.utils.atomic import atomic_path
from abnet.utils.wording import stated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["evidence_figure", "save_picture"]

_BLUE, _ORANGE = "#0072B2", "#D55E00"  # colours that colour-blind readers can tell apart


def evidence_figure(
    wrong: ArrayLike, error: float, alpha: float, *, n: int = 0, errors: int = 0, quantity: Quantity = "error"
) -> "Figure":
    """Plot the evidence of a monitor after each row, on a logarithmic scale, with the alarm level.

    Parameters
    ----------
    wrong : array-like of bool
        Errors on rows in their order.
    error, alpha : float
        As for `abnet.Monitor`.
    n, errors : int
        Rows and errors before the first of these.
    quantity : {"error", "recall", "precision"}
        As for `abnet.Monitor`.

    Examples
    --------
    >>> axes = evidence_figure([False, True, True], 0.05, 0.01).axes[0]
    >>> axes.get_yscale(), axes.get_ylabel()
    ('log', 'evidence that the error rate exceeds 5%')
    """
    figure, axes = _figure()
    rows = np.asarray(wrong, dtype=bool)
    t = n + np.arange(len(rows) + 1)
    k = errors + np.concatenate([[0], np.cumsum(rows)])
    logs = np.clip(np.asarray(log_evidence(k, t, error)), -690.0, 690.0)
    axes.plot(t, np.exp(logs), color=_BLUE, label="evidence")
    axes.axhline(1.0 / alpha, color=_ORANGE, linewidth=1.0, label=f"alarm (α = {stated(alpha)})")
    claim = "error rate exceeds" if quantity == "error" else f"{quantity} is below"
    axes.set(yscale="log", xlabel="labelled rows", ylabel=f"evidence that the {claim} {promise(error, quantity)}")
    axes.legend(frameon=False)
    return figure


def save_picture(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a figure to a file atomically; the file extension (.png, .svg, .pdf) sets the format."""
    kind = Path(path).suffix.lstrip(".").lower() or "png"
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=200, facecolor="white")


def _figure() -> tuple["Figure", Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install matplotlib.") from error
    figure = Figure(figsize=(5.0, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#DDDDDD", linewidth=0.6)
    return figure, axes
