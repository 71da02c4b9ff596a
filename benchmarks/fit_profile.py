"""Where the time of `abnet fit` goes: cumulative seconds of its steps, for one table.

``python benchmarks/fit_profile.py table.csv label`` prints them, further options go to `abnet fit`; without arguments,
for the table of a million rows of `tables_io.py`. Training is what the goal of that benchmark leaves out, and
``--teacher linear`` makes it short.
"""

import contextlib
import cProfile
import importlib
import inspect
import io
import pstats
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from measure import best_times

STEPS = (
    ("the command", "abnet.estimators.fit_table.fit_table"),
    ("  read the table, take the labels out", "abnet.estimators.read_rows.read_rows"),
    ("  fit the classifier", "abnet.estimators.fit.fit"),
    ("    draw the parts", "abnet.estimators.fit.split_rows"),
    ("    prepare the rows", "abnet.estimators.fit.prepare_rows"),
    ("      choose the columns", "abnet.tables.preparation.column_kinds.choose_all"),
    ("      transform all rows", "abnet.tables.preparation.table_map.TableMap.transform"),
    ("      check that rows are prepared one by one", "abnet.training.features.allows_certificate"),
    ("    look for copies of rows, fingerprint beside it", "abnet.certificates.copied_rows.warn_of_copies"),
    ("    thresholds of the codes", "abnet.training.features.Features.code_map"),
    ("    training", "abnet.training.mixture_learning.learn_mixture"),
    ("      teachers", "abnet.training.teacher_pool.fit_pool"),
    ("      members", "abnet.training.train_members.learn_members"),
    ("    logistic regression beside it", "abnet.estimators.logistic_rival.learned_logistic"),
    ("    observe the bound rows", "abnet.estimators.observing.observe_blocks"),
    ("    certificate and decision", "abnet.estimators.fit.judge"),
    ("  write the model", "abnet.model.file.save"),
)
"""Words and function of each step."""


def function_of(dotted: str) -> Any:
    """The function of a step; an AttributeError or ImportError names one that is gone."""
    module, _, name = dotted.rpartition(".")
    if module.rpartition(".")[2][0].isupper():
        return getattr(function_of(module), name)
    return getattr(importlib.import_module(module), name)


def seconds(stats: pstats.Stats, function: Any) -> float:
    """Cumulative time of a function, all calls together."""
    code = inspect.unwrap(function).__code__
    row = stats.stats.get((code.co_filename, code.co_firstlineno, code.co_name))  # type: ignore[attr-defined]
    if row:
        return row[3]
    return 0.0


def profile(table: Path, target: str, folder: Path, *options: str) -> pstats.Stats:
    """`abnet fit` with two epochs, under cProfile."""
    from abnet.cli import main

    sys.argv = ["abnet", "fit", str(table), "--target", target, "-o", str(folder / "m.abnet"), "-q", "--max-iter", "2"]
    sys.argv += options
    profiler = cProfile.Profile()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        profiler.runcall(main)
    return pstats.Stats(profiler)


def show(table: Path, target: str, folder: Path, *options: str) -> None:
    """The steps, in seconds and as multiples of Polars' read as text."""
    (as_text,) = best_times(lambda: pl.read_csv(table, infer_schema=False), repeat=3)
    stats = profile(table, target, folder, *options)
    print(f"Polars' read as text: {as_text:.2f} s")
    for words, dotted in STEPS:
        taken = seconds(stats, function_of(dotted))
        print(f"{words:<52}{taken:8.2f} s {taken / as_text:6.1f} ×")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        if len(sys.argv) >= 3:
            show(Path(sys.argv[1]), sys.argv[2], Path(own), *sys.argv[3:])
        else:
            from tables_io import write_table

            write_table(Path(own) / "table.csv")
            show(Path(own) / "table.csv", "label", Path(own))
