"""`train_mixture`: the third step of a mixture trains the members on the examples."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abnet.networks.lifting import lift
from abnet.training.members import MixtureOutcome, learn_members
from abnet.training.posterior_learner import PosteriorLearner
from abnet.training.progress_bar import Report
from abnet.training.recipe import Recipe
from abnet.training.resolve import mixture_plan
from abnet.training.settings import Settings
from abnet.training.targets import Examples
from abnet.training.wide_members import TrainedMixture, may_be_replaced, wide_if_small_fall_short

__all__ = ["member_learner", "train_mixture"]

TOGETHER = 0.7
"""Weight of the loss of the mean output when distilled members of several classes are trained; the rest is the mean of
their own losses. The small members of two classes know too little alone, so there it is 1."""


def train_mixture(
    examples: Examples, recipe: Recipe, settings: Settings, rng: np.random.Generator, report: Report | None
) -> TrainedMixture:
    """Train the members; small members that fall short may be replaced (`abnet.training.wide_members`).

    Parameters
    ----------
    examples : Examples
    recipe : Recipe
    settings : Settings
    rng : numpy.random.Generator
        Draws the seed of the members.
    report : callable or None
    """
    plan = mixture_plan(settings, len(examples.inputs), distilled=examples.distilled)
    seed = int(rng.integers(2**31))
    targets = examples.softened()

    def train(recipe: Recipe, share_of_steps: float) -> MixtureOutcome:
        # Each recipe has its own generator, so that wide members are the same if they are requested explicitly.
        own_rng = np.random.default_rng([seed, recipe.n_estimators, *recipe.hidden_layer_sizes])
        return learn_members(
            member_learner(recipe, settings, examples.n_inputs, examples.n_classes),
            _LiftedRows(examples.inputs),
            targets,
            replace(plan, steps=max(round(share_of_steps * plan.steps), 1)),
            own_rng,
            weights=examples.weights,
            report=report,
            validation=examples.validation,
        )

    mixture = TrainedMixture(recipe, train(recipe, 1.0))
    if examples.distilled and may_be_replaced(settings, recipe):
        return wide_if_small_fall_short(mixture, settings.wide, examples.targets, train)
    return mixture


def member_learner(recipe: Recipe, settings: Settings, n_inputs: int, n_classes: int) -> PosteriorLearner:
    """The learner of the members that a recipe describes."""
    together = 1.0
    if n_classes > 2 and recipe.teacher is not None:
        together = TOGETHER
    return PosteriorLearner(
        sizes=(n_inputs, *recipe.hidden_layer_sizes, recipe.code_length),
        aggregation=settings.make(recipe.aggregation),
        n_members=recipe.n_estimators,
        n_classes=n_classes,
        together=together,
    )


@dataclass(frozen=True, eq=False)
class _LiftedRows:
    """Inputs that are lifted, and whose codes are written out, where they are used: all at once take much memory."""

    inputs: Any

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, some: Any) -> NDArray[np.float32]:
        return np.asarray(lift(np.asarray(self.inputs[some])))
