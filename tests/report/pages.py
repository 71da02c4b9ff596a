"""Models to report on, with names that try to get out of the page, and rows for them."""

import warnings
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abnet.model import Card, Curve, Model, Rival
from abnet.report.measures import GivenRows, measure_rows
from abnet.tables.labels import Labels
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.unseen import UnseenWarning
from export import models

LABELS = ("<script>alert(1)</script>", "\"quoted\" & 'x' </script><!--")


def card(**more: Any) -> Card:
    """What `fit` writes, with texts that are no texts."""
    return Card(**{
        "estimator": "ABNetClassifier", "sizes": (3, 8, 1), "n_training_rows": 400, "data_fingerprint": "f" * 32,
        "target": "<img src=x onerror=alert(2)>", "recipe": "8 <b>networks</b>", "version": "0.2.0",
        "settings": {"random_state": "0", "teacher": "'<script>alert(3)</script>'"},
        "command": "abnet fit TABLE --target '\"; rm -rf'",
        "curves": (Curve("log loss </script>", 2, (0.7, 0.4, 0.31, 0.3)),),
        "rivals": (Rival(name="<svg onload=alert(4)>", bound=0.25, errors=5, n_examples=50),), **more,
    })  # fmt: skip


def hostile(kind: str = "mixture", **info: Any) -> Model:
    """A model of a table with a column of every kind, all with hostile names."""
    table = models.columns(models.HOSTILE, hashed=True)
    coded = CodedMap(table, ((-0.5, 0.75), *[()] * (table.n_features_out - 1)))
    given: dict[str, Any] = {"card": card(), "calibration": models.calibrated(), "preparation": coded, **info}
    if kind == "classes":
        labels = {}
    else:
        labels = {"labels": Labels(np.array(LABELS))}
    for seed in range(50):
        model = models.model(kind, coded.n_features_out, seed=seed, **{**labels, **given})
        if len(set(codes(model, 60).tolist())) > 1:
            return model
    raise AssertionError("no model tells the rows apart")


def frame(n: int, seed: int = 1) -> pl.DataFrame:
    """Rows of the hostile table; dates are whole days, as in the form of a page."""
    names = [column.name for column in models.columns(models.HOSTILE, hashed=True).columns]
    made = models.table(n, names, seed=seed)
    return made.with_columns(made[names[5]].floor())


def prepared(model: Model, n: int) -> NDArray[Any]:
    made = frame(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        return np.asarray(model.prepare(models.with_dates(made, made.columns[5])))


def codes(model: Model, n: int) -> NDArray[np.intp]:
    """Answers of the model."""
    return model.predictor.votes(prepared(model, n))


def given(model: Model, n: int = 120) -> GivenRows:
    """Rows with labels of which the model gets every seventh wrong."""
    labels = codes(model, n)
    labels[::7] = (labels[::7] + 1) % model.n_classes
    return measure_rows(model, prepared(model, n), labels)


def plain(kind: str) -> Model:
    """A model of a dozen numeric columns with usual names."""
    names = tuple(f"{part} {what}" for part in ("mean", "worst", "least") for what in ("size", "weight", "age", "rate"))
    return models.model(kind, 12, feature_names=names, card=card(target="outcome", rivals=()))


def plain_rows(model: Model, n: int = 150) -> GivenRows:
    X = np.random.default_rng(2).normal(size=(n, 12))
    labels = model.predictor.votes(X)
    labels[::5] = (labels[::5] + 1) % model.n_classes
    return measure_rows(model, X, labels)
