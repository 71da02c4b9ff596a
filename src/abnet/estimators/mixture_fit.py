"""Fitting a mixture: the parts, the lesson, the members, the certificate, in this order.

Everything up to the finished predictor sees the first part of the rows alone; the bound rows are counted at the end.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from abnet.aggregation.exact import kl as divergence
from abnet.aggregation.exact import lift
from abnet.bam import BAM
from abnet.calibration import Calibration
from abnet.certificates.certify import Terms
from abnet.certificates.evidence import Evidence, observe
from abnet.certificates.held import Held
from abnet.codebook import code_words
from abnet.estimators.certification import Losses, frozen_losses, one_thread, sampled_losses
from abnet.estimators.deployment import deploy as deploy_members
from abnet.estimators.recipe import (
    AGGREGATIONS,
    CLEARLY_LESS,
    LESS,
    MUCH,
    TRIAL,
    WIDE_MEMBERS,
    WIDE_NEURONS,
    Recipe,
    may_go_wide,
)
from abnet.labels import Labels, losses_of, winners
from abnet.memory import return_memory
from abnet.posterior import Posterior
from abnet.predictors.predictor import Predictor
from abnet.threads import cores
from abnet.training.teachers import Lesson, Teaching, teach, teachers_named
from abnet.words import number_of

if TYPE_CHECKING:
    from abnet.training.members import MixtureOutcome

__all__ = [
    "Members",
    "bound_weights",
    "deploy",
    "learn_prior_members",
    "member_losses",
    "observe_mixture",
    "train_members",
]

MOST_INPUTS = 2**26
"""Numbers in the rows that teachers make, codes included: a quarter of a gigabyte."""
MOST_ANSWERS = 2**23
"""Probabilities that teachers give to the rows they make: fewer rows are made for more than 139 classes."""
MOST_TAUGHT = 4_000_000
"""Cells, rows times features, that teachers learn from: of more rows a random part."""


@dataclass(frozen=True, eq=False)
class Members:
    """What prior learning leaves: the recipe in the end, the members, how their votes become probabilities, who taught
    them, the curve, and the held rows.
    """

    recipe: Recipe
    networks: tuple[BAM, ...]
    calibration: Calibration | None
    taught_by: str | None
    curve: list[float]
    interrupted: bool
    held: Held


def learn_prior_members(
    recipe: Recipe,
    estimator: Any,
    base: NDArray[np.float32],
    coded: Any,
    cells: NDArray[np.intp],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64] | None,
    n_classes: int,
    rng: np.random.Generator,
    report: Any,
    groups: NDArray[Any] | None = None,
) -> Members:
    """Learn the members from the first part.

    Parameters
    ----------
    recipe : Recipe
    estimator : MixtureClassifier
        For its teacher, learning rate, epochs and class weights.
    base : array (n, d)
        Prepared rows of the first part.
    coded : CodedMap or None
        Codes to put beside them.
    cells : array (d,)
        Which column every prepared feature comes from.
    codes : array (n,)
        Classes, 0 to K - 1.
    weights : array (n,), optional
    n_classes : int
    rng : numpy.random.Generator
    report : callable or None
    groups : array (n,), optional
        The rows' groups, one after the other: whole groups are watched, or left out by a teacher.
    """
    from abnet.training.members import learn_members
    from abnet.training.posterior_learner import PosteriorLearner
    from abnet.weights import scaled

    teacher = recipe.teacher if isinstance(estimator.teacher, str) else estimator.teacher
    teaching, chosen = _taught(teacher, base, codes, n_classes, rng, report, groups, weights)
    base, codes = base[chosen], codes[chosen]
    watched = None if groups is None else _last_groups(groups[chosen])
    if watched is None and teaching is None and estimator.class_weight is not None:
        watched = _some_of_each_class(codes, rng)
    lesson = Lesson(base, np.eye(n_classes)[codes], len(base))
    if teaching is not None:
        width = base.shape[1] if coded is None else coded.n_features_out
        most = min(MOST_INPUTS // width, MOST_ANSWERS // n_classes)
        lesson = teach(teaching, base, codes, cells, rng, most, watched)
        teaching = teaching.dismissed()  # a forest takes as much room as a lesson
        return_memory()
    own = np.ones(len(base)) if weights is None else scaled(weights[chosen])
    shares = np.concatenate([own, np.ones(len(lesson.X) - len(base))])
    per_class = _class_weights(estimator.class_weight, codes, estimator.classes_)
    targets, shares = _weighted(lesson.targets, shares, per_class)
    shares = scaled(shares)
    rows = np.asarray(lesson.X, np.float32) if coded is None else coded.rows(lesson.X)
    lifted, wanted = _Lifted(rows), 2 * targets[:, 1] - 1 if n_classes == 2 else targets
    plan, seed = _plan(estimator, len(rows), taught=teaching is not None), int(rng.integers(2**31))

    def learned(recipe: Recipe, share: float = 1.0) -> "MixtureOutcome":
        aggregation = AGGREGATIONS[recipe.aggregation](estimator.n_samples)
        sizes = (rows.shape[1], *recipe.hidden_layer_sizes, recipe.code_length)
        # A stream of its own for each recipe: one that was tried second is repeated by its parameters alone.
        own_rng = np.random.default_rng([seed, recipe.n_estimators, *recipe.hidden_layer_sizes])
        learner = PosteriorLearner(sizes, aggregation, recipe.n_estimators, n_classes)
        shorter = replace(plan, steps=max(round(share * plan.steps), 1))
        return learn_members(
            learner, lifted, wanted, shorter, own_rng, weights=shares, report=report,
            watched_rows=watched,
        )  # fmt: skip

    outcome = learned(recipe)
    if teaching is not None and may_go_wide(estimator, recipe):
        recipe, outcome = _wider_if_asked(recipe, outcome, targets, learned)
    if teaching is not None:
        held = Held.from_shares(_weighted(teaching.unseen, np.ones(len(codes)), per_class)[0], codes)
    else:
        held = _scored(recipe, outcome, rows, codes, n_classes, estimator.n_samples)
    calibration = None
    if teaching is not None or outcome.watched is not None:
        counted = np.ones(n_classes) if per_class is None else per_class
        truths = np.eye(n_classes)[held.codes] * scaled(counted[held.codes])[:, None]
        calibration = Calibration.fitted(held.shares, truths)
    taught_by = None if teaching is None else teaching.describe()
    return Members(recipe, outcome.networks, calibration, taught_by, outcome.curve, outcome.interrupted, held)


@dataclass(frozen=True, eq=False)
class _Lifted:
    """Rows that are written out and lifted where they are asked for: with their codes they take ten times the space."""

    rows: Any

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: Any) -> NDArray[np.float32]:
        return np.asarray(lift(np.asarray(self.rows[some])))


def _wider_if_asked(
    recipe: Recipe,
    outcome: "MixtureOutcome",
    targets: NDArray[np.float64],
    learned: "Callable[..., MixtureOutcome]",
) -> "tuple[Recipe, MixtureOutcome]":
    """Wide members, if the small ones leave much of the lesson unlearned, and wide ones leave clearly less of it.

    A trial of a quarter of the steps comes first, since the training of wide members takes longer than all else in a
    fit: those that are then hardly ahead of the small ones are not clearly ahead of them in the end.
    """
    if outcome.interrupted or outcome.watched is None:
        return recipe, outcome
    gap = unlearned(targets[outcome.watched], min(outcome.curve))
    if gap <= MUCH:
        return recipe, outcome
    wide = replace(recipe, hidden_layer_sizes=WIDE_NEURONS, n_estimators=WIDE_MEMBERS, aggregation="ancestral")
    for share, may_leave in ((TRIAL, LESS), (1.0, CLEARLY_LESS)):
        return_memory()
        other = learned(wide, share)
        if other.watched is None or unlearned(targets[other.watched], min(other.curve)) > may_leave * gap:
            return recipe, outcome
    return wide, other


def unlearned(targets: NDArray[np.float64], loss: float) -> float:
    """Share of what the teachers tell about rows that a mixture with this log loss there has not learned.

    The teachers tell ``H(mean target) - mean H(target)`` nats a row, and ``loss - mean H(target)`` of them are missing.

    Examples
    --------
    >>> sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> round(unlearned(sure, 0.0), 3), round(unlearned(sure, np.log(2)), 3)
    (0.0, 1.0)
    """
    own, mean = entr(targets).sum(axis=1).mean(), entr(targets.mean(axis=0)).sum()
    return float((loss - own) / max(mean - own, 1e-9))


def _taught(
    teacher: Any,
    base: NDArray[np.float32],
    codes: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
    report: Any,
    groups: NDArray[Any] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Teaching | None, NDArray[np.intp]]:
    """The fitted teachers, if there are to be any, and the rows that they and the members learn from."""
    every = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
    if not len(every):
        raise ValueError("all rows of the first part have the sample weight 0: give more rows a weight.")
    if teacher is None or len(np.unique(codes[every])) < 2:
        return None, every
    seed = int(rng.integers(2**31))
    chosen = np.sort(rng.permutation(every)[: max(MOST_TAUGHT // max(base.shape[1], 1), 2_000)])
    models = teachers_named(teacher, seed, len(chosen), n_classes)
    told = _teacher_report(report, len(models))
    known, own = (None if given is None else given[chosen] for given in (groups, weights))
    teaching = Teaching.of(models, base[chosen], codes[chosen], n_classes, seed, told, known, own)
    return (None, every) if teaching is None else (teaching, chosen)


def _last_groups(groups: NDArray[Any]) -> NDArray[np.intp] | None:
    """Rows of the last groups, about an eighth of all: they say which epoch to keep. None if there is one group."""
    from abnet.groups import held_rows
    from abnet.training.members import WATCHED

    held = held_rows(groups, min(1 / 8, WATCHED / len(groups)))
    held = held or held_rows(groups, 1 / len(np.unique(groups)))
    return np.arange(len(groups) - held, len(groups)) if held < len(groups) else None


def _some_of_each_class(codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp] | None:
    """An eighth of the rows of each class, one at least: where classes have weights, those of a heavy one must not be
    left out of the rows that say which epoch to keep. None if no class has two.
    """
    from abnet.training.members import WATCHED

    share = min(1 / 8, WATCHED / len(codes))
    places = (np.flatnonzero(codes == code) for code in np.unique(codes))
    held = [rng.permutation(own)[: max(round(share * len(own)), 1)] for own in places if len(own) > 1]
    return np.concatenate(held) if held else None


FEW_ROWS, SMALL_BATCH = 2_000, 32
"""An epoch of fewer rows has smaller minibatches: with large ones it would be a handful of steps."""


def _plan(estimator: Any, n_rows: int, *, taught: bool) -> Any:
    """How long and how fast: by steps for a taught mixture, in two halves of `max_iter` epochs for another."""
    from abnet.training.members import MixturePlan

    plan = MixturePlan(most_epochs=int(estimator.max_iter))
    if not taught:
        steps = plan.steps if estimator.hidden_layer_sizes == "auto" else 10**9
        plan = replace(plan, steps=steps, most_epochs=max(int(estimator.max_iter) // 2, 1), linear=True)
        plan = replace(plan, batch_size=SMALL_BATCH) if n_rows < FEW_ROWS else plan
    # A posterior that is trained further has the rate for itself: its settings then share one prior (`ABNetSearch`).
    if estimator.learning_rate_init != "auto" and estimator._is_frozen():
        plan = replace(plan, rate=float(estimator.learning_rate_init))
    return plan if estimator.batch_size == "auto" else replace(plan, batch_size=int(estimator.batch_size))


def _scored(
    recipe: Recipe, outcome: "MixtureOutcome", rows: Any, codes: NDArray[np.intp], n_classes: int, n_samples: int
) -> Held:
    """The held rows of an untaught mixture: those that only said which epoch to keep, or all if there are too few."""
    places = np.arange(len(codes)) if outcome.watched is None else outcome.watched
    scorer = deploy(recipe, outcome.networks, n_classes, np.random.default_rng(0), n_samples)
    return Held(scorer.scores(rows[places]), codes[places])


def _teacher_report(report: Any, count: int) -> Any:
    return None if report is None else lambda name, number, error: report(name, number, count, error)


def _class_weights(wanted: Any, codes: NDArray[np.intp], classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """A weight for each class, from the rows that learn alone."""
    if wanted is None:
        return None
    if isinstance(wanted, str):
        counts = np.bincount(codes, minlength=len(classes))
        return np.asarray(len(codes) / (len(classes) * np.maximum(counts, 1)))
    return np.array([float(wanted.get(label, 1.0)) for label in classes.tolist()])


def bound_weights(
    estimator: Any, weights: NDArray[np.float64] | None, codes: NDArray[np.intp], learned: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Weights of bound rows with these codes: their own, times those of their classes by the first part's counts."""
    from abnet.weights import scaled

    classes = _class_weights(estimator.class_weight, learned, estimator.classes_)
    if weights is None and classes is None:
        return None
    own = np.ones(len(codes)) if weights is None else weights
    return scaled(own if classes is None else own * classes[codes])


