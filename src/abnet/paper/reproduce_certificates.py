"""`abnet reproduce certificates` and `multiclass`: how tight certificates are on the paper's data sets and on MNIST."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abnet.paper.reproduced import Reproduced, StrPath, check_names
from abnet.paper.results_folder import add_note, write_file

if TYPE_CHECKING:
    from abnet.paper.ten_digits import DigitsResult

__all__ = ["certificates", "multiclass"]


def certificates(
    *,
    datasets: Sequence[str] | None = None,
    splits: int = 5,
    log: StrPath | None = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath | None = None,
) -> Reproduced[list[dict[str, Any]]]:
    """Measure how tight certificates are on the paper's data sets.

    Parameters
    ----------
    datasets
        All six by default.
    splits
        Random 75/25 splits of each data set.
    log
        File of finished splits; an interrupted call continues from it.
    data_dir, output_dir
        As for `table1`; the file is `certificates.csv`.
    """
    from abnet.paper import tightness

    recipes = tightness.RECIPES
    named = check_names("datasets", datasets, recipes)
    if log is not None:
        log = Path(log)
    if data_dir is not None:
        data_dir = os.fspath(data_dir)
    rows = tightness.summarise(tightness.measure_all(named, splits, log=log, data_dir=data_dir))
    if output_dir is None:
        return Reproduced(rows)
    folder = Path(output_dir)
    path = write_file(folder / "certificates.csv", tightness.summary_to_csv(rows))
    text = (
        f"`certificates.csv`: means over {splits} random 75/25 splits, δ = 0.05. Models are trained and certified on "
        "the larger part and tested on the smaller. A mean of certificates is not a certificate. The certificates "
        "account for all recipes tried for this table (`n_candidates`); `certificates_tighter.csv` also counts those "
        "of `defaults.csv`. "
        "Preparation and parameters of `ABNetClassifier`:"
    )
    for name in named:
        preparation = tightness.PREPARATIONS[tightness.preparation_of(name, recipes[name])]
        text += f"\n- {name} ({preparation}): `{recipes[name]}`"
    add_note(folder, "certificates", {"datasets": datasets, "splits": splits}, text)
    return Reproduced(rows, [path])


def multiclass(
    *,
    features: Sequence[str] | None = None,
    data_dir: StrPath | None = None,
    output_dir: StrPath = "results",
    verbose: bool = False,
) -> Reproduced[list["DigitsResult"]]:
    """Train and certify classifiers of the ten MNIST digits, and write `multiclass.csv`.

    Results that are already in the file are not computed again.

    Parameters
    ----------
    features
        Features of the networks: "raw" or "maps"; both by default.
    data_dir, output_dir, verbose
        As for `table1`.
    """
    from abnet.paper.datasets import mnist_digits
    from abnet.paper.ten_digits import RECIPES, measure_digits, read_digits, results_to_csv
    from abnet.training.progress_bar import training_bar

    folder = Path(output_dir)
    path = folder / "multiclass.csv"
    recipes = [RECIPES[name] for name in check_names("features", features, RECIPES)]
    finished = {result.recipe: result for result in read_digits(path)}
    with training_bar(int(verbose)) as report:
        for recipe in recipes:
            if recipe not in finished:
                images, digits = mnist_digits(data_dir=data_dir)
                finished[recipe] = measure_digits(recipe, images, digits, report=report)
            # After each recipe, so that an interrupted run continues with the next.
            write_file(path, results_to_csv([finished[known] for known in RECIPES.values() if known in finished]))
    text = (
        "`multiclass.csv`: MNIST with ten classes, a mixture of wide networks trained on a part of the 60,000 images "
        "of the training file and certified on the rest of them, δ = 0.05; the other 10,000 images are the test set. "
        "`raw` uses pixels, `maps` uses `deskew` and then `oriented_gradients` (`abnet.paper.images`), which are "
        "fixed. Widths, rates, epochs and copies were chosen on 5,000 images of the training part, so only these "
        "two recipes used the bound rows (`n_candidates`). Published: PBB's fully connected network, Gibbs "
        "certificate .0279, test error .020. The same command continues an interrupted run."
    )
    add_note(folder, "multiclass", {}, text)
    return Reproduced([finished[recipe] for recipe in recipes], [path])
