"""The monitor: false alarms, delays, its state, and what is not to be called a probability."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import bdtrc

from abnet.bounds.anytime import log_evidence
from abnet.certificates import Monitor
from abnet.certificates.monitor import Quantity
from abnet.model.labelled_table import JudgedTable
from abnet.model.monitor_table import errors_that_count
from broken_promise import breaks

ERROR = 0.05
ALPHA = 0.01
Bools = NDArray[np.bool_]


def alarm_times(rng: np.random.Generator, rate: float, rows: int, repetitions: int, alpha: float = ALPHA) -> list[int]:
    """Row of the alarm in each repetition, or a number beyond all rows."""
    times = []
    for wrong in rng.random((repetitions, rows)) < rate:
        monitor = Monitor(ERROR, alpha)
        monitor.update(wrong)
        times.append(monitor.alarm_at or rows + 1)
    return times


def test_false_alarms_at_exactly_the_promised_error(rng: np.random.Generator) -> None:
    repetitions = 2500
    times = alarm_times(rng, ERROR, 2000, repetitions)
    assert not breaks(sum(t <= 2000 for t in times), repetitions, ALPHA)


def test_false_alarms_of_errors_that_depend_on_the_past(rng: np.random.Generator) -> None:
    """No independence is needed: here an error makes the next rows' errors less likely, never more than promised."""
    rows = 1500
    repetitions = 500
    uniform = rng.random((repetitions, rows))
    rate = np.full(repetitions, ERROR)
    wrong = np.empty((repetitions, rows), dtype=bool)
    for t in range(rows):
        wrong[:, t] = uniform[:, t] < rate
        rate = np.where(wrong[:, t], 0.01, np.minimum(ERROR, rate * 1.5))
    false_alarms = sum(Monitor(ERROR, 0.1).update(row) for row in wrong)
    assert not breaks(false_alarms, repetitions, 0.1)


@pytest.mark.parametrize("quantity", ["recall", "precision"])
def test_false_alarms_at_exactly_the_promised_recall_and_precision(
    quantity: Quantity, rng: np.random.Generator
) -> None:
    """The model errs on a quarter of all rows: only those of the class, or of its predictions, may count."""
    rows = 1000
    repetitions = 300
    alpha = 0.1
    alarms = {0.1: 0, 0.2: 0}
    for missed in alarms:
        for _ in range(repetitions):
            among = rng.random(rows) < 0.3  # of the class, or predicted as the class
            other = np.where(rng.random(rows) < np.where(among, missed, 0.3), ~among, among)
            truth, answers = (among, other) if quantity == "recall" else (other, among)
            names = np.array(["well", "ill"])
            table = JudgedTable(names[truth * 1].tolist(), names[answers * 1].tolist(), known=("ill", "well"))
            monitor = Monitor(0.1, alpha, quantity=quantity, label="ill")
            wrong = errors_that_count(table, quantity, "ill")
            assert len(wrong) == among.sum()
            alarms[missed] += monitor.update(wrong)
    assert not breaks(alarms[0.1], repetitions, alpha)
    assert alarms[0.2] > 0.9 * repetitions


def test_a_missed_answer_is_a_miss_and_no_prediction() -> None:
    table = JudgedTable(["ill", "ill", "well", "sick"], ["ill", None, "ill", "ill"], known=("ill", "well"))
    assert errors_that_count(table, "recall", "ill").tolist() == [False, True]
    assert errors_that_count(table, "precision", "ill").tolist() == [False, True, True]
    assert errors_that_count(JudgedTable(known=("ill", "well")), "recall", "ill").tolist() == []


def repeated_test(wrong: Bools, alpha: float) -> bool:
    """The trap: a test for one look, at every hundredth row."""
    t = np.arange(100, len(wrong) + 1, 100)
    return bool(np.any(bdtrc(np.cumsum(wrong)[t - 1] - 1.0, t, ERROR) <= alpha))


def test_looking_again_and_again_with_a_test_for_one_look_is_a_trap(rng: np.random.Generator) -> None:
    alpha = 0.1
    repetitions = 300
    streams = rng.random((repetitions, 2000)) < ERROR
    assert breaks(sum(repeated_test(wrong, alpha) for wrong in streams), repetitions, alpha)
    assert not breaks(sum(Monitor(ERROR, alpha).update(wrong) for wrong in streams), repetitions, alpha)


@pytest.mark.parametrize(("rate", "median", "rows"), [(0.2, 36, 300), (0.1, 263, 2000), (0.075, 954, 5000)])
def test_delays(rng: np.random.Generator, rate: float, median: int, rows: int) -> None:
    assert np.median(alarm_times(rng, rate, rows, 300)) == pytest.approx(median, rel=0.2)


def test_certificate_for_the_stream_survives_how_it_is_cut(rng: np.random.Generator) -> None:
    wrong = rng.random(9000) < 0.06
    whole = Monitor(ERROR)
    pieces = Monitor(ERROR)
    whole.update(wrong)
    for part in np.split(wrong, np.sort(rng.integers(0, 9000, size=40))):
        pieces.update(part)
    one_by_one = Monitor(ERROR)
    for row in wrong[:500]:
        one_by_one.update(bool(row))
    assert (whole.n, whole.errors, whole.alarm_at) == (pieces.n, pieces.errors, pieces.alarm_at)
    assert whole.log_evidence == pieces.log_evidence
    first = Monitor(ERROR)
    first.update(wrong[:500])
    assert first.to_dict() == one_by_one.to_dict()