def _weighted(
    targets: NDArray[np.float64], shares: NDArray[np.float64], classes: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Targets and weights of rows when every class has a weight: a row counts as its classes do."""
    if classes is None:
        return targets, shares
    moved = targets * classes
    total = np.maximum(moved.sum(axis=1), np.finfo(float).tiny)
    return moved / total[:, None], shares * total


def deploy(
    recipe: Recipe, networks: tuple[BAM, ...], n_classes: int, rng: np.random.Generator, n_samples: int
) -> Predictor:
    """The predictor of the members; what it draws, it draws once."""
    words = words_of(networks, n_classes)
    return deploy_members(AGGREGATIONS[recipe.aggregation](n_samples), networks, rng, words)


def words_of(networks: tuple[BAM, ...], n_classes: int) -> NDArray[np.int8] | None:
    """The code words of the networks' outputs; None for two classes."""
    return None if n_classes == 2 else code_words(n_classes, networks[0].sizes[-1])


def train_members(
    recipe: Recipe,
    estimator: Any,
    priors: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    n_classes: int,
    rng: np.random.Generator,
    report: Any,
    n_draws: int,
    weights: NDArray[np.float64] | None = None,
) -> tuple[tuple[BAM, ...], list[float]]:
    """The posterior that minimises Catoni's bound of the whole mixture on the bound rows, from the priors on.

    `n_draws` is the number of independent draws among them: rows, or groups of rows. `weights` shape training alone.
    """
    from abnet.training.loop import Span, open_runs, pad_rows
    from abnet.training.objective import Objective
    from abnet.training.posterior_learner import PosteriorLearner, start
    from abnet.training.runner import best_of, new_keys, run_stage, stack
    from abnet.training.stages import RATE

    prior = Posterior.from_networks(priors, priors, AGGREGATIONS[recipe.aggregation](estimator.n_samples))
    learner = PosteriorLearner(prior.sizes, prior.aggregation, len(priors), n_classes)
    targets = 2.0 * codes - 1 if n_classes == 2 else np.eye(n_classes)[codes]
    rows, every = pad_rows(lift(np.asarray(X)), targets, weights), Span(0, len(codes))
    state = start(prior, Objective.BOUND, n_draws, estimator.delta)
    rate = RATE if estimator.learning_rate_init == "auto" else float(estimator.learning_rate_init)
    limits = estimator._limits()
    outcome = run_stage(
        (learner,), (open_runs(stack([state]), [rate], new_keys(rng, 1)),), rows, every, every, rng=rng,
        batch_size=64 if len(codes) >= 20_000 else 32, limits=limits, report=report,
    )  # fmt: skip
    curve = [float(value) for value in outcome.curve[:, 0]] if len(outcome.curve) else []
    return learner.posterior(best_of(outcome.runs[0])).members, curve


@one_thread
def observe_mixture(
    scorer: Predictor,
    networks: tuple[BAM, ...],
    priors: tuple[BAM, ...],
    X: Any,
    codes: NDArray[np.intp],
    rng: np.random.Generator,
    terms: Terms,
    names: tuple[str, ...],
    *,
    report: Any = None,
    groups: NDArray[Any] | None = None,
) -> tuple[Evidence, Terms]:
    """What bound rows show of a mixture, and the terms with what is known only now: divergence and kept paths.

    Parameters
    ----------
    X : array or CodedRows (n, d)
        Prepared rows, in the order of bets.
    codes : array (n,)
        Classes, 0 to K - 1; K where the label was not known when the classes were fixed, and then every answer errs.
    terms : Terms
        How the mixture was made.
    names : tuple of K str
        The classes.
    groups : array (n,), optional
        The rows' groups: the certificate is then about a new group.
    """
    scores = scorer.scores(X, threads=cores())
    losses = member_losses(scorer, networks, X, scores, codes, rng, frozen=not terms.trained, report=report)
    if terms.trained:
        pairs = zip(networks, priors, strict=True)
        kl = float(np.mean([divergence(w.astype(np.float64), v.astype(np.float64)) for w, v in pairs]))
        terms = replace(terms, kl=kl)
        if scorer.n_paths is not None:
            terms = replace(terms, vote="kept paths", vote_paths=scorer.n_paths)
    seen = observe(winners(scores), codes, names, **losses._asdict(), groups=groups, keys=np.arange(len(codes)))
    return seen, terms


@one_thread
def member_losses(
    scorer: Predictor,
    networks: tuple[BAM, ...],
    X: NDArray[np.float32],
    scores: NDArray[np.float64],
    codes: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    frozen: bool,
    report: Any = None,
) -> Losses:
    """What one draw of a mixture loses on each row: computed where the scores are its expectation, else sampled."""
    if scorer.vote == "expectation":
        return Losses(losses_of(scores, codes))
    if frozen:
        return frozen_losses(networks, X, codes, scorer.n_classes, rng, report)
    return sampled_losses(networks, X, codes, scorer.n_classes, rng, report=report)


def warn_of_unknown(count: int, labels: Labels) -> None:
    """Say that bound rows have labels that the first part did not have."""
    if count:
        warnings.warn(
            f"The label of {number_of(count, 'bound row')} occurs in no row of the first part, so every answer there "
            f"counts as an error. The model knows {', '.join(labels.names[:8])}: declare all labels with classes=.",
            stacklevel=4,
        )
