"""`make bench`: every measured promise as a ratio, in one run. Names on the command line choose parts.

The rows of the parts that ran replace theirs in ``results/benchmarks.csv``, with the machine they were measured on.
Run nothing else meanwhile.
"""

import argparse
import csv
import importlib
import sys
import time
from pathlib import Path

import numpy as np
import sklearn

from abnet.paper.figures.timed_passes import machine
from measure import Row

PARTS = (
    "startup",
    "exact",
    "learning",
    "recipe",
    "wide",
    "classes",
    "several",
    "sweep",
    "tables_io",
    "exports",
    "reports",
)
OUTPUT = Path(__file__).parent.parent / "results" / "benchmarks.csv"
COLUMNS = ("part", "what", "value", "target", "met", "detail", "machine", "versions")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all by default")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV file of the ratios")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}")
    missed = 0
    for part in options.parts or PARTS:
        begin = time.perf_counter()
        rows = []
        for row in importlib.import_module(part).rows():
            rows.append(row)
            missed += not row.met
            print(f"{mark(row)} {row.what}: {row.value:.3g} (target {row.target}; {row.detail})", flush=True)
        print(f"     {part} took {time.perf_counter() - begin:.0f} s", flush=True)
        replace_part(options.output, part, rows)
    return int(missed > 0)


def mark(row: Row) -> str:
    """What the report shows before a row."""
    if row.target == "none":
        return "    "
    if row.met:
        return "ok  "
    return "MISS"


def replace_part(file: Path, part: str, rows: list[Row]) -> None:
    """Write the rows of a part, and keep those of the other parts; an interrupted run keeps the parts it finished."""
    kept: list[dict[str, str]] = []
    if file.exists():
        with file.open(newline="") as stream:
            kept = [row for row in csv.DictReader(stream) if row["part"] != part]
    versions = f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    new = [
        {
            "part": part,
            "what": row.what,
            "value": f"{row.value:.3g}",
            "target": row.target,
            "met": mark(row).strip(),
            "detail": row.detail,
            "machine": machine(),
            "versions": versions,
        }
        for row in rows
    ]
    every = sorted(kept + new, key=lambda row: PARTS.index(row["part"]))
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
