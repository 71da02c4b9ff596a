"""One run of the reproduction (`Setting`) and the runs that train side by side (`SettingGroup`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["FAMILIES", "MODELS", "Architecture", "SettingGroup", "Setting"]

Architecture: TypeAlias = Literal["narrow", "wide"]

MODELS = ("PBGNet", "ABNet", "PBGNet_l", "ABNet_l", "EBP", "BC", "BNN")
"""The models of Table 1, in its order; `_l` stands for the paper's subscript ℓ."""

FAMILIES = (("PBGNet", "ABNet"), ("PBGNet_l", "ABNet_l"), ("EBP",), ("BC",), ("BNN",))
"""Models that read the same training rows in the same minibatches, so that they can share one compiled program."""

WIDEST_NARROW = 8


@dataclass(frozen=True)
class Setting:
    """One run: a model with its sizes and learning rate, on one split of one data set.

    Parameters
    ----------
    dataset
        Name for `abnet.data.load`.
    model
        One of `MODELS`.
    hidden_layer_sizes
        Units of each hidden layer, leading layer first.
    learning_rate
        Adam's rate; None for EBP, which has none.
    repetition
        Seed of the train/test split and of the initialisation.
    trial_epochs
        The most epochs of a trial (`abnet.experiments.race`); None for a run in full.

    Examples
    --------
    >>> setting = Setting("ads", "ABNet", (4, 4, 4), 0.01, 0)
    >>> setting.hidden_layers, setting.width, setting.architecture
    (3, 4, 'narrow')
    """

    dataset: str
    model: str
    hidden_layer_sizes: tuple[int, ...]
    learning_rate: float | None
    repetition: int
    trial_epochs: int | None = None

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model {self.model!r} is unknown; choose from {', '.join(MODELS)}")
        if not self.hidden_layer_sizes or min(self.hidden_layer_sizes) < 1:
            raise ValueError(f"hidden_layer_sizes must be positive and at least one, got {self.hidden_layer_sizes}")
        if (self.learning_rate is None) != (self.model == "EBP"):
            raise ValueError(
                f"learning_rate={self.learning_rate} with {self.model}: EBP takes None, the others a number"
            )
        if self.trial_epochs is not None and self.trial_epochs < 1:
            raise ValueError(f"trial_epochs must be at least 1, got {self.trial_epochs}")

    @property
    def hidden_layers(self) -> int:
        """Number of hidden layers."""
        return len(self.hidden_layer_sizes)

    @property
    def width(self) -> int:
        """Units of the widest hidden layer."""
        return max(self.hidden_layer_sizes)

    @property
    def architecture(self) -> Architecture:
        """Table 1's half: "narrow" (exact aggregation) up to 8 units, "wide" (stochastic) above."""
        return "narrow" if self.width <= WIDEST_NARROW else "wide"

    @property
    def family(self) -> tuple[str, ...]:
        """The models this one can train with."""
        return next(family for family in FAMILIES if self.model in family)


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
        shared = {(s.dataset, s.hidden_layer_sizes, s.family, s.repetition, s.trial_epochs) for s in self.settings}
        if len(shared) != 1:
            raise ValueError(
                "the settings of a group must share data set, sizes, family, repetition and length; "
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
        sizes = "-".join(map(str, self.hidden_layer_sizes))
        kind = "" if self.settings[0].trial_epochs is None else " trial"
        return f"{self.dataset} {sizes} {'+'.join(self.models)} #{self.repetition}{kind}"

    def only(self, settings: Iterable[Setting]) -> "SettingGroup | None":
        """Return the group of those members that are in `settings`; None if there are none."""
        wanted = set(settings)
        kept = tuple(s for s in self.settings if s in wanted)
        return SettingGroup(kept) if kept else None
