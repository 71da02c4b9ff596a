"""The grids behind Table 1 and Figure 4, their filters, and the order in which they run."""

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import TypeVar

from abnet.experiments.setting import MODELS, Setting, SettingGroup

__all__ = [
    "DATASETS",
    "LEARNING_RATES",
    "NARROW_WIDTHS",
    "REPETITIONS",
    "WIDE_WIDTHS",
    "SettingGroup",
    "Setting",
    "fig4_grid",
    "groups_of",
    "select",
    "table1_grid",
]

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
    ValueError
        If a name or width does not occur in the grid, so that a typing error never runs an empty sweep.

    Examples
    --------
    >>> len(select(table1_grid(), datasets=["ads"], models=["EBP"], repetitions=2))
    36
    """
    settings = list(settings)
    _check_known("data set", datasets, {s.dataset for s in settings})
    _check_known("model", models, {s.model for s in settings})
    _check_known("width", widths, {s.width for s in settings})
    if repetitions is not None and repetitions < 1:
        raise ValueError(f"repetitions must be at least 1, got {repetitions}")
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
        shared = (s.dataset, s.hidden_layer_sizes, s.family, s.repetition, s.trial_epochs)
        together.setdefault(shared, []).append(s)
    return sorted((SettingGroup(tuple(members)) for members in together.values()), key=_turn)


def _grid(
    datasets: Sequence[str], models: Sequence[str], widths: Sequence[int], depths: Iterable[int]
) -> list[Setting]:
    return [
        Setting(dataset, model, (width,) * depth, rate, repetition)
        for dataset, depth, width, model, repetition in product(datasets, depths, widths, models, range(REPETITIONS))
        for rate in ((None,) if model == "EBP" else LEARNING_RATES)
    ]


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


def _check_known(what: str, wanted: Collection[_T] | None, known: Collection[_T]) -> None:
    missing = [str(w) for w in wanted or () if w not in known]
    if missing:
        names = ", ".join(sorted(map(str, known), key=lambda name: (len(name), name)))
        raise ValueError(f"no {what} {', '.join(missing)} in this grid; there are {names}")
