"""Finished runs as a CSV file that is published and read back: table and figures come out the same, sweeps resume.

One row for each run or trial, with its setting, its figures to 8 digits (fewer would break ties of the selection
otherwise than in the store) and the first 16 digits of its key; no curves. Comment lines on top hold the version of the
numerics and the fingerprints of the data.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping

from abnet.paper.run_key import NUMERICS_VERSION, key
from abnet.paper.run_result import METRICS, Result
from abnet.paper.run_setting import Setting

__all__ = ["PublishedRunsError", "read_runs", "runs_to_csv"]

TITLE = "# abnet runs, format 2"
_SETTING = ("dataset", "model", "hidden_layer_sizes", "learning_rate", "repetition", "trial_epochs")
_COLUMNS = ("key", *_SETTING, *METRICS)
_COUNTS = ("epochs", "best_epoch")
_SHARES = ("train_error", "test_error", "map_test_error", "train_loss", "test_loss", "validation_error")


class PublishedRunsError(ValueError):
    """A file of runs that cannot be read: another format or version, or a row that contradicts itself."""


def runs_to_csv(results: Iterable[Result]) -> str:
    """Return runs as CSV, in the order of their settings.

    Examples
    --------
    >>> result = Result(Setting("ads", "EBP", (2,), None, 0), 0.01, 0.04, 0.05, 30, 10, 2.0, fingerprint="f")
    >>> runs_to_csv([result]).splitlines()[-1].split(",", 1)[1]
    'ads,EBP,2,,0,,0.01,0.04,0.05,30,10,2,,,,,,,'
    """
    results = sorted(results, key=lambda result: _place(result.setting))
    prints = {result.setting.dataset: result.fingerprint for result in results}
    out = io.StringIO()
    out.write(f"{TITLE}\n# numerics {NUMERICS_VERSION}\n")
    out.writelines(f"# data {name} {fingerprint}\n" for name, fingerprint in sorted(prints.items()))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(map(_cells, results))
    return out.getvalue()


def read_runs(text: str) -> list[Result]:
    """Read runs; each has the fingerprint of its data.

    Raises
    ------
    PublishedRunsError
        Names the line and what is wrong with it: a key that is not that of its setting, a figure out of range, a run
        that occurs twice, another version.
    """
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    prints = _read_comments(comments)
    records = csv.reader(lines[len(comments) :])
    if tuple(next(records, ())) != _COLUMNS:
        raise PublishedRunsError(f"line {len(comments) + 1}: the columns are not {', '.join(_COLUMNS)}")
    results: dict[Setting, Result] = {}
    for number, record in enumerate(records, start=len(comments) + 2):
        try:
            result = _read_row(record, prints)
            if result.setting in results:
                raise ValueError("this run occurs twice")
        except ValueError as error:
            raise PublishedRunsError(f"line {number}: {error}") from error
        results[result.setting] = result
    return list(results.values())


def _key(result: Result) -> str:
    return key(result.setting, result.fingerprint or "")[:16]


def _cells(result: Result) -> list[object]:
    s, run_key = result.setting, _key(result)
    sizes, rate = "-".join(map(str, s.hidden_layer_sizes)), "" if s.learning_rate is None else f"{s.learning_rate!r}"
    figures = [_figure(name, getattr(result, name)) for name in METRICS]
    trial = "" if s.trial_epochs is None else s.trial_epochs
    return [run_key, s.dataset, s.model, sizes, rate, s.repetition, trial, *figures]


def _figure(name: str, value: float | None) -> str:
    digits = 3 if name == "seconds" else 8
    return "" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def _read_comments(comments: list[str]) -> dict[str, str]:
    if not comments or comments[0] != TITLE:
        kind = (
            "a file of runs in another format" if comments and comments[0].startswith(TITLE[:-1]) else "no file of runs"
        )
        raise PublishedRunsError(f"line 1: {kind}; it should begin with {TITLE!r}")
    if f"# numerics {NUMERICS_VERSION}" not in comments:
        raise PublishedRunsError(
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
    result = _read_figures(setting, cells, prints[setting.dataset])
    if _key(result) != cells["key"]:
        raise ValueError(f"{cells['key']} is not the key of this setting, data and protocol")
    return result


def _read_figures(setting: Setting, cells: Mapping[str, str], fingerprint: str) -> Result:
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
    return Result(setting, **figures, fingerprint=fingerprint)  # type: ignore[arg-type]


def _place(setting: Setting) -> tuple[object, ...]:
    rate = setting.learning_rate or 0.0
    size = setting.width, setting.hidden_layers
    return setting.dataset, *size, setting.model, -rate, setting.repetition, setting.trial_epochs or 0
