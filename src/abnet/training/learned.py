"""Input and result of training, the same for one network and for a mixture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from abnet.certificates.validation_scores import ValidationScores
from abnet.model.calibration import Calibration
from abnet.model.deployment import deploy
from abnet.model.predictors.moments import MomentsPredictor
from abnet.model.predictors.predictor import Predictor
from abnet.networks.codebook import code_words
from abnet.networks.posterior import Posterior
from abnet.tables.labels import Labels
from abnet.training.features import Features
from abnet.training.recipe import Recipe
from abnet.training.shortfall import Shortfall
from abnet.utils.coded_rows import Inputs

__all__ = ["BoundRows", "Learned", "PreparedRows", "deployed", "words_of"]


class BoundRows(NamedTuple):
    """Bound rows, or a block of them."""

    X: Inputs
    codes: NDArray[np.intp]
    """Classes, 0 to K - 1; K for an unknown label, for which every answer is an error."""
    groups: NDArray[Any] | None = None
    keys: NDArray[np.intp] | None = None
    """Positions in the order for betting bounds; None if the rows are in this order."""

    @property
    def betting_keys(self) -> NDArray[np.intp]:
        """Positions in the order for betting bounds."""
        if self.keys is None:
            return np.arange(len(self.codes))
        return self.keys


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Prepared rows with their labels, those of the first part first.

    Attributes
    ----------
    features : Features
    codes : int array (n,)
        Classes, 0 to K - 1; K for a bound row with an unknown label.
    labels : Labels
        The classes that the model knows.
    n_rows : int
        Number of rows of the whole fit, streamed rows included.
    weights : float array (n,) or None
        Sample weights, scaled to mean 1 in each of the two parts.
    groups : array (n,) or None
        Group of each row; rows of a group are neighbours.
    """

    features: Features
    codes: NDArray[np.intp]
    labels: Labels
    n_rows: int
    weights: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None

    @property
    def n_first(self) -> int:
        """Rows of the first part."""
        return self.features.n_first

    @property
    def n_draws(self) -> int | None:
        """Number of groups among the bound rows; None if the rows are not in groups."""
        if self.groups is None:
            return None
        return len(np.unique(self.groups[self.n_first :]))

    def bound(self) -> BoundRows:
        """The bound rows."""
        rows = slice(self.n_first, None)
        return BoundRows(self.features.inputs(rows), self.codes[rows], _rows_of(self.groups, rows))

    def first_part(self) -> "PreparedRows":
        """The rows of the first part only, so that training cannot use the bound rows."""
        rows = slice(self.n_first)
        return replace(
            self,
            features=replace(self.features, base=self.features.base[rows]),
            codes=self.codes[rows],
            weights=_rows_of(self.weights, rows),
            groups=_rows_of(self.groups, rows),
        )


def _rows_of(values: NDArray[Any] | None, rows: slice) -> NDArray[Any] | None:
    """The values of some rows; None if there are no values."""
    if values is None:
        return None
    return values[rows]


@dataclass(frozen=True, eq=False)
class Learned:
    """Result of training one network or a mixture.

    Attributes
    ----------
    posterior : Posterior
    recipe : Recipe
        The recipe that was used.
    held : ValidationScores or None
        Scores of rows of the first part by models that were not trained on them; None without a first part.
    calibration : Calibration or None
    curves : mapping
        Maps the name of the monitored quantity to its values at the start and after every epoch.
    interrupted : bool
    distilled_from : str or None
        The teachers and their shares in words; None without teachers.
    teachers_error : float or None
        Out-of-fold error rate of the pool of teachers on the training rows; None without teachers.
    shortfall : Shortfall or None
        Errors of the networks and their teachers, if the networks make clearly more.
    C : float or None
        The C of Catoni's bound, if the posterior was trained through it.
    """

    posterior: Posterior
    recipe: Recipe
    held: ValidationScores | None = None
    calibration: Calibration | None = None
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict)
    interrupted: bool = False
    distilled_from: str | None = None
    teachers_error: float | None = None
    shortfall: Shortfall | None = None
    C: float | None = None


def deployed(recipe: Recipe, posterior: Posterior, n_classes: int, rng: np.random.Generator) -> Predictor:
    """The predictor of a posterior; a sampled predictor keeps the draws that it makes here."""
    words = words_of(posterior, n_classes)
    if recipe.aggregation == "moments":
        return MomentsPredictor.from_networks(posterior.members, words)
    return deploy(posterior.aggregation, posterior.members, rng, words)


def words_of(posterior: Posterior, n_classes: int) -> NDArray[np.int8] | None:
    """The code words of the networks' outputs; None for two classes."""
    if n_classes == 2:
        return None
    return code_words(n_classes, posterior.sizes[-1])
