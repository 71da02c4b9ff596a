"""The protocol governs what its fields say: none of them is a mere word in the key of a run."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from abnet.networks import FanInUniform, GlorotNormal, PBGNet, SampledPBGNet
from abnet.paper import Result, RunStore, Setting, run
from abnet.paper.protocol import Protocol, protocol_of
from abnet.paper.runs import prepared_split
from abnet.paper.runs.model_runs import model_runs
from abnet.paper.runs.run_key import key
from abnet.paper.runs.run_setting import VARIANTS, Variant

ABNET = Setting("circles", "ABNet", (2,), 0.1, 0)
SHORT = {"max_epochs": 6, "patience": 3, "rate_patience": 4, "tolerance": 1e-4}
STALE = SHORT | {"tolerance": 1.0}  # no epoch is an improvement
SAMPLED = SHORT | {"n_samples": 2, "n_evaluations": 2}

TRAINED: dict[str, tuple[dict[str, Any], object]] = {
    "objective": (SHORT, "loss"),
    "batch_size": (SHORT, 64),
    "validation_fraction": (SHORT, 0.2),
    "standardise": (SHORT, True),
    "test_fraction": (SHORT, 0.5),
    "max_epochs": (SHORT, 5),
    "patience": (STALE, 2),
    "tolerance": (SHORT, 1.0),
    "rate_patience": (STALE, 1),
    "delta": (SHORT, 0.01),
    "n_evaluations": (SAMPLED, 3),
    "variant": (SHORT, Variant(warm_up=1)),
}
"""Field by field: what the protocol is shortened to, and a value that must change what comes of the run."""

LEARNERS: dict[str, tuple[Setting, Any]] = {
    "n_samples": (replace(ABNET, hidden_layer_sizes=(10,)), 99),
    "options": (replace(ABNET, model="BC"), (("glorot_scale", False),)),
}
"""Fields that say what is compiled: here it is enough that another learner reaches training."""


@pytest.fixture(scope="module")
def outcome() -> Callable[..., Result]:
    """What comes of a run, but for the time it took, when its protocol has these constants."""

    @cache
    def run_with(**constants: Any) -> Result:
        result = run("circles", "ABNet", (2,), 0.1, 0, protocol=replace(protocol_of(ABNET), **constants))
        return replace(result, seconds=0.0)

    return run_with


def test_a_store_holds_no_run_of_another_protocol(outcome: Callable[..., Result]) -> None:
    with RunStore(":memory:") as store, pytest.raises(ValueError, match="fingerprint"):
        store.add([outcome(**SHORT)])


def test_every_field_is_looked_at() -> None:
    assert {*TRAINED, *LEARNERS} == {field.name for field in fields(Protocol)}


def test_a_run_repeats_itself(outcome: Any) -> None:
    """So a field that governed nothing would be found out below."""
    assert outcome(**SHORT) == outcome.__wrapped__(**SHORT)


@pytest.mark.parametrize("name", TRAINED)
def test_a_field_changes_what_comes_of_a_run(name: str, outcome: Callable[..., Result]) -> None:
    constants, other = TRAINED[name]
    assert outcome(**constants) != outcome(**constants | {name: other})


@pytest.mark.parametrize(
    "variant",
    [
        Variant(deviations=True),
        Variant(restarts=2),
        Variant(initialisation=GlorotNormal(0.5)),
        Variant(initialisation=FanInUniform()),
        Variant(candidates=2),
    ],
    ids=str,
)
def test_every_part_of_a_variant_changes_what_comes_of_a_run(variant: Variant, outcome: Callable[..., Result]) -> None:
    assert outcome(**SHORT) != outcome(**SHORT, variant=variant)


def test_restarts_keep_the_lowest_bound_and_pay_for_the_choice(outcome: Callable[..., Result]) -> None:
    """Of two initialisations, the first of which is the paper's: each bound is computed at half of δ."""
    paid = outcome(**SHORT | {"delta": 0.025})
    best = outcome(**SHORT, variant=Variant(restarts=2))
    assert best.bound is not None
    assert paid.bound is not None
    assert best.bound <= paid.bound + 1e-6


