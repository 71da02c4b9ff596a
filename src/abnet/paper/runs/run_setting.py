"""The setting of a run: data set, model, sizes, learning rate and repetition."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from abnet.networks import FanInUniform, GlorotNormal, Initialisation

__all__ = ["Architecture", "FAMILIES", "MODELS", "Setting", "VARIANTS", "Variant", "architecture_of"]

Architecture: TypeAlias = Literal["narrow", "wide"]
MODELS = ("PBGNet", "ABNet", "PBGNet_l", "ABNet_l", "EBP", "BC", "BNN")
"""The models of Table 1, in its order; `_l` stands for the paper's subscript ℓ."""
FAMILIES = (("PBGNet", "ABNet"), ("PBGNet_l", "ABNet_l"), ("EBP",), ("BC",), ("BNN",))
"""Models that read the same training rows in the same minibatches, so that they can share one compiled program."""
WIDEST_NARROW = 8


@dataclass(frozen=True)
class Variant:
    """What a variant changes in the protocol; none of it needs another bound.

    Attributes
    ----------
    initialisation
        How the random networks of PBGNet and ABNet are drawn. Each of them is also the prior of its bound.
    warm_up
        Epochs on the linear loss before the bound; the prior stays the initialisation.
    deviations
        Whether the standard deviation of each layer is learned with the weights.
    restarts
        Initialisations trained on each split, the one with the lowest bound kept: each is a prior of its own, so every
        bound is computed at δ divided by their number.
    centre_surround
        Whether images are passed through `abnet.paper.data.centre_surround`, a fixed map, before training.
    candidates
        Priors among which the best one is chosen by its bound: every bound is computed at δ divided by their number.
        Learning rates need no such payment, because one bound holds for every posterior.
    common_procedure
        Whether BC is trained by the procedure of ABNetℓ: inputs that are not standardised once more, batches of 32 or
        64, and a rate that is halved.
    exact
        Whether wide PBGNet computes its expected output instead of sampling it, in training and in measurement.
    """

    initialisation: Initialisation = GlorotNormal()  # noqa: RUF009 (a frozen value)
    warm_up: int = 0
    deviations: bool = False
    restarts: int = 1
    centre_surround: bool = False
    candidates: int = 1
    common_procedure: bool = False
    exact: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The models that can be trained in this way."""
        if self.common_procedure:
            return ("BC",)
        if self.exact:
            return ("PBGNet",)
        if self.warm_up or self.deviations or self.restarts > 1 or self.candidates > 1:
            return ("PBGNet", "ABNet")  # only the bound can train deviations and rank restarts
        return ("PBGNet", "ABNet", "PBGNet_l", "ABNet_l")


_SMALL = GlorotNormal(gain=0.5)
_PRIORS = 3
"""Priors that `small` and `surround` compare on a data set: a hidden layer, none, none on centre-surround images."""

VARIANTS = {
    "fan-in": Variant(initialisation=FanInUniform()),
    "common": Variant(common_procedure=True),
    "exact": Variant(exact=True),
    "warm-up": Variant(warm_up=2),
    "deviations": Variant(deviations=True),
    "both": Variant(warm_up=2, deviations=True),
    "restarts": Variant(warm_up=2, deviations=True, restarts=4),
    "small": Variant(initialisation=_SMALL, deviations=True, candidates=_PRIORS),
    "surround": Variant(initialisation=_SMALL, deviations=True, centre_surround=True, candidates=_PRIORS),
}
"""Variants of the protocol, by name. `abnet.paper.protocol.TABLE1_VARIANTS` says which rows of Table 1 use one."""


@dataclass(frozen=True)
class Setting:
    """One run: a model with its sizes and learning rate, on one split of one data set.

    Parameters
    ----------
    dataset
        Name for `abnet.paper.load`.
    model
        One of `MODELS`.
    hidden_layer_sizes
        Units of each hidden layer, leading layer first; none for a linear network.
    learning_rate
        Adam's rate; None for EBP, which has none.
    repetition
        Seed of the train/test split and of the initialisation.
    trial_epochs
        The most epochs of a trial (`abnet.paper.reproduction.race`); None for a run in full.
    variant
        A name in `VARIANTS`; None for the protocol without changes.

    Examples
    --------
    >>> setting = Setting("ads", "ABNet", (4, 4, 4), 0.01, 0)
    >>> setting.hidden_layers, setting.width, setting.architecture
    (3, 4, 'narrow')
    """

    dataset: str
    model: str
    hidden_layer_sizes: tuple[int, ...]
    learning_rate: float | None
    repetition: int
    trial_epochs: int | None = None
    variant: str | None = None

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model {self.model!r} is unknown; choose from {', '.join(MODELS)}")
        if min(self.hidden_layer_sizes, default=1) < 1:
            raise ValueError(f"hidden_layer_sizes must be positive, got {self.hidden_layer_sizes}")
        if (self.learning_rate is None) != (self.model == "EBP"):
            raise ValueError(
                f"learning_rate={self.learning_rate} with {self.model}: EBP takes None, the others a number"
            )
        if self.trial_epochs is not None and self.trial_epochs < 1:
            raise ValueError(f"trial_epochs must be at least 1, got {self.trial_epochs}")
        if self.variant is not None:
            self._check_variant(self.variant)

    def _check_variant(self, variant: str) -> None:
        if variant not in VARIANTS:
            raise ValueError(f"variant {variant!r} is unknown; choose from {', '.join(VARIANTS)}")
        models = VARIANTS[variant].models
        if self.model not in models:
            raise ValueError(f"variant {variant!r} with {self.model}: it is a variant of {', '.join(models)}")

    @property
    def hidden_layers(self) -> int:
        """Number of hidden layers."""
        return len(self.hidden_layer_sizes)

    @property
    def width(self) -> int:
        """Units of the widest hidden layer; 0 for a linear network."""
        return max(self.hidden_layer_sizes, default=0)

    @property
    def architecture(self) -> Architecture:
        """Table 1's half."""
        return architecture_of(self.hidden_layer_sizes)

    @property
    def family(self) -> tuple[str, ...]:
        """The models this one can train with."""
        return next(family for family in FAMILIES if self.model in family)


def architecture_of(hidden_layer_sizes: tuple[int, ...]) -> Architecture:
    """Table 1's half: "narrow" (exact aggregation) up to 8 units, "wide" (stochastic) above."""
    if max(hidden_layer_sizes, default=0) <= WIDEST_NARROW:
        return "narrow"
    return "wide"
