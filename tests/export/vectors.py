"""The golden vectors of docs/model-format.md: small models, rows, and everything that is computed on the way.

``python tests/export/vectors.py`` writes them again, after a change of the format.
"""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from abnet.certificates.decision import Decision
from abnet.model.file import config_text
from abnet.model.model import Model
from abnet.tables.columns import TextColumn
from abnet.tables.preparation import TableMap
from abnet.tables.preparation.coded import CodedMap
from abnet.tables.unseen import UnseenWarning
from export import models
from export.grammar import cell_grammar

PATH = Path(__file__).parents[2] / "docs" / "model-format-vectors.json"
GOLDEN = (
    "compact", "drawn", "mixture", "paths", "mixture of paths", "classes by paths", "a code book of its own",
    "drawn classes", "moments", "moments of classes", "rounded moments of classes",
)  # fmt: skip


DECISIONS = {
    "cut": Decision(kind="cut", threshold=0.05, positive=0),
    "abstaining": Decision(kind="abstain", threshold=0.1),
    "abstaining, several classes": Decision(kind="abstain", threshold=0.3),
}


def golden_models() -> dict[str, tuple[Model, Any]]:
    """Models by name, each with its rows: an array, or a table of cells as a file has them."""
    X = np.random.default_rng(11).normal(size=(8, 3)).round(3)
    found: dict[str, tuple[Model, Any]] = {kind: (_lively(kind, X, None, width=3), X) for kind in GOLDEN}
    found["classes, calibrated"] = (_lively("classes", X, None, width=3, calibration=models.calibrated()), X)
    for name, decision in DECISIONS.items():
        found[name] = (
            replace(found["classes, calibrated" if "classes" in name else "mixture"][0], decision=decision),
            X,
        )
    for name in ("standard", "clipped", "thermometer", "coded"):
        found[name] = (_lively("compact", X, models.preparations(3)[name]), X)
    table = _short(models.columns(hashed=True))
    cells = _cells(table)
    found["table"] = (_lively("compact", cells, table), cells)
    coded = CodedMap(table, ((-0.5, 0.75), *[()] * (table.n_features_out - 1)))
    found["coded table"] = (_lively("mixture", cells, coded, calibration=models.calibrated()), cells)
    return found


def _lively(kind: str, X: Any, preparation: Any, *, width: int = 2, **info: Any) -> Model:
    """The first of a row of random models that does not put all rows into one class."""
    n = X.shape[1]
    if preparation is not None:
        n = preparation.n_features_out
    for seed in range(100):
        model = models.model(
            kind, n, seed=seed, width=width, **{"preparation": preparation, "certificate": None, **info}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenWarning)
            if len(set(model.predict(X).tolist())) > 1:
                return model
    raise AssertionError(f"no model of kind {kind} tells the rows apart")


def _short(table: TableMap) -> TableMap:
    """Without the category of 5000 letters."""
    kept = [
        msgspec.structs.replace(column, categories=tuple(c for c in column.categories if len(c) < 99))
        if isinstance(column, TextColumn)
        else column
        for column in table.columns
    ]
    return TableMap(tuple(kept))


def _cells(table: TableMap) -> pl.DataFrame:
    rows = [
        ("41.5", "$1,200", "yes", "Oslo", "red", "1995-03-01", "Mr. Smith", "No 17, Größe"),
        ("?", "$80.25", "no", "Bergen", "green", "2001-12-31 18:00", "MRS jones, mr x", "ÉCOLE  école\t٣"),
        (" 7 ", "-$3", "", "  NaN ", "blue", "", "nan", " NULL "),
        ("1e3", "n.a.", "TRUE", 'q"uote', "<NA>", "1970-01-01", "GRÖßE und mr", "ﬃ 𐐀𐐁 ½"),
        ("unknown", "$ 12", "0", "Nowhere", "", "not a date", "mrmr", "x"),
        ("rotary", "€5", "maybe", "Oslo", "red", "9.12", "mrs", "odd"),
        ("inf", "1e200", "no", "Bergen", "blue", "2001-02-30", "mr", "large"),
    ]
    names = [column.name for column in table.columns]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def golden_vectors() -> dict[str, Any]:
    """The content of the file."""
    return {
        "grammar": cell_grammar(),
        "models": {name: _vector(model, X) for name, (model, X) in golden_models().items()},
    }


def _vector(model: Model, X: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenWarning)
        prepared = model.preparation.transform(X)
    features = np.asarray(prepared, np.float32)
    scores = model.predictor.scores(prepared)
    return {
        "config": json.loads(config_text(model)),
        "arrays": {name: array.tolist() for name, array in model.predictor.arrays().items()},
        "rows": X.rows() if isinstance(X, pl.DataFrame) else X.tolist(),
        "features": features.astype(np.float64).tolist(),
        "scores": scores.tolist(),
        "probabilities": model.probabilities_from_scores(scores).tolist() if model.predictor.shares else None,
        "labels": model.answers_from_scores(scores).tolist(),
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden_vectors(), indent=None, ensure_ascii=False).replace("}, ", "},\n") + "\n")
