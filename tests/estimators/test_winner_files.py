"""The winner of a comparison is kept: every model in a safe format, and its certificate names the files."""

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import abnet
from abnet.estimators import winner_files
from abnet.estimators.compare import Comparison, compare
from abnet.estimators.installed_boosting import installed_boosting
from abnet.estimators.winner_files import save_winner
from abnet.model.monitor_table import monitor
from abnet.model.summary import inspect_file


class Stub(DecisionTreeClassifier):
    """A model with the interface of CatBoost, and a file that holds its depth."""

    def __init__(self, random_seed: int = 0, **_: Any) -> None:
        super().__init__(max_depth=2, random_state=random_seed)
        self.random_seed = random_seed

    def predict(self, X: Any, check_input: bool = True) -> Any:
        return super().predict(X, check_input)[:, None]  # as CatBoost does with several classes

    def save_model(self, path: str) -> None:
        Path(path).write_text(f"depth {self.get_depth()}")


Stub.__module__ = "catboost.core"


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400).round(3)
    kind = rng.choice(["x", "y", "z"], 400)
    noisy = a + (kind == "x") + rng.normal(size=400) * 0.3
    return pl.DataFrame({"a": a, "kind": kind, "label": np.where(noisy > 0.4, "yes", "no")})


@pytest.fixture(scope="module")
def made(table: pl.DataFrame) -> Comparison:
    stub: Any = ModuleType("catboost")
    stub.CatBoostClassifier = Stub
    stub.Stub = Stub  # pickle measures its size
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "catboost", stub)
        patch.setitem(sys.modules, "catboost.core", stub)
        patch.setattr(
            "abnet.estimators.installed_boosting.find_spec",
            lambda name: sys.modules.get(name) if name == "catboost" else None,
        )
        small = abnet.CertifiedClassifier((2,), max_iter=5, random_state=0)
        return compare(table, "label", estimator=small, choose=True)


def won_by(made: Comparison, name: str) -> Comparison:
    """The same comparison, in which all others have no bound."""
    contenders = []
    for contender in made.contenders:
        if contender.name != name:
            contender = replace(contender, bound=None)
        contenders.append(contender)
    return replace(made, contenders=tuple(contenders))


def test_installed_libraries_take_part_and_the_choice_counts_them(made: Comparison) -> None:
    names = [contender.name for contender in made.contenders]
    assert "CatBoost" in names
    assert made.n_candidates == len(names) == 6
    for contender in made.contenders:
        assert contender.certificate is not None
        assert contender.certificate.facts.n_candidates == 6
        assert contender.note == ""


