"""The card of a fit: how a model was made, and what it stores about its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from abnet import __version__
from abnet.certificates.decision import ARGMAX, Decision
from abnet.certificates.estimate import Estimate
from abnet.certificates.fitted_rows import MOST_ROWS, RowFilter, kept_rows, row_filter
from abnet.certificates.trade_off import trade_offs
from abnet.explanation.background_rows import background_rows
from abnet.model.card import Card, Curve
from abnet.training.labelled_rows import marks_of
from abnet.training.learned import Learned, PreparedRows
from abnet.training.settings import Settings
from abnet.utils.wording import shortened

__all__ = ["card_of", "described", "settings_of", "stored_curves"]


def card_of(
    rows: PreparedRows,
    learned: Learned,
    settings: Settings,
    seed: int,
    fingerprint: str,
    estimate: Estimate | None,
    decision: Decision,
    *,
    certified: bool,
) -> Card:
    """How a model was made.

    Parameters
    ----------
    rows : PreparedRows
    learned : Learned
    settings : Settings
    seed : int
    fingerprint : str
        Of the prepared rows with their labels.
    estimate : Estimate or None
        The Gibbs bound where it is only an estimate.
    decision : Decision
        How the model answers.
    certified : bool
        Whether there is a certificate.
    """
    recipe, features = learned.recipe, rows.features
    positive = None
    if settings.goal is not None:
        positive = settings.goal.positive_label
    # Bound rows may certify the model again if nothing was learned from them or chosen with them: no posterior, no
    # model among several, and no decision.
    untouched = settings.frozen and certified and settings.n_candidates == 1 and decision == ARGMAX
    return Card(
        estimator=settings.estimator,
        version=__version__,
        settings=dict(settings.given),
        seed=seed,
        recipe=described(learned),
        parameters=None if recipe.alone else recipe.to_dict(),
        sizes=learned.posterior.sizes,
        aggregation=recipe.aggregation,
        objective=settings.objective,
        prior=settings.prior,
        posterior="frozen" if settings.frozen else "train",
        curves=stored_curves(learned.curves),
        n_training_rows=len(rows.codes),
        n_training_groups=None if rows.groups is None else len(np.unique(rows.groups)),
        data_fingerprint=fingerprint,
        row_filter=_filter_of(rows, rows.n_first if untouched else len(rows.codes)),
        training_inputs=features.training,
        background=background_rows(features.first if rows.n_first else features.base),
        bound_estimate=None if estimate is None else estimate.value,
        trade_offs=() if rows.groups is not None else trade_offs(learned.held, rows.labels.names, positive),
    )


def _filter_of(rows: PreparedRows, n_used: int) -> RowFilter | None:
    """The filter of the first rows; of many rows only those that it keeps are written out."""
    marks = marks_of(rows.codes, rows.labels.n_classes)
    if n_used <= MOST_ROWS:
        return row_filter(np.asarray(rows.features.inputs(slice(None))), marks, n_used)
    kept = kept_rows(n_used)
    return row_filter(np.asarray(rows.features.inputs(kept)), marks[kept])


def described(learned: Learned) -> str | None:
    """The recipe of a mixture in one line; without the teacher if there was only one class, or it was interrupted."""
    recipe = learned.recipe
    if recipe.alone:
        return None
    return (recipe if learned.distilled_from else replace(recipe, teacher=None)).describe(learned.distilled_from)


MOST_POINTS, MOST_TEXT = 150, 300
"""Maximum number of points of a stored curve, and of characters of a stored setting."""


def settings_of(estimator: BaseEstimator) -> dict[str, str]:
    """Parameters that differ from their defaults, each as Python source text.

    A very long text is cut and ends in "…".

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> settings_of(LogisticRegression(C=2.0, random_state=0))
    {'C': '2.0', 'random_state': '0'}
    """
    usual = {name: parameter.default for name, parameter in signature(type(estimator)).parameters.items()}
    texts = {name: _text(value) for name, value in estimator.get_params(deep=False).items()}
    return {name: text for name, text in texts.items() if name != "verbose" and text != _text(usual.get(name))}


def _text(value: Any) -> str:
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return shortened(text, MOST_TEXT)


def stored_curves(curves: Mapping[str, Sequence[float]]) -> tuple[Curve, ...]:
    """Learning curves for a model file, with five digits; long curves are thinned out.

    Parameters
    ----------
    curves : mapping
        Maps the name of the monitored quantity to its values at the start and after every epoch.

    Examples
    --------
    >>> stored_curves({"log loss": [0.7, 0.123456789]})
    (Curve(name='log loss', every=1, values=(0.7, 0.12346)),)
    """
    stored = []
    for name, curve in curves.items():
        values = [float(f"{value:.5g}") for value in curve]
        every = max(-(-len(values) // MOST_POINTS), 1)
        if len(values) > 1 and np.isfinite(values).all():
            stored.append(Curve(name, every, tuple(values[::every])))
    return tuple(stored)
