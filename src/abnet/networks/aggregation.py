"""What an aggregation is, and what all of them share: the linear loss and checks."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from abnet.networks.bam import BAM
from abnet.networks.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table

__all__ = [
    "WIDEST_BY_LIBRARY",
    "WIDEST_IN_SEQUENCE",
    "Aggregation",
    "check_hidden_layer",
    "check_outputs",
    "linear_loss",
]

WIDEST_IN_SEQUENCE = 10
"""Exact layers up to this width are trained with kernels in sequence; from 12 units on a second core is worth it."""
WIDEST_BY_LIBRARY = 6
"""Exact layers up to this width are trained with XLA's kernel library; its sums over larger tables are slow."""


@runtime_checkable
class Aggregation(Protocol):
    """Base class of aggregations: the output and the divergence of Gaussians centred at a network.

    An aggregation is frozen and hashable, so it can be a static argument of compiled programs. The five built-in ones
    are `Exact`, `PBGNet`, `Uniform`, `SampledPBGNet` and `Ancestral`. To define another one, inherit from this class
    and implement `output` and `kl`; by default it gives estimates, not certificates.
    `abnet.networks.posterior.Posterior`, the training loop and the classifiers accept it without changes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from abnet.networks import exact
    >>> from abnet.networks.gaussian_kl import gaussian_kl
    >>> from abnet.networks.bam import BAM
    >>> @dataclass(frozen=True)
    ... class Shrunk(Aggregation):
    ...     share: float = 0.5
    ...
    ...     def output(self, layers, lifted, key=None, table=None):
    ...         return self.share * exact.output(layers, lifted, table)
    ...
    ...     def kl(self, layers, prior, log_sigma):
    ...         return gaussian_kl(layers, prior, log_sigma)
    >>> net = BAM((np.eye(2), np.ones((1, 2))), (np.zeros(2), np.zeros(1)))
    >>> X = np.array([[3.0, 3.0]])
    >>> float(Shrunk()(net, X)[0] / exact.expected_output(net, X)[0])
    0.5
    """

    certified: ClassVar[bool] = False
    """Whether `output` is the expected output of a draw from the posterior of `kl`, so that PAC-Bayes bounds hold."""

    sampled: ClassVar[bool] = False
    """Whether `losses` samples: the expectation cannot be computed, and fresh draws estimate it without bias."""

    def in_sequence(self, sizes: tuple[int, ...]) -> bool:
        """Compiler hint: whether steps at these sizes are so short that kernels run fastest in sequence."""
        return False

    def output_error(self, layers: Matrices) -> float:
        """Proved upper bound on the error of `output` in NumPy in float64; 0 if there is no such proof."""
        return 0.0

    def by_library(self, sizes: tuple[int, ...]) -> bool:
        """Compiler hint: whether XLA may use its kernel library, which is slow for sums over large tables."""
        return False

    @abstractmethod
    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """The output, or an estimate of it.

        Parameters
        ----------
        layers : tuple of arrays (d_k, d_{k-1} + 1)
            ``V_k = (W_k, b_k)``, in units of the layer's standard deviation.
        lifted : array (rows, d_0 + 1)
            Inputs as unit vectors (`abnet.networks.lifting.lift`).
        key : JAX PRNG key
            Ignored if nothing is drawn.
        table : array (2**d_L, K), optional
            Class probabilities of each output (`abnet.networks.codebook.decode_table`).

        Returns
        -------
        array (rows,) in [-1, 1], or (rows, K) with a table
        """

    def surrogate(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """What training uses instead of `output`, with the same parameters and result; by default `output` itself."""
        return self.output(layers, lifted, key, table)

    @abstractmethod
    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Divergence of ``N(layers, σ_k² I)`` from ``N(prior, I)``, in nats."""

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses | None:
        """Linear loss of each row, exact or of one fresh draw; None if no unbiased loss is available.

        The mean over keys is the Gibbs risk. Parameters are those of `output`, and `targets` as in `linear_loss`.
        """
        return None

    def __call__(self, bam: BAM, X: ArrayLike, key: Key = None, table: Table = None) -> Float[Any, "n *K"]:
        """Output of a network on plain inputs.

        Parameters
        ----------
        bam : BAM
            The centre of the aggregation, ``σ = 1``.
        X : array (n, d_0)
        key : JAX PRNG key
            Required if something is drawn.
        table : array (2**d_L, K), optional
            As for `output`.

        Returns
        -------
        array (n,), or (n, K) with a table
        """
        from abnet.networks.lifting import lifted_inputs

        return self.output(bam.layers, lifted_inputs(bam, X), key, table)


def linear_loss(outputs: Float[Any, "rows *classes"], targets: Float[Any, "rows *classes"]) -> Float[Any, "rows"]:
    """Probability that a drawn network errs: ``(1 - yF)/2`` for labels ±1, ``1 - Σ_c y_c P_c`` for several classes.

    Targets may be soft: expected labels in [-1, 1], or distributions over the classes.

    Examples
    --------
    >>> import numpy as np
    >>> linear_loss(np.array([0.5, -1.0]), np.array([1.0, 1.0]))
    array([0.25, 1.  ])
    """
    if outputs.shape != targets.shape:
        raise ValueError(f"outputs and targets must have the same shape; got {outputs.shape} and {targets.shape}.")
    if outputs.ndim == 1:
        return 0.5 - 0.5 * targets * outputs
    return 1 - (targets * outputs).sum(axis=-1)


def check_outputs(layers: Matrices, table: Table) -> None:
    """Raise a ValueError for several output neurons without a table, and for a table of another size."""
    d = layers[-1].shape[0]
    if table is None and d != 1:
        raise ValueError(f"the network has {d} output neurons: pass a table that maps their signs to classes.")
    if table is not None and (table.ndim != 2 or table.shape[0] != 2**d):
        raise ValueError(f"the table for {d} output neurons must have {2**d} rows; got the shape {table.shape}.")


def require_key(key: Key, name: str) -> None:
    """Raise a ValueError if a sampled aggregation has no key."""
    if key is None:
        raise ValueError(f"{name} samples: pass a key, for instance jax.random.key(0).")


def check_hidden_layer(layers: Matrices) -> None:
    """Raise a ValueError for a network without a hidden layer, which has no representations to draw."""
    if len(layers) < 2:
        raise ValueError("sampling needs a hidden layer, and this network has none: use Exact.")


def refuse_table(table: Table, name: str) -> None:
    """Raise a ValueError if an aggregation for two classes is given a table for several."""
    if table is not None:
        raise ValueError(f"{name} takes no table: it supports two classes only. Use Exact or Ancestral.")
