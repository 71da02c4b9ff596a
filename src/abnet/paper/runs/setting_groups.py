"""Groups of settings that train side by side, and the order in which a sweep trains them."""

from collections.abc import Iterable
from dataclasses import dataclass

from abnet.paper.protocol import DATASETS, DEEPEST_IN_TABLE
from abnet.paper.runs.run_setting import MODELS, Setting

__all__ = ["SettingGroup", "groups_of"]


@dataclass(frozen=True)
class SettingGroup:
    """Settings that share data set, split, sizes and family, and so train side by side.

    Examples
    --------
    >>> group = SettingGroup(tuple(Setting("ads", "BC", (2,), rate, 0) for rate in (0.1, 0.01)))
    >>> group.name, len(group.settings)
    ('ads 2 BC #0', 2)
    """

    settings: tuple[Setting, ...]

    def __post_init__(self) -> None:
        shared = {_shared_fields(setting) for setting in self.settings}
        if len(shared) != 1:
            raise ValueError(
                "the settings of a group must share data set, sizes, family, repetition, length and variant; "
                f"these have {len(shared)} different ones"
            )
        if len(set(self.settings)) != len(self.settings):
            raise ValueError(f"a setting occurs twice in the group {self.name}")

    @property
    def dataset(self) -> str:
        """The shared data set."""
        return self.settings[0].dataset

    @property
    def hidden_layer_sizes(self) -> tuple[int, ...]:
        """The shared sizes."""
        return self.settings[0].hidden_layer_sizes

    @property
    def repetition(self) -> int:
        """The shared split seed."""
        return self.settings[0].repetition

    @property
    def models(self) -> tuple[str, ...]:
        """Models that occur, in the order of `MODELS`."""
        present = {s.model for s in self.settings}
        return tuple(model for model in MODELS if model in present)

    @property
    def name(self) -> str:
        """Short label, such as "ads 4-4 PBGNet+ABNet #0"."""
        first = self.settings[0]
        sizes = "-".join(map(str, self.hidden_layer_sizes))
        words = [self.dataset, sizes, "+".join(self.models), f"#{self.repetition}"]
        if first.trial_epochs is not None:
            words.append("trial")
        if first.variant is not None:
            words.append(first.variant)
        return " ".join(words)


def groups_of(settings: Iterable[Setting]) -> list[SettingGroup]:
    """Gather settings into groups, ordered so that useful parts of the table are finished first.

    Narrow before wide, Table 1's depths before deeper ones, then small data sets, cheap widths and shallow networks
    first; all repetitions of a cell run before the next cell. A setting that occurs twice runs once.

    Examples
    --------
    >>> from abnet.paper import table1_grid
    >>> [group.name for group in groups_of(table1_grid())[:2]]
    ['ads 2 PBGNet #0', 'ads 2 PBGNet #1']
    """
    members: dict[tuple[object, ...], list[Setting]] = {}
    for setting in dict.fromkeys(settings):
        members.setdefault(_shared_fields(setting), []).append(setting)
    groups = [SettingGroup(tuple(together)) for together in members.values()]
    return sorted(groups, key=_training_order)


def _shared_fields(s: Setting) -> tuple[object, ...]:
    """What settings that train side by side have in common."""
    return s.dataset, s.hidden_layer_sizes, s.family, s.repetition, s.trial_epochs, s.variant


def _training_order(group: SettingGroup) -> tuple[object, ...]:
    """Sort key of a group; data sets outside the paper come after the paper's, by name."""
    first = group.settings[0]
    if group.dataset in DATASETS:
        dataset_rank = DATASETS.index(group.dataset)
    else:
        dataset_rank = len(DATASETS)
    return (
        first.architecture,  # "narrow" sorts before "wide"
        first.hidden_layers > DEEPEST_IN_TABLE,
        dataset_rank,
        group.dataset,
        first.width,
        first.hidden_layers,
        MODELS.index(group.models[0]),
        group.hidden_layer_sizes,
        group.repetition,
    )
