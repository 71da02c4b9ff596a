"""The jobs of `abnet reproduce`: run what is missing, then write what is there."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from abnet.cli.console import UsageError, note
from abnet.experiments import RunStore, Setting, fig4_grid, groups_of, publish, select, sweep, table1_grid
from abnet.experiments.agreement import TableComparison
from abnet.experiments.figures.timing import METHODS, read_timings
from abnet.experiments.race import race, trials
from abnet.experiments.result import Result
from abnet.experiments.selection import current_results

__all__ = ["GridChoice", "Place", "reproduce_fig2", "reproduce_fig4", "reproduce_table1", "table1_settings", "words"]


@dataclass(frozen=True)
class GridChoice:
    """Which part of a grid."""

    datasets: list[str] | None = None
    models: list[str] | None = None
    widths: list[int] | None = None
    repetitions: int = 5

    def of(self, settings: Iterable[Setting]) -> list[Setting]:
        """The part; a name that the grid does not have is a wrong use."""
        try:
            return select(settings, **vars(self))
        except ValueError as error:
            raise UsageError(str(error)) from error


@dataclass(frozen=True)
class Place:
    """Where a sweep runs and keeps its runs."""

    store: Path
    jobs: int = -1
    cluster: str | None = None
    data_dir: Path | None = None
    train: bool = True
    quiet: bool = False


def words(text: str | None) -> list[str] | None:
    """Names separated by commas or spaces.

    Examples
    --------
    >>> words("ads, adult"), words(None)
    (['ads', 'adult'], None)
    """
    return None if text is None else text.replace(",", " ").split()


def table1_settings(choice: GridChoice) -> list[Setting]:
    """The chosen part of Table 1's grid; data sets outside the paper's may be named."""
    from abnet.data import names
    from abnet.experiments.setting import DATASETS

    unknown = [name for name in choice.datasets or () if name not in names()]
    if unknown:
        raise UsageError(f"no data set {', '.join(unknown)}; there are {', '.join(names())}")
    return choice.of(table1_grid(datasets=choice.datasets or DATASETS))


def reproduce_table1(
    choice: GridChoice, place: Place, folder: Path, *, with_trials: bool = False
) -> tuple[list[TableComparison], list[Path], int]:
    """Train what is missing of Table 1, and write it; the comparison, the files and the exit code.

    In a race, trials choose which of the wide settings train in full.
    """
    settings, early = table1_settings(choice), 0
    going_on = settings
    if with_trials and place.train:
        going_on, early = _after_trials(settings, place)
    results, code = _results([*settings, *trials(settings)], place, train=going_on)
    code = code or early
    typed = publish.command("table1", vars(choice) | {"race": with_trials or None})
    comparisons, files = publish.publish_table1(results, folder, typed)
    return comparisons, files, code


def reproduce_fig4(choice: GridChoice, place: Place, folder: Path) -> tuple[list[Path], int]:
    """Train what is missing of Figure 4, and draw it."""
    results, code = _results(choice.of(fig4_grid()), place)
    typed = publish.command("fig4", {name: value for name, value in vars(choice).items() if name != "datasets"})
    return publish.publish_depth(results, folder, typed), code


def reproduce_fig2(
    folder: Path, *, widths: list[int] | None, depths: list[int] | None, repetitions: int, data_dir: Path | None,
    train: bool,
) -> list[Path]:  # fmt: skip
    """Measure the times of Figure 2 (or read them from `fig2.csv`), and draw it."""
    from abnet import data
    from abnet.experiments import timings

    options = {"widths": widths, "depths": depths, "repetitions": repetitions}
    if not train:
        measured = read_timings((folder / "fig2.csv").read_text(encoding="utf-8"))
        return publish.publish_timings(measured, folder, publish.command("fig2", options))
    batch = data.load("ads", data_dir=data_dir, standardise=True).X[:32]
    points = timings.plan(METHODS, widths or timings.WIDTHS, depths or timings.DEPTHS)
    measured = []
    for timing in timings.measure(points, batch, repetitions=repetitions):
        measured.append(timing)
        note(
            f"[{len(measured)}/{len(points)}] {timing.method}, width {timing.width}, L = {timing.depth}: "
            f"{timing.milliseconds:.3g} ms (mean of {timing.repetitions})"
        )
    return publish.publish_timings(measured, folder, publish.command("fig2", options))


def _after_trials(settings: list[Setting], place: Place) -> tuple[list[Setting], int]:
    """The settings that go on after their trials, which are run if they are missing, and the exit code so far."""
    with RunStore(place.store) as store:
        code = _train(race(settings, current_results(store.runs())).trials, store, place)
        stand = race(settings, current_results(store.runs()))
    for (dataset, model), missing in stand.undecided.items():
        note(
            f"{dataset}, {model}: left out, as {missing} trials have failed or are under way in another sweep; when "
            "those are done, the same command continues"
        )
    return stand.going_on, int(code or bool(stand.undecided))


def _train(settings: list[Setting], store: RunStore, place: Place) -> int:
    """Train the settings that are not in the store; the exit code."""
    report = sweep(
        groups_of(settings), store,
        jobs=place.jobs, cluster=place.cluster, data_dir=place.data_dir, quiet=place.quiet,
    )  # fmt: skip
    if report.interrupted:
        raise KeyboardInterrupt
    return report.exit_code


def _results(settings: list[Setting], place: Place, *, train: list[Setting] | None = None) -> tuple[list[Result], int]:
    """The stored results of the settings, after training those (of `train`) that are missing, and the exit code."""
    code = 0
    with RunStore(place.store, create=place.train) as store:
        if place.train:
            code = _train(settings if train is None else train, store, place)
        wanted = set(settings)
        results = [result for result in current_results(store.runs()) if result.setting in wanted]
    if not results:
        raise ValueError(f"no run of this part of the grid is in {place.store}; leave out --only-report to train it")
    return results, code
