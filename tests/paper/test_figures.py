"""The figures: what they show, and that they are the same each time."""

import csv
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from abnet.paper import Result, architecture_figure, fig4_grid
from abnet.paper.figures.figure2 import METHODS, read_timings, timing_figure, timings_to_csv
from abnet.paper.figures.figure3 import regions_figure
from abnet.paper.figures.figure4 import DepthPoint, depth_figure, depth_points, depth_to_csv
from abnet.paper.figures.figure_width import width_figure
from abnet.paper.figures.timed_passes import Timing
from abnet.paper.figures.wide_passes import CERTIFIED, PATHS, SERIES, TABLE, WidthTiming, passes
from abnet.utils.plots import save_figure

W_1 = np.array([[3.0, 1.0], [1.0, -3.0]])
b_1 = np.array([1.0, 1.5])
H = np.array([-0.8, -0.3, -0.5, 0.9])
RING = np.array([[np.cos(t), np.sin(t)] for t in np.linspace(0, 6, 20)])
LABELS = np.array([-1, 1] * 10)


def map_network(points: np.ndarray) -> np.ndarray:
    return np.where((points @ W_1.T + b_1 >= 0).all(1), 1, -1)


def timings() -> list[Timing]:
    by_width = [Timing("width", method, w, 6, float(2**w), 0.1) for method in METHODS for w in (2, 10, 16)]
    return by_width + [Timing("depth", method, 12, d, float(d), 0.1) for method in METHODS for d in (2, 5)]


def points() -> list[DepthPoint]:
    cells = product(("PBGNet", "ABNet"), (2, 4, 8), range(1, 9))
    return [DepthPoint(m, w, d, 0.01, 0.1 * w + 0.01 * d, 0.01, 0.05, None, 5, 20) for m, w, d in cells]


MODELS = ("ABNet", "PBGNet")
FIGURES: dict[str, Callable[[], Figure]] = {
    "fig1": architecture_figure,
    "fig2": lambda: timing_figure(timings()),
    "fig3": lambda: regions_figure(W_1, b_1, H, map_network, RING, LABELS, resolution=40),
    "fig4": lambda: depth_figure(points()),
    "fig_width": lambda: width_figure([WidthTiming(m, SERIES, w, 0.1 * w, 3) for m in MODELS for w in (2, 1000)]),
}


@pytest.mark.parametrize("name", ["fig1", "fig2", "fig3", "fig_width"])
def test_every_figure_is_saved_as_png_and_svg(tmp_path: Path, name: str) -> None:
    assert [path.name for path in save_figure(FIGURES[name](), tmp_path / name)] == [f"{name}.png", f"{name}.svg"]


@pytest.mark.parametrize("name", ["fig4"])
def test_files_are_the_same_each_time_whatever_the_users_settings(tmp_path: Path, name: str) -> None:
    first = save_figure(FIGURES[name](), tmp_path / "first" / name)
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 7.0, "axes.facecolor": "black", "svg.hashsalt": "x"}):
        second = save_figure(FIGURES[name](), tmp_path / "second" / name)
        assert mpl.rcParams["font.size"] == 30
    assert [path.name for path in first] == [f"{name}.png", f"{name}.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert "<dc:date>" not in first[1].read_text()


def test_the_panels_of_figure_3_add_up() -> None:
    figure = regions_figure(W_1, b_1, H, map_network, RING, LABELS, resolution=31)
    images = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images]
    parts = images[:4]
    F = images[4]
    vote = images[5]
    decision = images[6]
    assert np.sum(parts, axis=0) == pytest.approx(F)
    assert (vote == np.where(F >= 0, 1, -1)).all()
    assert set(np.unique(decision)) == {-1, 1}
    reach = 1.15 * np.abs(RING).max()
    right_bottom = map_network(np.array([[reach, -reach]]))[0]
    assert decision[0, -1] == right_bottom == 1  # rows run upwards, columns to the right
    assert decision[-1, 0] == map_network(np.array([[-reach, reach]]))[0] == -1


