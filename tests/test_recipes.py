"""The recipes of docs/architecture.md, followed for a toy bound, a toy kind of column and a toy aggregation."""

import sys
from pathlib import Path

import numpy as np
import pytest

from abnet import ABNetClassifier, bounds
from abnet.bounds.methods import METHODS
from abnet.certificates.evidence import observe
from abnet.certificates.from_evidence import Terms, certify
from abnet.certificates.sentences import sentence
from abnet.certificates.statement import state
from abnet.export.plan import export_plan
from abnet.tables import columns
from abnet.tables.columns import KINDS, RULES
from abnet.tables.preparation import TablePreparation, preparation_from_dict, preparation_to_dict
from abnet.tables.preparation.table_map import TableMap
from abnet.utils.lazy import import_folder
from export import models
from toy_aggregation import Halved

HOEFFDING = """
import math
from abnet.bounds.methods import method

@method
def hoeffding_bound(errors: int, n: int, delta: float, n_candidates: int = 1) -> float:
    return min(1.0, errors / n + math.sqrt(math.log(n_candidates / delta) / (2 * n)))
"""


def test_a_new_bound_is_a_file_in_the_folder_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hoeffding.py").write_text(HOEFFDING)
    monkeypatch.setattr(bounds, "__path__", [*bounds.__path__, str(tmp_path)])
    try:
        import_folder(bounds)
        made = state("error", "predict", "hoeffding_bound", {"errors": 6, "n": 228}, delta=0.05)
        assert made.value == pytest.approx(6 / 228 + np.sqrt(np.log(20) / 456))
        assert made.check() == "recomputed"
        assert "at most 10.8%" in sentence(made, certify(observe([0], [0], ("no", "yes")), Terms()).facts)
    finally:
        METHODS.pop("hoeffding_bound", None)
        sys.modules.pop("abnet.bounds.hoeffding", None)


PARITY = """
import numpy as np
from abnet.tables.columns.column import Column, kind
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.recognition import Chosen, rule

@kind
class Parity(Column, frozen=True, tag="parity"):
    @property
    def features(self):
        return (f"{self.name} is odd",)

    def encoded(self, table):
        odd = np.array([[int(str(cell)[1:]) % 2] for cell in table.columns[self.name]], np.float32)
        return Encoded(len(odd), 1, lambda rows: odd[rows]), {}

@rule(5)
def parity(name, cells, options):
    if all(text.startswith("#") for text in cells.sample()):
        return Chosen(Parity(name))
    return None
"""


def test_a_new_kind_of_column_is_a_file_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recognised, fitted, stored and read again; exporters that do not know it refuse it by name."""
    (tmp_path / "parity.py").write_text(PARITY)
    monkeypatch.setattr(columns, "__path__", [*columns.__path__, str(tmp_path)])
    rules = list(RULES)
    try:
        import_folder(columns)
        table = {"n": ["#1", "#2", "#4", "#7"], "x": [0.5, 1.5, 2.5, 0.1]}
        fitted = TablePreparation().fit(table)
        assert fitted.transform(table)[:, 0].tolist() == [1, 0, 0, 1]
        back = preparation_from_dict(preparation_to_dict(fitted))
        assert back == fitted.map_
        model = models.model("compact", 1, preparation=TableMap((KINDS["parity"]("n"),)))
        with pytest.raises(ValueError, match=r"'n'.*'parity'"):
            export_plan(model)
    finally:
        RULES[:] = rules
        KINDS.pop("parity", None)
        sys.modules.pop("abnet.tables.columns.parity", None)


def test_a_new_aggregation_is_a_record_that_a_classifier_takes(rng: np.random.Generator) -> None:
    """Trained, predicted with and, as no theorem is claimed for it, given an estimate in place of a bound."""
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0).astype(int)
    clf = ABNetClassifier((2,), prior="init", aggregation=Halved(), max_iter=3, random_state=0).fit(X, y)
    assert np.abs(clf.decision_function(X)).max() <= 0.5
    assert clf.certificate_ is None
    assert clf.bound_estimate_ is not None
