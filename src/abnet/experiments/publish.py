"""Writing the reproduction's files: tables, figures, and the page that says how each came about.

Every function writes into a folder (`results/`), renews its part of the folder's README, and returns the paths.

Markdown pages with generated parts between marks: a command renews its own part and leaves the rest.

`renew_page` fills the page that shows the reproduction: table, agreement and figures, from the results folder.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abnet.experiments.agreement import TableComparison, agreement_text, compare, to_markdown
from abnet.experiments.exchange import export_runs
from abnet.experiments.protocol import NUMERICS_VERSION
from abnet.experiments.result import Result
from abnet.experiments.store import StoredRun
from abnet.experiments.table1 import read_csv, table1, to_csv
from abnet.records import atomic_path

if TYPE_CHECKING:
    from abnet.experiments.figures import Timing

__all__ = [
    "command",
    "publish_certificates",
    "publish_depth",
    "publish_multiclass",
    "publish_regions",
    "publish_runs",
    "publish_table1",
    "publish_timings",
    "renew_page",
    "with_part",
    "write_parts",
]


_FIGURES = {
    "fig2": "Time of a forward pass by width and by depth",
    "fig3": "Regions of a 2-2-2-1 network on two circles",
    "fig4": "Bound and test error by depth on mnistLH",
}


def renew_page(page: Path, results: Path) -> list[str]:
    """Renew the generated parts of a page from the files in the results folder; return the names of those renewed.

    Raises
    ------
    FileNotFoundError
        If the folder has no `table1.csv` and no figure.
    """
    parts = _table_parts(results) | _figure_parts(page, results)
    if not parts:
        raise FileNotFoundError(f"no table1.csv and no figure in {results}; run `abnet reproduce table1` first")
    write_parts(page, parts, title="# Reproduction\n")
    return list(parts)


def write_parts(path: Path, parts: Mapping[str, str], *, title: str) -> None:
    """Renew parts of a file, by name; a file that is not there begins with `title`."""
    page = path.read_text(encoding="utf-8") if path.exists() else title
    for name, text in parts.items():
        page = with_part(page, name, text)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")


def with_part(page: str, name: str, text: str) -> str:
    """Return the page with the part `name` renewed; a page without it gets it at its end.

    Examples
    --------
    >>> page = with_part("A page.", "table", "old")
    >>> print(with_part(page, "table", "new"))
    A page.
    <BLANKLINE>
    <!-- table: generated -->
    new
    <!-- table: end -->
    <BLANKLINE>
    """
    part = f"<!-- {name}: generated -->\n{text.strip()}\n<!-- {name}: end -->"
    pattern = re.compile(f"<!-- {re.escape(name)}: generated -->.*?<!-- {re.escape(name)}: end -->", re.DOTALL)
    if pattern.search(page):
        return pattern.sub(lambda _: part, page, count=1)
    return f"{page.rstrip()}\n\n{part}\n".lstrip()


def _table_parts(results: Path) -> dict[str, str]:
    path = results / "table1.csv"
    if not path.exists():
        return {}
    rows = read_csv(path.read_text(encoding="utf-8"))
    comparisons = compare(rows)
    runs = sum(row.runs or 0 for row in rows)
    complete = sum(c.complete for c in comparisons)
    count = f"{len(rows)} of 84 rows from {runs:,} of 13,500 runs; {complete} rows compare their whole grid."
    return {
        "progress": count,
        "agreement": agreement_text(comparisons),
        "table1": to_markdown(comparisons),
    }


def _figure_parts(page: Path, results: Path) -> dict[str, str]:
    folder = Path(os.path.relpath(results, page.parent)).as_posix()
    return {
        name: f"![{title}]({folder}/{name}.svg)"
        for name, title in _FIGURES.items()
        if (results / f"{name}.svg").exists()
    }


TITLE = "# Results\n\nEach part of this page is written by the command that it names.\n"


def command(name: str, options: Mapping[str, object]) -> str:
    """Return a command of `abnet reproduce` as it would be typed, without options left out and without paths.

    An option that is True is a flag.

    Examples
    --------
    >>> command("table1", {"datasets": ["ads", "adult"], "models": None, "repetitions": 5})
    'abnet reproduce table1 --datasets ads,adult --repetitions 5'
    """
    words = [f"abnet reproduce {name}"]
    for option, value in options.items():
        if value is not None:
            words.append(f"--{option.replace('_', '-')}")
        if value is not None and value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
    return " ".join(words)


def publish_table1(results: Sequence[Result], folder: Path, typed: str) -> tuple[list[TableComparison], list[Path]]:
    """Write `table1.csv` and `table1.md`."""
    rows = table1(results)
    comparisons = compare(rows)
    csv_file = _write(folder / "table1.csv", to_csv(rows))
    page = _write(folder / "table1.md", "# Table 1, ours beside the paper's\n\n" + to_markdown(comparisons))
    compared = sum(row.runs or 0 for row in rows)
    what = (
        f"`table1.csv`, `table1.md`: {len(rows)} rows of the paper's 84, selected among {compared:,} runs. Its column "
        "`bound` is an estimate."
    )
    _note(folder, "table1", typed, what)
    return comparisons, [csv_file, page]


def publish_depth(results: Sequence[Result], folder: Path, typed: str) -> list[Path]:
    """Write `fig4.csv` and Figure 4."""
    from abnet.experiments.figures import depth_figure, depth_points, save
    from abnet.experiments.figures.depth import depth_to_csv

    points = depth_points(results)
    if not points:
        raise ValueError("there are no runs of Figure 4 (mnistLH, PBGNet and ABNet, widths 2, 4, 8) in the store")
    csv_file = _write(folder / "fig4.csv", depth_to_csv(points))
    what = f"`fig4.csv`, `fig4.png`, `fig4.svg`: {len(points)} points from {sum(p.runs for p in points):,} runs."
    _note(folder, "fig4", typed, what)
    return [csv_file, *save(depth_figure(points), folder / "fig4")]


def publish_timings(timings: Sequence["Timing"], folder: Path, typed: str) -> list[Path]:
    """Write `fig2.csv` and Figure 2."""
    from abnet.experiments.figures import save, timing_figure
    from abnet.experiments.figures.timing import timings_to_csv
    from abnet.experiments.owners import describe_machine

    csv_file = _write(folder / "fig2.csv", timings_to_csv(timings))
    machine = describe_machine()
    what = (
        f"`fig2.csv`, `fig2.png`, `fig2.svg`: forward passes on one batch of 32 examples of ads, mean of 100 or as "
        f"many as `repetitions` says, 100 samples for the stochastic methods; {machine['cpu']}, {machine['cores']} "
        f"cores, JAX {machine['jax']}."
    )
    _note(folder, "fig2", typed, what)
    return [csv_file, *save(timing_figure(timings), folder / "fig2")]


def publish_regions(folder: Path, typed: str, *, seed: int) -> list[Path]:
    """Train a 2-2-2-1 network on the two circles and write Figure 3."""
    import numpy as np

    from abnet import ABNetClassifier, data
    from abnet.aggregation import region_values
    from abnet.experiments.figures import regions_figure, save

    circles = data.load("circles")
    clf = ABNetClassifier((2, 2), prior="init", learning_rate_init=0.1, max_iter=200, random_state=seed)
    clf.fit(circles.X, circles.y)
    network = clf.network_.astype(np.float64)
    shown = slice(None, None, 5)  # all points would hide the regions
    figure = regions_figure(
        network.weights[0], network.biases[0], region_values(network), network.predict,
        circles.X[shown], circles.y[shown],
    )  # fmt: skip
    error = float(np.mean(clf.predict(circles.X) != circles.y))
    what = (
        f"`fig3.png`, `fig3.svg`: 2-2-2-1 on `circles`, trained through the bound from a random prior (rate 0.1, up to "
        f"200 epochs, seed {seed}); training error of the vote {error:.3f}. A fifth of the points is drawn."
    )
    _note(folder, "fig3", typed, what)
    return list(save(figure, folder / "fig3"))


def publish_certificates(
    folder: Path, typed: str, datasets: Sequence[str], *, splits: int, log: Path | None, data_dir: str | None
) -> list[Path]:
    """Measure how tight the certificates are, and write their table."""
    from abnet.experiments.certificates import (
        PREPARATIONS,
        RECIPES,
        measure_all,
        preparation_of,
        summarise,
        summary_to_csv,
    )

    measured = measure_all(datasets, splits, log=log, data_dir=data_dir)
    path = _write(folder / "certificates.csv", summary_to_csv(summarise(measured)))
    prepared = {name: PREPARATIONS[preparation_of(name, RECIPES[name])] for name in datasets}
    recipes = "".join(f"\n- {name} ({prepared[name]}): `{RECIPES[name]}`" for name in datasets)
    what = (
        f"`certificates.csv`: means over {splits} random 75/25 splits, δ = 0.05. The certificates use the larger part "
        "only; test figures are of the smaller. A mean of certificates is no certificate. The recipes tried for this "
        "table are accounted for (`n_candidates`); `certificates_tighter.csv` counts those of `defaults.csv` too. "
        f"Preparation and parameters of `ABNetClassifier`:{recipes}"
    )
    _note(folder, "certificates", typed, what)
    return [path]


def publish_multiclass(
    folder: Path, typed: str, names: Sequence[str], *, data_dir: str | None, report: Any = None
) -> list[Path]:
    """Measure the recipes for ten classes that `multiclass.csv` does not hold yet, and write it after each."""
    from abnet.data.named import mnist_digits
    from abnet.experiments.multiclass import RECIPES, measure_digits, read_digits, results_to_csv

    path = folder / "multiclass.csv"
    done = {result.recipe: result for result in read_digits(path)}
    for recipe in (RECIPES[name] for name in names):
        if recipe not in done:
            done[recipe] = measure_digits(recipe, *mnist_digits(data_dir=data_dir), report=report)
        kept = [done[recipe] for recipe in RECIPES.values() if recipe in done]
        _write(path, results_to_csv(kept))
    what = (
        "`multiclass.csv`: MNIST with ten classes, a mixture of wide networks learned on a part of the 60,000 images "
        "of the training file and certified on the rest of them, δ = 0.05; test figures are of the 10,000 others. "
        "`raw` reads pixels, `maps` reads `deskew` and then `oriented_gradients` (`abnet.data.images`), which are "
        "fixed. Widths, rates, epochs and copies were chosen on 5,000 images of the part that learns, so that nothing "
        "but these two recipes saw the bound rows (`n_candidates`). Published: PBB's fully connected network, Gibbs "
        "certificate .0279, test error .020. The same command goes on where it was stopped."
    )
    _note(folder, "multiclass", typed, what)
    return [path]


def publish_runs(runs: Sequence[StoredRun], path: Path) -> int:
    """Write the runs as CSV (`abnet.experiments.exchange`); return how many there are."""
    text = export_runs(runs)
    _write(path, text)
    return sum(not line.startswith("#") for line in text.splitlines()) - 1


def _note(folder: Path, name: str, typed: str, what: str) -> None:
    text = f"## {name}\n\n`{typed}` (numerics version {NUMERICS_VERSION})\n\n{what}"
    write_parts(folder / "README.md", {name: text}, title=TITLE)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
