"""Runs as CSV: what goes out comes back, and nothing else comes in."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from abnet.experiments import Result, RunStore, Setting, key
from abnet.experiments.exchange import ExchangeError, export_runs, import_runs, read_runs
from abnet.experiments.selection import current_results
from abnet.experiments.table1 import table1, to_csv


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    return importlib.import_module("fake_training")


@pytest.fixture
def text(fake: ModuleType) -> str:
    with RunStore(":memory:") as store:
        _fill(store, fake, 3)
        return export_runs(store.runs())


def _fill(store: RunStore, fake: ModuleType, repetitions: int) -> None:
    for group in fake.groups(repetitions):
        claim = store.claim(group, fingerprint="f0")
        assert claim is not None
        store.record(claim, [fake.result_of(setting) for setting in group.settings])


def test_an_imported_store_gives_the_same_table_and_resumes(fake: ModuleType, text: str, tmp_path: Path) -> None:
    with RunStore(":memory:") as original, RunStore(tmp_path / "runs.sqlite") as copy:
        _fill(original, fake, 3)
        assert import_runs(text, copy) == (24, 0)
        assert import_runs(text, copy) == (0, 24)
        assert export_runs(copy.runs()) == text
        tables = [to_csv(table1(current_results(store.runs()))) for store in (original, copy)]
        assert tables[0] == tables[1]
        claims = [copy.claim(group, fingerprint="f0") for group in fake.groups(4)]
        assert [claim is not None for claim in claims] == [False, False, False, True]


def test_a_diverged_run_and_missing_figures_survive() -> None:
    setting = Setting("ads", "EBP", (2,), None, 0)
    with RunStore(":memory:") as store, RunStore(":memory:") as copy:
        store.add([Result(setting, float("nan"), 0.25, None, 3, 1, 0.5)], {"ads": "f0"}, machine={})
        import_runs(export_runs(store.runs()), copy)
        (run,) = copy.runs()
        assert run.result is not None
        assert run.result.train_error != run.result.train_error
        assert (run.result.test_error, run.result.map_test_error, run.result.bound) == (0.25, None, None)
        assert run.key == key(setting, "f0")


def test_13500_rows_are_about_2_megabytes(text: str) -> None:
    assert len(text) / 24 * 13_500 < 2.5e6


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# abnet runs, format 2", "# runs", "line 1: no file of runs"),
        ("# abnet runs, format 2", "# abnet runs, format 1", "line 1: a file of runs in another format"),
        ("# numerics 1", "# numerics 0", "not trained by version 1"),
        ("# data ads f0\n", "", r"line 4: there is no line '# data ads"),
        ("# data ads f0", "# data ads f1", "line 5: .* is not the key"),
        ("key,dataset", "dataset,key", "line 4: the columns are not"),
        (",ads,ABNet,2,0.1,0,", ",ads,ABNet,2,0.01,0,", "line 5: .* is not the key"),
        (",ads,ABNet,2,0.1,0,", ",ads,ABNet,x,0.1,0,", "line 5: invalid literal"),
        (",ads,ABNet,2,0.1,0,", ",ads,Abnet,2,0.1,0,", "line 5: model 'Abnet' is unknown"),
        (",ads,ABNet,2,0.1,0,,0.025,", ",ads,ABNet,2,0.1,0,,1.025,", "line 5: train_error is 1.025"),
        (",ads,ABNet,2,0.1,0,,0.025,", ",ads,ABNet,2,0.1,0,,inf,", "line 5: train_error is inf"),
        (",ads,ABNet,2,0.1,0,,0.025,", ",ads,ABNet,2,0.1,0,,nan,", "line 5: train_error is nan"),
        (",30,1,0.5,", ",,1,0.5,", "line 5: epochs, best_epoch and seconds"),
        (",ads,ABNet,2,0.1,0,", ",ads,ABNet,2,0.1,", "line 5: 19 cells for 20 columns"),
    ],
)
def test_damage_is_named_with_its_line(text: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in text
    with RunStore(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ExchangeError, match=message):
            import_runs(text.replace(old, new, 1), store)
        assert store.runs() == []


def test_a_run_that_occurs_twice_is_refused(text: str) -> None:
    last = text.splitlines()[-1]
    with pytest.raises(ExchangeError, match=f"line {len(text.splitlines()) + 1}: this run occurs twice"):
        read_runs(text + last + "\n")
