"""Learn, certify, compare, draw, on data that comes with scikit-learn: the job of `abnet demo`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abnet.bounds.certificate import Certificate
from abnet.cli.jobs.contender import Contender, certified, held_out, take
from abnet.cli.jobs.estimator import make_estimator
from abnet.cli.jobs.holdout import parts_of, two_random_parts
from abnet.cli.jobs.learning_curve import draw
from abnet.cli.jobs.table import Labelled
from abnet.files import check_writable

__all__ = ["DemoOutcome", "run_demo"]

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "n_learn": self.n_learn,
            "n_test": self.n_test,
            "certificate": self.certificate.to_dict(),
            "contenders": [contender.to_dict() for contender in self.contenders],
            "model": str(self.model),
            "picture": str(self.picture),
        }


def run_demo(folder: Path, settings: dict[str, Any], *, verbose: bool = False) -> DemoOutcome:
    """Learn 0-4 against 5-9 from scikit-learn's digits, and leave a model file and a picture in a folder."""
    from sklearn.linear_model import LogisticRegression

    network, frozen = (
        make_estimator("abnet", {**settings, "prior": "split", "posterior": posterior}, verbose=verbose)
        for posterior in ("train", "frozen")
    )
    folder.mkdir(parents=True, exist_ok=True)
    model, picture = check_writable(folder / "digits.abnet"), check_writable(folder / "learning-curve.png")
    learn, test = _digits(settings["random_state"])
    parts = parts_of(network, len(learn.y))
    contenders = (
        certified("ABNet", network, learn, test),
        certified("ABNet, hold-out bound", frozen, learn, test),
        # Pixels have a fixed scale, so that no preparation is needed, and none can leak.
        held_out("logistic regression", LogisticRegression(max_iter=1000), None, learn, test, parts, network.delta),
    )
    network.save(model)
    draw(network, contenders, picture)
    return DemoOutcome(
        len(learn.y), len(test.y), network.certificate_, contenders, folder / model.name, folder / picture.name
    )


def _digits(seed: int) -> tuple[Labelled, Labelled]:
    from abnet.data import load

    data = load("digits")
    names = np.array(data.classes)
    labelled = Labelled(data.X, names[(data.y > 0).astype(int)])
    learn, test = two_random_parts(len(data.y), LEARN, seed)
    return take(labelled, learn), take(labelled, test)
