"""What an epoch of a network with 100 hidden units costs: exact, sampled, on the normal approximation, and an MLP's.

    python benchmarks/wide_epochs.py --turns 7

One epoch through the bound, batches of 64, on mnist17 and mnistLH, beside an epoch of scikit-learn's `MLPClassifier` of
the same size. They take turns in one process. The ratios are of CPU time (all threads) within a turn: their median,
and the smallest and the largest.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from abnet.networks import Aggregation, Exact, Uniform
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.networks.shapes import Answers, Key, Lifted, Matrices, Table
from abnet.paper import load
from abnet.training.compilation import compiled_epoch
from abnet.training.loop import Limits, Span, open_runs
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import new_keys, stack
from abnet.training.stages import lifted_rows

HIDDEN = (100,)
BATCH = 64
TRAIN_FRACTION = 0.75


@dataclass(frozen=True)
class OnTheSeries(Exact):
    """`Exact`, whose training uses the exact output too instead of its normal approximation."""

    def surrogate(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """The exact output."""
        return self.output(layers, lifted, key, table)


AGGREGATIONS: dict[str, Aggregation] = {
    "normal approximation": Exact(),
    "exact (series)": OnTheSeries(),
    "sampled, the paper's (n = 100)": Uniform(100),
}
"""How the epochs compute the output. With one hidden layer, "ancestral" is trained on the normal approximation too."""


def epoch_of(aggregation: Aggregation, X: Any, y: Any) -> Callable[[], Any]:
    """One epoch on Catoni's bound, as `fit` runs it, compiled; one batch is watched."""
    import jax

    sizes = (X.shape[1], *HIDDEN, 1)
    rng = np.random.default_rng(0)
    network = BAM.init(rng, sizes)
    learner = PosteriorLearner(sizes, aggregation)
    state = start(Posterior.from_networks([network], [network], aggregation), Objective.BOUND, len(y), 0.05)
    runs: Any = open_runs(stack([state]), [0.01], new_keys(rng, 1))
    rows = lifted_rows(X, y, None)
    order = np.zeros(len(rows.targets) + BATCH, np.int32)
    order[: len(y)] = rng.permutation(len(y))
    limits = Limits(*map(np.asarray, Limits()))
    program = compiled_epoch((learner,))
    watched = Span(np.int32(0), np.int32(BATCH))

    def run(runs: Any) -> Any:
        done = program((learner,), runs, rows, order, np.int32(len(y)), watched, limits, batch_size=BATCH)
        return jax.block_until_ready(done)

    first = run((runs,))
    return lambda: run(first)


def epoch_of_mlp(X: Any, y: Any) -> Callable[[], Any]:
    """One epoch of scikit-learn's network, from its start."""
    mlp = MLPClassifier(HIDDEN, batch_size=BATCH, max_iter=1)

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return mlp.fit(X, y)

    return run


def cpu_seconds(jobs: dict[str, Callable[[], Any]], turns: int) -> dict[str, list[float]]:
    """CPU seconds, in all threads, of each job in each turn, after a turn that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(turns + 1):
        for name, job in jobs.items():
            begin = time.process_time()
            job()
            if turn:
                seconds[name].append(time.process_time() - begin)
    return seconds


def measure(dataset: str, turns: int, data_dir: str | None) -> None:
    """Print a line for each way to compute an epoch, and one for the MLP."""
    data = load(dataset, data_dir=data_dir)
    n_rows = round(TRAIN_FRACTION * len(data.y))
    X = np.asarray(data.X[:n_rows], np.float32)
    y = np.asarray(data.y[:n_rows], np.float64)
    jobs = {name: epoch_of(aggregation, X, y) for name, aggregation in AGGREGATIONS.items()}
    jobs["MLPClassifier"] = epoch_of_mlp(X, y)
    seconds = cpu_seconds(jobs, turns)
    for name, own in seconds.items():
        ratios = [mine / theirs for mine, theirs in zip(own, seconds["MLPClassifier"], strict=True)]
        shown = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"| {dataset}, {n_rows:,} rows | {name} | {shown} | {min(own):.2f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--data-dir", help="folder of the original files, tried before ABNET_DATA")
    given = parser.parse_args()
    print("| data | epoch | CPU time / MLPClassifier's (range) | least CPU time |\n| --- | --- | --- | --- |")
    for dataset in ("mnist17", "mnistLH"):
        measure(dataset, given.turns, given.data_dir)


if __name__ == "__main__":
    main()
