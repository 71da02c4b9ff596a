"""One epoch against scikit-learn's network of the same sizes, and prediction against its prediction."""

import warnings
from typing import Any

import jax
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from abnet import ABNetClassifier
from abnet.bam import BAM
from abnet.training.learners import AggregationLearner, Objective, start
from abnet.training.loop import Limits, Span, compiled_epoch, epoch, open_runs
from abnet.training.trainer import lifted_rows, new_keys, stack
from measure import Row, at_least, at_most, best_times, stated

SIZES = (784, 4, 4, 4, 1)
ROWS, BATCH = 52_500, 64


def images(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the shape of MNIST's, a fifth of the pixels set; the time does not depend on what they show."""
    rng = np.random.default_rng(0)
    X = (rng.random((rows, 784)) * (rng.random((rows, 784)) < 0.2)).astype(np.float32)
    return X, np.where(X[:, :392].sum(1) > X[:, 392:].sum(1), 1.0, -1.0)


def one_epoch() -> list[Row]:
    X, y = images(ROWS)
    rows, learner = lifted_rows(X, y, None), AggregationLearner(SIZES)
    rng = np.random.default_rng(0)
    net = BAM.init(rng, SIZES)
    runs: Any = open_runs(stack([start(net, net, Objective.BOUND, ROWS, 0.05)]), [0.01], new_keys(rng, 1))
    order = np.zeros(len(rows.targets) + BATCH, np.int32)
    order[:ROWS] = rng.permutation(ROWS)
    limits = Limits(*map(np.asarray, Limits()))

    def run(program: Any, state: Any, watched: int) -> Any:
        span = Span(np.int32(0), np.int32(watched))
        return jax.block_until_ready(
            program((learner,), state, rows, order, np.int32(ROWS), span, limits, batch_size=BATCH)
        )

    ours, plain = compiled_epoch((learner,)), epoch
    first = run(ours, (runs,), ROWS)

    mlp = MLPClassifier((4, 4, 4), batch_size=BATCH, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        watching, passing, as_xla_likes, theirs = best_times(
            lambda: run(ours, first, ROWS),
            lambda: run(ours, first, 1),
            lambda: run(plain, first, 1),
            lambda: mlp.fit(X, y),
            repeat=7,
        )
    what = "MLPClassifier / ABNet, one epoch of 784-4-4-4-1"
    return [
        at_least(what, theirs / passing, 6, f"{theirs * 1e3:.0f} / {passing * 1e3:.0f} ms, one pass over the rows"),
        at_least(f"{what}, watched", theirs / watching, 6, f"{watching * 1e3:.0f} ms with the bound on all rows"),
        stated(f"{what}, compiled with XLA's own choices", theirs / as_xla_likes, f"{as_xla_likes * 1e3:.0f} ms"),
    ]


def prediction() -> list[Row]:
    X, y = images(17_500)
    sizes = SIZES[1:-1]
    compact = ABNetClassifier(sizes, max_iter=10, random_state=0).fit(X[:2000], y[:2000]).compact()
    mlp = MLPClassifier(sizes, max_iter=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mlp.fit(X[:2000], y[:2000])
    mine, theirs = best_times(lambda: compact.predict(X), lambda: mlp.predict(X), repeat=20)
    detail = f"{mine * 1e3:.1f} / {theirs * 1e3:.1f} ms for 17,500 rows"
    return [at_most("compact ABNet / MLPClassifier, prediction", mine / theirs, 1.2, detail)]


def rows() -> list[Row]:
    return [*one_epoch(), *prediction()]
