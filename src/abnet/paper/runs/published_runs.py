"""Finished runs as a CSV file: table and figures made from it are the same, and sweeps continue from it.

One row for each run or trial, with its setting, its figures to 8 digits and the first 16 digits of its key; no curves.
With fewer digits, ties in the selection would not be broken as they are in the store. Comment lines on top hold the
version of the numerics and the fingerprints of the data.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping

from abnet.paper.runs.run_key import NUMERICS_VERSION, key
from abnet.paper.runs.run_result import METRICS, Result
from abnet.paper.runs.run_setting import Setting

__all__ = ["PublishedRunsError", "read_runs", "runs_to_csv"]

TITLE = "# abnet runs, format 3"
_SETTING = ("dataset", "model", "hidden_layer_sizes", "learning_rate", "repetition", "trial_epochs", "variant")
_COLUMNS = ("key", *_SETTING, *METRICS)
_COUNTS = ("epochs", "best_epoch")
_EMPTY_IF_DIVERGED = ("train_error", "test_error")
_SHARES = ("train_error", "test_error", "map_test_error", "train_loss", "test_loss", "validation_error")


class PublishedRunsError(ValueError):
    """A file of runs that cannot be read: another format or version, or a row that contradicts itself."""


def runs_to_csv(results: Iterable[Result]) -> str:
    """Return runs as CSV, in the order of their settings.

    Examples
    --------
    >>> result = Result(Setting("ads", "EBP", (2,), None, 0), 0.01, 0.04, 0.05, 30, 10, 2.0, fingerprint="f")
    >>> runs_to_csv([result]).splitlines()[-1].split(",", 1)[1]
    'ads,EBP,2,,0,,,0.01,0.04,0.05,30,10,2,,,,,,,'
    """
    results = sorted(results, key=lambda result: _order(result.setting))
    fingerprints = {result.setting.dataset: result.fingerprint for result in results}
    out = io.StringIO()
    out.write(f"{TITLE}\n# numerics {NUMERICS_VERSION}\n")
    out.writelines(f"# data {name} {fingerprint}\n" for name, fingerprint in sorted(fingerprints.items()))
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
    fingerprints = _read_fingerprints(comments)
    records = csv.reader(lines[len(comments) :])
    if tuple(next(records, ())) != _COLUMNS:
        raise PublishedRunsError(f"line {len(comments) + 1}: the columns are not {', '.join(_COLUMNS)}")
    results: dict[Setting, Result] = {}
    for number, record in enumerate(records, start=len(comments) + 2):
        try:
            result = _read_row(record, fingerprints)
            if result.setting in results:
                raise ValueError("this run occurs twice")
        except ValueError as error:
            raise PublishedRunsError(f"line {number}: {error}") from error
        results[result.setting] = result
    return list(results.values())


# Writing


def _stored_key(result: Result) -> str:
    """The part of the run's key that the file holds."""
    return key(result.setting, result.fingerprint or "")[:16]


def _cells(result: Result) -> list[object]:
    """The cells of a run, in the order of the columns."""
    setting = result.setting
    learning_rate = ""
    if setting.learning_rate is not None:
        learning_rate = repr(setting.learning_rate)
    trial_epochs: str | int = ""
    if setting.trial_epochs is not None:
        trial_epochs = setting.trial_epochs
    return [
        _stored_key(result),
        setting.dataset,
        setting.model,
        "-".join(map(str, setting.hidden_layer_sizes)),
        learning_rate,
        setting.repetition,
        trial_epochs,
        setting.variant or "",
        *(_figure_cell(name, getattr(result, name)) for name in METRICS),
    ]


def _figure_cell(name: str, value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return ""
    if name == "seconds":
        return f"{value:.3g}"
    return f"{value:.8g}"


def _order(setting: Setting) -> tuple[object, ...]:
    """Sort key of a run: high learning rates first."""
    return (
        setting.dataset,
        setting.width,
        setting.hidden_layers,
        setting.model,
        -(setting.learning_rate or 0.0),
        setting.repetition,
        setting.trial_epochs or 0,
        setting.variant or "",
    )


# Reading


def _read_fingerprints(comments: list[str]) -> dict[str, str]:
    """The fingerprint of each data set, once the format and the version of the numerics are those of this program."""
    if not comments or comments[0] != TITLE:
        kind = "no file of runs"
        if comments and comments[0].startswith(TITLE[:-1]):
            kind = "a file of runs in another format"
        raise PublishedRunsError(f"line 1: {kind}; it should begin with {TITLE!r}")
    if f"# numerics {NUMERICS_VERSION}" not in comments:
        raise PublishedRunsError(
            f"these runs were not trained by version {NUMERICS_VERSION} of the numerics; train them again, or use the "
            "version of abnet that wrote the file"
        )
    fingerprints = {}
    for comment in comments:
        words = comment.split()
        if comment.startswith("# data ") and len(words) == 4:
            fingerprints[words[2]] = words[3]
    return fingerprints


def _read_row(record: list[str], fingerprints: Mapping[str, str]) -> Result:
    if len(record) != len(_COLUMNS):
        raise ValueError(f"{len(record)} cells for {len(_COLUMNS)} columns")
    cells = dict(zip(_COLUMNS, record, strict=True))
    setting = _read_setting(cells)
    if setting.dataset not in fingerprints:
        raise ValueError(f"there is no line '# data {setting.dataset} …' with the fingerprint of its data")
    result = _read_result(setting, cells, fingerprints[setting.dataset])
    if _stored_key(result) != cells["key"]:
        raise ValueError(f"{cells['key']} is not the key of this setting, data and protocol")
    return result


def _read_setting(cells: Mapping[str, str]) -> Setting:
    learning_rate = None
    if cells["learning_rate"]:
        learning_rate = float(cells["learning_rate"])
    trial_epochs = None
    if cells["trial_epochs"]:
        trial_epochs = int(cells["trial_epochs"])
    return Setting(
        dataset=cells["dataset"],
        model=cells["model"],
        hidden_layer_sizes=tuple(int(size) for size in cells["hidden_layer_sizes"].split("-") if size),
        learning_rate=learning_rate,
        repetition=int(cells["repetition"]),
        trial_epochs=trial_epochs,
        variant=cells["variant"] or None,
    )


def _read_result(setting: Setting, cells: Mapping[str, str], fingerprint: str) -> Result:
    figures = {name: _read_figure(name, cells[name]) for name in METRICS}
    for name in (*_COUNTS, "seconds"):
        if figures[name] is None:
            raise ValueError("epochs, best_epoch and seconds must be there")
    for name in _EMPTY_IF_DIVERGED:
        if figures[name] is None:
            figures[name] = math.nan
    return Result(setting, **figures, fingerprint=fingerprint)  # type: ignore[arg-type]


def _read_figure(name: str, cell: str) -> float | None:
    if not cell:
        return None
    if name in _COUNTS:
        value: float = int(cell)
    else:
        value = float(cell)
    limit = math.inf
    if name in _SHARES:
        limit = 1.0
    if not math.isfinite(value) or not 0 <= value <= limit:
        raise ValueError(f"{name} is {cell}, not a number from 0 to {limit:g}")
    return value
