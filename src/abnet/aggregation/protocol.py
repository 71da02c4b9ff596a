"""What an aggregation is, and what all of them share: the linear loss and checks."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from abnet.bam import BAM
from abnet.shapes import Answers, Float, Key, Lifted, Losses, Matrices, Table

__all__ = ["WIDEST_IN_SEQUENCE", "Aggregation", "check_hidden_layer", "check_outputs", "linear_loss"]

WIDEST_IN_SEQUENCE = 10
"""Exact layers up to this width are trained by one kernel after the other: at 12 units a second core pays."""


@runtime_checkable
class Aggregation(Protocol):
    """How a Gaussian around one network becomes an output and a divergence.

    A value: frozen, hashable, and so a static argument of compiled programs. `Exact`, `PBGNet`, `Uniform`,
    `SampledPBGNet` and `Ancestral` are five. For another one, inherit from this class and write `output` and
    `kl`; the rest has defaults that promise nothing. It goes into `abnet.posterior.Posterior`, the training loop and
    the classifiers as it is.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from abnet.aggregation import exact
    >>> from abnet.aggregation.gaussian_kl import gaussian_kl
    >>> from abnet.bam import BAM
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
    """Whether a theorem covers the risk of what the aggregation stands for."""

    sampled: ClassVar[bool] = False
    """Whether `losses` draws: the expectation cannot be computed, and fresh draws estimate it without bias."""

    by_library: ClassVar[bool] = False
    """Compiler hint: whether XLA may use its library of kernels, which is slow in sums over tables."""

    def in_sequence(self, sizes: tuple[int, ...]) -> bool:
        """Compiler hint: whether steps at these sizes are so short that one kernel after the other is fastest."""
        return False

    @abstractmethod
    def output(self, layers: Matrices, lifted: Lifted, key: Key = None, table: Table = None) -> Answers:
        """The output that training sees; it may be a surrogate.

        Parameters
        ----------
        layers : tuple of arrays (d_k, d_{k-1} + 1)
            ``V_k = (W_k, b_k)``, in units of the layer's standard deviation.
        lifted : array (rows, d_0 + 1)
            Inputs as unit vectors (`abnet.aggregation.exact.lift`).
        key : JAX PRNG key
            Of no use where nothing is drawn.
        table : array (2**d_L, K), optional
            Class probabilities of each output (`abnet.codebook.decode_table`).

        Returns
        -------
        array (rows,) in [-1, 1], or (rows, K) with a table
        """

    @abstractmethod
    def kl(self, layers: Matrices, prior: Matrices, log_sigma: Sequence[Any]) -> Float[Any, ""]:
        """Divergence of ``N(layers, σ_k² I)`` from ``N(prior, I)``, in nats."""

    def losses(
        self, layers: Matrices, lifted: Lifted, targets: Answers, key: Key = None, table: Table = None
    ) -> Losses | None:
        """Linear loss of each row, computed or of one fresh draw; None where only estimates can be had.

        The mean over keys is the Gibbs risk. Parameters are those of `output`; `targets` those of `linear_loss`.
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
            Where something is drawn.
        table : array (2**d_L, K), optional
            As for `output`.

        Returns
        -------
        array (n,), or (n, K) with a table
        """
        from abnet.aggregation.exact import lifted_inputs

        return self.output(bam.layers, lifted_inputs(bam, X), key, table)


def linear_loss(outputs: Float[Any, "rows *classes"], targets: Float[Any, "rows *classes"]) -> Float[Any, "rows"]:
    """Probability that a drawn network errs: ``(1 - yF)/2`` for labels ±1, ``1 - Σ_c y_c P_c`` for distributions.

    Soft targets are expected labels, in [-1, 1], or distributions over the classes.

    Examples
    --------
    >>> import numpy as np
    >>> linear_loss(np.array([0.5, -1.0]), np.array([1.0, 1.0]))
    array([0.25, 1.  ])
    """
    if outputs.shape != targets.shape:
        raise ValueError(f"outputs of the shape {outputs.shape} need as many targets; got {targets.shape}.")
    if outputs.ndim == 1:
        return 0.5 - 0.5 * targets * outputs
    return 1 - (targets * outputs).sum(axis=-1)


def check_outputs(layers: Matrices, table: Table) -> None:
    """Refuse several output neurons without a table, and a table for another number of them."""
    d = layers[-1].shape[0]
    if table is None and d != 1:
        raise ValueError(f"the network has {d} output neurons, whose signs mean nothing without a table: pass one.")
    if table is not None and (table.ndim != 2 or table.shape[0] != 2**d):
        raise ValueError(f"a table for {d} output neurons has the shape ({2**d}, classes); got {table.shape}.")


def require_key(key: Key, name: str) -> None:
    """Refuse to draw without a key."""
    if key is None:
        raise ValueError(f"{name} draws: pass a key, for instance jax.random.key(0).")


def check_hidden_layer(layers: Matrices) -> None:
    """Refuse a network whose representations cannot be drawn, because it has none."""
    if len(layers) < 2:
        raise ValueError("sampling draws the signs of hidden layers, and this network has no hidden layer: use Exact.")


def refuse_table(table: Table, name: str) -> None:
    """Refuse several classes where an aggregation has two."""
    if table is not None:
        raise ValueError(f"{name} tells two classes apart: it has no table. Use Exact or Ancestral for several.")
