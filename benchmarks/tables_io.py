"""Tables: reading, choosing and transforming, as multiples of what Polars takes to read the same file as text."""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from abnet.tables import batches, read_table, split_target
from abnet.tables.days import days
from abnet.tables.preparation import TablePreparation
from abnet.tables.table import as_table, cells_of
from abnet.utils.coded_rows import dense
from measure import Row, at_most, best_times, stated

N = 1_000_000


def write_table(path: Path, n: int = N) -> None:
    """19 columns: a count of the rows, 12 numbers, 3 categories, a date, a truth and the label; 126 MB."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"id": np.arange(1, n + 1)}
    columns |= {f"x{i}": np.round(rng.normal(size=n) * 10 ** (i % 4), 3) for i in range(12)}
    columns |= {f"c{i}": rng.choice(["red", "green", "blue", "yellow"][: 2 + i], n) for i in range(3)}
    columns["when"] = (np.datetime64("2018-01-01") + rng.integers(0, 1500, n)).astype(str)
    columns["sold"] = rng.choice(["true", "false"], n)
    columns["label"] = np.where(columns["x0"] + rng.normal(size=n) > 0, "up", "down")
    pl.DataFrame(columns).write_csv(path)


def read_and_prepare(path: Path) -> TablePreparation:
    """What `abnet fit` does with a table but for learning: fit the preparation on one half, transform all rows."""
    X, y, _ = split_target(read_table(path), "label")
    first = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
    preparation = TablePreparation().fit(X[first])
    preparation.transform(X)
    return preparation


def stream(path: Path, output: Path, preparation: TablePreparation) -> None:
    """What `abnet predict` does with a table but for the network: a score and a label per row."""
    before = 0
    with output.open("wb") as target:
        for batch in batches(path):
            features = dense(preparation.map_.read(as_table(batch, before=before)).inputs)
            before += batch.height
            labels = np.where(features[:, 0] >= 0, "up", "down")
            pl.DataFrame({"prediction": labels}).write_csv(target, include_header=before == batch.height)


def read_and_write(path: Path, output: Path) -> None:
    pl.read_csv(path, infer_schema=False).write_csv(output)


def peak_of(path: Path) -> dict[str, float]:
    """Peak memory, in GB, of a process that reads and prepares the table, and of one that has imported everything."""
    command = [sys.executable, __file__, str(path)]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def command(*arguments: object) -> tuple[float, float, str]:
    """Wall time in s and peak memory in GB of a command, and what it printed."""
    begin = time.perf_counter()
    script = (
        "import sys, resource\nfrom abnet.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "try:\n    peak = int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "except (OSError, IndexError):\n    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(f'peak {peak}', file=sys.stderr)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=True
    )  # fmt: skip
    return time.perf_counter() - begin, int(run.stderr.split("peak ")[-1]) / 1e6, run.stdout


TRAINING = (
    "import sys, time\nfrom abnet.estimators import fit\n"
    "spent = []\n"
    "def timed(train):\n    def run(*given):\n        begin = time.perf_counter()\n        done = train(*given)\n"
    "        spent.append(time.perf_counter() - begin)\n        return done\n    return run\n"
    "fit.learn_network, fit.learn_mixture = timed(fit.learn_network), timed(fit.learn_mixture)\n"
    "from abnet.cli import main\n"
    "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
    "print('training', sum(spent), file=sys.stderr)\n"
)


def fit_but_training(path: Path, model: Path) -> float:
    """Wall time of `abnet fit` less that of the training within it, teachers included, in s."""
    options = ["--target", "label", "-o", str(model), "--quiet", "--max-iter", "2"]
    begin = time.perf_counter()
    command = [sys.executable, "-c", TRAINING, "fit", str(path), *options]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin - float(run.stderr.split("training ")[-1])


def command_rows(path: Path, folder: Path, size: str) -> Iterator[Row]:
    """`abnet fit` and `abnet predict` as a user runs them."""
    first = folder / "first.csv"
    model = folder / "m.abnet"
    output = folder / "predictions.csv"
    with path.open("rb") as source, first.open("wb") as target:
        target.writelines(source.readline() for _ in range(1001))
    jobs = (
        lambda: pl.read_csv(path, infer_schema=False), lambda: read_and_write(path, folder / "copy.csv"),
    )  # fmt: skip
    as_text, both = best_times(*jobs, repeat=3)
    whole = min(fit_but_training(path, model) for _ in range(2))
    small = min(fit_but_training(first, model.with_name("small.abnet")) for _ in range(2))
    detail = f"{size}; {whole:.1f} s and {small:.1f} s for 1,000 rows, training apart; Polars {as_text:.2f} s"
    yield at_most("tables: abnet fit / Polars' read as text", (whole - small) / as_text, 10, detail)
    _, peak, _ = command("fit", path, "--target", "label", "-o", model, "--quiet", "--max-iter", "2")
    yield at_most("tables: peak of abnet fit in GB", peak, 1.5, size)
    found = [command("predict", model, path, "-o", output, "--quiet") for _ in range(2)]
    seconds = min(run[0] for run in found)
    peak = max(run[1] for run in found)
    detail = f"{size}; {seconds:.1f} s, Polars {both:.2f} s"
    yield at_most("tables: abnet predict / Polars' read and write", seconds / both, 8, detail)
    _, little, _ = command("predict", model, first, "-o", folder / "few.csv", "--quiet")
    yield at_most("tables: peak of abnet predict in GB", peak, 0.4, f"{little:.2f} for 1,000 rows")


def large_rows(path: Path, folder: Path) -> Iterator[Row]:
    """Ten times the table: a tenth learns, the rest is counted."""
    large = folder / "large.csv"
    with path.open("rb") as source, large.open("wb") as target:
        header = source.readline()
        target.write(header)
        for _ in range(10):
            source.seek(len(header))
            shutil.copyfileobj(source, target, 1 << 24)
    options = ["--target", "label", "-o", folder / "large.abnet", "--quiet", "--max-iter", "2", "--json"]
    seconds, peak, text = command("fit", large, *options)
    counted = json.loads(text)["certificate"]["facts"]["n_rows"]
    size = f"{10 * N:,} × 19, {large.stat().st_size / 1e9:.2f} GB; {counted:,} rows counted, {seconds:.0f} s"
    yield at_most("tables: peak of abnet fit of ten times the rows in GB", peak, 2.5, size)
    large.unlink()


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        output = Path(folder) / "out.csv"
        write_table(path)
        size = f"{N:,} × 19, {path.stat().st_size / 1e6:.0f} MB"
        jobs = (
            lambda: pl.read_csv(path, infer_schema=False), lambda: read_table(path), lambda: read_and_prepare(path),
        )  # fmt: skip
        as_text, ours, prepared = best_times(*jobs, repeat=3)
        yield stated("tables: read / Polars' read as text", ours / as_text, size)
        yield at_most("tables: read, choose, transform / Polars' read as text", prepared / as_text, 10, size)
        preparation = read_and_prepare(path)
        jobs_2 = (lambda: read_and_write(path, output), lambda: stream(path, output, preparation))
        plain, streamed = best_times(*jobs_2, repeat=3)
        yield at_most("tables: stream, transform, write / Polars' read and write", streamed / plain, 8, size)
        memory = peak_of(path)
        yield at_most(
            "tables: peak of read, choose, transform in GB", memory["peak"], 1.5, f"{memory['idle']:.2f} idle"
        )
        yield from command_rows(path, Path(folder), size)
        yield from large_rows(path, Path(folder))
    stamps = pl.Series((np.datetime64("2020-01-01T00:00:00") + np.arange(200_000) * 61).astype(str))
    read_stamps = (
        lambda: stamps.str.to_datetime("%Y-%m-%dT%H:%M:%S"),
        lambda: days(cells_of(stamps), "year-month-day"),
    )
    theirs, mine = best_times(*read_stamps)
    yield at_most("tables: 200,000 time stamps in s", mine, 0.5, f"{mine / theirs:.1f} × Polars' own, form given")


def measure_peak(path: Path) -> None:
    def peak() -> float:
        try:  # of this program alone: what `resource` says begins with the memory of the process that started it
            status = Path("/proc/self/status").read_text()
            return int(status.split("VmHWM:")[1].split()[0]) / 1e6
        except (OSError, IndexError):
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

    idle = peak()
    begin = time.perf_counter()
    read_and_prepare(path)
    print(json.dumps({"idle": idle, "peak": peak(), "seconds": time.perf_counter() - begin}))


if __name__ == "__main__":
    measure_peak(Path(sys.argv[1]))