def test_a_choice_among_candidates_is_paid_for(outcome: Callable[..., Result]) -> None:
    """A candidate of two has the bound of a run at half of δ."""
    half = outcome(**SHORT | {"delta": 0.025})
    of_two = outcome(**SHORT, variant=Variant(candidates=2))
    assert half.bound is not None
    assert of_two.bound == pytest.approx(half.bound, abs=1e-6)


def test_centre_surround_images_are_what_is_trained_on() -> None:
    digits = replace(ABNET, dataset="digits17", variant="small")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(prepared_split, "centre_surround", lambda X, side: 0 * X)
        plain = prepared_split.prepared_split("digits17", 0, protocol_of(digits), None)
        mapped = prepared_split.prepared_split("digits17", 0, protocol_of(replace(digits, variant="surround")), None)
    assert plain.X.any()
    assert not mapped.X.any()
    np.testing.assert_array_equal(plain.y, mapped.y)


def test_exact_wide_pbgnet_draws_nothing() -> None:
    setting = Setting("circles", "PBGNet", (10,), 0.1, 0, variant="exact")
    protocol = protocol_of(setting)
    assert protocol.n_samples is None
    assert protocol.n_evaluations is None
    assert model_runs([setting], protocol, 2, 100).learner.aggregation == PBGNet()
    sampled = replace(setting, variant=None)
    assert model_runs([sampled], protocol_of(sampled), 2, 100).learner.aggregation == SampledPBGNet(100)


def test_a_variant_is_a_run_of_its_own() -> None:
    def settings() -> Iterator[Setting]:
        for name in (None, *VARIANTS):
            model = {"common": "BC", "exact": "PBGNet"}.get(name or "", "ABNet")
            yield replace(ABNET, model=model, variant=name)

    keys = {key(setting, "data") for setting in settings()}
    assert len(keys) == 1 + len(VARIANTS)
    with pytest.raises(ValueError, match="cold"):
        replace(ABNET, variant="cold")


@pytest.mark.parametrize(
    ("model", "variant"), [("ABNet_l", "both"), ("ABNet", "common"), ("BC", "fan-in"), ("ABNet", "exact")]
)
def test_a_variant_of_other_models_is_refused(model: str, variant: str) -> None:
    with pytest.raises(ValueError, match=model):
        replace(ABNET, model=model, variant=variant)


def test_bc_may_follow_the_procedure_of_abnet_l() -> None:
    usual = protocol_of(Setting("mnist49", "BC", (8,), 0.1, 0))
    common = protocol_of(Setting("mnist49", "BC", (8,), 0.1, 0, variant="common"))
    of_abnet_l = protocol_of(Setting("mnist49", "ABNet_l", (8,), 0.1, 0))
    names = ("batch_size", "standardise", "rate_patience", "validation_fraction")
    assert [getattr(common, name) for name in names] == [getattr(of_abnet_l, name) for name in names]
    assert common == replace(usual, batch_size=32, standardise=False, rate_patience=5)
    assert protocol_of(Setting("mnistLH", "BC", (8,), 0.1, 0, variant="common")).batch_size == 64


@pytest.mark.parametrize("name", LEARNERS)
def test_a_field_changes_what_is_compiled(name: str) -> None:
    setting, other = LEARNERS[name]
    protocol = protocol_of(setting)
    same, changed = (replace(protocol, **{name: value}) for value in (getattr(protocol, name), other))
    usual, again, found = (model_runs([setting], p, 2, 10).learner for p in (protocol, same, changed))
    assert usual == again != found


@pytest.mark.parametrize(
    ("model", "objective", "learner"),
    [("EBP", "ebp", "EBP"), ("BC", "square hinge", "BinaryConnect"), ("BNN", "square hinge", "BNN")],
)
def test_the_objective_of_the_comparison_methods_is_theirs_alone(model: str, objective: str, learner: str) -> None:
    setting = Setting("circles", model, (2,), None if model == "EBP" else 0.1, 0)
    protocol = protocol_of(setting)
    assert protocol.objective == objective
    assert type(model_runs([setting], protocol, 2, 10).learner).__name__ == learner
    with pytest.raises(ValueError, match=model):
        model_runs([setting], replace(protocol, objective="bound"), 2, 10)


def test_a_bound_needs_its_delta() -> None:
    with pytest.raises(ValueError, match="ABNet"):
        model_runs([ABNET], replace(protocol_of(ABNET), delta=None), 2, 10)
