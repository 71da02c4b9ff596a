"""The grids of settings behind Table 1 and Figure 4."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from abnet.paper.protocol import (
    DATASETS,
    DEEPEST_IN_TABLE,
    LEARNING_RATES,
    NARROW_WIDTHS,
    REPETITIONS,
    TABLE1_VARIANTS,
    WIDE_WIDTHS,
)
from abnet.paper.runs.run_setting import MODELS, Setting, architecture_of
from abnet.utils.errors import Parameter, ParameterError

__all__ = ["fig4_grid", "select", "table1_grid", "without_variant"]

_T = TypeVar("_T")


def table1_grid(*, narrow: bool = True, wide: bool = True, datasets: Sequence[str] = DATASETS) -> list[Setting]:
    """Return the runs behind Table 1: 1 to 3 hidden layers of one width, all models, rates and repetitions.

    Some rows use a variant of the protocol (`abnet.paper.protocol.TABLE1_VARIANTS`); `without_variant` returns the
    runs of the protocol without changes.

    Other data sets than the paper's may be named, such as the embedded ones.

    Examples
    --------
    >>> len(table1_grid(wide=False)), len(table1_grid())
    (6750, 13500)
    """
    widths: list[int] = []
    if narrow:
        widths.extend(NARROW_WIDTHS)
    if wide:
        widths.extend(WIDE_WIDTHS)
    return _grid(datasets, MODELS, widths, depths=range(1, DEEPEST_IN_TABLE + 1))


def without_variant(settings: Iterable[Setting]) -> list[Setting]:
    """Return the same settings by the protocol without changes.

    Examples
    --------
    >>> without_variant([Setting("ads", "ABNet", (2,), 0.1, 0, variant="fan-in")])[0].variant is None
    True
    """
    return [replace(setting, variant=None) for setting in settings]


def fig4_grid() -> list[Setting]:
    """Return the runs behind Figure 4: mnistLH, 1 to 8 hidden layers of 2, 4 or 8 units, PBGNet and ABNet.

    Those of up to 3 hidden layers are runs of Table 1 too.

    Examples
    --------
    >>> len(fig4_grid()), len(set(fig4_grid()) & set(table1_grid()))
    (960, 360)
    """
    return _grid(("mnistLH",), ("PBGNet", "ABNet"), NARROW_WIDTHS, depths=range(1, 9))


def _grid(
    datasets: Sequence[str], models: Sequence[str], widths: Sequence[int], depths: Sequence[int]
) -> list[Setting]:
    settings = []
    for dataset in datasets:
        for depth in depths:
            for width in widths:
                for model in models:
                    settings += _repeated(dataset, model, (width,) * depth)
    return settings


def _repeated(dataset: str, model: str, sizes: tuple[int, ...]) -> list[Setting]:
    """One model of one size, at every repetition and learning rate, in the variant that Table 1 uses."""
    rates: Sequence[float | None] = LEARNING_RATES
    if model == "EBP":
        rates = (None,)
    variant = TABLE1_VARIANTS.get((model, architecture_of(sizes)))
    return [
        Setting(dataset, model, sizes, learning_rate=rate, repetition=repetition, variant=variant)
        for repetition in range(REPETITIONS)
        for rate in rates
    ]


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
    selected = list(settings)
    _check_known("datasets", datasets, {s.dataset for s in selected})
    _check_known("models", models, {s.model for s in selected})
    _check_known("widths", widths, {s.width for s in selected})
    if datasets is not None:
        selected = [s for s in selected if s.dataset in datasets]
    if models is not None:
        selected = [s for s in selected if s.model in models]
    if widths is not None:
        selected = [s for s in selected if s.width in widths]
    if repetitions is not None:
        if repetitions < 1:
            raise ParameterError("{} must be at least 1; got {}.", Parameter("repetitions"), repetitions)
        selected = [s for s in selected if s.repetition < repetitions]
    return selected


def _check_known(parameter: str, wanted: Collection[_T] | None, known: Collection[_T]) -> None:
    unknown = [str(value) for value in wanted or () if value not in known]
    if unknown:
        names = sorted(map(str, known), key=lambda name: (len(name), name))
        raise ParameterError(
            "{}: no {} in this grid; there are {}.", Parameter(parameter), ", ".join(unknown), ", ".join(names)
        )
