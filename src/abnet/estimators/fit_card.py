"""The card of a fit: how a model was made, and what it stores about its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import msgspec
import numpy as np
from sklearn.base import BaseEstimator

from abnet import __version__
from abnet.certificates.estimate import Estimate
from abnet.certificates.fitted_rows import RowFilter
from abnet.certificates.trade_off import trade_offs
from abnet.explanation.background_rows import background_rows
from abnet.model.card import Card, Curve
from abnet.model.region_words import RegionWords
from abnet.training.learned import Learned, PreparedRows
from abnet.training.settings import Settings
from abnet.utils.wording import shortened

__all__ = ["card_of", "recipe_text", "given_parameters", "stored_curves"]


def card_of(
    rows: PreparedRows,
    learned: Learned,
    settings: Settings,
    seed: int,
    *,
    data_fingerprint: str,
    row_filter: RowFilter | None,
    estimate: Estimate | None,
    region_words: tuple[RegionWords, ...] = (),
    period: str | None = None,
) -> Card:
    """How a model was made.

    Parameters
    ----------
    rows : PreparedRows
    learned : Learned
    settings : Settings
    seed : int
    data_fingerprint : str
        Of the prepared rows with their labels.
    row_filter : RowFilter or None
        Of the rows that may not certify the model again.
    estimate : Estimate or None
        The Gibbs bound where it is only an estimate.
    region_words : tuple of RegionWords
        The regions of a narrow network in words.
    period : str or None
        The bound rows of a split by time, in words.
    """
    recipe = learned.recipe
    features = rows.features
    posterior = "train"
    if settings.frozen:
        posterior = "frozen"
    background = features.first
    if not rows.n_first:
        background = features.base
    card = Card(
        estimator=settings.estimator,
        version=__version__,
        settings=dict(settings.given),
        seed=seed,
        sizes=learned.posterior.sizes,
        aggregation=recipe.aggregation,
        objective=settings.objective,
        prior=settings.prior,
        posterior=posterior,
        curves=stored_curves(learned.curves),
        n_training_rows=len(rows.codes),
        data_fingerprint=data_fingerprint,
        row_filter=row_filter,
        training_inputs=features.training,
        background=background_rows(background),
        region_words=region_words,
        period=period,
    )
    if not recipe.alone:
        card = msgspec.structs.replace(card, recipe=recipe_text(learned), parameters=recipe.to_dict())
    if estimate is not None:
        card = msgspec.structs.replace(card, bound_estimate=estimate.value)
    if rows.groups is not None:
        return msgspec.structs.replace(card, n_training_groups=len(np.unique(rows.groups)))
    positive = None
    if settings.goal is not None:
        positive = settings.goal.positive_label
    return msgspec.structs.replace(card, trade_offs=trade_offs(learned.held, rows.labels.names, positive))


def recipe_text(learned: Learned) -> str:
    """The recipe of a mixture in one line; without the teacher if there was only one class, or it was interrupted."""
    recipe = learned.recipe
    if not learned.distilled_from:
        recipe = replace(recipe, teacher=None)
    return recipe.describe(learned.distilled_from)


MOST_POINTS = 150
"""Maximum number of points of a stored curve."""
MOST_TEXT = 300
"""Maximum number of characters of a stored setting."""


def given_parameters(estimator: BaseEstimator) -> dict[str, str]:
    """Parameters that differ from their defaults, each as Python source text.

    A very long text is cut and ends in "…".

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> given_parameters(LogisticRegression(C=2.0, random_state=0))
    {'C': '2.0', 'random_state': '0'}
    """
    parameters = signature(type(estimator)).parameters
    texts = {}
    for name, value in estimator.get_params(deep=False).items():
        text = _source_text(value)
        if name != "verbose" and text != _source_text(parameters[name].default):
            texts[name] = text
    return texts


def _source_text(value: Any) -> str:
    """A value as Python source text in one line."""
    if isinstance(value, np.generic):
        value = value.item()
    return shortened(" ".join(repr(value).split()), MOST_TEXT)


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
