"""Settings, groups, grids, protocol constants and keys."""

import hashlib
from collections import Counter
from dataclasses import fields, replace

import pytest

from abnet.paper import MODELS, Setting, fig4_grid, select, table1_grid
from abnet.paper.protocol import DATASETS, Protocol, protocol_of
from abnet.paper.reproduction.grids import without_variant
from abnet.paper.runs.run_key import definition, key
from abnet.paper.runs.setting_groups import SettingGroup, groups_of

SETTING = Setting("adult", "ABNet", (4, 4), 0.01, 3)


def test_narrow_grid_has_the_number_of_runs_of_the_protocol_page() -> None:
    pac_bayes = select(table1_grid(wide=False), models=["PBGNet", "ABNet", "PBGNet_l", "ABNet_l"])
    assert len(pac_bayes) == 6 * 9 * 4 * 5 * 4 == 4320


def test_each_cell_of_the_table_has_all_depths_widths_rates_and_repetitions() -> None:
    counts = Counter((s.dataset, s.architecture, s.model) for s in table1_grid())
    assert len(counts) == 84
    assert all(count == 9 * 5 * (1 if model == "EBP" else 4) for (_, _, model), count in counts.items())
    assert len(set(table1_grid())) == len(table1_grid())


def test_figure_4_shares_its_shallow_runs_with_the_table() -> None:
    table = select(table1_grid(), datasets=["mnistLH"])
    shared = {key(s, "f") for s in fig4_grid()} & {key(s, "f") for s in table}
    assert len(fig4_grid()) == 8 * 3 * 4 * 2 * 5
    assert len(shared) == 3 * 3 * 4 * 2 * 5


def test_rows_with_a_variant_have_their_runs_without_it_too() -> None:
    narrow = table1_grid(wide=False)
    assert {(s.model, s.variant) for s in narrow if s.variant} == {
        ("ABNet", "fan-in"),
        ("ABNet_l", "fan-in"),
        ("BC", "common"),
    }
    assert not any(s.variant for s in table1_grid(narrow=False))
    assert len(set(without_variant(narrow))) == len(narrow)
    assert {s.variant for s in without_variant(narrow)} == {None}


def test_groups_cover_the_grid_once_and_mix_nothing_that_must_stay_apart() -> None:
    groups = groups_of(table1_grid() + fig4_grid())
    members = [s for group in groups for s in group.settings]
    assert Counter(members) == Counter(set(table1_grid() + fig4_grid()))
    sizes = {model: {len(g.settings) for g in groups if model in g.models} for model in MODELS}
    for model in ("PBGNet", "ABNet", "PBGNet_l", "ABNet_l"):
        assert sizes[model] == {4, 8}  # narrow ABNet has a variant, so it does not train beside PBGNet
    assert (sizes["EBP"], sizes["BC"], sizes["BNN"]) == ({1}, {4}, {4})
    assert all(len({s.variant for s in group.settings}) == 1 for group in groups)


def test_useful_groups_come_first() -> None:
    groups = groups_of(reversed(fig4_grid() + table1_grid()))
    half = [(g.settings[0].architecture, g.settings[0].hidden_layers > 3) for g in groups]
    assert half == sorted(half)
    narrow = [g for g in groups if g.settings[0].architecture == "narrow" and g.settings[0].hidden_layers <= 3]
    assert list(dict.fromkeys(g.dataset for g in narrow)) == list(DATASETS)
    assert [g.repetition for g in narrow] == [0, 1, 2, 3, 4] * (len(narrow) // 5)


def test_order_does_not_depend_on_the_order_of_the_settings() -> None:
    settings = table1_grid()
    assert [g.name for g in groups_of(settings)] == [g.name for g in groups_of(reversed(settings))]


def test_filters() -> None:
    kept = select(table1_grid(), datasets=["ads", "adult"], models=["BC"], widths=[2, 100], repetitions=2)
    assert len(kept) == 2 * 3 * 2 * 4 * 2
    assert {s.repetition for s in kept} == {0, 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"datasets": ["mnist"]}, "datasets.*mnist.*ads, adult"),
        ({"models": ["abnet"]}, "models.*abnet"),
        ({"widths": [3]}, "widths.*3.*2, 4, 8, 10"),
        ({"repetitions": 0}, "repetitions"),
    ],
)
def test_filters_refuse_what_is_not_in_the_grid(options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        select(table1_grid(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "abnet"}, "'abnet'"),
        ({"hidden_layer_sizes": (4, 0)}, "hidden_layer_sizes"),
        ({"model": "EBP"}, "EBP.*None"),
        ({"learning_rate": None}, "EBP.*None"),
    ],
)
def test_impossible_settings_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SETTING, **changes)  # type: ignore[arg-type]


