"""Runs as CSV: what goes out comes back, and nothing else comes in."""

from dataclasses import replace

import pytest

from abnet.paper import Result, Setting, read_runs
from abnet.paper.runs.published_runs import PublishedRunsError, runs_to_csv


def results(repetitions: int) -> list[Result]:
    rates = (0.1, 0.01)
    models = ("ABNet", "PBGNet")
    return [
        Result(
            Setting("ads", model, (2,), rate, k), 0.025, rate / 3, rate / 2, 30, 1, 0.5, bound=rate, fingerprint="f0"
        )
        for model in models
        for rate in rates
        for k in range(repetitions)
    ]


@pytest.fixture
def text() -> str:
    return runs_to_csv(results(3))


def test_what_goes_out_comes_back_in_the_order_of_the_settings(text: str) -> None:
    exact = [replace(r, test_error=0.25, map_test_error=0.5) for r in results(3)]
    assert read_runs(runs_to_csv(reversed(exact))) == exact
    assert runs_to_csv(read_runs(text)) == text


def test_trials_variants_and_runs_are_kept_apart() -> None:
    whole = replace(results(1)[0], test_error=0.25)
    trial = replace(whole, setting=replace(whole.setting, trial_epochs=3), test_error=0.5)
    variant = replace(whole, setting=replace(whole.setting, variant="fan-in"), test_error=0.75)
    assert {r.setting: r.test_error for r in read_runs(runs_to_csv([trial, variant, whole]))} == {
        whole.setting: 0.25,
        trial.setting: 0.5,
        variant.setting: 0.75,
    }


def test_a_linear_network_has_no_sizes() -> None:
    whole = replace(results(1)[0], test_error=0.25, map_test_error=0.5)
    linear = replace(whole, setting=replace(whole.setting, hidden_layer_sizes=(), variant="small"))
    assert read_runs(runs_to_csv([linear])) == [linear]


def test_a_diverged_run_and_missing_figures_survive() -> None:
    diverged = Result(Setting("ads", "EBP", (2,), None, 0), float("nan"), 0.25, None, 3, 1, 0.5, fingerprint="f0")
    (run,) = read_runs(runs_to_csv([diverged]))
    assert run.train_error != run.train_error
    assert (run.test_error, run.map_test_error, run.bound) == (0.25, None, None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# abnet runs, format 3", "# runs", r"line 1\b"),
        ("# abnet runs, format 3", "# abnet runs, format 1", r"line 1\b"),
        ("# numerics 1", "# numerics 0", "version 1"),
        ("# data ads f0\n", "", r"line 4: .*'# data ads"),
        ("# data ads f0", "# data ads f1", "line 5: .*key"),
        ("key,dataset", "dataset,key", "line 4: .*columns"),
        (",ads,ABNet,2,0.1,0,", ",ads,ABNet,2,0.01,0,", "line 5: .*key"),
        (",ads,ABNet,2,0.1,0,", ",ads,ABNet,x,0.1,0,", "line 5: .*'x'"),
        (",ads,ABNet,2,0.1,0,", ",ads,Abnet,2,0.1,0,", "line 5: .*'Abnet'"),
        (",ads,ABNet,2,0.1,0,,,0.025,", ",ads,ABNet,2,0.1,0,,,1.025,", "line 5: train_error.*1.025"),
        (",ads,ABNet,2,0.1,0,,,0.025,", ",ads,ABNet,2,0.1,0,,,inf,", "line 5: train_error.*inf"),
        (",ads,ABNet,2,0.1,0,,,0.025,", ",ads,ABNet,2,0.1,0,,,nan,", "line 5: train_error.*nan"),
        (",30,1,0.5,", ",,1,0.5,", "line 5: epochs"),
        (",ads,ABNet,2,0.1,0,", ",ads,ABNet,2,0.1,", r"line 5: .*\b20\b.*\b21\b"),
    ],
)
def test_damage_is_named_with_its_line(text: str, old: str, new: str, message: str) -> None:
    assert old in text
    with pytest.raises(PublishedRunsError, match=message):
        read_runs(text.replace(old, new, 1))


def test_a_run_that_occurs_twice_is_refused(text: str) -> None:
    last = text.splitlines()[-1]
    with pytest.raises(PublishedRunsError, match=f"line {len(text.splitlines()) + 1}"):
        read_runs(text + last + "\n")
