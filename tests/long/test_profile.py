"""The profile of a small fit sees each of its steps."""

from pathlib import Path

from fit_profile import STEPS, function_of, profile, seconds


def test_every_step_takes_time(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = "".join(f"{i % 37},{'no' if i % 37 < 18 else 'yes'}\n" for i in range(200))
    table.write_text(f"x,label\n{rows}")
    stats = profile(table, "label", tmp_path, "--teacher", "linear", "--n-estimators", "2")
    assert not [words for words, dotted in STEPS if seconds(stats, function_of(dotted)) == 0.0]
