"""Several classes: an epoch of 784-400-(12 outputs) beside a tanh network, what two classes pay for the others, and the
test error of the default fit on scikit-learn's digits (alone: `python benchmarks/classes.py digits`).
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from abnet import CertifiedClassifier
from abnet.networks import Ancestral
from abnet.networks.bam import BAM
from abnet.networks.lifting import lift
from abnet.networks.posterior import Posterior
from abnet.training.compilation import compiled_epoch
from abnet.training.loop import Limits, Span, open_runs, pad_rows
from abnet.training.objective import Objective
from abnet.training.posterior_learner import PosteriorLearner, start
from abnet.training.runner import new_keys, stack
from measure import Row, at_most, best_times, certified_error

BATCH = 128
STEPS = 150
ROWS = BATCH * STEPS
INPUTS = 784
HIDDEN = 400
LENGTH = 12
CLASSES = 10
SPLITS = range(5)


def tanh_epoch(X: Any, targets: Any, order: Any) -> Callable[[], Any]:
    """784-400-12 with tanh units, a read-out of ten classes, cross entropy, and Optax's Adam: one compiled loop."""
    adam = optax.adam(0.01)
    shapes = [(INPUTS, HIDDEN), (HIDDEN, LENGTH), (LENGTH, CLASSES)]
    params = [(0.05 * jax.random.normal(jax.random.key(d), (d, e)), jnp.zeros(e)) for d, e in shapes]

    def loss(params: Any, x: Any, t: Any) -> Any:
        for W, b in params[:-1]:
            x = jnp.tanh(x @ W + b)
        W, b = params[-1]
        return -jnp.mean(jnp.sum(t * jax.nn.log_softmax(x @ W + b), axis=1))

    @jax.jit
    def run(params: Any, state: Any, X: Any, targets: Any, order: Any) -> Any:
        def body(i: Any, carry: Any) -> Any:
            params, state = carry
            index = jax.lax.dynamic_slice_in_dim(order, i * BATCH, BATCH)
            updates, state = adam.update(jax.grad(loss)(params, X[index], targets[index]), state)
            return optax.apply_updates(params, updates), state

        return jax.lax.fori_loop(0, STEPS, body, (params, state))

    return lambda: jax.block_until_ready(run(params, adam.init(params), X, targets, order))


def our_epoch(learner: Any, state: Any, rows: Any, order: Any) -> Callable[[], Any]:
    """As many steps of ours, as `fit` makes them; one block of rows is watched."""
    rng = np.random.default_rng(0)
    runs: Any = open_runs(stack([state]), [0.01], new_keys(rng, 1))
    limits = Limits(*map(np.asarray, Limits()))
    span = Span(np.int32(0), np.int32(BATCH))
    call = partial(
        compiled_epoch((learner,)), (learner,), rows=rows, order=order, count=np.int32(ROWS), watch=span, limits=limits
    )
    first = call(runs=(runs,), batch_size=BATCH)
    return lambda: jax.block_until_ready(call(runs=first, batch_size=BATCH))


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, INPUTS), dtype=np.float32)
    targets = np.eye(CLASSES, dtype=np.float32)[rng.integers(0, CLASSES, ROWS)]
    padded = pad_rows(lift(X), targets)
    order = np.zeros(len(padded.targets) + BATCH, np.int32)
    order[:ROWS] = rng.permutation(ROWS)
    net = BAM.init(rng, (INPUTS, HIDDEN, LENGTH))
    learner = PosteriorLearner(net.sizes, Ancestral(), n_classes=CLASSES, bounded=False)
    begin = start(Posterior.from_networks([net], [net], Ancestral()), Objective.LOG, ROWS, 0.05)
    jobs = [tanh_epoch(jnp.asarray(X), jnp.asarray(targets), order), our_epoch(learner, begin, padded, order)]
    tanh, ours = (1e3 * t / STEPS for t in best_times(*jobs, repeat=4))
    detail = f"{ours:.2f} / {tanh:.2f} ms a step of {BATCH} rows"
    epoch = at_most("784-400-12, ten classes / tanh network, epoch", ours / tanh, 3, detail)
    return [epoch, *digits()]


def digits() -> list[Row]:
    """Nothing set, by the protocol of `benchmarks/tables.py`: three quarters of the rows learn and certify."""
    X, y = load_digits(return_X_y=True)
    errors = []
    bounds = []
    for split in SPLITS:
        learn, test, known, truth = train_test_split(X, y, test_size=0.25, random_state=split, stratify=y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf = CertifiedClassifier(random_state=split).fit(learn, known)
        errors.append(float(np.mean(clf.predict(test) != truth)))
        bounds.append(certified_error(clf))
    detail = f"{', '.join(f'{error:.4f}' for error in errors)}; mean certificate {np.mean(bounds):.4f}"
    return [at_most("digits, ten classes: mean test error", float(np.mean(errors)), 0.03, detail)]


if __name__ == "__main__":
    for row in digits() if sys.argv[1:] == ["digits"] else rows():
        print(row)
