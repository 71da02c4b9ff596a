"""Simulate promises where the truth is known: `python benchmarks/validation.py [NAME...] [--only-report]`.

Every promise has a page `docs/validation/<name>.md` and a module of the same name, with underscores, in
`benchmarks/validations`. Its `simulate` yields the settings one by one, traps among them. This script runs the modules
that are named, or all; replaces their rows in `results/validation.csv`; and renews the tables and figures of all pages
from that file. Seeds are fixed: the same version gives the same counts. With `--only-report` nothing is simulated.
"""

import argparse
import importlib
import time
from collections.abc import Iterator
from pathlib import Path

from simulation import Simulation
from validation_pages import renew_pages
from validation_rows import Row, read_rows, write_rows

__all__ = ["PAGES", "RESULTS", "names", "simulate"]

ROOT = Path(__file__).resolve().parents[1]
MODULES = Path(__file__).with_name("validations")
PAGES = ROOT / "docs" / "validation"
RESULTS = ROOT / "results" / "validation.csv"


def names() -> list[str]:
    """The promises that have a module."""
    return sorted(path.stem.replace("_", "-") for path in MODULES.glob("*.py") if path.stem != "__init__")


def simulate(name: str) -> Iterator[Simulation]:
    """Run the settings of a promise."""
    module = importlib.import_module(f"validations.{name.replace('-', '_')}")
    yield from module.simulate()


def main() -> None:
    """Simulate, write the rows and renew the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*names(), []], metavar="NAME")
    parser.add_argument("--only-report", action="store_true")
    given = parser.parse_args()
    chosen = given.names or names()
    if given.only_report:
        chosen = []
    for name in chosen:
        begin = time.process_time()
        made = []
        for simulation in simulate(name):
            row = Row.of(name, simulation)
            made.append(row)
            words = f"{row.false} of {row.repetitions} false, {100 * row.delta:g}% allowed (p = {row.p_value:.2g})"
            print(f"{'trap' if row.trap else '    '} {name}, {row.setting}: {words}", flush=True)
        print(f"     {name}: {time.process_time() - begin:.0f} CPU seconds", flush=True)
        others = [row for row in read_rows(RESULTS) if row.promise != name]
        write_rows(RESULTS, [*others, *made])
    renew_pages(PAGES, read_rows(RESULTS))


if __name__ == "__main__":
    main()
