"""`MixturePlan`: how long and how fast the members of a mixture are trained."""

from dataclasses import dataclass

__all__ = ["MixturePlan"]


@dataclass(frozen=True)
class MixturePlan:
    """How the members of a mixture are trained.

    Parameters
    ----------
    steps : int
        Total number of minibatches, rounded to whole epochs.
    batch_size : int
    rate : float
        Initial learning rate of Adam, before the cosine decay.
    most_epochs : int
        Maximum number of epochs, for few rows.
    linear : bool
        Whether a second stage, with half as many epochs and a fifth of the rate, minimises the linear loss, which is
        the Gibbs risk.
    """

    steps: int = 4000
    batch_size: int = 128
    rate: float = 0.1
    most_epochs: int = 100
    linear: bool = False

    def epochs(self, n_rows: int) -> int:
        """Whole epochs of about `steps` minibatches.

        Examples
        --------
        >>> [MixturePlan().epochs(n) for n in (4_150, 22_000, 10**7)]
        [100, 23, 1]
        """
        steps_per_epoch = -(-n_rows // self.batch_size)
        epochs = max(round(self.steps / steps_per_epoch), 1)
        return min(epochs, self.most_epochs)
