"""The jobs of `abnet demo` (learn, certify, compare, draw on built-in data) and `abnet data` (named data as tables)."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from abnet.atomic import atomic_path, check_writable
from abnet.certificates.certificate import Certificate
from abnet.cli.console import UsageError
from abnet.cli.jobs.compare_models import (
    Contender,
    Parts,
    certified,
    judged,
)
from abnet.cli.jobs.inputs import Labelled, make_estimator, take, two_random_parts
from abnet.labels import Labels
from abnet.paper import Dataset, load, names
from abnet.paper.datasets import UnknownDatasetError
from abnet.plots import OKABE_ITO, label_panel, styled
from abnet.report.page import write_report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DemoOutcome", "draw", "list_names", "run_demo", "write_dataset"]


def list_names() -> dict[str, Any]:
    """Names with the original files that they need."""
    return {name: list(files) for name, files in names().items()}


def write_dataset(name: str, output: Path | None, *, data_dir: Path | None, download: bool) -> dict[str, Any]:
    """Describe a data set, and write it as CSV if a file is named."""
    try:
        dataset = load(name, data_dir=data_dir, download=download)
    except UnknownDatasetError as error:
        raise UsageError(str(error)) from error
    if output is not None:
        _write(dataset, output)
    n, d = dataset.X.shape
    classes = " or ".join(dataset.classes)
    summary = f"{name}: {n:,} rows, {d} columns, label {classes}"
    return {
        "name": name, "n_rows": n, "n_columns": d, "classes": dataset.classes, "description": dataset.description,
        "output": None if output is None else str(output), "summary": summary,
    }  # fmt: skip


def _write(dataset: Dataset, output: Path) -> None:
    """Rows with the shortest decimals that give the same float32 back, whole numbers without a point."""
    labels = Labels(np.array(dataset.classes)).from_scores(dataset.y).tolist()
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*dataset.feature_names, "label"])
        for row, label in zip(dataset.X, labels, strict=True):
            writer.writerow([*(str(value).removesuffix(".0") for value in row), label])


def draw(classifier: Any, contenders: tuple[Contender, ...], path: Path) -> None:
    """Write a PNG picture: the loss in learning, and what every contender promises beside what it does.

    Parameters
    ----------
    classifier : fitted classifier with a learned prior
    contenders : tuple of Contender
    path : path
    """
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(8.4, 3.4), layout="constrained")
        curve, outcome = figure.subplots(1, 2, width_ratios=(1, 1.25))
        _curve(curve, classifier.loss_curve_)
        _outcome(outcome, contenders)
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png", metadata={"Software": None})


def _curve(axes: "Axes", curve: list[float]) -> None:
    axes.plot(range(len(curve)), curve, color=OKABE_ITO["blue"])
    axes.set(xlabel="epoch", ylabel="log loss on rows kept apart", ylim=(0, None), xlim=(0, None))
    label_panel(axes, "a", "learning, on the first part")


def _outcome(axes: "Axes", contenders: tuple[Contender, ...]) -> None:
    for row, contender in enumerate(contenders):
        tested = contender.test_error or 0.0
        spread = _spread(tested, contender.n_test)
        bar = axes.barh(row, 100 * (contender.bound or 1.0), height=0.5, color=OKABE_ITO["sky"], alpha=0.6)
        dot = axes.errorbar(100 * tested, row, xerr=100 * spread, fmt="o", color=OKABE_ITO["black"], capsize=2)
        if row == 0:
            bar.set_label("certified: error at most")
            dot.set_label("test error (± 2 standard errors)")
    names = [contender.name.replace(", ", ",\n").replace("logistic ", "logistic\n") for contender in contenders]
    axes.set_yticks(range(len(contenders)), names)
    axes.set(xlabel="error, %", xlim=(0, None), ylim=(len(contenders) + 0.1, -0.5))
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower right")
    label_panel(axes, "b", "promised and found")


def _spread(rate: float, n: int) -> float:
    """Two standard errors of a rate."""
    return float(2 * (rate * (1 - rate) / n) ** 0.5)


LEARN = 0.75


@dataclass(frozen=True)
class DemoOutcome:
    """What came out of the demonstration."""

    n_learn: int
    n_test: int
    certificate: Certificate
    contenders: tuple[Contender, ...]
    model: Path
    picture: Path
    report: Path

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "n_learn": self.n_learn,
            "n_test": self.n_test,
            "certificate": self.certificate.to_dict(),
            "contenders": [contender.to_dict() for contender in self.contenders],
            "model": str(self.model),
            "picture": str(self.picture),
            "report": str(self.report),
        }


def run_demo(folder: Path, settings: dict[str, Any], *, verbose: bool = False) -> DemoOutcome:
    """Learn 0-4 against 5-9 from scikit-learn's digits, and leave a model file and a picture in a folder."""
    from abnet.cli.jobs.inputs import usual_models

    network = make_estimator(settings, preprocessor="auto", verbose=verbose)
    folder.mkdir(parents=True, exist_ok=True)
    model, picture = check_writable(folder / "digits.abnet"), check_writable(folder / "learning-curve.png")
    learn, test = _digits(settings["random_state"])
    own = certified("abnet fit", network, learn, test)
    parts = Parts(network.other_rows_, network.bound_rows_)
    peers = usual_models(settings["random_state"])
    contenders = (own, *(judged(name, peer, learn, test, parts, network.delta) for name, peer in peers.items()))
    network.save(model)
    draw(network, contenders, picture)
    others = [contender.to_dict() for contender in contenders[1:]]
    page = write_report(network, folder / "report.html", test.X, test.y, title="Handwritten digits", rivals=others)
    return DemoOutcome(
        len(learn.y), len(test.y), network.certificate_, contenders, folder / model.name, folder / picture.name, page
    )


def _digits(seed: int) -> tuple[Labelled, Labelled]:
    from abnet.paper import load

    data = load("digits")
    names = np.array(data.classes)
    labelled = Labelled(data.X, names[(data.y > 0).astype(int)])
    learn, test = two_random_parts(labelled, LEARN, seed)
    return take(labelled, learn), take(labelled, test)
