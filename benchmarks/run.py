"""`make bench`: every measured promise as a ratio, in one run. Names on the command line choose parts."""

import importlib
import sys

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


def main(names: list[str]) -> int:
    missed = 0
    for name in names or PARTS:
        for row in importlib.import_module(name).rows():
            missed += not row.met
            mark = "    " if row.target == "none" else "ok  " if row.met else "MISS"
            print(f"{mark} {row.what}: {row.value:.3g} (target {row.target}; {row.detail})", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
