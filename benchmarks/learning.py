"""One epoch against scikit-learn's network of the same sizes, and prediction against its prediction."""

import warnings
from typing import Any

import jax
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from abnet import ABNetClassifier
from abnet.networks import Exact
from abnet.networks.bam import BAM
from abnet.networks.posterior import Posterior
from abnet.training.compilation import compiled_epoch, epoch
from abnet.training.loop import Limits, Rows, Span, open_runs
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import new_keys, stack
from abnet.training.stages import lifted_rows
from measure import Row, at_least, at_most, best_times, stated

SIZES = (784, 4, 4, 4, 1)
ROWS = 52_500
BATCH = 64


def images(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the shape of MNIST's, a fifth of the pixels set; the time does not depend on what they show."""
    rng = np.random.default_rng(0)
    X = (rng.random((rows, 784)) * (rng.random((rows, 784)) < 0.2)).astype(np.float32)
    return X, np.where(X[:, :392].sum(1) > X[:, 392:].sum(1), 1.0, -1.0)


def one_epoch() -> list[Row]:
    X, y = images(ROWS)
    rows = lifted_rows(X, y, None)
    learner = PosteriorLearner(SIZES)
    rng = np.random.default_rng(0)
    net = BAM.init(rng, SIZES)
    state = start(Posterior.from_networks([net], [net], Exact()), Objective.BOUND, ROWS, 0.05)
    runs: Any = open_runs(stack([state]), [0.01], new_keys(rng, 1))
    order = np.zeros(len(rows.targets) + BATCH, np.int32)
    order[:ROWS] = rng.permutation(ROWS)
    limits = Limits(*map(np.asarray, Limits()))

    def run(program: Any, state: Any, watched: int, *, seen: bool = False, data: Rows = rows) -> Any:
        span = Span(np.int32(0), np.int32(watched))
        return jax.block_until_ready(
            program((learner,), state, data, order, np.int32(ROWS), span, limits, batch_size=BATCH, seen=seen)
        )

    # Where 4 kB pages make random access slow, this is what an epoch would lose without `zeros_in_large_pages`.
    in_small_pages = rows._replace(inputs=jax.device_put(np.array(rows.inputs)))
    ours = compiled_epoch((learner,))
    plain = epoch
    first = run(ours, (runs,), ROWS)

    mlp = MLPClassifier((4, 4, 4), batch_size=BATCH, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        watching, seeing, passing, small_pages, as_xla_likes, theirs = best_times(
            lambda: run(ours, first, ROWS),
            lambda: run(ours, first, ROWS, seen=True),
            lambda: run(ours, first, 1),
            lambda: run(ours, first, 1, data=in_small_pages),
            lambda: run(plain, first, 1),
            lambda: mlp.fit(X, y),
            repeat=7,
        )
    what = "MLPClassifier / ABNet, one epoch of 784-4-4-4-1"
    return [
        at_least(what, theirs / passing, 6, f"{theirs * 1e3:.0f} / {passing * 1e3:.0f} ms, one pass over the rows"),
        at_least(f"{what}, watched", theirs / watching, 6, f"{watching * 1e3:.0f} ms with the bound on all rows"),
        at_most("an epoch watched in its pass / not watched", seeing / passing, 1.1, f"{seeing * 1e3:.0f} ms"),
        at_most(
            "an epoch with rows in large pages / in small pages",
            passing / small_pages,
            0.99,
            f"{small_pages * 1e3:.0f} ms",
        ),
        stated(f"{what}, compiled with XLA's own choices", theirs / as_xla_likes, f"{as_xla_likes * 1e3:.0f} ms"),
    ]


def prediction() -> list[Row]:
    X, y = images(17_500)
    sizes = SIZES[1:-1]
    clf = ABNetClassifier(sizes, max_iter=10, random_state=0).fit(X[:2000], y[:2000])
    compact = clf.model_
    mlp = MLPClassifier(sizes, max_iter=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mlp.fit(X[:2000], y[:2000])
    mine, whole, theirs = best_times(
        lambda: compact.predict(X), lambda: clf.predict(X), lambda: mlp.predict(X), repeat=20
    )
    detail = f"{mine * 1e3:.1f} / {theirs * 1e3:.1f} ms for 17,500 rows"
    return [
        at_most("compact ABNet / MLPClassifier, prediction", mine / theirs, 1.2, detail),
        at_most("ABNetClassifier / MLPClassifier, prediction", whole / theirs, 1.2, f"{whole * 1e3:.1f} ms"),
    ]


def fixed_cost() -> list[Row]:
    """What a fit takes beside its epochs: from fits of two and of ten epochs, whose epochs are in proportion."""
    X, y = images(ROWS)

    def fit(epochs: int) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ABNetClassifier(SIZES[1:-1], max_iter=epochs, posterior="train", tol=0.0, random_state=0).fit(X, y)

    two, ten = best_times(lambda: fit(2), lambda: fit(10), repeat=3)
    fixed = two - (ten - two) / 4
    detail = f"{two:.2f} and {ten:.2f} s with 2 and 10 epochs a stage"
    return [at_most("a fit of 52,500 × 784 but for its epochs, in s", fixed, 0.75, detail)]


def rows() -> list[Row]:
    return [*one_epoch(), *prediction(), *fixed_cost()]
