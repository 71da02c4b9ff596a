"""Data parallel training: each device works on its share of a minibatch.

The program is the same on one device and on many. Examples and weights are on all devices; minibatches are split among
them, and JAX's compiler adds the exchange of gradients. With `jax.distributed` the devices may belong to several
processes.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

__all__ = ["batch_mesh", "replicate", "split_rows", "whole"]


def batch_mesh(batch_size: int) -> Mesh | None:
    """All devices in a row, or None if there is one alone or they do not divide the batch."""
    devices = jax.devices()
    if len(devices) == 1 or batch_size % len(devices):
        return None
    return Mesh(np.array(devices), ("rows",))


def replicate(mesh: Mesh | None, tree: Any) -> Any:
    """Arrays of the host on all devices of the mesh."""
    if mesh is None:
        return tree
    sharding = NamedSharding(mesh, PartitionSpec())
    if jax.process_count() == 1:
        return jax.device_put(tree, sharding)
    return jax.tree.map(lambda leaf: _from_every_process(sharding, leaf), tree)


def _from_every_process(sharding: NamedSharding, leaf: Any) -> Any:
    """One array across processes, all of which hold the same values; keys have no NumPy form of their own."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_from_every_process(sharding, jax.random.key_data(leaf)))
    values = np.asarray(leaf)
    return jax.make_array_from_process_local_data(sharding, values, values.shape)


def split_rows(mesh: Mesh | None, array: Any) -> Any:
    """Inside a compiled program: the array's first axis split among the devices."""
    return array if mesh is None else _constrain(mesh, PartitionSpec("rows"), array)


def whole(mesh: Mesh | None, tree: Any) -> Any:
    """Inside a compiled program: all of every array on each device."""
    return tree if mesh is None else jax.tree.map(lambda leaf: _constrain(mesh, PartitionSpec(), leaf), tree)


def _constrain(mesh: Mesh, spec: PartitionSpec, array: Any) -> Any:
    return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, spec))