def test_figure_2_has_a_curve_for_each_method_on_a_logarithmic_axis() -> None:
    left, right = timing_figure(timings()).axes
    assert left.get_yscale() == right.get_yscale() == "log"
    curves = {line.get_label(): line for line in left.get_lines()}
    assert set(METHODS) <= set(curves)
    assert np.asarray(curves["ABNet"].get_ydata()).tolist() == [4, 1024, 65536]
    assert np.asarray({line.get_label(): line for line in right.get_lines()}["PBGNet"].get_xdata()).tolist() == [2, 5]
    with pytest.raises(ValueError, match="abacus"):
        timing_figure([Timing("width", "abacus", 2, 6, 1.0, 0.1)])


def test_figure_4_draws_pbgnet_dashed_and_abnet_solid() -> None:
    left, right = depth_figure(points()).axes
    for axes in (left, right):
        lines = {c.get_label(): c.lines[0] for c in axes.containers}  # type: ignore[attr-defined]
        assert len(lines) == 6
        assert all((line.get_linestyle() == "--") == str(name).startswith("PBGNet") for name, line in lines.items())
    curve = {c.get_label(): c.lines[0] for c in left.containers}["ABNet, width 4"]  # type: ignore[attr-defined]
    assert list(curve.get_xdata()) == list(range(1, 9))
    assert list(curve.get_ydata()) == pytest.approx([0.4 + 0.01 * d for d in range(1, 9)])


def test_the_points_of_figure_4_take_the_rate_with_the_best_bound() -> None:
    rng = np.random.default_rng(0)
    results = [
        Result(s, 0.1, float(e), 0.1, 9, 5, 1.0, bound=float(b))
        for s, (e, b) in zip(fig4_grid(), rng.random((960, 2)), strict=True)
    ]
    got = depth_points(results)
    assert len(got) == 2 * 3 * 8
    for point in got:
        own = [
            r
            for r in results
            if (r.setting.model, r.setting.width, r.setting.hidden_layers)
            == (point.model, point.width, point.hidden_layers)
        ]
        bounds = {
            rate: [r.bound for r in own if r.setting.learning_rate == rate] for rate in (0.1, 0.01, 0.001, 0.0001)
        }
        best = min(bounds, key=lambda rate: np.mean(bounds[rate]))  # type: ignore[arg-type]
        assert point.learning_rate == best
        assert point.bound == pytest.approx(np.mean(bounds[best]))  # type: ignore[arg-type]
        assert point.bound_std == pytest.approx(np.std(bounds[best], ddof=1))  # type: ignore[arg-type]
        assert (point.repetitions, point.runs) == (5, 20)


def test_csv_files_read_back() -> None:
    assert read_timings(timings_to_csv(timings())) == timings()
    again = list(csv.DictReader(depth_to_csv(points()).splitlines()))
    assert [p["model"] for p in again] == [p.model for p in points()]
    assert [float(p["bound"]) for p in again] == pytest.approx([p.bound for p in points()])
    assert again[0]["test_error_std"] == ""


def test_the_paper_imports_nothing_heavy() -> None:
    code = (
        "import sys, abnet.paper.figures.figure4, abnet.paper.reproduction.table1;"
        "heavy = ('jax', 'sklearn', 'pandas', 'matplotlib', 'rich', 'joblib', 'distributed');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("model", MODELS)
def test_the_passes_timed_by_width_compute_the_same_output(model: str) -> None:
    rng = np.random.default_rng(0)
    sizes = {"ABNet": (6, 14, 1), "PBGNet": (6, 14, 13, 1)}[model]
    layers = [rng.normal(0, 2, (above, below + 1)).astype(np.float32) for below, above in pairwise(sizes)]
    outputs = {
        name: np.asarray(run())
        for name, run in passes(model, layers, rng.normal(size=(5, 6)).astype(np.float32)).items()
    }
    truth = outputs[CERTIFIED]
    assert truth.dtype == np.float64
    assert np.abs(truth).max() > 0.2
    assert outputs[TABLE] == pytest.approx(truth, abs=1e-5)
    assert outputs[SERIES] == pytest.approx(truth, abs=1e-5)
    assert outputs[PATHS] == pytest.approx(truth, abs=0.5)
