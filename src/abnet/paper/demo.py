"""The demonstration behind `abnet demo`: train, certify, compare and draw on scikit-learn's digits."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from abnet.certificates.certificate import Certificate
from abnet.certificates.random_seed import drawn_seed
from abnet.estimators.certified import CertifiedClassifier
from abnet.estimators.compare import Contender, Parts, certified, judged, usual_models
from abnet.estimators.labelled_parts import Labelled, split_at_random, take
from abnet.paper.data.datasets import load
from abnet.report.page import write_report
from abnet.utils.atomic import atomic_path, check_writable
from abnet.utils.plots import OKABE_ITO, label_panel, styled
from abnet.utils.progress import report_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Demonstration", "demo"]


LEARN = 0.75
"""Fraction of the images used for training and the certificate."""


@dataclass(frozen=True)
class Demonstration:
    """Result of `demo`: rows, certificate, contenders, and the files that were written."""

    n_learn: int
    n_test: int
    certificate: Certificate | None
    contenders: tuple[Contender, ...]
    model: Path
    picture: Path
    report: Path

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        certificate = None
        if self.certificate is not None:
            certificate = self.certificate.to_dict()
        return {
            "n_learn": self.n_learn,
            "n_test": self.n_test,
            "certificate": certificate,
            "contenders": [contender.to_dict() for contender in self.contenders],
            "model": str(self.model),
            "picture": str(self.picture),
            "report": str(self.report),
        }


def demo(folder: str | os.PathLike[str], *, estimator: Any = None) -> Demonstration:
    """Train and certify 0-4 against 5-9 on scikit-learn's digits; write the model, a picture and a report to a folder.

    Parameters
    ----------
    folder : path
        Created if missing.
    estimator : CertifiedClassifier, optional
        Unfitted.
    """
    network = CertifiedClassifier()
    if estimator is not None:
        network = clone(estimator)
    network.set_params(random_state=drawn_seed(network.random_state))
    network.settings()  # refuses parameters before anything is written
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    model_path = place / "digits.abnet"
    picture_path = place / "learning-curve.png"
    check_writable(model_path)
    check_writable(picture_path)
    learn, test = _digits(network.random_state)
    contenders = [certified("abnet fit", network, learn, test)]
    parts = Parts(network.other_rows_, network.bound_rows_)
    for name, peer in usual_models(network.random_state).items():
        report_progress(name[:1].upper() + name[1:])
        contenders.append(judged(name, peer, learn, test, parts, network.delta))
    network.save(model_path)
    _draw(network, tuple(contenders), picture_path)
    others = [contender.to_dict() for contender in contenders[1:]]
    page = write_report(network, place / "report.html", test.X, test.y, title="Handwritten digits", rivals=others)
    return Demonstration(
        n_learn=len(learn.y),
        n_test=len(test.y),
        certificate=network.certificate_,
        contenders=tuple(contenders),
        model=model_path,
        picture=picture_path,
        report=page,
    )


def _digits(seed: int) -> tuple[Labelled, Labelled]:
    data = load("digits")
    names = np.array(data.classes)
    labelled = Labelled(data.X, names[(data.y > 0).astype(int)])
    split = split_at_random(labelled, LEARN, seed)
    return take(labelled, split.first), take(labelled, split.counted)


def _draw(classifier: Any, contenders: tuple[Contender, ...], path: Path) -> None:
    """Write a PNG picture: the learning curve, and the certified and test error of every contender.

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
    axes.set(xlabel="epoch", ylabel="log loss on validation rows", ylim=(0, None), xlim=(0, None))
    label_panel(axes, "a", "learning curve")


def _outcome(axes: "Axes", contenders: tuple[Contender, ...]) -> None:
    for row, contender in enumerate(contenders):
        tested = contender.test_error or 0.0
        spread = _spread(tested, contender.n_test)
        bar = axes.barh(row, 100 * (contender.bound or 1.0), height=0.5, color=OKABE_ITO["sky"], alpha=0.6)
        dot = axes.errorbar(100 * tested, row, xerr=100 * spread, fmt="o", color=OKABE_ITO["black"], capsize=2)
        if row == 0:
            bar.set_label("certified error (upper bound)")
            dot.set_label("test error (± 2 standard errors)")
    names = [contender.name.replace(", ", ",\n").replace("logistic ", "logistic\n") for contender in contenders]
    axes.set_yticks(range(len(contenders)), names)
    axes.set(xlabel="error, %", xlim=(0, None), ylim=(len(contenders) + 0.1, -0.5))
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower right")
    label_panel(axes, "b", "certified and test error")


def _spread(rate: float, n: int) -> float:
    """Two standard errors of a rate."""
    return float(2 * (rate * (1 - rate) / n) ** 0.5)
