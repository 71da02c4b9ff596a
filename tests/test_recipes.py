"""The recipes of docs/architecture.md, followed for a toy statement, a toy kind of column and a toy aggregation."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from abnet import ABNetClassifier
from abnet.certificates.certificate import Certificate, load_certificate
from abnet.certificates.evidence import observe
from abnet.certificates.facts import Facts
from abnet.certificates.statements.error_rate import ErrorRate
from abnet.certificates.statements.statement import Statement
from abnet.certificates.terms import Terms
from abnet.export.export_plan import export_plan
from abnet.tables import columns
from abnet.tables.columns import KINDS, RULES
from abnet.tables.preparation import TablePreparation, preparation_from_dict, preparation_to_dict
from abnet.tables.preparation.table_map import TableMap
from abnet.utils.lazy import import_folder
from export import models
from toy_aggregation import Halved


class HoeffdingError(ErrorRate, frozen=True, kw_only=True, tag="error, Hoeffding"):
    """The error rate by Hoeffding's bound: a statement of another package."""

    errors: int
    n: int

    @property
    def about(self) -> str:
        return "error rate by Hoeffding"

    def bound(self) -> float:
        slack = math.sqrt(math.log(self.n_candidates / self.delta) / (2 * self.n))
        return min(1.0, self.errors / self.n + slack)

    def check_counts(self, certificate: Certificate) -> None:
        self.expect("n", self.n, certificate.facts.n_rows)
        self.expect("errors", self.errors, certificate.facts.errors_of(None))

    def clause(self, facts: Facts) -> str:
        return f"the error rate on {facts.new_data} is {self.value_text}"


def test_a_statement_of_another_package_is_a_class(tmp_path: Path) -> None:
    """Made, described, saved, loaded and checked like those of this package."""
    errors = 6
    n = 228
    seen = observe([1] * errors + [0] * (n - errors), [0] * n, ("no", "yes"))
    made = HoeffdingError.from_counts(errors=errors, n=n, delta=0.05)
    assert made.value == pytest.approx(errors / n + math.sqrt(math.log(20) / (2 * n)))
    certificate = Certificate(statements=(made,), facts=Facts.of(seen, Terms()))
    assert certificate.vote_error_bound == made.value
    assert "10.8%" in certificate.describe()
    certificate.save(tmp_path / "c.json")
    loaded = load_certificate(tmp_path / "c.json")
    assert loaded == certificate
    assert loaded.find(HoeffdingError) == made
    assert loaded.check() == {"error rate by Hoeffding": "recomputed"}
    for name, other in (("value", 0.05), ("errors", 5), ("n", 229), ("n_candidates", 2), ("delta", 0.06)):
        record = certificate.to_dict()
        record["statements"][0][name] = other
        with pytest.raises(ValueError, match=r"error rate by Hoeffding|vote_error_bound"):
            Certificate.from_dict(record)


def test_a_statement_without_a_tag_of_its_own_is_refused() -> None:
    class Nameless(Statement, frozen=True):
        pass

    with pytest.raises(TypeError, match="Nameless"):
        Nameless.from_counts(delta=0.05)


PARITY = """
import numpy as np
from abnet.tables.columns.column import Column, kind
from abnet.tables.columns.encoded import Encoded
from abnet.tables.columns.rule_registry import Chosen, rule

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
