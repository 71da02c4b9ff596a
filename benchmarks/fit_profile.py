"""Where the time of `abnet fit` goes: cumulative seconds of its steps, for one table.

``python benchmarks/fit_profile.py table.csv label`` prints them, further options go to `abnet fit`; without arguments,
for the table of a million rows of `tables_io.py`. Training is what the goal of that benchmark leaves out, and
``--teacher linear`` makes it short.
"""

import contextlib
import cProfile
import io
import pstats
import sys
import tempfile
from pathlib import Path

import polars as pl

from measure import best_times

STEPS = (
    ("the command", "fit_table.py", "fit_table"),
    ("  read the table, take the labels out", "table_parts.py", "read_rows"),
    ("  fit the classifier", "promises.py", "_fit"),
    ("    draw the parts", "fit.py", "split_rows"),
    ("    prepare the rows", "fit.py", "prepare_rows"),
    ("      choose the columns", "column_kinds.py", "choose_all"),
    ("      transform all rows", "table_map.py", "transform"),
    ("      check that rows are prepared one by one", "preparing.py", "allows_certificate"),
    ("    look for copies of rows, fingerprint beside it", "copied_rows.py", "warn_of_copies"),
    ("    thresholds of the codes", "preparing.py", "code_map"),
    ("    training", "mixture_learning.py", "learn_mixture"),
    ("      teachers", "teacher_pool.py", "fit_pool"),
    ("      members", "members.py", "learn_members"),
    ("    codes of the rows, not written out", "coded.py", "with_codes"),
    ("    counted rows", "observing.py", "observe_posterior"),
    ("    certificate and decision", "fit.py", "judge"),
    ("    one network drawn from the posterior", "fit.py", "draw_one"),
    ("  logistic regression beside it", "logistic_rival.py", "held_out_rival"),
    ("  write the model", "file.py", "save"),
)
"""Words, file and function of each step."""


def seconds(stats: pstats.Stats, file: str, function: str) -> float:
    """Cumulative time of a function, all calls together."""
    found = [row[3] for (path, _, name), row in stats.stats.items() if name == function and Path(path).name == file]  # type: ignore[attr-defined]
    return max(found, default=0.0)


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
    for words, file, function in STEPS:
        taken = seconds(stats, file, function)
        print(f"{words:<52}{taken:8.2f} s {taken / as_text:6.1f} ×")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        if len(sys.argv) >= 3:
            show(Path(sys.argv[1]), sys.argv[2], Path(own), *sys.argv[3:])
        else:
            from tables_io import write_table

            write_table(Path(own) / "table.csv")
            show(Path(own) / "table.csv", "label", Path(own))
