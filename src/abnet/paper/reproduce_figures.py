"""`abnet reproduce fig2`, `fig3` and `fig4`: measure or train what the figures show, and draw them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from abnet.paper.grids import fig4_grid, select, without_variant
from abnet.paper.protocol import REPETITIONS
from abnet.paper.reproduced import Reproduced, StrPath, train_missing_runs
from abnet.paper.results_folder import add_note, write_file
from abnet.utils.errors import Parameter, ParameterError

if TYPE_CHECKING:
    from distributed import Client

    from abnet.paper.figure2 import Timing
    from abnet.paper.figure4 import DepthPoint

__all__ = ["fig2", "fig3", "fig4"]


def fig2(
    *,
    widths: Sequence[int] | None = None,
    depths: Sequence[int] | None = None,
    repetitions: int = 100,
    train: bool = True,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list["Timing"]]:
    """Measure Figure 2, the time of a forward pass by width and by depth, on 32 examples of ads.

    Parameters
    ----------
    widths, depths
        Of panel (a) and of panel (b).
    repetitions
        Passes timed, fewer where they take long.
    train
        Whether to measure; otherwise the times are read from `fig2.csv` in the output folder.
    data_dir
        Folder of the original files.
    output_dir
        Folder for `fig2.csv` and the figure; by default nothing is written.
    verbose
        Whether to print a line for each point.
    """
    from abnet.paper import figure2
    from abnet.paper.datasets import load
    from abnet.utils.plots import save

    if not train and output_dir is None:
        raise ParameterError(
            "{} needs {}, the folder with fig2.csv.", Parameter("train", False), Parameter("output_dir")
        )
    if train:
        batch = load("ads", data_dir=data_dir, standardise=True).X[:32]
        points = figure2.plan(figure2.METHODS, widths or figure2.WIDTHS, depths or figure2.DEPTHS)
        timings = list(figure2.measure(points, batch, repetitions=repetitions, verbose=verbose))
    else:
        timings = figure2.read_timings((Path(output_dir or ".") / "fig2.csv").read_text(encoding="utf-8"))
    if output_dir is None:
        return Reproduced(timings)
    folder = Path(output_dir)
    files = [write_file(folder / "fig2.csv", figure2.timings_to_csv(timings))]
    files += save(figure2.timing_figure(timings), folder / "fig2")
    text = (
        "`fig2.csv`, `fig2.png`, `fig2.svg`: forward passes on one batch of 32 examples of ads; mean of 100 "
        "passes, fewer for slow ones (column `repetitions`); 100 samples for the stochastic methods"
    )
    if train:
        text += f"; {figure2.machine()}"
    options = {"widths": widths, "depths": depths, "repetitions": repetitions}
    add_note(folder, "fig2", options, f"{text}.")
    return Reproduced(timings, files)


def fig3(*, random_state: int = 0, output_dir: StrPath = "results", verbose: bool = False) -> Reproduced[float]:
    """Train a 2-2-2-1 network on two circles and draw Figure 3, its regions over the plane.

    Parameters
    ----------
    random_state
        Seed of the training.
    output_dir
        Folder for the figure.
    verbose
        Whether to show the progress of training on a terminal.

    Returns
    -------
    Reproduced
        Its data is the training error of the vote.
    """
    import numpy as np

    from abnet.estimators.abnet import ABNetClassifier
    from abnet.networks import region_values
    from abnet.paper.datasets import load
    from abnet.paper.figure3 import regions_figure
    from abnet.utils.plots import save

    circles = load("circles")
    clf = ABNetClassifier(
        (2, 2),
        prior="init",
        init="glorot_normal",
        learning_rate_init=0.1,
        max_iter=200,
        random_state=random_state,
        verbose=int(verbose),
    )
    clf.fit(circles.X, circles.y)
    error = float(np.mean(clf.predict(circles.X) != circles.y))
    network = clf.network_.astype(np.float64)
    figure = regions_figure(
        network.weights[0],
        network.biases[0],
        region_values(network),
        network.predict,
        circles.X[::5],  # all points would hide the regions
        circles.y[::5],
    )
    folder = Path(output_dir)
    files = list(save(figure, folder / "fig3"))
    text = (
        f"`fig3.png`, `fig3.svg`: 2-2-2-1 on `circles`, trained through the bound from a random prior (rate 0.1, up to "
        f"200 epochs, seed {random_state}); training error of the vote {error:.3f}. A fifth of the points is drawn."
    )
    add_note(folder, "fig3", {"random_state": random_state}, text)
    return Reproduced(error, files)


def fig4(
    store: StrPath = "runs.sqlite",
    *,
    models: Sequence[str] | None = None,
    widths: Sequence[int] | None = None,
    repetitions: int = REPETITIONS,
    train: bool = True,
    jobs: int = -1,
    client: "Client | None" = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
    verbose: bool = False,
) -> Reproduced[list["DepthPoint"]]:
    """Train the missing runs of Figure 4, bound and test error by depth on mnistLH; parameters as for `table1`."""
    from abnet.paper.figure4 import depth_figure, depth_points, depth_to_csv
    from abnet.utils.plots import save

    settings = select(fig4_grid(), models=models, widths=widths, repetitions=repetitions)
    results, failures = train_missing_runs(
        store,
        settings,
        shown=[*settings, *without_variant(settings)],
        train=train,
        jobs=jobs,
        client=client,
        data_dir=data_dir,
        verbose=verbose,
    )
    points = depth_points(results)
    if output_dir is None:
        return Reproduced(points, failures=failures)
    folder = Path(output_dir)
    files = [write_file(folder / "fig4.csv", depth_to_csv(points))]
    files += save(depth_figure(points), folder / "fig4")
    n_runs = sum(point.runs for point in points)
    text = f"`fig4.csv`, `fig4.png`, `fig4.svg`: {len(points)} points from {n_runs:,} runs."
    add_note(folder, "fig4", {"models": models, "widths": widths, "repetitions": repetitions}, text)
    return Reproduced(points, files, failures)
