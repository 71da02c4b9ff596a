"""Variants of Table 1 that the theory allows, such as learned deviations or a small scale of the prior.

Variants of the narrow PBGNet and ABNet. They are kept apart from the paper's protocol: `table1.csv` has none of their
runs. They use a part of the paper's grid, the sizes and rates that do best in `runs.csv`, and linear networks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from abnet.paper.protocol import REPETITIONS
from abnet.paper.reproduction.record_csv import read_records, records_to_csv
from abnet.paper.reproduction.selection import Selected, by_cell, choose, deviation, mean
from abnet.paper.reproduction.table1_rows import TABLE_DATASETS, dataset_order
from abnet.paper.runs.run_result import Result
from abnet.paper.runs.run_setting import Setting

__all__ = [
    "BEYOND_THE_PAPER",
    "SIZES",
    "VARIANT_MODELS",
    "VariantRow",
    "read_variants",
    "variant_grid",
    "variant_rows",
    "variants_to_csv",
]

BEYOND_THE_PAPER = ("warm-up", "deviations", "both", "restarts", "small", "surround")
"""The names in `abnet.paper.VARIANTS` that the table of variants compares."""

SIZES: dict[str, tuple[int, ...]] = {
    "ads": (2, 2),
    "adult": (2,),
    "mnist17": (2,),
    "mnist49": (2,),
    "mnist56": (2,),
    "mnistLH": (4,),
}
"""Hidden layers of each data set: those with the lowest mean bound in `runs.csv`, of PBGNet on mnistLH."""
DEEPER = Setting("mnistLH", "ABNet", (4, 4, 4), 0.01, 0)
"""The paper's own setting of ABNet on mnistLH, for ABNet alone."""

RATES: dict[str, tuple[float, ...]] = {"mnistLH": (0.01,)}
"""Learning rates that won there; elsewhere those of `USUAL_RATES`."""
USUAL_RATES = (0.1, 0.01)
VARIANT_MODELS = ("PBGNet", "ABNet")

LINEAR: tuple[int, ...] = ()
"""No hidden layer: a linear network, whose only layer is the output neuron."""
IMAGES = ("mnist17", "mnist49", "mnist56", "mnistLH")
"""The data sets of images, which have surroundings."""


def variant_grid(
    *,
    variants: Sequence[str] = BEYOND_THE_PAPER,
    datasets: Sequence[str] = TABLE_DATASETS,
    repetitions: int = REPETITIONS,
) -> list[Setting]:
    """Return the runs behind the table of variants.

    Examples
    --------
    >>> len(variant_grid()), len(variant_grid(variants=["both"], datasets=["ads"], repetitions=1))
    (750, 4)
    """
    settings = []
    for variant in variants:
        for dataset in datasets:
            for model in VARIANT_MODELS:
                for sizes in _sizes(variant, dataset, model):
                    for rate in RATES.get(dataset, USUAL_RATES):
                        for repetition in range(repetitions):
                            settings.append(Setting(dataset, model, sizes, rate, repetition, variant=variant))
    return settings


def _sizes(variant: str, dataset: str, model: str) -> list[tuple[int, ...]]:
    """The hidden layers that are compared for one variant, data set and model."""
    if variant == "surround":
        if dataset in IMAGES:
            return [LINEAR]
        return []
    sizes = [SIZES.get(dataset, (2,))]
    if variant == "small":
        sizes.append(LINEAR)
    elif (dataset, model) == (DEEPER.dataset, DEEPER.model):
        sizes.append(DEEPER.hidden_layer_sizes)
    return sizes


@dataclass(frozen=True)
class VariantRow:
    """A row of `table1_variants.csv`: the setting with the best mean bound, as in Table 1.

    The bound is an estimate, as there: it accounts for the choice among restarts, and among the sizes and maps of
    several variants only where the variant has `candidates`.
    """

    dataset: str
    model: str
    variant: str
    hidden_layers: int
    width: int
    learning_rate: float
    bound: float
    bound_std: float | None
    train_error: float
    test_error: float
    test_error_std: float | None
    map_test_error: float
    repetitions: int
    runs: int


def variant_rows(results: Iterable[Result]) -> list[VariantRow]:
    """Select a setting for each data set, model and variant that has runs; trials and the paper's runs are left out."""
    of_variants = [result for result in results if result.setting.variant in BEYOND_THE_PAPER]
    cells = by_cell(of_variants, lambda s: (s.dataset, s.model, s.variant or ""))
    rows = []
    for competing in cells.values():
        selected = choose(competing)
        if selected is not None:
            rows.append(_row(selected))
    return sorted(rows, key=_order)


def variants_to_csv(rows: Iterable[VariantRow]) -> str:
    """Return rows as CSV."""
    return records_to_csv(rows, VariantRow)


def read_variants(text: str) -> list[VariantRow]:
    """Read rows from CSV."""
    return read_records(
        text,
        VariantRow,
        texts=("dataset", "model", "variant"),
        whole_numbers=("hidden_layers", "width", "repetitions", "runs"),
    )


def _order(row: VariantRow) -> tuple[tuple[int, str], int, int]:
    return dataset_order(row.dataset), VARIANT_MODELS.index(row.model), BEYOND_THE_PAPER.index(row.variant)


def _row(selected: Selected) -> VariantRow:
    setting = selected.setting
    results = selected.results
    if setting.learning_rate is None or setting.variant is None:
        raise ValueError(f"{setting} has no learning rate or no variant")
    return VariantRow(
        dataset=setting.dataset,
        model=setting.model,
        variant=setting.variant,
        hidden_layers=setting.hidden_layers,
        width=setting.width,
        learning_rate=setting.learning_rate,
        bound=_stored_mean(selected, "bound"),
        bound_std=deviation(results, "bound"),
        train_error=_stored_mean(selected, "train_error"),
        test_error=_stored_mean(selected, "test_error"),
        test_error_std=deviation(results, "test_error"),
        map_test_error=_stored_mean(selected, "map_test_error"),
        repetitions=len(results),
        runs=selected.runs,
    )


def _stored_mean(selected: Selected, figure: str) -> float:
    value = mean(selected.results, figure)
    if value is None:
        raise ValueError(f"a run of {selected.setting} was stored without {figure}")
    return value
