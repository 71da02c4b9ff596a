"""The runs that train side by side, and the grids behind Table 1 and Figure 4."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from abnet.paper.protocol import MODELS, Setting
from abnet.utils.errors import Parameter, ParameterError

__all__ = [
    "DATASETS",
    "LEARNING_RATES",
    "NARROW_WIDTHS",
    "REPETITIONS",
    "SettingGroup",
    "WIDE_WIDTHS",
    "fig4_grid",
    "groups_of",
    "select",
    "table1_grid",
]


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
        shared = set(map(_shared, self.settings))
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
        sizes = "-".join(map(str, self.hidden_layer_sizes))
        first = self.settings[0]
        kind = ("" if first.trial_epochs is None else " trial") + (f" {first.variant}" if first.variant else "")
        return f"{self.dataset} {sizes} {'+'.join(self.models)} #{self.repetition}{kind}"

    def only(self, settings: Iterable[Setting]) -> "SettingGroup | None":
        """Return the group of those members that are in `settings`; None if there are none."""
        wanted = set(settings)
        kept = tuple(s for s in self.settings if s in wanted)
        return SettingGroup(kept) if kept else None


DATASETS = ("ads", "mnist56", "mnist49", "mnist17", "adult", "mnistLH")
"""The paper's data sets, by the number of minibatches in an epoch."""
NARROW_WIDTHS = (2, 4, 8)
WIDE_WIDTHS = (10, 50, 100)
LEARNING_RATES = (0.1, 0.01, 0.001, 0.0001)
REPETITIONS = 5
_DEEPEST_IN_TABLE = 3
_T = TypeVar("_T")


def table1_grid(*, narrow: bool = True, wide: bool = True, datasets: Sequence[str] = DATASETS) -> list[Setting]:
    """Return the runs behind Table 1: 1 to 3 hidden layers of one width, all models, rates and repetitions.

    Other data sets than the paper's may be named, such as the embedded ones.

    Examples
    --------
    >>> len(table1_grid(wide=False)), len(table1_grid())
    (6750, 13500)
    """
    widths = NARROW_WIDTHS * narrow + WIDE_WIDTHS * wide
    return _grid(datasets, MODELS, widths, range(1, _DEEPEST_IN_TABLE + 1))


def fig4_grid() -> list[Setting]:
    """Return the runs behind Figure 4: mnistLH, 1 to 8 hidden layers of 2, 4 or 8 units, PBGNet and ABNet.

    Those of up to 3 hidden layers are runs of Table 1 too.

    Examples
    --------
    >>> len(fig4_grid()), len(set(fig4_grid()) & set(table1_grid()))
    (960, 360)
    """
    return _grid(("mnistLH",), ("PBGNet", "ABNet"), NARROW_WIDTHS, range(1, 9))


def select(
    settings: Iterable[Setting],
    *,
    datasets: Collection[str] | None = None,
    models: Collection[str] | None = None,
    widths: Collection[int] | None = None,
    repetitions: int | None = None,
) -> list[Setting]:
    """Keep the settings of the named data sets, models and widths, and the first `repetitions` repetitions.

    Raises
    ------
    ParameterError
        If a name or width does not occur in the grid, so that a typing error never runs an empty sweep.

    Examples
    --------
    >>> len(select(table1_grid(), datasets=["ads"], models=["EBP"], repetitions=2))
    36
    """
    settings = list(settings)
    _check_known("datasets", datasets, {s.dataset for s in settings})
    _check_known("models", models, {s.model for s in settings})
    _check_known("widths", widths, {s.width for s in settings})
    if repetitions is not None and repetitions < 1:
        raise ParameterError("{} must be at least 1; got {}.", Parameter("repetitions"), repetitions)
    return [
        s
        for s in settings
        if (datasets is None or s.dataset in datasets)
        and (models is None or s.model in models)
        and (widths is None or s.width in widths)
        and (repetitions is None or s.repetition < repetitions)
    ]


def groups_of(settings: Iterable[Setting]) -> list[SettingGroup]:
    """Gather settings into groups, ordered so that useful parts of the table are finished first.

    Narrow before wide, Table 1's depths before deeper ones, then small data sets, cheap widths and shallow networks
    first; all repetitions of a cell run before the next cell. A setting that occurs twice runs once.

    Examples
    --------
    >>> [group.name for group in groups_of(table1_grid())[:2]]
    ['ads 2 PBGNet+ABNet #0', 'ads 2 PBGNet+ABNet #1']
    """
    together: dict[tuple[object, ...], list[Setting]] = {}
    for s in dict.fromkeys(settings):
        together.setdefault(_shared(s), []).append(s)
    return sorted((SettingGroup(tuple(members)) for members in together.values()), key=_turn)


def _grid(
    datasets: Sequence[str], models: Sequence[str], widths: Sequence[int], depths: Iterable[int]
) -> list[Setting]:
    return [
        Setting(dataset, model, (width,) * depth, rate, repetition)
        for dataset, depth, width, model, repetition in product(datasets, depths, widths, models, range(REPETITIONS))
        for rate in ((None,) if model == "EBP" else LEARNING_RATES)
    ]


def _shared(s: Setting) -> tuple[object, ...]:
    """What settings that train side by side have in common."""
    return s.dataset, s.hidden_layer_sizes, s.family, s.repetition, s.trial_epochs, s.variant


def _turn(group: SettingGroup) -> tuple[object, ...]:
    """Sort key of a group; data sets outside the paper come after the paper's, by name."""
    first = group.settings[0]
    known = DATASETS.index(group.dataset) if group.dataset in DATASETS else len(DATASETS)
    return (
        first.architecture,  # "narrow" sorts before "wide"
        first.hidden_layers > _DEEPEST_IN_TABLE,
        known,
        group.dataset,
        first.width,
        first.hidden_layers,
        MODELS.index(group.models[0]),
        group.hidden_layer_sizes,
        group.repetition,
    )


def _check_known(parameter: str, wanted: Collection[_T] | None, known: Collection[_T]) -> None:
    missing = [str(w) for w in wanted or () if w not in known]
    if missing:
        names = ", ".join(sorted(map(str, known), key=lambda name: (len(name), name)))
        raise ParameterError("{}: no {} in this grid; there are {}.", Parameter(parameter), ", ".join(missing), names)