def test_a_group_refuses_members_that_share_too_little_or_too_much() -> None:
    with pytest.raises(ValueError, match="share"):
        SettingGroup((SETTING, replace(SETTING, repetition=4)))
    with pytest.raises(ValueError, match="share"):
        SettingGroup((SETTING, replace(SETTING, model="ABNet_l")))
    with pytest.raises(ValueError, match="share"):
        SettingGroup(())
    with pytest.raises(ValueError, match="twice"):
        SettingGroup((SETTING, SETTING))


def test_protocol_of_each_model() -> None:
    batches = {model: protocol_of(_small("mnist17", model)).batch_size for model in MODELS}
    assert batches == {"PBGNet": 32, "ABNet": 32, "PBGNet_l": 32, "ABNet_l": 32, "EBP": 10, "BC": 100, "BNN": 100}
    assert (
        protocol_of(_small("adult", "ABNet")).batch_size == protocol_of(_small("mnistLH", "PBGNet_l")).batch_size == 64
    )
    validation = {model: protocol_of(_small("ads", model)).validation_fraction for model in MODELS}
    assert {model for model, part in validation.items() if part == 0} == {"PBGNet", "ABNet"}
    assert set(validation.values()) == {0.0, 0.2}


def test_the_key_is_the_hash_of_canonical_json() -> None:
    canonical = (
        '{"fingerprint":"f","numerics_version":7,"protocol":{"batch_size":64,"delta":0.05,"max_epochs":100,'
        '"n_evaluations":null,"n_samples":null,"objective":"bound","options":[],"patience":20,"prior":"init",'
        '"rate_factor":0.5,"rate_patience":5,"standardise":false,"test_fraction":0.25,"tolerance":0.0001,'
        '"validation_fraction":0.0},"setting":{"dataset":"adult","hidden_layer_sizes":[4,4],"learning_rate":0.01,'
        '"model":"ABNet","repetition":3}}'
    )
    assert key(SETTING, "f", 7) == hashlib.sha256(canonical.encode()).hexdigest()


def test_whatever_defines_a_run_changes_its_key() -> None:
    others = [
        replace(SETTING, dataset="ads"),
        replace(SETTING, model="PBGNet"),
        replace(SETTING, hidden_layer_sizes=(4, 4, 4)),
        replace(SETTING, learning_rate=0.1),
        replace(SETTING, repetition=2),
    ]
    keys = [key(SETTING, "f", 1), key(SETTING, "g", 1), key(SETTING, "f", 2), *(key(s, "f", 1) for s in others)]
    assert len(set(keys)) == len(keys)


def test_every_constant_of_the_protocol_is_in_the_key() -> None:
    variant = replace(SETTING, variant="both")  # the paper's has the key of before there were variants
    assert {field.name for field in fields(Protocol)} <= set(definition(variant, "f", 1)["protocol"])  # type: ignore[call-overload]


def _small(dataset: str, model: str) -> Setting:
    return Setting(dataset, model, (4,), None if model == "EBP" else 0.1, 0)