def test_a_foreign_winner_is_stored_by_its_library_and_named_by_its_hash(made: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    model, features = save_winner(won_by(made, "CatBoost"), path)
    assert (model.name, features.name) == ("best.cbm", "best.features.abnet")
    certificate = abnet.load_certificate(path)
    for file, where in zip(certificate.files, (model, features), strict=True):
        assert file.name == where.name
        assert file.sha256 == hashlib.sha256(where.read_bytes()).hexdigest()
    assert inspect_file(path, model=model).certificate == certificate
    model.write_text("depth 3")
    with pytest.raises(ValueError, match=r"best\.cbm"):
        inspect_file(path, model=model)


def test_the_features_file_makes_what_the_model_was_certified_with(
    made: Comparison, table: pl.DataFrame, tmp_path: Path
) -> None:
    _, features = save_winner(won_by(made, "CatBoost"), tmp_path / "best.json")
    contender = next(contender for contender in made.contenders if contender.name == "CatBoost")
    again = abnet.load(features).preparation.base.transform(table)
    assert np.array_equal(again, contender.preparation.transform(table.drop("label")))
    assert contender.certificate is not None
    counted = contender.fitted.predict(again)[:, 0] != table["label"].to_numpy()
    assert counted.sum() >= sum(contender.certificate.facts.class_errors)  # they are among all rows


def test_a_foreign_winner_is_monitored_by_its_answers(made: Comparison, table: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    save_winner(won_by(made, "CatBoost"), path)
    certificate = abnet.load_certificate(path)
    wrong = table.select("label", answer=pl.Series(np.where(table["label"] == "yes", "no", "yes")))
    found = monitor(path, wrong, tmp_path / "state.json", truth="label", prediction="answer")
    assert found.monitor.error == certificate.vote_error_bound
    assert found.alarm
    assert found.monitor.errors == len(table)
    right = table.select("label", answer="label")
    calm = monitor(
        path,
        right,
        tmp_path / "other.json",
        truth="label",
        prediction="answer",
        recall="certified",
        positive_class="no",
    )
    bounds = {part.label: part.vote_error_bound for part in certificate.per_class}
    assert calm.monitor.error == bounds["no"]
    assert (calm.alarm, calm.monitor.errors) == (False, 0)
    with pytest.raises(ValueError, match="prediction"):
        monitor(path, right, tmp_path / "third.json", truth="label")
    with pytest.raises(ValueError, match="precision"):
        monitor(
            path, right, tmp_path / "third.json", truth="label", prediction="answer",
            precision="certified", positive_class="no",
        )  # fmt: skip


def test_our_own_winner_is_a_model_file_like_any_other(made: Comparison, table: pl.DataFrame, tmp_path: Path) -> None:
    (model,) = won_by(made, "ABNet").save(tmp_path / "best.json")
    loaded = abnet.load(model)
    assert loaded.certificate == abnet.load_certificate(tmp_path / "best.json")
    assert loaded.certificate is not None
    assert loaded.certificate.facts.n_candidates == 6
    assert loaded.card.target == "label"
    with pytest.raises(ValueError, match="best"):
        monitor(model, table, tmp_path / "state.json", prediction="label")


def test_no_file_that_runs_code_is_written(made: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(winner_files, "find_spec", lambda name: None)
    assert save_winner(won_by(made, "random forest"), tmp_path / "best.json") == ()
    assert abnet.load_certificate(tmp_path / "best.json").files == ()
    assert [path.name for path in tmp_path.iterdir()] == ["best.json"]


def test_only_a_comparison_that_accounts_for_the_choice_is_saved(made: Comparison, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="choose"):
        save_winner(replace(made, n_candidates=1), tmp_path / "best.json")
    with pytest.raises(ValueError, match="json"):
        save_winner(won_by(made, "ABNet"), tmp_path / "best.abnet")


def test_a_certificate_without_files_is_written_as_before(made: Comparison) -> None:
    certificate = made.contenders[0].certificate
    assert certificate is not None
    assert "files" not in json.loads(json.dumps(certificate.to_dict()))


@pytest.mark.parametrize("library", ["catboost", "lightgbm"])
def test_the_real_libraries_are_saved_and_answer_the_same(library: str, table: pl.DataFrame, tmp_path: Path) -> None:
    module = pytest.importorskip(library, reason=f"{library} is an optional extra")
    models = installed_boosting(0, 1)
    name = {"catboost": "CatBoost", "lightgbm": "LightGBM"}[library]
    X = table["a"].to_numpy()[:, None]
    model = models[name].fit(X, table["label"].to_numpy())
    path = tmp_path / "model"
    if library == "catboost":
        model.save_model(str(path))
        again = module.CatBoostClassifier().load_model(str(path)).predict(X)
    else:
        model.booster_.save_model(str(path))
        places = module.Booster(model_file=str(path)).predict(X) > 0.5
        again = model.classes_[places.astype(int)]
    assert (again == model.predict(X)).all()


def test_a_scikit_learn_winner_is_kept_by_skops(made: Comparison, table: pl.DataFrame, tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is an optional extra")
    path, features = save_winner(won_by(made, "logistic regression"), tmp_path / "best.json")
    again = skops.load(path, trusted=skops.get_untrusted_types(file=path))
    contender = next(contender for contender in made.contenders if contender.name == "logistic regression")
    X = abnet.load(features).preparation.base.transform(table)
    assert (again.predict(X) == contender.fitted.predict(X)).all()
