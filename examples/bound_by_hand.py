"""Minimise the bound by hand: your own training loop with JAX and Optax, and the bound of the trained network.

The script uses only a network, its expected output, its divergence and Catoni's bound (Eq. 6 of the paper).
"""

import jax
import numpy as np
import optax
from sklearn.datasets import load_digits

from abnet import BAM, bounds
from abnet import networks as aggregation

X, digits = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)  # a fixed map, nothing fitted
y = np.where(digits % 2 == 0, 1.0, -1.0)  # even or odd
n = len(y)
delta = 0.05

prior = BAM.init(jax.random.key(0), (64, 4, 1))


def risk(net: BAM) -> jax.Array:
    """Empirical Gibbs risk: the mean of (1 - yF)/2."""
    return (0.5 - 0.5 * y * aggregation.expected_output(net, X)).mean()


def objective(learned: tuple[BAM, jax.Array]) -> jax.Array:
    """Catoni's bound, in the network and in ln C."""
    net, log_c = learned
    return bounds.catoni_objective(risk(net), aggregation.kl(net, prior), n, delta, log_c)


learned = (prior, jax.numpy.zeros(()))
adam = optax.adam(0.05)
state = adam.init(learned)


@jax.jit
def step(learned, state):
    """One step of Adam on all rows."""
    gradient = jax.grad(objective)(learned)
    update, state = adam.update(gradient, state)
    return optax.apply_updates(learned, update), state


for _ in range(500):
    learned, state = step(learned, state)

net = learned[0].astype(np.float64)  # with NumPy arrays, outputs are computed in float64, which a certificate needs
F = aggregation.expected_output(net, X)
r = float(np.mean((1 - y * F) / 2))
kl = float(aggregation.kl(net, prior.astype(np.float64)))
print(f"Gibbs risk {r:.3f} on {n} rows, KL {kl:.1f}, ln C {float(learned[1]):.2f}")
print(f"bound on the Gibbs risk: {bounds.gibbs_bound(r, kl, n, delta):.3f} (learned with {objective(learned):.3f})")
print(f"bound on the vote: {bounds.vote_bound(r, float(np.mean(((1 - y * F) / 2) ** 2)), kl, n, delta):.3f}")
