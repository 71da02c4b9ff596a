"""The comparison that a user would make, on the same rows for all: the job of `abnet compare`."""

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from abnet.cli.jobs.contender import Contender, Parts, attempt, certified, judged
from abnet.cli.jobs.fit_table import PREPARATION_SHARE
from abnet.cli.jobs.inputs import Labelled, check_use, make_estimator, read_labelled, take, two_random_parts
from abnet.data.preparation import TablePreparation
from abnet.data.tables.source import TableSource

__all__ = ["CompareOutcome", "compare_table"]


LEAST_ROWS = 20


@dataclass(frozen=True)
class CompareOutcome:
    """All contenders, the numbers of rows and of threads that they had, and the base rate of the test rows."""

    n_learn: int
    n_test: int
    delta: float
    contenders: tuple[Contender, ...]
    threads: int
    base_rate: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        contenders = [contender.to_dict() for contender in self.contenders]
        values = {name: getattr(self, name) for name in ("n_learn", "n_test", "delta", "threads", "base_rate")}
        return {**values, "contenders": contenders}


@dataclass
class _Contest:
    """What all contenders share; `parts` are those of the network with a learned prior, once it is fitted."""

    learn: Labelled
    test: Labelled
    settings: dict[str, Any]
    prepare: dict[str, Any]
    verbose: bool
    parts: Parts | None = None

    def preparation(self) -> TablePreparation:
        return TablePreparation(**self.prepare)

    def network(self, preprocessor: Any, **changes: Any) -> Any:
        return make_estimator("abnet", {**self.settings, **changes}, preprocessor=preprocessor, verbose=self.verbose)

    def split_prior(self, name: str) -> Contender:
        network = self.network(self.preparation(), prior="split", posterior="train")
        contender = certified(name, network, self.learn, self.test)
        self.parts = Parts(network.other_rows_, network.bound_rows_, network.preprocessor_)
        return contender

    def frozen(self, name: str) -> Contender:
        network = self.network(self.preparation(), prior="split", posterior="frozen")
        contender = replace(certified(name, network, self.learn, self.test), is_fit=True)  # the defaults of `abnet fit`
        self.parts = self.parts or Parts(network.other_rows_, network.bound_rows_, network.preprocessor_)
        return contender

    def random_prior(self, name: str) -> Contender:
        """The preparation must not see the bound rows, so that some rows go to it alone."""
        first, rest = two_random_parts(len(self.learn.y), PREPARATION_SHARE, self.settings["random_state"])
        preparation = self.preparation().fit(take(self.learn, first).X)
        learn, test = (Labelled(preparation.transform(part.X), part.y) for part in (take(self.learn, rest), self.test))
        return certified(name, self.network(None, prior="init"), learn, test, preparation)

    def sklearn_model(self, model: Any) -> Callable[[str], Contender]:
        delta = self.settings["delta"]
        return lambda name: judged(name, model, self.learn, self.test, self.parts or self.own_parts(), delta)

    def own_parts(self) -> Parts:
        """Two parts for the scikit-learn models, where no network has any."""
        share, seed = self.settings["prior_fraction"], self.settings["random_state"]
        first, second = two_random_parts(len(self.learn.y), share, seed)
        return Parts(first, second, self.preparation().fit(take(self.learn, first).X))


def compare_table(
    table: Path,
    target: str,
    *,
    settings: dict[str, Any],
    drop: Sequence[str] = (),
    preparation: dict[str, Any] | None = None,
    test_fraction: float = 0.2,
    verbose: bool = False,
) -> CompareOutcome:
    """Learn the target of a table in several ways.

    Parameters
    ----------
    table : path
    target : str
    settings : dict
        Parameters of the networks; `prior` and `posterior` are those of the contender.
    drop : sequence of str
    preparation : dict, optional
        Parameters of `TablePreparation`.
    test_fraction : float
        Share of the rows that nobody learns from.
    verbose : bool
        Draw progress bars.
    """
    make_estimator("abnet", settings)
    preparation = preparation or {}
    with tempfile.TemporaryDirectory(prefix="abnet-") as folder:
        part = read_labelled(
            TableSource(table, folder), target, drop=drop, at_least=LEAST_ROWS, max_learn_rows=sys.maxsize, share=0.5,
            seed=0,
        )  # fmt: skip
    data = Labelled(part.X, part.y)
    check_use(preparation.get("use", ()), part.X.columns)
    learn, test = two_random_parts(len(data.y), 1 - test_fraction, settings["random_state"])
    contest = _Contest(take(data, np.sort(learn)), take(data, np.sort(test)), settings, preparation, verbose)
    threads = cpu_count()
    with threadpool_limits(threads):  # JAX takes as many by itself
        contenders = tuple(attempt(name, run) for name, run in _entries(contest).items())
    return CompareOutcome(len(learn), len(test), settings["delta"], contenders, threads, _base_rate(contest.test.y))


def _base_rate(labels: NDArray[Any]) -> float:
    """Share of the rows on which always answering their commonest class errs."""
    return 1.0 - float(np.unique(labels, return_counts=True)[1].max() / len(labels))


def _entries(contest: _Contest) -> dict[str, Callable[[str], Contender]]:
    from sklearn.dummy import DummyClassifier

    shaped = {
        "ABNet, learned prior": contest.split_prior,
        "ABNet, random prior": contest.random_prior,
        "ABNet, frozen": contest.frozen,
    }
    networks = {"ABNet": contest.frozen} if contest.settings["hidden_layer_sizes"] == "auto" else shaped
    peers = usual_models(contest.settings["random_state"]) | {"majority rule": DummyClassifier()}
    return networks | {name: contest.sklearn_model(model) for name, model in peers.items()}


def usual_models(seed: int) -> dict[str, Any]:
    """What people use on tables today."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return {
        "random forest": RandomForestClassifier(300, n_jobs=-1, random_state=seed),
        "gradient boosting": HistGradientBoostingClassifier(random_state=seed),
        "logistic regression": LogisticRegression(max_iter=1000),
    }
