"""`Terms`: how a model was made and what to certify, fixed before the bound rows are seen."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Draw", "Expected", "Source", "Terms"]

Source = Literal["split", "init", "given", "test set"]
"""Where a model comes from: trained on other rows of the same table, the random initialisation as prior, a prior given
by the user, or a model fitted elsewhere."""

Draw = Literal["network", "tree", "predictor"]
"""What is drawn from a posterior: a network, a tree of PBGNet, or what an aggregation of your own stands for."""


@dataclass(frozen=True)
class Expected:
    """Expected risk and divergence of a posterior on the bound rows, computed from the first part only.

    Attributes
    ----------
    risk, kl : float
        Gibbs risk, and divergence from the prior in nats.
    tandem : float or None
        Probability that two draws both err.
    """

    risk: float
    kl: float = 2.0
    tandem: float | None = None

    @classmethod
    def from_losses(cls, losses: ArrayLike, kl: float = 2.0) -> "Expected":
        r"""Expected risk from the Gibbs losses on m validation rows of the first part, ``(1/2 + Σ p_i)/(m + 1)``.

        The added 1/2 and 1 avoid an expected risk of 0 on a few rows. In ten fits the divergence was .3 to 2.6 nats;
        with the guess of 2 the bound was .001 (median) above that at the best C.

        Examples
        --------
        >>> Expected.from_losses([0.0, 0.25, 0.5]).risk
        0.3125
        """
        values = np.clip(np.asarray(losses, np.float64), 0.0, 1.0)
        m = len(values) + 1
        return cls((0.5 + float(values.sum())) / m, float(kl), (0.25 + float((values**2).sum())) / m)


@dataclass(frozen=True)
class Terms:
    """How the model was made and what to certify, fixed before the bound rows are seen.

    Attributes
    ----------
    delta, n_candidates, source, trained, kl, vote_paths, drawn, period
        As in `abnet.certificates.facts.Facts`.
    vote : {"expectation", "fresh paths", "kept paths"} or None
        How ``predict`` decides, for a posterior trained on the bound rows: by the sign of the expected output, by a
        vote of paths drawn for each prediction, or of paths drawn once. None: no bound on the posterior covers
        ``predict``.
    expected : Expected or None
        Expected values from the first part, from which Catoni's C is chosen.
    floor : float
        A number in [0, 1/2) that no expected loss of the trained posterior can be below, on any row. It may depend on
        the posterior, as the divergence does.
    """

    delta: float = 0.05
    n_candidates: int = 1
    source: Source = "split"
    trained: bool = False
    kl: float = 0.0
    vote: Literal["expectation", "fresh paths", "kept paths"] | None = "expectation"
    vote_paths: int | None = None
    expected: Expected | None = None
    floor: float = 0.0
    drawn: Draw = "network"
    period: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise ValueError(f"delta must lie in (0, 1); got {self.delta}.")
        if self.n_candidates < 1:
            raise ValueError(f"n_candidates must be at least 1; got {self.n_candidates}.")
        if (self.vote == "kept paths") != (self.vote_paths is not None):
            raise ValueError("vote_paths must be given for a vote of kept paths, and for no other vote.")
        if not self.trained and self.kl:
            raise ValueError("kl must be 0 for a model that was not trained on the bound rows.")
        if not 0.0 <= self.floor < 0.5:
            raise ValueError(f"floor must lie in [0, 1/2); got {self.floor}.")
        if self.expected is not None and (not self.trained or self.source != "split"):
            raise ValueError("expected needs a first part (source='split') and a posterior trained on the other rows.")
        if self.trained and self.source == "test set":
            raise ValueError("the posterior was trained on these rows, so they cannot be a test set.")