def test_alarm_is_the_first_time_that_the_evidence_suffices(rng: np.random.Generator) -> None:
    for _ in range(20):
        wrong = rng.random(400) < 0.15
        logs = log_evidence(np.cumsum(wrong), np.arange(1, 401), ERROR)
        reached = np.flatnonzero(logs >= math.log(1 / ALPHA))
        monitor = Monitor(ERROR, ALPHA)
        monitor.update(wrong)
        assert monitor.alarm_at == (reached[0] + 1 if len(reached) else None)
        assert monitor.log_evidence == logs[-1]


def test_alarm_stays() -> None:
    monitor = Monitor(ERROR)
    assert monitor.update([True] * 10)
    at = monitor.alarm_at
    assert monitor.update([False] * 3000)
    assert monitor.alarm_at == at
    assert monitor.evidence < 1.0


def test_nothing_has_been_seen_at_the_start() -> None:
    monitor = Monitor(ERROR)
    assert (monitor.n, monitor.errors, monitor.alarm, monitor.evidence) == (0, 0, False, 1.0)
    assert monitor.upper_limit() == 1.0
    monitor.update([])
    assert monitor.n == 0
    assert re.findall(r"\d+", str(monitor))[:2] == ["0", "0"]


def test_huge_evidence_overflows_to_infinity_only() -> None:
    monitor = Monitor(0.001)
    monitor.update(np.ones(2000, dtype=bool))
    assert monitor.evidence == math.inf
    assert monitor.log_evidence > 1000


def test_text_says_what_is_shown() -> None:
    monitor = Monitor(ERROR)
    monitor.update([False] * 100 + [True], unlabelled=7)
    text = " ".join(monitor.describe().split())
    assert re.findall(r"\d+", text)[:2] == ["1", "101"]
    assert "7 rows" in text
    assert "ALARM" not in text
    monitor.update([True] * 20)
    assert f"row {monitor.alarm_at}" in str(monitor).split("ALARM")[1]


@pytest.mark.parametrize(("quantity", "rates"), [("recall", ("75%", "90%")), ("precision", ("75%", "90%"))])
def test_rates_are_stated_as_recall_and_precision(quantity: Quantity, rates: tuple[str, str], tmp_path: Path) -> None:
    monitor = Monitor(1 - 0.9, quantity=quantity, label="ill")
    monitor.update([False, False, True, False])
    text = " ".join(str(monitor).split())
    assert "3 of 4 rows" in text
    assert "ill" in text
    assert all(rate in text for rate in rates)
    monitor.save(tmp_path / "s.json")
    assert Monitor.load(tmp_path / "s.json").to_dict() == monitor.to_dict()


def example() -> Monitor:
    monitor = Monitor(ERROR)
    monitor.update([False] * 20 + [True, False, True], unlabelled=2)
    return monitor


def test_state_survives_a_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    monitor = example()
    monitor.save(path)
    again = Monitor.load(path)
    assert again.to_dict() == monitor.to_dict()
    for other in (monitor, again):
        other.update([True] * 9)
    assert again.to_dict() == monitor.to_dict()
    assert again.alarm
    again.save(path)
    assert Monitor.load(path).alarm_at == again.alarm_at
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


def test_failed_save_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    monitor = example()
    monitor.save(path)
    old = path.read_text()
    monitor.update([True] * 9)
    monkeypatch.setattr(json, "dumps", lambda *a, **k: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        monitor.save(path)
    assert path.read_text() == old
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"format": "abnet monitor, version 2"},
        {"quantity": "recall"},
        {"quantity": "luck"},
        {"label": "ill"},
        {"n": 1},
        {"n": 23.0},
        {"n": True},
        {"errors": -1},
        {"errors": 20},
        {"error": 0.0},
        {"alpha": "0.01"},
        {"alarm_at": 24},
        {"alarm_at": 0},
        {"unlabelled": None},
        {"more": 1},
    ],
    ids=str,
)
def test_contradictory_states_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps({**example().to_dict(), **change}))
    with pytest.raises(ValueError, match=r"state\.json: "):
        Monitor.load(path)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"n": NaN}', "null", "[" * 100_000])
def test_files_that_are_no_state_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"state\.json: "):
        Monitor.load(path)
    with pytest.raises(FileNotFoundError):
        Monitor.load(tmp_path / "none.json")


@pytest.mark.parametrize("wrong", [1, 0.5, [0, 1], [[True]], "True", [None], float("nan")])
def test_rows_are_checked(wrong: object) -> None:
    monitor = example()
    before = monitor.to_dict()
    with pytest.raises(ValueError, match=r"^wrong"):
        monitor.update(wrong)  # type: ignore[arg-type]
    assert monitor.to_dict() == before
    with pytest.raises(ValueError, match=r"^unlabelled"):
        monitor.update(True, unlabelled=-1)
    assert monitor.to_dict() == before
