"""A reader of `abnet fit` walks through few files, and none of them is long."""

import json
import subprocess
import sys
from pathlib import Path

WALK = Path(__file__).parents[2] / "benchmarks" / "walk.py"


def test_a_fit_enters_at_most_45_source_files() -> None:
    """In a process of its own: what an earlier test has loaded or compiled would not be entered again."""
    shown = subprocess.run([sys.executable, str(WALK), "--json"], capture_output=True, text=True, check=True)
    record = json.loads(shown.stdout)
    assert record["n_entered"] <= 45, "\n".join(record["entered"])
    assert {"cli/fit.py", "estimators/abnet.py", "certificates/certify.py", "training/loop.py"} <= set(
        record["entered"]
    )
    assert record["source"]["largest_lines"] <= 450
    assert record["source"]["median_lines"] > 100
