"""The run store as a CSV file that can be published and read back: figures and table come out the same, runs resume.

One row for each finished run or trial of this protocol and version of the numerics, with its setting, its figures to 8
digits (fewer would break ties of the selection otherwise than in the store) and the first 16 digits of its key; no
curves. Comment lines on top hold the versions and the fingerprints of the data.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping

from abnet.experiments.protocol import NUMERICS_VERSION, key
from abnet.experiments.result import METRICS, Result
from abnet.experiments.selection import current_runs
from abnet.experiments.setting import Setting
from abnet.experiments.store import RunStore, StoredRun

__all__ = ["ExchangeError", "export_runs", "import_runs", "read_runs"]

TITLE = "# abnet runs, format 2"
_SETTING = ("dataset", "model", "hidden_layer_sizes", "learning_rate", "repetition", "trial_epochs")
_COLUMNS = ("key", *_SETTING, *METRICS)
_COUNTS = ("epochs", "best_epoch")
_SHARES = ("train_error", "test_error", "map_test_error", "train_loss", "test_loss", "validation_error")
_KEY_DIGITS = 16


class ExchangeError(ValueError):
    """A file of runs that cannot be read: another format or version, or a row that contradicts itself."""


def export_runs(runs: Iterable[StoredRun]) -> str:
    """Return the finished runs as CSV, in the order of their settings.

    Examples
    --------
    >>> from abnet.experiments import SettingGroup
    >>> setting = Setting("ads", "EBP", (2,), None, 0)
    >>> with RunStore(":memory:") as store:
    ...     claim = store.claim(SettingGroup((setting,)), fingerprint="f" * 64)
    ...     store.record(claim, [Result(setting, 0.01, 0.04, 0.05, epochs=30, best_epoch=10, seconds=2.0)])
    ...     print(export_runs(store.runs()).splitlines()[-1].split(",", 1)[1])
    ads,EBP,2,,0,,0.01,0.04,0.05,30,10,2,,,,,,,
    """
    current = sorted(current_runs(runs), key=lambda run: _place(run.setting))
    prints = {run.setting.dataset: run.fingerprint for run in current}
    out = io.StringIO()
    out.write(f"{TITLE}\n# numerics {NUMERICS_VERSION}\n")
    out.writelines(f"# data {name} {fingerprint}\n" for name, fingerprint in sorted(prints.items()))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_cells(run.key, run.result) for run in current if run.result is not None)
    return out.getvalue()


def read_runs(text: str) -> tuple[list[Result], dict[str, str]]:
    """Read runs and the fingerprints of their data sets.

    Raises
    ------
    ExchangeError
        Names the line and what is wrong with it: a key that is not that of its setting, a figure out of range, a run
        that occurs twice, another version.
    """
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    prints = _read_comments(comments)
    records = csv.reader(lines[len(comments) :])
    if tuple(next(records, ())) != _COLUMNS:
        raise ExchangeError(f"line {len(comments) + 1}: the columns are not {', '.join(_COLUMNS)}")
    results: dict[Setting, Result] = {}
    for number, record in enumerate(records, start=len(comments) + 2):
        try:
            result = _read_row(record, prints)
            if result.setting in results:
                raise ValueError("this run occurs twice")
        except ValueError as error:
            raise ExchangeError(f"line {number}: {error}") from error
        results[result.setting] = result
    return list(results.values()), prints


def import_runs(text: str, store: RunStore) -> tuple[int, int]:
    """Add runs to a store; return how many were new and how many were there already."""
    results, prints = read_runs(text)
    new = store.add(results, prints, machine={"cpu": "imported from a file of runs"})
    return new, len(results) - new


def _cells(run_key: str, result: Result) -> list[object]:
    s = result.setting
    sizes, rate = "-".join(map(str, s.hidden_layer_sizes)), "" if s.learning_rate is None else f"{s.learning_rate!r}"
    figures = [_figure(name, getattr(result, name)) for name in METRICS]
    trial = "" if s.trial_epochs is None else s.trial_epochs
    return [run_key[:_KEY_DIGITS], s.dataset, s.model, sizes, rate, s.repetition, trial, *figures]


def _figure(name: str, value: float | None) -> str:
    digits = 3 if name == "seconds" else 8
    return "" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def _read_comments(comments: list[str]) -> dict[str, str]:
    if not comments or comments[0] != TITLE:
        kind = (
            "a file of runs in another format" if comments and comments[0].startswith(TITLE[:-1]) else "no file of runs"
        )
        raise ExchangeError(f"line 1: {kind}; it should begin with {TITLE!r}")
    if f"# numerics {NUMERICS_VERSION}" not in comments:
        raise ExchangeError(
            f"these runs were not trained by version {NUMERICS_VERSION} of the numerics; train them anew, or use the "
            "version of abnet that wrote the file"
        )
    data = (line.split() for line in comments if line.startswith("# data "))
    return {words[2]: words[3] for words in data if len(words) == 4}


def _read_row(record: list[str], prints: Mapping[str, str]) -> Result:
    if len(record) != len(_COLUMNS):
        raise ValueError(f"{len(record)} cells for {len(_COLUMNS)} columns")
    cells = dict(zip(_COLUMNS, record, strict=True))
    setting = Setting(
        cells["dataset"],
        cells["model"],
        tuple(int(size) for size in cells["hidden_layer_sizes"].split("-")),
        float(cells["learning_rate"]) if cells["learning_rate"] else None,
        int(cells["repetition"]),
        int(cells["trial_epochs"]) if cells["trial_epochs"] else None,
    )
    if setting.dataset not in prints:
        raise ValueError(f"there is no line '# data {setting.dataset} …' with the fingerprint of its data")
    if key(setting, prints[setting.dataset])[:_KEY_DIGITS] != cells["key"]:
        raise ValueError(f"{cells['key']} is not the key of this setting, data and protocol")
    return _read_figures(setting, cells)


def _read_figures(setting: Setting, cells: Mapping[str, str]) -> Result:
    figures: dict[str, float | None] = {
        name: (int(cells[name]) if name in _COUNTS else float(cells[name])) if cells[name] else None for name in METRICS
    }
    for name, value in figures.items():
        limit = 1.0 if name in _SHARES else math.inf
        if value is not None and not (0 <= value <= limit and math.isfinite(value)):
            raise ValueError(f"{name} is {cells[name]}, not a number from 0 to {limit:g}")
    if any(figures[name] is None for name in (*_COUNTS, "seconds")):
        raise ValueError("epochs, best_epoch and seconds must be there")
    for name in ("train_error", "test_error"):  # empty where a run diverged
        figures[name] = math.nan if figures[name] is None else figures[name]
    return Result(setting, **figures)  # type: ignore[arg-type]


def _place(setting: Setting) -> tuple[object, ...]:
    rate = setting.learning_rate or 0.0
    size = setting.width, setting.hidden_layers
    return setting.dataset, *size, setting.model, -rate, setting.repetition, setting.trial_epochs or 0
