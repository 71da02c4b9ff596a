"""Train networks of several widths at once with `jax.vmap`, and choose among them by the bound.

Every network is put into arrays of the widest one, and masks switch the added units off. Each architecture is a prior
of its own, so choosing among K of them by the bound costs ln K nats.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from abnet import BAM, bounds, paper
from abnet import networks as aggregation

ARCHITECTURES = ((2, 2), (3, 3), (4, 4), (4, 2))
WIDEST = (4, 4)
DELTA = 0.05

data = paper.load("circles")
X = jnp.asarray(data.X, jnp.float32)
y = jnp.asarray(data.y, jnp.float32)
n = len(y)
K = len(ARCHITECTURES)
adam = optax.adam(0.02)
batches = jnp.asarray(np.random.default_rng(0).integers(0, n, (2000, 32)))


def train(prior: BAM, masks: tuple[jax.Array, ...]) -> BAM:
    """The network after 2,000 minibatch steps on the bound, from the prior."""

    def objective(learned: tuple[BAM, jax.Array], rows: jax.Array) -> jax.Array:
        net, log_c = learned
        risk = aggregation.linear_loss(aggregation.masked_output(net, X[rows], masks), y[rows]).mean()
        return bounds.catoni_objective(risk, aggregation.kl(net, prior), n, DELTA / K, log_c)

    def step(carry, rows):
        learned, state = carry
        update, state = adam.update(jax.grad(objective)(learned, rows), state)
        return (optax.apply_updates(learned, update), state), None

    first = (prior, jnp.zeros(()))
    (learned, _), _ = jax.lax.scan(step, (first, adam.init(first)), batches)
    return learned[0]


priors = [BAM.init(jax.random.key(0), (2, *hidden, 1)) for hidden in ARCHITECTURES]
stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[aggregation.widened(prior, WIDEST) for prior in priors])
trained = jax.jit(jax.vmap(train))(*stacked)

for k, hidden in enumerate(ARCHITECTURES):
    net, prior, masks = jax.tree.map(lambda leaf, k=k: np.asarray(leaf[k], np.float64), (trained, *stacked))
    losses = aggregation.linear_loss(aggregation.masked_output(net, data.X, masks), data.y.astype(np.float64))
    bound = bounds.loss_bound(losses, float(aggregation.kl(net, prior)), delta=DELTA, n_candidates=K)
    print(f"2-{'-'.join(map(str, hidden))}-1: bound on the Gibbs risk {bound:.2f}")
