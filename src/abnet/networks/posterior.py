"""The posterior: Gaussians centred at M networks, their prior, and the aggregation. The paper has M = 1.

A hypothesis is a pair of a member index m, drawn uniformly, and a network drawn around that member. So the output is
the mean of the members' outputs, and the divergence is the mean of the members' divergences (docs/theory.md, section
10).

With NumPy arrays a posterior computes in NumPy, without JAX; with JAX arrays in JAX. `jax.jit`, `jax.vmap` and
`jax.grad` work on a posterior after `register_with_jax` has been called (training does this).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from abnet.networks.bam import BAM
from abnet.networks.cube import namespace
from abnet.networks.protocol import Aggregation
from abnet.networks.shapes import Float, Key, Matrices, Table
from abnet.utils.checks import finite

__all__ = ["Posterior", "register_with_jax"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """``Q = 1/M Σ_m N(w_m, σ² I)`` with the prior ``P = 1/M Σ_m N(v_m, I)``, one σ for each layer.

    A sign neuron does not depend on scale, so the output is that of the paper at ``w_k / σ_k``.

    Parameters
    ----------
    layers : tuple of arrays (M, d_k, d_{k-1} + 1)
        Centres w, biases in the last column.
    prior : tuple of arrays (M, d_k, d_{k-1} + 1)
        Centres v.
    log_sigma : tuple of scalars
        ``ln σ_k``; 0 is the paper's.
    aggregation : Aggregation

    Examples
    --------
    >>> from abnet.networks import Exact
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> moved = BAM((np.eye(2) + 1, np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> posterior = Posterior.from_networks([net, moved], [net, net], Exact())
    >>> posterior.n_members, posterior.sizes, float(posterior.kl())
    (2, (2, 2, 1), 1.0)
    """

    # No shapes here: JAX transformations rebuild a posterior with other objects in place of its arrays.
    layers: tuple[Any, ...]
    prior: tuple[Any, ...]
    log_sigma: tuple[Any, ...]
    aggregation: Aggregation

    @staticmethod
    def from_networks(
        networks: Sequence[BAM],
        priors: Sequence[BAM],
        aggregation: Aggregation,
        log_sigma: Sequence[float] | None = None,
    ) -> "Posterior":
        """The posterior centred at some networks, each with its own prior; ``σ = 1`` by default."""
        if len(networks) != len(priors) or not networks:
            raise ValueError(f"each network needs one prior; got {len(networks)} networks, {len(priors)} priors.")
        shapes = {network.sizes for network in (*networks, *priors)}
        if len(shapes) > 1:
            raise ValueError(f"all networks and priors must have the same sizes; got {sorted(shapes)}.")
        layers = _stacked(networks)
        prior = _stacked(priors)
        if log_sigma is None:
            log_sigma = (0.0,) * len(layers)
        if len(log_sigma) != len(layers):
            raise ValueError(
                f"log_sigma must have one number for each of the {len(layers)} layers; got {len(log_sigma)}."
            )
        xp = namespace(layers[0])
        scalars = tuple(xp.asarray(finite(f"log_sigma[{k}]", t), layers[0].dtype) for k, t in enumerate(log_sigma))
        return Posterior(layers, prior, scalars, aggregation)

    @property
    def n_members(self) -> int:
        """M."""
        return int(self.layers[0].shape[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """``(d_0, d_1, …, d_L)`` of every member."""
        return (int(self.layers[0].shape[2]) - 1, *(int(w.shape[1]) for w in self.layers))

    def kl(self) -> Float[Any, ""]:
        """Mean divergence of the members from their priors, in nats.

        For a certificate use ``astype(float64)`` first.
        """
        self._check_prior()

        def one(layers: Matrices, prior: Matrices) -> Any:
            return self.aggregation.kl(layers, prior, self.log_sigma)

        if self.n_members > 1 and namespace(self.layers[0]) is not np:
            import jax

            return jax.vmap(one)(self.layers, self.prior).mean()
        divergences = [one(_member(self.layers, m), _member(self.prior, m)) for m in range(self.n_members)]
        return mean_of_members(namespace(self.layers[0]).stack(divergences))

    def outputs(
        self, lifted: Float[Any, "rows _"], key: Key = None, table: Table = None, *, surrogate: bool = False
    ) -> Float[Any, "M rows *K"]:
        """Output of every member on lifted rows, shape (M, rows), or (M, rows, K) with a table.

        With `surrogate`, what training uses in its place (`abnet.networks.Aggregation.surrogate`).
        """
        scaled = self._scaled()
        keys = _keys(key, self.n_members)
        compute = self.aggregation.output
        if surrogate:
            compute = self.aggregation.surrogate

        def one(layers: Matrices, k: Key) -> Any:
            return compute(layers, lifted, k, table)

        if self.n_members == 1 or namespace(scaled[0]) is np:
            # With one member, drop the member axis in the compiled program: batched products of one are slower.
            outputs = [one(_member(scaled, m), k) for m, k in enumerate(keys)]
            return namespace(outputs[0]).stack(outputs)
        import jax

        if key is None:
            return jax.vmap(lambda layers: one(layers, None))(scaled)
        return jax.vmap(one)(scaled, keys)

    def output(self, lifted: Float[Any, "rows _"], key: Key = None, table: Table = None) -> Float[Any, "rows *K"]:
        """Mean output of the members; the expectation over the posterior if the aggregation is exact."""
        return mean_of_members(self.outputs(lifted, key, table))

    def member(self, m: int) -> BAM:
        """Member m in units of the deviations, ``w/σ``: the network that predictors, tables and exporters use."""
        if not 0 <= m < self.n_members:
            # JAX would take the last one instead.
            raise IndexError(f"the members are numbered from 0 to {self.n_members - 1}; got {m}.")
        return BAM.from_layers(_member(self._scaled(), m))

    @property
    def members(self) -> tuple[BAM, ...]:
        """Every `member`."""
        return tuple(self.member(m) for m in range(self.n_members))

    @property
    def map_network(self) -> BAM:
        """The MAP network: the centre w of a posterior with one member."""
        if self.n_members > 1:
            raise ValueError(f"a mixture of {self.n_members} members has no single MAP network: use member(m).")
        return BAM.from_layers(_member(self.layers, 0))

    def draw(self, key: Key) -> tuple[BAM, Float[Any, ""]]:
        """Draw a network ``h = w + σε`` of a random member, and return it with ``ln dQ/dP`` at h.

        The log-density ratio is ``Σ_k ‖d‖²/2 + σ d·ε + (σ² - 1)‖ε‖²/2 - D ln σ`` with ``d = w - v``. This expanded form
        avoids the cancellation of large terms.

        Parameters
        ----------
        key : numpy.random.Generator or JAX PRNG key
            With a generator it computes in float64.
        """
        if isinstance(key, np.random.Generator):
            return self.astype(np.float64)._at(_drawn_number(key, self.n_members), key)
        import jax

        first, second = jax.random.split(key)
        return self._at(_drawn_number(first, self.n_members), second)

    def _at(self, m: Any, key: Any) -> tuple[BAM, Any]:
        """A network drawn around member m, and its log density ratio."""
        self._check_prior()
        centre = BAM.from_layers(_member(self.layers, m))
        prior = BAM.from_layers(_member(self.prior, m))
        centres = (*centre.weights, *centre.biases)
        priors = (*prior.weights, *prior.biases)
        noise = _normals_like(centres, key)
        xp = namespace(centres[0])
        drawn = []
        ratio = 0.0
        for w, v, t, e in zip(centres, priors, self.log_sigma * 2, noise, strict=True):
            d = w - v
            sigma = xp.exp(t)
            ratio += (d * (d / 2 + sigma * e)).sum() + xp.expm1(2 * t) / 2 * (e**2).sum() - e.size * t
            drawn.append(w + sigma * e)
        depth = len(centre.weights)
        return BAM(tuple(drawn[:depth]), tuple(drawn[depth:])), ratio

    def as_prior(self) -> "Posterior":
        """The frozen posterior with the same output: centres w/σ for posterior and prior, and ``σ = 1``."""
        scaled = self._scaled()
        return replace(self, layers=scaled, prior=scaled, log_sigma=tuple(0 * t for t in self.log_sigma))

    def astype(self, dtype: Any) -> "Posterior":
        """The same posterior in NumPy arrays of another floating-point type."""

        def converted(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(np.asarray(array, dtype) for array in arrays)

        layers = converted(self.layers)
        prior = converted(self.prior)
        return Posterior(layers, prior, converted(self.log_sigma), self.aggregation)

    def _check_prior(self) -> None:
        """Raise a ValueError for a prior of other shapes: it would be broadcast, and the divergence would be wrong."""
        ours = [tuple(V.shape) for V in self.layers]
        theirs = [tuple(V.shape) for V in self.prior]
        if ours != theirs or len(self.log_sigma) != len(ours):
            raise ValueError(
                f"the members have layers {ours}, their priors {theirs}; there are {len(self.log_sigma)} deviations."
            )

    def _scaled(self) -> tuple[Any, ...]:
        """``w_k / σ_k``."""
        return tuple(w / namespace(w).exp(t) for w, t in zip(self.layers, self.log_sigma, strict=True))


def mean_of_members(outputs: Float[Any, "M *rest"]) -> Float[Any, "*rest"]:
    """The mean over the leading axis; for one member, the member itself."""
    if len(outputs) == 1:
        return outputs[0]
    return outputs.mean(axis=0)


@cache
def register_with_jax() -> None:
    """Make `Posterior` a pytree; its aggregation is static."""
    import jax

    data = ["layers", "prior", "log_sigma"]
    jax.tree_util.register_dataclass(Posterior, data_fields=data, meta_fields=["aggregation"])


def _stacked(networks: Sequence[BAM]) -> tuple[Any, ...]:
    """The layers of all networks, each stacked over the networks."""
    xp = namespace(networks[0].weights[0])
    by_network = [network.layers for network in networks]
    return tuple(xp.stack(same_layer) for same_layer in zip(*by_network, strict=True))


def _member(stacked: tuple[Any, ...], m: Any) -> tuple[Any, ...]:
    """The layers of member m."""
    return tuple(V[m] for V in stacked)


def _keys(key: Any, count: int) -> Any:
    """A key for each member: with one member the key itself; a generator is used for all."""
    if key is None or count == 1 or isinstance(key, np.random.Generator):
        return [key] * count
    import jax

    return jax.random.split(key, count)


def _drawn_number(key: Any, count: int) -> Any:
    """A number below `count`, each equally likely."""
    if count == 1:
        return 0
    if isinstance(key, np.random.Generator):
        return int(key.integers(count))
    import jax

    return jax.random.randint(key, (), 0, count)


def _normals_like(arrays: Sequence[Any], key: Any) -> list[Any]:
    """Standard normal numbers in the shapes of some arrays."""
    if isinstance(key, np.random.Generator):
        return [key.standard_normal(a.shape) for a in arrays]
    import jax

    keys = jax.random.split(key, len(arrays))
    return [jax.random.normal(k, a.shape, a.dtype) for k, a in zip(keys, arrays, strict=True)]
